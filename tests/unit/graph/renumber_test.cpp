#include "graph/join/numbering.h"

#include <string>
#include <utility>
#include <vector>

#include "io/file.h"
#include "ir/text/ir_text.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::find_operator;
using test::graph_of;
using test::ir_text;
using test::node_text;

uint32_t new_number(const OpGraph& graph, const std::vector<uint32_t>& numbers, OpId op) {
  return numbers[graph.id(graph.origin_index(op), op - graph.origin(op).first_operator)];
}

TEST_CASE("operators get new numbers in the order of the IR, one counter for each scope and type") {
  const OpGraph graph = graph_of(
      {{"ms_output_trace_code_graph_0.ir", ir_text(node_text("%0", "Sub", "%para1_x, %para2_w", "Default/Sub-op2") +
                                                   node_text("%1", "Add", "%0, %para1_x", "Default/Add-op1") +
                                                   node_text("%2", "Sub", "%1, %para1_x", "Default/Sub-op0") +
                                                   node_text("%3", "Sub", "%2, %para1_x", "Default/inner/Sub-op7"))}});
  const auto numbers = renumbered(graph);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Sub-op2")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Sub-op0")) == 1);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op1")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/inner/Sub-op7")) == 0);
}

TEST_CASE("counters go on from graph to graph in ascending id, and virtual nodes count") {
  const OpGraph graph =
      graph_of({{"ms_output_trace_code_graph_10.ir", ir_text(node_text("%0", "Load", "%para2_w", "Default/Load-op0"))},
                {"ms_output_trace_code_graph_2.ir", ir_text(node_text("%0", "Load", "%para2_w", "Default/Load-op5"))}});
  const auto numbers = renumbered(graph);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Load-op5")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Load-op0")) == 1);
}

TEST_CASE("ranks are processes of their own") {
  const OpGraph graph = graph_of({{"rank_0/graphs/ms_output_trace_code_graph_0.ir",
                                   ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op3"))},
                                  {"rank_1/graphs/ms_output_trace_code_graph_0.ir",
                                   ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op4"))}});
  const auto numbers = renumbered(graph);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op3")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op4")) == 0);
}

TEST_CASE("two dumps of one rank are processes of their own") {
  const OpGraph graph = graph_of({{"one/rank_0/graphs/ms_output_trace_code_graph_0.ir",
                                   ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op3"))},
                                  {"two/rank_0/graphs/ms_output_trace_code_graph_0.ir",
                                   ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op4"))}});
  const auto numbers = renumbered(graph);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op3")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op4")) == 0);
}

TEST_CASE("graphs that feed one folder are numbered in the order of their own ids") {
  const test::ScratchDir scratch;
  std::vector<Origin> origins;
  for (const int64_t number : {10, 2}) {
    Origin origin;
    origin.path = scratch.write("ms_output_trace_code_graph_" + std::to_string(number) + ".ir",
                                ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op" + std::to_string(number))));
    origin.place = OriginPlace::kDump;
    origin.graph_id = 0;
    origin.number = number;
    auto ir = read_ir_text(*File::open(origin.path));
    REQUIRE(ir);
    origin.graph = std::move(*ir);
    origins.push_back(std::move(origin));
  }
  const OpGraph graph(std::move(origins));
  const auto numbers = renumbered(graph);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op2")) == 0);
  CHECK(new_number(graph, numbers, find_operator(graph, "Default/Add-op10")) == 1);
}

TEST_CASE("what save_graphs wrote last has the final numbers already") {
  const OpGraph graph =
      graph_of({{"graph_build_0_0012.ir", ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op3"))}});
  CHECK(new_number(graph, renumbered(graph), OpId(0)) == kNoIndex);
}

}  // namespace
}  // namespace msdump
