#include "compare/match/device/op_runs.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {

std::optional<uint64_t> slot_of(const MatchSide& side, uint32_t tensor) {
  return parse_u64(side.tensor(tensor).name.slot);
}

Runs runs_of(const MatchSide& side, uint32_t op, bool lone_step) {
  Runs runs;
  for (const uint32_t index : side.operators[op].tensors) {
    const TensorRecord& record = side.tensor(index);
    RunKey key{std::nullopt, record.occurrence};
    const DumpIndex& dump = *side.dump.index;
    if (!lone_step) key.step = dump.folders()[dump.files()[record.file].folder].identity.step;
    RunTensors& run = runs[key];
    (record.name.io == Io::kInput ? run.inputs : run.outputs).push_back(index);
  }
  for (auto& [key, run] : runs) {
    for (std::vector<uint32_t>* const list : {&run.inputs, &run.outputs}) {
      std::stable_sort(list->begin(), list->end(), [&](uint32_t x, uint32_t y) {
        return natural_less(side.tensor(x).name.slot, side.tensor(y).name.slot);
      });
    }
    for (const uint32_t output : run.outputs) run.output_at.try_emplace(slot_of(side, output).value_or(0), output);
  }
  return runs;
}

uint32_t output_of(const Runs& runs, const RunKey& key, uint64_t slot) {
  const auto run = runs.find(key);
  if (run == runs.end()) return kNoTensor;
  const auto found = run->second.output_at.find(slot);
  return found == run->second.output_at.end() ? kNoTensor : found->second;
}

}  // namespace msdump
