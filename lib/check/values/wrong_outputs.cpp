#include "check/values/wrong_outputs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recompute/identities.h"

namespace msdump::check {

namespace {

// Executions without elements: what the statistics of the inputs say about those of the output.
void judge_statistics(RuleContext& context, const std::vector<bool>& chosen) {
  const CheckedDump& dump = context.dump;
  const auto has_statistics = [&](TensorId tensor) {
    return chosen[tensor] && context.facts[tensor].from == TensorFacts::From::kStatistics &&
           context.judges(RuleId::kWrongOutput, tensor);
  };
  bool any = false;
  for (TensorId tensor{0}; tensor < chosen.size() && !any; ++tensor) any = has_statistics(tensor);
  if (!any) return;
  const recompute::Questions questions(dump.dump(), dump.run_graph(), dump.operators());
  const auto read = [&](TensorId tensor) -> std::optional<recompute::TensorStatistics> {
    const TensorFacts& facts = context.facts[tensor];
    if (!facts.known() || !facts.is_finite()) return std::nullopt;
    recompute::TensorStatistics statistics{facts.dtype, facts.max, facts.min, facts.mean, facts.l2norm, {}, nullptr};
    statistics.shape = dump.record(tensor).shape;
    if (facts.elements)
      statistics.elements = static_cast<double>(*facts.elements);
    else if (const auto count = statistics.shape == nullptr ? std::nullopt : element_count(*statistics.shape))
      statistics.elements = static_cast<double>(*count);
    return statistics;
  };
  std::vector<recompute::Identity> identities;
  for (ExecutionId run{0}; run < dump.runs().size(); ++run) {
    const std::vector<TensorId>& outputs = dump.runs()[run].outputs;
    if (std::none_of(outputs.begin(), outputs.end(), has_statistics)) continue;
    const auto identity = recompute::worst_identity(questions.ask(run), read);
    if (identity && has_statistics(identity->output)) identities.push_back(*identity);
  }
  for (const recompute::Identity& broken : recompute::broken_alone(identities))
    context.report(RuleId::kWrongOutput, broken.output, broken.units,
                   fmt::format("its {} is {:.6g}, but the statistics of the inputs lead to {:.6g}", broken.statistic,
                               broken.value, broken.expected));
}

}  // namespace

RecomputedRuns recomputed_runs(const CheckedDump& dump, const RuleSet& rules, const std::vector<bool>& chosen,
                               recompute::Extent extent) {
  RecomputedRuns result;
  if (extent == recompute::Extent::kNever || !rules.on(RuleId::kWrongOutput)) return result;
  const auto is_judged = [&](TensorId tensor) {
    const TensorRecord& record = dump.record(tensor);
    return chosen[tensor] && record.has_elements && !record.broken && dump.index().files()[record.file].size > 0;
  };
  for (ExecutionId run{0}; run < dump.runs().size(); ++run) {
    const std::vector<TensorId>& outputs = dump.runs()[run].outputs;
    if (dump.operators()[dump.runs()[run].op].type.empty()) continue;  // a parameter
    if (std::any_of(outputs.begin(), outputs.end(), is_judged)) result.runs.push_back(run);
  }
  if (rules[RuleId::kWrongOutput].is_named || extent != recompute::Extent::kIfCheap) return result;
  const uint64_t bytes = recompute::bytes_of(dump.dump(), dump.run_graph(), result.runs);
  if (bytes <= recompute::kCheapBytes) return result;
  return {{}, bytes};
}

Result<RecomputedOutputs> recompute_outputs(const CheckedDump& dump, const RuleSet& rules,
                                            const std::vector<bool>& chosen, recompute::Extent extent,
                                            const recompute::GoldenRequest& golden, FactsReader& facts,
                                            const RunContext& context) {
  RecomputedOutputs result;
  const RecomputedRuns asked = recomputed_runs(dump, rules, chosen, extent);
  result.too_much = asked.too_much;
  if (asked.runs.empty()) return result;
  recompute::RecomputeOptions options = recompute::options_of(extent);
  options.facts = context.facts;
  // Facts of parts are kept there as they are.
  options.statistics = context.facts == nullptr ? &facts : nullptr;
  if (!golden.is_empty()) options.assumed = recompute::Assumed::kArguments;
  recompute::Goldens goldens(dump.dump(), dump.run_graph(), chosen, golden, context.cancel);
  if (!golden.is_empty()) {
    MSDUMP_CHECK_OK(goldens.begin());
    options.golden = [&](const recompute::ComputedOutput& output) { goldens.take(output); };
  }
  if (options.statistics != nullptr) facts.begin_scans(context.progress);
  auto judgements = recompute::recompute(dump.dump(), dump.run_graph(), dump.operators(), asked.runs, context, options);
  facts.end_scans();
  MSDUMP_TRY(result.judgements, std::move(judgements));
  if (!golden.is_empty()) result.golden = goldens.finish(result.judgements, result.failures);
  return result;
}

Status judge_outputs(RuleContext& context, const std::vector<bool>& chosen, const recompute::GoldenRequest& golden,
                     RecomputedOutputs& outputs) {
  judge_statistics(context, chosen);
  for (Error& error : std::exchange(outputs.failures, {})) MSDUMP_CHECK_OK(context.keep_failure(std::move(error)));
  for (const recompute::GoldenOutput& output : outputs.golden) {
    if (!output.verdict || output.verdict->passes || !context.judges(RuleId::kStandard, output.tensor)) continue;
    const std::string_view standard = name_of(*golden.standard);
    context.report(RuleId::kStandard, output.tensor, report::Value(standard),
                   fmt::format("does not meet {}: {}", standard, output.verdict->reason));
  }
  for (const recompute::OperatorJudgement& judgement : outputs.judgements) {
    for (const recompute::OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.is_wrong() || !context.judges(RuleId::kWrongOutput, output.tensor)) continue;
      context.report(RuleId::kWrongOutput, output.tensor, output.judgement.units,
                     "not what the operator's inputs lead to: " + recompute::describe_wrong(output));
    }
  }
  return {};
}

}  // namespace msdump::check
