// The inputs of a run: do they agree, and if not, where do they come from?
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/run_view.h"

namespace msdump {

// State of a run that was judged.
struct RunState {
  bool diverges = false;
  bool downstream = false;         // it diverges, or something that it depends on does
  bool downstream_of_nan = false;  // a root that produces NaN or infinities is among these
};

struct RunInputs {
  std::vector<uint32_t> evidence;                      // tensors that were compared
  std::vector<uint32_t> constants;                     // of these, constants that differ
  std::vector<const RunInput*> entering;               // that differ, and come from outside or from an unknown source
  std::vector<const RunInput*> changed;                // that differ, although what wrote them agrees or has no partner
  bool differ = false;                                 // values other than constants differ
  bool all_same = true;                                // bit for bit
  bool unknown = false;                                // some were not dumped
  bool unknown_source = false;                         // the producer of one of these is unknown
  bool bridged = false;                                // what the producer wrote stands in for one
  bool downstream = false, downstream_of_nan = false;  // as RunState
  bool gained_nan = false, gained_inf = false;         // that the reference lacks

  [[nodiscard]] bool agree() const { return !differ && constants.empty() && entering.empty() && changed.empty(); }
};

// A backward call of msprobe also depends on all that its forward call saw, a collective operation on the inputs of
// every rank.
[[nodiscard]] RunInputs inputs_of_run(const RunView& view, const std::vector<RunState>& states, uint32_t run);

}  // namespace msdump
