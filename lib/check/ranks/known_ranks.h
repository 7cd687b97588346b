// The ranks of a run as its dump shows them: those that are there, and those that others speak of.
//
//   holes   ranks count from 0: numbers below the largest that is there
//   named   by the ranks of a group of a collective, or by the size of the group of all ranks (rank_size of MindSpore's
//           AllGather and ReduceScatter over "hccl_world_group")
#pragma once

#include <cstdint>
#include <set>

#include "check/checked_dump.h"

namespace msdump::check {

struct KnownRanks {
  std::set<int64_t> there;         // that have a folder, chosen or not
  std::set<int64_t> holes, named;  // and have none
};
// Nothing is missing where there are fewer than two, which may be all that is of interest.
[[nodiscard]] KnownRanks known_ranks(const CheckedDump& dump);

}  // namespace msdump::check
