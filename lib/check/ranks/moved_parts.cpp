#include "check/ranks/moved_parts.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <span>

#include "dump/elements/host_tensor.h"

namespace msdump::check {
namespace {

constexpr int64_t kSlabBytes = int64_t{1} << 20;
constexpr int64_t kKeptBytes = int64_t{64} << 20;
constexpr size_t kMostExchanging = 1024;  // there are as many parts as the square of this

// The elements of the tensors of one side, kept if they are small.
class Elements {
 public:
  explicit Elements(const CheckedDump& dump) : dump_(dump) {}

  Status keep(const std::vector<MovingRank>& ranks) {
    for (const MovingRank& rank : ranks) {
      MSDUMP_TRY(HostTensor host, open(rank.put));
      std::vector<std::byte>& bytes = kept_.emplace_back(static_cast<size_t>(host.count()) * host.element_bytes());
      MSDUMP_CHECK_OK(host.read(0, host.count(), bytes.data()));
    }
    return {};
  }

  [[nodiscard]] Result<HostTensor> open(uint32_t tensor) const {
    return HostTensor::open(dump_.index(), dump_.record(tensor), {});
  }

  // Bytes of elements [first, first + count) of what a rank put in.
  Status read(const std::vector<MovingRank>& ranks, size_t rank, int64_t first, int64_t count,
              std::span<std::byte> into) const {
    if (!kept_.empty()) {
      const size_t width = into.size() / static_cast<size_t>(count), from = static_cast<size_t>(first) * width;
      const std::vector<std::byte>& kept = kept_[rank];
      if (kept.size() != static_cast<size_t>(ranks[rank].put_count) * width)
        return fail(make_error(ErrorCode::kShapeMismatch, "elements of another size"));
      std::memcpy(into.data(), kept.data() + from, into.size());
      return {};
    }
    MSDUMP_TRY(HostTensor host, open(ranks[rank].put));
    return host.read(first, count, into.data());
  }

 private:
  const CheckedDump& dump_;
  std::vector<std::vector<std::byte>> kept_;  // by rank
};

struct Part {
  int64_t first = 0, count = 0;  // elements
};

// How `count` elements are cut into parts; no value if they cannot be.
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
      const bool known =
          how_ == MovedParts::kGathered && ranks_[to].got_digest != 0 && !seen.insert(ranks_[to].got_digest).second;
      if (!known && !check_output(to)) return std::nullopt;
    }
    return std::move(wrong_);
  }

 private:
  // What each rank puts in for each, and where.
  bool plan() {
    for (const MovingRank& rank : ranks_) {
      if (how_ == MovedParts::kGathered) continue;
      auto put = cut(rank.put_count, rank.put_sizes, ranks_.size());
      if (!put) return false;
      put_.push_back(std::move(*put));
    }
    for (size_t to = 0; to < ranks_.size(); ++to) {
      int64_t total = 0;
      for (size_t from = 0; from < ranks_.size(); ++from) total += part(from, to).count;
      if (total != ranks_[to].got_count) return false;
    }
    return true;
  }

  [[nodiscard]] Part part(size_t from, size_t to) const {
    return how_ == MovedParts::kGathered ? Part{0, ranks_[from].put_count} : put_[from][to];
  }

  bool keep_small() {
    int64_t elements = 0;
    for (const MovingRank& rank : ranks_) elements += rank.put_count;
    constexpr int64_t kWidest = 16;
    return elements > kKeptBytes / kWidest || elements_.keep(ranks_).has_value();
  }

  bool check_output(size_t to) {
    auto got = elements_.open(ranks_[to].got);
    if (!got || got->count() != ranks_[to].got_count) return false;
    int64_t at = 0;
    for (size_t from = 0; from < ranks_.size(); ++from) {
      const Part source = part(from, to);
      if (!compare(*got, at, from, to, source)) return false;
      at += source.count;
    }
    return got->check_unchanged().has_value();
  }

  bool compare(HostTensor& got, int64_t at, size_t from, size_t to, const Part& source) {
    const auto width = static_cast<int64_t>(got.element_bytes());
    const int64_t most = std::max<int64_t>(kSlabBytes / width, 1);
    for (int64_t done = 0; done < source.count; done += most) {
      if (cancel_.cancelled()) return false;
      const int64_t count = std::min(most, source.count - done);
      std::vector<std::byte> a(static_cast<size_t>(count * width)), b(a.size());
      if (!got.read(at + done, count, a.data())) return false;
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
  std::vector<std::vector<Part>> put_;  // of kExchanged: by rank, for each rank
  std::vector<WrongPart> wrong_;
};

}  // namespace

std::optional<std::vector<WrongPart>> check_moved_parts(const CheckedDump& dump, const std::vector<MovingRank>& ranks,
                                                        MovedParts how, const CancelToken& cancel) {
  if (ranks.empty() || (how == MovedParts::kExchanged && ranks.size() > kMostExchanging)) return std::nullopt;
  return PartsJudge(dump, ranks, how, cancel).run();
}

}  // namespace msdump::check
