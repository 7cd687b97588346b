#include "check/check_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/numbers.h"
#include "dump/names/identity.h"
#include "graph/lines/source_lines.h"
#include "shared/recomputed.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

using check::Finding;

// Identity of a tensor, with the name of its operator and the facts that reading the file gave.
report::Object identity_of_tensor(const check::CheckRun& run, TensorId tensor) {
  TensorRecord record = run.dump.record(tensor);
  const OperatorId op = run.dump.op_of(tensor);
  const std::string op_name = op == kNoId ? std::string() : run.op_name(op);
  if (op != kNoId) record.name.op_name = op_name;
  const check::TensorFacts& facts = run.facts[tensor];
  if (facts.dtype != DType::kUndefined) record.name.dtype = facts.dtype;
  if (record.shape == nullptr && facts.shape != nullptr) {
    record.shape = facts.shape;
    record.bytes = facts.bytes;
  }
  return identity_object(run.dump.index(), record);
}

// The same keys for findings about no tensor, with the facts in the name of the file.
report::Object identity_of_place(const check::CheckRun& run, const Finding& finding) {
  report::Object object;
  const DumpIndex& index = run.dump.index();
  NameFacts name;
  if (finding.file != kNoId) name = index.identity_of(index.files()[finding.file]).name;
  const auto text = [](std::string_view known, std::string_view else_this) {
    return report::text_or_null(known.empty() ? else_this : known);
  };
  object.add("path", report::text_or_null(finding.path));
  object.add("rank", finding.rank).add("graph", finding.graph).add("step", finding.step);
  if (!finding.dump.empty()) object.add("dump", finding.dump);
  object.add("op_name", text(run.op_name(finding.op), finding.op_name.empty() ? name.op_name : finding.op_name));
  object.add("op_type", text(run.op_type(finding.op), finding.op_type.empty() ? name.op_type : finding.op_type));
  const std::string_view io = name.slot.empty() ? std::string_view(finding.io) : name_of(name.io);
  object.add("io", report::text_or_null(io));
  object.add("slot", slot_value(name.slot.empty() ? finding.slot : name.slot)).add("occurrence", report::Value());
  object.add("task_id", name.task_id.plain()).add("stream_id", name.stream_id.plain());
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

report::List tensors_value(const check::CheckRun& run, const std::vector<TensorId>& tensors) {
  report::List list;
  for (const TensorId tensor : tensors) {
    const NameFacts& name = run.dump.record(tensor).name;
    report::Object object;
    object.add("op_name", run.dump.op_of(tensor) == kNoId ? report::Value(name.op_name)
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

// True if operators share a name, so that only the type tells them apart.
bool names_are_shared(const check::CheckRun& run) {
  std::set<std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view>> names;
  const auto& operators = run.dump.operators();
  return std::any_of(operators.begin(), operators.end(),
                     [&](const SequencedOp& op) { return !names.emplace(op.rank, op.graph, op.name).second; });
}

// The path, for findings about no operator.
std::string subject_cell(const report::Row& row, std::string_view key) {
  const std::string_view name = row.text(key);
  return name.empty() ? row.text_or_number("path") : std::string(name);
}

std::string tensor_of_row(const report::Row& row, std::string_view) { return tensor_cell(row); }

std::string six_digits(const report::Row& row, std::string_view key) {
  const auto* const number = row.get<double>(key);
  return number == nullptr ? "-" : fmt::format("{:g}", *number);
}

// The numbers of add_facts().
const std::vector<report::Key>& fact_keys() {
  static const std::vector<report::Key> keys = {
      {.key = "min", .type = "number|null", .text = "smallest element", .title = "min", .cell = six_digits},
      {.key = "max", .type = "number|null", .text = "largest element", .title = "max", .cell = six_digits},
      {.key = "mean", .type = "number|null", .text = "mean", .title = "mean", .cell = six_digits},
      {.key = "l2norm",
       .type = "number|null",
       .text = "square root of the sum of squares",
       .title = "l2norm",
       .cell = six_digits},
      {.key = "std",
       .type = "number|null",
       .text = "standard deviation of the population",
       .title = "std",
       .cell = six_digits},
      {.key = "count", .type = "integer|null", .text = "elements"},
      {.key = "nan_count", .type = "integer|null", .text = "NaN"},
      {.key = "negative_inf_count", .type = "integer|null", .text = "negative infinities"},
      {.key = "positive_inf_count", .type = "integer|null", .text = "positive infinities"},
      {.key = "finite", .type = "boolean|null", .text = "no element is NaN or infinite; null if that is not known"}};
  return keys;
}

report::Key ranks_key() {
  return {.key = "ranks", .type = "integer[]|null", .text = "ranks that differ from the others of the group"};
}
report::Key group_key() {
  return {.key = "group", .type = "integer[]|null", .text = "ranks that should agree, or take part in the collective"};
}
report::Key order_key() {
  return {.key = "order", .type = "integer|null", .text = "position in the data flow, from 0"};
}

const report::ObjectType& fact_type() {
  static const report::ObjectType type =
      report::ObjectType{"CheckedTensor",
                         "An input or output with its numbers.",
                         {{.key = "op_name", .type = "string", .text = "operator that it belongs to"},
                          {.key = "io", .type = "string", .text = "input, output or parameter"},
                          {.key = "slot", .type = "integer|string|null", .text = "which of them"}}}
          .with("CheckedTensor", "An input or output with its numbers.", fact_keys());
  return type;
}

}  // namespace

const report::ObjectType& finding_type() {
  static const report::ObjectType type = tensor_type().with(
      "CheckFinding",
      "A finding about a tensor, an operator or a file; keys of a tensor are null where it is about none.",
      {{.key = "path", .type = "string|null", .text = "file of the tensor, or the file that the finding is about"},
       {.key = "op_name",
        .type = "string|null",
        .text = "full scope name of the operator, or the name of the file's",
        .title = "op name",
        .cell = subject_cell},
       {.key = "io",
        .type = "string|null",
        .text = "input, output, parameter or debug",
        .title = "tensor",
        .cell = tensor_of_row},
       {.key = "occurrence",
        .type = "integer|null",
        .text = "executions of the operator in the same step before this one"},
       {.key = "dtype",
        .type = "string|null",
        .text = "element type",
        .title = "dtype",
        .drop = report::kDropOpType + 1},
       {.key = "kind", .type = "string", .text = "rule, as --list-rules names it", .title = "kind"},
       {.key = "severity", .type = "string", .text = "error, warning or note", .title = "severity"},
       {.key = "value",
        .type = "number|integer|string|null",
        .text = "what the rule judged, a number or the code of a failure; --list-rules says what it is"},
       {.key = "message", .type = "string", .text = "what was found, in words that may change", .title = "message"},
       {.key = "hint", .type = "string|null", .text = "what to do, in words that may change"},
       source_key(),
       ranks_key(),
       group_key()});
  return type;
}

namespace {

// The keys that say which output an object is about.
report::Object place_of_output(const check::CheckRun& run, TensorId tensor, std::string_view type) {
  const TensorRecord& record = run.dump.record(tensor);
  const Identity identity = identity_of(run.dump.index(), record);
  report::Object place;
  place.add("op_name", run.op_name(run.dump.op_of(tensor))).add("op_type", type);
  return std::move(
      place.add("rank", identity.rank).add("step", identity.step).add("slot", slot_value(record.name.slot)));
}

const report::ObjectType& output_errors_type() {
  static const report::ObjectType type{
      "OutputErrors",
      "The errors of an output by CANN's standard.",
      {{.key = "mare", .type = "number", .text = "largest |y - g| / (|g| + 1e-7), g is what it should be"},
       {.key = "mere", .type = "number", .text = "mean of the same"},
       {.key = "rmse", .type = "number", .text = "root of the mean square of y - g"},
       {.key = "small_errors", .type = "integer", .text = "elements that are wrong where g is nearly zero"}}};
  return type;
}

const report::ObjectType& standard_type() {
  static const report::ObjectType type{
      "StandardVerdict",
      "Whether an output meets a standard; keys of other standards are null.",
      {{.key = "passes", .type = "boolean", .text = "true if it does"},
       {.key = "reason", .type = "string|null", .text = "why not, in words that may change"},
       {.key = "errors", .type = "object|null", .text = "levels: of the output", .of = output_errors_type},
       {.key = "reference_errors", .type = "object|null", .text = "levels: of --ref", .of = output_errors_type},
       {.key = "matched", .type = "number|null", .text = "cann: share of the elements within the tolerance"},
       {.key = "largest", .type = "number|null", .text = "cann: largest error of an element"},
       {.key = "largest_limit", .type = "number|null", .text = "cann: limit of that"}}};
  return type;
}

report::Value errors_value(const std::optional<recompute::OutputErrors>& errors) {
  if (!errors) return {};
  report::Object object;
  object.add("mare", errors->mare).add("mere", errors->mere).add("rmse", errors->rmse);
  return std::move(object.add("small_errors", errors->small_errors));
}

report::Value standard_value(const std::optional<recompute::StandardVerdict>& verdict) {
  if (!verdict) return {};
  report::Object object;
  object.add("passes", verdict->passes).add("reason", report::text_or_null(verdict->reason));
  object.add("errors", errors_value(verdict->y)).add("reference_errors", errors_value(verdict->r));
  object.add("matched", verdict->matched).add("largest", verdict->largest);
  return std::move(object.add("largest_limit", verdict->largest_limit));
}

}  // namespace

report::List golden_value(const check::CheckRun& run) {
  report::List list;
  for (const recompute::GoldenOutput& one : run.report.recomputed.golden) {
    report::Object object = place_of_output(run, one.tensor, one.type);
    object.add("path", one.path).add("standard", standard_value(one.verdict));
    object.add("reason", one.why ? report::Value(name_of(one.why->reason)) : report::Value());
    list.emplace_back(std::move(object.add("what", report::text_or_null(one.why ? one.why->what : ""))));
  }
  return list;
}

const report::ObjectType& golden_type() {
  static const report::ObjectType type{
      "GoldenOutput",
      "An output that --golden writes as it should be, or that --standard judges.",
      {{.key = "op_name", .type = "string", .text = "full scope name of the operator"},
       {.key = "op_type", .type = "string", .text = "its type"},
       {.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
       {.key = "step", .type = "integer|null", .text = "iteration of the training run"},
       {.key = "slot", .type = "integer|string|null", .text = "which output"},
       {.key = "path", .type = "string|null", .text = "file, relative to the folder of --golden; null: none"},
       {.key = "standard", .type = "object|null", .text = "null: not judged by a standard", .of = standard_type},
       {.key = "reason", .type = "string|null", .text = "why it is not written or judged; as in NotRecomputed"},
       {.key = "what", .type = "string|null", .text = "the input, argument or file that lacks"}}};
  return type;
}

report::List wrong_outputs_value(const check::CheckRun& run) {
  report::List list;
  for (const recompute::OperatorJudgement& judgement : run.report.recomputed.judgements) {
    for (const recompute::OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.is_wrong()) continue;
      list.emplace_back(
          recomputed_output(place_of_output(run, output.tensor, judgement.type), output, judgement.asked));
    }
  }
  return list;
}

const report::ObjectType& check_summary_type() {
  static const report::ObjectType type = [] {
    report::ObjectType summary{
        "CheckSummary",
        "Counts of a check: of tensors, of findings by severity and by rule, of what was compared.",
        {{.key = "tensors", .type = "integer", .text = "tensors that were selected"},
         {.key = "tensors_read", .type = "integer", .text = "tensors whose values were read"},
         {.key = "errors", .type = "integer", .text = "findings of this severity"},
         {.key = "warnings", .type = "integer", .text = "findings of this severity"},
         {.key = "notes", .type = "integer", .text = "findings of this severity"}}};
    for (const check::RuleInfo& rule : check::all_rules())
      summary.keys.push_back({.key = rule.name, .type = "integer", .text = "findings of this rule"});
    return summary.with(
        summary.name, summary.text,
        {{.key = "collectives", .type = "integer", .text = "calls of collectives"},
         {.key = "collectives_judged", .type = "integer", .text = "calls whose inputs and outputs were compared"},
         {.key = "watched_outputs", .type = "integer", .text = "outputs that CANN's watcher mode watched"},
         {.key = "watched_changed", .type = "integer", .text = "of these, outputs that another operator changed"},
         {.key = "snapshots_compared", .type = "integer", .text = "snapshots of watched outputs that were compared"},
         {.key = "recompute",
          .type = "object|null",
          .text = "what was computed again; null if nothing was",
          .of = recompute_summary_type},
         {.key = "failed", .type = "integer", .text = "inputs that could not be read"}});
  }();
  return type;
}

const report::ObjectType& first_type() {
  static const report::ObjectType type{
      "FirstNonFinite",
      "The first operator that makes NaN or an infinity.",
      {{.key = "op_name", .type = "string|null", .text = "full scope name of the operator"},
       {.key = "op_type", .type = "string|null", .text = "its type"},
       {.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
       {.key = "graph", .type = "integer|null", .text = "id of the graph"},
       {.key = "step", .type = "integer|null", .text = "iteration of the training run"},
       order_key(),
       source_key(),
       {.key = "one_of_several", .type = "boolean", .text = "the line is called several times"},
       stack_key(),
       {.key = "kind", .type = "string", .text = "nan, inf, overflow, input or parameter"},
       {.key = "io", .type = "string", .text = "input, output or parameter"},
       {.key = "slot", .type = "integer|string|null", .text = "which of them"},
       {.key = "path", .type = "string", .text = "file of the tensor, relative to the dump"},
       {.key = "inputs_finite", .type = "boolean|null", .text = "all inputs are finite; null if that is not known"},
       {.key = "parameter", .type = "string|null", .text = "name of the parameter, if it is not finite itself"},
       {.key = "reason", .type = "string", .text = "why this is the first, in words that may change"},
       {.key = "inputs", .type = "object[]", .text = "inputs of the operator", .of = fact_type},
       {.key = "outputs", .type = "object[]", .text = "outputs of the operator", .of = fact_type}}};
  return type;
}

const report::ObjectType& first_apart_type() {
  static const report::ObjectType type{
      "FirstDivergenceOfRanks",
      "The first place at which a tensor differs that ranks should have in common.",
      {{.key = "op_name", .type = "string|null", .text = "full scope name of the operator"},
       {.key = "op_type", .type = "string|null", .text = "its type"},
       {.key = "rank", .type = "integer|null", .text = "a rank that differs"},
       {.key = "graph", .type = "integer|null", .text = "id of the graph"},
       {.key = "step", .type = "integer|null", .text = "iteration of the training run"},
       order_key(),
       source_key(),
       {.key = "kind", .type = "string", .text = "what differs: parameter, input, output, ..."},
       {.key = "io", .type = "string", .text = "input, output or parameter"},
       {.key = "slot", .type = "integer|string|null", .text = "which of them"},
       ranks_key(),
       group_key(),
       {.key = "reason", .type = "string", .text = "in words that may change"}}};
  return type;
}

const report::ObjectType& trend_type() {
  static const report::ObjectType type = tensor_type().with("TensorOfStep", "A tensor in one step.", fact_keys());
  return type;
}

const report::ObjectType& trend_summary_type() {
  static const report::ObjectType type{"TrendSummary",
                                       "Counts of check --trend.",
                                       {{.key = "tensors", .type = "integer", .text = "rows"},
                                        {.key = "series", .type = "integer", .text = "tensors with several steps"},
                                        {.key = "failed", .type = "integer", .text = "inputs that could not be read"}}};
  return type;
}

report::Row finding_row(const check::CheckRun& run, const Finding& finding) {
  report::Row row = finding.tensor == kNoId ? identity_of_place(run, finding) : identity_of_tensor(run, finding.tensor);
  row.add("kind", check::name_of(finding.rule)).add("severity", name_of(finding.severity)).add("value", finding.value);
  row.add("message", finding.message).add("hint", report::text_or_null(finding.hint));
  row.add("source", source_value(run.frame(finding.op)));
  row.add("ranks", numbers_value(finding.ranks)).add("group", numbers_value(finding.group));
  return row;
}

std::vector<report::Column> finding_columns(const check::CheckRun& run) {
  std::vector<report::Column> columns = finding_type().columns(
      {"severity", "kind",  "rank",  "graph",      "step",        "dump",        "op_type",     "op_name",
       "io",       "path",  "slot",  "occurrence", "task_id",     "stream_id",   "timestamp",   "dtype",
       "format",   "shape", "bytes", "value",      "source.file", "source.line", "source.code", "source.end_line",
       "message",  "hint",  "ranks", "group"});
  report::hide(columns, {"graph", "slot", "format", "shape", "bytes", "source.code"});
  leave_out_dump(columns, run.dump.index().dumps());
  if (!several_found(run, &FolderIdentity::rank, &Finding::rank)) report::hide(columns, {"rank"});
  if (!several_found(run, &FolderIdentity::step, &Finding::step)) report::hide(columns, {"step"});
  return columns;
}

report::Object check_summary(const check::CheckRun& run) {
  report::Object summary;
  const auto tensors = static_cast<uint64_t>(std::count(run.chosen.begin(), run.chosen.end(), true));
  const uint64_t rows = run.report.table_rows;
  summary.add("tensors", tensors + rows).add("tensors_read", run.facts.count_read() + rows);
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote})
    summary.add(fmt::format("{}s", name_of(severity)), run.count(severity));
  const auto by_rule = run.count_by_rule();
  for (const check::RuleInfo& rule : check::all_rules())
    summary.add(std::string(rule.name), by_rule[static_cast<size_t>(rule.id)]);
  summary.add("collectives", run.report.collectives.calls).add("collectives_judged", run.report.collectives.judged);
  const check::WatchedCounts& watched = run.report.watched;
  summary.add("watched_outputs", watched.outputs).add("watched_changed", watched.changed);
  summary.add("snapshots_compared", watched.compared)
      .add("recompute", recompute_summary(recompute::count(run.report.recomputed.judgements)))
      .add("failed", run.failed());
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
  const auto order = first.op == kNoId ? std::nullopt : run.dump.order_of(first.op);
  const OperatorLine line = run.line(first.op);
  object.add("order", order).add("source", source_value(line.frame)).add("one_of_several", line.one_of_several);
  const bool in_graph = run.dump.graph() != nullptr && first.op != kNoId && run.dump.operators()[first.op].op != kNoId;
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

report::Value first_divergence_value(const check::CheckRun& run) {
  if (!run.report.first_divergence) return {};
  const check::FirstDivergence& divergence = *run.report.first_divergence;
  const Identity identity = run.dump.identity(divergence.tensor);
  const OperatorId op = run.dump.op_of(divergence.tensor);
  report::Object object;
  object.add("op_name", report::text_or_null(run.op_name(op))).add("op_type", report::text_or_null(run.op_type(op)));
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  object.add("order", op == kNoId ? std::nullopt : run.dump.order_of(op)).add("source", source_value(run.frame(op)));
  object.add("kind", check::name_of(divergence.kind)).add("io", name_of(identity.name.io));
  object.add("slot", slot_value(identity.name.slot));
  object.add("ranks", numbers_value(divergence.diverged))
      .add("group", numbers_value(divergence.group))
      .add("reason", divergence.reason);
  return object;
}

std::vector<report::Object> check_failure_objects(const OpenedGraph& opened, const check::CheckRun& run) {
  std::vector<report::Object> objects = graph_failure_objects(opened);
  for (const Error& error : run.report.failures) objects.push_back(relative_failure(run.dump.index(), error));
  return objects;
}

report::Row trend_row(const check::CheckRun& run, TensorId tensor) {
  report::Row row = identity_of_tensor(run, tensor);
  add_facts(row, run.facts[tensor]);
  return row;
}

std::vector<report::Column> trend_columns(const check::CheckRun& run) {
  std::vector<report::Column> columns = trend_type().columns();
  leave_out_dump(columns, run.dump.index().dumps());
  report::hide(columns, {"graph", "op_type", "format", "bytes", "shape"});
  return columns;
}

report::Row trend_line(const check::CheckRun& run, const check::TrendSeries& series) {
  std::vector<std::optional<double>> norms;
  for (const TensorId tensor : series.tensors) {
    const check::TensorFacts& facts = run.facts[tensor];
    const bool finite = !facts.known() || facts.is_finite();
    norms.push_back(finite ? facts.l2norm.plain() : std::optional(facts.has_nan ? std::nan("") : HUGE_VAL));
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
  for (TensorId tensor{0}; tensor < run.dump.tensors(); ++tensor)
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

namespace {

std::string on_cell(const report::Row& row, std::string_view key) { return *row.get<bool>(key) ? "yes" : "-"; }

std::string parameters_cell(const report::Row& row, std::string_view key) {
  std::string text;
  for (const report::Member& member : row.get<report::Object>(key)->members()) {
    const auto* const number = member.value.get<double>();
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", member.key,
                        number == nullptr ? std::string("=..") : fmt::format("={:g}", *number));
  }
  return text.empty() ? std::string("-") : text;
}

report::Object parameters_of(const check::RuleInfo& rule, const check::RuleSet& rules) {
  report::Object parameters;
  for (const check::RuleParameter& parameter : rule.parameters) {
    const double value = rules.value(rule.id, parameter.name);
    parameters.add(std::string(parameter.name), std::isnan(value) ? report::Value() : report::Value(value));
  }
  return parameters;
}

}  // namespace

const report::RowType<RuleRow>& rule_rows() {
  static const auto rows =
      report::RowType<RuleRow>("Rule", "A rule of check; --list-rules.")
          .add({.key = "rule", .type = "string", .text = "name", .title = "rule"},
               [](const RuleRow& row) -> report::Value { return row.rule.name; })
          .add({.key = "abbreviations",
                .type = "string|null",
                .text = "other names, as MindInsight has them",
                .title = "abbr"},
               [](const RuleRow& row) -> report::Value { return report::text_or_null(row.rule.abbreviations); })
          .add({.key = "on", .type = "boolean", .text = "the rule is on", .title = "on", .cell = on_cell},
               [](const RuleRow& row) -> report::Value { return row.rules.on(row.rule.id); })
          .add({.key = "severity", .type = "string", .text = "severity of its findings", .title = "severity"},
               [](const RuleRow& row) -> report::Value { return name_of(row.rules[row.rule.id].severity); })
          .add({.key = "target", .type = "string", .text = "what it judges", .title = "of"},
               [](const RuleRow& row) -> report::Value { return check::name_of(row.rule.target); })
          .add({.key = "needs", .type = "string", .text = "what it reads", .title = "from"},
               [](const RuleRow& row) -> report::Value { return check::name_of(row.rule.needs); })
          .add({.key = "parameters",
                .type = "object",
                .text = "its parameters, null for one that has to be given",
                .title = "parameters",
                .cell = parameters_cell},
               [](const RuleRow& row) -> report::Value { return parameters_of(row.rule, row.rules); })
          .add({.key = "formula", .type = "string", .text = "when it holds", .title = "holds when"},
               [](const RuleRow& row) -> report::Value { return row.rule.formula; })
          .add({.key = "value",
                .type = "string",
                .text = "what `value` of its findings is",
                .title = "value of a finding"},
               [](const RuleRow& row) -> report::Value { return row.rule.value; });
  return rows;
}

}  // namespace msdump::cli
