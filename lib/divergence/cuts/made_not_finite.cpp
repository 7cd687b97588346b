#include "divergence/cuts/made_not_finite.h"

#include <algorithm>

namespace msdump {
namespace {

const RunInput* input_not_finite(const RunView& view, uint32_t run) {
  const std::vector<RunInput>& inputs = view.run(run).inputs;
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const RunInput& input) { return !view.ranks_not_finite(input.tensor).empty(); });
  return found == inputs.end() ? nullptr : &*found;
}

bool makes_not_finite(const RunView& view, uint32_t run) {
  const std::vector<uint32_t>& outputs = view.run(run).outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](uint32_t output) { return !view.ranks_not_finite(output).empty(); });
}

// A gradient is not finite because the call was not, already in the forward pass.
uint32_t forward_maker(const RunView& view, uint32_t run) {
  for (const uint32_t forward : view.forward_calls_of(run)) {
    if (makes_not_finite(view, forward) && input_not_finite(view, forward) == nullptr) return forward;
  }
  return run;
}

}  // namespace

uint32_t maker_of_not_finite(const RunView& view, uint32_t run) {
  for (const RunInput* input = input_not_finite(view, run); input != nullptr;) {
    const uint32_t maker = input->also_made_by != kNoRun ? input->also_made_by : input->made_by;
    // Towards the first run, so that the way ends.
    if (maker >= run || !view.of_candidate_only(maker)) return kNoRun;
    run = maker;
    input = input_not_finite(view, run);
    if (input == nullptr && !view.run(run).inputs.empty() && makes_not_finite(view, run))
      return forward_maker(view, run);
  }
  return kNoRun;
}

}  // namespace msdump
