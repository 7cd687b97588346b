// No stage from files to the joined graph costs the square of its input.
#include <memory>
#include <string>
#include <vector>

#include "graph/flow/dot.h"
#include "graph/flow/gap_ancestors.h"
#include "graph/flow/run_graph.h"
#include "graph/join/file_join.h"
#include "graph/join/numbering.h"
#include "graph/lines/line_search.h"
#include "graph/load/load_graph.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/growth.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::growth;
using test::ir_text;
using test::kNotQuadratic;
using test::node_text;
using test::ScratchDir;

// A chain of n operators, each with source lines.
OpGraph chain(size_t n) {
  std::string body;
  for (size_t i = 0; i < n; ++i) {
    const std::string id = std::to_string(i), input = i == 0 ? "%para1_x" : "%" + std::to_string(i - 1);
    body += node_text("%" + id, "Add", input, "Default/Add-op" + id,
                      {"/u/net.py:" + std::to_string(i % 100 + 1) + ", 1~2/x = x + 1", "/u/main.py:7, 1~2/net(x)"});
  }
  return test::graph_of({{"graphs/ms_output_trace_code_graph_0.ir", ir_text(body)}});
}

test::ListedDump table_of(const ScratchDir& scratch, const std::vector<std::string>& names) {
  std::string text = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  for (const std::string& name : names) text += "Add," + name + ",0,0,1700000000000001,output,0,8,float32,\"(2)\",1\n";
  scratch.write("rank_0/Net/0/0/statistic.csv", text);
  return test::list_dump({scratch.path()}, Headers::kWhereNeeded);
}

struct Case {
  ScratchDir scratch;
  test::ListedDump listed;
  OpGraph ops;

  Case(const std::vector<std::string>& names, OpGraph graph)
      : listed(table_of(scratch, names)), ops(std::move(graph)) {}
  [[nodiscard]] FileJoin join() const {
    return FileJoin(std::make_shared<const TensorGroups>(listed.index, listed.tensors(), ops), ops, {});
  }
};

TEST_CASE("a stack that all operators of a stack.json share is made once") {
  const auto shared_stack = [](size_t n) {
    std::string names, frames;
    for (size_t i = 0; i < n; ++i) {
      const std::string id = std::to_string(i), comma = i == 0 ? "" : ",";
      names += comma + "\"Functional.add." + id + ".forward\"";
      frames += comma + "\"File /u/net.py, line " + std::to_string(i + 1) + R"(, in construct, \n x = x + 1")";
    }
    const ScratchDir scratch;
    const auto file = File::open(scratch.write("stack.json", "{\"0\": [[" + names + "], [" + frames + "]]}"));
    REQUIRE(file);
    auto stacks = read_stack_json(*file);
    REQUIRE(stacks);
    return std::make_shared<StackJson>(std::move(*stacks));
  };
  const auto run = [](const std::shared_ptr<StackJson>& stacks) {
    const auto graph = graph_of_stacks(*stacks, {});
    REQUIRE(graph);
    CHECK(graph->stack(graph->nodes.back()).size() == stacks->frames.size());
  };
  CHECK(growth(500, shared_stack, run) < kNotQuadratic);
}

// Operator i reads the two before it: each depends on all.
OpGraph ladder(size_t n) {
  std::string body;
  for (size_t i = 0; i < n; ++i) {
    const std::string id = std::to_string(i);
    const std::string input = i < 2 ? "%para1_x" : "%" + std::to_string(i - 1) + ", %" + std::to_string(i - 2);
    body += node_text("%" + id, "Add", input, "Default/Add-op" + id);
  }
  return test::graph_of({{"graphs/ms_output_trace_code_graph_0.ir", ir_text(body)}});
}

TEST_CASE("operators that were dumped before a gap are found once for all that read it") {
  const auto run = [](const OpGraph& graph) {
    std::vector<bool> dumped(graph.size());
    for (size_t op = 0; op < graph.size() / 2; ++op) dumped[op] = op % 2 == 0;
    GapAncestors ancestors(graph, std::move(dumped));
    size_t found = 0;
    for (OpId op{0}; op < graph.size(); ++op) found += ancestors.of(op).size();
    CHECK(found > graph.size());
  };
  CHECK(growth(1000, ladder, run) < kNotQuadratic);
}

TEST_CASE("of many operators before a gap the last ones are kept") {
  std::string body, inputs;
  for (size_t i = 0; i < 40; ++i) {
    body += node_text("%" + std::to_string(i), "Neg", "%para1_x", "Default/Neg-op" + std::to_string(i));
    inputs += (i == 0 ? "%" : ", %") + std::to_string(i);
  }
  body += node_text("%40", "AddN", inputs, "Default/AddN-op40");
  const OpGraph graph = test::graph_of({{"graphs/ms_output_trace_code_graph_0.ir", ir_text(body)}});
  std::vector<bool> dumped(graph.size(), true);
  const OpId sum = test::find_operator(graph, "Default/AddN-op40");
  dumped[sum] = false;
  GapAncestors ancestors(graph, std::move(dumped));
  const auto found = ancestors.of(sum);
  REQUIRE(found.size() == kMostAncestors);
  CHECK(graph.full_name(found.back()) == "Default/Neg-op39");
  CHECK(graph.full_name(found.front()) == "Default/Neg-op8");
}

TEST_CASE("a file's name of many numbers is not compared from each beginning to each end") {
  const auto make = [](size_t n) {
    std::string name = "Default_x";
    for (size_t i = 0; i < n; ++i) name += "-op1x";
    // An operator with as long a name: a part that is longer than all names would not be compared.
    return std::make_shared<Case>(
        std::vector{name}, test::graph_of({{"any.ir", ir_text(node_text("%0", "Add", "%para1_x", name + "y"))}}));
  };
  const auto run = [](const auto& made) { CHECK(made->join().matched_operators() == 0); };
  CHECK(growth(2000, make, run) < kNotQuadratic);
}

TEST_CASE("joining, renumbering, line search and dot cost what the graph is long") {
  const auto make = [](size_t n) {
    std::vector<std::string> names;
    for (size_t i = 0; i < n; ++i) names.push_back("Default_Add-op" + std::to_string(i));
    return std::make_shared<Case>(names, chain(n));
  };
  const auto joined = [](const auto& made) { CHECK(made->join().matched_operators() > 0); };
  CHECK(growth(300, make, joined) < kNotQuadratic);
  const auto numbered = [](const auto& made) { CHECK(renumbered(made->ops).size() == made->ops.size()); };
  CHECK(growth(300, make, numbered) < kNotQuadratic);
  const auto found = [](const auto& made) { CHECK(!find_line(made->ops, {"net.py", 3, 3}).empty()); };
  CHECK(growth(300, make, found) < kNotQuadratic);
  const auto drawn = [](const auto& made) {
    CHECK(!dot_text(made->ops, {}, 1, [](OpId) { return std::string("x"); }).empty());
  };
  CHECK(growth(300, make, drawn) < kNotQuadratic);
}

}  // namespace
}  // namespace msdump
