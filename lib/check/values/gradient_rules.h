// The rules about the gradients of weights, layer by layer: what an optimizer was given (the inputs with as many elements
// as the weight that it updates), or what msprobe recorded as parameters_grad.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

// Does an operator of this type update weights?
[[nodiscard]] bool is_optimizer(std::string_view op_type);

struct WeightGradient {
  uint32_t tensor = kNone;    // the producer's output, else the optimizer's input
  std::string_view weight{};  // as the IR names it; empty: not known
  std::optional<int64_t> rank, step;
};
[[nodiscard]] std::vector<WeightGradient> weight_gradients(const CheckedDump& dump, const FactsReader& facts);

// All facts must have been read.
void judge_gradients(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                     std::vector<Finding>& findings);

}  // namespace msdump::check
