// Operators that transfer values between ranks: a wrong output of theirs may come from another rank.
// Known by their type: MindSpore's (AllReduce, ReduceScatter, NeighborExchange, InnerCommAllGather, DistCommIrecv) and
// those of torch.distributed (all_reduce, isend). Not those that only share a word with them (BroadcastTo).
// Source: the operator lists of MindSpore's mindspore.ops and mint.distributed, and of torch.distributed.
//
// Which ranks take part is an attribute: rank_list (0, 1), group_ranks 0-1, or only the name of the group.
// Source: reference/ir.md 1.8; corpus/ir, corpus/real/2.10.0-distributed-2ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump {

[[nodiscard]] bool is_communication(std::string_view op_type);

// What an IR has to keep for group_of(): the most telling first.
inline constexpr std::array<std::string_view, 4> kGroupAttributes = {"rank_list", "group_rank_ids", "group_ranks",
                                                                     "group"};
// What else it has to keep of them: the reduction, the partners of Send, Receive and Broadcast, the dimensions of AllToAll,
// the number of ranks of AllGather and ReduceScatter.
inline constexpr std::array<std::string_view, 9> kTransferAttributes = {
    "op", "root_rank", "dest_rank", "src_rank", "sr_tag", "split_count", "split_dim", "concat_dim", "rank_size"};

// The group of an operator by its attributes as an IR keeps them (ir/text/attributes.h): its ranks, "0 1", or its name,
// after "group " where it looks like ranks; the same text on all of its ranks. Empty: not known, or `rank` is not among the
// ranks, as those are of another rank's operator.
[[nodiscard]] std::string group_of(std::string_view attributes, std::optional<int64_t> rank);
// The ranks of such a text, or of "(0, 1)", "[0,1]", "0-1"; empty for a name.
[[nodiscard]] std::vector<int64_t> ranks_of_group(std::string_view group);
// The same as group_of() of a list of ranks.
[[nodiscard]] std::string group_of_ranks(std::string_view list, std::optional<int64_t> rank);

}  // namespace msdump
