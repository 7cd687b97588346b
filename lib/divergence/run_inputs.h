// RunInputs: the inputs of an execution as evidence: which are known, and which have more error than their producer
// explains.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/model/noise_model.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// State of an execution that was judged.
struct RunState {
  bool alarmed = false;
  bool downstream = false;         // it is alarmed, or depends on an execution that is
  bool downstream_of_nan = false;  // likewise, of alarms that produce NaN or infinities
  bool random = false;             // it drew other random numbers, or depends on an execution that did
  bool chosen = false;  // it chose otherwise, as the values that decide differ, or depends on an execution that did
};

struct RunInputs {
  std::vector<TensorId> evidence;         // tensors that were compared
  std::vector<TensorId> constants;        // of these, constants that differ by more than rounding
  std::vector<const RunInput*> entering;  // off by more than rounding, from outside or an unknown source
  std::vector<const RunInput*> carried;   // likewise in a later step: off by more than earlier steps left; sharded only
  std::vector<const RunInput*> inherited;  // likewise in a later step: off by no more than earlier steps left
  std::vector<const RunInput*> changed;    // off by more than their producer's output
  // The first of these that is not what its producer wrote, by checksums or statistics; null: none.
  const RunInput* handed_on = nullptr;
  bool all_same = true;         // all are kSame
  bool unknown = false;         // some were not compared
  bool unknown_source = false;  // the producer of one of these is unknown
  bool downstream = false, downstream_of_nan = false, random = false, chosen = false;  // as RunState
  bool rescaled = false;                        // a loss scale begins at a producer that one side lacks
  bool other_shape = false;                     // one has another shape or kind of dtype
  bool gained_nan = false, gained_inf = false;  // more NaN than in the reference; NaN or infinities on one side only

  // True if all were compared and are equal bit for bit.
  [[nodiscard]] bool are_equal() const { return all_same && !unknown && !evidence.empty(); }
};

// Effects of the executions before.
struct RunHistory {
  std::vector<RunState> states;  // by run
  double largest_error = 0;      // of an output, so far in this step
  double error_before = 0;       // of an output, in the steps before
  bool any_chosen = false;       // an execution of this step chose otherwise
};

// A backward call of msprobe also depends on everything that its forward call read and wrote, and a collective on the
// inputs of every rank.
[[nodiscard]] RunInputs inputs_of_run(const RunView& view, const NoiseModel& model, const RunHistory& history,
                                      ExecutionId run);

}  // namespace msdump
