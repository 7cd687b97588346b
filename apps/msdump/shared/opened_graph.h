// The options that find-op, map-ir, diff and check share, and their messages about the graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/check.h"
#include "frame/subcommand.h"
#include "graph/opened_graph.h"
#include "shared/catalogue.h"
#include "shared/options.h"

namespace msdump::cli {

struct GraphOptions {
  DumpOptions dump;
  std::vector<std::string> ir;
  SelectionOptions selection;
};
// False with --ir and neither -d nor $MSDUMP_DUMP: only the IR is read.
[[nodiscard]] bool has_dump(const GraphOptions& options);
// --ir, one path per use. `otherwise` ends the sentence on what is read without it.
[[nodiscard]] Option ir_option(std::vector<std::string>& paths, const std::string& otherwise);
// -d, --ir and the selection.
[[nodiscard]] std::vector<Option> graph_options(GraphOptions& options);

struct GraphNeeds {
  std::optional<LineQuery> only_line;  // see GraphRequest; without a joined dump no other operators are needed
  Headers headers = Headers::kWhereNeeded;
};
// Errors of single files are in `loaded.failures` and `catalogue`.
Result<OpenedGraph> open_graph(const RunContext& context, const GraphOptions& options, const GraphNeeds& needs);

// No IR: says which places were searched, and how to make MindSpore write one.
[[nodiscard]] ExitCode end_without_graph(Session& session, const OpenedGraph& opened, std::string_view more_hint = {});

// The nearest selection that matches an operator: "did you mean --op 'Conv2D-op3'?"; may be empty.
[[nodiscard]] std::string selection_hint(const OpenedGraph& opened, const SelectionOptions& typed);

// Prints failures of the graph's and the dump's files, and the decisions about graph and numbers; true if anything
// failed.
enum class Choices : uint8_t { kNoted, kSilent };
bool report_graph_failures(Session& session, const OpenedGraph& opened, Choices choices = Choices::kNoted);
[[nodiscard]] std::vector<report::Object> graph_failure_objects(const OpenedGraph& opened);

// The paths of the dump; none if only the IR is read.
[[nodiscard]] std::vector<std::string> dumps_of(const OpenedGraph& opened);

// A path relative to the dump if it is inside; any other unchanged.
[[nodiscard]] std::string shown_path(const OpenedGraph& opened, const std::string& path);

// A dump that is opened for a check.

struct OpenedCheck {
  OpenedGraph opened;
  std::unique_ptr<check::CheckRun> run;

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
  [[nodiscard]] bool has_tensors() const { return !opened.catalogue->list.tensors().empty(); }
};

// `watched`: globs of operators whose outputs were watched. Reads no tensor yet. Must not move: `run` refers to `opened`.
Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const GraphOptions& options, check::RuleSet rules,
                                                std::span<const std::string> watched,
                                                Headers headers = Headers::kWhereNeeded);

}  // namespace msdump::cli
