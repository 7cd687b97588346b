// The graph of the operators of a dump, the dump if there is one, the join of the two, and what is selected: the
// starting point of find-op, map-ir, diff and check.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/catalogue.h"
#include "graph/join/numbering.h"
#include "graph/join/proof.h"
#include "graph/load/load_graph.h"

namespace msdump {

struct OpenedGraph {
  // Sets only the selection; set `catalogue` and `search` next, then call read().
  static Result<OpenedGraph> select(const SelectionOptions& asked);
  // `only_line`: see GraphRequest. Other operators are not needed if no dump is joined.
  Status read(const std::optional<LineQuery>& only_line, const RunContext& context);
  // Reads the operators that `only_line` left out.
  Status read_other_lines(const RunContext& context);
  // By operator: compares its inputs with the outputs of their producers. Needs `joined`.
  std::vector<ProofTally> prove(const RunContext& context);

  Selection operators;                 // --op, --op-type, --regex
  Selection ranks, graphs, steps;      // --rank, --graph, --step, each on its own
  Selection tensors;                   // --rank, --graph, --step, --io and --slot; not --op, --op-type, --regex
  std::optional<Catalogue> catalogue;  // none: only the IR is read
  IrSearch search;
  std::unique_ptr<LoadedGraph> loaded = std::make_unique<LoadedGraph>();  // at a stable address: the join refers to it
  std::optional<Joined> joined;
  std::set<std::string> failed_paths;  // the files that add_failures() added

  [[nodiscard]] const OpGraph& graph() const { return loaded->graph; }
  // Failures of single files that occurred after read(); each file once.
  void add_failures(std::vector<Error>&& failures);
  // By rank, graph and step. An IR without a rank belongs to every rank.
  [[nodiscard]] bool selects(const Origin& origin) const;
  // By its name, too, in the graph or in the files.
  [[nodiscard]] bool selects(OpId op) const;
  [[nodiscard]] bool selects(const TensorGroup& group) const;
  [[nodiscard]] bool selects(const TensorRecord& tensor) const;
};

}  // namespace msdump
