#include "shared/opened_graph.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "dump/index/near_miss.h"
#include "frame/log.h"
#include "graph/lines/nearest_operator.h"
#include "io/dir_walk.h"

namespace msdump::cli {
namespace {

// The list has all operators: they are selected by their names in the graph, and proofs need all inputs and outputs.
SelectionOptions only_places(const SelectionOptions& typed) {
  SelectionOptions places;
  places.rank = typed.rank;
  places.graph = typed.graph;
  places.step = typed.step;
  return places;
}

SelectionOptions only_operators(const SelectionOptions& typed) {
  SelectionOptions operators;
  operators.op = typed.op;
  operators.op_type = typed.op_type;
  operators.regex = typed.regex;
  return operators;
}

SelectionOptions only_tensors(const SelectionOptions& typed) {
  SelectionOptions tensors = typed;
  tensors.op.clear();
  tensors.op_type.clear();
  tensors.regex.clear();
  return tensors;
}

Status open_the_dump(const RunContext& context, const GraphOptions& options, const GraphNeeds& needs,
                     OpenedGraph& opened) {
  const SelectionOptions places = only_places(options.selection);
  MSDUMP_TRY(Catalogue catalogue, open_catalogue(context, {options.dump, places, {needs.headers}}));
  opened.catalogue = std::move(catalogue);
  return {};
}

GraphRequest request_for(const OpenedGraph& opened, const GraphNeeds& needs) {
  GraphRequest request;
  if (!opened.catalogue) {
    request.only_line = needs.only_line;
    return request;
  }
  std::set<int64_t> graphs;
  for (const IndexedFolder& folder : opened.catalogue->index.folders()) {
    if (folder.identity.graph) graphs.insert(*folder.identity.graph);
  }
  request.dumped_graphs.assign(graphs.begin(), graphs.end());
  const bool of_msprobe = std::any_of(opened.search.files.begin(), opened.search.files.end(),
                                      [](const IrFile& file) { return file.kind == OriginKind::kStackJson; });
  if (!of_msprobe) return request;
  for (const TensorRecord& tensor : opened.catalogue->list.tensors()) request.dumped_ops.insert(tensor.name.op_name);
  return request;
}

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

// What was decided that the user may want to know: the IR was found elsewhere, the numbers are a guess, or dump and IR
// do not belong together.
void note_choices(Session& session, const OpenedGraph& opened) {
  if (!opened.joined) return;
  const auto& roots = opened.catalogue->index.paths();
  const auto& origins = opened.graph().origins();
  const auto outside = std::find_if(origins.begin(), origins.end(), [&](const Origin& origin) {
    return std::none_of(roots.begin(), roots.end(),
                        [&](const std::string& root) { return lies_in(origin.path, root); });
  });
  if (outside != origins.end() && opened.search.found_by_itself)
    session.messages.note(fmt::format("the IR is not in the dump: {}", outside->path));
  const Numbering& choice = opened.joined->join.numbering();
  if (choice.confidence < 1) {
    const std::string_view numbers =
        choice.renumbered
            ? "assuming that MindSpore renumbered the operators after it wrote the IR, as 2.7 and later do"
            : "assuming that file names have the operator numbers of the IR";
    session.messages.note(fmt::format("{}: {}", numbers, choice.evidence));
  }
  const bool any_group = std::any_of(opened.joined->join.groups().begin(), opened.joined->join.groups().end(),
                                     [](const TensorGroup& group) { return !group.parameter; });
  if (any_group && opened.joined->join.matched_operators() == 0) {
    session.messages.warning("no operator of the IR has a file in the dump",
                             "they are probably of different compilations; --ir names another IR");
  }
}

}  // namespace

bool has_dump(const GraphOptions& options) {
  const char* const variable = std::getenv("MSDUMP_DUMP");
  const bool named = !options.dump.options.empty() || !options.dump.positionals.empty();
  return named || options.ir.empty() || (variable != nullptr && *variable != '\0');
}

void add_ir_option(CLI::App& app, std::vector<std::string>& paths, const std::string& otherwise) {
  app.add_option("--ir", paths,
                 "IR of the run: a file (text or protobuf), folder or glob; may be repeated; default: " + otherwise)
      ->allow_extra_args(false)  // "--ir G DUMP": the dump is not a second IR
      ->type_name("PATH")
      ->group(kInputGroup);
}

void add_graph_options(CLI::App& app, GraphOptions& options) {
  add_dump_options(app, options.dump, "", DumpPositional::kNo);
  add_ir_option(app, options.ir, "search in and next to the dump. Without -d only the IR is read");
  add_selection_options(app, options.selection);
}

void OpenedGraph::add_failures(std::vector<Error>&& failures) {
  for (Error& failure : failures) {
    if (failed_paths.insert(failure.path).second) loaded->failures.push_back(std::move(failure));
  }
}

bool OpenedGraph::selects(const Origin& origin) const {
  Identity identity;
  identity.rank = origin.rank;
  identity.graph = origin.graph_id;
  identity.step = origin.step;
  return (!origin.rank || ranks.matches_folder(identity)) && (!origin.graph_id || graphs.matches_folder(identity)) &&
         (!origin.step || steps.matches_folder(identity));
}

bool OpenedGraph::selects(OpId op) const {
  if (!selects(graph().origin(op))) return false;
  if (operators.everything()) return true;
  const std::string full = graph().full_name(op);
  Identity identity;
  identity.name.op_name = full;
  identity.name.op_type = graph().op_type(op);
  if (operators.matches_file(identity)) return true;
  if (!joined) return false;
  const auto& groups = joined->join.groups();
  const auto pairs = joined->join.pairs_of(op);
  return std::any_of(pairs.begin(), pairs.end(), [&](const JoinPair& pair) {
    identity.name.op_name = groups[pair.group].op_name;
    return operators.matches_file(identity);
  });
}

bool OpenedGraph::selects(const TensorGroup& group) const {
  Identity identity;
  identity.name.op_name = group.op_name;
  identity.name.op_type = group.op_type;
  return operators.matches_file(identity);
}

bool OpenedGraph::selects(const TensorRecord& tensor) const {
  if (tensors.everything()) return true;
  return tensors.matches_file(identity_of(catalogue->index, tensor)) &&
         (tensor.name.slot.empty() || tensors.matches_tensor(tensor.name.io, tensor.name.slot));
}

Result<OpenedGraph> open_graph(const RunContext& context, const GraphOptions& options, const GraphNeeds& needs) {
  OpenedGraph opened;
  MSDUMP_TRY(opened.operators, Selection::compile(only_operators(options.selection)));
  MSDUMP_TRY(opened.ranks, Selection::compile({.rank = options.selection.rank}));
  MSDUMP_TRY(opened.graphs, Selection::compile({.graph = options.selection.graph}));
  MSDUMP_TRY(opened.steps, Selection::compile({.step = options.selection.step}));
  MSDUMP_TRY(opened.tensors, Selection::compile(only_tensors(options.selection)));
  if (has_dump(options)) MSDUMP_CHECK_OK(open_the_dump(context, options, needs, opened));
  MSDUMP_TRY(opened.search, find_ir(opened.catalogue ? &opened.catalogue->index : nullptr, options.ir));
  for (const IrFile& file : opened.search.files) log_step("reads the IR " + file.path);
  MSDUMP_TRY(*opened.loaded, load_graph(opened.search.files, request_for(opened, needs), context));
  if (opened.catalogue && opened.graph().size() > 0) {
    MSDUMP_TRY(Joined joined,
               join_files(opened.catalogue->index, opened.catalogue->list.tensors(), opened.graph(), context));
    opened.add_failures(std::move(joined.failures));
    opened.joined.emplace(std::move(joined));
  }
  return opened;
}

Status read_other_lines(const RunContext& context, OpenedGraph& opened) {
  MSDUMP_TRY(*opened.loaded, load_graph(opened.search.files, {}, context));
  return {};
}

ExitCode end_without_graph(Session& session, const OpenedGraph& opened) {
  const bool failed = report_graph_failures(session, opened);
  std::string places;
  for (const std::string& place : opened.search.looked_in) places += (places.empty() ? "" : ", ") + place;
  session.messages.error(
      fmt::format("no IR with the lines of operators found; searched {}", places.empty() ? "nothing" : places),
      "name it with --ir; MindSpore writes it next to a synchronous dump, else with the environment variable "
      "MS_DEV_SAVE_GRAPHS=2 (up to 2.2: context.set_context(save_graphs=2)), msprobe with level L1 or mix");
  return failed ? ExitCode::kSomeFailed : ExitCode::kUsage;
}

std::string selection_hint(const OpenedGraph& opened, const SelectionOptions& typed) {
  const auto near = [&](std::string_view option, const std::vector<std::string>& globs, OperatorText text) {
    for (const std::string& glob : globs) {
      const std::string nearest = nearest_operator(opened.graph(), glob, text);
      if (!nearest.empty()) return fmt::format("did you mean {} '{}'?", option, escape_for_terminal(nearest));
    }
    return std::string();
  };
  std::string hint = near("--op-type", typed.op_type, OperatorText::kType);
  if (hint.empty()) hint = near("--op", typed.op, OperatorText::kName);
  if (hint.empty() && opened.catalogue) hint = near_miss(opened.catalogue->index, typed);
  return hint;
}

bool report_graph_failures(Session& session, const OpenedGraph& opened, Choices choices) {
  for (const Error& error : opened.loaded->failures) session.messages.error(error);
  for (const Error& error : opened.loaded->notes)
    session.messages.note(fmt::format("{}: {}", error.path, error.message));
  bool failed = !opened.loaded->failures.empty();
  if (opened.catalogue) {
    report_failures(session, *opened.catalogue);
    failed = failed || !opened.catalogue->list.failures().empty();
  }
  if (choices == Choices::kNoted) note_choices(session, opened);
  return failed;
}

std::vector<report::Object> graph_failure_objects(const OpenedGraph& opened) {
  std::vector<report::Object> objects;
  for (const Error& error : opened.loaded->failures) {
    objects.push_back(opened.catalogue ? relative_failure(opened.catalogue->index, error)
                                       : report::failure_object(error));
  }
  if (opened.catalogue) {
    for (report::Object& object : failure_objects(*opened.catalogue)) objects.push_back(std::move(object));
  }
  return objects;
}

std::string shown_path(const OpenedGraph& opened, const std::string& path) {
  return opened.catalogue ? opened.catalogue->index.relative(path) : path;
}

}  // namespace msdump::cli
