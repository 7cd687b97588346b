// The rules about weights from one step to the next: unchanged, changed by too much or too little; in the first step;
// and about their rows in the last. Usually the numbers of two steps prove that a weight has changed; only otherwise are the two read again, side
// by side.
#pragma once

#include <vector>

#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

// All facts must have been read. Weights that cannot be read again are in `failures`; an error only when interrupted.
Status judge_weights(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                     std::vector<Finding>& findings, std::vector<Error>& failures);

// The same weight step by step: indices of tensors, one list a weight, each in the order of steps.
[[nodiscard]] std::vector<std::vector<uint32_t>> weights_by_step(const CheckedDump& dump);

}  // namespace msdump::check
