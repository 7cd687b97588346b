// Operators that transfer values between ranks: a wrong output of theirs may come from another rank.
// Known by their type: MindSpore's (AllReduce, ReduceScatter, NeighborExchange, InnerCommAllGather, DistCommIrecv) and
// those of torch.distributed (all_reduce, isend). Not those that only share a word with them (BroadcastTo).
// Source: the operator lists of MindSpore's mindspore.ops and mint.distributed, and of torch.distributed.
#pragma once

#include <string_view>

namespace msdump {

[[nodiscard]] bool is_communication(std::string_view op_type);

}  // namespace msdump
