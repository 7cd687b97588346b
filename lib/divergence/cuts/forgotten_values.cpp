#include "divergence/cuts/forgotten_values.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "divergence/model/constants.h"
#include "graph/flow/communication.h"

namespace msdump {

void forget_local_numbers(RunFacts& facts) {
  const CutEvidence* const cuts = facts.cuts();
  if (cuts == nullptr) return;
  const auto differs_as_number = [&](uint32_t tensor) {
    return facts.compared(tensor) && facts.error(tensor) && facts.error(tensor)->discrete &&
           facts.error(tensor)->relative > 0 && !cuts->alike[tensor];
  };
  const auto is_local = [&](uint32_t tensor) {
    return tensor != kNoTensor && (cuts->parts[tensor] || facts.is_forgotten(tensor));
  };
  const auto of_unknown_layout = [&](uint32_t tensor) {
    return facts.compared(tensor) && facts.differs(tensor) && !facts.layout_known(tensor);
  };
  for (const OpRun& run : facts.runs()) {
    const auto locals = std::count_if(run.inputs.begin(), run.inputs.end(),
                                      [&](const RunInput& input) { return is_local(input.tensor); });
    for (const RunInput& input : run.inputs) {
      const bool local =
          cuts->both_cut || locals > (is_local(input.tensor) ? 1 : 0) || facts.is_forgotten(input.made_as);
      if (local && input.tensor != kNoTensor && differs_as_number(input.tensor)) facts.forget(input.tensor);
      if (cuts->both_cut && facts.is_forgotten(input.made_as) && of_unknown_layout(input.tensor))
        facts.forget(input.tensor);
    }
    // What is picked by such numbers lies in an order of its own, unless a layout is found.
    const bool picked = std::any_of(run.inputs.begin(), run.inputs.end(),
                                    [&](const RunInput& input) { return facts.is_forgotten(input.tensor); });
    for (const uint32_t output : run.outputs) {
      const bool local = locals > 0 || cuts->both_cut;
      if (local && differs_as_number(output)) facts.forget(output);
      if (picked && of_unknown_layout(output)) facts.forget(output);
    }
  }
}

void forget_made_up(RunFacts& facts) {
  const CutEvidence* const cuts = facts.cuts();
  if (cuts == nullptr) return;
  for (uint32_t index = 0; index < facts.runs().size(); ++index) {
    if (facts.pair(index).how != PairedBy::kValues || !is_communication(facts.op(index).type)) continue;
    const std::vector<RunInput>& inputs = facts.run(index).inputs;
    const bool other = std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.made_by == kNoRun && facts.compared(input.tensor) && facts.differs(input.tensor) &&
             !(facts.error(input.tensor) && facts.error(input.tensor)->relative < kMostError);
    });
    for (const uint32_t output : facts.run(index).outputs) {
      if (facts.compared(output) && (other || cuts->made_up[output]) && facts.differs(output)) facts.forget(output);
    }
    for (const RunInput& input : inputs) {
      if (other && facts.compared(input.tensor)) facts.forget(input.tensor);
    }
  }
}

}  // namespace msdump
