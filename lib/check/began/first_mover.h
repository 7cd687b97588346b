// The first mover: of all tensors whose series begin to behave otherwise, the one with which it began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/began/deviations.h"
#include "check/began/step_history.h"
#include "io/run_context.h"

namespace msdump::check {

// The phases of a training step in which tensors get their values, in the order of time.
enum class StepPhase : uint8_t { kParameter, kForward, kBackward, kLocalGradient, kGradient, kState, kUpdate };
[[nodiscard]] std::string_view name_of(StepPhase phase);  // "parameter", "forward", ..., "update"
// Of a monitor's metric ("param_origin", "reduced"); kForward for the types of operators.
[[nodiscard]] StepPhase phase_of(std::string_view op_type);

struct Mover {
  StepTensorId tensor = 0;
  int64_t step = 0;
  SeriesChange change;
  double score = 0;             // Deviation::score
  std::vector<int64_t> echoes;  // of a spike: later steps at which it is off again
};

struct Began {
  Mover first;
  std::vector<Mover> followers;  // in the order in which they moved
  size_t steps = 0;              // of the dump
  size_t steps_in_bin = 1;       // the step is exact to so many
  std::vector<float> values;     // of the first mover, for a sparkline
  std::vector<int64_t> value_steps;
};

// None if nothing began. With the history of another training, which has the same tensors and steps: where the two leave each
// other. An error only when interrupted.
Result<std::optional<Began>> find_first_mover(const StepHistory& history, const RunContext& context,
                                              const StepHistory* reference = nullptr);

}  // namespace msdump::check
