#include "divergence/roots/exchanged_values.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compare/dumps/exchanged_tensors.h"

namespace msdump {
namespace {

// What a root's tensor was exchanged with: another operand, or the value that another root blames.
std::string exchange_text(const DiffResult& run, const Divergence& root, uint32_t tensor, uint32_t other) {
  const TensorPair &one = run.pairing.tensors[tensor], &two = run.pairing.tensors[other];
  if (one.op == two.op) {
    return fmt::format("its inputs {} and {} are exchanged", run.record_of(one).name.slot,
                       run.record_of(two).name.slot);
  }
  std::string name = fmt::format("{}:{}", run.op_name(two.op), run.record_of(two).name.slot);
  for (const Divergence& also : run.divergence.roots) {
    const bool blames = &also != &root && std::find(also.inputs.begin(), also.inputs.end(), other) != also.inputs.end();
    if (blames && !also.parameter.empty()) name = also.parameter;
  }
  return fmt::format("it is exchanged with {}: each has the value that the other has in the reference", name);
}

}  // namespace

void note_exchanges(DiffResult& run) {
  if (run.divergence.roots.empty()) return;
  std::map<uint32_t, uint32_t> exchanged;
  for (const auto& [tensor, other] : exchanged_tensors(run.pairing, run.diffs)) {
    exchanged.emplace(tensor, other);
    exchanged.emplace(other, tensor);
  }
  std::vector<std::string> texts;  // by root; the names in them are those of the roots
  for (const Divergence& root : run.divergence.roots) {
    const auto found = std::find_if(root.inputs.begin(), root.inputs.end(), [&](uint32_t tensor) {
      const auto pair = exchanged.find(tensor);
      return pair != exchanged.end() &&
             (enters(root) || run.pairing.tensors[tensor].op == run.pairing.tensors[pair->second].op);
    });
    texts.push_back(found == root.inputs.end() ? "" : exchange_text(run, root, *found, exchanged.at(*found)));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    Divergence& root = run.divergence.roots[i];
    if (texts[i].empty()) continue;
    // What changed between a producer and its reader is then known.
    root.reason = enters(root) || root.score ? texts[i] + "; " + root.reason : texts[i];
  }
}

}  // namespace msdump
