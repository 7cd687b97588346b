// Operators that transfer values between ranks: a wrong output of theirs may come from another rank.
// Known by their type: MindSpore's (AllReduce, ReduceScatter, NeighborExchange, InnerCommAllGather, DistCommIrecv) and
// those of torch.distributed (all_reduce, isend). Not those that only share a word with them (BroadcastTo).
// Source: the operator lists of MindSpore's mindspore.ops and mint.distributed, and of torch.distributed.
//
// The ranks that take part are an attribute: rank_list (0, 1), group_ranks 0-1, or only the name of the group.
// Source: IR of MindSpore 1.x to 2.10 and a dump of two ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump {

[[nodiscard]] bool is_communication(std::string_view op_type);

// The attributes that group_of() reads, the most precise first. The IR readers must keep them.
inline constexpr std::array<std::string_view, 4> kGroupAttributes = {"rank_list", "group_rank_ids", "group_ranks",
                                                                     "group"};
// Further attributes that the IR readers must keep: the reduction, the partners of Send, Receive and Broadcast, the
// dimensions of AllToAll, the number of ranks.
inline constexpr std::array<std::string_view, 9> kTransferAttributes = {
    "op", "root_rank", "dest_rank", "src_rank", "sr_tag", "split_count", "split_dim", "concat_dim", "rank_size"};

// The communication group of an operator, from the attributes that the IR keeps: its ranks, "0 1", or its name. A name
// that looks like ranks comes after "group ". All ranks of the group get the same text. Empty if the group is unknown,
// or `rank` is not in it because the graph is another rank's.
[[nodiscard]] std::string group_of(std::string_view attributes, std::optional<int64_t> rank);
// The ranks of a text from group_of(), or of "(0, 1)", "[0,1]", "0-1". Empty for a name.
[[nodiscard]] std::vector<int64_t> ranks_of_group(std::string_view group);
// The text that group_of() returns for a list of ranks.
[[nodiscard]] std::string group_of_ranks(std::string_view list, std::optional<int64_t> rank);

}  // namespace msdump
