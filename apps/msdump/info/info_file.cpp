// The row of a single file.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/tool_results.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/layouts/dump_json_kinds.h"
#include "dump/names/file_kind.h"
#include "frame/terminal.h"
#include "info/file_facts.h"
#include "info/info_run.h"
#include "info/info_text.h"
#include "info/shown_array.h"
#include "tensor/shape.h"

namespace msdump::cli {
namespace {

Result<ShownTensor> read_values(InfoTask& task, const DumpIndex& index, const FileFacts& facts, size_t item) {
  MSDUMP_TRY(OpenedFile opened, open_again(index, index.files().front(), facts, item));
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(std::move(opened), 0, {}));
  if (!tensor.plan().note.empty()) {
    Error note = make_error(ErrorCode::kUnsupportedFormat, "{}", tensor.plan().note).with_path(tensor.path());
    note.tensor = facts.tensors[item].label();
    task.session.messages.warning(note);
  }
  return show_tensor(tensor, task.request.values.slice, task.for_people());
}

// The members of "tensors" with the values of each.
report::List with_values(const report::List& tensors, std::vector<report::Value> values) {
  report::List list;
  for (size_t i = 0; i < tensors.size(); ++i) {
    report::Object object = *tensors[i].get<report::Object>();
    list.emplace_back(object.add("values", std::move(values[i])));
  }
  return list;
}

// The same object with another value for a key.
report::Object replaced(const report::Object& object, std::string_view key, const report::Value& value) {
  report::Object result;
  for (const report::Member& member : object.members())
    result.add(member.key, member.key == key ? value : member.value);
  return result;
}

// Adds the elements to the text or to the detail: with one tensor under "values", with several under "values" of each of
// "tensors". Null if they cannot be read, which is a failure of the run.
void add_values(InfoTask& task, const DumpIndex& index, const FileFacts& facts, report::Object& detail,
                InfoText& text) {
  const std::string path = index.path_of(index.files().front());
  std::vector<report::Value> values(facts.tensors.size());
  size_t chosen = 0, last = 0;
  for (size_t i = 0; i < facts.tensors.size(); ++i) {
    const StoredTensor& tensor = facts.tensors[i];
    if (tensor.problem || !task.selection.matches_tensor(tensor.io, tensor.slot)) continue;
    if (task.session.context.cancel.cancelled()) return;
    ++chosen;
    last = i;
    const auto shown = read_values(task, index, facts, i);
    if (!shown) {
      Error error = shown.error();
      if (error.path.empty()) error.path = path;
      if (error.tensor.empty() && facts.tensors.size() > 1) error.tensor = tensor.label();
      task.fail(error);
    } else if (!task.for_people()) {
      values[i] = array_value(shown->array);
    } else {
      text.block(shown_text(tensor.label(), task.request.values.slice, *shown));
    }
  }
  if (chosen == 0 && facts.problems.empty()) {
    const bool none = facts.tensors.empty();
    task.fail(make_error(ErrorCode::kUsage, "{}",
                         none ? "it holds no elements of tensors" : "it has no tensor of that --io and --slot")
                  .with_path(path));
  }
  if (task.for_people()) return;
  const auto* tensors = detail.get<report::List>("tensors");
  const bool several = facts.tensors.size() > 1 && tensors != nullptr;
  report::Value one = chosen == 1 ? values[last] : report::Value();
  if (several) detail = replaced(detail, "tensors", with_values(*tensors, std::move(values)));
  detail.add("values", std::move(one));
}

void add_next(const std::string& path, const FileFacts& facts, bool values, InfoText& text) {
  const std::string file = shell_quoted(path);
  if (!facts.tensors.empty()) {
    if (!values) text.next("the elements", "msdump info " + file + " --values");
    text.next("max, min, NaN, ...", "msdump stats -d " + file);
  }
  if (facts.kind == FileKind::kDumpFile && !facts.tensors.empty())
    text.next("as .npy, in NCHW", "msdump convert -d " + file + " -out OUT -f NCHW");
  const bool table = facts.kind == FileKind::kStatistic || is_like_dump_json(facts.kind);
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

}  // namespace

InfoRow file_row(InfoTask& task, const std::string& path, const DumpIndex& index) {
  FileFacts facts = read_file_facts(index, index.files().front(), task.session.context.cancel);
  for (const Error& problem : index.problems()) task.fail(problem);
  for (const Error& problem : facts.problems) task.fail(problem, &index);
  add_to_summary(index, facts, task.summary);
  InfoText text(path, facts.title);
  if (task.for_people()) {
    text.line("size", bytes_text(index.files().front().size));
    for (const FactLine& line : facts.lines)
      line.text.empty() ? text.value(line.label, line.value) : text.line(line.label, line.text);
  }
  if (task.request.values.given) add_values(task, index, facts, facts.detail, text);
  if (!task.session.general.quiet) add_next(path, facts, task.request.values.given, text);
  if (task.for_people()) return {path, std::string(name_of(facts.kind)), {}, text.text()};
  return {path, std::string(name_of(facts.kind)), std::move(facts.detail), {}};
}

}  // namespace msdump::cli
