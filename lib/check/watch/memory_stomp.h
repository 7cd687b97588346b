// The rule memory_stomp: each output that CANN's watcher mode watched (dump/index/watched_outputs.h), compared with its
// snapshots in the order of time. A snapshot that differs from the one before it is a finding: after which operator,
// which bytes and rows, and whose the new bytes are.
//
// GE gives the memory of an output to another one when its last reader has run, so not every change is a fault. With a
// graph: an error if an operator that reads the output runs later, a note if all have run. Without: a warning.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "dump/index/watched_outputs.h"
#include "io/run_context.h"

namespace msdump::check {

struct Watched {
  std::vector<WatchedOutput> outputs;
  bool by_name = false;  // requested: the first snapshot counts as the output if the operator's own is not there

  // Of the tensors of the list: is it a snapshot, whose values are those of no operator that ran?
  [[nodiscard]] std::vector<bool> snapshots(size_t tensors) const;
};

struct WatchedCounts {
  size_t outputs = 0, changed = 0;
  size_t compared = 0;      // snapshots
  size_t before = 0;        // snapshots from before the operator ran, or without its own output
  size_t not_compared = 0;  // of another size than the one before
};

// Findings are about the snapshot that differs; at most kChangesTold for an output, and one that counts the rest. Only
// outputs with a chosen tensor are compared. An error only when interrupted.
inline constexpr size_t kChangesTold = 8;
Result<WatchedCounts> judge_watched(const CheckedDump& dump, const Watched& watched, const std::vector<bool>& chosen,
                                    const RuleSet& rules, const RunContext& context, std::vector<Finding>& findings,
                                    std::vector<Error>& failures);

}  // namespace msdump::check
