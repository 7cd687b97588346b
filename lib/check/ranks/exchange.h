// Exchanges: the calls of one collective on the ranks of its group, joined.
//
//   ranks stated     calls of a group in a step are joined by name; those that msprobe counts by their order in the group,
//                    since counters of ranks differ. All ranks that are there must have equally many. Stated are also
//                    the ranks of the group of all, if their number is and half of them are there
//   a name, or none  the group is taken to be all ranks that have the call: a guess, which other exchanges of the same
//                    ranks have to confirm
//   Send, Receive    by the two ranks, the tag and the order
#pragma once

#include <cstdint>
#include <vector>

#include "check/ranks/collective_call.h"

namespace msdump::check {

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

}  // namespace msdump::check
