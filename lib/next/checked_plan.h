// The next dump of a run on its own, after what check found in the last one:
//
//   the first NaN or infinity comes out of a module   the calls inside it
//   its inputs were not dumped, or are bad already    the calls before it, four times as many with each round; where no dump
//                                                     has any, statistics of everything in that step
//   a parameter or gradient is bad or explodes where  statistics of the steps before
//   the dump begins, and the run had steps before
//   a tensor began to behave otherwise in a step      the same of the 16 steps before
//   (rule began)
//   statistics show what is wrong with a collective   the tensors of its group, or of the operator and the calls before it
//   or which gradient explodes
//   the device noted an overflow of an operator       the operators that overflow
//   that has no files
//
// An operator that computes something else than its own inputs lead to is pinned if nothing was NaN before.
// An operator that makes NaN of finite inputs is pinned by statistics as well as by elements.
#pragma once

#include <vector>

#include "check/check.h"
#include "next/next_plan.h"

namespace msdump {

// What the dump shows of its extent: that of a list if something ran before it began, else all.
[[nodiscard]] DumpExtent extent_of(const check::CheckRun& run);

// `dumps` of one case, oldest first, at least one; only the last one and whole_dump() are looked at, others may be null. What
// `as_before` says of the kind, the target and the mode is kept. The plan has no reference.
[[nodiscard]] NextPlan plan_next(const std::vector<CaseDump<check::CheckRun>>& dumps, const DumpRequest& as_before);

}  // namespace msdump
