#include "check/ranks/reduction_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "check/ranks/rank_values.h"
#include "io/run_context.h"
#include "tensor/dtype.h"

namespace msdump::check {
namespace {

// Checks that a tensor is the reduction of others, element by element, for any order of the additions.
//
//   sum      |out - S| <= (n + 1) u A: S and A are the sums of n elements and of their magnitudes, u is the unit roundoff of
//            the dtype. Each of n - 1 additions may round once, and so may the store
//   mean     the same with S / n and A / n
//   product  |out - P| <= (n + 1) u |P|
//   max, min the element itself; not judged if one of the elements is NaN
// Elements whose sum overflows the dtype in some order are not judged. NaN and infinities must come out as they add up.
//
// Cost: each element is read once. Memory is a slab, whatever the number and size of the tensors, which are opened once
// for each slab.

// A tensor that holds elements of the reduction, from `first` on.
struct ReducedPart {
  TensorId tensor;
  int64_t first = 0, count = 0;
};

struct ReductionFit {
  double worst = 0;           // the largest error, in units of what is allowed
  double max_error = 0;       // |out - S| of that element
  double at_sum = 0, at = 0;  // that element: S and out
  int64_t index = 0;          // in the part
  uint64_t beyond = 0;        // elements with a larger error than allowed

  [[nodiscard]] bool fits() const { return beyond == 0; }
};

struct ReductionOf {
  std::span<const TensorId> sources;  // all have `count` elements
  int64_t count = 0;
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kUndefined;  // of the framework's tensors
};

// The cause of a wrong sum, by its first elements. No value if neither explains the difference.
struct WrongSum {
  std::optional<size_t> source;  // that counts `times` times in place of once; none: the whole sum does
  double times = 0;
};

constexpr int64_t kReducedSlab = int64_t{1} << 16;
constexpr double kMostExact = 0x1p53;  // integers beyond this are not judged
constexpr double kExplained = 1e-6;    // share of the square of a difference that may stay unexplained
constexpr int64_t kElementsExplained = int64_t{1} << 14;

// The reduction of one slab.
struct ReducedSlab {
  std::vector<double> value, magnitude;  // magnitude: what errors are relative to
};

void start(ReducedSlab& slab, Reduction reduction, int64_t count) {
  const double neutral = reduction == Reduction::kMax       ? -HUGE_VAL
                         : reduction == Reduction::kMin     ? HUGE_VAL
                         : reduction == Reduction::kProduct ? 1
                                                            : 0;
  slab.value.assign(static_cast<size_t>(count), neutral);
  slab.magnitude.assign(static_cast<size_t>(count), reduction == Reduction::kProduct ? 1 : 0);
}

void add(ReducedSlab& slab, Reduction reduction, std::span<const double> source) {
  for (size_t i = 0; i < source.size(); ++i) {
    const double one = source[i], size = std::abs(one);
    switch (reduction) {
      case Reduction::kMax: slab.value[i] = std::isnan(one) ? one : std::max(slab.value[i], one); break;
      case Reduction::kMin: slab.value[i] = std::isnan(one) ? one : std::min(slab.value[i], one); break;
      case Reduction::kProduct:
        slab.value[i] *= one;
        slab.magnitude[i] *= std::max(size, 1.0);
        continue;
      default: slab.value[i] += one; break;
    }
    slab.magnitude[i] += size;
  }
}

class ElementJudge {
 public:
  explicit ElementJudge(const ReductionOf& of)
      : of_(of),
        rounding_(rounding_of(of.dtype)),
        largest_(rounding_ ? largest_of(of.dtype).value_or(HUGE_VAL) : kMostExact),
        smallest_(of.dtype == DType::kFloat16 ? 0x1p-14 : 0x1p-126),
        terms_(static_cast<double>(of.sources.size())) {}

  void judge(double value, double magnitude, double out, int64_t index, ReductionFit& fit) const {
    const bool extreme = of_.reduction == Reduction::kMax || of_.reduction == Reduction::kMin;
    if (of_.reduction == Reduction::kMean) {
      value /= terms_;
      magnitude /= terms_;
    }
    if (std::isnan(value) && (extreme || std::isnan(out))) return;
    if (std::isfinite(magnitude) && magnitude >= largest_ * (1 - rounding_.value_or(0))) return;
    if (value == out || (of_.reduction == Reduction::kMean && !rounding_)) return;
    // Infinities and NaN do not depend on roundings.
    const double error = std::isfinite(value) && std::isfinite(out) ? std::abs(out - value) : HUGE_VAL;
    const double allowed = extreme ? 0 : (terms_ + 1) * rounding_.value_or(0) * magnitude + smallest_;
    if (error <= allowed) return;
    ++fit.beyond;
    const double ratio = allowed > 0 ? error / allowed : HUGE_VAL;
    if (fit.beyond > 1 && ratio <= fit.worst) return;
    fit.worst = ratio;
    fit.max_error = error;
    fit.at_sum = value;
    fit.at = out;
    fit.index = index;
  }

 private:
  const ReductionOf& of_;
  const std::optional<double> rounding_;
  const double largest_, smallest_, terms_;  // smallest: devices may treat subnormal numbers as 0
};

bool can_judge(const ReductionOf& of) {
  if (of.reduction == Reduction::kOther || of.sources.empty()) return false;
  return rounding_of(of.dtype) || kind_of(of.dtype) == DTypeKind::kInteger;
}

// Returns the fit of each part. An error if a tensor cannot be read, or doubles cannot hold the dtype.
Result<std::vector<ReductionFit>> check_reduction(const CheckedDump& dump, const ReductionOf& of,
                                                  std::span<const ReducedPart> parts, const CancelToken& cancel) {
  if (!can_judge(of)) return fail(make_error(ErrorCode::kUnsupportedDtype, "no reduction of {}", name_of(of.dtype)));
  std::vector<ReductionFit> fits(parts.size());
  const ElementJudge judge(of);
  ReducedSlab slab;
  std::vector<double> numbers;
  for (int64_t at = 0; at < of.count; at += kReducedSlab) {
    const int64_t count = std::min(kReducedSlab, of.count - at);
    start(slab, of.reduction, count);
    numbers.resize(static_cast<size_t>(count));
    for (const TensorId source : of.sources) {
      MSDUMP_CHECK_OK(cancel.check());
      MSDUMP_CHECK_OK(read_numbers(dump, source, at, numbers));
      add(slab, of.reduction, numbers);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t begin = std::max(at, parts[i].first);
      const int64_t end = std::min(at + count, parts[i].first + parts[i].count);
      if (begin >= end) continue;
      const std::span<double> out = std::span(numbers).first(static_cast<size_t>(end - begin));
      MSDUMP_CHECK_OK(read_numbers(dump, parts[i].tensor, begin - parts[i].first, out));
      for (int64_t k = begin; k < end; ++k) {
        const auto in_slab = static_cast<size_t>(k - at);
        judge.judge(slab.value[in_slab], slab.magnitude[in_slab], out[static_cast<size_t>(k - begin)],
                    k - parts[i].first, fits[i]);
      }
    }
  }
  return fits;
}

Result<std::optional<WrongSum>> explain_sum(const CheckedDump& dump, const ReductionOf& of, const ReducedPart& part) {
  const auto count = static_cast<size_t>(std::min(kElementsExplained, part.count));
  std::vector<double> sum(count, 0), out(count), one(count);
  MSDUMP_CHECK_OK(read_numbers(dump, part.tensor, 0, out));
  for (const TensorId source : of.sources) {
    MSDUMP_CHECK_OK(read_numbers(dump, source, part.first, one));
    for (size_t i = 0; i < count; ++i) sum[i] += one[i];
  }
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double result = 0;
    for (size_t i = 0; i < count; ++i) result += a[i] * b[i];
    return result;
  };
  const double noise = 4 * std::pow(rounding_of(of.dtype).value_or(0), 2) * dot(out, out);
  // The multiple of `base` that is nearest to `target`, if no difference remains.
  const auto multiple = [&](const std::vector<double>& target, const std::vector<double>& base) {
    const double square = dot(base, base), whole = dot(target, target);
    if (!(square > 0) || !(whole > 0)) return std::optional<double>();
    const double times = dot(target, base) / square;
    double rest = 0;
    for (size_t i = 0; i < count; ++i) rest += (target[i] - times * base[i]) * (target[i] - times * base[i]);
    return rest <= kExplained * whole + noise ? std::optional(times) : std::optional<double>();
  };
  if (const auto times = multiple(out, sum)) return std::optional(WrongSum{std::nullopt, *times});
  std::vector<double> difference(count);
  for (size_t i = 0; i < count; ++i) difference[i] = out[i] - sum[i];
  std::optional<WrongSum> found;
  for (size_t i = 0; i < of.sources.size(); ++i) {
    MSDUMP_CHECK_OK(read_numbers(dump, of.sources[i], part.first, one));
    const auto times = multiple(difference, one);
    if (!times) continue;
    if (found) return std::optional<WrongSum>();  // two would do
    found = WrongSum{i, 1 + *times};
  }
  return found;
}

using Verdict = ExchangeVerdict;

constexpr size_t kMostClasses = 8;  // different results of one reduction that are each compared with it

// A checksum alone proves nothing: msprobe may take it after the next operator has changed the tensor in place.
bool has_same_statistics(const TensorFacts& a, const TensorFacts& b) {
  return a.from == TensorFacts::From::kStatistics && a.max && a.min && a.max == b.max && a.min == b.min &&
         a.mean == b.mean && a.l2norm == b.l2norm;
}

// "1.5 where it should be 2", with enough digits for the numbers to differ.
std::string apart_text(double is, double should_be) {
  constexpr int kDigits = 6, kMostDigits = 17;
  for (int digits = kDigits;; ++digits) {
    const std::string one = fmt::format("{:.{}g}", is, digits), other = fmt::format("{:.{}g}", should_be, digits);
    if (one != other || digits == kMostDigits) return one + " where it should be " + other;
  }
}

// Adds the cause of a wrong sum, and the rank at fault.
void explain(const WrongSum& wrong, const Exchange& exchange, Verdict& verdict) {
  verdict.proven = true;
  if (!wrong.source) {
    verdict.message += fmt::format("; it is {:.6g} times the sum", wrong.times);
    return;
  }
  verdict.faulty_ranks = {exchange.ranks[*wrong.source]};
  verdict.message +=
      std::abs(wrong.times) < 1e-3
          ? fmt::format("; it is the sum without rank {}'s", verdict.faulty_ranks.front())
          : fmt::format("; what rank {} put in counts {:.6g} times", verdict.faulty_ranks.front(), wrong.times);
}

}  // namespace

Verdict ReductionJudge::judge_all_reduce(const Exchange& exchange) const {
  Verdict all = judge_all_reduce(exchange, 0);
  for (size_t part = 1; part < call(exchange, 0).received.size(); ++part)
    all = worse(std::move(all), judge_all_reduce(exchange, part));
  return all;
}

Verdict ReductionJudge::judge_reduce(const Exchange& exchange, const std::optional<size_t>& root) const {
  if (!exchange.complete()) return unknown_verdict(Verdict::Obstacle::kIncomplete);
  if (!root || call(exchange, *root).received.size() != 1) return unknown_verdict(Verdict::Obstacle::kUnspecified);
  std::vector<TensorId> sources;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    if (call(exchange, i).sent.size() == 1) sources.push_back(call(exchange, i).sent.front());
  }
  return judge_reduction(exchange, sources, {*root}, {call(exchange, *root).received.front()});
}

// True if the dumped input of a rank has the values of its output. Equal inputs of all ranks, zeros for example, are no
// sign of it.
bool ReductionJudge::shares_memory(const Exchange& exchange, size_t part) const {
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.sent.size() || part >= one.received.size()) continue;
    if (are_equal(facts_[one.sent[part]], facts_[one.received[part]]) == true) return true;
  }
  return false;
}

Verdict ReductionJudge::judge_all_reduce(const Exchange& exchange, size_t part) const {
  Verdict apart = judge_equal_results(exchange, part);
  if (!exchange.complete())
    return apart.kind == Verdict::Kind::kUnknown ? unknown_verdict(Verdict::Obstacle::kIncomplete) : apart;
  std::vector<TensorId> sources, results;
  std::vector<size_t> receivers;
  std::set<uint64_t> seen;  // one of each different result
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.sent.size() || part >= one.received.size()) return apart;
    sources.push_back(one.sent[part]);
    if (seen.size() == kMostClasses || !seen.insert(facts_[one.received[part]].digest).second) continue;
    receivers.push_back(i);
    results.push_back(one.received[part]);
  }
  Verdict reduced = judge_reduction(exchange, sources, receivers, results);
  if (apart.kind != Verdict::Kind::kDiverged) {
    const bool hidden = reduced.kind == Verdict::Kind::kWrong && shares_memory(exchange, part);
    return hidden ? unknown_verdict(Verdict::Obstacle::kSharedMemory) : reduced;
  }
  // The comparison with the sum tells more than the difference between ranks.
  if (reduced.kind == Verdict::Kind::kFits) {
    // Statistics of two results may fit although these differ by more.
    apart.only_rounding = facts_[results.front()].from == TensorFacts::From::kElements;
    return apart;
  }
  return reduced.kind == Verdict::Kind::kWrong && reduced.faulty_ranks.size() < exchange.members.size() &&
                 !reduced.faulty_ranks.empty()
             ? reduced
             : apart;
}

// Judges whether all ranks received the same, bit by bit.
Verdict ReductionJudge::judge_equal_results(const Exchange& exchange, size_t part) const {
  std::map<uint64_t, std::vector<size_t>> classes;
  for (size_t i = 0; i < exchange.members.size(); ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (part >= one.received.size() || facts_[one.received[part]].digest == 0) return {};
    classes[facts_[one.received[part]].digest].push_back(i);
  }
  if (classes.size() < 2) return {};
  const auto largest = std::max_element(classes.begin(), classes.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const TensorId usual = call(exchange, largest->second.front()).received[part];
  Verdict verdict;
  std::vector<int64_t> others;
  for (const auto& [digest, members] : classes) {
    if (digest == largest->first) continue;
    const TensorId received = call(exchange, members.front()).received[part];
    if (are_equal(facts_[received], facts_[usual]) != false || has_same_statistics(facts_[received], facts_[usual]))
      return {};
    if (verdict.tensor == kNoId) verdict.tensor = received;
    for (const size_t member : members) others.push_back(exchange.ranks[member]);
  }
  verdict.kind = Verdict::Kind::kDiverged;
  std::sort(others.begin(), others.end());
  const bool told = others.size() * 2 < exchange.members.size();
  verdict.message = told ? fmt::format("{} got another result than the others", ranks_text(others))
                         : "the ranks did not get the same result";
  if (told) verdict.faulty_ranks = std::move(others);
  if (const auto metrics = compare_elements(dump_, verdict.tensor, usual, cancel_)) {
    verdict.value = metrics->max_abs.value_or(0);
    verdict.message += fmt::format(": {} of {} elements differ, by up to {:.3g}", metrics->count - metrics->equal,
                                   metrics->count, verdict.value);
  }
  return verdict;
}

// Judges each of `results`, which `receivers` received, against the reduction of all sources.
Verdict ReductionJudge::judge_reduction(const Exchange& exchange, const std::vector<TensorId>& sources,
                                        const std::vector<size_t>& receivers,
                                        const std::vector<TensorId>& results) const {
  if (sources.size() != exchange.ranks.size() || !exchange.complete() || results.empty()) return {};
  const TensorFacts& like = facts_[results.front()];
  bool elements = true;
  for (const auto* const tensors : {&sources, &results}) {
    for (const TensorId tensor : *tensors) {
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
  return judge_by_elements(exchange, sources, receivers, results);
}

// All tensors have one dtype and number of elements.
Verdict ReductionJudge::judge_by_elements(const Exchange& exchange, const std::vector<TensorId>& sources,
                                          const std::vector<size_t>& receivers,
                                          const std::vector<TensorId>& results) const {
  const TensorFacts& like = facts_[results.front()];
  const auto count = static_cast<int64_t>(*like.elements);
  std::vector<ReducedPart> parts;
  for (const TensorId result : results) parts.push_back({result, 0, count});
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
  size_t worst = 0, fitting = 0;  // fitting: members
  const bool shared = exchange.kind == CollectiveKind::kAllReduce && receivers.size() > 1;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool fits_here = (*fits)[i].fits();
    if (!fits_here && (verdict.faulty_ranks.empty() || (*fits)[i].worst > (*fits)[worst].worst)) worst = i;
    for (size_t member = 0; member < exchange.members.size(); ++member) {
      if (member != receivers[i] && !(shared && got_like(exchange, member, results[i]))) continue;
      if (fits_here) {
        ++fitting;
      } else {
        verdict.faulty_ranks.push_back(exchange.ranks[member]);
      }
    }
  }
  if (verdict.faulty_ranks.empty()) {
    return fitting_verdict(
        std::any_of(sources.begin(), sources.end(), [&](TensorId source) { return is_telling(facts_[source]); }));
  }
  const ReductionFit& fit = (*fits)[worst];
  verdict.kind = Verdict::Kind::kWrong;
  verdict.proven = proves_group(exchange, sources, fitting);
  verdict.tensor = results[worst];
  verdict.value = fit.max_error;
  const bool all_alike = results.size() == 1 && exchange.kind == CollectiveKind::kAllReduce;
  const std::string whose = all_alike ? "the result" : fmt::format("what {} got", ranks_text(verdict.faulty_ranks));
  verdict.message =
      fmt::format("{} is not the {} of the inputs of {} ranks: {}, {} of {} elements", whose, name_of(of.reduction),
                  sources.size(), apart_text(fit.at, fit.at_sum), fit.beyond, count);
  if (all_alike) verdict.faulty_ranks.clear();
  if (results.size() > 1 || of.reduction != Reduction::kSum) return verdict;
  const auto wrong = explain_sum(dump_, of, parts[worst]);
  if (wrong && *wrong) explain(**wrong, exchange, verdict);
  return verdict;
}

// True if the results of most ranks are the reduction of all inputs, none of which is constant. A smaller group would
// then not fit.
bool ReductionJudge::proves_group(const Exchange& exchange, const std::vector<TensorId>& sources,
                                  size_t fitting) const {
  return fitting * 2 > exchange.members.size() &&
         std::all_of(sources.begin(), sources.end(), [&](TensorId source) { return is_telling(facts_[source]); });
}

bool ReductionJudge::got_like(const Exchange& exchange, size_t member, TensorId result) const {
  const std::vector<TensorId>& received = call(exchange, member).received;
  return std::any_of(received.begin(), received.end(),
                     [&](TensorId tensor) { return facts_[tensor].digest == facts_[result].digest; });
}

// The mean of a sum is the sum of the means. Its extremes and norm are bounded by the sums of theirs.
Verdict ReductionJudge::judge_by_statistics(const Exchange& exchange, const std::vector<TensorId>& sources,
                                            TensorId result, size_t receiver) const {
  const std::optional<Reduction> said = call(exchange, 0).reduction;
  const TensorFacts& out = facts_[result];
  if (said != Reduction::kSum && !(call(exchange, 0).counted && !said)) return {};
  double mean = 0, least = 0, most = 0, norm = 0;
  for (const TensorId source : sources) {
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
  // If the dump does not name the reduction, it may be a mean or an extreme, whose statistics lie inside as well.
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

Verdict ReductionJudge::judge_reduce_scatter(const Exchange& exchange) const {
  if (!exchange.complete()) return unknown_verdict(Verdict::Obstacle::kIncomplete);
  const size_t members = exchange.members.size();
  const bool lists = call(exchange, 0).sent.size() == members && members > 1;
  constexpr size_t kMostLists =
      64;  // a list has a part for each rank: all parts are as many as the square of the ranks
  if (lists && members > kMostLists) return {};
  Verdict verdict = fitting_verdict(false);
  std::vector<TensorId> sources, results;
  for (size_t i = 0; i < members; ++i) {
    const CollectiveCall& one = call(exchange, i);
    if (one.received.size() != 1 || one.sent.size() != (lists ? members : 1)) return {};
    results.push_back(one.received.front());
    if (!lists) sources.push_back(one.sent.front());
  }
  for (size_t i = 0; lists && i < members; ++i) {
    sources.clear();
    for (size_t j = 0; j < members; ++j) sources.push_back(call(exchange, j).sent[i]);
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
  verdict = fitting_verdict(is_telling(whole));
  for (size_t i = 0; i < members; ++i) {
    const ReductionFit& fit = (*fits)[i];
    if (fit.fits()) continue;
    verdict.faulty_ranks.push_back(exchange.ranks[i]);
    if (verdict.kind == Verdict::Kind::kWrong) continue;
    verdict.kind = Verdict::Kind::kWrong;
    verdict.tensor = results[i];
    verdict.value = fit.max_error;
    verdict.message = fmt::format(
        "what rank {} got is not its part of the {} of the inputs of {} ranks: {:.6g} where it "
        "should be {:.6g}, {} of {} elements",
        exchange.ranks[i], name_of(of.reduction), members, fit.at, fit.at_sum, fit.beyond, share);
  }
  // If the dump does not name the reduction, it may be another one.
  const bool unsaid = !call(exchange, 0).reduction && verdict.faulty_ranks.size() == members;
  if (unsaid) return unknown_verdict(Verdict::Obstacle::kUnspecified);
  if (verdict.faulty_ranks.size() == members) verdict.faulty_ranks.clear();
  return verdict;
}

}  // namespace msdump::check
