#include "shared/catalogue.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/catalogue.h"
#include "dump/index/dump_index.h"
#include "dump/index/row_steps.h"
#include "dump/layouts/family.h"
#include "frame/messages.h"
#include "info/tree_facts.h"
#include "report/row_sink.h"

namespace msdump::cli {
namespace {

// The layouts of the files, the most frequent first.
std::string layout_text(const DumpIndex& index) {
  std::string text;
  for (const auto& [layout, count] : layouts_of(index))
    text += (text.empty() ? "" : "; ") + std::string(name_of(layout));
  return text;
}

void note_double_claims(Session& session, const Catalogue& catalogue) {
  const auto& tensors = catalogue.list.tensors();
  const auto claimed_twice = [](const TensorRecord& tensor) { return tensor.claimed_twice; };
  const auto count = std::count_if(tensors.begin(), tensors.end(), claimed_twice);
  if (count == 0) return;
  const auto first = std::find_if(tensors.begin(), tensors.end(), claimed_twice);
  session.messages.note(fmt::format("{} claimed by more than one file; each is listed, such as {}",
                                    plural(static_cast<uint64_t>(count), "tensor"),
                                    catalogue.index.path_of(catalogue.index.files()[first->file])));
}

}  // namespace

Result<Catalogue> open_catalogue(const RunContext& context, const CatalogueRequest& request) {
  MSDUMP_TRY(const std::vector<std::string> dumps, resolve_dumps(request.dump, context.cancel));
  MSDUMP_TRY(Selection selection, Selection::compile(request.selection));
  MSDUMP_TRY(DumpIndex index, DumpIndex::build(dumps, {request.excluded, &context.cancel, &context.pool}));
  auto list = TensorList::read(index, selection, request.list, context);
  context.progress->stop();
  log_step(fmt::format("{} and {} in {}", plural(index.files().size(), "file"),
                       plural(list ? list->tensors().size() : 0, "tensor"), fmt::join(dumps, ", ")));
  if (!list) return fail(std::move(list).error());
  return Catalogue{std::move(index), std::move(selection), request.selection, std::move(*list)};
}

bool is_device_dump(const DumpIndex& index) {
  const auto files = index.files();
  return std::any_of(files.begin(), files.end(),
                     [](const IndexedFile& file) { return file.kind == FileKind::kDumpFile; });
}

bool has_tensor_files(const DumpIndex& index) {
  return std::any_of(index.files().begin(), index.files().end(),
                     [](const IndexedFile& file) { return file.family != nullptr && !file.by_content; });
}

const report::RowType<DumpSummary>& dump_summary() {
  static const auto summary =
      report::RowType<DumpSummary>("DumpSummary", "A dump as a whole.")
          .add({.key = "tensors", .type = "integer", .text = "tensors that were listed"},
               [](const DumpSummary& one) -> report::Value { return one.tensors; })
          .add({.key = "bytes", .type = "integer", .unit = "bytes", .text = "size of their elements"},
               [](const DumpSummary& one) -> report::Value { return one.bytes; })
          .add({.key = "ranks", .type = "integer[]", .text = "ranks that have tensors"},
               [](const DumpSummary& one) -> report::Value { return report::list_of(one.ranks); })
          .add({.key = "graphs", .type = "integer[]", .text = "graphs that have tensors"},
               [](const DumpSummary& one) -> report::Value { return report::list_of(one.graphs); })
          .add({.key = "steps", .type = "integer[]", .text = "steps that have tensors"},
               [](const DumpSummary& one) -> report::Value { return report::list_of(one.steps); })
          .add({.key = "layout",
                .type = "string",
                .text = "layouts of the folders, the most frequent first; \"; \" "
                        "between them"},
               [](const DumpSummary& one) -> report::Value { return one.layout; })
          .add({.key = "framework_version",
                .type = "string|null",
                .text = "framework that wrote the dump, with the "
                        "releases that its files fit"},
               [](const DumpSummary& one) -> report::Value { return report::text_or_null(one.framework_version); });
  return summary;
}

const report::RowType<CatalogueSummary>& catalogue_summary() {
  static const auto summary =
      report::RowType<CatalogueSummary>("ListSummary", "A dump as a whole.")
          .include(dump_summary())
          .add({.key = "failed", .type = "integer", .text = "files and tensors that could not be read"},
               [](const CatalogueSummary& one) -> report::Value { return one.failed; });
  return summary;
}

CatalogueSummary summary_of(const Catalogue& catalogue) {
  CatalogueSummary summary;
  for (const TensorRecord& tensor : catalogue.list.tensors()) {
    const Identity identity = identity_of(catalogue.index, tensor);
    if (identity.rank) summary.ranks.insert(*identity.rank);
    if (identity.graph) summary.graphs.insert(*identity.graph);
    if (identity.step) summary.steps.insert(*identity.step);
    summary.bytes += tensor.bytes.value_or(0);
  }
  summary.tensors = catalogue.list.tensors().size();
  summary.layout = layout_text(catalogue.index);
  summary.framework_version = framework_of(catalogue.index).text;
  summary.failed = catalogue.list.failures().size();
  return summary;
}

void warn_of_missing_shards(Session& session, const DumpIndex& index) {
  for (const TreeFinding& lost : find_missing_shards(index))
    session.messages.warning(fmt::format("{}: {}", index.path_of(index.files()[lost.item]), lost.text));
}

void report_failures(Session& session, const Catalogue& catalogue) {
  for (const Error& error : catalogue.list.failures()) session.messages.error(error);
}

report::Object relative_failure(const DumpIndex& index, const Error& error) {
  Error machine = error;
  machine.path = index.relative(machine.path);
  return report::failure_object(machine);
}

std::vector<report::Object> failure_objects(const Catalogue& catalogue) {
  std::vector<report::Object> objects;
  for (const Error& error : catalogue.list.failures()) objects.push_back(relative_failure(catalogue.index, error));
  return objects;
}

void note_unknown_files(Session& session, const Catalogue& catalogue) {
  const auto& files = catalogue.index.files();
  const auto unknown = std::count_if(files.begin(), files.end(), [](const IndexedFile& file) {
    return file.family == nullptr && file.kind == FileKind::kUnknown;
  });
  const auto total = static_cast<uint64_t>(unknown + catalogue.list.foreign());
  if (total == 0) return;
  session.messages.note(fmt::format("{}; msdump info lists them", plural(total, "unrecognised file")));
}

ExitCode end_with_nothing_selected(const Session& session, const DumpIndex& index, const SelectionOptions& asked) {
  const RowSteps steps = row_steps(index, asked.step, session.context);
  SelectionOptions rest = asked;
  if (steps.has_asked) rest.step.clear();
  const std::string near = steps.hint.empty() ? near_miss(index, rest) : steps.hint;
  session.messages.nothing_selected("the selection matches nothing",
                                    near.empty() ? "msdump ls lists all tensors" : near);
  return ExitCode::kNo;
}

std::string_view hint_without_tensors(const std::vector<IndexedFile>& files) {
  const auto any = [&](const auto& test) { return std::any_of(files.begin(), files.end(), test); };
  if (any([](const IndexedFile& file) { return file.kind == FileKind::kCompareResult; }))
    return "these are results of msprobe's compare: diff takes the two dumps that it compared; msdump info FILE counts "
           "the rows and names what failed first";
  if (any([](const IndexedFile& file) { return file.name.ends_with(".bin"); }))
    return "a .bin alone has neither dtype nor shape: save arrays as TYPE.NAME.0.0.0.input.0.npy and so on";
  return "-d takes a directory of a dump, or its files; msdump info says what a path is";
}

ExitCode conclude_listing(Session& session, const Catalogue& catalogue) {
  note_unknown_files(session, catalogue);
  note_double_claims(session, catalogue);
  const bool any = has_tensor_files(catalogue.index), failed = !catalogue.list.failures().empty();
  if (failed && (any || !catalogue.list.tensors().empty())) return ExitCode::kSomeFailed;
  if (!catalogue.list.tensors().empty()) return ExitCode::kOk;
  if (any && !catalogue.selection.everything()) {
    return end_with_nothing_selected(session, catalogue.index, catalogue.asked);
  }
  if (any) {
    session.messages.warning("there are files of tensors, but none holds a tensor");
    return ExitCode::kNo;
  }
  const auto& files = catalogue.index.files();
  const bool any_other =
      std::any_of(files.begin(), files.end(), [](const IndexedFile& file) { return file.kind == FileKind::kUnknown; });
  if (failed && !any_other) return ExitCode::kSomeFailed;
  session.messages.error(ErrorCode::kNotADump,
                         fmt::format("no tensors: {} found, none of them holds any", plural(files.size(), "file")),
                         hint_without_tensors(files));
  return failed ? ExitCode::kSomeFailed : ExitCode::kUsage;
}

}  // namespace msdump::cli
