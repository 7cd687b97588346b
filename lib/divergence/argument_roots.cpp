#include "divergence/argument_roots.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "divergence/model/constants.h"
#include "divergence/run_view.h"

namespace msdump {
namespace {

// One operator and its arguments that differ.
struct ArgumentRoot {
  std::string reason;
  std::vector<uint32_t> tensors;  // of these arguments, and inputs that differ
  std::vector<DivergedArgument> arguments;
  std::vector<uint32_t> evidence;  // other rows of the operator that differ
  size_t rows = 0;                 // that differ
};

using ByOperator = std::map<uint32_t, ArgumentRoot>;

ByOperator by_operator(const std::vector<ArgumentDiff>& arguments, const CompareSide& b, const Pairing& pairing,
                       const std::vector<TensorDiff>& diffs, const std::vector<uint32_t>& rows) {
  ByOperator found;
  for (const ArgumentDiff& argument : arguments) {
    ArgumentRoot& root = found[argument.op];
    root.reason += (root.reason.empty() ? "" : "; ") + reason_of(argument, pairing);
    root.arguments.push_back({argument.name, argument.a, argument.b});
    if (argument.tensor != kNoTensor) root.tensors.push_back(argument.tensor);
  }
  for (const uint32_t row : rows) {
    const TensorPair& pair = pairing.tensors[row];
    if (pair.a == kNoTensor || pair.b == kNoTensor || !is_difference(diffs[row].verdict)) continue;
    const auto root = found.find(pair.op);
    if (root == found.end()) continue;
    ++root->second.rows;
    const bool is_input = (*b.tensors)[pair.b].name.io == Io::kInput;
    (is_input ? root->second.tensors : root->second.evidence).push_back(row);
  }
  return found;
}

Divergence root_of(uint32_t op, ArgumentRoot&& found, const Pairing& pairing) {
  const OpPair& pair = pairing.operators[op];
  Divergence root;
  root.op = op;
  root.place.rank = pairing.b[pair.b].rank ? pairing.b[pair.b].rank : pairing.a[pair.a].rank;
  root.reason = std::move(found.reason);
  root.arguments = std::move(found.arguments);
  root.confidence = kArgumentConfidence * pair.confidence;
  root.inputs = std::move(found.tensors);
  root.outputs = std::move(found.evidence);
  root.downstream = found.rows;
  return root;
}

// What differs after an argument, without a known cause, differs because of it.
void drop_unknown_sources(const std::vector<Divergence>& added, std::vector<Divergence>& roots) {
  if (added.empty()) return;
  std::erase_if(roots, [&](const Divergence& root) {
    return root.kind == DivergenceKind::kInput && root.parameter.empty() && root.op > added.front().op;
  });
}

// `added` is in the order of operators: each goes before the first of `roots` that is of a later operator.
void merge(std::vector<Divergence>&& added, std::vector<Divergence>& roots) {
  std::vector<Divergence> merged;
  merged.reserve(roots.size() + added.size());
  auto next = std::make_move_iterator(added.begin());
  const auto end = std::make_move_iterator(added.end());
  for (Divergence& root : roots) {
    for (; next != end && next.base()->op < root.op; ++next) merged.push_back(*next);
    merged.push_back(std::move(root));
  }
  merged.insert(merged.end(), next, end);
  roots = std::move(merged);
}

}  // namespace

void add_argument_roots(const std::vector<ArgumentDiff>& arguments, const CompareSide& a, const CompareSide& b,
                        const Pairing& pairing, const std::vector<TensorDiff>& diffs, const std::vector<uint32_t>& rows,
                        std::vector<Divergence>& roots) {
  if (arguments.empty()) return;
  std::unordered_map<uint32_t, size_t> known;  // by operator: the first root that arguments may explain
  std::set<SourceLine> lines;
  for (size_t i = 0; i < roots.size(); ++i) {
    const Divergence& root = roots[i];
    if (root.parameter.empty() && root.kind != DivergenceKind::kMissing) known.try_emplace(root.op, i);
    if (const auto line = line_of(a, b, pairing, root.op)) lines.insert(*line);
  }
  std::set<std::tuple<std::string, std::string, std::string>> differences;  // name and values
  std::vector<Divergence> added;
  for (auto& [op, found] : by_operator(arguments, b, pairing, diffs, rows)) {
    const auto is_new = [&](const DivergedArgument& one) { return differences.emplace(one.name, one.a, one.b).second; };
    // Counts, so that each is entered.
    const bool any_new = std::count_if(found.arguments.begin(), found.arguments.end(), is_new) > 0;
    if (const auto same = known.find(op); same != known.end()) {
      Divergence& root = roots[same->second];
      root.arguments = std::move(found.arguments);
      root.reason = found.reason + "; " + root.reason;
      root.inputs.insert(root.inputs.end(), found.tensors.begin(), found.tensors.end());
      continue;
    }
    if (!any_new) continue;
    if (const auto line = line_of(a, b, pairing, op); line && !lines.insert(*line).second) continue;
    added.push_back(root_of(op, std::move(found), pairing));
  }
  drop_unknown_sources(added, roots);
  merge(std::move(added), roots);
}

}  // namespace msdump
