#include "check/values/wrong_outputs.h"

#include <algorithm>

#include <fmt/format.h>

namespace msdump::check {

Result<RecomputedOutputs> judge_outputs(RuleContext& context, const std::vector<bool>& chosen) {
  RecomputedOutputs result;
  if (context.run.facts != nullptr) return result;  // parts have no elements
  const CheckedDump& dump = context.dump;
  const auto is_judged = [&](TensorId tensor) {
    const TensorRecord& record = dump.record(tensor);
    return chosen[tensor] && record.has_elements && !record.broken && dump.index().files()[record.file].size > 0;
  };
  std::vector<ExecutionId> runs;
  for (ExecutionId run{0}; run < dump.runs().size(); ++run) {
    const std::vector<TensorId>& outputs = dump.runs()[run].outputs;
    if (dump.operators()[dump.runs()[run].op].type.empty()) continue;  // a parameter
    if (std::any_of(outputs.begin(), outputs.end(), is_judged)) runs.push_back(run);
  }
  if (runs.empty()) return result;
  const uint64_t bytes = recompute::bytes_of(dump.dump(), dump.run_graph(), runs);
  if (!context.rules[RuleId::kWrongOutput].is_named && bytes > recompute::kCheapBytes) {
    result.too_much = bytes;
    return result;
  }
  MSDUMP_TRY(result.judgements,
             recompute::recompute(dump.dump(), dump.run_graph(), dump.operators(), runs, context.run));
  for (const recompute::OperatorJudgement& judgement : result.judgements) {
    for (const recompute::OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.is_wrong() || !context.judges(RuleId::kWrongOutput, output.tensor)) continue;
      context.report(RuleId::kWrongOutput, output.tensor, output.judgement.units,
                     "not what the operator's inputs lead to: " + recompute::describe_wrong(output));
    }
  }
  return result;
}

}  // namespace msdump::check
