#include "divergence/history_divergence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "check/began/monitor_tables.h"
#include "divergence/dump_diff.h"

namespace msdump {
namespace {

// The rows of a tensor, one for each step.
struct History {
  std::vector<std::pair<int64_t, TensorId>> rows;
  // Rows of a table are in the order in which the writer met the tensors.
  std::tuple<uint32_t, uint64_t, TensorId> place;
};

// Most dumps have a few steps: their rows need not be put in series.
bool has_history(const DiffResult& run) {
  std::set<std::optional<int64_t>> steps;
  for (size_t i = 0; i < run.rows.size() && steps.size() < check::kLeastSteps; ++i)
    steps.insert(run.identity(run.rows[i]).step);
  return steps.size() >= check::kLeastSteps;
}

std::vector<History> histories_of(const DiffResult& run) {
  using Number = std::optional<int64_t>;
  using Key = std::tuple<OperatorId, Number, Number, std::string_view, Io, std::string_view, uint32_t>;
  std::map<Key, History> found;
  for (const TensorId row : run.rows) {
    const Identity identity = run.identity(row);
    if (!has_metrics(run.diffs[row].verdict) || !identity.step) continue;
    const TensorRecord& record = run.record_of(run.pairing.tensors[row]);
    const auto [one, is_new] =
        found.try_emplace({run.pairing.tensors[row].op, identity.rank, identity.graph, identity.dump, identity.name.io,
                           identity.name.slot, identity.occurrence});
    if (is_new) one->second.place = {record.order, record.has_elements ? 0 : record.row_offset, row};
    one->second.rows.emplace_back(*identity.step, row);
  }
  std::vector<History> histories;
  for (auto& [key, history] : found) {
    if (history.rows.size() >= check::kLeastSteps) histories.push_back(std::move(history));
  }
  std::sort(histories.begin(), histories.end(), [](const History& a, const History& b) { return a.place < b.place; });
  return histories;
}

// The numbers of elements, as far as the comparison has them.
check::TensorFacts facts_of_elements(const TensorDiff& diff, bool of_candidate) {
  const kernels::PairMetrics metrics = diff.metrics;
  check::TensorFacts facts;
  facts.from = check::TensorFacts::From::kElements;
  facts.has_nan = (of_candidate ? metrics.nan_a : metrics.nan_b) > 0;
  facts.max = of_candidate ? metrics.max_a : metrics.max_b;
  facts.min = of_candidate ? metrics.min_a : metrics.min_b;
  facts.mean = of_candidate ? metrics.mean_a : metrics.mean_b;
  const std::optional<double>& deviation = of_candidate ? metrics.std_a : metrics.std_b;
  if (deviation && facts.mean)
    facts.l2norm = std::sqrt(static_cast<double>(metrics.count)) * hypotenuse(*deviation, *facts.mean);
  return facts;
}

check::TensorFacts facts_of_side(const DiffResult& run, TensorId row, Side which) {
  const TensorPair& pair = run.pairing.tensors[row];
  DiffSide& side = which == Side::kCandidate ? *run.a : *run.b;
  const TensorRecord& record = (*side.side.tensors)[pair[which]];
  if (run.diffs[row].by_statistics && record.table != kNoId) {
    if (const Result<TensorNumbers> numbers = side.tables.values_of(record)) return check::facts_of(*numbers);
  }
  return facts_of_elements(run.diffs[row], which == Side::kCandidate);
}

check::StepTensor tensor_of(const DiffResult& run, TensorId row) {
  const Identity identity = run.identity(row);
  check::StepTensor tensor;
  tensor.rank = identity.rank;
  tensor.graph = identity.graph;
  tensor.op_name = run.op_name(run.pairing.tensors[row].op);
  tensor.op_type = run.op_type(run.pairing.tensors[row].op);
  tensor.slot = identity.name.slot;
  tensor.io = identity.name.io;
  tensor.occurrence = identity.occurrence;
  const DumpIndex& index = run.side_of(run.pairing.tensors[row]).catalogue->index;
  const TensorRecord& record = run.record_of(run.pairing.tensors[row]);
  if (record.table != kNoId && index.files()[record.table].kind == FileKind::kMonitor)
    tensor.resolution = check::monitor_resolution(index.files()[record.table].shown_name());
  return tensor;
}

}  // namespace

Result<check::BeganReport> diverged_histories(const DiffResult& run, const RunContext& context) {
  if (run.pairing.of_parameters || !has_history(run)) return check::BeganReport();
  Sides<check::StepHistory> both;
  for (const History& history : histories_of(run)) {
    MSDUMP_CHECK_OK(context.cancel.check());
    Sides<std::vector<check::TensorFacts>> facts;
    for (const auto& [step, row] : history.rows) {
      for (const Side side : kBothSides) facts[side].push_back(facts_of_side(run, row, side));
    }
    check::StepTensor tensor = tensor_of(run, history.rows.front().second);
    tensor.statistic = std::max(check::statistic_of(facts.a), check::statistic_of(facts.b));
    check::StepTensorId id = 0;
    for (const Side side : kBothSides) id = both[side].add(tensor);
    for (size_t i = 0; i < history.rows.size(); ++i) {
      const auto a = check::step_value(facts.a[i], tensor.statistic),
                 b = check::step_value(facts.b[i], tensor.statistic);
      if (!a || !b) continue;
      both.a.set(id, history.rows[i].first, *a);
      both.b.set(id, history.rows[i].first, *b);
    }
  }
  for (DiffSide* const side : {run.a.get(), run.b.get()}) side->tables.free();
  return check::judge_parting(both.a, both.b, context);
}

}  // namespace msdump
