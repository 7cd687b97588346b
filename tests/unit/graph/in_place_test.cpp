#include "graph/flow/data_flow.h"

#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {

TEST_CASE("the table knows which inputs the common optimizers write into") {
  using Slots = std::vector<uint32_t>;
  const auto slots_of = [](std::string_view type) {
    Slots slots;
    for (uint32_t slot = 0; slot < 10; ++slot) {
      if (is_known_to_update(type, slot)) slots.push_back(slot);
    }
    CHECK_FALSE(is_known_to_update(type, UINT32_MAX));
    return slots;
  };
  for (const char* const type :
       {"Adam", "AdamW", "AdamWeightDecay", "FusedAdam", "FusedAdamWeightDecay", "ApplyRMSProp", "ApplyFtrl"}) {
    INFO(type);
    CHECK(slots_of(type) == Slots{0, 1, 2});
  }
  for (const char* const type : {"Momentum", "ApplyMomentum", "ApplyAdagrad"}) {
    INFO(type);
    CHECK(slots_of(type) == Slots{0, 1});
  }
  for (const char* const type :
       {"Assign", "AssignAdd", "AssignSub", "ApplyGradientDescent", "ScatterUpdate", "ScatterAdd", "ScatterNdUpdate"}) {
    INFO(type);
    CHECK(slots_of(type) == Slots{0});
  }
  CHECK(slots_of("FusedScaleApplyMomentum") == Slots{1, 2});
  CHECK(slots_of("SGD") == Slots{0, 3, 5});
  CHECK(slots_of("BatchNorm") == Slots{3, 4});
  CHECK(slots_of("Add").empty());
  CHECK(slots_of("adam").empty());
  CHECK(is_known_to_update("SGD"));
  CHECK_FALSE(is_known_to_update("Add"));
}

TEST_CASE("kernels use all their inputs but the reserve of BatchNormGrad") {
  CHECK(ignores_input("BatchNormGrad", 5));
  CHECK_FALSE(ignores_input("BatchNormGrad", 4));
  CHECK_FALSE(ignores_input("BatchNorm", 5));
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
