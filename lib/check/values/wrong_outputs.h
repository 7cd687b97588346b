// Rule wrong_output: operators are computed again from their own dumped inputs (recompute/recompute.h).
#pragma once

#include <cstdint>
#include <vector>

#include "check/rules/rule_context.h"
#include "recompute/golden.h"
#include "recompute/recompute.h"

namespace msdump::check {

struct RecomputedOutputs {
  std::vector<recompute::OperatorJudgement> judgements;  // in the order of the flow
  std::vector<recompute::GoldenOutput> golden;           // of the request
  std::vector<Error> failures;                           // of these
  uint64_t too_much = 0;                                 // bytes of tensors that it would have read; 0: it was done
};

// The executions that are computed again, and the bytes of their tensors.
struct RecomputedRuns {
  std::vector<ExecutionId> runs;
  uint64_t too_much = 0;  // as in RecomputedOutputs; then there are none
};
[[nodiscard]] RecomputedRuns recomputed_runs(const CheckedDump& dump, const RuleSet& rules,
                                             const std::vector<bool>& chosen, recompute::Extent extent);

// Computes the executions that have a chosen output with elements. The extent is at least kSampled if the rule was asked for by its
// name. Writes what `golden` asks for. `facts` gets those of the tensors that are read. An error only if it is interrupted, or no file
// can be written.
[[nodiscard]] Result<RecomputedOutputs> recompute_outputs(const CheckedDump& dump, const RuleSet& rules,
                                                          const std::vector<bool>& chosen, recompute::Extent extent,
                                                          const recompute::GoldenRequest& golden, FactsReader& facts,
                                                          const RunContext& context);
// Reports outputs that are wrong (rule wrong_output), by elements or by statistics alone, and outputs that fail the requested
// standard (rule standard).
Status judge_outputs(RuleContext& context, const std::vector<bool>& chosen, const recompute::GoldenRequest& golden,
                     RecomputedOutputs& outputs);

}  // namespace msdump::check
