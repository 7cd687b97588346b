#include "check/values/gradient_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/values/value_rules.h"
#include "graph/flow/data_flow.h"
#include "graph/flow/in_place.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

// The parameter that an optimizer updates.
std::string_view weight_of(const CheckedDump& dump, uint32_t op) {
  const OpId node = dump.operators()[op].op;
  if (!dump.has_flow() || node == kNoIndex) return {};
  for (const InputEdge& edge : inputs_of(*dump.graph(), node)) {
    if (edge.slot != 0 || edge.from != InputEdge::From::kParameter) continue;
    const IrGraph& ir = dump.graph()->ir(node);
    return ir.text(ir.parameters[edge.parameter].name);
  }
  return {};
}

// The gradients an optimizer was given.
void add_of_optimizer(const CheckedDump& dump, const FactsReader& facts, const OpRun& run, std::set<uint32_t>& taken,
                      std::vector<WeightGradient>& gradients) {
  std::optional<uint64_t> elements;
  for (const uint32_t tensor : run.outputs) {
    if (dump.role(tensor) == TensorRole::kUpdated && !elements) elements = facts[tensor].elements;
  }
  if (elements.value_or(0) < 2) return;
  const std::string_view weight = weight_of(dump, run.op);
  for (const RunInput& input : run.inputs) {
    const uint32_t tensor = input.made_as != kNone ? input.made_as : input.tensor;
    if (tensor == kNone || facts[tensor].elements != elements || !is_floating(facts[tensor].dtype)) continue;
    if (taken.insert(tensor).second) gradients.push_back({tensor, weight, run.place.rank, run.place.step});
  }
}

// The gradients of one step on one rank.
struct StepGradients {
  double largest = 0;  // root mean square; beside one that explodes the others only seem to vanish
  size_t matrices = 0, zeros = 0;
};

class GradientJudge {
 public:
  GradientJudge(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, std::vector<Finding>& findings)
      : dump_(dump),
        facts_(facts),
        rules_(rules),
        findings_(findings),
        exploding_(rules.value(RuleId::kGradientExploding, "rms_gt")),
        ratio_(rules.value(RuleId::kGradientVanishing, "layer_ratio_lt")) {}

  void run() {
    const std::vector<WeightGradient> gradients = weight_gradients(dump_, facts_);
    for (const WeightGradient& one : gradients) {
      const auto rms = facts_[one.tensor].root_mean_square();
      if (!rms) continue;
      StepGradients& step = steps_[{one.rank, one.step}];
      if (*rms <= exploding_) step.largest = std::max(step.largest, *rms);
      if (!is_matrix(one)) continue;
      ++step.matrices;
      step.zeros += *rms == 0 ? 1U : 0U;
    }
    for (const WeightGradient& one : gradients) judge(one);
  }

 private:
  // Vectors may cancel out: the bias before a normalisation has no gradient.
  [[nodiscard]] bool is_matrix(const WeightGradient& one) const { return facts_[one.tensor].rank >= 2; }

  void judge(const WeightGradient& one) {
    const auto rms = facts_[one.tensor].root_mean_square();
    if (!rms) return;
    const StepGradients& step = steps_[{one.rank, one.step}];
    if (*rms > exploding_)
      add(RuleId::kGradientExploding, one, *rms, fmt::format("has the root mean square {:.3g}", *rms));
    if (!is_matrix(one) || *rms >= ratio_ * step.largest) return;
    Finding* const finding =
        add(RuleId::kGradientVanishing, one, *rms / step.largest,
            fmt::format("has the root mean square {:.3g}; the largest of this step has {:.3g}", *rms, step.largest));
    // A layer that nothing read in this step, or one after a layer that starts at zero, has a gradient of zero; few
    // layers do.
    if (finding != nullptr && *rms == 0 && step.zeros * 2 <= step.matrices)
      finding->severity = std::min(finding->severity, Severity::kNote);
  }

  Finding* add(RuleId id, const WeightGradient& one, double value, const std::string& message) {
    if (!rules_.on(id) || !rules_[id].takes(dump_.operators()[dump_.op_of(one.tensor)].name)) return nullptr;
    Finding& finding = findings_.emplace_back(finding_of(dump_, rules_, id, one.tensor));
    finding.value = value;
    finding.message =
        (one.weight.empty() ? "the gradient of a weight " : fmt::format("the gradient of {} ", one.weight)) + message;
    return &finding;
  }

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
  const double exploding_, ratio_;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, StepGradients> steps_;  // by rank and step
};

}  // namespace

bool is_optimizer(std::string_view op_type) {
  return op_type != "BatchNorm" && !op_type.starts_with("Assign") && !op_type.starts_with("Scatter") &&
         is_known_to_update(op_type, 0);
}

std::vector<WeightGradient> weight_gradients(const CheckedDump& dump, const FactsReader& facts) {
  std::vector<WeightGradient> gradients;
  std::set<uint32_t> taken;
  for (const OpRun& run : dump.runs()) {
    const SequencedOp& op = dump.operators()[run.op];
    if (is_optimizer(op.type)) {
      add_of_optimizer(dump, facts, run, taken, gradients);
      continue;
    }
    if (op.name.find("parameters_grad") == std::string::npos) continue;
    for (const uint32_t tensor : run.outputs) {
      if (taken.insert(tensor).second) gradients.push_back({tensor, {}, run.place.rank, run.place.step});
    }
  }
  return gradients;
}

void judge_gradients(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                     std::vector<Finding>& findings) {
  GradientJudge(dump, facts, rules, findings).run();
}

}  // namespace msdump::check
