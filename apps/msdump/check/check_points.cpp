#include "check/check_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/order.h"
#include "dump/names/identity_value.h"
#include "graph/flow/flow_edges.h"
#include "report/page/page_sample.h"
#include "shared/graph_rows.h"
#include "shared/identity_row.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

using check::TensorFacts;

constexpr uint32_t kNoPoint = UINT32_MAX;

std::optional<double> largest(const TensorFacts& facts) {
  if (!facts.min || !facts.max) return std::nullopt;
  return std::max(std::abs(*facts.min), std::abs(*facts.max));
}

report::Value count_nonfinite(const TensorFacts& facts) {
  if (!facts.nan || !facts.positive_inf || !facts.negative_inf) return {};
  return *facts.nan + *facts.positive_inf + *facts.negative_inf;
}

std::vector<report::PageColumn> point_columns(bool sampled) {
  std::vector<report::PageColumn> columns;
  for (const char* const key : {"order", "rank", "graph", "step"}) columns.push_back(figure_column(key, key, false));
  for (const char* const key : {"op_type", "op_name", "io", "slot"}) columns.push_back(text_column(key, key, false));
  columns.push_back(cell_column("tensor", "tensor", tensor_cell, false));
  for (const char* const key : {"dtype", "state", "severity"}) columns.push_back(text_column(key, key, false));
  for (const char* const key :
       {"max_abs", "l2norm", "min", "max", "mean", "elements", "nan", "inf", "nonfinite", "zero"})
    columns.push_back(figure_column(key, key, false));
  columns.push_back(cell_column("line", "line", source_cell, false));
  columns.push_back(text_column("source.file", "file", false));
  columns.push_back(text_column("source.code", "code", false));
  columns.push_back(figure_column("run", "run", false));
  if (sampled) columns.push_back(figure_column("position", "position", false));
  return columns;
}

}  // namespace

std::string_view state_of(const TensorFacts& facts) {
  if (!facts.known()) return "";
  if (facts.has_nan) return "nan";
  return facts.is_finite() ? "finite" : "infinite";
}

CheckPoints::CheckPoints(WorkerPool& pool, const check::CheckRun& run)
    : run_(run), severity_(run.dump.tensors()), point_of_(run.dump.tensors(), kNoPoint), table_({}) {
  for (const check::Finding& finding : run.report.findings) {
    if (finding.tensor != check::kNone)
      severity_[finding.tensor] = std::max(severity_[finding.tensor].value_or(finding.severity), finding.severity);
  }
  const std::vector<uint32_t> tensors = in_order();
  all_ = tensors.size();
  const std::vector<size_t> taken = chosen(tensors);
  const bool sampled = taken.size() < tensors.size();
  for (const size_t place : taken) {
    point_of_[tensors[place]] = static_cast<uint32_t>(points_.size());
    points_.push_back(tensors[place]);
  }
  table_ = report::PageTable(point_columns(sampled));
  fill_page_table(table_, pool, points_.size(), [&](size_t i) {
    report::Row row = row_of(points_[i]);
    if (sampled) row.add("position", taken[i]);
    return row;
  });
}

std::vector<uint32_t> CheckPoints::in_order() const {
  using Number = std::pair<bool, int64_t>;
  std::vector<std::tuple<Number, Number, Number, uint32_t, uint32_t>> keys;
  for (uint32_t tensor = 0; tensor < run_.chosen.size(); ++tensor) {
    if (!run_.chosen[tensor]) continue;
    const Identity identity = run_.dump.identity(tensor);
    keys.emplace_back(known_first(identity.rank), known_first(identity.graph), known_first(identity.step),
                      run_.dump.op_of(tensor), tensor);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> tensors;
  tensors.reserve(keys.size());
  for (const auto& key : keys) tensors.push_back(std::get<4>(key));
  return tensors;
}

std::vector<size_t> CheckPoints::chosen(const std::vector<uint32_t>& tensors) const {
  std::set<uint32_t> marked;
  if (run_.report.first) {
    marked.insert(run_.report.first->inputs.begin(), run_.report.first->inputs.end());
    marked.insert(run_.report.first->outputs.begin(), run_.report.first->outputs.end());
    marked.insert(run_.report.first->tensor);
  }
  if (const auto& apart = run_.report.first_apart) marked.insert({apart->tensor, apart->sibling});
  std::vector<report::PagePoint> points;
  points.reserve(tensors.size());
  for (const uint32_t tensor : tensors) {
    const std::string_view state = state_of(run_.facts[tensor]);
    const auto kind = static_cast<uint8_t>(state.empty() ? 0 : state == "nan" ? 1 : state == "finite" ? 2 : 3);
    const double value = largest(run_.facts[tensor]).value_or(std::numeric_limits<double>::quiet_NaN());
    points.push_back({value, kind, marked.contains(tensor), severity_[tensor].has_value()});
  }
  return report::page_sample(points);
}

report::Row CheckPoints::row_of(uint32_t tensor) const {
  const TensorFacts& facts = run_.facts[tensor];
  const Identity identity = run_.dump.identity(tensor);
  const uint32_t op = run_.dump.op_of(tensor), at = run_.dump.run_of(tensor);
  report::Row row;
  row.add("order", op == check::kNone ? std::nullopt : run_.dump.order_of(op));
  row.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  row.add("op_type", run_.op_type(op));
  row.add("op_name", op == check::kNone ? identity.name.op_name : run_.op_name(op));
  row.add("io", name_of(identity.name.io)).add("slot", slot_value(identity.name.slot));
  row.add("dtype", facts.dtype == DType::kUndefined ? report::Value() : report::Value(name_of(facts.dtype)));
  row.add("state", state_of(facts));
  row.add("severity", severity_[tensor] ? report::Value(check::name_of(*severity_[tensor])) : report::Value());
  row.add("max_abs", largest(facts)).add("l2norm", facts.l2norm).add("min", facts.min).add("max", facts.max);
  row.add("mean", facts.mean).add("elements", facts.elements).add("nan", facts.nan);
  row.add("inf", facts.positive_inf && facts.negative_inf ? report::Value(*facts.positive_inf + *facts.negative_inf)
                                                          : report::Value());
  row.add("nonfinite", count_nonfinite(facts)).add("zero", facts.zero);
  row.add("source", source_value(run_.frame(op)));
  row.add("run", at == check::kNone ? report::Value() : report::Value(at));
  return row;
}

std::optional<size_t> CheckPoints::point_of(uint32_t tensor) const {
  if (tensor == check::kNone || point_of_[tensor] == kNoPoint) return std::nullopt;
  return point_of_[tensor];
}

std::vector<report::PageEdge> CheckPoints::edges() const {
  std::set<uint32_t> runs;
  for (const uint32_t tensor : points_) runs.insert(run_.dump.run_of(tensor));
  return page_edges(flow_edges(run_.dump.run_graph()), runs, [&](uint32_t tensor) { return point_of(tensor); });
}

}  // namespace msdump::cli
