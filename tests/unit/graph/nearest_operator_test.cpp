#include "graph/lines/source_lines.h"

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

TEST_CASE("a misspelt operator is the nearest name or type of the graph") {
  const OpGraph graph = test::graph_of(
      {{"graph_build_0_0001.ir", test::ir_text(test::node_text("%0", "Softmax", "%para1_x", "Default/net/Softmax-op7") +
                                               test::node_text("%1", "MakeTuple", "%0", "Default/MakeTuple-op1"))}});
  CHECK(nearest_operator(graph, "Softmx", OperatorText::kType) == "Softmax");
  CHECK(nearest_operator(graph, "Softmax", OperatorText::kType).empty());
  CHECK(nearest_operator(graph, "MakeTupl", OperatorText::kType).empty());
  CHECK(nearest_operator(graph, "Softmax-op9", OperatorText::kName) == "Softmax-op7");
  CHECK(nearest_operator(graph, "Default/nett/Softmx-op7", OperatorText::kName) == "Softmax-op7");
  CHECK(nearest_operator(graph, "Softmax-op7", OperatorText::kName) == "*Softmax-op7");
  CHECK(nearest_operator(graph, "*Softmx*", OperatorText::kName).empty());
  CHECK(nearest_operator(graph, "Conv2D-op1", OperatorText::kName).empty());
}

}  // namespace
}  // namespace msdump
