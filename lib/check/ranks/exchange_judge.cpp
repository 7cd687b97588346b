#include "check/ranks/exchange_judge.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "check/checked_dump.h"
#include "check/ranks/rank_values.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"

namespace msdump::check {
namespace {

// Parts of tensors that ranks exchange without computing with them, byte by byte.
//
//   kGathered   every rank receives the inputs of all ranks, one after the other
//   kExchanged  each rank splits its input into a part for each rank, and receives the parts for it, one after the other
// Parts are consecutive elements: equal ones, or rows by the splits of the call.
//
// Cost: if gathered outputs are equal, one of them is read. Inputs are kept in memory if they are small together; else
// a part is read when it is needed.

enum class MovedParts : uint8_t { kGathered, kExchanged };

struct MovingRank {
  TensorId sent, received;
  int64_t sent_count = 0, received_count = 0;        // elements
  std::vector<int64_t> send_splits, receive_splits;  // rows; empty: equal parts
  uint64_t received_digest = 0;                      // 0: not known
};

struct WrongPart {
  size_t from = 0, to = 0;  // in the list of ranks
  int64_t element = 0;      // of what `to` got: the first that differs
};

constexpr int64_t kSlabBytes = int64_t{1} << 20;
constexpr int64_t kKeptBytes = int64_t{64} << 20;
constexpr size_t kMostExchanging = 1024;  // there are as many parts as the square of this

// The elements of the tensors of one side, kept if they are small.
class Elements {
 public:
  explicit Elements(const CheckedDump& dump) : dump_(dump) {}

  Status keep(const std::vector<MovingRank>& ranks) {
    for (const MovingRank& rank : ranks) {
      MSDUMP_TRY(HostTensor host, open(rank.sent));
      std::vector<std::byte>& bytes = kept_.emplace_back(static_cast<size_t>(host.count()) * host.element_bytes());
      MSDUMP_CHECK_OK(host.read(0, host.count(), bytes.data()));
    }
    return {};
  }

  [[nodiscard]] Result<HostTensor> open(TensorId tensor) const {
    return HostTensor::open(dump_.index(), dump_.record(tensor), {});
  }

  // Bytes of elements [first, first + count) of the tensor that a rank sent.
  Status read(const std::vector<MovingRank>& ranks, size_t rank, int64_t first, int64_t count,
              std::span<std::byte> into) const {
    if (!kept_.empty()) {
      const size_t width = into.size() / static_cast<size_t>(count), from = static_cast<size_t>(first) * width;
      const std::vector<std::byte>& kept = kept_[rank];
      if (kept.size() != static_cast<size_t>(ranks[rank].sent_count) * width)
        return fail(make_error(ErrorCode::kShapeMismatch, "elements of another size"));
      std::memcpy(into.data(), kept.data() + from, into.size());
      return {};
    }
    MSDUMP_TRY(HostTensor host, open(ranks[rank].sent));
    return host.read(first, count, into.data());
  }

 private:
  const CheckedDump& dump_;
  std::vector<std::vector<std::byte>> kept_;  // by rank
};

struct Part {
  int64_t first = 0, count = 0;  // elements
};

// Splits `count` elements into parts; no value if that is not possible.
std::optional<std::vector<Part>> cut(int64_t count, const std::vector<int64_t>& sizes, size_t ranks) {
  const auto number = static_cast<int64_t>(ranks);
  std::vector<Part> parts;
  int64_t rows = number;
  if (!sizes.empty()) {
    rows = 0;
    if (sizes.size() != ranks) return std::nullopt;
    for (const int64_t size : sizes) {
      if (size < 0 || size > count) return std::nullopt;
      rows += size;
    }
  }
  if (rows == 0 || count % rows != 0) return count == 0 ? std::optional(std::vector<Part>(ranks)) : std::nullopt;
  int64_t first = 0;
  for (size_t i = 0; i < ranks; ++i) {
    parts.push_back({first, (sizes.empty() ? 1 : sizes[i]) * (count / rows)});
    first += parts.back().count;
  }
  return parts;
}

class PartsJudge {
 public:
  PartsJudge(const CheckedDump& dump, const std::vector<MovingRank>& ranks, MovedParts how, const CancelToken& cancel)
      : ranks_(ranks), how_(how), cancel_(cancel), elements_(dump) {}

  std::optional<std::vector<WrongPart>> run() {
    if (!plan() || !keep_small()) return std::nullopt;
    std::set<uint64_t> seen;
    for (size_t to = 0; to < ranks_.size(); ++to) {
      const bool known = how_ == MovedParts::kGathered && ranks_[to].received_digest != 0 &&
                         !seen.insert(ranks_[to].received_digest).second;
      if (!known && !check_output(to)) return std::nullopt;
    }
    return std::move(wrong_);
  }

 private:
  // The part that each rank sends to each, and its position.
  bool plan() {
    for (const MovingRank& rank : ranks_) {
      if (how_ == MovedParts::kGathered) continue;
      auto sent = cut(rank.sent_count, rank.send_splits, ranks_.size());
      if (!sent) return false;
      sent_parts_.push_back(std::move(*sent));
    }
    for (size_t to = 0; to < ranks_.size(); ++to) {
      int64_t total = 0;
      for (size_t from = 0; from < ranks_.size(); ++from) total += part(from, to).count;
      if (total != ranks_[to].received_count) return false;
    }
    return true;
  }

  [[nodiscard]] Part part(size_t from, size_t to) const {
    return how_ == MovedParts::kGathered ? Part{0, ranks_[from].sent_count} : sent_parts_[from][to];
  }

  bool keep_small() {
    int64_t elements = 0;
    for (const MovingRank& rank : ranks_) elements += rank.sent_count;
    constexpr int64_t kWidest = 16;
    return elements > kKeptBytes / kWidest || elements_.keep(ranks_).has_value();
  }

  bool check_output(size_t to) {
    auto received = elements_.open(ranks_[to].received);
    if (!received || received->count() != ranks_[to].received_count) return false;
    int64_t at = 0;
    for (size_t from = 0; from < ranks_.size(); ++from) {
      const Part source = part(from, to);
      if (!compare(*received, at, from, to, source)) return false;
      at += source.count;
    }
    return received->check_unchanged().has_value();
  }

  bool compare(HostTensor& received, int64_t at, size_t from, size_t to, const Part& source) {
    const auto width = static_cast<int64_t>(received.element_bytes());
    const int64_t most = std::max<int64_t>(kSlabBytes / width, 1);
    for (int64_t done = 0; done < source.count; done += most) {
      if (cancel_.cancelled()) return false;
      const int64_t count = std::min(most, source.count - done);
      std::vector<std::byte> a(static_cast<size_t>(count * width)), b(a.size());
      if (!received.read(at + done, count, a.data())) return false;
      if (!elements_.read(ranks_, from, source.first + done, count, b)) return false;
      const auto different = std::mismatch(a.begin(), a.end(), b.begin());
      if (different.first == a.end()) continue;
      wrong_.push_back({from, to, at + done + (different.first - a.begin()) / width});
      return true;
    }
    return true;
  }

  const std::vector<MovingRank>& ranks_;
  const MovedParts how_;
  const CancelToken& cancel_;
  Elements elements_;
  std::vector<std::vector<Part>> sent_parts_;  // of kExchanged: by rank, for each rank
  std::vector<WrongPart> wrong_;
};

// No value if the parts do not add up or a tensor cannot be read.
std::optional<std::vector<WrongPart>> check_moved_parts(const CheckedDump& dump, const std::vector<MovingRank>& ranks,
                                                        MovedParts how, const CancelToken& cancel) {
  if (ranks.empty() || (how == MovedParts::kExchanged && ranks.size() > kMostExchanging)) return std::nullopt;
  return PartsJudge(dump, ranks, how, cancel).run();
}

using Verdict = ExchangeVerdict;

}  // namespace

// The obstacle that the calls themselves show, whatever their values are.
std::optional<Verdict::Obstacle> ExchangeJudge::obstacle_of(const Exchange& exchange) const {
  std::set<std::optional<Reduction>> reductions;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const bool only_sends = exchange.kind == CollectiveKind::kSend && i == 0;
    if (call(exchange, i).may_be_early && !only_sends) return Verdict::Obstacle::kEarly;
    if (!call(exchange, i).flat) return Verdict::Obstacle::kOtherAxis;
    reductions.insert(call(exchange, i).reduction);
  }
  if (reductions.size() == 1 && reductions.count(Reduction::kOther) == 0) return std::nullopt;
  return Verdict::Obstacle::kUnspecified;
}

std::optional<size_t> ExchangeJudge::root_of(const Exchange& exchange) const {
  std::set<std::optional<int64_t>> roots;
  const auto size = static_cast<int64_t>(exchange.ranks.size() + exchange.missing.size());
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    std::optional<int64_t> root = one.root;
    const bool placed =
        !root && one.root_place && exchange.complete() && *one.root_place >= 0 && *one.root_place < size;
    if (placed) root = exchange.ranks[static_cast<size_t>(*one.root_place)];
    roots.insert(root);
  }
  if (roots.size() != 1 || !*roots.begin()) return std::nullopt;
  const auto found = std::find(exchange.ranks.begin(), exchange.ranks.end(), **roots.begin());
  if (found == exchange.ranks.end()) return std::nullopt;
  return static_cast<size_t>(found - exchange.ranks.begin());
}

Verdict ExchangeJudge::judge(const Exchange& exchange) const {
  if (const auto obstacle = obstacle_of(exchange)) return unknown_verdict(*obstacle);
  if (exchange.kind == CollectiveKind::kAllReduce) return reductions_.judge_all_reduce(exchange);
  if (exchange.kind == CollectiveKind::kReduce) return reductions_.judge_reduce(exchange, root_of(exchange));
  if (exchange.kind == CollectiveKind::kReduceScatter) return reductions_.judge_reduce_scatter(exchange);
  if (const auto copies = copies_of(exchange)) {
    if (copies->empty() && !exchange.complete()) return unknown_verdict(Verdict::Obstacle::kIncomplete);
    return copies->empty() ? unknown_verdict(Verdict::Obstacle::kUnspecified) : judge_copies(exchange, *copies);
  }
  return exchange.complete() ? judge_parts(exchange) : unknown_verdict(Verdict::Obstacle::kIncomplete);
}

// ---- copies

// Copies of whole tensors; no value if the call exchanges parts of tensors, or its lists are incomplete.
std::optional<std::vector<ExchangeJudge::Copy>> ExchangeJudge::copies_of(const Exchange& exchange) const {
  std::vector<Copy> copies;
  const size_t members = exchange.members.size();
  const auto root = root_of(exchange);
  const auto sent = [&](size_t member) -> const std::vector<TensorId>& { return call(exchange, member).sent; };
  const auto received = [&](size_t member) -> const std::vector<TensorId>& { return call(exchange, member).received; };
  const auto add = [&](size_t from, size_t sent_at, size_t to, size_t received_at) {
    if (sent_at < sent(from).size() && received_at < received(to).size())
      copies.push_back({from, to, sent(from)[sent_at], received(to)[received_at]});
  };
  const bool lists = exchange.complete();
  for (size_t i = 0; i < members; ++i) {
    switch (exchange.kind) {
      case CollectiveKind::kSend:
        if (i == 1) add(0, 0, 1, 0);
        break;
      case CollectiveKind::kBroadcast:
        if (root) add(*root, 0, i, 0);
        break;
      case CollectiveKind::kGather:
        if (root && lists && received(*root).size() == members) add(i, 0, *root, i);
        break;
      case CollectiveKind::kScatter:
        if (root && lists && sent(*root).size() == members) add(*root, i, i, 0);
        break;
      case CollectiveKind::kAllGather:
      case CollectiveKind::kAllToAll:
        if (!lists || members < 2 || received(i).size() != members) return std::nullopt;
        for (size_t j = 0; j < members; ++j) add(j, exchange.kind == CollectiveKind::kAllGather ? 0 : i, i, j);
        break;
      default: return std::nullopt;
    }
  }
  return copies;
}

Verdict ExchangeJudge::judge_copies(const Exchange& exchange, const std::vector<Copy>& copies) const {
  Verdict verdict;
  std::map<size_t, size_t> from, to;  // member to how many wrong copies
  const Copy* first = nullptr;
  bool telling = false, known = true;
  for (const Copy& copy : copies) {
    const auto equal = are_equal(facts_[copy.sent], facts_[copy.received]);
    known = known && equal.has_value();
    telling = telling || (equal == true && copy.from != copy.to && is_telling(facts_[copy.received]));
    if (equal != false) continue;
    if (first == nullptr) first = &copy;
    ++from[copy.from];
    ++to[copy.to];
  }
  if (first == nullptr) return known || telling ? fitting_verdict(telling) : Verdict();
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = first->received;
  const int64_t source = exchange.ranks[first->from], target = exchange.ranks[first->to];
  verdict.message = fmt::format("what rank {} got is not what rank {} put in", target, source);
  if (from.size() == 1 && to.size() > 1) {
    verdict.faulty_ranks = {source};
    verdict.message = fmt::format("what {} ranks got is not what rank {} put in", to.size(), source);
  } else if (to.size() == 1 && exchange.members.size() > 2) {
    verdict.faulty_ranks = {target};
  } else if (to.size() > 1) {
    std::vector<int64_t> ranks;
    for (const auto& [member, count] : to) ranks.push_back(exchange.ranks[member]);
    verdict.message = fmt::format("{} did not get what the others put in", ranks_text(std::move(ranks)));
  }
  const auto metrics = compare_elements(dump_, first->received, first->sent, cancel_);
  if (metrics && metrics->max_abs) {
    verdict.value = *metrics->max_abs;
    verdict.message += fmt::format(": {} of {} elements differ, by up to {:.3g}", metrics->count - metrics->equal,
                                   metrics->count, *metrics->max_abs);
  }
  return verdict;
}

// ---- parts of tensors

Verdict ExchangeJudge::judge_parts(const Exchange& exchange) const {
  std::vector<MovingRank> moving;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (one.sent.size() != 1 || one.received.size() != 1) return {};
    const TensorFacts &sent = facts_[one.sent.front()], &received = facts_[one.received.front()];
    if (sent.from != TensorFacts::From::kElements || received.from != TensorFacts::From::kElements ||
        sent.dtype != received.dtype)
      return {};
    moving.push_back({one.sent.front(), one.received.front(), static_cast<int64_t>(*sent.elements),
                      static_cast<int64_t>(*received.elements), one.send_splits, one.receive_splits, received.digest});
  }
  const bool gathers = exchange.kind == CollectiveKind::kAllGather;
  const auto wrong =
      check_moved_parts(dump_, moving, gathers ? MovedParts::kGathered : MovedParts::kExchanged, cancel_);
  if (!wrong) return {};
  Verdict verdict;
  if (wrong->empty())
    return fitting_verdict(
        std::any_of(moving.begin(), moving.end(), [&](const MovingRank& one) { return is_telling(facts_[one.sent]); }));
  std::set<size_t> from, to;
  for (const WrongPart& part : *wrong) {
    from.insert(part.from);
    for (size_t i = 0; i < moving.size(); ++i) {
      // If gathered outputs are equal, only one of them was read.
      const bool same =
          gathers && moving[i].received_digest == moving[part.to].received_digest && moving[i].received_digest != 0;
      if (i == part.to || same) to.insert(i);
    }
  }
  const WrongPart& first = wrong->front();
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = moving[first.to].received;
  verdict.message =
      fmt::format("what rank {} got from rank {} is not what that rank put in, from element {} of its output on",
                  exchange.ranks[first.to], exchange.ranks[first.from], first.element);
  if (to.size() == 1 && exchange.ranks.size() > 2) verdict.faulty_ranks = {exchange.ranks[first.to]};
  if (from.size() == 1 && to.size() > 1) verdict.faulty_ranks = {exchange.ranks[first.from]};
  if (to.size() > 1) verdict.message += fmt::format("; {} ranks got something else than was put in", to.size());
  return verdict;
}

}  // namespace msdump::check
