#include "check/gradient_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/value_rules.h"
#include "graph/data_flow.h"
#include "graph/in_place.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

// The parameter that an optimizer updates.
std::string_view weight_of(const OpRuns& runs, uint32_t op) {
  const OpId node = runs.operators()[op].op;
  if (!runs.has_flow() || node == kNoIndex) return {};
  for (const InputEdge& edge : inputs_of(*runs.side().graph, node)) {
    if (edge.slot != 0 || edge.from != InputEdge::From::kParameter) continue;
    const IrGraph& ir = runs.side().graph->ir(node);
    return ir.text(ir.parameters[edge.parameter].name);
  }
  return {};
}

// The gradients an optimizer was given.
void add_of_optimizer(const OpRuns& runs, const FactsReader& facts, const OpRun& run, std::set<uint32_t>& taken,
                      std::vector<WeightGradient>& gradients) {
  std::optional<uint64_t> elements;
  for (const uint32_t tensor : run.outputs) {
    if (runs.role(tensor) == Role::kUpdated && !elements) elements = facts[tensor].elements;
  }
  if (elements.value_or(0) < 2) return;
  const std::string_view weight = weight_of(runs, run.op);
  for (const RunInput& input : run.inputs) {
    const uint32_t tensor = input.made_as != kNone ? input.made_as : input.tensor;
    if (tensor == kNone || facts[tensor].elements != elements || !is_floating(facts[tensor].dtype)) continue;
    if (taken.insert(tensor).second) gradients.push_back({tensor, weight, run.rank, run.step});
  }
}

std::string of_weight(const WeightGradient& one) {
  return one.weight.empty() ? "the gradient of a weight" : fmt::format("the gradient of {}", one.weight);
}

}  // namespace

bool is_optimizer(std::string_view op_type) {
  return op_type != "BatchNorm" && !op_type.starts_with("Assign") && !op_type.starts_with("Scatter") &&
         is_known_to_update(op_type, 0);
}

std::vector<WeightGradient> weight_gradients(const OpRuns& runs, const FactsReader& facts) {
  std::vector<WeightGradient> gradients;
  std::set<uint32_t> taken;
  for (const OpRun& run : runs.runs()) {
    const SequencedOp& op = runs.operators()[run.op];
    if (is_optimizer(op.type)) {
      add_of_optimizer(runs, facts, run, taken, gradients);
      continue;
    }
    if (op.name.find("parameters_grad") == std::string::npos) continue;
    for (const uint32_t tensor : run.outputs) {
      if (taken.insert(tensor).second) gradients.push_back({tensor, {}, run.rank, run.step});
    }
  }
  return gradients;
}

void judge_gradients(const OpRuns& runs, const FactsReader& facts, const RuleSet& rules,
                     std::vector<Finding>& findings) {
  const std::vector<WeightGradient> gradients = weight_gradients(runs, facts);
  // Beside one that explodes the others only seem to vanish.
  const double exploding = rules.value(RuleId::kGradientExploding, "rms_gt");
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, double> largest;
  for (const WeightGradient& one : gradients) {
    double& most = largest[{one.rank, one.step}];
    const double rms = facts[one.tensor].root_mean_square().value_or(0);
    if (rms <= exploding) most = std::max(most, rms);
  }
  for (const WeightGradient& one : gradients) {
    const auto rms = facts[one.tensor].root_mean_square();
    if (!rms) continue;
    const double most = largest[{one.rank, one.step}];
    const auto add = [&](RuleId id, double value, std::string message) {
      if (!rules.on(id) || !rules[id].takes(runs.operators()[runs.op_of(one.tensor)].name)) return;
      Finding finding = finding_of(runs, rules, id, one.tensor);
      finding.value = value;
      finding.message = std::move(message);
      findings.push_back(std::move(finding));
    };
    if (*rms > exploding)
      add(RuleId::kGradientExploding, *rms, fmt::format("{} has the root mean square {:.3g}", of_weight(one), *rms));
    const double ratio = rules.value(RuleId::kGradientVanishing, "layer_ratio_lt");
    if (facts[one.tensor].rank >= 2 && *rms < ratio * most) {
      add(RuleId::kGradientVanishing, *rms / most,
          fmt::format("{} has the root mean square {:.3g}; the largest of this step has {:.3g}", of_weight(one), *rms,
                      most));
    }
  }
}

}  // namespace msdump::check
