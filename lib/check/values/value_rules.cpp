#include "check/values/value_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "check/values/weight_rules.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/reduce.h"
#include "msprobe/names.h"
#include "parts/facts.h"

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

// Types whose outputs are constant on purpose.
bool makes_constants(std::string_view op_type) {
  const std::string type = to_lower(op_type);
  for (const std::string_view word : {"zero", "ones", "fill", "full", "empty", "constant", "eye", "drop", "mask"}) {
    if (type.find(word) != std::string::npos) return true;
  }
  return false;
}

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
  TensorJudge(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, std::vector<Finding>& findings)
      : dump_(dump), facts_(facts), rules_(rules), health_(dump, facts), findings_(findings) {
    for (const RuleId id : {RuleId::kTooLarge, RuleId::kTooSmall, RuleId::kWeightTooLarge, RuleId::kWeightTooSmall,
                            RuleId::kGradientTooLarge, RuleId::kGradientVanishing}) {
      if (rules.on(id) && has_limits(rules, id)) limited_.push_back(id);
    }
  }

  void judge(uint32_t tensor) {
    const TensorFacts& facts = facts_[tensor];
    if (!facts.known() || dump_.role(tensor) == TensorRole::kOther) return;
    if (!facts.is_finite()) judge_specials(tensor, facts);
    judge_edge(tensor, facts);
    judge_subnormal(tensor, facts);
    judge_sameness(tensor, facts);
    judge_given_limits(tensor, facts);
  }

 private:
  // Null if the rule is off or does not apply to the operator.
  Finding* add(RuleId id, uint32_t tensor) {
    const uint32_t op = dump_.op_of(tensor);
    const std::string_view name = op == kNone ? dump_.record(tensor).name.op_name : dump_.operators()[op].name;
    if (!rules_.on(id) || !rules_[id].takes(name)) return nullptr;
    findings_.push_back(finding_of(dump_, rules_, id, tensor));
    return &findings_.back();
  }

  void judge_specials(uint32_t tensor, const TensorFacts& facts) {
    const uint64_t whole = facts.elements.value_or(0);
    const Health health = health_.of(tensor);
    const bool enough_nan = !facts.nan || percent(*facts.nan, whole) >= rules_.value(RuleId::kNan, "percentage_ge");
    if (facts.has_nan && enough_nan) {
      if (Finding* const finding = add(RuleId::kNan, tensor)) {
        finding->value = number_value(facts.nan);
        finding->message = fmt::format("{}: NaN", count_text(facts.nan, facts));
        excuse(tensor, health, *finding);
      }
    }
    if (!facts.has_positive_inf && !facts.has_negative_inf) return;
    std::optional<uint64_t> infinite;
    if (facts.positive_inf && facts.negative_inf) infinite = *facts.positive_inf + *facts.negative_inf;
    if (infinite && percent(*infinite, whole) < rules_.value(RuleId::kInf, "percentage_ge")) return;
    Finding* const finding = add(RuleId::kInf, tensor);
    if (finding == nullptr) return;
    finding->value = number_value(infinite);
    const std::string_view sign = !facts.has_negative_inf ? "+inf" : !facts.has_positive_inf ? "-inf" : "+inf and -inf";
    finding->message = fmt::format("{}: {}", count_text(infinite, facts), sign);
    excuse(tensor, health, *finding);
  }

  void excuse(uint32_t tensor, Health health, Finding& finding) const {
    if (dump_.role(tensor) == TensorRole::kUnwritten) {
      finding.excuse = "; nothing reads this output, the kernel may never have written it";
    } else if (finding.kind == info(RuleId::kInf).name && health_.does_no_harm(tensor)) {
      finding.excuse = "; what the operator makes of it is finite";
    } else if (health == Health::kMasked) {
      finding.excuse = ", as a mask has";
    }
  }

  [[nodiscard]] bool input_has_edge(uint32_t tensor, bool negative) const {
    const uint32_t run = dump_.run_of(tensor);
    if (run == kNone || (dump_.role(tensor) != TensorRole::kOutput && dump_.role(tensor) != TensorRole::kUpdated))
      return false;
    const std::vector<uint32_t> inputs = health_.inputs_of(run);
    return std::any_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
      const TensorFacts& facts = facts_[input];
      return (negative ? facts.negative_edge : facts.positive_edge).value_or(0) > 0;
    });
  }

  void judge_edge(uint32_t tensor, const TensorFacts& facts) {
    const uint64_t negative = facts.negative_edge.value_or(0), positive = facts.positive_edge.value_or(0);
    if (negative + positive == 0 || dump_.role(tensor) == TensorRole::kUnwritten) return;
    const bool own_positive = positive > 0 && !input_has_edge(tensor, false);
    const bool own_negative = negative > 0 && !input_has_edge(tensor, true);
    if (!own_positive && !own_negative) return;  // reported where it arose
    const double share = percent(negative + positive, facts.elements.value_or(0));
    const bool eight_bits = is_eight_bit_float(facts.dtype);
    const double least = rules_.value(RuleId::kSaturation, eight_bits ? "fp8_percentage_ge" : "percentage_ge");
    const bool counted = facts.from == TensorFacts::From::kElements;
    if (counted ? share < least : eight_bits) return;  // tables do not say how many
    if (is_duplicate(tensor)) return;
    Finding* const finding = add(RuleId::kSaturation, tensor);
    if (finding == nullptr) return;
    const double largest = largest_of(facts.dtype).value_or(0);
    if (counted) finding->value = negative + positive;
    finding->message = fmt::format("{} at {}{:g}, the edge of {}",
                                   count_text(counted ? std::optional(negative + positive) : std::nullopt, facts),
                                   positive == 0   ? "-"
                                   : negative == 0 ? ""
                                                   : "+-",
                                   largest, name_of(facts.dtype));
    if (positive == 0 && is_edge_mask(tensor, facts, negative)) {
      finding->excuse = ", as a mask has";
    }
  }

  // All else is zeros, or a value that was put there.
  [[nodiscard]] bool is_edge_mask(uint32_t tensor, const TensorFacts& facts, uint64_t negative) const {
    if (facts.from == TensorFacts::From::kStatistics) return facts.max == 0.0;
    if (facts.zero && facts.elements && *facts.zero + negative == *facts.elements) return true;
    const uint32_t op = dump_.op_of(tensor);
    return dump_.role(tensor) == TensorRole::kInput || (op != kNone && puts_given_values(dump_.operators()[op].type));
  }

  // An input whose producer's output is judged as well.
  [[nodiscard]] bool is_duplicate(uint32_t tensor) const {
    if (dump_.role(tensor) != TensorRole::kInput) return false;
    const uint32_t run = dump_.run_of(tensor);
    if (run == kNone) return false;
    for (const RunInput& input : dump_.runs()[run].inputs) {
      if (input.tensor == tensor && input.made_as != kNone) return true;
    }
    return !dump_.has_flow() && dump_.order_of(dump_.op_of(tensor)).has_value();
  }

  void judge_subnormal(uint32_t tensor, const TensorFacts& facts) {
    if (facts.subnormal.value_or(0) == 0 || !facts.zero || !facts.elements) return;
    const uint64_t others = *facts.elements - std::min(*facts.elements, *facts.zero);
    const double share = percent(*facts.subnormal, others);
    if (share < rules_.value(RuleId::kSubnormal, "percentage_ge") || !is_own_output(tensor)) return;
    Finding* const finding = add(RuleId::kSubnormal, tensor);
    if (finding == nullptr) return;
    finding->value = share;
    finding->message = fmt::format("{:.3g} % of the elements that are not zero are subnormal", share);
  }

  [[nodiscard]] bool is_own_output(uint32_t tensor) const {
    return dump_.role(tensor) == TensorRole::kOutput || dump_.role(tensor) == TensorRole::kUpdated;
  }

  // Outputs without variety, although the inputs have some; weights without any, unless they are vectors: those begin
  // as zeros or ones.
  void judge_sameness(uint32_t tensor, const TensorFacts& facts) {
    const bool weight = dump_.role(tensor) == TensorRole::kParameter && facts.rank >= 2 && is_weight(dump_, tensor);
    if (!(weight || is_own_output(tensor)) || !is_floating(facts.dtype) || !facts.is_finite()) return;
    if (facts.elements.value_or(0) < 2) return;
    const uint32_t run = weight ? kNone : dump_.run_of(tensor);
    if (!weight && (run == kNone || makes_constants(dump_.operators()[dump_.runs()[run].op].type))) return;
    const auto stands_out = [&](std::optional<bool> (TensorFacts::*same)() const) {
      return weight || some_input_varies(run, same);
    };
    const double least = rules_.value(RuleId::kAllZero, "zero_percentage_ge");
    const bool zero = facts.zero ? percent(*facts.zero, *facts.elements) >= least : facts.all_zero().value_or(false);
    if (zero && stands_out(&TensorFacts::all_zero)) {
      if (Finding* const finding = add(RuleId::kAllZero, tensor)) {
        finding->value = facts.zero ? percent(*facts.zero, *facts.elements) : 100.0;
        finding->message = fmt::format(
            "{} zero", facts.all_zero().value_or(false) ? "every element is" : count_text(facts.zero, facts));
      }
      return;
    }
    if (zero || !facts.constant().value_or(false) || !stands_out(&TensorFacts::constant)) return;
    if (Finding* const finding = add(RuleId::kConstant, tensor)) {
      finding->value = *facts.max;
      finding->message = fmt::format("every element is {:g}", *facts.max);
    }
  }

  [[nodiscard]] bool some_input_varies(uint32_t run, std::optional<bool> (TensorFacts::*same)() const) const {
    const std::vector<uint32_t> inputs = health_.inputs_of(run);
    return std::any_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
      const TensorFacts& facts = facts_[input];
      return facts.known() && is_floating(facts.dtype) && facts.elements.value_or(0) > 1 && (facts.*same)() == false;
    });
  }

  void judge_given_limits(uint32_t tensor, const TensorFacts& facts) {
    if (dump_.role(tensor) == TensorRole::kUnwritten) return;
    for (const RuleId id : limited_) {
      const Target target = info(id).target;
      const bool applies = target == Target::kWeight     ? is_weight(dump_, tensor)
                           : target == Target::kGradient ? is_gradient(dump_, tensor)
                                                         : true;
      if (!applies) continue;
      const LimitPassed passed = judge_limits(facts, rules_, id);
      if (passed.message.empty()) continue;
      Finding* const finding = add(id, tensor);
      if (finding == nullptr) continue;
      finding->value = passed.value;
      finding->message = passed.message;
    }
  }

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  const HealthJudge health_;
  std::vector<Finding>& findings_;
  std::vector<RuleId> limited_;  // rules of which any one limit is given
};

}  // namespace

std::string slot_text(const TensorRecord& tensor) {
  return fmt::format("{} {}", name_of(tensor.name.io), tensor.name.slot);
}

Finding finding_of(const CheckedDump& dump, const RuleSet& rules, RuleId id, uint32_t tensor) {
  Finding finding;
  finding.kind = info(id).name;
  finding.severity = rules[id].severity;
  finding.tensor = tensor;
  finding.op = dump.op_of(tensor);
  return finding;
}

bool is_gradient(const CheckedDump& dump, uint32_t tensor) {
  const TensorRole role = dump.role(tensor);
  if (role != TensorRole::kOutput) return false;
  const std::string_view name = dump.record(tensor).name.op_name;
  const uint32_t op = dump.op_of(tensor);
  const std::string_view full = op == kNone ? name : std::string_view(dump.operators()[op].name);
  if (full.starts_with("Gradients")) return true;
  if (!parse_msprobe_entry(name)) return false;
  return name.find(".backward") != std::string_view::npos || name.find("parameters_grad") != std::string_view::npos;
}

bool is_weight(const CheckedDump& dump, uint32_t tensor) {
  const TensorRecord& record = dump.record(tensor);
  if (dump.role(tensor) == TensorRole::kParameter) return dump.is_weight_name(record.name.op_name);
  if (dump.role(tensor) == TensorRole::kInput) return record.name.io == Io::kParameter;
  const uint32_t op = dump.op_of(tensor);
  return dump.role(tensor) == TensorRole::kUpdated && record.name.slot == "0" && op != kNone &&
         is_optimizer(dump.operators()[op].type);
}

bool is_activation(const CheckedDump& dump, uint32_t tensor) {
  return dump.role(tensor) == TensorRole::kOutput && !is_gradient(dump, tensor);
}

LimitPassed judge_limits(const TensorFacts& facts, const RuleSet& rules, RuleId id) {
  struct Limit {
    std::string_view name;
    const std::optional<double>& value;
  };
  const std::array limits = {Limit{"abs_mean", facts.mean_abs}, Limit{"max", facts.max}, Limit{"min", facts.min},
                             Limit{"mean", facts.mean}};
  if (!facts.is_finite() && facts.from == TensorFacts::From::kStatistics) return {};
  for (const Limit& limit : limits) {
    if (!limit.value) continue;
    const double above = rules.value(id, fmt::format("{}_gt", limit.name));
    const double below = rules.value(id, fmt::format("{}_lt", limit.name));
    if (*limit.value > above) return {fmt::format("{} {:g} > {:g}", limit.name, *limit.value, above), *limit.value};
    if (*limit.value < below) return {fmt::format("{} {:g} < {:g}", limit.name, *limit.value, below), *limit.value};
  }
  return {};
}

std::vector<std::string> unjudged_rules(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules) {
  bool elements = false, any = false;
  std::array<bool, 4> known{};
  constexpr std::array<std::string_view, 4> kNumbers = {"abs_mean", "max", "min", "mean"};
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
    const TensorFacts& one = facts[tensor];
    any = any || one.known();
    elements = elements || one.from == TensorFacts::From::kElements;
    const std::array<bool, 4> has = {one.mean_abs.has_value(), one.max.has_value(), one.min.has_value(),
                                     one.mean.has_value()};
    for (size_t i = 0; i < known.size(); ++i) known[i] = known[i] || has[i];
  }
  std::vector<std::string> lines;
  for (const RuleInfo& rule : all_rules()) {
    if (!any || !rules[rule.id].on || !rules[rule.id].by_name) continue;
    if (rule.needs == Needs::kElements && !elements) {
      lines.push_back(fmt::format("rule {} needs the elements of tensors; this dump has statistics only", rule.name));
      continue;
    }
    for (size_t i = 0; i < kNumbers.size(); ++i) {
      const bool given = !std::isnan(rules.value(rule.id, fmt::format("{}_gt", kNumbers[i]))) ||
                         !std::isnan(rules.value(rule.id, fmt::format("{}_lt", kNumbers[i])));
      if (given && !known[i]) lines.push_back(fmt::format("rule {}: nothing here has {}", rule.name, kNumbers[i]));
    }
  }
  return lines;
}

void judge_values(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                  std::vector<Finding>& findings) {
  TensorJudge judge(dump, facts, rules, findings);
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) judge.judge(tensor);
}

namespace {

constexpr int64_t kSlab = int64_t{1} << 16;  // elements

struct InRange {
  uint64_t inside = 0, elements = 0;
};
void fields(auto& visit, FieldsOf<InRange> auto& value) { MSDUMP_FIELDS(inside, elements); }

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
  RangeJudge(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, RuleId id)
      : dump_(dump), facts_(facts), rules_(rules), id_(id) {}

  [[nodiscard]] bool takes(uint32_t tensor) const {
    if (!rules_.on(id_) || !facts_[tensor].known() || dump_.op_of(tensor) == kNone) return false;
    if (dump_.role(tensor) == TensorRole::kOther || dump_.role(tensor) == TensorRole::kUnwritten) return false;
    if (id_ == RuleId::kActivationRange && !is_activation(dump_, tensor)) return false;
    return rules_[id_].takes(dump_.operators()[dump_.op_of(tensor)].name);
  }

  // An empty text: no message.
  struct Judgement {
    double value = 0;
    std::string message;
  };
  Result<Judgement> judge(uint32_t tensor, const RunContext& context) const {
    double value = 0;
    const TensorFacts& facts = facts_[tensor];
    if (facts.max && facts.min) {
      value = *facts.max - *facts.min;
      const double least = parameter("max_min_lt"), most = parameter("max_min_gt");
      if (value < least) return Judgement{value, fmt::format("max - min {:g} < {:g}", value, least)};
      if (value > most) return Judgement{value, fmt::format("max - min {:g} > {:g}", value, most)};
    }
    const double least = parameter("range_percentage_lt"), most = parameter("range_percentage_gt");
    if ((std::isnan(least) && std::isnan(most)) || facts.from != TensorFacts::From::kElements) return Judgement();
    const auto bound = [&](std::string_view name, double standard) {
      return std::isnan(parameter(name)) ? standard : parameter(name);
    };
    const double first = bound("range_start_inclusive", -HUGE_VAL), last = bound("range_end_inclusive", HUGE_VAL);
    MSDUMP_TRY(const InRange counted,
               recorded<InRange>(context.facts, {FactKind::kInRange, static_cast<uint32_t>(id_), tensor},
                                 [&] { return count(tensor, first, last, context.cancel); }));
    if (counted.elements == 0) return Judgement();
    value = 100.0 * static_cast<double>(counted.inside) / static_cast<double>(counted.elements);
    const std::string share = fmt::format("{:.3g} % of the elements in [{:g}, {:g}]", value, first, last);
    if (value < least) return Judgement{value, fmt::format("{} < {:g} %", share, least)};
    if (value > most) return Judgement{value, fmt::format("{} > {:g} %", share, most)};
    return Judgement();
  }

  [[nodiscard]] Finding finding(uint32_t tensor, Judgement&& judgement) const {
    Finding finding = finding_of(dump_, rules_, id_, tensor);
    finding.value = judgement.value;
    finding.message = std::move(judgement.message);
    return finding;
  }

 private:
  [[nodiscard]] double parameter(std::string_view name) const { return rules_.value(id_, name); }

  Result<InRange> count(uint32_t tensor, double first, double last, const CancelToken& cancel) const {
    MSDUMP_TRY(HostTensor host, HostTensor::open(dump_.index(), dump_.record(tensor), {}));
    if (host.count() == 0) return InRange();
    MSDUMP_TRY(const uint64_t inside, count_in_range(host, first, last, cancel));
    MSDUMP_CHECK_OK(host.check_unchanged());
    return InRange{inside, static_cast<uint64_t>(host.count())};
  }

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  const RuleId id_;
};

}  // namespace

Status judge_ranges(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                    std::vector<Finding>& findings, std::vector<Error>& failures) {
  for (const RuleId id : {RuleId::kTensorRange, RuleId::kActivationRange}) {
    if (!rules.on(id)) continue;
    const RangeJudge judge(dump, facts, rules, id);
    std::vector<uint32_t> tensors;
    for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
      if (judge.takes(tensor)) tensors.push_back(tensor);
    }
    using Judged = Result<RangeJudge::Judgement>;
    context.pool.ordered_for(
        static_cast<int64_t>(tensors.size()),
        [&](int64_t i) { return judge.judge(tensors[static_cast<size_t>(i)], context); },
        [&](int64_t i, Judged&& judged) {
          if (judged && !judged->message.empty())
            findings.push_back(judge.finding(tensors[static_cast<size_t>(i)], std::move(*judged)));
          const bool reported = judged || judged.error().code == ErrorCode::kUnsupportedDtype;
          if (!reported && judged.error().code != ErrorCode::kCancelled) failures.push_back(std::move(judged).error());
        });
  }
  return context.cancel.check();
}

}  // namespace msdump::check
