// Operators from IR as tests write it down, and the join of a dump with the IR that find-op would find for it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/join/numbering.h"
#include "graph/load/load_graph.h"
#include "support/statistics_run.h"

namespace msdump::test {

// One IR text, as a file of graphs/ (the id in its name) or of save_graphs.
struct IrSource {
  std::string name;  // "ms_output_trace_code_graph_0.ir"
  std::string text;
};
[[nodiscard]] OpGraph graph_of(const std::vector<IrSource>& sources);

// A kernel graph with these lines between its braces, in the spelling of MindSpore 2.10; each a node of four lines from
// `node_text`.
[[nodiscard]] std::string ir_text(std::string_view body);
// "%1", "Add", "%0, %para1_x", "Default/Add-op0", source lines such as "/home/user/net.py:12, 8~20/y = x + 1".
[[nodiscard]] std::string node_text(std::string_view id, std::string_view op, std::string_view operands,
                                    std::string_view full_name, const std::vector<std::string>& lines = {});

// Operator by full name; fails the test when there is none.
[[nodiscard]] OpId find_operator(const OpGraph& graph, std::string_view full_name);

struct JoinedDump {
  ListedDump dump;
  std::unique_ptr<LoadedGraph> loaded;
  std::unique_ptr<Joined> joined;

  [[nodiscard]] const OpGraph& graph() const { return loaded->graph; }
  [[nodiscard]] const FileJoin& join() const { return joined->join; }
  // Paths of the files of an operator, relative to the dump, sorted.
  [[nodiscard]] std::vector<std::string> files_of(OpId op) const;
};
[[nodiscard]] JoinedDump join_dump(const std::filesystem::path& dump, Headers headers = Headers::kWhereNeeded);

}  // namespace msdump::test
