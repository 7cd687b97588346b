#include "check/gradient_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/value_rules.h"
#include "graph/in_place.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

// The gradients an optimizer was given.
void add_of_optimizer(const OpRuns& runs, const FactsReader& facts, const OpRun& run, std::set<uint32_t>& taken,
                      std::vector<WeightGradient>& gradients) {
  std::optional<uint64_t> elements;
  for (const uint32_t tensor : run.outputs) {
    if (runs.role(tensor) == Role::kUpdated && !elements) elements = facts[tensor].elements;
  }
  if (elements.value_or(0) < 2) return;
  for (const RunInput& input : run.inputs) {
    const uint32_t tensor = input.made_as != kNone ? input.made_as : input.tensor;
    if (tensor == kNone || facts[tensor].elements != elements || !is_floating(facts[tensor].dtype)) continue;
    if (taken.insert(tensor).second) gradients.push_back({tensor, run.rank, run.step});
  }
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
      if (taken.insert(tensor).second) gradients.push_back({tensor, run.rank, run.step});
    }
  }
  return gradients;
}

void judge_gradients(const OpRuns& runs, const FactsReader& facts, const RuleSet& rules,
                     std::vector<Finding>& findings) {
  const std::vector<WeightGradient> gradients = weight_gradients(runs, facts);
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, double> largest;
  for (const WeightGradient& one : gradients) {
    double& most = largest[{one.rank, one.step}];
    most = std::max(most, facts[one.tensor].root_mean_square().value_or(0));
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
    if (*rms > rules.value(RuleId::kGradientExploding, "rms_gt"))
      add(RuleId::kGradientExploding, *rms,
          fmt::format("the gradient of a weight has the root mean square {:.3g}", *rms));
    const double ratio = rules.value(RuleId::kGradientVanishing, "layer_ratio_lt");
    if (facts[one.tensor].rank >= 2 && *rms > 0 && *rms < ratio * most) {
      add(RuleId::kGradientVanishing, *rms / most,
          fmt::format("root mean square {:.3g}; the largest gradient of a weight in this step has {:.3g}", *rms, most));
    }
  }
}

}  // namespace msdump::check
