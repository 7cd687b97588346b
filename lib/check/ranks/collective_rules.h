// Rule collective_mismatch: compares the outputs of each collective call with its inputs on all ranks (exchange_judge.h).
//
// If the dump does not name the group, the ranks that have the call are taken for it. Such a guess needs confirmation: more
// exchanges of the same ranks that fit than exchanges that do not. Without it, only two errors are reported:
//   * one that the input of a rank explains
//   * one of few ranks if the others received the reduction of all inputs
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/ranks/collective_call.h"
#include "check/rules/rule_context.h"

namespace msdump::check {

// Counts of collective calls: one for each rank and step.
struct CollectiveCounts {
  size_t calls = 0, judged = 0;
  // Reason ("may not have ended when dumped") and number of calls, the most frequent first.
  std::vector<std::pair<std::string, size_t>> not_judged;
};

// All facts must have been read, with digests. An error only when interrupted.
Result<CollectiveCounts> judge_collectives(RuleContext& context);

// The errors among the findings, for a dump that is not checked otherwise. Reads the tensors of all collective calls once.
// A tensor that cannot be read leaves its exchange unknown. An error only when interrupted.
Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& run);

}  // namespace msdump::check
