#include "diff/diff_page_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "diff/diff_table.h"
#include "diff/diff_text.h"
#include "graph/scope_name.h"
#include "report/json.h"
#include "shared/report_page.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;
constexpr std::string_view kArgumentClass = "argument", kAcceptedClass = "accepted";

struct Class {
  std::string_view key, style, text = key;
};
// The worst last: it is drawn over the others, and stands for its operator in the data flow.
constexpr std::array kClasses = {
    Class{"skipped", "skipped", "not compared"},
    Class{"same", "agrees", "same or close"},
    Class{kAcceptedClass, "agrees"},
    Class{"unwritten", "other"},
    Class{"random", "other"},
    Class{"inert", "other"},
    Class{"elsewhere", "other"},
    Class{"noise", "rounding"},
    Class{"unmatched", "other"},
    Class{"downstream", "downstream"},
    Class{"unexplained", "unexplained"},
    Class{"dtype", "culprit"},
    Class{"shape", "culprit"},
    Class{"nan", "unexplained"},
    Class{"differ", "culprit"},
    Class{kArgumentClass, "culprit", "arguments that differ"},
    Class{"cause", "culprit"},
};

// If a scale is divided out, or one side is not finite, the largest difference of what was dumped says nothing.
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

// "cause" instead of nothing, as the table of the command says it.
report::Value explained_cell(const report::Row& row) {
  if (row.text("class") == "cause") return "cause";
  const report::Value* const found = row.find("explained");
  return found == nullptr ? report::Value() : *found;
}

// The place of a tensor's elements on a side, whose identity is at `key` of the row (PageData::dumps).
report::Value place_on(const DiffSide& side, RecordId record, const report::Row& row, const std::string& key) {
  if (record == kNoId) return {};
  const TensorRecord& tensor = (*side.side.tensors)[record];
  if (!tensor.has_elements || tensor.lost_file || tensor.broken) return {};
  report::List own;
  bool as_row = true;
  for (const char* const part : {"rank", "step", "io", "slot", "op_name"}) {
    const report::Value* const here = row.find_path(fmt::format("{}.{}", key, part));
    const std::string text = row.text_or_number(fmt::format("{}.{}", key, part)), shown = row.text_or_number(part);
    // Files have the name of the graph without slashes.
    as_row = as_row && std::equal(text.begin(), text.end(), shown.begin(), shown.end(), [](char x, char y) {
               return x == y || (x == '_' && y == '/') || (x == '/' && y == '_');
             });
    own.push_back(here == nullptr ? report::Value() : *here);
  }
  return as_row ? report::Value("=") : report::Value(std::move(own));
}

std::vector<report::PageColumn> page_columns(const DiffResult& run, bool sampled) {
  const std::vector<report::Column> table = diff_columns(run);
  const auto is_shown = [&](std::string_view key) {
    for (const report::Column& column : table) {
      if (column.key == key) return !column.title.empty();
    }
    return false;
  };
  // The text of the command's table for a key.
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
  std::vector<report::PageColumn> columns = {
      figure_column("order", "order"),
      figure_column("rank", "rank", is_shown("rank")),
      figure_column("step", "step", is_shown("step")),
      figure_column("graph", "graph", false),
      text_column("verdict", "verdict"),
      {"explained", "explained", report::PageColumn::Kind::kText, true, explained_cell},
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
  columns.push_back(text_column("class", "", false));
  for (const char* const side : {"a_at", "b_at"}) columns.push_back(text_column(side, "", false));
  columns.push_back(figure_column("run", "run", false));
  if (sampled) columns.push_back(figure_column("position", "position", false));
  return columns;
}

// The number for the chart, and what is said beside it: "nan", "(24 of 144)"; "0.28", "(871 as dumped)".
void add_error(const DiffResult& run, TensorId tensor, report::Row& row) {
  const bool nan = run.diffs[tensor].verdict == Verdict::kNan;
  const auto error = nan ? std::optional(std::numeric_limits<double>::quiet_NaN()) : judged_error(run, tensor);
  const std::string text = error_text(run, tensor);
  const size_t note = text.find('(');
  row.add("error", error);
  row.add("error_note", note == std::string::npos ? report::Value() : report::Value(text.substr(note)));
}

double error_of_point(const DiffResult& run, TensorId tensor) {
  if (run.diffs[tensor].verdict == Verdict::kNan) return std::numeric_limits<double>::infinity();
  return judged_error(run, tensor).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

DiffPageRows::DiffPageRows(WorkerPool& pool, const DiffOptions& options, const DiffResult& run)
    : run_(run), of_cause_(rows_of_causes(run)), row_of_(run.diffs.size(), kNoRow), table_({}) {
  const std::vector<DiffRow> all = all_rows(run);
  all_ = all.size();
  for (const DiffRow& row : all) ++class_counts_[class_of(row)];
  const std::vector<size_t> taken = chosen(all);
  const bool sampled = taken.size() < all.size();
  for (const size_t place : taken) rows_.push_back(all[place]);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].tensor != kNoId) row_of_[rows_[i].tensor] = static_cast<uint32_t>(i);
  }
  table_ = report::PageTable(page_columns(run, sampled));
  fill_page_table(table_, pool, rows_.size(), [&](size_t i) {
    const DiffRow& place = rows_[i];
    report::Row row = diff_row(run, place, options);
    row.add("difference", counts_as_difference(run, place) ? "yes" : "");
    row.add("class", class_of(place));
    if (place.tensor != kNoId) {
      const ExecutionId at = run.divergence.runs[place.tensor];
      const TensorPair& pair = run.pairing.tensors[place.tensor];
      add_error(run, place.tensor, row);
      row.add("a_at", place_on(*run.a, pair.a, row, "a")).add("b_at", place_on(*run.b, pair.b, row, "b"));
      row.add("run", at == kNoId ? report::Value() : report::Value(uint32_t{at}));
    }
    if (sampled) row.add("position", taken[i]);
    return row;
  });
}

std::vector<size_t> DiffPageRows::chosen(const std::vector<DiffRow>& all) const {
  std::vector<bool> marked(run_.diffs.size());
  for (const Divergence& root : run_.divergence.roots) {
    for (const auto* const tensors : {&root.inputs, &root.outputs}) {
      for (const TensorId tensor : *tensors) marked[tensor] = true;
    }
  }
  std::vector<report::PagePoint> points;
  points.reserve(all.size());
  for (const DiffRow& row : all) {
    const bool differs = counts_as_difference(run_, row);
    if (row.tensor == kNoId) {
      points.push_back({std::numeric_limits<double>::quiet_NaN(), 0, differs, differs});
      continue;
    }
    const TensorDiff& diff = run_.diffs[row.tensor];
    points.push_back({judged_error(run_, row.tensor).value_or(std::numeric_limits<double>::quiet_NaN()),
                      static_cast<uint8_t>(diff.verdict), marked[row.tensor], differs});
  }
  return report::page_sample(points);
}

// The reason of the summary if it does not agree, else its verdict; where nothing is judged the verdict alone.
std::string_view DiffPageRows::class_of(const DiffRow& row) const {
  const bool is_argument = row.tensor == kNoId, judged = !run_.single_pair && !run_.pairing.of_parameters;
  if (is_argument && argument_counts(run_, row.argument)) return kArgumentClass;
  const Verdict verdict = verdict_of(run_, row);
  if (verdict == Verdict::kClose || verdict == Verdict::kEmpty) return name_of(Verdict::kSame);
  if (verdict == Verdict::kSame || verdict == Verdict::kSkipped) return name_of(verdict);
  const std::string_view reason = is_argument || !judged ? "" : reason_key(run_, row.tensor, of_cause_);
  if (!reason.empty()) return reason;
  return counts_as_difference(run_, row) ? name_of(verdict) : kAcceptedClass;
}

std::vector<report::PageClass> DiffPageRows::classes() const {
  std::map<std::string_view, std::string_view> texts;  // of the summary
  for (const ReasonCount& one : reason_counts(run_)) texts[one.key] = one.text;
  std::vector<report::PageClass> classes;
  for (const Class& one : kClasses) {
    const auto count = class_counts_.find(one.key);
    if (count == class_counts_.end()) continue;
    const auto text = texts.find(one.key);
    classes.push_back({std::string(one.key), std::string(one.style),
                       std::string(text == texts.end() ? one.text : text->second), count->second});
  }
  return classes;
}

std::optional<report::RankMap> DiffPageRows::ranks() const {
  std::map<int64_t, uint32_t> ranks;
  for (const TensorId tensor : run_.rows) {
    if (const auto rank = run_.identity(tensor).rank) ranks.try_emplace(*rank);
  }
  if (ranks.size() < 2 || run_.pairing.of_parameters) return std::nullopt;
  report::RankMap map;
  for (auto& [rank, place] : ranks) {
    place = static_cast<uint32_t>(map.ranks.size());
    map.ranks.push_back(rank);
  }
  for (const Class& one : kClasses) map.styles.push_back(one.style);
  std::map<std::string, uint32_t> layers;
  for (const TensorId tensor : run_.rows) {
    const auto rank = run_.identity(tensor).rank;
    if (!rank) continue;
    const DiffRow row{tensor};
    const auto [layer, is_new] = layers.try_emplace(scope_of_op(run_.op_name(run_.pairing.tensors[tensor].op)),
                                                    static_cast<uint32_t>(map.layers.size()));
    if (is_new) map.layers.push_back(layer->first);
    const auto* const style = std::find_if(kClasses.begin(), kClasses.end(),
                                           [key = class_of(row)](const Class& one) { return one.key == key; });
    map.points.push_back({layer->second, ranks.at(*rank), static_cast<uint8_t>(style - kClasses.begin()),
                          counts_as_difference(run_, row), error_of_point(run_, tensor)});
  }
  return map;
}

std::optional<size_t> DiffPageRows::row_of(TensorId tensor) const {
  if (tensor == kNoId || row_of_[tensor] == kNoRow) return std::nullopt;
  return row_of_[tensor];
}

std::vector<report::PageEdge> DiffPageRows::edges() const {
  std::set<ExecutionId> runs;
  for (const DiffRow& row : rows_) {
    if (row.tensor != kNoId) runs.insert(run_.divergence.runs[row.tensor]);
  }
  return page_edges(run_.divergence.edges, runs, [&](TensorId tensor) { return row_of(tensor); });
}

report::List DiffPageRows::causes() const {
  return list_of(run_.divergence.roots, [&](const Divergence& root) {
    report::List rows;
    for (const auto* const tensors : {&root.outputs, &root.inputs}) {
      for (const TensorId tensor : *tensors) {
        if (const auto row = row_of(tensor)) rows.emplace_back(*row);
      }
    }
    report::Object cause;
    return std::move(cause.add("rows", std::move(rows)));
  });
}

}  // namespace msdump::cli
