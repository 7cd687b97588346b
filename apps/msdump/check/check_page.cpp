#include "check/check_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/containers.h"
#include "base/text.h"
#include "check/check.h"
#include "check/check_rows.h"
#include "check/check_text.h"
#include "dump/names/identity.h"
#include "graph/flow/run_graph.h"
#include "help/words.h"
#include "io/worker_pool.h"
#include "report/markdown.h"
#include "report/page/page_data.h"
#include "shared/began_report.h"
#include "shared/ci_files.h"
#include "shared/recomputed.h"
#include "shared/report_page.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

// The points of the chart are rows of a table. Each stands for a chosen tensor, in the order of reports (rank, graph, step,
// place in the data flow).

// "nan", "infinite", "finite"; empty if the values are not known.
[[nodiscard]] std::string_view state_of(const check::TensorFacts& facts);

class CheckPoints {
 public:
  CheckPoints(WorkerPool& pool, const check::CheckRun& run);

  [[nodiscard]] const report::PageTable& table() const { return table_; }
  [[nodiscard]] size_t all() const { return tensors_.size(); }
  // The point of a tensor; no value if the page does not have it.
  [[nodiscard]] std::optional<size_t> point_of(TensorId tensor) const;
  // The classes that occur.
  [[nodiscard]] std::vector<report::PageClass> classes() const;
  [[nodiscard]] bool only_parameters() const;
  // Edges between executions that have points.
  [[nodiscard]] std::vector<report::PageEdge> edges() const;

 private:
  [[nodiscard]] std::vector<TensorId> in_order() const;
  [[nodiscard]] std::vector<size_t> chosen(const std::vector<TensorId>& tensors) const;
  [[nodiscard]] report::Row row_of(TensorId tensor) const;
  [[nodiscard]] std::string_view class_of(TensorId tensor) const;

  const check::CheckRun& run_;
  std::vector<TensorId> tensors_;
  std::vector<TensorId> points_;                   // tensors, by row of the table
  std::vector<std::optional<Severity>> severity_;  // by tensor: of its worst finding
  std::vector<uint32_t> point_of_;                 // by tensor
  report::PageTable table_;
};

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
  for (const char* const key : {"class", "at"}) columns.push_back(text_column(key, "", false));
  if (sampled) columns.push_back(figure_column("position", "position", false));
  return columns;
}

std::string_view state_of(const TensorFacts& facts) {
  if (!facts.known()) return "";
  if (facts.has_nan) return "nan";
  return facts.is_finite() ? "finite" : "infinite";
}

CheckPoints::CheckPoints(WorkerPool& pool, const check::CheckRun& run)
    : run_(run), severity_(run.dump.tensors()), point_of_(run.dump.tensors(), kNoPoint), table_({}) {
  for (const check::Finding& finding : run.report.findings) {
    if (finding.tensor != kNoId)
      severity_[finding.tensor] = std::max(severity_[finding.tensor].value_or(finding.severity), finding.severity);
  }
  tensors_ = in_order();
  const std::vector<size_t> taken = chosen(tensors_);
  const bool sampled = taken.size() < tensors_.size();
  for (const size_t place : taken) {
    point_of_[tensors_[place]] = static_cast<uint32_t>(points_.size());
    points_.push_back(tensors_[place]);
  }
  table_ = report::PageTable(point_columns(sampled));
  fill_page_table(table_, pool, points_.size(), [&](size_t i) {
    report::Row row = row_of(points_[i]);
    if (sampled) row.add("position", taken[i]);
    return row;
  });
}

std::vector<TensorId> CheckPoints::in_order() const {
  using Number = std::pair<bool, int64_t>;
  std::vector<std::tuple<Number, Number, Number, OperatorId, TensorId>> keys;
  for (TensorId tensor{0}; tensor < run_.chosen.size(); ++tensor) {
    if (!run_.chosen[tensor]) continue;
    const Identity identity = run_.dump.identity(tensor);
    keys.emplace_back(known_first(identity.rank), known_first(identity.graph), known_first(identity.step),
                      run_.dump.op_of(tensor), tensor);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<TensorId> tensors;
  tensors.reserve(keys.size());
  for (const auto& key : keys) tensors.push_back(std::get<4>(key));
  return tensors;
}

std::vector<size_t> CheckPoints::chosen(const std::vector<TensorId>& tensors) const {
  std::set<TensorId> marked;
  if (run_.report.first) {
    marked.insert(run_.report.first->inputs.begin(), run_.report.first->inputs.end());
    marked.insert(run_.report.first->outputs.begin(), run_.report.first->outputs.end());
    marked.insert(run_.report.first->tensor);
  }
  if (const auto& divergence = run_.report.first_divergence) marked.insert({divergence->tensor, divergence->sibling});
  std::vector<report::PagePoint> points;
  points.reserve(tensors.size());
  for (const TensorId tensor : tensors) {
    const std::string_view state = state_of(run_.facts[tensor]);
    const auto kind = static_cast<uint8_t>(state.empty() ? 0 : state == "nan" ? 1 : state == "finite" ? 2 : 3);
    const double value = largest(run_.facts[tensor]).value_or(std::numeric_limits<double>::quiet_NaN());
    points.push_back({value, kind, marked.contains(tensor), severity_[tensor].has_value()});
  }
  return report::page_sample(points);
}

report::Row CheckPoints::row_of(TensorId tensor) const {
  const TensorFacts& facts = run_.facts[tensor];
  const Identity identity = run_.dump.identity(tensor);
  const OperatorId op = run_.dump.op_of(tensor);
  const ExecutionId at = run_.dump.run_of(tensor);
  report::Row row;
  row.add("order", op == kNoId ? std::nullopt : run_.dump.order_of(op));
  row.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  row.add("op_type", run_.op_type(op));
  row.add("op_name", op == kNoId ? identity.name.op_name : run_.op_name(op));
  row.add("io", name_of(identity.name.io)).add("slot", slot_value(identity.name.slot));
  row.add("dtype", facts.dtype == DType::kUndefined ? report::Value() : report::Value(name_of(facts.dtype)));
  row.add("state", state_of(facts));
  row.add("severity", severity_[tensor] ? report::Value(name_of(*severity_[tensor])) : report::Value());
  row.add("max_abs", largest(facts))
      .add("l2norm", facts.l2norm.plain())
      .add("min", facts.min.plain())
      .add("max", facts.max.plain());
  row.add("mean", facts.mean.plain()).add("elements", facts.elements.plain()).add("nan", facts.nan.plain());
  row.add("inf", facts.positive_inf && facts.negative_inf ? report::Value(*facts.positive_inf + *facts.negative_inf)
                                                          : report::Value());
  row.add("nonfinite", count_nonfinite(facts)).add("zero", facts.zero.plain());
  row.add("source", source_value(run_.frame(op)));
  row.add("run", at == kNoId ? report::Value() : report::Value(uint32_t{at}));
  row.add("class", class_of(tensor));
  const TensorRecord& record = run_.dump.record(tensor);
  row.add("at", record.has_elements && !record.lost_file && !record.broken ? "=" : "");
  return row;
}

std::string_view CheckPoints::class_of(TensorId tensor) const {
  const std::string_view state = state_of(run_.facts[tensor]);
  if (state.empty()) return "unknown";
  if (state != "finite" || !severity_[tensor] || *severity_[tensor] == Severity::kNote) return state;
  return name_of(*severity_[tensor]);
}

std::vector<report::PageClass> CheckPoints::classes() const {
  // The worst last: it is drawn over the others, and stands for its operator in the data flow.
  std::vector<report::PageClass> classes = {{"unknown", "skipped", "values not known"},
                                            {"finite", "agrees", "finite"},
                                            {"warning", "downstream", "finite, with a warning"},
                                            {"error", "culprit", "finite, with an error"},
                                            {"infinite", "other", "infinite"},
                                            {"nan", "unexplained", "NaN"}};
  for (const TensorId tensor : tensors_) {
    std::find_if(classes.begin(), classes.end(), [&](const auto& one) { return one.key == class_of(tensor); })->count++;
  }
  std::erase_if(classes, [](const report::PageClass& one) { return one.count == 0; });
  return classes;
}

bool CheckPoints::only_parameters() const {
  return std::all_of(tensors_.begin(), tensors_.end(),
                     [&](TensorId tensor) { return run_.dump.identity(tensor).name.io == Io::kParameter; });
}

std::optional<size_t> CheckPoints::point_of(TensorId tensor) const {
  if (tensor == kNoId || point_of_[tensor] == kNoPoint) return std::nullopt;
  return point_of_[tensor];
}

std::vector<report::PageEdge> CheckPoints::edges() const {
  std::set<ExecutionId> runs;
  for (const TensorId tensor : points_) runs.insert(run_.dump.run_of(tensor));
  return page_edges(flow_edges(run_.dump.run_graph()), runs, [&](TensorId tensor) { return point_of(tensor); });
}

using check::CheckRun;
using check::Finding;
using check::FirstNonfinite;

// "Pow-op0, net.py:40"
std::string short_place(const CheckRun& run, OperatorId op) {
  std::string text = run.op_name(op).substr(run.op_name(op).rfind('/') + 1);
  if (const SourceFrame* const frame = run.frame(op)) text += ", " + source_text(frame);
  return text;
}

constexpr std::string_view kWrongHeading = "Computes something else than its inputs give";
constexpr size_t kMostWrong = 16;  // in full

// The first operators that are wrong by their own inputs.
std::vector<const recompute::OperatorJudgement*> wrong_operators(const CheckRun& run) {
  std::vector<const recompute::OperatorJudgement*> wrong;
  for (const recompute::OperatorJudgement& judgement : run.report.recomputed.judgements) {
    if (judgement.is_wrong() && wrong.size() < kMostWrong) wrong.push_back(&judgement);
  }
  return wrong;
}

const recompute::OutputJudgement& wrong_output_of(const recompute::OperatorJudgement& judgement) {
  return *std::find_if(judgement.outputs.begin(), judgement.outputs.end(),
                       [](const recompute::OutputJudgement& output) { return output.judgement.is_wrong(); });
}

std::pair<std::string, report::Tone> check_answer(const CheckRun& run) {
  if (!run.selects_any()) return {"Nothing was checked: the selection matches nothing", report::Tone::kNeutral};
  const size_t errors = run.count(Severity::kError), warnings = run.count(Severity::kWarning);
  if (run.report.first)
    return {fmt::format("{}: {}", first_heading(run), short_place(run, run.report.first->op)), report::Tone::kBad};
  if (errors + warnings == 0) return {"Nothing is wrong with what was checked", report::Tone::kGood};
  std::string text = errors > 0 ? plural(errors, "error") : "";
  if (warnings > 0) text += (errors > 0 ? " and " : "") + plural(warnings, "warning");
  if (run.report.first_divergence) {
    text += fmt::format("; {}: {}", kDivergenceHeading,
                        short_place(run, run.dump.op_of(run.report.first_divergence->tensor)));
    return {text, report::Tone::kBad};
  }
  if (const auto wrong = wrong_operators(run); !wrong.empty()) {
    text += fmt::format("; {}: {}", kWrongHeading, short_place(run, run.dump.runs()[wrong.front()->run].op));
    return {text, report::Tone::kBad};
  }
  if (const check::BeganReport* const began = run.report.began.get(); began != nullptr && began->began) {
    const check::StepTensor& tensor = began->history[began->began->first.tensor];
    return {fmt::format("{}; {}: {}", text, began_heading(*began), name_of(tensor)), report::Tone::kBad};
  }
  return {text + ", but no operator that makes NaN or an infinity",
          errors > 0 ? report::Tone::kBad : report::Tone::kNeutral};
}

std::string state_text(const check::TensorFacts& facts) {
  const std::string_view state = state_of(facts);
  return std::string(state.empty() ? "not known" : state == "nan" ? "NaN" : state);
}

// A cause, still without evidence and facts.
report::PageCause cause_at(const CheckRun& run, std::string title, OperatorId op, TensorId tensor) {
  const Identity identity = run.dump.identity(tensor);
  report::PageCause cause;
  cause.title = std::move(title);
  cause.name = run.op_name(op);
  cause.place = fmt::format("({}{})", run.op_type(op), place_text(identity.dump, identity.rank, identity.step));
  add_source(run.line(op), cause);
  cause.evidence_title = "values";
  return cause;
}

report::PageEvidence evidence_of(const CheckRun& run, std::string side, TensorId tensor) {
  return {std::move(side), tensor_head(run, tensor), state_text(run.facts[tensor]), values_text(run, tensor)};
}

report::PageCause first_cause(const CheckRun& run) {
  const FirstNonfinite& first = *run.report.first;
  report::PageCause cause = cause_at(run, first_heading(run), first.op, first.tensor);
  for (const auto& [side, tensors] : {std::pair("in", &first.inputs), std::pair("out", &first.outputs)}) {
    for (size_t i = 0; i < std::min(tensors->size(), kMostEvidence); ++i) {
      cause.evidence.push_back(evidence_of(run, side, (*tensors)[i]));
    }
    add_more_evidence(side, tensors->size(), cause);
  }
  cause.facts.push_back({"why", escape_for_terminal(first.reason)});
  return cause;
}

report::PageCause divergence_cause(const CheckRun& run) {
  const check::FirstDivergence& divergence = *run.report.first_divergence;
  report::PageCause cause = cause_at(run, kDivergenceHeading, run.dump.op_of(divergence.tensor), divergence.tensor);
  for (const TensorId tensor : {divergence.tensor, divergence.sibling})
    cause.evidence.push_back(
        evidence_of(run, fmt::format("rank {}", run.dump.identity(tensor).rank.value_or(0)), tensor));
  cause.facts.push_back({"why", escape_for_terminal(divergence.reason)});
  return cause;
}

report::PageCause wrong_cause(const CheckRun& run, const recompute::OperatorJudgement& judgement) {
  const recompute::OutputJudgement& wrong = wrong_output_of(judgement);
  const OpRun& at = run.dump.runs()[judgement.run];
  report::PageCause cause = cause_at(run, std::string(kWrongHeading), at.op, wrong.tensor);
  size_t inputs = 0;
  for (const RunInput& input : at.inputs) {
    const TensorId tensor = check::tensor_of(input);
    if (tensor != kNoId && inputs++ < kMostEvidence) cause.evidence.push_back(evidence_of(run, "in", tensor));
  }
  add_more_evidence("in", inputs, cause);
  cause.evidence.push_back(evidence_of(run, "out", wrong.tensor));
  cause.facts.push_back({"why", escape_for_terminal(recompute::describe_wrong(wrong))});
  add_wrong_output(wrong, judgement.asked, cause);
  return cause;
}

// About the tensor with which it began, in the step in which it did; null if nothing began.
const Finding* began_finding(const CheckRun& run) {
  const auto found = std::find_if(run.report.findings.begin(), run.report.findings.end(),
                                  [](const Finding& finding) { return finding.rule == check::RuleId::kBegan; });
  return found == run.report.findings.end() ? nullptr : &*found;
}

report::PageCause began_cause(const CheckRun& run, const Finding& finding) {
  report::PageCause cause =
      cause_at(run, began_heading(*run.report.began), run.dump.op_of(finding.tensor), finding.tensor);
  cause.evidence.push_back(evidence_of(run, fmt::format("step {}", finding.step.value_or(0)), finding.tensor));
  cause.facts.push_back({"what", escape_for_terminal(finding.message)});
  return cause;
}

std::vector<report::PageCause> causes_of(const CheckRun& run) {
  std::vector<report::PageCause> causes;
  if (run.report.first) causes.push_back(first_cause(run));
  if (run.report.first_divergence) causes.push_back(divergence_cause(run));
  for (const auto* const wrong : wrong_operators(run)) causes.push_back(wrong_cause(run, *wrong));
  if (const Finding* const began = began_finding(run)) causes.push_back(began_cause(run, *began));
  return causes;
}

std::vector<report::PageCount> check_counts(const CheckRun& run) {
  const auto tensors = static_cast<uint64_t>(std::count(run.chosen.begin(), run.chosen.end(), true));
  const std::string word = tensors == 1 ? "tensor" : "tensors";
  std::vector<report::PageCount> counts = {{word, word, tensors}};
  const auto add = [&](const std::string& label, size_t number, report::Tone tone) {
    if (number > 0) counts.push_back({label, label, number, tone});
  };
  const auto add_severity = [&](Severity severity, report::Tone tone) {
    const size_t number = run.count(severity);
    add(std::string(name_of(severity)) + (number == 1 ? "" : "s"), number, tone);
  };
  add_severity(Severity::kError, report::Tone::kBad);
  add_severity(Severity::kWarning, report::Tone::kBad);
  add_severity(Severity::kNote, report::Tone::kNeutral);
  const auto by_rule = run.count_by_rule();
  for (const check::RuleInfo& rule : check::all_rules())
    add(std::string(rule.name), by_rule[static_cast<size_t>(rule.id)], report::Tone::kNeutral);
  return counts;
}

// "float16, float32": those of floating point, the most frequent first.
std::string dtypes_text(const CheckRun& run) {
  std::map<DType, size_t> counts;
  for (TensorId tensor{0}; tensor < run.chosen.size(); ++tensor) {
    const DType dtype = run.facts[tensor].dtype;
    if (run.chosen[tensor] && kind_of(dtype) == DTypeKind::kFloat) ++counts[dtype];
  }
  std::vector<std::pair<size_t, DType>> order;
  for (const auto& [dtype, count] : counts) order.emplace_back(count, dtype);
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (const auto& [count, dtype] : order) text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(dtype));
  return text;
}

std::vector<report::PageColumn> finding_page_columns(const CheckRun& run) {
  std::vector<report::PageColumn> columns;
  for (const report::Column& column : finding_columns(run)) {
    const bool shown = !column.title.empty();
    std::string key = column.key == "io" ? "tensor" : column.key == "source.file" ? "line" : column.key;
    const std::string title = shown ? column.title : key;
    const bool is_number = key == "rank" || key == "step" || key == "graph" || key == "value";
    if (column.text && !is_number) {
      columns.push_back(cell_column(key, title, column.text, shown));
    } else {
      columns.push_back(is_number ? figure_column(key, title, shown) : text_column(key, title, shown));
    }
  }
  columns.push_back(figure_column("point", "point", false));
  return columns;
}

// Findings that the page has: errors and warnings before notes.
std::vector<size_t> chosen_findings(const CheckRun& run) {
  std::vector<report::PagePoint> points;
  for (const Finding& finding : run.report.findings)
    points.push_back({std::numeric_limits<double>::quiet_NaN(), static_cast<uint8_t>(finding.severity),
                      finding.severity == Severity::kError, finding.severity == Severity::kWarning});
  return report::page_sample(points);
}

std::vector<size_t> first_findings(const CheckRun& run, const std::vector<size_t>& taken) {
  std::vector<size_t> first;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    for (size_t i = 0; i < taken.size() && first.size() < kFirstRows; ++i) {
      if (run.report.findings[taken[i]].severity == severity) first.push_back(i);
    }
  }
  return first;
}

// Points of a cause: of the named tensor, then of the others.
report::Object evidence_points(const CheckPoints& points, TensorId named, const std::vector<TensorId>& others) {
  report::List rows;
  if (const auto point = points.point_of(named)) rows.emplace_back(*point);
  for (const TensorId tensor : others) {
    const auto point = points.point_of(tensor);
    if (point && tensor != named) rows.emplace_back(*point);
  }
  report::Object cause;
  cause.add("rows", std::move(rows));
  return cause;
}

// In the order of causes_of().
report::List evidence_of_causes(const CheckRun& run, const CheckPoints& points) {
  report::List causes;
  if (run.report.first) {
    std::vector<TensorId> tensors = run.report.first->outputs;
    tensors.insert(tensors.end(), run.report.first->inputs.begin(), run.report.first->inputs.end());
    causes.emplace_back(evidence_points(points, run.report.first->tensor, tensors));
  }
  if (const auto& divergence = run.report.first_divergence)
    causes.emplace_back(evidence_points(points, divergence->tensor, {divergence->sibling}));
  for (const auto* const wrong : wrong_operators(run)) {
    std::vector<TensorId> tensors;
    for (const RunInput& input : run.dump.runs()[wrong->run].inputs) {
      if (const TensorId tensor = check::tensor_of(input); tensor != kNoId) tensors.push_back(tensor);
    }
    causes.emplace_back(evidence_points(points, wrong_output_of(*wrong).tensor, tensors));
  }
  if (const Finding* const began = began_finding(run)) causes.emplace_back(evidence_points(points, began->tensor, {}));
  return causes;
}

std::vector<std::string> check_notes(const CheckRun& run, const CheckPoints& points, size_t shown) {
  std::vector<std::string> notes;
  for (std::string note : {sample_note(points.table().rows(), points.all()),
                           sample_note(shown, run.report.findings.size()), unread_note(run.failed())}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

// The head of the page and of the summary: the dump, the answer in a sentence, the causes.
report::Page answer_page(const CheckRun& run) {
  report::Page page;
  page.heading = fmt::format("{}", fmt::join(run.dump.index().paths(), ", "));
  std::tie(page.sentence, page.tone) = check_answer(run);
  page.causes = causes_of(run);
  return page;
}

}  // namespace

Status write_check_summary(const CheckOptions& options, const OpenedCheck& opened, ExitCode code) {
  const CheckRun& run = *opened.run;
  report::Page page = answer_page(run);
  page.command = "check";
  std::vector<Error> failures = run.report.failures;
  for (const Error* const error : run.listing_failures) failures.push_back(*error);
  page.notes = failure_notes(failures);
  report::MarkdownTable table{
      {"severity", "kind", "operator", "tensor", "line", "message"}, {false, false, true, false, true, false}, {}, {}};
  const ShownFindings shown = shown_findings(run, {true, false, options.fail_level == Severity::kNote});
  for (size_t i = 0; i < std::min(shown.rows.size(), kSummaryRows); ++i) {
    const report::Row row = finding_row(run, *shown.rows[i]);
    table.rows.push_back({std::string(row.text("severity")), std::string(row.text("kind")),
                          row.text("op_name").empty() ? "-" : std::string(row.text("op_name")), tensor_cell(row),
                          source_cell(row), std::string(row.text("message"))});
  }
  if (const size_t all = shown.rows.size() + shown.more; all > table.rows.size())
    table.below = fmt::format("{}, {} of them are shown", plural(all, "finding"), table.rows.size());
  return write_summary(options.summary,
                       report::markdown_summary(page, result_text(code), check_summary_text(run), table));
}

Status write_check_page(Session& session, const CheckOptions& options, const OpenedCheck& opened) {
  const CheckRun& run = *opened.run;
  const CheckPoints points(session.context.pool, run);
  const std::vector<size_t> taken = chosen_findings(run);
  report::PageTable rows(finding_page_columns(run));
  fill_page_table(rows, session.context.pool, taken.size(), [&](size_t i) {
    const Finding& finding = run.report.findings[taken[i]];
    report::Row row = finding_row(run, finding);
    const auto point = points.point_of(finding.tensor);
    row.add("point", point ? report::Value(*point) : report::Value());
    return row;
  });
  report::Page page = answer_page(run);
  page.movers = began_charts(run.report.began.get());
  page.counts = check_counts(run);
  page.dumps = {page_dump(run.dump.index().paths(), run.dump.index(), dtypes_text(run))};
  page.dumps.front().role = "dump";
  page.dumps.front().name = page.heading;
  page.words = page_words({"finding", "nan", "overflow", "dead", "operator", "rank", "step", "IR", "recompute"});
  page.notes = check_notes(run, points, rows.rows());
  page.chart_title = points.only_parameters() ? "Values of the parameters" : "Values along the execution";
  page.rows_title = "Findings";
  page.rows = &rows;
  page.first_rows = first_findings(run, taken);
  report::PageData data;
  data.command = {"msdump", "check", "--all"};
  for (const std::string& path : run.dump.index().paths()) data.command.insert(data.command.end(), {"-d", path});
  data.all = run.report.findings.size();
  data.rows = &rows;
  data.points = &points.table();
  data.classes = points.classes();
  data.has_flow = !points.only_parameters();
  data.dumps = {page_side("", run.dump.index().paths(), "at", run.dump.index())};
  data.edges = points.edges();
  data.causes = evidence_of_causes(run, points);
  return write_page(session, options.report, std::move(page), std::move(data));
}

}  // namespace msdump::cli
