#include "graph/flow/communication.h"

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("operators that hand values to other ranks are known by their type, of every framework") {
  for (const char* const type :
       {"AllReduce", "AllGather", "ReduceScatter", "AlltoAllV", "NeighborExchangeV2", "Broadcast", "Send", "Receive",
        "Barrier", "CollectiveScatter", "InnerCommIrecv", "DistCommBatchIsendIrecv", "batch_isend_irecv", "all_reduce",
        "all_gather_into_tensor", "isend", "recv"}) {
    INFO(type);
    CHECK(is_communication(type));
  }
}

TEST_CASE("operators that only sound like communication are none") {
  for (const char* const type : {"BroadcastTo", "broadcast_to", "BroadcastGradientArgs", "broadcast_tensors",
                                 "ReduceSum", "Gather", "ScatterNd", "MatMul", ""}) {
    INFO(type);
    CHECK_FALSE(is_communication(type));
  }
}

TEST_CASE("the group of a collective operation is its ranks, or its name") {
  CHECK(group_of("{group: 4-630, rank_list: (0, 1), group_ranks: 0-1}", 1) == "0 1");
  CHECK(group_of("{group: 4-630, group_ranks: 2-3}", 2) == "2 3");
  CHECK(group_of("{group: \"tp\"}", 1) == "tp");
  CHECK(group_of("{group: 4-6301172352641561019}", 1) == "group 4-6301172352641561019");
  CHECK(ranks_of_group(group_of("{group: 4-6301172352641561019}", 1)).empty());
  CHECK(group_of("{rank_list: (0, x), group: \"tp\"}", 1) == "tp");
  CHECK(group_of("{group: 4-630, rank_list: (0, 1)}", 2).empty());  // of another rank's operator
  CHECK(group_of("{group: 4-630, rank_list: (0, 1)}", std::nullopt) == "0 1");
  CHECK(group_of("", 0).empty());
  CHECK(group_of_ranks("[4,5]", 5) == "4 5");
  CHECK(group_of_ranks("[4,5]", 0).empty());
  CHECK(group_of_ranks("[]", std::nullopt).empty());
}

}  // namespace
}  // namespace msdump
