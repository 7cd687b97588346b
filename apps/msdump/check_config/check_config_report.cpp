#include "check_config/check_config_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "config/keys.h"
#include "frame/usage.h"
#include "help/help.h"

namespace msdump::cli {
namespace {

constexpr size_t kWidestExcerpt = 100;

// The begin of the UTF-8 character at `at`; a nearby offset if the bytes are not UTF-8.
size_t character_begin(std::string_view text, size_t at) {
  constexpr size_t kLongest = 3;  // bytes that follow a first one
  at = std::min(at, text.size());
  for (size_t back = 0; at < text.size() && back < kLongest && at > back; ++back) {
    if ((static_cast<unsigned char>(text[at - back]) & 0xC0U) != 0x80U) return at - back;
  }
  return at;
}

// The line of a finding, cut to the width of a terminal, with a mark under the column.
std::string source_text(const CheckedFile& file, const Finding& finding) {
  const size_t begin = finding.offset == 0 ? 0 : file.text.rfind('\n', finding.offset - 1) + 1;  // npos + 1 is 0
  const size_t end = std::min(file.text.find('\n', begin), file.text.size());
  std::string_view line = std::string_view(file.text).substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  size_t column = std::min(finding.offset - begin, line.size());  // in bytes
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (begin == 0 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
    column -= std::min(column, kByteOrderMark.size());
  }
  if (line.find_first_not_of(" \t") == std::string_view::npos) return "";
  // Cuts a long line before the column and after it.
  std::string_view front;
  if (column > kWidestExcerpt / 2) {
    front = "...";
    const size_t cut = character_begin(line, column - kWidestExcerpt / 2);
    line.remove_prefix(cut);
    column -= cut;
  }
  const bool cut_end = line.size() > kWidestExcerpt;
  line = line.substr(0, character_begin(line, kWidestExcerpt));
  const auto shown = [](std::string_view text) {
    std::string blanks(text);
    std::replace(blanks.begin(), blanks.end(), '\t', ' ');
    return escape_for_terminal(blanks);
  };
  const std::string number = std::to_string(finding.line);
  const std::string before = std::string(front) + shown(line.substr(0, column));
  return fmt::format("  {} | {}{}{}\n  {} | {}^\n", number, before, shown(line.substr(column)), cut_end ? "..." : "",
                     std::string(number.size(), ' '), std::string(display_width(before), ' '));
}

// The text that all files share; null when they differ.
template <class TextOf>
report::Value shared(const std::vector<CheckedFile>& files, const TextOf& text_of) {
  if (files.empty()) return {};
  const std::string first(text_of(files.front()));
  const bool same =
      std::all_of(files.begin(), files.end(), [&](const CheckedFile& file) { return text_of(file) == first; });
  return same ? report::text_or_null(first) : report::Value();
}

size_t errors_in(const std::vector<CheckedFile>& files) {
  size_t sum = 0;
  for (const CheckedFile& file : files) sum += file.report.errors;
  return sum;
}

size_t warnings_in(const std::vector<CheckedFile>& files) {
  size_t sum = 0;
  for (const CheckedFile& file : files) sum += file.report.warnings;
  return sum;
}

const report::RowType<DumpEstimateRow>& estimate_rows() {
  static const auto rows = report::RowType<DumpEstimateRow>("EstimatedGraph", "What a step writes for a graph.")
                               .add({.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.rank; })
                               .add({.key = "graph", .type = "integer|null", .text = "id of the graph"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.graph; })
                               .add({.key = "operators", .type = "integer", .text = "operators; 0 for parameters"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.operators; })
                               .add({.key = "tensors", .type = "integer", .text = "tensors"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.tensors; })
                               .add({.key = "statistics", .type = "integer", .text = "rows of statistic.csv"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.statistics; })
                               .add({.key = "bytes", .type = "integer", .unit = "bytes", .text = "size of the tensors"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.bytes; })
                               .add({.key = "unsized", .type = "integer", .text = "tensors of unknown size"},
                                    [](const DumpEstimateRow& row) -> report::Value { return row.unsized; });
  return rows;
}

std::string what_is_written(uint64_t tensors, uint64_t statistics) {
  std::string text;
  if (tensors > 0) text = plural(tensors, "tensor");
  if (statistics > 0)
    text += fmt::format("{}{} of statistic.csv", text.empty() ? "" : " and ", plural(statistics, "row"));
  return text;
}

// An item of kernels; both ends of a very long one, because two may differ only there.
std::string shown_item(std::string_view item) {
  constexpr size_t kLongest = 200, kEnd = kLongest / 2;
  if (item.size() <= kLongest) return escape_for_terminal(item);
  const size_t front = character_begin(item, kEnd), back = character_begin(item, item.size() - kEnd);
  return escape_for_terminal(item.substr(0, front)) + "..." + escape_for_terminal(item.substr(back));
}

// The condition of an estimate.
std::string condition_text(const CheckedFile& file) {
  if (file.refused_by.empty()) return "";
  if (file.report.errors == 0) return fmt::format(", once {} accepts it:", file.refused_by);
  return fmt::format(", once the {} above {} gone:", file.report.errors == 1 ? "error" : "errors",
                     file.report.errors == 1 ? "is" : "are");
}

std::string steps_text(const DumpEstimate& estimate) {
  if (estimate.all_steps) return "every step";
  if (!estimate.steps) return "too many steps to count";
  const auto bytes = checked_mul<uint64_t>(*estimate.steps, estimate.bytes());
  return fmt::format("{}{}", plural(*estimate.steps, "step"),
                     bytes ? fmt::format(", {} in all", human_bytes(*bytes)) : "");
}

}  // namespace

const report::RowType<ConfigFinding>& config_finding_rows() {
  static const auto rows =
      report::RowType<ConfigFinding>("ConfigFinding", "A finding about a configuration.")
          .add({.key = "file", .type = "string", .text = "as typed", .title = "file"},
               [](const ConfigFinding& one) -> report::Value { return one.file.path; })
          .add({.key = "line", .type = "integer", .text = "line, from 1", .title = "line"},
               [](const ConfigFinding& one) -> report::Value { return one.finding.line; })
          .add({.key = "column", .type = "integer", .unit = "characters", .text = "column, from 1", .title = "column"},
               [](const ConfigFinding& one) -> report::Value { return one.finding.column; })
          .add({.key = "key", .type = "string|null", .text = "path of the key", .title = "key"},
               [](const ConfigFinding& one) -> report::Value { return report::text_or_null(one.finding.key); })
          .add({.key = "severity", .type = "string", .text = "error or warning", .title = "severity"},
               [](const ConfigFinding& one) -> report::Value { return name_of(one.finding.severity); })
          .add({.key = "rule", .type = "string", .text = "a stable word for the kind of finding", .title = "rule"},
               [](const ConfigFinding& one) -> report::Value { return one.finding.rule; })
          .add({.key = "message",
                .type = "string",
                .text = "what the framework would do, in words that may change",
                .title = "message"},
               [](const ConfigFinding& one) -> report::Value { return one.finding.message; })
          .add({.key = "hint", .type = "string|null", .text = "what to do, in words that may change", .title = "hint"},
               [](const ConfigFinding& one) -> report::Value { return report::text_or_null(one.finding.hint); });
  return rows;
}

std::string finding_text(const CheckedFile& file, const Finding& finding) {
  std::string text =
      fmt::format("{}:{}:{}: {}: {} [{}]\n", escape_for_terminal(file.path), finding.line, finding.column,
                  name_of(finding.severity), escape_for_terminal(finding.message), finding.rule);
  text += source_text(file, finding);
  if (!finding.hint.empty()) text += fmt::format("  hint: {}\n", escape_for_terminal(finding.hint));
  return text;
}

const report::RowType<std::vector<CheckedFile>>& lint_summary() {
  using Files = std::vector<CheckedFile>;
  static const auto summary =
      report::RowType<Files>("ConfigSummary", "Counts of check-config.")
          .add({.key = "errors", .type = "integer", .text = "findings of this severity"},
               [](const Files& files) -> report::Value { return errors_in(files); })
          .add({.key = "warnings", .type = "integer", .text = "findings of this severity"},
               [](const Files& files) -> report::Value { return warnings_in(files); })
          .add({.key = "files", .type = "integer", .text = "configurations that were read"},
               [](const Files& files) -> report::Value { return files.size(); })
          .add(
              {.key = "kind", .type = "string|null", .text = "data_dump, msprobe, acl or unknown; null if they differ"},
              [](const Files& files) -> report::Value {
                return shared(files, [](const CheckedFile& file) { return name_of(file.report.kind); });
              })
          .add({.key = "version", .type = "string|null", .text = "releases they were judged for; null if they differ"},
               [](const Files& files) -> report::Value {
                 return shared(files, [](const CheckedFile& file) { return std::string_view(file.report.version); });
               });
  return summary;
}

std::string lint_summary_text(const std::vector<CheckedFile>& files) {
  std::string text = fmt::format("{}, {} in {}", plural(errors_in(files), "error"),
                                 plural(warnings_in(files), "warning"), plural(files.size(), "file"));
  const report::Value kind = shared(files, [](const CheckedFile& file) { return title_of(file.report.kind); });
  const auto* title = kind.get<std::string>();
  if (title != nullptr && files.front().report.kind != ConfigKind::kUnknown) {
    text += ": " + *title;
    const report::Value version =
        shared(files, [](const CheckedFile& file) { return std::string_view(file.report.version); });
    if (const auto* judged = version.get<std::string>()) text += ", for " + *judged;
  }
  return text;
}

const report::ObjectType& config_estimate_type() {
  static const auto graph_type = []() -> const report::ObjectType& { return estimate_rows().type(); };
  static const report::ObjectType type{
      "ConfigEstimate",
      "What a step of the dump of a data_dump.json writes.",
      {{.key = "file", .type = "string", .text = "as typed"},
       {.key = "tensors", .type = "integer", .text = "tensors"},
       {.key = "bytes", .type = "integer", .unit = "bytes", .text = "their size"},
       {.key = "steps",
        .type = "integer|null",
        .text = "steps that are dumped; null for every step, or too many to count"},
       {.key = "at_most", .type = "boolean", .text = "the numbers are upper bounds"},
       {.key = "refused", .type = "boolean", .text = "the framework refuses the configuration as it is"},
       {.key = "unmatched_kernels", .type = "string[]", .text = "items of kernels that match no operator"},
       {.key = "graphs", .type = "object[]", .text = "by graph", .of = graph_type}}};
  return type;
}

report::Value estimate_value(const CheckedFile& file) {
  if (!file.estimate) return {};
  report::List rows;
  for (const DumpEstimateRow& row : file.estimate->rows) rows.emplace_back(estimate_rows().row(row));
  report::Object object;
  object.add("file", file.path).add("tensors", file.estimate->tensors()).add("bytes", file.estimate->bytes());
  object.add("steps", file.estimate->all_steps ? report::Value() : report::Value(file.estimate->steps));
  object.add("at_most", file.estimate->at_most).add("refused", !file.refused_by.empty());
  object.add("unmatched_kernels", report::list_of(file.estimate->unmatched_kernels)).add("graphs", std::move(rows));
  return object;
}

std::string estimate_text(const CheckedFile& file) {
  if (!file.estimate) return "";
  const DumpEstimate& estimate = *file.estimate;
  std::string text = fmt::format("{}: a step of this dump {}{}{}", escape_for_terminal(file.path),
                                 file.refused_by.empty() ? "writes" : "would write", estimate.at_most ? " at most" : "",
                                 estimate.rows.empty() ? " nothing" : "");
  text += condition_text(file) + '\n';
  for (const DumpEstimateRow& row : estimate.rows) {
    std::string place = row.rank ? fmt::format("rank {}, ", *row.rank) : "";
    place += row.graph ? fmt::format("graph {}", *row.graph) : "the graph";
    text += fmt::format("  {}: {} of {}, {}{}\n", place, what_is_written(row.tensors, row.statistics),
                        row.operators > 0 ? plural(row.operators, "operator") : "parameters", human_bytes(row.bytes),
                        row.unsized > 0 ? fmt::format(" and {} of unknown size", plural(row.unsized, "tensor")) : "");
  }
  if (!estimate.rows.empty()) text += fmt::format("  {}\n", steps_text(estimate));
  for (size_t i = 0; i < estimate.unmatched_kernels.size(); ++i) {
    const std::string& near = estimate.nearest[i];
    text += fmt::format("  '{}' matches no operator of the IR{}\n", shown_item(estimate.unmatched_kernels[i]),
                        near.empty() ? "" : fmt::format("; did you mean '{}'?", escape_for_terminal(near)));
  }
  return text;
}

// check-config --explain KEY.

namespace {

std::string section_text(const ConfigKey& key) {
  if (key.section.empty()) return "top level";
  if (key.section == kTaskSection)
    return key.tasks.empty() ? "block of the task" : fmt::format("block of {}", key.tasks);
  if (key.section == kSliceSection || key.section == kAclListSection) return fmt::format("items of {}", key.section);
  return std::string(key.section);
}

std::string paragraph(const ConfigKey& key, size_t width) {
  std::string text = fmt::format("{}  ({}, {})\n", key.name, title_of(key.kind), section_text(key));
  const auto line = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<13}{}", label, wrapped(value, 15, width));
  };
  line("what", key.meaning);
  line("type", name_of(key.type));
  line("values", key.values);
  line("default", key.required ? "none, the key is required" : default_text(key));
  line("known to", availability(key));
  return text;
}

}  // namespace

std::vector<std::string> key_names() {
  std::set<std::string> names;
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    for (const ConfigKey& key : keys_of(kind)) names.emplace(key.name);
  }
  return {names.begin(), names.end()};
}

std::vector<const ConfigKey*> find_keys(const std::string& wanted) {
  std::vector<const ConfigKey*> keys = keys_named(wanted);
  if (!keys.empty()) return keys;
  throw UsageError(unknown_word("key", wanted, key_names()), "--explain '*' explains all keys");
}

const report::RowType<ConfigKey>& key_rows() {
  static const auto rows =
      report::RowType<ConfigKey>("ConfigKey", "A key of a configuration; --explain.")
          .add({.key = "family", .type = "string", .text = "data_dump, msprobe or acl", .title = "family"},
               [](const ConfigKey& key) -> report::Value { return name_of(key.kind); })
          .add({.key = "section", .type = "string", .text = "section that has the key", .title = "section"},
               [](const ConfigKey& key) -> report::Value { return section_text(key); })
          .add({.key = "key", .type = "string", .text = "name", .title = "key"},
               [](const ConfigKey& key) -> report::Value { return key.name; })
          .add({.key = "type", .type = "string", .text = "type of its value", .title = "type"},
               [](const ConfigKey& key) -> report::Value { return name_of(key.type); })
          .add({.key = "values", .type = "string|null", .text = "its values, in words", .title = "values"},
               [](const ConfigKey& key) -> report::Value { return report::text_or_null(key.values); })
          .add({.key = "default", .type = "string|null", .text = "value without the key, in words", .title = "default"},
               [](const ConfigKey& key) -> report::Value { return report::text_or_null(default_text(key)); })
          .add({.key = "required",
                .type = "boolean",
                .text = "the framework refuses a file without it",
                .title = "required"},
               [](const ConfigKey& key) -> report::Value { return key.required; })
          .add({.key = "versions",
                .type = "string|null",
                .text = "releases that know it; null for all",
                .title = "versions"},
               [](const ConfigKey& key) -> report::Value { return report::text_or_null(availability(key)); })
          .add({.key = "meaning", .type = "string", .text = "what it does", .title = "meaning"},
               [](const ConfigKey& key) -> report::Value { return key.meaning; });
  return rows;
}

std::string key_text(const std::string& wanted, size_t width) {
  std::string text;
  for (const ConfigKey* key : find_keys(wanted)) text += (text.empty() ? "" : "\n") + paragraph(*key, width);
  return text;
}

}  // namespace msdump::cli
