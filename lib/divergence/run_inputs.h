// The inputs of a run as evidence: what is known of them, and which of them have an error that what made them does not
// explain.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/model/noise_model.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// State of a run that was judged.
struct RunState {
  bool alarmed = false;
  bool downstream = false;         // it is alarmed, or something that it depends on is
  bool downstream_of_nan = false;  // an alarm that produces NaN or infinities is among these
  bool random = false;             // it, or something that it depends on, draws random numbers that differ
};

struct RunInputs {
  std::vector<uint32_t> evidence;          // tensors that were compared
  std::vector<uint32_t> constants;         // of these, constants that differ by more than rounding
  std::vector<const RunInput*> entering;   // off by more than rounding, and from outside or from an unknown source
  std::vector<const RunInput*> carried;    // from such a source in a later step: off by more than the steps before left
  std::vector<const RunInput*> inherited;  // from such a source in a later step: off by what the steps before have left
  std::vector<const RunInput*> changed;    // off by more than what their producer wrote
  bool all_same = true;                    // bit for bit
  bool unknown = false;                    // some were not dumped
  bool unknown_source = false;             // the producer of one of these is unknown
  bool bridged = false;                    // what the producer wrote stands in for one
  bool downstream = false, downstream_of_nan = false, random = false;  // as RunState
  bool elevated = false;                        // by an alarm upstream: more error than without it
  bool rescaled = false;                        // a scale of the loss begins where one side lacks an operator
  bool other_shape = false;                     // one has another shape or kind of dtype
  bool gained_nan = false, gained_inf = false;  // that the reference lacks
};

// What the runs before have led to.
struct RunHistory {
  std::vector<RunState> states;  // by run
  std::vector<double> healthy;   // by tensor: the error without the alarms; measured where there is none upstream
  double largest_error = 0;      // of an output, so far in this step
  double error_before = 0;       // of an output, in the steps before
};

// A backward call of msprobe also depends on all that its forward call saw, a collective operation on the inputs of
// every rank.
[[nodiscard]] RunInputs inputs_of_run(const RunView& view, const NoiseModel& model, const RunHistory& history,
                                      uint32_t run);

}  // namespace msdump
