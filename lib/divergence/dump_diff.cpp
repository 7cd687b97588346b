#include "divergence/dump_diff.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compare/match/module_tree.h"
#include "divergence/argument_roots.h"
#include "graph/lines/source_lines.h"

namespace msdump {
namespace {

bool is_one_file(const DiffSide& side) {
  return side.catalogue().index.files().size() == 1 && side.catalogue().list.tensors().size() == 1;
}

bool is_selected(const DiffResult& run, const TensorPair& pair) {
  const OpenedGraph& side = run.side_of(pair);
  if (!side.selects(run.record_of(pair))) return false;
  if (side.operators.everything()) return true;
  const auto named = [&](uint32_t place, const std::vector<SequencedOp>& operators) {
    if (place == kNoOperator) return false;
    Identity identity;
    identity.name.op_name = operators[place].name;
    identity.name.op_type = operators[place].type;
    return side.operators.matches_file(identity);
  };
  const OpPair& op = run.pairing.operators[pair.op];
  return side.operators.matches_file(identity_of(side.catalogue->index, run.record_of(pair))) ||
         named(op.a, run.pairing.a) || named(op.b, run.pairing.b);
}

// By rank, graph and step, then operator by operator.
void choose_rows(DiffResult& run) {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>, uint32_t>;
  std::vector<Key> keys;
  for (uint32_t i = 0; i < run.pairing.tensors.size(); ++i) {
    if (!is_selected(run, run.pairing.tensors[i])) continue;
    const Identity identity = run.identity(i);
    keys.emplace_back(identity.rank, identity.graph, identity.step, i);
  }
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) run.rows.push_back(std::get<3>(key));
}

// Corrects verdicts by what the data flow shows.
void revise_verdicts(DiffResult& run) {
  for (const uint32_t tensor : run.divergence.unwritten) {
    if (!is_difference(run.diffs[tensor].verdict) || run.diffs[tensor].verdict == Verdict::kUnmatched) continue;
    run.diffs[tensor].verdict = Verdict::kSkipped;
    run.diffs[tensor].reason = "nothing reads this output; the kernel may never have written it";
  }
  for (const uint32_t tensor : run.divergence.suspicious) {
    run.diffs[tensor].verdict = Verdict::kDiffer;
    run.diffs[tensor].reason = "within the tolerance, but the operator's inputs are equal bit for bit";
  }
}

void accept_by_baseline(DiffRules& rules, DiffResult& run) {
  if (!rules.baseline) return;
  for (const uint32_t tensor : run.rows)
    run.accepted[tensor] = rules.baseline->accepts(run.key(tensor), run.diffs[tensor]);
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    run.accepted_arguments[i] =
        rules.baseline->accepts(run.key(run.arguments[i]), difference_of(run.arguments[i], run.pairing));
  }
  for (const TensorKey* const key : rules.baseline->unused())
    run.unused_baseline.push_back(fmt::format("{} {}:{}", key->op_name, name_of(key->io), key->slot));
}

// A tensor without a partner that the other side has in its graph, and what only graphs have.
void judge_arguments(DiffResult& run, const RunContext& context) {
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
  add_argument_roots(differing, run.a->side, run.b->side, run.pairing, run.diffs, run.rows, run.divergence.roots);
  std::erase_if(differing, [](const ArgumentDiff& argument) { return argument.tensor != kNoTensor; });
  run.arguments = std::move(differing);
  run.accepted_arguments.assign(run.arguments.size(), false);
}

// Those of both sides, which may share an IR, then the later ones; tensors whose elements cannot be read are listed
// already.
std::vector<Error> all_failures(const DiffResult& run, std::vector<Error> later) {
  std::vector<Error> failures;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  std::set<std::pair<std::string, std::string>> tensors;
  const auto add = [&](const Error& error) {
    if (!known.emplace(error.path, error.tensor, error.message).second) return;
    tensors.emplace(error.path, error.tensor);
    failures.push_back(error);
  };
  for (const DiffSide* const side : {run.a.get(), run.b.get()}) {
    for (const Error& error : side->opened.loaded->failures) add(error);
    for (const Error& error : side->catalogue().list.failures()) add(error);
  }
  std::erase_if(later, [&](const Error& error) { return tensors.contains({error.path, error.tensor}); });
  for (const Error& error : later) add(error);
  return failures;
}

}  // namespace

DiffSide::DiffSide(OpenedGraph&& graph) : opened(std::move(graph)), tables(opened.catalogue->index) {
  side.index = &catalogue().index;
  side.tensors = &catalogue().list.tensors();
  // An IR that was found nearby and has none of the operators belongs to another run.
  if (opened.joined && opened.joined->join.matched_operators() > 0) {
    side.graph = &opened.graph();
    side.join = &opened.joined->join;
  }
}

const TensorRecord& DiffResult::record_of(const TensorPair& pair) const {
  return pair.b != kNoTensor ? (*b->side.tensors)[pair.b] : (*a->side.tensors)[pair.a];
}

Identity DiffResult::identity(uint32_t tensor) const {
  const TensorPair& pair = pairing.tensors[tensor];
  return identity_of(side_of(pair).catalogue->index, record_of(pair));
}

TensorKey DiffResult::key(uint32_t tensor) const {
  const Identity identity = this->identity(tensor);
  return {identity.rank,      identity.graph,
          identity.step,      op_name(pairing.tensors[tensor].op),
          identity.name.io,   std::string(identity.name.slot),
          identity.occurrence};
}

TensorKey DiffResult::key(const ArgumentDiff& argument) const {
  const OpPair& pair = pairing.operators[argument.op];
  const SequencedOp& op = pair.b != kNoOperator ? pairing.b[pair.b] : pairing.a[pair.a];
  return {op.rank, op.graph, std::nullopt, op_name(argument.op), Io::kInput, argument.name, 0};
}

DiffResult::OpInGraph DiffResult::operator_in_graph(uint32_t pair) const {
  const OpPair& op = pairing.operators[pair];
  if (op.a != kNoOperator && pairing.a[op.a].op != kNoIndex) return {&a->opened, pairing.a[op.a].op};
  if (op.b != kNoOperator && pairing.b[op.b].op != kNoIndex) return {&b->opened, pairing.b[op.b].op};
  return {};
}

const SourceFrame* DiffResult::frame(uint32_t pair) const {
  const OpInGraph found = operator_in_graph(pair);
  return found.opened == nullptr ? nullptr : best_frame(found.opened->graph(), found.op);
}

Result<DiffResult> diff_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              DiffRules& rules, const SecondLookOptions& look, const RunContext& context) {
  DiffResult run;
  run.a = std::move(a);
  run.b = std::move(b);
  run.single_pair = is_one_file(*run.a) && is_one_file(*run.b);
  run.pairing = run.single_pair ? pair_single(run.a->side, run.b->side) : pair_sides(run.a->side, run.b->side, map);
  choose_rows(run);
  const auto dump_of = [](DiffSide& side) {
    return ComparedDump{side.side, side.tables, side.catalogue().list.failures()};
  };
  ComparedTensors compared =
      compare_dumps(dump_of(*run.a), dump_of(*run.b), run.pairing, run.rows, rules, look, context);
  MSDUMP_CHECK_OK(context.cancel.check());
  run.diffs = std::move(compared.diffs);
  run.details = std::move(compared.details);
  run.accepted.assign(run.diffs.size(), false);
  const ModuleTree modules = ModuleTree::of(run.b->catalogue().index, run.a->catalogue().index);
  run.divergence = find_divergences(run.a->side, run.b->side, run.pairing, run.diffs, modules);
  for (const Error& problem : modules.problems()) compared.failures.push_back(problem);
  revise_verdicts(run);
  judge_arguments(run, context);
  accept_by_baseline(rules, run);
  run.failures = all_failures(run, std::move(compared.failures));
  return run;
}

// The dump.json files of both sides, paired in order.
std::vector<std::pair<std::string, std::string>> dump_jsons(const DiffSide& a, const DiffSide& b) {
  const auto of = [](const DumpIndex& index) {
    std::vector<std::string> paths;
    for (const IndexedFile& file : index.files()) {
      if (file.kind == FileKind::kDumpJson) paths.push_back(index.path_of(file));
    }
    return paths;
  };
  const std::vector<std::string> left = of(*a.side.index), right = of(*b.side.index);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) pairs.emplace_back(left[i], right[i]);
  return pairs;
}

TensorDiff difference_of(const ArgumentDiff& argument, const Pairing& pairing) {
  TensorDiff diff;
  diff.verdict = Verdict::kDiffer;
  diff.reason = reason_of(argument, pairing);
  diff.by_statistics = true;
  return diff;
}

bool counts_as_difference(const DiffResult& run, uint32_t tensor) {
  return is_difference(run.diffs[tensor].verdict) && !run.accepted[tensor];
}

}  // namespace msdump
