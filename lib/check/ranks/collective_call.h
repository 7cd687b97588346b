// Collective calls: operators of one rank that exchange values with other ranks. The dump tells who takes part, the
// reduction, the inputs and the outputs.
//
//   MindSpore's operators   AllReduce, AllGather, ReduceScatter, Broadcast, AlltoAll, Reduce, Send, Receive; group, ranks
//                           and reduction are attributes of the IR
//   calls in dump.json      Distributed.*, MintDistributed.*, as in torch.distributed; group, reduction, partners and splits
//                           are arguments. Tensors are written in place: the input has the values before, the output those
//                           after. Buffers that only receive are not inputs
// batch_isend_irecv is not supported, nor any call that is dumped before its values arrive.
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
  OperatorId op;  // CheckedDump::operators()
  int64_t rank = 0;
  std::optional<int64_t> step, graph;
  uint32_t occurrence = 0;
  std::string group;                   // "0 1", or a name; empty: unknown
  std::optional<int64_t> world;        // how many ranks there are, if it is over all
  bool counted = false;                // its name has a number of its own: calls are joined by their order
  std::string name;                    // of the operator; of a counted one that of the API
  uint64_t number = 0;                 // that number
  bool may_be_early = false;           // asynchronous: what came out may have been dumped before it arrived
  std::optional<Reduction> reduction;  // no value: unknown
  std::optional<int64_t> root;         // Broadcast, Reduce, Gather, Scatter, Send, Receive: the one rank, or
  std::optional<int64_t> root_place;   // its place in the group
  int64_t tag = 0;                     // Send, Receive
  bool flat = true;                    // parts are consecutive elements; false: dimensions other than the first are cut
  std::vector<int64_t> send_splits, receive_splits;  // AllToAll: rows for each rank, and of each; empty: equal parts
  // Tensors. If the call has a list: a part for each rank, or (AllReduce) one exchange each.
  std::vector<TensorId> sent, received;
};

// True for an operator that exchanges values in an unsupported way: NeighborExchange, batch_isend_irecv.
[[nodiscard]] bool is_unread_collective(std::string_view name, std::string_view type);

// Only calls with a rank, and with tensors whose slot in the call is known.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const CheckedDump& dump);

// Exchanges: the calls of one collective on all ranks of its group.
//
//   ranks stated     calls of a group in a step are joined by name. Calls that msprobe numbers are joined by their order in
//                    the group, since ranks count differently, and all ranks must have equally many. The group of all ranks
//                    is stated if its size is, and half of them are there
//   a name, or none  all ranks with the call are taken for the group. Other exchanges of the same ranks have to confirm that
//   Send, Receive    joined by the two ranks, the tag and the order

struct Exchange {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool stated = false;  // the dump says which ranks are in the group
  // Positions in the list of calls, in the order of the group; for Send and Receive the sender, then the receiver.
  std::vector<size_t> members;
  std::vector<int64_t> ranks;    // of `members`
  std::vector<int64_t> missing;  // of the group, not in the dump

  [[nodiscard]] bool complete() const { return missing.empty(); }
};

// Exchanges of at least two ranks, by step. Costs a sort of the calls.
[[nodiscard]] std::vector<Exchange> join_calls(const std::vector<CollectiveCall>& calls);

// The exchanges of a dump and their calls. Their numbers are the same wherever the dump is listed.
struct JoinedCalls {
  std::vector<CollectiveCall> calls;
  std::vector<Exchange> exchanges;

  explicit JoinedCalls(const CheckedDump& dump) : calls(collective_calls(dump)), exchanges(join_calls(calls)) {}
  // Inputs and outputs on all ranks. A tensor is in one exchange at most.
  [[nodiscard]] std::vector<TensorId> tensors_of(const Exchange& exchange) const;
};

// Ranks of a run: those in the dump, and those that the dump refers to.
//
//   holes   numbers below the largest rank, since ranks count from 0
//   named   ranks of the group of a collective, or the size of the group of all ranks (rank_size of MindSpore's AllGather
//           and ReduceScatter over "hccl_world_group")

struct KnownRanks {
  std::set<int64_t> there;         // that have a folder, chosen or not
  std::set<int64_t> holes, named;  // and have none
};
// No rank is missing from a dump with fewer than two: these may be all that were of interest.
[[nodiscard]] KnownRanks known_ranks(const CheckedDump& dump);

}  // namespace msdump::check
