// The calls of collectives in a dump: one operator of one rank that exchanges values with others, with what the dump
// says of the exchange: who takes part, what is done with the values, what went in and what came out.
//
//   MindSpore's operators   AllReduce, AllGather, ReduceScatter, Broadcast, AlltoAll, Reduce, Send, Receive; group, ranks
//                           and reduction are attributes of the IR
//   calls in dump.json      Distributed.*, MintDistributed.*: as torch.distributed has them; group, reduction, partners and
//                           splits are arguments. Written in place: the input is the value before, the output the one
//                           after. Buffers that only receive are not inputs
// Not read: batch_isend_irecv and whatever else is dumped before it arrives.
// Source: torch.distributed and mindspore.ops by their documentation; msprobe 26.2 on gloo, four ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/checked_dump.h"

namespace msdump::check {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kReduceScatter,
  kScatter,
  kBroadcast,
  kAllToAll,
  kSend,
  kReceive,
};
enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kProduct, kOther };
[[nodiscard]] std::string_view name_of(Reduction reduction);  // "sum", ...

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t op = kNone;  // CheckedDump::operators()
  int64_t rank = 0;
  std::optional<int64_t> step, graph;
  uint32_t occurrence = 0;
  std::string group;                   // "0 1", or a name; empty: not said
  std::optional<int64_t> world;        // how many ranks there are, if it is over all
  bool counted = false;                // its name has a number of its own: calls are joined by their order
  std::string name;                    // of the operator; of a counted one that of the API
  uint64_t number = 0;                 // that number
  bool may_be_early = false;           // asynchronous: what came out may have been dumped before it arrived
  std::optional<Reduction> reduction;  // no value: not said
  std::optional<int64_t> root;         // Broadcast, Reduce, Gather, Scatter, Send, Receive: the one rank, or
  std::optional<int64_t> root_place;   // its place in the group
  int64_t tag = 0;                     // Send, Receive
  bool flat = true;                    // parts are consecutive elements; false: dimensions other than the first are cut
  std::vector<int64_t> put_sizes, got_sizes;  // AllToAll: rows for each rank, and of each; empty: equal parts
  // Tensors. Several where the call has a list of them: a part for each rank, or each an exchange of its own (AllReduce).
  std::vector<uint32_t> put, got;
};

// Does an operator exchange values in a way that is not read: NeighborExchange, batch_isend_irecv?
[[nodiscard]] bool is_unread_collective(std::string_view name, std::string_view type);

// By rank and step as the tensors are. Only calls with a rank, and with tensors whose place in the call is known.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const CheckedDump& dump);

// Exchanges: the calls of one collective on the ranks of its group, joined.
//
//   ranks stated     calls of a group in a step are joined by name; those that msprobe counts by their order in the group,
//                    since counters of ranks differ. All ranks that are there must have equally many. Stated are also
//                    the ranks of the group of all, if their number is and half of them are there
//   a name, or none  the group is taken to be all ranks that have the call: a guess, which other exchanges of the same
//                    ranks have to confirm
//   Send, Receive    by the two ranks, the tag and the order

struct Exchange {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool stated = false;  // the dump says which ranks are in the group
  // Places in the list of calls, in the order of the group; of Send and Receive the sender, then the receiver.
  std::vector<size_t> members;
  std::vector<int64_t> ranks;    // of `members`
  std::vector<int64_t> missing;  // of the group, not in the dump

  [[nodiscard]] bool complete() const { return missing.empty(); }
};

// Of at least two ranks, by step; costs as much as a sort of the calls.
[[nodiscard]] std::vector<Exchange> join_calls(const std::vector<CollectiveCall>& calls);

// Those of a dump, with the calls that they are of. The numbers of both are the same wherever the dump is listed.
struct JoinedCalls {
  std::vector<CollectiveCall> calls;
  std::vector<Exchange> exchanges;

  explicit JoinedCalls(const CheckedDump& dump) : calls(collective_calls(dump)), exchanges(join_calls(calls)) {}
  // What the ranks put in and got. A tensor is in one exchange at most.
  [[nodiscard]] std::vector<uint32_t> tensors_of(const Exchange& exchange) const;
};

// The ranks of a run as its dump shows them: those that are there, and those that others speak of.
//
//   holes   ranks count from 0: numbers below the largest that is there
//   named   by the ranks of a group of a collective, or by the size of the group of all ranks (rank_size of MindSpore's
//           AllGather and ReduceScatter over "hccl_world_group")

struct KnownRanks {
  std::set<int64_t> there;         // that have a folder, chosen or not
  std::set<int64_t> holes, named;  // and have none
};
// Nothing is missing where there are fewer than two, which may be all that is of interest.
[[nodiscard]] KnownRanks known_ranks(const CheckedDump& dump);

}  // namespace msdump::check
