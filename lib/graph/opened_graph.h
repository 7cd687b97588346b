// The graph of a dump, joined to its files, and the selection: the starting point of find-op, map-ir, diff and check.
// Without a dump only the graph is there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/catalogue.h"
#include "graph/join/numbering.h"
#include "graph/lines/line_search.h"
#include "graph/load/load_graph.h"

namespace msdump {

struct OpenedGraph {
  // Sets only the selection; set `catalogue` and `search` next, then call read().
  static Result<OpenedGraph> select(const SelectionOptions& asked);
  // `only_line`: see GraphRequest. Other operators are not needed if no dump is joined.
  Status read(const std::optional<LineQuery>& only_line, const RunContext& context);
  // Reads the operators that `only_line` left out.
  Status read_other_lines(const RunContext& context);
  // The lines of operators, made when they are first asked for. Needs a whole graph.
  const OperatorLines& operator_lines();
  // Compares the inputs of each operator with the outputs of their producers. Needs `joined`.
  std::vector<ProofTally> prove(const RunContext& context);

  Selection operators;                 // --op, --op-type, --regex
  Selection ranks, graphs, steps;      // --rank, --graph, --step, each on its own
  Selection tensors;                   // --rank, --graph, --step, --io and --slot; not --op, --op-type, --regex
  std::optional<Catalogue> catalogue;  // none: only the IR is read
  IrSearch search;
  std::unique_ptr<LoadedGraph> loaded = std::make_unique<LoadedGraph>();  // at a stable address: the join refers to it
  std::optional<Joined> joined;
  bool is_whole = true;                // false: only the operators of one line were read
  std::optional<OperatorLines> lines;  // see operator_lines(); owns frames that hits and rows point to
  std::set<std::string> failed_paths;  // the files that add_failures() added

  [[nodiscard]] const OpGraph& graph() const { return loaded->graph; }
  // Failures of single files that occurred after read(); each file once.
  void add_failures(std::vector<Error>&& failures);
  // Selects by rank, graph and step. An IR without a rank belongs to every rank.
  [[nodiscard]] bool selects(const Origin& origin) const;
  // Selects by name as well, in the graph or in the files.
  [[nodiscard]] bool selects(OpId op) const;
  [[nodiscard]] bool selects(const TensorGroup& group) const;
  [[nodiscard]] bool selects(const TensorRecord& tensor) const;
};

// The selected tensors of an operator, best pair first, each once. Headers are read, so that dtype and shape are known.
struct OperatorFiles {
  std::vector<TensorRecord> tensors;
  std::vector<Shape> shapes;    // that the tensors point to
  std::vector<Error> failures;  // of headers that cannot be read
  double confidence = 1;        // of the best pair
  JoinRule rule = JoinRule::kUnmatched;
};
enum class Detail : uint8_t { kPaths, kHeaders };
[[nodiscard]] OperatorFiles files_of(const OpenedGraph& opened, OpId op, Detail detail);
[[nodiscard]] OperatorFiles files_of_groups(const OpenedGraph& opened, const std::vector<uint32_t>& groups,
                                            Detail detail);
// Calls take(i, files) with the files of each ops[i], in order, until it returns false. Headers are read on all
// workers. Memory does not grow with the number of operators: the files of only a few wait at a time.
void for_each_operator_files(OpenedGraph& opened, const std::vector<OpId>& ops, Detail detail,
                             const RunContext& context, const std::function<bool(size_t, const OperatorFiles&)>& take);

// A question for operators by lines of a script, by the text of lines, or by name, as typed; `queries` are the lines,
// parsed.
struct OperatorQuestion {
  std::vector<std::string> lines, codes, names;
  std::vector<LineQuery> queries;

  [[nodiscard]] bool by_line() const { return !queries.empty() || !codes.empty(); }
};

// Best relation first, each operator once. Names narrow what the lines find; a name also means the operator of GE that
// its operator was fused into. Without lines and names every operator with a kernel is meant.
[[nodiscard]] std::vector<LineHit> find_operators(OpenedGraph& opened, const OperatorQuestion& question);

// Counts of the selected operators and files with and without a partner.
struct JoinCounts {
  uint64_t matched_operators = 0, unmatched_operators = 0, matched_files = 0, unmatched_files = 0;
  std::vector<uint32_t> unmatched_groups;

  [[nodiscard]] bool complete() const { return unmatched_operators + unmatched_files == 0; }
  // True if neither an operator nor a file is selected.
  [[nodiscard]] bool nothing_selected() const { return complete() && matched_operators + matched_files == 0; }
};
// All 0 if there is no dump.
[[nodiscard]] JoinCounts count_joined(const OpenedGraph& opened);

}  // namespace msdump
