#include "divergence/argument_roots.h"

#include <algorithm>
#include <map>
#include <string>

namespace msdump {
namespace {

constexpr double kArgumentConfidence = 0.9;

// One operator and its arguments that differ.
struct ArgumentRoot {
  std::string reason;
  std::vector<uint32_t> tensors;  // of these arguments
};

void add_evidence(const std::vector<TensorDiff>& diffs, const Pairing& pairing, const std::vector<uint32_t>& rows,
                  Divergence& root) {
  for (const uint32_t row : rows) {
    const TensorPair& pair = pairing.tensors[row];
    const bool compared = pair.a != kNoTensor && pair.b != kNoTensor;
    if (pair.op != root.op || !compared || !is_difference(diffs[row].verdict)) continue;
    root.outputs.push_back(row);
    ++root.downstream;
  }
}

}  // namespace

void add_argument_roots(const std::vector<ArgumentDiff>& arguments, const Pairing& pairing,
                        const std::vector<TensorDiff>& diffs, const std::vector<uint32_t>& rows,
                        std::vector<Divergence>& roots) {
  std::map<uint32_t, ArgumentRoot> by_op;
  for (const ArgumentDiff& argument : arguments) {
    ArgumentRoot& root = by_op[argument.op];
    root.reason += (root.reason.empty() ? "" : "; ") + reason_of(argument, pairing);
    if (argument.tensor != kNoTensor) root.tensors.push_back(argument.tensor);
  }
  for (auto& [op, found] : by_op) {
    const auto known = std::find_if(roots.begin(), roots.end(), [&](const Divergence& root) {
      return root.op == op && root.parameter.empty() && root.kind != DivergenceKind::kMissing;
    });
    if (known != roots.end()) {
      known->reason = found.reason + "; " + known->reason;
      known->inputs.insert(known->inputs.end(), found.tensors.begin(), found.tensors.end());
      continue;
    }
    Divergence root;
    root.op = op;
    const OpPair& pair = pairing.operators[op];
    root.place.rank = pairing.b[pair.b].rank ? pairing.b[pair.b].rank : pairing.a[pair.a].rank;
    root.reason = std::move(found.reason);
    root.confidence = kArgumentConfidence * pair.confidence;
    root.inputs = std::move(found.tensors);
    add_evidence(diffs, pairing, rows, root);
    const auto after = std::find_if(roots.begin(), roots.end(), [&](const Divergence& other) { return other.op > op; });
    roots.insert(after, std::move(root));
  }
}

}  // namespace msdump
