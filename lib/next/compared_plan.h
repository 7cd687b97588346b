// The next dump of two sides that were compared:
//
//   statistics alone blame an operator            its tensors and those of the calls before it, in that step, on that rank
//   calls that were not dumped may be to blame    the module or the calls around them, as tensors
//   operators that were not dumped                these
//   what went in differs already                  the calls before, four times as many with each round; where no dump has
//                                                 any, statistics of everything in that step
//   a weight differs where the dump begins        statistics of the steps before
//   two histories diverge in a step               the same
//
// Everything else is pinned: no dump can tell more.
#pragma once

#include <vector>

#include "divergence/dump_diff.h"
#include "next/next_plan.h"

namespace msdump {

// What the dump shows of its extent: that of a list if something ran before it began, else all.
[[nodiscard]] DumpExtent extent_of(const DiffResult& run);

// `dumps` of one case, oldest first, at least one; only the last one and whole_dump() are looked at, others may be null. What
// `as_before` says of the kind, the target and the mode is kept.
[[nodiscard]] NextPlan plan_next(const std::vector<CaseDump<DiffResult>>& dumps, const DumpRequest& as_before);

}  // namespace msdump
