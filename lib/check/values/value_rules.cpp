#include "check/values/value_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "check/values/weight_rules.h"
#include "dump/elements/host_tensor.h"
#include "ge/operators/operator_properties.h"
#include "kernels/reduce/reduce.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// "12 of 144 elements"; "some elements" for statistics without counts.
std::string count_text(const std::optional<uint64_t>& part, const TensorFacts& facts) {
  if (!part || facts.from == TensorFacts::From::kStatistics) {
    return part && *part > 1 ? plural(*part, "element") : "some elements";
  }
  return fmt::format("{} of {}", *part, plural(facts.elements.value_or(0), "element"));
}

report::Value number_value(const std::optional<uint64_t>& number) {
  return number ? report::Value(*number) : report::Value();
}

constexpr const char* kLikeMask = " (probably an attention mask)";

// Numbers that rules have limits for, and the parameters that are these limits.
struct LimitedNumber {
  std::string_view name, above, below;
  CompactOptional<double> TensorFacts::*value;
};
constexpr std::array kLimitedNumbers = {LimitedNumber{"abs_mean", "abs_mean_gt", "abs_mean_lt", &TensorFacts::mean_abs},
                                        LimitedNumber{"max", "max_gt", "max_lt", &TensorFacts::max},
                                        LimitedNumber{"min", "min_gt", "min_lt", &TensorFacts::min},
                                        LimitedNumber{"mean", "mean_gt", "mean_lt", &TensorFacts::mean}};

bool has_limits(const RuleSet& rules, RuleId id) {
  const auto& values = rules[id].values;
  const auto& parameters = info(id).parameters;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]) && parameters[i].name != "layer_ratio_lt") return true;
  }
  return false;
}

class TensorJudge {
 public:
  explicit TensorJudge(RuleContext& context)
      : context_(context), dump_(context.dump), facts_(context.facts), classifier_(dump_, facts_) {
    for (const RuleInfo& rule : all_rules()) {
      const bool has_any = rule.has_parameter("abs_mean_gt") || rule.has_parameter("abs_mean_lt");
      if (has_any && context.judges(rule.id) && has_limits(context.rules, rule.id)) limited_.push_back(rule.id);
    }
  }

  void judge(TensorId tensor) {
    const TensorFacts& facts = facts_[tensor];
    if (!facts.known() || dump_.role(tensor) == TensorRole::kOther) return;
    if (!facts.is_finite()) judge_nonfinite(tensor, facts);
    judge_edge(tensor, facts);
    judge_subnormal(tensor, facts);
    judge_sameness(tensor, facts);
    judge_given_limits(tensor, facts);
  }

 private:
  [[nodiscard]] double limit(RuleId id, std::string_view parameter) const {
    return context_.rules.value(id, parameter);
  }

  void judge_nonfinite(TensorId tensor, const TensorFacts& facts) {
    const uint64_t whole = facts.elements.value_or(0);
    const bool enough_nan = !facts.nan || percent(*facts.nan, whole) >= limit(RuleId::kNan, "percentage_ge");
    if (facts.has_nan && enough_nan && context_.judges(RuleId::kNan, tensor)) {
      set_downgrade(context_.report(RuleId::kNan, tensor, number_value(facts.nan),
                                    fmt::format("{}: NaN", count_text(facts.nan, facts))));
    }
    if (!facts.has_positive_inf && !facts.has_negative_inf) return;
    std::optional<uint64_t> infinite;
    if (facts.positive_inf && facts.negative_inf) infinite = *facts.positive_inf + *facts.negative_inf;
    if (infinite && percent(*infinite, whole) < limit(RuleId::kInf, "percentage_ge")) return;
    if (!context_.judges(RuleId::kInf, tensor)) return;
    const std::string_view sign = !facts.has_negative_inf ? "+inf" : !facts.has_positive_inf ? "-inf" : "+inf and -inf";
    set_downgrade(context_.report(RuleId::kInf, tensor, number_value(infinite),
                                  fmt::format("{}: {}", count_text(infinite, facts), sign)));
  }

  void set_downgrade(Finding& finding) const {
    if (dump_.role(finding.tensor) == TensorRole::kUnwritten) {
      finding.downgrade_reason = "; nothing reads this output, the kernel may never have written it";
    } else if (finding.rule == RuleId::kInf && classifier_.is_absorbed(finding.tensor)) {
      finding.downgrade_reason = "; the operator that reads it gives finite values";
    } else if (classifier_.classify(finding.tensor) == NonFinite::kMask) {
      finding.downgrade_reason = kLikeMask;
    }
  }

  [[nodiscard]] bool input_has_edge(TensorId tensor, bool negative) const {
    const ExecutionId run = dump_.run_of(tensor);
    if (run == kNoId || !is_own_output(tensor)) return false;
    const std::vector<TensorId> inputs = classifier_.inputs_of(run);
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
      const TensorFacts& facts = facts_[input];
      return (negative ? facts.negative_edge : facts.positive_edge).value_or(0) > 0;
    });
  }

  void judge_edge(TensorId tensor, const TensorFacts& facts) {
    const uint64_t negative = facts.negative_edge.value_or(0), positive = facts.positive_edge.value_or(0);
    if (negative + positive == 0 || dump_.role(tensor) == TensorRole::kUnwritten) return;
    const bool own_positive = positive > 0 && !input_has_edge(tensor, false);
    const bool own_negative = negative > 0 && !input_has_edge(tensor, true);
    if (!own_positive && !own_negative) return;  // its inputs have them already
    const double share = percent(negative + positive, facts.elements.value_or(0));
    const bool eight_bits = is_eight_bit_float(facts.dtype);
    const double least = limit(RuleId::kSaturation, eight_bits ? "fp8_percentage_ge" : "percentage_ge");
    const bool is_counted = facts.from == TensorFacts::From::kElements;  // tables do not say how many
    if (is_counted ? share < least : eight_bits) return;
    if (repeats_producer(tensor) || !context_.judges(RuleId::kSaturation, tensor)) return;
    const std::optional<uint64_t> count = is_counted ? std::optional(negative + positive) : std::nullopt;
    const std::string_view sign = positive == 0 ? "-" : negative == 0 ? "" : "+-";
    Finding& finding = context_.report(RuleId::kSaturation, tensor, number_value(count),
                                       fmt::format("{} at {}{:g}, the edge of {}", count_text(count, facts), sign,
                                                   largest_of(facts.dtype).value_or(0), name_of(facts.dtype)));
    if (positive == 0 && is_edge_mask(tensor, facts, negative)) finding.downgrade_reason = kLikeMask;
  }

  // True if all other elements are zeros, or if the operator was given the value.
  [[nodiscard]] bool is_edge_mask(TensorId tensor, const TensorFacts& facts, uint64_t negative) const {
    if (facts.from == TensorFacts::From::kStatistics) return facts.max == 0.0;
    if (facts.zero && facts.elements && *facts.zero + negative == *facts.elements) return true;
    const OperatorId op = dump_.op_of(tensor);
    return dump_.role(tensor) == TensorRole::kInput ||
           (op != kNoId && ge::has_property(dump_.operators()[op].type, ge::OperatorProperty::kCopiesOrFills));
  }

  // True for an input if its producer's output is judged as well.
  [[nodiscard]] bool repeats_producer(TensorId tensor) const {
    if (dump_.role(tensor) != TensorRole::kInput) return false;
    const ExecutionId run = dump_.run_of(tensor);
    if (run == kNoId) return false;
    for (const RunInput& input : dump_.runs()[run].inputs) {
      if (input.tensor == tensor && input.produced != kNoId) return true;
    }
    return !dump_.has_flow() && dump_.order_of(dump_.op_of(tensor)).has_value();
  }

  void judge_subnormal(TensorId tensor, const TensorFacts& facts) {
    if (facts.subnormal.value_or(0) == 0 || !facts.zero || !facts.elements) return;
    const double share = percent(*facts.subnormal, *facts.elements - std::min(*facts.elements, *facts.zero));
    if (share < limit(RuleId::kSubnormal, "percentage_ge") || !is_own_output(tensor)) return;
    if (!context_.judges(RuleId::kSubnormal, tensor)) return;
    context_.report(RuleId::kSubnormal, tensor, share,
                    fmt::format("{:.3g} % of the elements that are not zero are subnormal", share));
  }

  [[nodiscard]] bool is_own_output(TensorId tensor) const {
    return dump_.role(tensor) == TensorRole::kOutput || dump_.role(tensor) == TensorRole::kUpdated;
  }

  // Outputs whose elements are all equal although those of an input are not, and such weights. Vectors begin as zeros or
  // ones, so they are left out.
  void judge_sameness(TensorId tensor, const TensorFacts& facts) {
    const bool weight = dump_.role(tensor) == TensorRole::kParameter && facts.rank >= 2 && is_weight(dump_, tensor);
    if (!(weight || is_own_output(tensor)) || !is_floating(facts.dtype) || !facts.is_finite()) return;
    if (facts.elements.value_or(0) < 2) return;
    const ExecutionId run = weight ? kNoId : dump_.run_of(tensor);
    if (!weight && (run == kNoId || makes_constants(run))) return;
    const auto stands_out = [&](std::optional<bool> (TensorFacts::*same)() const) {
      return weight || some_input_varies(run, same);
    };
    const double least = limit(RuleId::kAllZero, "zero_percentage_ge");
    const bool zero = facts.zero ? percent(*facts.zero, *facts.elements) >= least : facts.all_zero().value_or(false);
    if (zero && stands_out(&TensorFacts::all_zero)) {
      if (!context_.judges(RuleId::kAllZero, tensor)) return;
      const bool all = facts.all_zero().value_or(false);
      context_.report(RuleId::kAllZero, tensor, facts.zero ? percent(*facts.zero, *facts.elements) : 100.0,
                      fmt::format("{} zero", all ? "every element is" : count_text(facts.zero, facts)));
      return;
    }
    if (zero || !facts.constant().value_or(false) || !stands_out(&TensorFacts::constant)) return;
    if (context_.judges(RuleId::kConstant, tensor))
      context_.report(RuleId::kConstant, tensor, *facts.max, fmt::format("every element is {:g}", *facts.max));
  }

  [[nodiscard]] bool makes_constants(ExecutionId run) const {
    return ge::has_property(dump_.operators()[dump_.runs()[run].op].type, ge::OperatorProperty::kMakesConstants);
  }

  [[nodiscard]] bool some_input_varies(ExecutionId run, std::optional<bool> (TensorFacts::*same)() const) const {
    const std::vector<TensorId> inputs = classifier_.inputs_of(run);
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
      const TensorFacts& facts = facts_[input];
      return facts.known() && is_floating(facts.dtype) && facts.elements.value_or(0) > 1 && (facts.*same)() == false;
    });
  }

  void judge_given_limits(TensorId tensor, const TensorFacts& facts) {
    if (dump_.role(tensor) == TensorRole::kUnwritten) return;
    for (const RuleId id : limited_) {
      if (!is_target(dump_, tensor, info(id).target)) continue;
      LimitPassed passed = judge_limits(facts, context_.rules, id);
      if (!passed.message.empty() && context_.judges(id, tensor))
        context_.report(id, tensor, passed.value, std::move(passed.message));
    }
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const FactsReader& facts_;
  const NonFiniteClassifier classifier_;
  std::vector<RuleId> limited_;  // rules with a limit of the mean, the minimum or the maximum
};

}  // namespace

std::string slot_text(const TensorRecord& tensor) {
  return fmt::format("{} {}", name_of(tensor.name.io), tensor.name.slot);
}

bool is_gradient(const CheckedDump& dump, TensorId tensor) {
  const TensorRole role = dump.role(tensor);
  if (role != TensorRole::kOutput) return false;
  const std::string_view name = dump.record(tensor).name.op_name;
  const OperatorId op = dump.op_of(tensor);
  const std::string_view full = op == kNoId ? name : std::string_view(dump.operators()[op].name);
  if (is_gradient_name(full)) return true;
  if (!parse_msprobe_entry(name)) return false;
  return name.find(".backward") != std::string_view::npos || name.find("parameters_grad") != std::string_view::npos;
}

bool is_weight(const CheckedDump& dump, TensorId tensor) {
  const TensorRecord& record = dump.record(tensor);
  if (dump.role(tensor) == TensorRole::kParameter) return dump.is_weight_name(record.name.op_name);
  if (dump.role(tensor) == TensorRole::kInput) return record.name.io == Io::kParameter;
  const OperatorId op = dump.op_of(tensor);
  return dump.role(tensor) == TensorRole::kUpdated && record.name.slot == "0" && op != kNoId &&
         is_optimizer(dump.operators()[op].type);
}

bool is_target(const CheckedDump& dump, TensorId tensor, Target target) {
  switch (target) {
    case Target::kWeight: return is_weight(dump, tensor);
    case Target::kGradient: return is_gradient(dump, tensor);
    case Target::kActivation: return dump.role(tensor) == TensorRole::kOutput && !is_gradient(dump, tensor);
    default: return true;
  }
}

LimitPassed judge_limits(const TensorFacts& facts, const RuleSet& rules, RuleId id) {
  if (!facts.is_finite() && facts.from == TensorFacts::From::kStatistics) return {};
  for (const LimitedNumber& number : kLimitedNumbers) {
    const CompactOptional<double> value = facts.*number.value;
    if (!value) continue;
    const double above = rules.value(id, number.above), below = rules.value(id, number.below);
    if (*value > above) return {fmt::format("{} {:g} > {:g}", number.name, *value, above), *value};
    if (*value < below) return {fmt::format("{} {:g} < {:g}", number.name, *value, below), *value};
  }
  return {};
}

std::vector<std::string> unjudged_rules(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules) {
  bool elements = false, any = false;
  std::array<bool, kLimitedNumbers.size()> known{};
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    const TensorFacts& one = facts[tensor];
    any = any || one.known();
    elements = elements || one.from == TensorFacts::From::kElements;
    for (size_t i = 0; i < known.size(); ++i) known[i] = known[i] || (one.*kLimitedNumbers[i].value).has_value();
  }
  std::vector<std::string> lines;
  for (const RuleInfo& rule : all_rules()) {
    if (!any || !rules[rule.id].on || !rules[rule.id].is_named) continue;
    if (rule.needs == Needs::kElements && !elements) {
      lines.push_back(fmt::format("rule {} needs the elements of tensors; this dump has statistics only", rule.name));
      continue;
    }
    for (size_t i = 0; i < known.size(); ++i) {
      const LimitedNumber& number = kLimitedNumbers[i];
      const bool given =
          !std::isnan(rules.value(rule.id, number.above)) || !std::isnan(rules.value(rule.id, number.below));
      if (given && !known[i]) lines.push_back(fmt::format("rule {}: nothing here has {}", rule.name, number.name));
    }
  }
  return lines;
}

void judge_values(RuleContext& context) {
  TensorJudge judge(context);
  for (TensorId tensor{0}; tensor < context.dump.tensors(); ++tensor) judge.judge(tensor);
}

namespace {

constexpr int64_t kSlab = int64_t{1} << 16;  // elements

struct InRange {
  uint64_t inside = 0, elements = 0;
};

// Elements from `first` to `last`, both included. kUnsupportedDtype for those that are not real numbers.
Result<uint64_t> count_in_range(HostTensor& tensor, double first, double last, const CancelToken& cancel) {
  std::vector<std::byte> slab(static_cast<size_t>(std::min(kSlab, tensor.count())) * tensor.element_bytes());
  uint64_t found = 0;
  for (int64_t begin = 0; begin < tensor.count(); begin += kSlab) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kSlab, tensor.count() - begin);
    MSDUMP_CHECK_OK(tensor.read(begin, count, slab.data()));
    const auto some = kernels::count_range(tensor.dtype(), slab.data(), count, first, last);
    if (!some) return fail(ErrorCode::kUnsupportedDtype, "a range of {} is not known", name_of(tensor.dtype()));
    found += *some;
  }
  return found;
}

class RangeJudge {
 public:
  RangeJudge(const RuleContext& context, RuleId id)
      : context_(context), dump_(context.dump), facts_(context.facts), id_(id) {}

  [[nodiscard]] bool takes(TensorId tensor) const {
    if (!facts_[tensor].known() || dump_.op_of(tensor) == kNoId) return false;
    if (dump_.role(tensor) == TensorRole::kOther || dump_.role(tensor) == TensorRole::kUnwritten) return false;
    return is_target(dump_, tensor, info(id_).target) && context_.judges(id_, tensor);
  }

  // The message is empty if the tensor is within its limits.
  Result<LimitPassed> judge(TensorId tensor) const {
    const TensorFacts& facts = facts_[tensor];
    if (facts.max && facts.min) {
      const double width = *facts.max - *facts.min;
      const double least = parameter("max_min_lt"), most = parameter("max_min_gt");
      if (width < least) return LimitPassed{fmt::format("max - min {:g} < {:g}", width, least), width};
      if (width > most) return LimitPassed{fmt::format("max - min {:g} > {:g}", width, most), width};
    }
    const double least = parameter("range_percentage_lt"), most = parameter("range_percentage_gt");
    if ((std::isnan(least) && std::isnan(most)) || facts.from != TensorFacts::From::kElements) return LimitPassed();
    const auto bound = [&](std::string_view name, double if_absent) {
      return std::isnan(parameter(name)) ? if_absent : parameter(name);
    };
    const double first = bound("range_start_inclusive", -HUGE_VAL), last = bound("range_end_inclusive", HUGE_VAL);
    MSDUMP_TRY(const InRange counted, count(tensor, first, last));
    if (counted.elements == 0) return LimitPassed();
    const double inside = percent(counted.inside, counted.elements);
    const std::string share = fmt::format("{:.3g} % of the elements in [{:g}, {:g}]", inside, first, last);
    if (inside < least) return LimitPassed{fmt::format("{} < {:g} %", share, least), inside};
    if (inside > most) return LimitPassed{fmt::format("{} > {:g} %", share, most), inside};
    return LimitPassed();
  }

 private:
  [[nodiscard]] double parameter(std::string_view name) const { return context_.rules.value(id_, name); }

  Result<InRange> count(TensorId tensor, double first, double last) const {
    MSDUMP_TRY(HostTensor host, HostTensor::open(dump_.index(), dump_.record(tensor), {}));
    if (host.count() == 0) return InRange();
    MSDUMP_TRY(const uint64_t inside, count_in_range(host, first, last, context_.run.cancel));
    MSDUMP_CHECK_OK(host.check_unchanged());
    return InRange{inside, static_cast<uint64_t>(host.count())};
  }

  const RuleContext& context_;
  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleId id_;
};

}  // namespace

Status judge_ranges(RuleContext& context) {
  for (const RuleInfo& rule : all_rules()) {
    if (!rule.has_parameter("range_start_inclusive") || !context.judges(rule.id)) continue;
    const RangeJudge judge(context, rule.id);
    std::vector<TensorId> tensors;
    for (TensorId tensor{0}; tensor < context.dump.tensors(); ++tensor) {
      if (judge.takes(tensor)) tensors.push_back(tensor);
    }
    context.run.pool.ordered_for(
        static_cast<int64_t>(tensors.size()), [&](int64_t i) { return judge.judge(tensors[static_cast<size_t>(i)]); },
        [&](int64_t i, Result<LimitPassed>&& passed) {
          if (passed && !passed->message.empty())
            context.report(rule.id, tensors[static_cast<size_t>(i)], passed->value, std::move(passed->message));
          if (!passed && passed.error().code != ErrorCode::kUnsupportedDtype)
            (void)context.keep_failure(std::move(passed).error());
        });
  }
  return context.run.cancel.check();
}

}  // namespace msdump::check
