// What the device recorded of overflows and failures, joined to the operators in which they occurred.
//
//   Opdebug records   of both generations, as dump files or JSON. A section with a status that is not 0 was hit. The
//                     operator is the one with the task and stream that stand in the record, in the same folder, else in
//                     the same step and rank; else the one with those of the file's name, as MindSpore up to 2.2 joined
//   nan_check         msprobe reads the overflow register after each call of an API, and clears it before: `is_nan` of
//                     dump.json
//   op_debug_mode 3   the tree holds the operators that overflowed, and no record
//   op_debug_mode 4, extra-info   the tree holds the operator that failed
// The first record by its time stamp is the culprit; the others may follow from it.
// Source: reference/dump-layouts-and-statistics.md sections 1.7, 1.8 and 6.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/tree/dump_settings.h"
#include "dump/index/selection.h"
#include "io/run_context.h"

namespace msdump::check {

// One section of a record that was hit, or one call of an API.
struct OverflowHit {
  uint32_t file = 0;    // DumpIndex::files()
  std::string section;  // "AI Core", "AIV", ...; "nan_check" of a call
  std::optional<int64_t> rank, graph, step;
  std::string_view timestamp;
  int64_t order = 0;         // of a call in its dump.json
  std::string_view op_name;  // of a call
  std::optional<uint64_t> task_id, stream_id;
  std::vector<uint64_t> status;
  std::string details;        // "block 1, kernel at 0x1008005ae000"
  uint32_t op = kNone;        // CheckedDump::operators()
  uint32_t tensor = kNone;    // one of its tensors
  bool by_file_name = false;  // joined by the numbers in the name of the record
};

// In the order of time, ranks one after the other where only the order of calls is known. Records that cannot be read are in `failures`.
[[nodiscard]] std::vector<OverflowHit> read_overflows(const CheckedDump& dump, const Selection& selection,
                                                      const CancelToken& cancel, std::vector<Error>& failures);
// "AI Core: status 0x20 (bit 5), task 57, stream 563, block 1"
[[nodiscard]] std::string describe(const OverflowHit& hit);

void judge_overflows(const CheckedDump& dump, const std::vector<OverflowHit>& hits, const RuleSet& rules,
                     std::vector<Finding>& findings);
void judge_debug_trees(const CheckedDump& dump, const DumpSettings& settings, const RuleSet& rules,
                       std::vector<Finding>& findings);

}  // namespace msdump::check
