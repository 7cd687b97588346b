#include "graph/flow/communication.h"

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("operators that hand values to other ranks are known by their type, of every framework") {
  for (const char* const type : {"AllReduce", "AllGather", "ReduceScatter", "AlltoAllV", "NeighborExchangeV2",
                                 "Broadcast", "Send", "Receive", "Barrier", "CollectiveScatter", "InnerCommIrecv",
                                 "DistCommBatchIsendIrecv", "all_reduce", "all_gather_into_tensor", "isend", "recv"}) {
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

}  // namespace
}  // namespace msdump
