// Finding: what a rule of msdump check found about a tensor, an operator, a file, a step or a rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/checked_dump.h"
#include "check/rules/rules.h"
#include "findings/finding.h"
#include "report/value.h"

namespace msdump::check {

// The place is that of the tensor if there is one.
struct Finding : FindingText, FindingPlace {
  RuleId rule = RuleId::kNan;
  TensorId tensor;
  OperatorId op;  // CheckedDump::operators()
  FileId file;    // DumpIndex::files(), of a finding about a file
  // Ranks in ascending order: those at fault (empty: undetermined), and all that take part.
  std::vector<int64_t> ranks = {}, group = {};
  // The operator and the tensor as the result of a tool names them. The dump may not have them.
  std::string op_name = {}, op_type = {}, io = {}, slot = {};
  report::Value value = {};  // RuleInfo::value has its unit
  // If set, the finding becomes a note with this at the end of its message, unless it is about the first non-finite tensor.
  std::string downgrade_reason = {};
};

}  // namespace msdump::check
