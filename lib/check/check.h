// Everything that msdump check finds in one dump, in the order of reports.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "check/first/first_nonfinite.h"
#include "check/first/op_runs.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/tree/dump_settings.h"
#include "check/values/facts_reader.h"
#include "check/values/overflow.h"
#include "dump/index/selection.h"
#include "dump/index/tensor_list.h"

namespace msdump::check {

struct CheckInput {
  const OpRuns& runs;
  const RuleSet& rules;
  const Selection& selection;          // rank, graph, step
  const std::vector<Error>& failures;  // of the list and the graph
  const std::vector<bool>& chosen;     // by tensor: of operators that are asked for; their findings are reported
};

struct CheckReport {
  std::vector<Finding> findings;  // tree first; then by rank, graph, step, place in the data flow, tensor, rule
  std::optional<FirstNonfinite> first;
  std::vector<OverflowHit> overflows;
  std::vector<Error> failures;  // that came up here: of tensors, and of records
};

// Reads every tensor. An error only when interrupted.
Result<CheckReport> check_all(const CheckInput& input, FactsReader& facts, const ReadContext& context);
// Only what it takes to find the first; its findings are about that operator.
Result<CheckReport> check_first(const CheckInput& input, FactsReader& facts, const ReadContext& context);

}  // namespace msdump::check
