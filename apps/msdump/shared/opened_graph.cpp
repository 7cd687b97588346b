#include "shared/opened_graph.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/catalogue.h"
#include "frame/messages.h"
#include "graph/lines/source_lines.h"

namespace msdump::cli {
namespace {

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

// Reports decisions that matter to the user: the IR was found elsewhere, the numbers are a guess, or dump and IR do not
// belong together.
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
                             "they are probably from different compilations; --ir names another IR");
  }
}

}  // namespace

bool has_dump(const GraphOptions& options) {
  const char* const variable = std::getenv("MSDUMP_DUMP");
  const bool named = !options.dump.options.empty() || !options.dump.positionals.empty();
  return named || options.ir.empty() || (variable != nullptr && *variable != '\0');
}

Option ir_option(std::vector<std::string>& paths, const std::string& otherwise) {
  return {.names = "--ir",
          .value = OptionValue::texts(paths, "PATH"),
          .group = kInputGroup,
          .help =
              "IR of the run, or its graph of GE: a file (text, protobuf, ge_proto, ge_onnx, JSON of atc), folder "
              "or glob; may be repeated; default: " +
              otherwise};
}

std::vector<Option> graph_options(GraphOptions& options) {
  std::vector<Option> rows = dump_options(options.dump, "", DumpPositional::kNo);
  rows.push_back(ir_option(options.ir, "search in and next to the dump. Without -d only the IR is read"));
  rows.back().is_common = true;
  for (Option& option : selection_options(options.selection)) rows.push_back(std::move(option));
  return rows;
}

Result<OpenedGraph> open_graph(const RunContext& context, const GraphOptions& options, const GraphNeeds& needs) {
  MSDUMP_TRY(OpenedGraph opened, OpenedGraph::select(options.selection));
  if (has_dump(options)) {
    // The list keeps all operators: they are selected by their names in the graph, and proofs need all inputs and
    // outputs.
    const SelectionOptions& asked = options.selection;
    const SelectionOptions places{.rank = asked.rank, .graph = asked.graph, .step = asked.step};
    MSDUMP_TRY(opened.catalogue, open_catalogue(context, {options.dump, places, {needs.headers}}));
  }
  MSDUMP_TRY(opened.search, find_ir(opened.catalogue ? &opened.catalogue->index : nullptr, options.ir));
  for (const IrFile& file : opened.search.files) log_step("reads the IR " + file.path);
  MSDUMP_CHECK_OK(opened.read(needs.only_line, context));
  return opened;
}

ExitCode end_without_graph(Session& session, const OpenedGraph& opened, std::string_view more_hint) {
  const bool failed = report_graph_failures(session, opened);
  std::string places;
  for (const std::string& place : opened.search.looked_in) places += (places.empty() ? "" : ", ") + place;
  session.messages.error(
      ErrorCode::kNotFound,
      fmt::format("no IR with the lines of operators found; searched {}", places.empty() ? "nothing" : places),
      fmt::format(
          "name it with --ir{}; MindSpore writes it next to a synchronous dump, else with the environment variable "
          "MS_DEV_SAVE_GRAPHS=2 (up to 2.2: context.set_context(save_graphs=2)), msprobe with level L1 or mix",
          more_hint));
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

std::vector<std::string> dumps_of(const OpenedGraph& opened) {
  return opened.catalogue ? opened.catalogue->index.paths() : std::vector<std::string>();
}

std::string shown_path(const OpenedGraph& opened, const std::string& path) {
  return opened.catalogue ? opened.catalogue->index.relative(path) : path;
}

namespace {

// Names the current folder as the dump: open_graph() would read none if --ir is given alone.
GraphOptions with_dump(GraphOptions options) {
  if (!has_dump(options)) options.dump.options = {"."};
  return options;
}

// The lines and edges of another network's IR would be wrong for all.
void use_graph(Session& session, const OpenedGraph& opened, std::span<const std::string> watched, DumpWithGraph& dump) {
  if (!opened.joined || opened.joined->join.matched_operators() == 0) return;
  const FileJoin& join = opened.joined->join;
  const check::Watched outputs{watched_outputs(*dump.index, *dump.tensors, watched)};
  const std::vector<bool> snapshots = outputs.snapshots(dump.tensors->size());  // no operator has such a name
  const ExplainedGroups groups = join.explained(
      [&](const TensorGroup& group) { return opened.selects(group) && !snapshots[join.tensors_of(group).front()]; });
  if (!groups.mostly()) {
    session.messages.warning(
        fmt::format("the IR has {} of the {}; it is not used", groups.explained, plural(groups.all, "dumped operator")),
        "it belongs to another network or another version of the script; --ir names the right one");
    return;
  }
  dump.graph = &opened.graph();
  dump.join = &opened.joined->join;
}

}  // namespace

Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const GraphOptions& options, check::RuleSet rules,
                                                std::span<const std::string> watched, Headers headers) {
  auto check = std::make_unique<OpenedCheck>();
  MSDUMP_TRY(check->opened, open_graph(session.context, with_dump(options), {{}, headers}));
  const OpenedGraph& opened = check->opened;
  const bool no_ir = opened.graph().size() == 0 && opened.loaded->failures.empty();
  if (!options.ir.empty() && no_ir)
    return fail(make_error(ErrorCode::kUsage, "--ir: no IR in {}", fmt::join(options.ir, ", ")));
  DumpWithGraph dump{&opened.catalogue->index, &opened.catalogue->list.tensors()};
  dump.arguments = &opened.catalogue->list.arguments();
  dump.overflows = &opened.catalogue->list.overflows();
  use_graph(session, opened, watched, dump);
  check->run = std::make_unique<check::CheckRun>(dump, std::move(rules), watched);
  check->run->choose([&](const TensorRecord& record, const Identity& identity) {
    return opened.selects(record) && (opened.operators.everything() || opened.operators.matches_file(identity));
  });
  for (const Error& error : opened.loaded->failures) check->run->listing_failures.push_back(&error);
  for (const Error& error : opened.catalogue->list.failures()) check->run->listing_failures.push_back(&error);
  return check;
}

}  // namespace msdump::cli
