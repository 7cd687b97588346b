// Which ranks are siblings: those that hold the same parameters. Known from the first step: each row of the table that is a
// parameter, or an input that no operator of the dump made, and telling, votes for the classes of ranks that are equal in
// it. Of the classes with a rank that have several votes the smallest is that of its siblings: tensor parallel ranks share
// some parameters, data parallel ones all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/replica_table.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

// A value that the network keeps, as it is when it is read (msprobe) or at the end of the step; no gradient.
[[nodiscard]] bool is_kept_tensor(const CheckedDump& dump, uint32_t tensor);

// Classes of at least two ranks, ascending; a rank is in one of them at most.
[[nodiscard]] std::vector<std::vector<int64_t>> sibling_ranks(const FactsReader& facts, const ReplicaTable& table,
                                                              const std::function<bool(const ReplicaCell&)>& votes);

}  // namespace msdump::check
