#include "graph/flow/in_place.h"

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {

TEST_CASE("the table knows which inputs the common optimizers write into") {
  for (const uint32_t slot : {0U, 1U, 2U}) CHECK(is_known_to_update("Adam", slot));
  CHECK_FALSE(is_known_to_update("Adam", 3));
  CHECK(is_known_to_update("SGD", 0));
  CHECK_FALSE(is_known_to_update("SGD", 1));
  CHECK(is_known_to_update("SGD", 3));
  CHECK(is_known_to_update("SGD", 5));
  CHECK(is_known_to_update("BatchNorm", 3));
  CHECK_FALSE(is_known_to_update("BatchNorm", 0));
  CHECK(is_known_to_update("AssignAdd", 0));
  CHECK_FALSE(is_known_to_update("AssignAdd", 1));
  CHECK_FALSE(is_known_to_update("Add", 0));
  CHECK_FALSE(is_known_to_update("adam", 0));
  CHECK_FALSE(is_known_to_update("Assign", UINT32_MAX));
}

TEST_CASE("the IR marks what is written in place, whatever the type is") {
  const OpGraph graph = test::graph_of(
      {{"graph_build_0_0001.ir",
        test::ir_text("  %0(CNode_0) = NewOptimizer(%para2_w, %para1_x)\n"
                      "      : (<Ref[Tensor[Float32]], (2, 2), ref_key=w, is_inplace>, <Tensor[Float32], (2, 2)>) -> "
                      "(<Tensor[Float32], (2, 2)>)\n"
                      "      # Fullname with scope: (Default/NewOptimizer-op0)\n" +
                      test::node_text("%1", "Add", "%para1_x, %0", "Default/Add-op0"))}});
  const OpId marked = test::find_operator(graph, "Default/NewOptimizer-op0");
  CHECK(updates_input(graph, marked, 0));
  CHECK_FALSE(updates_input(graph, marked, 1));
  CHECK_FALSE(updates_input(graph, marked, 7));
  CHECK_FALSE(updates_input(graph, test::find_operator(graph, "Default/Add-op0"), 0));
}

}  // namespace msdump
