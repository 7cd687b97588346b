// The operators that a question means: by lines of a script, by the text of lines, or by name.
#pragma once

#include <string>
#include <vector>

#include "graph/lines/line_search.h"
#include "graph/opened_graph.h"

namespace msdump {

// The question as typed; `queries` are its lines, parsed.
struct OperatorQuestion {
  std::vector<std::string> lines, codes, names;
  std::vector<LineQuery> queries;

  [[nodiscard]] bool by_line() const { return !queries.empty() || !codes.empty(); }
};

// Best relation first, each operator once. Names narrow what the lines find; a name also means the operator of GE that
// its operator was fused into. Without lines and names every operator with a kernel is meant.
[[nodiscard]] std::vector<LineHit> find_operators(const OpenedGraph& opened, const OperatorQuestion& question);

}  // namespace msdump
