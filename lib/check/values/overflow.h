// Overflows and failures that the device recorded, joined to their operators.
//
//   Opdebug records   dump files or JSON, of both generations. A section with a status other than 0 was hit. The operator
//                     is the one with the record's task and stream, in the same folder or else in the same step and rank.
//                     Without such an operator, the task and stream in the file's name decide, as in MindSpore up to 2.2
//   nan_check         msprobe clears the overflow register before each API call and reads it after: `is_nan` in dump.json
//   op_debug_mode 3   the tree holds the operators that overflowed, and no record
//   op_debug_mode 4, extra-info   the tree holds the operator that failed
// The first record by time stamp is the cause; the others may follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/rules/rule_context.h"
#include "check/tree/dump_settings.h"
#include "dump/index/selection.h"

namespace msdump::check {

// A section of a record with a status other than 0, or an API call that overflowed.
struct OverflowHit {
  FileId file;
  std::string section;  // "AI Core", "AIV", ...; "nan_check" of a call
  std::optional<int64_t> rank, graph, step;
  std::string_view timestamp;
  int64_t order = 0;         // of a call in its dump.json
  std::string_view op_name;  // of a call
  std::optional<uint64_t> task_id, stream_id;
  std::vector<uint64_t> status;
  std::string details;        // "block 1, kernel at 0x1008005ae000"
  OperatorId op;              // CheckedDump::operators()
  TensorId tensor;            // one of its tensors
  bool by_file_name = false;  // joined by the numbers in the name of the record
};

// In the order of time; if only the order of calls is known, rank after rank. Records that cannot be read are failures of
// the context.
[[nodiscard]] std::vector<OverflowHit> read_overflows(RuleContext& context, const Selection& selection);
// "AI Core: status 0x20 (bit 5), task 57, stream 563, block 1"
[[nodiscard]] std::string describe(const OverflowHit& hit);

void judge_overflows(RuleContext& context, const std::vector<OverflowHit>& hits);
void judge_debug_trees(RuleContext& context, const DumpSettings& settings);

}  // namespace msdump::check
