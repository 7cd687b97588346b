#include "compare/match/device/op_runs.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {

namespace {

bool by_slot(const std::pair<uint64_t, uint32_t>& x, const std::pair<uint64_t, uint32_t>& y) {
  return x.first < y.first;
}

}  // namespace

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
    for (const uint32_t output : run.outputs) run.output_at.emplace_back(slot_of(side, output).value_or(0), output);
    std::stable_sort(run.output_at.begin(), run.output_at.end(), by_slot);
  }
  return runs;
}

uint32_t output_of(const Runs& runs, const RunKey& key, uint64_t slot) {
  const auto run = runs.find(key);
  if (run == runs.end()) return kNoTensor;
  const auto& outputs = run->second.output_at;
  const auto found = std::lower_bound(outputs.begin(), outputs.end(), std::pair(slot, uint32_t{0}), by_slot);
  return found == outputs.end() || found->first != slot ? kNoTensor : found->second;
}

}  // namespace msdump
