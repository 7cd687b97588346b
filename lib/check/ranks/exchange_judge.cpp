#include "check/ranks/exchange_judge.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/ranks/moved_parts.h"
#include "check/ranks/rank_values.h"

namespace msdump::check {
namespace {

using Verdict = ExchangeVerdict;

}  // namespace

// By what the calls say, whatever their values are.
std::optional<Verdict::Obstacle> ExchangeJudge::obstacle_of(const Exchange& exchange) const {
  std::set<std::optional<Reduction>> reductions;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const bool only_sends = exchange.kind == CollectiveKind::kSend && i == 0;
    if (call(exchange, i).may_be_early && !only_sends) return Verdict::Obstacle::kEarly;
    if (!call(exchange, i).flat) return Verdict::Obstacle::kOtherAxis;
    reductions.insert(call(exchange, i).reduction);
  }
  if (reductions.size() == 1 && reductions.count(Reduction::kOther) == 0) return std::nullopt;
  return Verdict::Obstacle::kUnsaid;
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
    return copies->empty() ? unknown_verdict(Verdict::Obstacle::kUnsaid) : judge_copies(exchange, *copies);
  }
  return exchange.complete() ? judge_parts(exchange) : unknown_verdict(Verdict::Obstacle::kIncomplete);
}

// ---- copies

// Of whole tensors; no value where parts of tensors are exchanged, or the call's lists are not complete.
std::optional<std::vector<ExchangeJudge::Copy>> ExchangeJudge::copies_of(const Exchange& exchange) const {
  std::vector<Copy> copies;
  const size_t members = exchange.members.size();
  const auto root = root_of(exchange);
  const auto put = [&](size_t member) -> const std::vector<uint32_t>& { return call(exchange, member).put; };
  const auto got = [&](size_t member) -> const std::vector<uint32_t>& { return call(exchange, member).got; };
  const auto add = [&](size_t from, size_t put_at, size_t to, size_t got_at) {
    if (put_at < put(from).size() && got_at < got(to).size())
      copies.push_back({from, to, put(from)[put_at], got(to)[got_at]});
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
        if (root && lists && got(*root).size() == members) add(i, 0, *root, i);
        break;
      case CollectiveKind::kScatter:
        if (root && lists && put(*root).size() == members) add(*root, i, i, 0);
        break;
      case CollectiveKind::kAllGather:
      case CollectiveKind::kAllToAll:
        if (!lists || members < 2 || got(i).size() != members) return std::nullopt;
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
    const auto equal = are_equal(facts_[copy.put], facts_[copy.got]);
    known = known && equal.has_value();
    telling = telling || (equal == true && copy.from != copy.to && is_telling(facts_[copy.got]));
    if (equal != false) continue;
    if (first == nullptr) first = &copy;
    ++from[copy.from];
    ++to[copy.to];
  }
  if (first == nullptr) return known || telling ? fitting_verdict(telling) : Verdict();
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = first->got;
  const int64_t source = exchange.ranks[first->from], target = exchange.ranks[first->to];
  verdict.message = fmt::format("what rank {} got is not what rank {} put in", target, source);
  if (from.size() == 1 && to.size() > 1) {
    verdict.odd = {source};
    verdict.message = fmt::format("what {} ranks got is not what rank {} put in", to.size(), source);
  } else if (to.size() == 1 && exchange.members.size() > 2) {
    verdict.odd = {target};
  } else if (to.size() > 1) {
    std::vector<int64_t> ranks;
    for (const auto& [member, count] : to) ranks.push_back(exchange.ranks[member]);
    verdict.message = fmt::format("{} did not get what the others put in", ranks_text(std::move(ranks)));
  }
  const auto metrics = compare_elements(dump_, first->got, first->put, cancel_);
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
    if (one.put.size() != 1 || one.got.size() != 1) return {};
    const TensorFacts &put = facts_[one.put.front()], &got = facts_[one.got.front()];
    if (put.from != TensorFacts::From::kElements || got.from != TensorFacts::From::kElements || put.dtype != got.dtype)
      return {};
    moving.push_back({one.put.front(), one.got.front(), static_cast<int64_t>(*put.elements),
                      static_cast<int64_t>(*got.elements), one.put_sizes, one.got_sizes, got.digest});
  }
  const bool gathers = exchange.kind == CollectiveKind::kAllGather;
  const auto wrong =
      check_moved_parts(dump_, moving, gathers ? MovedParts::kGathered : MovedParts::kExchanged, cancel_);
  if (!wrong) return {};
  Verdict verdict;
  if (wrong->empty())
    return fitting_verdict(
        std::any_of(moving.begin(), moving.end(), [&](const MovingRank& one) { return is_telling(facts_[one.put]); }));
  std::set<size_t> from, to;
  for (const WrongPart& part : *wrong) {
    from.insert(part.from);
    for (size_t i = 0; i < moving.size(); ++i) {
      // Of equal outputs of a gathering one was looked at.
      const bool same = gathers && moving[i].got_digest == moving[part.to].got_digest && moving[i].got_digest != 0;
      if (i == part.to || same) to.insert(i);
    }
  }
  const WrongPart& first = wrong->front();
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = moving[first.to].got;
  verdict.message =
      fmt::format("what rank {} got from rank {} is not what that rank put in, from element {} of its output on",
                  exchange.ranks[first.to], exchange.ranks[first.from], first.element);
  if (to.size() == 1 && exchange.ranks.size() > 2) verdict.odd = {exchange.ranks[first.to]};
  if (from.size() == 1 && to.size() > 1) verdict.odd = {exchange.ranks[first.from]};
  if (to.size() > 1) verdict.message += fmt::format("; {} ranks got something else than was put in", to.size());
  return verdict;
}

}  // namespace msdump::check
