// The row of a single file.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/tool_results.h"
#include "dump/index/dump_index.h"
#include "dump/names/file_kind.h"
#include "frame/terminal.h"
#include "info/file_facts.h"
#include "info/info_run.h"
#include "info/info_text.h"
#include "info/info_values.h"

namespace msdump::cli {
namespace {

constexpr size_t kShownTensors = 20, kShownAttributes = 5;

std::string text_at(const report::Object& object, std::string_view key) { return std::string(object.text(key)); }

std::string number_at(const report::Object& object, std::string_view key) {
  const auto number = object.number(key);
  return number ? std::to_string(*number) : std::string();
}

bool is_true(const report::Object& object, std::string_view key, bool wanted = true) {
  const auto* held = object.get<bool>(key);
  return held != nullptr && *held == wanted;
}

std::string shape_at(const report::Object& object, std::string_view key) {
  const report::Value* value = object.find(key);
  return value == nullptr ? std::string() : shape_text(*value);
}

// "Conv2D conv1-op12, output 0" and "rank 0, graph 0, step 3".
void add_identity(const report::Object& identity, InfoText& text) {
  std::string op = text_at(identity, "op_type");
  // For an array of unknown origin only the name is known, and the title has it.
  const bool foreign = op.empty() && text_at(identity, "timestamp").empty();
  const std::string name = text_at(identity, "op_name");
  if (!name.empty()) op += (op.empty() ? "" : " ") + name;
  const std::string io = text_at(identity, "io");
  const std::string slot = number_at(identity, "slot") + text_at(identity, "slot");
  if (!io.empty()) op += fmt::format("{}{} {}", op.empty() ? "" : ", ", io, slot);
  if (!foreign) text.line("operator", op);
  std::string place;
  for (const char* key : {"rank", "graph", "step"}) {
    const std::string number = number_at(identity, key);
    if (!number.empty()) place += fmt::format("{}{} {}", place.empty() ? "" : ", ", key, number);
  }
  text.line("dumped at", place);
}

void add_array(const report::Object& detail, InfoText& text) {
  std::string dtype = text_at(detail, "dtype");
  const std::string original = text_at(detail, "original_dtype"), descr = text_at(detail, "npy_descr");
  if (!original.empty()) dtype += fmt::format(", a wider copy of {}", original);
  if (is_true(detail, "readable_by_numpy", false)) dtype += fmt::format(" ('{}', which numpy cannot read)", descr);
  if (is_true(detail, "big_endian")) dtype += ", big-endian";
  text.line("dtype", dtype);
  const std::string elements = number_at(detail, "elements");
  std::string shape = shape_at(detail, "shape");
  if (!elements.empty()) shape += fmt::format(", {} element{}", elements, elements == "1" ? "" : "s");
  if (is_true(detail, "fortran_order")) shape += ", first axis fastest (Fortran order)";
  text.line("shape", shape);
  text.line("format", text_at(detail, "format"));
}

// "float16 FRACTAL_Z (4, 1, 16, 16), on the host (16, 16, 1, 1), 2.0 KiB"
std::string tensor_text(const report::Object& tensor) {
  const std::string dtype = text_at(tensor, "dtype"), format = text_at(tensor, "format");
  const std::string host = shape_at(tensor, "original_shape"), device = shape_at(tensor, "shape");
  const std::string problem = text_at(tensor, "problem"), note = text_at(tensor, "note");
  std::string text = fmt::format("{} {} {}", dtype.empty() ? "(unknown dtype)" : dtype,
                                 format.empty() ? "(unknown format)" : format, device.empty() ? "(no shape)" : device);
  if (!host.empty() && host != device) text += ", on the host " + host;
  const std::string groups = number_at(tensor, "sub_format");
  if (!groups.empty()) text += fmt::format(", {} groups", groups);
  if (!problem.empty()) return text + ": " + problem;
  text += ", " + human_bytes(parse_u64(number_at(tensor, "bytes")).value_or(0));
  return note.empty() ? text : text + "; " + note;
}

void add_tensors(const report::List& tensors, InfoText& text) {
  if (tensors.empty()) text.line("tensors", "none");
  for (size_t i = 0; i < std::min(tensors.size(), kShownTensors); ++i) {
    const auto& tensor = *tensors[i].get<report::Object>();
    std::string label = text_at(tensor, "op_name");
    if (label.empty()) label = text_at(tensor, "io") + ":" + number_at(tensor, "slot") + text_at(tensor, "slot");
    text.line(escape_for_terminal(label), tensor_text(tensor));
  }
  if (tensors.size() > kShownTensors)
    text.line("...", fmt::format("and {} more; --json names all", tensors.size() - kShownTensors));
}

void add_attributes(const report::List& attributes, InfoText& text) {
  for (size_t i = 0; i < std::min(attributes.size(), kShownAttributes); ++i) {
    const auto& attribute = *attributes[i].get<report::Object>();
    text.line("attribute",
              fmt::format("{} = {}", excerpt(text_at(attribute, "name")), excerpt(text_at(attribute, "value"))));
  }
}

// Keys that the special lines above have shown, and keys that matter only if they are unusual.
bool is_shown(std::string_view key) {
  for (const std::string_view shown :
       {"bytes", "dtype", "original_dtype", "npy_descr", "readable_by_numpy", "shape", "elements", "fortran_order",
        "big_endian", "data_offset", "data_bytes", "format", "identity", "tensors", "attributes", "dump_time_us"}) {
    if (key == shown) return true;
  }
  return false;
}

bool says_nothing(const report::Member& member) {
  const bool count_of_faults = member.key == "bad_rows" || member.key == "bad_entries" ||
                               member.key == "other_values" || member.key == "distributed" ||
                               member.key == "without_values" || member.key == "with_nan" || member.key == "skipped";
  const auto* number = member.value.get<uint64_t>();
  const auto* signed_number = member.value.get<int64_t>();
  const bool zero = (number != nullptr && *number == 0) || (signed_number != nullptr && *signed_number == 0);
  return (count_of_faults && zero) || (member.key == "runs" && number != nullptr && *number < 2);
}

std::string label_of(std::string_view key) {
  std::string label(key);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

void add_facts(const FileFacts& facts, InfoText& text) {
  const report::Object& detail = facts.detail;
  const bool table = facts.kind == FileKind::kDumpJson || facts.kind == FileKind::kDebugJson;
  add_array(detail, text);
  for (const report::Member& member : detail.members()) {
    if (table && member.key == "tensors") text.value("tensors", member.value);
    if (!is_shown(member.key) && !says_nothing(member)) text.value(label_of(member.key), member.value);
  }
  if (const auto* identity = detail.get<report::Object>("identity")) add_identity(*identity, text);
  if (const auto* tensors = detail.get<report::List>("tensors")) add_tensors(*tensors, text);
  if (const auto* attributes = detail.get<report::List>("attributes")) add_attributes(*attributes, text);
}

void add_next(const std::string& path, const FileFacts& facts, bool values, InfoText& text) {
  const std::string file = shell_quoted(path);
  if (!facts.tensors.empty()) {
    if (!values) text.next("the elements", "msdump info " + file + " --values");
    text.next("max, min, NaN, ...", "msdump stats -d " + file);
  }
  if (facts.kind == FileKind::kDumpFile && !facts.tensors.empty())
    text.next("as .npy, in NCHW", "msdump convert -d " + file + " -out OUT -f NCHW");
  const bool table =
      facts.kind == FileKind::kStatistic || facts.kind == FileKind::kDumpJson || facts.kind == FileKind::kDebugJson;
  const bool monitored = facts.kind == FileKind::kMonitor;
  if ((table || monitored) && facts.tensor_count > 0) text.next("its tensors", "msdump ls -d " + file);
  if (monitored && facts.tensor_count > 0) text.next("step by step", "msdump check --trend " + file);
  if (check::has_tool_results(facts.kind)) text.next("what failed", "msdump check " + file);
}

void add_to_summary(const DumpIndex& index, const FileFacts& facts, InfoSummary& summary) {
  summary.tensors += facts.tensor_count;
  summary.bytes += facts.tensor_bytes;
  if (facts.tensor_count == 0) return;
  const FolderIdentity& folder = index.folders().front().identity;
  if (folder.rank) summary.ranks.insert(*folder.rank);
  if (folder.graph) summary.graphs.insert(*folder.graph);
  if (folder.step) summary.steps.insert(*folder.step);
  summary.add_layout(name_of(folder.layout));
  summary.add_version(framework_of(index).text);
}

std::string title_of(const FileFacts& facts, std::string_view name) {
  const std::string kind(name_of(facts.kind));
  if (kind == "unknown") return kind;
  const bool other = facts.kind == FileKind::kConfig && text_at(facts.detail, "tool").empty();
  return fmt::format("{}, {}", kind, other ? "of an unknown tool" : explanation(facts.kind, name));
}

}  // namespace

InfoRow file_row(InfoTask& task, const std::string& path, const DumpIndex& index) {
  FileFacts facts = read_file_facts(index, index.files().front(), task.session.context.cancel);
  for (const Error& problem : index.problems()) task.fail(problem);
  for (const Error& problem : facts.problems) task.fail(problem, &index);
  add_to_summary(index, facts, task.summary);
  const std::string what = title_of(facts, index.files().front().shown_name());
  InfoText text(path, what);
  if (task.for_people()) {
    if (const auto* bytes = facts.detail.get<uint64_t>("bytes")) text.line("size", bytes_text(*bytes));
    add_facts(facts, text);
  }
  if (task.request.values) add_values(task, index, facts, facts.detail, text);
  if (!task.session.general.quiet) add_next(path, facts, task.request.values, text);
  if (task.for_people()) return {path, std::string(name_of(facts.kind)), {}, text.text()};
  return {path, std::string(name_of(facts.kind)), std::move(facts.detail), {}};
}

}  // namespace msdump::cli
