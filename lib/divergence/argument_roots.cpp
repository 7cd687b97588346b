#include "divergence/argument_roots.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "divergence/run_view.h"
#include "graph/lines/source_lines.h"

namespace msdump {
namespace {

constexpr double kArgumentConfidence = 0.9;

// One operator and its arguments that differ.
struct ArgumentRoot {
  std::string reason;
  std::vector<uint32_t> tensors;  // of these arguments
  std::vector<DivergedArgument> arguments;
};

const SourceFrame* frame_of(const CompareSide& side, const SequencedOp& op) {
  return side.graph == nullptr || op.op == kNoIndex ? nullptr : best_frame(*side.graph, op.op);
}

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

void add_argument_roots(const std::vector<ArgumentDiff>& arguments, const CompareSide& a, const CompareSide& b,
                        const Pairing& pairing, const std::vector<TensorDiff>& diffs, const std::vector<uint32_t>& rows,
                        std::vector<Divergence>& roots) {
  std::map<uint32_t, ArgumentRoot> by_op;
  for (const ArgumentDiff& argument : arguments) {
    ArgumentRoot& root = by_op[argument.op];
    root.reason += (root.reason.empty() ? "" : "; ") + reason_of(argument, pairing);
    root.arguments.push_back({argument.name, argument.a, argument.b});
    if (argument.tensor != kNoTensor) root.tensors.push_back(argument.tensor);
  }
  std::set<SourceLine> lines;
  std::set<std::tuple<std::string, std::string, std::string>> differences;  // name and values
  const auto line_of = [&](uint32_t op) {
    const OpPair& pair = pairing.operators[op];
    const SourceFrame* frame = pair.b == kNoOperator ? nullptr : frame_of(b, pairing.b[pair.b]);
    if (frame == nullptr && pair.a != kNoOperator) frame = frame_of(a, pairing.a[pair.a]);
    return frame == nullptr ? std::nullopt : std::optional(SourceLine{frame->file, frame->line});
  };
  for (const Divergence& root : roots) {
    if (const auto line = line_of(root.op)) lines.insert(*line);
  }
  for (auto& [key, found] : by_op) {
    const uint32_t op = key;
    const auto known = std::find_if(roots.begin(), roots.end(), [&](const Divergence& root) {
      return root.op == op && root.parameter.empty() && root.kind != DivergenceKind::kMissing;
    });
    const bool is_new = std::count_if(found.arguments.begin(), found.arguments.end(), [&](const DivergedArgument& one) {
                          return differences.emplace(one.name, one.a, one.b).second;
                        }) > 0;
    if (known != roots.end()) {
      known->arguments = std::move(found.arguments);
      known->reason = found.reason + "; " + known->reason;
      known->inputs.insert(known->inputs.end(), found.tensors.begin(), found.tensors.end());
      continue;
    }
    if (!is_new) continue;
    if (const auto line = line_of(op); line && !lines.insert(*line).second) continue;
    Divergence root;
    root.op = op;
    const OpPair& pair = pairing.operators[op];
    root.place.rank = pairing.b[pair.b].rank ? pairing.b[pair.b].rank : pairing.a[pair.a].rank;
    root.reason = std::move(found.reason);
    root.arguments = std::move(found.arguments);
    root.confidence = kArgumentConfidence * pair.confidence;
    root.inputs = std::move(found.tensors);
    add_evidence(diffs, pairing, rows, root);
    const auto after = std::find_if(roots.begin(), roots.end(), [&](const Divergence& other) { return other.op > op; });
    roots.insert(after, std::move(root));
  }
}

}  // namespace msdump
