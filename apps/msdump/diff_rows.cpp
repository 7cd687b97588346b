#include "diff_rows.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "graph/source_lines.h"
#include "graph_rows.h"
#include "identity_row.h"

namespace msdump::cli {
namespace {

report::Value identity_value(const OpenedGraph& side, uint32_t tensor) {
  if (tensor == kNoTensor) return {};
  return identity_object(side.catalogue->index, side.catalogue->list.tensors()[tensor]);
}

const SourceFrame* frame_of(const DiffRun& run, uint32_t op) {
  const auto found = run.operator_in_graph(op);
  return found.opened == nullptr ? nullptr : best_frame(found.opened->graph(), found.op);
}

report::Value worst_value(const TensorDiff& diff) {
  if (!diff.metrics.worst) return {};
  report::Object worst;
  worst.add("index", report::list_of(index_of_element(*diff.metrics.worst, diff.shape)));
  return worst;
}

report::Value slot_value(std::string_view slot) {
  int64_t number = 0;
  const bool digits = !slot.empty() && slot.size() < 10 &&
                      std::all_of(slot.begin(), slot.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return report::text_or_null(slot);
  for (const char c : slot) number = number * 10 + (c - '0');
  return number;
}

report::Object evidence_entry(const DiffRun& run, uint32_t tensor) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  const TensorRecord& record = run.record_of(pair);
  report::Object entry;
  entry.add("op_name", run.op_name(pair.op)).add("io", name_of(record.name.io));
  entry.add("slot", slot_value(record.name.slot)).add("verdict", name_of(run.diffs[tensor].verdict));
  entry.add("relative_l2", run.diffs[tensor].metrics.relative_l2);
  return entry;
}

report::Object divergence_object(const DiffRun& run, const Divergence& root) {
  const auto found = run.operator_in_graph(root.op);
  const OpPair& pair = run.pairing.operators[root.op];
  const SequencedOp& op = pair.b != kNoOperator ? run.pairing.b[pair.b] : run.pairing.a[pair.a];
  report::Object object;
  object.add("op_name", root.parameter.empty() ? run.op_name(root.op) : root.parameter);
  object.add("op_type", root.parameter.empty() ? std::string(op.type) : std::string("Parameter"));
  object.add("rank", root.place.rank).add("graph", op.graph).add("step", root.place.step).add("order", root.op);
  object.add("source", source_value(frame_of(run, root.op)));
  object.add("stack", found.opened == nullptr ? report::Value(report::List())
                                              : stack_value(stack_of(found.opened->graph(), found.op)));
  object.add("kind", name_of(root.kind)).add("confidence", root.confidence).add("reason", root.reason);
  report::List inputs, outputs;
  for (const uint32_t tensor : root.inputs) inputs.emplace_back(evidence_entry(run, tensor));
  for (const uint32_t tensor : root.outputs) outputs.emplace_back(evidence_entry(run, tensor));
  report::Object evidence;
  evidence.add("inputs", std::move(inputs)).add("outputs", std::move(outputs));
  object.add("evidence", std::move(evidence)).add("downstream", root.downstream);
  object.add("amplification", root.amplification);
  if (!root.parameter.empty()) object.add("read_by", run.op_name(root.op));
  return object;
}

}  // namespace

std::vector<report::Column> diff_columns(const DiffRun& run) {
  (void)run;
  return {};
}

report::Object metrics_object(const TensorDiff& diff) {
  const kernels::PairMetrics& m = diff.metrics;
  report::Object object;
  object.add("count", m.count).add("equal", m.equal).add("max_abs", m.max_abs).add("max_rel", m.max_rel);
  object.add("relative_l2", m.relative_l2).add("cosine", m.cosine).add("over_tolerance", m.over_tolerance);
  return object;
}

report::Object diff_row(const DiffRun& run, uint32_t tensor) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  const TensorDiff& diff = run.diffs[tensor];
  const TensorRecord& record = run.record_of(pair);
  const Identity identity = identity_of(run.side_of(pair).catalogue->index, record);
  report::Object row;
  row.add("a", identity_value(run.a->opened, pair.a)).add("b", identity_value(run.b->opened, pair.b));
  row.add("op_name", run.op_name(pair.op)).add("op_type", identity.name.op_type);
  row.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  row.add("io", name_of(identity.name.io)).add("slot", slot_value(identity.name.slot)).add("order", pair.op);
  row.add("verdict", name_of(diff.verdict)).add("reason", report::text_or_null(diff.reason));
  row.add("source", source_value(frame_of(run, pair.op)));
  row.add("metrics", metrics_object(diff)).add("worst", worst_value(diff));
  row.add("tolerance_that_passes", report::Value());
  return row;
}

report::List divergences_value(const DiffRun& run) {
  report::List list;
  for (const Divergence& root : run.divergence.roots) list.emplace_back(divergence_object(run, root));
  return list;
}

Verdict verdict_over_all(const DiffRun& run) {
  Verdict worst = Verdict::kSame;
  for (const uint32_t row : run.rows) {
    const Verdict verdict = run.diffs[row].verdict;
    if (is_difference(verdict)) return Verdict::kDiffer;
    if (verdict == Verdict::kClose || verdict == Verdict::kSkipped) worst = Verdict::kClose;
  }
  return worst;
}

report::Object diff_summary(const DiffRun& run) {
  constexpr std::array kVerdicts = {Verdict::kSame,      Verdict::kClose, Verdict::kDiffer,
                                    Verdict::kNan,       Verdict::kShape, Verdict::kDtype,
                                    Verdict::kUnmatched, Verdict::kEmpty, Verdict::kSkipped};
  report::Object summary;
  const auto count = [&](Verdict verdict) {
    return std::count_if(run.rows.begin(), run.rows.end(),
                         [&](uint32_t row) { return run.diffs[row].verdict == verdict; });
  };
  summary.add("compared",
              static_cast<int64_t>(run.rows.size()) - count(Verdict::kUnmatched) - count(Verdict::kSkipped));
  for (const Verdict verdict : kVerdicts) summary.add(std::string(name_of(verdict)), count(verdict));
  summary.add("verdict", name_of(verdict_over_all(run)));
  return summary;
}

}  // namespace msdump::cli
