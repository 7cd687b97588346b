// The dump, if there is any, the graph of its operators, and the join of the two: how find-op, map-ir, diff and check
// begin.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frame/subcommand.h"
#include "graph/join/numbering.h"
#include "graph/load/load_graph.h"
#include "shared/catalogue.h"
#include "shared/options.h"

namespace CLI {
class App;
}

namespace msdump::cli {

struct GraphOptions {
  DumpOptions dump;
  std::vector<std::string> ir;
  SelectionOptions selection;
};
// False with --ir and neither -d nor $MSDUMP_DUMP: only the IR is read.
[[nodiscard]] bool has_dump(const GraphOptions& options);
// --ir, one path each time it is given. `otherwise` ends the sentence on what is read without it.
void add_ir_option(CLI::App& app, std::vector<std::string>& paths, const std::string& otherwise);
// -d, --ir and the selection.
void add_graph_options(CLI::App& app, GraphOptions& options);

struct OpenedGraph {
  Selection operators;                 // --op, --op-type, --regex
  Selection ranks, graphs, steps;      // --rank, --graph, --step, each on its own
  Selection tensors;                   // all of them, and --io and --slot, but for the operators'
  std::optional<Catalogue> catalogue;  // none: only the IR is read
  IrSearch search;
  std::unique_ptr<LoadedGraph> loaded = std::make_unique<LoadedGraph>();  // stays where it is: the join refers to it
  std::optional<Joined> joined;
  std::set<std::string> failed_paths;  // of add_failures()

  [[nodiscard]] const OpGraph& graph() const { return loaded->graph; }
  // Failures of single files that came up later; each file once.
  void add_failures(std::vector<Error>&& failures);
  // By rank, graph and step. An IR without a rank belongs to every rank.
  [[nodiscard]] bool selects(const Origin& origin) const;
  // Also by its name, in the graph or in the files.
  [[nodiscard]] bool selects(OpId op) const;
  [[nodiscard]] bool selects(const TensorGroup& group) const;
  [[nodiscard]] bool selects(const TensorRecord& tensor) const;
};

struct GraphNeeds {
  std::optional<LineQuery> only_line;  // GraphRequest: where no dump is joined no other operators are needed
  Headers headers = Headers::kWhereNeeded;
};
// Errors of single files are in `loaded.failures` and `catalogue`.
Result<OpenedGraph> open_graph(const RunContext& context, const GraphOptions& options, const GraphNeeds& needs);

// Reads the operators that `only_line` left out.
Status read_other_lines(const RunContext& context, OpenedGraph& opened);

// No IR: says which places were searched, and how to make MindSpore write one.
[[nodiscard]] ExitCode end_without_graph(Session& session, const OpenedGraph& opened);

// What a selection that no operator fits was probably meant to be: "did you mean --op 'Conv2D-op3'?"; may be empty.
[[nodiscard]] std::string selection_hint(const OpenedGraph& opened, const SelectionOptions& typed);

// Prints failures of the graph's and the dump's files, and what was decided about the graph and the numbers; true if
// anything failed.
enum class Choices : uint8_t { kNoted, kSilent };
bool report_graph_failures(Session& session, const OpenedGraph& opened, Choices choices = Choices::kNoted);
[[nodiscard]] std::vector<report::Object> graph_failure_objects(const OpenedGraph& opened);

// A path inside the dump relative to it; any other as it is.
[[nodiscard]] std::string shown_path(const OpenedGraph& opened, const std::string& path);

}  // namespace msdump::cli
