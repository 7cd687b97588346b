#include "diff/diff_page_rows.h"

#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "diff/diff_text.h"
#include "report/json_text.h"
#include "report/page/page_sample.h"
#include "shared/graph_rows.h"
#include "shared/identity_row.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

// Once a scale is divided out, or where one side is not finite, the largest difference of what was dumped says nothing.
report::Value distance_cell_of_page(const report::Row& row) {
  if (is_scaled(row) || row.text("verdict") == "nan") return {};
  const report::Value* const found = row.find_path("metrics.max_abs");
  return found == nullptr ? report::Value() : *found;
}

// "0.41 against 0.02 at [3,1]"
report::Value worst_cell(const report::Row& row) {
  const auto* const worst = row.get<report::Object>("worst");
  if (worst == nullptr || is_scaled(row)) return {};
  std::string a, b, at;
  report::append_json(a, *worst->find("a"));
  report::append_json(b, *worst->find("b"));
  report::append_json(at, *worst->find("index"));
  return fmt::format("{} against {} at {}", a, b, at);
}

report::Value passes_cell(const report::Row& row) {
  const auto* const rtol = row.get<double>("tolerance_that_passes.rtol");
  const auto* const atol = row.get<double>("tolerance_that_passes.atol");
  return rtol == nullptr || atol == nullptr || is_scaled(row)
             ? report::Value()
             : report::Value(fmt::format("--rtol {:g} --atol {:g}", *rtol, *atol));
}

report::Value shape_cell(const report::Row& row) {
  for (const char* const side : {"a.shape", "b.shape"}) {
    if (const report::Value* const shape = row.find_path(side); shape != nullptr && !shape->is_null()) return *shape;
  }
  return {};
}

std::vector<report::PageColumn> page_columns(const DiffResult& run, bool sampled) {
  const std::vector<report::Column> table = diff_columns(run);
  const auto is_shown = [&](std::string_view key) {
    for (const report::Column& column : table) {
      if (column.key == key) return !column.title.empty();
    }
    return false;
  };
  // What the table of the command shows for a key.
  const auto cell = [&](const std::string& key, const std::string& title) {
    for (const report::Column& column : table) {
      if (column.key == key) return cell_column(title, title, column.text);
    }
    return text_column(title, title);
  };
  const auto made = [](const char* key, const char* title, report::Value (*value)(const report::Row&)) {
    report::PageColumn column = text_column(key, title, false);
    column.value = value;
    return column;
  };
  report::PageColumn distance = figure_column("metrics.max_abs", "max abs");
  distance.value = distance_cell_of_page;
  std::vector<report::PageColumn> columns = {figure_column("order", "order"),
                                             figure_column("rank", "rank", is_shown("rank")),
                                             figure_column("step", "step", is_shown("step")),
                                             figure_column("graph", "graph", false),
                                             text_column("verdict", "verdict"),
                                             text_column("explained", "explained"),
                                             text_column("op_type", "op type"),
                                             text_column("op_name", "op name"),
                                             cell("io", "tensor"),
                                             cell("a.dtype", "dtype"),
                                             figure_column("error", "relative error"),
                                             distance,
                                             figure_column("expected_error", "expected"),
                                             cell("source.file", "line"),
                                             text_column("reason", "reason"),
                                             text_column("io", "io", false),
                                             text_column("slot", "slot", false),
                                             made("shape", "shape", shape_cell),
                                             text_column("error_note", "", false),
                                             figure_column("measured_error", "measured error", false),
                                             figure_column("score", "score", false)};
  for (const char* const metric : {"max_rel", "mean_abs", "cosine", "max_ulp", "over_tolerance", "count"})
    columns.push_back(figure_column(fmt::format("metrics.{}", metric), metric, false));
  for (const char* const metric : {"nan", "min", "max", "mean"}) {
    columns.push_back(
        figure_column(fmt::format("metrics.{}_a", metric), fmt::format("{} of candidate", metric), false));
    columns.push_back(
        figure_column(fmt::format("metrics.{}_b", metric), fmt::format("{} of reference", metric), false));
  }
  columns.push_back(made("worst", "worst element", worst_cell));
  columns.push_back(made("passes", "would pass", passes_cell));
  columns.insert(columns.end(),
                 {text_column("source.file", "file", false), text_column("source.code", "code", false),
                  text_column("paired_by", "paired by", false), text_column("a_value", "in candidate", false),
                  text_column("b_value", "in reference", false)});
  columns.push_back(text_column("difference", "counts as a difference", false));
  columns.push_back(figure_column("run", "run", false));
  if (sampled) columns.push_back(figure_column("position", "position", false));
  return columns;
}

// The number for the chart, and what is said beside it: "nan", "(24 of 144)"; "0.28", "(871 as dumped)".
void add_error(const DiffResult& run, uint32_t tensor, report::Row& row) {
  const bool nan = run.diffs[tensor].verdict == Verdict::kNan;
  const auto error = nan ? std::optional(std::numeric_limits<double>::quiet_NaN()) : judged_error(run, tensor);
  const std::string text = error_text(run, tensor);
  const size_t note = text.find('(');
  row.add("error", error);
  row.add("error_note", note == std::string::npos ? report::Value() : report::Value(text.substr(note)));
}

}  // namespace

DiffPageRows::DiffPageRows(WorkerPool& pool, const DiffOptions& options, const DiffResult& run,
                           const std::vector<const Divergence*>& roots)
    : run_(run), row_of_(run.diffs.size(), kNoRow), table_({}) {
  const std::vector<DiffRow> all = all_rows(run);
  all_ = all.size();
  const std::vector<size_t> taken = chosen(all, roots);
  const bool sampled = taken.size() < all.size();
  for (const size_t place : taken) rows_.push_back(all[place]);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].is_argument) row_of_[rows_[i].index] = static_cast<uint32_t>(i);
  }
  table_ = report::PageTable(page_columns(run, sampled));
  fill_page_table(table_, pool, rows_.size(), [&](size_t i) {
    const DiffRow& place = rows_[i];
    report::Row row = diff_row(run, place, options);
    row.add("difference", counts_as_difference(run, place) ? "yes" : "");
    if (!place.is_argument) {
      const uint32_t at = run.divergence.runs[place.index];
      add_error(run, place.index, row);
      row.add("run", at == kNoRun ? report::Value() : report::Value(at));
    }
    if (sampled) row.add("position", taken[i]);
    return row;
  });
}

std::vector<size_t> DiffPageRows::chosen(const std::vector<DiffRow>& all,
                                         const std::vector<const Divergence*>& roots) const {
  std::vector<bool> marked(run_.diffs.size());
  for (const Divergence* const root : roots) {
    for (const auto* const tensors : {&root->inputs, &root->outputs}) {
      for (const uint32_t tensor : *tensors) marked[tensor] = true;
    }
  }
  std::vector<report::PagePoint> points;
  points.reserve(all.size());
  for (const DiffRow& row : all) {
    const bool differs = counts_as_difference(run_, row);
    if (row.is_argument) {
      points.push_back({std::numeric_limits<double>::quiet_NaN(), 0, differs, differs});
      continue;
    }
    const TensorDiff& diff = run_.diffs[row.index];
    points.push_back({judged_error(run_, row.index).value_or(std::numeric_limits<double>::quiet_NaN()),
                      static_cast<uint8_t>(diff.verdict), marked[row.index], differs});
  }
  return report::page_sample(points);
}

std::optional<size_t> DiffPageRows::row_of(uint32_t tensor) const {
  if (tensor == kNoTensor || row_of_[tensor] == kNoRow) return std::nullopt;
  return row_of_[tensor];
}

std::vector<report::PageEdge> DiffPageRows::edges() const {
  std::set<uint32_t> runs;
  for (const DiffRow& row : rows_) {
    if (!row.is_argument) runs.insert(run_.divergence.runs[row.index]);
  }
  return page_edges(run_.divergence.edges, runs, [&](uint32_t tensor) { return row_of(tensor); });
}

report::List DiffPageRows::causes(const std::vector<const Divergence*>& roots) const {
  report::List list;
  for (const Divergence* const root : roots) {
    report::List rows;
    for (const auto* const tensors : {&root->outputs, &root->inputs}) {
      for (const uint32_t tensor : *tensors) {
        if (const auto row = row_of(tensor)) rows.emplace_back(*row);
      }
    }
    report::Object cause;
    cause.add("rows", std::move(rows));
    list.emplace_back(std::move(cause));
  }
  return list;
}

}  // namespace msdump::cli
