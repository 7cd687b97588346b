#include "check/check_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "dump/names/identity.h"
#include "graph/lines/source_lines.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

using check::Finding;
using check::kNone;

// With the name of the operator, and with what is known since the file was read.
report::Object identity_of_tensor(const check::CheckRun& run, uint32_t tensor) {
  TensorRecord record = run.dump.record(tensor);
  const uint32_t op = run.dump.op_of(tensor);
  const std::string op_name = op == kNone ? std::string() : run.op_name(op);
  if (op != kNone) record.name.op_name = op_name;
  const check::TensorFacts& facts = run.facts[tensor];
  if (facts.dtype != DType::kUndefined) record.name.dtype = facts.dtype;
  if (record.shape == nullptr && facts.shape != nullptr) {
    record.shape = facts.shape;
    record.bytes = facts.bytes;
  }
  return identity_object(run.dump.index(), record);
}

// For findings about no tensor: the same keys, with the facts in the name of its file.
report::Object identity_of_place(const check::CheckRun& run, const Finding& finding) {
  report::Object object;
  const DumpIndex& index = run.dump.index();
  NameFacts name;
  if (finding.file != kNone) name = index.identity_of(index.files()[finding.file]).name;
  const auto text = [](std::string_view known, std::string_view else_this) {
    return report::text_or_null(known.empty() ? else_this : known);
  };
  object.add("path", report::text_or_null(finding.path));
  object.add("rank", finding.rank).add("graph", finding.graph).add("step", finding.step);
  object.add("op_name", text(run.op_name(finding.op), finding.op_name.empty() ? name.op_name : finding.op_name));
  object.add("op_type", text(run.op_type(finding.op), finding.op_type.empty() ? name.op_type : finding.op_type));
  const std::string_view io = name.slot.empty() ? std::string_view(finding.io) : name_of(name.io);
  object.add("io", report::text_or_null(io));
  object.add("slot", slot_value(name.slot.empty() ? finding.slot : name.slot)).add("occurrence", report::Value());
  object.add("task_id", name.task_id).add("stream_id", name.stream_id);
  object.add("timestamp", report::text_or_null(name.timestamp));
  for (const char* const key : {"dtype", "format", "shape", "bytes"}) object.add(key, report::Value());
  return object;
}

report::Value optional_value(const std::optional<double>& number) {
  return number ? report::Value(*number) : report::Value();
}
report::Value optional_value(const std::optional<uint64_t>& number) {
  return number ? report::Value(*number) : report::Value();
}

// The numbers of one tensor, for `first` and --trend.
void add_facts(report::Object& object, const check::TensorFacts& facts) {
  object.add("min", optional_value(facts.min)).add("max", optional_value(facts.max));
  object.add("mean", optional_value(facts.mean)).add("l2norm", optional_value(facts.l2norm));
  object.add("std", optional_value(facts.deviation()));
  object.add("count", optional_value(facts.elements)).add("nan_count", optional_value(facts.nan));
  object.add("negative_inf_count", optional_value(facts.negative_inf));
  object.add("positive_inf_count", optional_value(facts.positive_inf));
  object.add("finite", facts.known() ? report::Value(facts.is_finite()) : report::Value());
}

report::List tensors_value(const check::CheckRun& run, const std::vector<uint32_t>& tensors) {
  report::List list;
  for (const uint32_t tensor : tensors) {
    const NameFacts& name = run.dump.record(tensor).name;
    report::Object object;
    object.add("op_name", run.dump.op_of(tensor) == kNone ? report::Value(name.op_name)
                                                          : report::Value(run.op_name(run.dump.op_of(tensor))));
    object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
    add_facts(object, run.facts[tensor]);
    list.emplace_back(std::move(object));
  }
  return list;
}

report::Value numbers_value(const std::vector<int64_t>& numbers) {
  if (numbers.empty()) return {};
  return report::List(numbers.begin(), numbers.end());
}

// The path, for findings about no operator.
std::string subject_cell(const report::Row& row) {
  const std::string_view name = row.text("op_name");
  return name.empty() ? row.text_or_number("path") : std::string(name);
}

std::string six_digits(const report::Row& row, std::string_view key) {
  const auto* const number = row.get<double>(key);
  return number == nullptr ? "-" : fmt::format("{:g}", *number);
}

using Numbers = std::set<std::optional<int64_t>>;

Numbers numbers_of_folders(const check::CheckRun& run, std::optional<int64_t> FolderIdentity::*number) {
  Numbers seen;
  for (const IndexedFolder& folder : run.dump.index().folders()) {
    if (folder.identity.*number) seen.insert(folder.identity.*number);
  }
  return seen;
}

bool several(const check::CheckRun& run, std::optional<int64_t> FolderIdentity::*number) {
  return numbers_of_folders(run, number).size() > 1;
}

// Rows of tables may say a rank or step that no folder has.
bool several_found(const check::CheckRun& run, std::optional<int64_t> FolderIdentity::*number,
                   std::optional<int64_t> Finding::*found) {
  Numbers seen = numbers_of_folders(run, number);
  for (const Finding& finding : run.report.findings) {
    if (finding.*found) seen.insert(finding.*found);
  }
  return seen.size() > 1;
}

// Do operators share a name, so that only the type says which one a row is about?
bool names_are_shared(const check::CheckRun& run) {
  std::set<std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view>> names;
  const auto& operators = run.dump.operators();
  return std::any_of(operators.begin(), operators.end(),
                     [&](const SequencedOp& op) { return !names.emplace(op.rank, op.graph, op.name).second; });
}

}  // namespace

report::Row finding_row(const check::CheckRun& run, const Finding& finding) {
  report::Row row = finding.tensor == kNone ? identity_of_place(run, finding) : identity_of_tensor(run, finding.tensor);
  row.add("kind", finding.kind).add("severity", check::name_of(finding.severity)).add("value", finding.value);
  row.add("message", finding.message).add("hint", report::text_or_null(finding.hint));
  row.add("source", source_value(run.frame(finding.op)));
  row.add("ranks", numbers_value(finding.ranks)).add("group", numbers_value(finding.group));
  return row;
}

std::vector<report::Column> finding_columns(const check::CheckRun& run) {
  std::vector<report::Column> columns = {{"severity", "severity"}, {"kind", "kind"}};
  columns.push_back(number_column("rank", several_found(run, &FolderIdentity::rank, &Finding::rank)));
  columns.push_back(number_column("graph", false));
  columns.push_back(number_column("step", several_found(run, &FolderIdentity::step, &Finding::step)));
  columns.push_back(op_type_column());
  columns.push_back({"op_name", "op name", subject_cell});
  columns.push_back({"io", "tensor", tensor_cell});
  for (const char* const key : {"path", "slot", "occurrence", "task_id", "stream_id", "timestamp"})
    columns.push_back({key, ""});
  columns.push_back({"dtype", "dtype", {}, report::kDropOpType + 1});
  for (const char* const key : {"format", "shape", "bytes", "value"}) columns.push_back({key, ""});
  columns.push_back({"source.file", "line", source_cell});
  columns.push_back({"source.line", ""});
  columns.push_back({"source.code", ""});
  columns.push_back({"source.end_line", ""});
  columns.push_back({"message", "message"});
  for (const char* const key : {"hint", "ranks", "group"}) columns.push_back({key, ""});
  return columns;
}

report::Object check_summary(const check::CheckRun& run) {
  report::Object summary;
  const auto tensors = std::count(run.chosen.begin(), run.chosen.end(), true);
  summary.add("tensors", tensors).add("tensors_read", run.facts.count_read());
  for (const check::Severity severity : {check::Severity::kError, check::Severity::kWarning, check::Severity::kNote})
    summary.add(fmt::format("{}s", check::name_of(severity)), run.count(severity));
  for (const check::RuleInfo& rule : check::all_rules()) summary.add(std::string(rule.name), run.count(rule.id));
  summary.add("collectives", run.report.collectives.calls).add("collectives_judged", run.report.collectives.judged);
  const check::WatchedCounts& watched = run.report.watched;
  summary.add("watched_outputs", watched.outputs).add("watched_changed", watched.changed);
  summary.add("snapshots_compared", watched.compared).add("failed", run.failed());
  return summary;
}

report::Value first_value(const check::CheckRun& run) {
  if (!run.report.first) return {};
  const check::FirstNonfinite& first = *run.report.first;
  const TensorRecord& record = run.dump.record(first.tensor);
  const Identity identity = identity_of(run.dump.index(), record);
  report::Object object;
  object.add("op_name", report::text_or_null(run.op_name(first.op)));
  object.add("op_type", report::text_or_null(run.op_type(first.op)));
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  const auto order = first.op == kNone ? std::nullopt : run.dump.order_of(first.op);
  const OperatorLine line = run.line(first.op);
  object.add("order", order).add("source", source_value(line.frame)).add("one_of_several", line.one_of_several);
  const bool in_graph =
      run.dump.graph() != nullptr && first.op != kNone && run.dump.operators()[first.op].op != kNoIndex;
  object.add("stack", in_graph ? stack_value(stack_of(*run.dump.graph(), run.dump.operators()[first.op].op))
                               : report::Value(report::List()));
  object.add("kind", check::name_of(first.kind)).add("io", name_of(record.name.io));
  object.add("slot", slot_value(record.name.slot));
  object.add("path", run.dump.index().relative_path_of(run.dump.index().files()[record.file]));
  object.add("inputs_finite", first.inputs_finite ? report::Value(*first.inputs_finite) : report::Value())
      .add("parameter", report::text_or_null(first.parameter));
  object.add("reason", first.reason);
  object.add("inputs", tensors_value(run, first.inputs)).add("outputs", tensors_value(run, first.outputs));
  return object;
}

report::Value first_apart_value(const check::CheckRun& run) {
  if (!run.report.first_apart) return {};
  const check::FirstApart& apart = *run.report.first_apart;
  const Identity identity = run.dump.identity(apart.tensor);
  const uint32_t op = run.dump.op_of(apart.tensor);
  report::Object object;
  object.add("op_name", report::text_or_null(run.op_name(op))).add("op_type", report::text_or_null(run.op_type(op)));
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  object.add("order", op == kNone ? std::nullopt : run.dump.order_of(op)).add("source", source_value(run.frame(op)));
  object.add("kind", check::name_of(apart.kind)).add("io", name_of(identity.name.io));
  object.add("slot", slot_value(identity.name.slot));
  object.add("ranks", numbers_value(apart.ranks)).add("group", numbers_value(apart.group)).add("reason", apart.reason);
  return object;
}

std::vector<report::Object> check_failure_objects(const OpenedGraph& opened, const check::CheckRun& run) {
  std::vector<report::Object> objects = graph_failure_objects(opened);
  for (const Error& error : run.report.failures) objects.push_back(relative_failure(run.dump.index(), error));
  return objects;
}

report::Row trend_row(const check::CheckRun& run, uint32_t tensor) {
  report::Row row = identity_of_tensor(run, tensor);
  add_facts(row, run.facts[tensor]);
  return row;
}

std::vector<report::Column> trend_columns() {
  std::vector<report::Column> columns = identity_columns();
  for (report::Column& column : columns) {
    if (column.key == "graph" || column.key == "op_type" || column.key == "format" || column.key == "bytes" ||
        column.key == "shape")
      column.title.clear();
  }
  for (const char* const key : {"min", "max", "mean", "l2norm", "std"}) {
    const std::string name = key;
    columns.push_back({name, name, [name](const report::Row& row) { return six_digits(row, name); }});
  }
  for (const char* const key : {"count", "nan_count", "negative_inf_count", "positive_inf_count", "finite"})
    columns.push_back({key, ""});
  return columns;
}

report::Row trend_line(const check::CheckRun& run, const check::TrendSeries& series) {
  std::vector<std::optional<double>> norms;
  for (const uint32_t tensor : series.tensors) {
    const check::TensorFacts& facts = run.facts[tensor];
    const bool finite = !facts.known() || facts.is_finite();
    norms.push_back(finite ? facts.l2norm : std::optional(facts.has_nan ? std::nan("") : HUGE_VAL));
  }
  const auto number = [](const std::optional<double>& norm) { return norm ? fmt::format("{:.4g}", *norm) : "-"; };
  const DumpIndex& index = run.dump.index();
  const Identity first = identity_of(index, run.dump.record(series.tensors.front()));
  const Identity last = identity_of(index, run.dump.record(series.tensors.back()));
  report::Row row;
  row.add("rank", first.rank).add("graph", first.graph);
  row.add("op_name", run.op_name(run.dump.op_of(series.tensors.front())));
  row.add("op_type", run.op_type(run.dump.op_of(series.tensors.front())));
  row.add("tensor", fmt::format("{}:{}", name_of(first.name.io), first.name.slot));
  row.add("occurrence", first.occurrence);
  const int64_t from = first.step.value_or(0), to = last.step.value_or(0);
  const bool gaps = to - from + 1 != static_cast<int64_t>(series.tensors.size());
  row.add("steps",
          gaps ? fmt::format("{}-{}, {} of them", from, to, series.tensors.size()) : fmt::format("{}-{}", from, to));
  row.add("norm", fmt::format("{} -> {}", number(norms.front()), number(norms.back())));
  row.add("line", check::sparkline(norms));
  return row;
}

std::vector<report::Column> trend_line_columns(const check::CheckRun& run) {
  bool loops = false;
  for (uint32_t tensor = 0; tensor < run.dump.tensors(); ++tensor)
    loops = loops || run.dump.record(tensor).occurrence > 0;
  return {number_column("rank", several(run, &FolderIdentity::rank)),
          number_column("graph", several(run, &FolderIdentity::graph)),
          {"op_name", "op name"},
          {"op_type", names_are_shared(run) ? "op type" : ""},
          {"tensor", "tensor"},
          {"occurrence", loops ? "occurrence" : ""},
          {"steps", "steps"},
          {"norm", "norm, first -> last step"},
          {"line", "step by step"}};
}

report::Row rule_row(const check::RuleInfo& rule, const check::RuleSet& rules) {
  report::Row row;
  row.add("rule", rule.name).add("abbreviations", report::text_or_null(rule.abbreviations));
  row.add("on", rules.on(rule.id)).add("severity", check::name_of(rules[rule.id].severity));
  row.add("target", check::name_of(rule.target)).add("needs", check::name_of(rule.needs));
  report::Object parameters;
  for (const check::RuleParameter& parameter : rule.parameters) {
    const double value = rules.value(rule.id, parameter.name);
    parameters.add(std::string(parameter.name), std::isnan(value) ? report::Value() : report::Value(value));
  }
  row.add("parameters", std::move(parameters)).add("formula", rule.formula).add("value", rule.value);
  return row;
}

std::vector<report::Column> rule_columns() {
  const auto parameters = [](const report::Row& row) {
    std::string text;
    for (const report::Member& member : row.get<report::Object>("parameters")->members()) {
      const auto* const number = member.value.get<double>();
      text += fmt::format("{}{}{}", text.empty() ? "" : ",", member.key,
                          number == nullptr ? std::string("=..") : fmt::format("={:g}", *number));
    }
    return text.empty() ? std::string("-") : text;
  };
  return {{"rule", "rule"},
          {"abbreviations", "abbr"},
          {"on", "on", [](const report::Row& row) { return std::string(*row.get<bool>("on") ? "yes" : "-"); }},
          {"severity", "severity"},
          {"target", "of"},
          {"needs", "from"},
          {"parameters", "parameters", parameters},
          {"formula", "holds when"},
          {"value", "value of a finding"}};
}

}  // namespace msdump::cli
