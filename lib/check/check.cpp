#include "check/check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/order.h"
#include "check/ranks/collective_rules.h"
#include "check/tree/completeness.h"
#include "check/tree/execution_order.h"
#include "check/tree/tool_results.h"
#include "check/values/gradient_rules.h"
#include "check/values/health.h"
#include "check/values/range_rules.h"
#include "check/values/value_rules.h"
#include "check/values/weight_rules.h"

namespace msdump::check {
namespace {

// Rank, graph and step of the tensor.
void complete_place(const CheckedDump& dump, Finding& finding) {
  if (finding.tensor == kNone) return;
  const Identity identity = dump.identity(finding.tensor);
  finding.rank = identity.rank;
  finding.graph = identity.graph;
  finding.step = identity.step;
}

void sort_findings(std::vector<Finding>& findings) {
  const auto key = [](const Finding& finding) {
    return std::tuple(finding.tensor != kNone || finding.op != kNone, known_first(finding.rank),
                      known_first(finding.graph), known_first(finding.step), finding.op, finding.tensor);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

// If nothing is NaN or infinite, the device may still have recorded an overflow.
Status take_first_overflow(CheckRun& run, const RunContext& context) {
  const CheckedDump& dump = run.dump;
  FactsReader& facts = run.facts;
  const std::vector<OverflowHit>& hits = run.report.overflows;
  const auto joined = std::find_if(hits.begin(), hits.end(), [](const OverflowHit& hit) { return hit.op != kNone; });
  if (run.report.first || joined == hits.end()) return {};
  FirstNonfinite found;
  found.kind = FirstNonfinite::Kind::kOverflow;
  found.op = joined->op;
  found.tensor = joined->tensor;
  found.run = dump.run_of(joined->tensor);
  found.reason = "the device noted an overflow: " + describe(*joined);
  if (found.run != kNone) {
    found.inputs = HealthJudge(dump, facts).inputs_of(found.run);
    found.outputs = dump.runs()[found.run].outputs;
    if (!found.outputs.empty()) found.tensor = found.outputs.front();
    MSDUMP_CHECK_OK(facts.read(found.inputs, context));
    MSDUMP_CHECK_OK(facts.read(found.outputs, context));
    const auto finite = [&](uint32_t input) { return facts[input].known() && facts[input].is_finite(); };
    const bool all = std::all_of(found.inputs.begin(), found.inputs.end(), finite);
    if (all && !found.inputs.empty()) found.inputs_finite = true;
  }
  run.report.first = std::move(found);
  return {};
}

// Whether to judge a rule. Reports that have a case for each rule go by what was asked here.
bool judges(CheckRun& run, RuleId id) { return run.report.judged[static_cast<size_t>(id)] = run.rules.on(id); }

bool searches_nonfinite(CheckRun& run) {
  const bool nan = judges(run, RuleId::kNan), inf = judges(run, RuleId::kInf);
  return nan || inf;
}

// Reads one step, then two more, four more, ..: what is read is judged again, which at most doubles the work. Not beyond
// the step of the first NaN.
Status find_first_apart(CheckRun& run, const RunContext& context) {
  if (!run.facts.has_digests()) return {};
  std::map<std::pair<bool, int64_t>, std::vector<uint32_t>> steps;
  for (uint32_t tensor = 0; tensor < run.dump.tensors(); ++tensor)
    steps[known_first(run.dump.identity(tensor).step)].push_back(tensor);
  std::optional<std::pair<bool, int64_t>> last;
  if (run.report.first) last = known_first(run.dump.identity(run.report.first->tensor).step);
  auto next = steps.begin();
  for (size_t batch = 1; next != steps.end(); batch *= 2) {
    for (size_t i = 0; i < batch && next != steps.end(); ++i) {
      MSDUMP_CHECK_OK(run.facts.read(next->second, context));
      next = last && next->first >= *last ? steps.end() : std::next(next);
    }
    std::vector<Finding> findings;
    MSDUMP_TRY(run.report.first_apart, judge_replicas(run.dump, run.facts, run.rules, context, findings));
    if (!run.report.first_apart) continue;
    const uint32_t tensor = run.report.first_apart->tensor;
    std::erase_if(findings, [&](const Finding& finding) { return finding.tensor != tensor; });
    for (Finding& finding : findings) run.report.findings.push_back(std::move(finding));
    break;
  }
  return {};
}

// A selection keeps findings about the chosen operators, and about what could not be read.
void keep_chosen(const CheckRun& run, std::vector<Finding>& findings) {
  std::vector<bool> ops(run.dump.operators().size(), false);
  bool all = true;
  for (uint32_t tensor = 0; tensor < run.chosen.size(); ++tensor) {
    all = all && run.chosen[tensor];
    if (run.chosen[tensor] && run.dump.op_of(tensor) != kNone) ops[run.dump.op_of(tensor)] = true;
  }
  if (all) return;
  std::erase_if(findings, [&](const Finding& finding) {
    if (finding.kind == info(RuleId::kUnreadable).name || finding.kind == info(RuleId::kEmptyFile).name) return false;
    if (finding.tensor != kNone) return !run.chosen[finding.tensor];
    return finding.op == kNone || !ops[finding.op];
  });
}

// The excuse of a mask does not apply to the tensor that is named as the first.
void apply_excuses(CheckReport& report) {
  const bool named = report.first && report.first->kind != FirstNonfinite::Kind::kOverflow;
  for (Finding& finding : report.findings) {
    if (finding.excuse.empty() || (named && finding.tensor == report.first->tensor)) continue;
    finding.severity = Severity::kNote;
    finding.message += finding.excuse;
  }
}

// Records that cannot be read were reported when the dump was listed.
void drop_known(const std::vector<const Error*>& known, std::vector<Error>& failures) {
  std::set<std::pair<std::string_view, std::string_view>> reported;
  for (const Error* const error : known) reported.emplace(error->path, error->message);
  std::erase_if(failures, [&](const Error& error) { return reported.count({error.path, error.message}) > 0; });
}

void finish(CheckRun& run) {
  CheckReport& report = run.report;
  drop_known(run.listing_failures, report.failures);
  apply_excuses(report);
  keep_chosen(run, report.findings);
  for (Finding& finding : report.findings) complete_place(run.dump, finding);
  sort_findings(report.findings);
}

std::vector<const Error*> all_failures(const CheckRun& run) {
  std::vector<const Error*> all = run.listing_failures;
  for (const Error& error : run.report.failures) all.push_back(&error);
  return all;
}

}  // namespace

Status check_all(CheckRun& run, const Selection& places, const RunContext& context) {
  const CheckedDump& dump = run.dump;
  const RuleSet& rules = run.rules;
  CheckReport& report = run.report;
  for (const RuleInfo& rule : all_rules()) (void)judges(run, rule.id);
  MSDUMP_CHECK_OK(run.facts.read_all(context));
  report.failures = run.facts.take_failures();
  judge_values(dump, run.facts, rules, report.findings);
  judge_gradients(dump, run.facts, rules, report.findings);
  MSDUMP_CHECK_OK(judge_weights(dump, run.facts, rules, context, report.findings, report.failures));
  MSDUMP_CHECK_OK(judge_ranges(dump, run.facts, rules, context, report.findings, report.failures));
  MSDUMP_TRY(report.watched,
             judge_watched(dump, run.watched, run.chosen, rules, context, report.findings, report.failures));
  if (rules.on(RuleId::kCollectiveMismatch)) {
    MSDUMP_TRY(report.collectives, judge_collectives(dump, run.facts, rules, context, report.findings));
  }
  if (rules.on(RuleId::kReplicaMismatch)) {
    MSDUMP_TRY(report.first_apart, judge_replicas(dump, run.facts, rules, context, report.findings));
  }
  report.overflows = read_overflows(dump, places, context.cancel, report.failures);
  drop_known(run.listing_failures, report.failures);
  judge_overflows(dump, report.overflows, rules, report.findings);
  judge_tool_results(dump, places, rules, context.cancel, report.findings, report.failures);
  DumpSettings settings = settings_of(dump.index(), report.failures);
  settings.watcher = !run.watched.outputs.empty();
  const ExecutionOrders orders = read_execution_orders(dump.index(), report.failures);
  judge_debug_trees(dump, settings, rules, report.findings);
  const std::vector<const Error*> failures = all_failures(run);
  const std::vector<Oddity> oddities = find_oddities(dump.index());
  judge_completeness({dump, settings, orders, places, failures, oddities}, rules, report.findings);
  if (searches_nonfinite(run)) {
    MSDUMP_TRY(report.first, find_first_nonfinite(dump, run.chosen, run.facts, context));
  }
  if (rules.on(RuleId::kOperatorOverflow)) MSDUMP_CHECK_OK(take_first_overflow(run, context));
  finish(run);
  return {};
}

Status check_first(CheckRun& run, const Selection& places, const RunContext& context) {
  const CheckedDump& dump = run.dump;
  const RuleSet& rules = run.rules;
  CheckReport& report = run.report;
  if (searches_nonfinite(run)) {
    MSDUMP_TRY(report.first, find_first_nonfinite(dump, run.chosen, run.facts, context));
  }
  if (report.first) {
    std::vector<Finding> all;
    judge_values(dump, run.facts, rules, all);
    for (Finding& finding : all) {
      const bool of_run =
          report.first->run != kNone && finding.tensor != kNone && dump.run_of(finding.tensor) == report.first->run;
      if (of_run || finding.tensor == report.first->tensor) report.findings.push_back(std::move(finding));
    }
  } else if (judges(run, RuleId::kOperatorOverflow)) {
    report.overflows = read_overflows(dump, places, context.cancel, report.failures);
    MSDUMP_CHECK_OK(take_first_overflow(run, context));
    judge_overflows(dump, report.overflows, rules, report.findings);
  }
  if (judges(run, RuleId::kReplicaMismatch)) MSDUMP_CHECK_OK(find_first_apart(run, context));
  for (Error& failure : run.facts.take_failures()) report.failures.push_back(std::move(failure));
  finish(run);
  return {};
}

}  // namespace msdump::check
