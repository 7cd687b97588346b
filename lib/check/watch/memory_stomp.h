// Rule memory_stomp: compares each output that CANN's watcher mode watched with its snapshots, in the order of time
// (dump/index/watched_outputs.h). A snapshot that differs from the one before is a finding. It names the operator that ran
// in between, the bytes and rows that changed, and the tensor that the new bytes belong to.
//
// GE reuses the memory of an output after its last reader has run, so not every change is a fault. If the graph is known, a
// change is an error if a reader runs later, and a note if all have run. Otherwise it is a warning.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/rule_context.h"
#include "dump/index/watched_outputs.h"
#include "io/run_context.h"

namespace msdump::check {

struct Watched {
  std::vector<WatchedOutput> outputs;
  bool by_name = false;  // requested by name: without the operator's own dump, the first snapshot counts as the output

  // True for each tensor that was dumped after another operator than its own: no operator has just written its values. By
  // tensor of the list.
  [[nodiscard]] std::vector<bool> snapshots(size_t tensors) const;
};

struct WatchedCounts {
  size_t outputs = 0, changed = 0;
  size_t compared = 0;      // snapshots
  size_t before = 0;        // snapshots from before the operator ran, or without its own output
  size_t not_compared = 0;  // of another size than the one before
};

// Each finding is about a snapshot that differs. At most kChangesReported are reported for an output, then one that counts
// the rest. Only outputs with a chosen tensor are compared. An error only when interrupted.
inline constexpr size_t kChangesReported = 8;
Result<WatchedCounts> judge_watched(RuleContext& context, const Watched& watched, const std::vector<bool>& chosen);

}  // namespace msdump::check
