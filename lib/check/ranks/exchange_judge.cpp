#include "check/ranks/exchange_judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "check/ranks/moved_parts.h"
#include "check/ranks/rank_values.h"
#include "check/ranks/reduction_check.h"

namespace msdump::check {
namespace {

using Verdict = ExchangeVerdict;

constexpr size_t kMostClasses = 8;  // different results of one reduction that are each compared with it

Verdict unknown(Verdict::Obstacle obstacle) {
  Verdict verdict;
  verdict.obstacle = obstacle;
  return verdict;
}

// What came out is what went in; `telling`: and hardly anything else would be.
Verdict fitting(bool telling) {
  Verdict verdict;
  verdict.kind = telling ? Verdict::Kind::kFits : Verdict::Kind::kUnknown;
  verdict.obstacle = Verdict::Obstacle::kConstant;
  return verdict;
}

// The worse of two, by what it tells.
Verdict worse(Verdict a, Verdict b) {
  return std::pair(b.kind, b.obstacle) > std::pair(a.kind, a.obstacle) ? std::move(b) : std::move(a);
}

// A checksum alone proves nothing: msprobe may take it after the next operator has changed the tensor in place.
bool has_same_statistics(const TensorFacts& a, const TensorFacts& b) {
  return a.from == TensorFacts::From::kStatistics && a.max && a.min && a.max == b.max && a.min == b.min &&
         a.mean == b.mean && a.l2norm == b.l2norm;
}

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
  if (const auto obstacle = obstacle_of(exchange)) return unknown(*obstacle);
  if (exchange.kind == CollectiveKind::kAllReduce) {
    Verdict all = judge_all_reduce(exchange, 0);
    for (size_t part = 1; part < call(exchange, 0).got.size(); ++part)
      all = worse(std::move(all), judge_all_reduce(exchange, part));
    return all;
  }
  if (exchange.kind == CollectiveKind::kReduce) {
    const auto root = root_of(exchange);
    if (!exchange.complete()) return unknown(Verdict::Obstacle::kIncomplete);
    if (!root || call(exchange, *root).got.size() != 1) return unknown(Verdict::Obstacle::kUnsaid);
    std::vector<uint32_t> sources;
    for (size_t i = 0; i < exchange.members.size(); ++i) {
      if (call(exchange, i).put.size() == 1) sources.push_back(call(exchange, i).put.front());
    }
    return judge_reduction(exchange, sources, {*root}, {call(exchange, *root).got.front()});
  }
  if (exchange.kind == CollectiveKind::kReduceScatter) return judge_reduce_scatter(exchange);
  if (const auto copies = copies_of(exchange)) {
    if (copies->empty() && !exchange.complete()) return unknown(Verdict::Obstacle::kIncomplete);
    return copies->empty() ? unknown(Verdict::Obstacle::kUnsaid) : judge_copies(exchange, *copies);
  }
  return exchange.complete() ? judge_parts(exchange) : unknown(Verdict::Obstacle::kIncomplete);
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
  if (first == nullptr) return known || telling ? fitting(telling) : Verdict();
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

// ---- reductions

// Does any rank's input show its output? Not if all put in the same, zeros for example.
bool ExchangeJudge::shares_memory(const Exchange& exchange, size_t part) const {
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.put.size() || part >= one.got.size()) continue;
    if (are_equal(facts_[one.put[part]], facts_[one.got[part]]) == true) return true;
  }
  return false;
}

Verdict ExchangeJudge::judge_all_reduce(const Exchange& exchange, size_t part) const {
  Verdict apart = judge_equal_results(exchange, part);
  if (!exchange.complete())
    return apart.kind == Verdict::Kind::kUnknown ? unknown(Verdict::Obstacle::kIncomplete) : apart;
  std::vector<uint32_t> sources, results;
  std::vector<size_t> receivers;
  std::set<uint64_t> seen;  // one of each different result
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.put.size() || part >= one.got.size()) return apart;
    sources.push_back(one.put[part]);
    if (seen.size() == kMostClasses || !seen.insert(facts_[one.got[part]].digest).second) continue;
    receivers.push_back(i);
    results.push_back(one.got[part]);
  }
  Verdict reduced = judge_reduction(exchange, sources, receivers, results);
  if (apart.kind != Verdict::Kind::kApart) {
    const bool hidden = reduced.kind == Verdict::Kind::kWrong && shares_memory(exchange, part);
    return hidden ? unknown(Verdict::Obstacle::kShared) : reduced;
  }
  // What the sum says of the different results is more than that they differ.
  if (reduced.kind == Verdict::Kind::kFits) {
    // Statistics of two results may fit although these differ by more.
    apart.only_rounding = facts_[results.front()].from == TensorFacts::From::kElements;
    return apart;
  }
  return reduced.kind == Verdict::Kind::kWrong && reduced.odd.size() < exchange.members.size() && !reduced.odd.empty()
             ? reduced
             : apart;
}

// Every rank got the same, bit by bit?
Verdict ExchangeJudge::judge_equal_results(const Exchange& exchange, size_t part) const {
  std::map<uint64_t, std::vector<size_t>> classes;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.got.size() || facts_[one.got[part]].digest == 0) return {};
    classes[facts_[one.got[part]].digest].push_back(i);
  }
  if (classes.size() < 2) return {};
  const auto largest = std::max_element(classes.begin(), classes.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const uint32_t usual = call(exchange, largest->second.front()).got[part];
  Verdict verdict;
  std::vector<int64_t> others;
  for (const auto& [digest, members] : classes) {
    if (digest == largest->first) continue;
    const uint32_t got = call(exchange, members.front()).got[part];
    if (are_equal(facts_[got], facts_[usual]) != false || has_same_statistics(facts_[got], facts_[usual])) return {};
    if (verdict.tensor == kNone) verdict.tensor = got;
    for (const size_t member : members) others.push_back(exchange.ranks[member]);
  }
  verdict.kind = Verdict::Kind::kApart;
  std::sort(others.begin(), others.end());
  const bool told = others.size() * 2 < exchange.members.size();
  verdict.message = told ? fmt::format("{} got another result than the others", ranks_text(others))
                         : "the ranks did not get the same result";
  if (told) verdict.odd = std::move(others);
  if (const auto metrics = compare_elements(dump_, verdict.tensor, usual, cancel_)) {
    verdict.value = metrics->max_abs.value_or(0);
    verdict.message += fmt::format(": {} of {} elements differ, by up to {:.3g}", metrics->count - metrics->equal,
                                   metrics->count, verdict.value);
  }
  return verdict;
}

// Each of `results`, which `receivers` got, against the whole reduction.
Verdict ExchangeJudge::judge_reduction(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                       const std::vector<size_t>& receivers,
                                       const std::vector<uint32_t>& results) const {
  if (sources.size() != exchange.ranks.size() || !exchange.complete() || results.empty()) return {};
  const TensorFacts& like = facts_[results.front()];
  bool elements = true;
  for (const auto* const tensors : {&sources, &results}) {
    for (const uint32_t tensor : *tensors) {
      const TensorFacts& facts = facts_[tensor];
      if (facts.from == TensorFacts::From::kNothing || facts.elements != like.elements || facts.dtype != like.dtype)
        return {};
      elements = elements && facts.from == TensorFacts::From::kElements;
    }
  }
  if (!elements) {
    Verdict all = judge_by_statistics(exchange, sources, results.front(), receivers.front());
    for (size_t i = 1; i < results.size(); ++i)
      all = worse(std::move(all), judge_by_statistics(exchange, sources, results[i], receivers[i]));
    return all;
  }
  const auto count = static_cast<int64_t>(*like.elements);
  std::vector<ReducedPart> parts;
  for (const uint32_t result : results) parts.push_back({result, 0, count});
  const std::optional<Reduction> said = call(exchange, 0).reduction;
  ReductionOf of{sources, count, said.value_or(Reduction::kSum), like.dtype};
  Result<std::vector<ReductionFit>> fits = check_reduction(dump_, of, parts, cancel_);
  if (!fits) return {};
  const auto any_fits = [](const std::vector<ReductionFit>& of_results) {
    return std::any_of(of_results.begin(), of_results.end(), [](const ReductionFit& fit) { return fit.fits(); });
  };
  if (!said && !any_fits(*fits)) {
    for (const Reduction other : {Reduction::kMean, Reduction::kMax, Reduction::kMin, Reduction::kProduct}) {
      const ReductionOf instead{sources, count, other, like.dtype};
      auto others = check_reduction(dump_, instead, parts, cancel_);
      if (!others || !any_fits(*others)) continue;
      of = instead;
      fits = std::move(others);
      break;
    }
  }
  Verdict verdict;
  size_t worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if ((*fits)[i].fits()) continue;
    if (verdict.odd.empty() || (*fits)[i].worst > (*fits)[worst].worst) worst = i;
    for (size_t member = 0; member < exchange.members.size(); ++member) {
      const std::vector<uint32_t>& got = call(exchange, member).got;
      const bool same =
          member == receivers[i] || (exchange.kind == CollectiveKind::kAllReduce && receivers.size() > 1 &&
                                     std::any_of(got.begin(), got.end(), [&](uint32_t tensor) {
                                       return facts_[tensor].digest == facts_[results[i]].digest;
                                     }));
      if (same) verdict.odd.push_back(exchange.ranks[member]);
    }
  }
  if (verdict.odd.empty()) {
    return fitting(
        std::any_of(sources.begin(), sources.end(), [&](uint32_t source) { return is_telling(facts_[source]); }));
  }
  const ReductionFit& fit = (*fits)[worst];
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = results[worst];
  verdict.value = fit.max_error;
  const bool all_alike = results.size() == 1 && exchange.kind == CollectiveKind::kAllReduce;
  const std::string whose = all_alike ? "the result" : fmt::format("what {} got", ranks_text(verdict.odd));
  verdict.message =
      fmt::format("{} is not the {} of the inputs of {} ranks: {} where it should be {}, {} of {} elements", whose,
                  name_of(of.reduction), sources.size(), fmt::format("{:.6g}", fit.at),
                  fmt::format("{:.6g}", fit.at_sum), fit.beyond, count);
  if (all_alike) verdict.odd.clear();
  if (results.size() > 1 || of.reduction != Reduction::kSum) return verdict;
  const auto wrong = explain_sum(dump_, of, parts[worst]);
  if (!wrong || !*wrong) return verdict;
  verdict.proven = true;
  const WrongSum& found = **wrong;
  if (!found.source) {
    verdict.message += fmt::format("; it is {:.6g} times the sum", found.times);
    return verdict;
  }
  verdict.odd = {exchange.ranks[*found.source]};
  verdict.message += std::abs(found.times) < 1e-3
                         ? fmt::format("; it is the sum without rank {}'s", verdict.odd.front())
                         : fmt::format("; what rank {} put in counts {:.6g} times", verdict.odd.front(), found.times);
  return verdict;
}

// The mean of a sum is the sum of the means; extremes and norms of a sum have the bounds of theirs.
Verdict ExchangeJudge::judge_by_statistics(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                           uint32_t result, size_t receiver) const {
  const std::optional<Reduction> said = call(exchange, 0).reduction;
  const TensorFacts& out = facts_[result];
  if (said != Reduction::kSum && !(call(exchange, 0).counted && !said)) return {};
  double mean = 0, least = 0, most = 0, norm = 0;
  for (const uint32_t source : sources) {
    const TensorFacts& facts = facts_[source];
    if (!facts.mean || !facts.min || !facts.max || !facts.l2norm || !facts.is_finite()) return {};
    mean += *facts.mean;
    least += *facts.min;
    most += *facts.max;
    norm += *facts.l2norm;
  }
  if (!out.mean || !out.min || !out.max || !out.l2norm || !out.is_finite()) return {};
  const double typical = norm / std::sqrt(static_cast<double>(std::max<uint64_t>(out.elements.value_or(1), 1)));
  const double rounding = std::max(rounding_of(out.dtype).value_or(0), 0x1p-20);
  const double allowed = 64 * rounding * static_cast<double>(sources.size()) * typical;
  const double edge = 1e-3 * (std::abs(least) + std::abs(most)) + allowed;
  const bool possible = std::abs(*out.mean - mean) <= allowed && *out.max <= most + edge && *out.min >= least - edge &&
                        *out.l2norm <= norm * (1 + 1e-3);
  Verdict verdict;
  if (possible) {
    verdict.kind = Verdict::Kind::kFits;
    return verdict;
  }
  // Without the reduction in the dump it may be another one: the statistics of a mean, or of extremes, lie inside too.
  if (!said && *out.max <= most + edge && *out.min >= least - edge) return verdict;
  verdict.kind = Verdict::Kind::kWrong;
  verdict.tensor = result;
  verdict.value = std::abs(*out.mean - mean);
  verdict.message = fmt::format(
      "by its statistics what rank {} got is not the sum of the inputs: mean {:.6g} where it "
      "should be {:.6g}, {:.6g} .. {:.6g} inside {:.6g} .. {:.6g}",
      exchange.ranks[receiver], *out.mean, mean, *out.min, *out.max, least, most);
  return verdict;
}

Verdict ExchangeJudge::judge_reduce_scatter(const Exchange& exchange) const {
  if (!exchange.complete()) return unknown(Verdict::Obstacle::kIncomplete);
  const size_t members = exchange.members.size();
  const bool lists = call(exchange, 0).put.size() == members && members > 1;
  constexpr size_t kMostLists =
      64;  // a list has a part for each rank: all parts are as many as the square of the ranks
  if (lists && members > kMostLists) return {};
  Verdict verdict = fitting(false);
  std::vector<uint32_t> sources, results;
  for (size_t i = 0; i < members; ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (one.got.size() != 1 || one.put.size() != (lists ? members : 1)) return {};
    results.push_back(one.got.front());
    if (!lists) sources.push_back(one.put.front());
  }
  for (size_t i = 0; lists && i < members; ++i) {
    sources.clear();
    for (size_t j = 0; j < members; ++j) sources.push_back(call(exchange, j).put[i]);
    verdict = worse(std::move(verdict), judge_reduction(exchange, sources, {i}, {results[i]}));
  }
  if (lists) return verdict;
  const TensorFacts &whole = facts_[sources.front()], &part = facts_[results.front()];
  if (whole.from != TensorFacts::From::kElements || !whole.elements || *whole.elements % members != 0) return {};
  const auto count = static_cast<int64_t>(*whole.elements), share = count / static_cast<int64_t>(members);
  if (part.elements != static_cast<uint64_t>(share)) return {};
  std::vector<ReducedPart> parts;
  for (size_t i = 0; i < members; ++i) parts.push_back({results[i], static_cast<int64_t>(i) * share, share});
  const ReductionOf of{sources, count, call(exchange, 0).reduction.value_or(Reduction::kSum), part.dtype};
  const auto fits = check_reduction(dump_, of, parts, cancel_);
  if (!fits) return {};
  verdict = fitting(is_telling(whole));
  for (size_t i = 0; i < members; ++i) {
    const ReductionFit& fit = (*fits)[i];
    if (fit.fits()) continue;
    verdict.odd.push_back(exchange.ranks[i]);
    if (verdict.kind == Verdict::Kind::kWrong) continue;
    verdict.kind = Verdict::Kind::kWrong;
    verdict.tensor = results[i];
    verdict.value = fit.max_error;
    verdict.message = fmt::format(
        "what rank {} got is not its part of the {} of the inputs of {} ranks: {:.6g} where it "
        "should be {:.6g}, {} of {} elements",
        exchange.ranks[i], name_of(of.reduction), members, fit.at, fit.at_sum, fit.beyond, share);
  }
  // Without the reduction in the dump it may be another one.
  const bool unsaid = !call(exchange, 0).reduction && verdict.odd.size() == members;
  if (unsaid) return unknown(Verdict::Obstacle::kUnsaid);
  if (verdict.odd.size() == members) verdict.odd.clear();
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
    return fitting(
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
