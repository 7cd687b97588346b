// Rule collective_mismatch: each exchange of values between ranks against what went into it (exchange_judge.h).
//
// What the dump does not state is taken from what fits. A group that is a guess has to be confirmed by other exchanges of
// the same ranks that fit, more than do not; without these only an error that a rank's part explains is reported, and one
// of few ranks where the others got the reduction of all inputs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

// Of the calls of collectives, on each rank and in each step.
struct CollectiveCounts {
  size_t calls = 0, judged = 0;
  std::vector<std::pair<std::string, size_t>>
      not_judged;  // "may not have ended when dumped": how many; most frequent first
};

// All facts must have been read, with digests. Verdicts that context.facts has are taken from there. An error only when
// interrupted.
Result<CollectiveCounts> judge_collectives(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                                           const RunContext& context, std::vector<Finding>& findings);

// Keeps in context.facts the verdicts on the exchanges of which all tensors are `own`. Their facts must have been read.
Status find_exchanges(const CheckedDump& dump, const FactsReader& facts, const std::vector<bool>& own,
                      const RunContext& context);

// Of a dump that is not checked otherwise: the errors among the findings, not what rounding explains. Reads the tensors
// of all calls of collectives, once each; one that cannot be read leaves its exchange unknown. An error only when
// interrupted.
Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& context);

}  // namespace msdump::check
