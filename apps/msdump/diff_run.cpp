#include "diff_run.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/nearest_name.h"
#include "compare/precision.h"
#include "compare/record_diff.h"
#include "msprobe/names.h"

namespace msdump::cli {
namespace {

// One side's share of the selection: --a-rank stands for --rank.
SelectionOptions selection_of(const DiffOptions& options, const std::string& rank, const std::string& step) {
  SelectionOptions selection = options.selection;
  if (!rank.empty()) selection.rank = rank;
  if (!step.empty()) selection.step = step;
  return selection;
}

Result<std::unique_ptr<DiffSide>> open_side(Session& session, const DiffOptions& options, const std::string& path,
                                            const SelectionOptions& selection) {
  GraphOptions graph;
  graph.dump.options = {path};
  graph.ir = options.ir;
  graph.selection = selection;
  graph.jobs = options.jobs;
  auto side = std::make_unique<DiffSide>();
  MSDUMP_TRY(side->opened, open_graph(session, graph, {{}, Headers::kAll}));
  side->side.index = &side->opened.catalogue->index;
  side->tables = std::make_unique<StatisticTables>(side->opened.catalogue->index);
  side->side.tensors = &side->opened.catalogue->list.tensors();
  if (side->opened.joined) {
    side->side.graph = &side->opened.graph();
    side->side.join = &side->opened.joined->join;
  }
  return side;
}

bool is_selected(const DiffRun& run, const TensorPair& pair) {
  const OpenedGraph& side = run.side_of(pair);
  const TensorRecord& record = run.record_of(pair);
  if (!side.selects(record)) return false;
  if (side.operators.everything()) return true;
  const auto named = [&](uint32_t place, const std::vector<SequencedOp>& operators, const OpenedGraph& opened) {
    if (place == kNoOperator) return false;
    Identity identity;
    identity.name.op_name = operators[place].name;
    identity.name.op_type = operators[place].type;
    return opened.operators.matches_file(identity);
  };
  const OpPair& op = run.pairing.operators[pair.op];
  return side.operators.matches_file(identity_of(side.catalogue->index, record)) ||
         named(op.a, run.pairing.a, run.a->opened) || named(op.b, run.pairing.b, run.b->opened);
}

// By rank, graph and step, then operator by operator.
void choose_rows(DiffRun& run) {
  for (uint32_t i = 0; i < run.pairing.tensors.size(); ++i) {
    if (is_selected(run, run.pairing.tensors[i])) run.rows.push_back(i);
  }
  const auto key = [&](uint32_t row) {
    const TensorPair& pair = run.pairing.tensors[row];
    const Identity identity = identity_of(run.side_of(pair).catalogue->index, run.record_of(pair));
    return std::tuple(identity.rank, identity.graph, identity.step, row);
  };
  std::vector<std::pair<decltype(key(0)), uint32_t>> keyed;
  keyed.reserve(run.rows.size());
  for (const uint32_t row : run.rows) keyed.emplace_back(key(row), row);
  std::sort(keyed.begin(), keyed.end());
  for (size_t i = 0; i < keyed.size(); ++i) run.rows[i] = keyed[i].second;
}

TensorDiff unmatched(const DiffRun& run, const TensorPair& pair) {
  TensorDiff diff;
  diff.verdict = Verdict::kUnmatched;
  const bool of_a = pair.b == kNoTensor;
  diff.reason = of_a ? "not in the reference" : "not in the candidate";
  const uint32_t near = run.nearest[pair.op];
  if (near != kNoOperator)
    diff.reason += "; the nearest name there is " + (of_a ? run.pairing.b : run.pairing.a)[near].name;
  return diff;
}

Result<TensorDiff> compare(Session& session, const Tolerance& tolerance, const DiffRun& run, const TensorPair& pair) {
  if (pair.a == kNoTensor || pair.b == kNoTensor) return unmatched(run, pair);
  const Catalogue& a = *run.a->opened.catalogue;
  const Catalogue& b = *run.b->opened.catalogue;
  const TensorRecord &of_a = a.list.tensors()[pair.a], &of_b = b.list.tensors()[pair.b];
  PairOptions more;
  // MindSpore dumps an input in the shape of what wrote it; msprobe in the one that the call saw.
  more.any_shape = of_b.name.io == Io::kInput && !parse_msprobe_entry(of_b.name.op_name);
  return diff_records({a.index, *run.a->tables}, of_a, {b.index, *run.b->tables}, of_b, tolerance,
                      {*run.b->opened.pool, session.cancel}, more);
}

void compare_all(Session& session, const DiffOptions& options, DiffRun& run) {
  run.diffs.resize(run.pairing.tensors.size());
  Tolerance tolerance = options.tolerance;
  tolerance.coarsest = coarser_throughout(run.a->side, run.b->side, run.pairing);
  run.b->opened.pool->ordered_for(
      static_cast<int64_t>(run.rows.size()),
      [&](int64_t row) {
        if (session.cancel.cancelled()) return Result<TensorDiff>(TensorDiff());
        return compare(session, tolerance, run, run.pairing.tensors[run.rows[static_cast<size_t>(row)]]);
      },
      [&](int64_t row, Result<TensorDiff>&& diff) {
        TensorDiff& place = run.diffs[run.rows[static_cast<size_t>(row)]];
        if (diff) {
          place = std::move(*diff);
          return;
        }
        place.reason = diff.error().message;
        run.failures.push_back(std::move(diff).error());
      });
}

// What only the neighbours of a tensor tell.
void revise_verdicts(DiffRun& run) {
  for (const uint32_t tensor : run.divergence.noise) {
    run.diffs[tensor].verdict = Verdict::kClose;
    run.diffs[tensor].reason = "rounding noise: what is left of terms that cancel";
  }
  for (const uint32_t tensor : run.divergence.suspicious) {
    run.diffs[tensor].verdict = Verdict::kDiffer;
    run.diffs[tensor].reason = "the operator's inputs are equal bit for bit; more than rounding leaves";
  }
}

}  // namespace

const TensorRecord& DiffRun::record_of(const TensorPair& pair) const {
  return pair.b != kNoTensor ? b->opened.catalogue->list.tensors()[pair.b]
                             : a->opened.catalogue->list.tensors()[pair.a];
}

DiffRun::OpInGraph DiffRun::operator_in_graph(uint32_t pair) const {
  const OpPair& op = pairing.operators[pair];
  if (op.a != kNoOperator && pairing.a[op.a].op != kNoIndex) return {&a->opened, pairing.a[op.a].op};
  if (op.b != kNoOperator && pairing.b[op.b].op != kNoIndex) return {&b->opened, pairing.b[op.b].op};
  return {};
}

const std::string& DiffRun::op_name(uint32_t pair) const {
  const OpPair& op = pairing.operators[pair];
  return op.a != kNoOperator ? pairing.a[op.a].name : pairing.b[op.b].name;
}

Result<DiffRun> run_diff(Session& session, const DiffOptions& options) {
  DiffRun run;
  const std::string& first = options.paths.front();
  const std::string& second = options.paths.back();
  MSDUMP_TRY(run.a, open_side(session, options, first, selection_of(options, options.rank_a, options.step_a)));
  MSDUMP_TRY(run.b, open_side(session, options, second, selection_of(options, options.rank_b, options.step_b)));
  run.pairing = pair_sides(run.a->side, run.b->side);
  run.nearest = nearest_names(run.pairing, *run.b->opened.pool);
  choose_rows(run);
  compare_all(session, options, run);
  MSDUMP_CHECK_OK(session.cancel.check());
  run.modules = ModuleTree::of(run.b->opened.catalogue->index);
  run.divergence = find_divergences(run.a->side, run.b->side, run.pairing, run.diffs, run.modules);
  revise_verdicts(run);
  return run;
}

}  // namespace msdump::cli
