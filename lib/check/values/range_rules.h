// The rules about the range of a tensor: how many of its elements lie in it, and how far max and min are apart. Off by
// default: counting reads each tensor again.
#pragma once

#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

// All facts must have been read. Tensors that cannot be read again are in `failures`; an error only when interrupted.
Status judge_ranges(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                    std::vector<Finding>& findings, std::vector<Error>& failures);

}  // namespace msdump::check
