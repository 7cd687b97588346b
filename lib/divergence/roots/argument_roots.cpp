#include "divergence/roots/argument_roots.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "compare/arguments/call_arguments.h"
#include "divergence/model/constants.h"
#include "divergence/runs/run_view.h"

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

// An operator that is a root already gets the reason; another one becomes a root in its place in the order of operators,
// unless there is a root of the same line, or one with the same difference: other calls and gradients have what it has.
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

// As inputs; those that --op, --slot, ... select.
bool is_selected(const DiffResult& run, const ArgumentDiff& argument) {
  const OpenedGraph& side = run.b->opened;
  const OpPair& op = run.pairing.operators[argument.op];
  const auto identity_in = [&](const SequencedOp& one) {
    Identity identity{one.rank, one.graph, argument.step, {}, 0};
    identity.name.op_name = one.name;
    identity.name.op_type = one.type;
    return identity;
  };
  const Identity in_a = identity_in(run.pairing.a[op.a]), in_b = identity_in(run.pairing.b[op.b]);
  return side.tensors.matches_folder(in_b) && side.tensors.matches_tensor(Io::kInput, argument.name) &&
         (side.operators.everything() || side.operators.matches_file(in_a) || side.operators.matches_file(in_b));
}

}  // namespace

void judge_arguments(DiffResult& run, const DiffRules& rules, const RunContext& context) {
  std::vector<ArgumentDiff> found = compare_arguments(run.a->side, run.b->side, run.pairing, run.rows, context);
  std::vector<ArgumentDiff> differing;
  for (ArgumentDiff& argument : found) {
    if (argument.tensor != kNoTensor) {
      TensorDiff& diff = run.diffs[argument.tensor];
      const bool as_expected = run.pairing.tensors[argument.tensor].alone == Alone::kAttribute;
      if (!as_expected && diff.verdict != Verdict::kUnmatched) continue;
      diff.reason = reason_of(argument, run.pairing);
      diff.verdict = argument.differs ? Verdict::kDiffer : Verdict::kSkipped;
      diff.by_statistics = true;  // one side has no elements
    }
    if (argument.differs) differing.push_back(std::move(argument));
  }
  std::vector<ArgumentDiff> noted;
  for (ArgumentDiff& argument : compare_calls(run.a->side, run.b->side, run.pairing, rules.tolerance)) {
    if (is_selected(run, argument)) (argument.differs ? differing : noted).push_back(std::move(argument));
  }
  add_argument_roots(differing, run.a->side, run.b->side, run.pairing, run.diffs, run.rows, run.divergence.roots);
  std::erase_if(differing, [](const ArgumentDiff& argument) { return argument.tensor != kNoTensor; });
  std::move(noted.begin(), noted.end(), std::back_inserter(differing));
  run.arguments = std::move(differing);
  std::stable_sort(run.arguments.begin(), run.arguments.end(), [](const ArgumentDiff& x, const ArgumentDiff& y) {
    return std::pair(x.op, x.step) < std::pair(y.op, y.step);
  });
  run.accepted_arguments.assign(run.arguments.size(), false);
}

}  // namespace msdump
