// Rule `began`: at which step, and with which tensor, a training began to behave otherwise.
#pragma once

#include <optional>
#include <span>
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
  StepHistory history;  // of two trainings: the candidate's values over the reference's
  bool of_two = false;
};

// "param_updated fc1.weight parameter:0, part 2 of the batch"
[[nodiscard]] std::string name_of(const StepTensor& tensor);
// "is 8.1 times what it was from there on"
[[nodiscard]] std::string describe(const SeriesChange& change);
// "norm is 8.1 times what it was from there on; 27 tensors follow; the update moved before the gradients"
[[nodiscard]] std::string reason_of(const BeganReport& report);

// The statistics of a tensor that a history may have.
// The first that any of its steps has.
[[nodiscard]] StepStatistic statistic_of(std::span<const TensorFacts> steps);
// NaN of a tensor with NaN or infinities; no value if it is not known.
[[nodiscard]] std::optional<float> step_value(const TensorFacts& facts, StepStatistic statistic);

// Judges the chosen tensors, whose facts are read. An error only when interrupted.
Result<BeganReport> judge_began(RuleContext& context, const std::vector<bool>& chosen);
// The same from the tables of msprobe's monitor, row by row: memory does not grow with the steps.
Result<BeganReport> judge_began_in_tables(RuleContext& context);
// Finds the step and tensor with which two trainings diverge. Both have the same tensors and steps.
Result<BeganReport> judge_parting(const StepHistory& candidate, const StepHistory& reference,
                                  const RunContext& context);

}  // namespace msdump::check
