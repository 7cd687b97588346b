// Rule `began`: at which step, and with which tensor, a training began to behave otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/began/first_mover.h"
#include "check/rules/rule_context.h"

namespace msdump::check {

// The fewest steps of which something can be said.
inline constexpr size_t kLeastSteps = 8;

struct BeganReport {
  std::optional<Began> began;
  StepHistory history;
};

// "param_updated fc1.weight parameter:0, part 2 of the batch"
[[nodiscard]] std::string name_of(const StepTensor& tensor);
// "is 8.1 times what it was from there on"
[[nodiscard]] std::string describe(const SeriesChange& change);
// "norm is 8.1 times what it was from there on; 27 tensors follow; the update moved before the gradients"
[[nodiscard]] std::string reason_of(const StepHistory& history, const Began& began);

// Judges the chosen tensors, whose facts are read. An error only when interrupted.
Result<BeganReport> judge_began(RuleContext& context, const std::vector<bool>& chosen);
// The same from the tables of msprobe's monitor, row by row: memory does not grow with the steps.
Result<BeganReport> judge_began_in_tables(RuleContext& context);

}  // namespace msdump::check
