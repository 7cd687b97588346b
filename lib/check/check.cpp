#include "check/check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/containers.h"
#include "check/began/began.h"
#include "check/nonfinite/nonfinite.h"
#include "check/ranks/collective_rules.h"
#include "check/ranks/replica_rules.h"
#include "check/tree/completeness.h"
#include "check/tree/dump_settings.h"
#include "check/tree/tool_results.h"
#include "check/values/value_rules.h"
#include "check/values/weight_rules.h"
#include "check/values/wrong_outputs.h"
#include "graph/join/dump_operators.h"

namespace msdump::check {
namespace {

bool needs_mean_abs(const RuleSet& rules) {
  return rules.any_given("abs_mean_gt") || rules.any_given("abs_mean_lt") ||
         rules.any_given("abs_mean_update_ratio_gt") || rules.any_given("abs_mean_update_ratio_lt");
}

bool compares_ranks(const RuleSet& rules, const DumpIndex& index) {
  const auto all = all_rules();
  const auto compares = [&](const RuleInfo& rule) { return rule.has(kComparesRanks) && rules.on(rule.id); };
  if (std::none_of(all.begin(), all.end(), compares)) return false;
  std::optional<int64_t> first;
  for (const IndexedFolder& folder : index.folders()) {
    if (!folder.identity.rank) continue;
    if (first && *first != *folder.identity.rank) return true;
    first = folder.identity.rank;
  }
  return false;
}

}  // namespace

CheckRun::CheckRun(const DumpWithGraph& of, RuleSet with, std::span<const std::string> watched_by_name)
    : rules(std::move(with)),
      dump(of),
      watched{watched_outputs(*of.index, *of.tensors, watched_by_name), !watched_by_name.empty()},
      facts(*of.index, *of.tensors, FactsWanted{needs_mean_abs(rules), compares_ranks(rules, *of.index)}),
      chosen(of.tensors->size(), true) {
  facts.distrust_float16(float32_on_device(dump.dump(), dump.operators()));
  if (dump.graph() != nullptr) lines = OperatorLines(*dump.graph());
  if (!watched.outputs.empty()) facts.limit_to(needed());
}

void CheckRun::choose(const std::function<bool(const TensorRecord&, const Identity&)>& is_chosen) {
  for (TensorId tensor{0}; tensor < chosen.size(); ++tensor) {
    Identity identity = dump.identity(tensor);
    chosen[tensor] = is_chosen(dump.record(tensor), identity);
    const OperatorId op = dump.op_of(tensor);
    if (chosen[tensor] || op == kNoId) continue;
    identity.name.op_name = dump.operators()[op].name;
    identity.name.op_type = dump.operators()[op].type;
    chosen[tensor] = is_chosen(dump.record(tensor), identity);
  }
  choose_snapshots();
  if (!selects_all()) facts.limit_to(needed());
}

void CheckRun::choose_snapshots() {
  for (const WatchedOutput& output : watched.outputs) {
    const bool any = std::any_of(output.snapshots.begin(), output.snapshots.end(),
                                 [&](const auto& one) { return one.after.empty() && chosen[one.tensor]; });
    if (!any) continue;
    for (const WatchedOutput::Snapshot& one : output.snapshots) chosen[one.tensor] = true;
  }
}

// The requested tensors, and the others of the same runs. The values of a snapshot say nothing about an operator.
std::vector<bool> CheckRun::needed() const {
  std::vector<bool> needed = chosen;
  for (TensorId tensor{0}; tensor < chosen.size(); ++tensor) {
    const ExecutionId run = dump.run_of(tensor);
    if (!chosen[tensor] || run == kNoId) continue;
    for (const RunInput& input : dump.runs()[run].inputs) {
      if (input.tensor != kNoId) needed[input.tensor] = true;
      if (input.produced != kNoId) needed[input.produced] = true;
    }
    for (const TensorId output : dump.runs()[run].outputs) needed[output] = true;
  }
  const std::vector<bool> snapshots = watched.snapshots(chosen.size());
  for (TensorId tensor{0}; tensor < needed.size(); ++tensor) needed[tensor] = needed[tensor] && !snapshots[tensor];
  return needed;
}

bool CheckRun::selects_any() const { return std::find(chosen.begin(), chosen.end(), true) != chosen.end(); }
bool CheckRun::selects_all() const { return std::find(chosen.begin(), chosen.end(), false) == chosen.end(); }

std::string CheckRun::op_name(OperatorId op) const {
  return op == kNoId ? std::string() : std::string(dump.operators()[op].name);
}

std::string_view CheckRun::op_type(OperatorId op) const {
  return op == kNoId ? std::string_view() : dump.operators()[op].type;
}

OperatorLine CheckRun::line(OperatorId op) const {
  if (op == kNoId || dump.operators()[op].op == kNoId) return {};
  return lines.of(dump.operators()[op].op);
}

size_t CheckRun::count(Severity severity) const {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                           [&](const Finding& finding) { return finding.severity == severity; }));
}

std::array<size_t, kRules> CheckRun::count_by_rule(std::optional<Severity> severity) const {
  std::array<size_t, kRules> counts{};
  for (const Finding& finding : report.findings) {
    if (!severity || finding.severity == *severity) ++counts[static_cast<size_t>(finding.rule)];
  }
  return counts;
}

const RuleInfo* CheckRun::first_rule() const {
  if (!report.first) return nullptr;
  if (report.first->kind == FirstNonfinite::Kind::kOverflow) return &info(RuleId::kOperatorOverflow);
  return &info(facts[report.first->tensor].has_nan ? RuleId::kNan : RuleId::kInf);
}

std::optional<Severity> CheckRun::first_severity() const {
  return report.first ? std::optional(rules[first_rule()->id].severity) : std::nullopt;
}

bool CheckRun::repeats_producer(const Finding& finding) const {
  if (!info(finding.rule).has(kSpreads) || finding.tensor == kNoId) return false;
  if (dump.role(finding.tensor) != TensorRole::kInput) return false;
  const ExecutionId run = dump.run_of(finding.tensor);
  if (run == kNoId) return false;
  for (const RunInput& input : dump.runs()[run].inputs) {
    if (input.tensor == finding.tensor && input.produced != kNoId) return true;
  }
  // If there is no data flow, an earlier tensor is already non-finite.
  return !dump.has_flow() && report.first && report.first->tensor != finding.tensor &&
         !dump.runs()[run].outputs.empty();
}

CheckUnits check_units(const CheckRun& run) {
  CheckUnits units;
  for (TensorId tensor{0}; tensor < run.dump.tensors(); ++tensor) {
    const TensorRecord& record = run.dump.record(tensor);
    if (run.facts.has_read(tensor) || !record.has_elements || record.broken) continue;
    units.tensors.push_back(tensor);
    units.bytes.push_back(record.bytes.value_or(run.dump.index().files()[record.file].size));
  }
  units.runs = recomputed_runs(run.dump, run.rules, run.chosen, run.recompute).runs;
  for (const ExecutionId one : units.runs)
    units.bytes_of_runs.push_back(recompute::bytes_of(run.dump.dump(), run.dump.run_graph(), {one}));
  return units;
}

Status recompute_share(const CheckRun& run, const std::vector<ExecutionId>& runs, const RunContext& context) {
  if (runs.empty()) return {};
  recompute::RecomputeOptions options = recompute::options_of(run.recompute);
  options.most_explained = 0;
  options.facts = context.facts;
  MSDUMP_TRY(const auto kept,
             recompute::recompute(run.dump.dump(), run.dump.run_graph(), run.dump.operators(), runs, context, options));
  return {};
}

namespace {

// Rank, graph and step of the tensor.
void complete_place(const CheckedDump& dump, Finding& finding) {
  if (finding.tensor == kNoId) return;
  const Identity identity = dump.identity(finding.tensor);
  finding.rank = identity.rank;
  finding.graph = identity.graph;
  finding.step = identity.step;
}

void sort_findings(std::vector<Finding>& findings) {
  const auto key = [](const Finding& finding) {
    return std::tuple(finding.tensor != kNoId || finding.op != kNoId, known_first(finding.rank),
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
  const auto joined = std::find_if(hits.begin(), hits.end(), [](const OverflowHit& hit) { return hit.op != kNoId; });
  if (run.report.first || joined == hits.end()) return {};
  FirstNonfinite found;
  found.kind = FirstNonfinite::Kind::kOverflow;
  found.op = joined->op;
  found.tensor = joined->tensor;
  found.run = dump.run_of(joined->tensor);
  found.reason = "the device noted an overflow: " + describe(*joined);
  if (found.run != kNoId) {
    found.inputs = NonFiniteClassifier(dump, facts).inputs_of(found.run);
    found.outputs = dump.runs()[found.run].outputs;
    if (!found.outputs.empty()) found.tensor = found.outputs.front();
    MSDUMP_CHECK_OK(facts.read(found.inputs, context));
    MSDUMP_CHECK_OK(facts.read(found.outputs, context));
    const auto finite = [&](TensorId input) { return facts[input].known() && facts[input].is_finite(); };
    const bool all = std::all_of(found.inputs.begin(), found.inputs.end(), finite);
    if (all && !found.inputs.empty()) found.inputs_finite = true;
  }
  run.report.first = std::move(found);
  return {};
}

// True if the rule is on; notes that it was judged, for reports that have a case for each rule.
bool judges(CheckRun& run, RuleId id) { return run.report.judged[static_cast<size_t>(id)] = run.rules.on(id); }

bool searches_nonfinite(CheckRun& run) {
  const bool nan = judges(run, RuleId::kNan), inf = judges(run, RuleId::kInf);
  return nan || inf;
}

// Reads one step, then two more, four more and so on. All that was read is judged again, which at most doubles the work.
// Stops at the step of the first NaN.
Status find_first_divergence(CheckRun& run, const RunContext& context) {
  if (!run.facts.has_digests()) return {};
  std::map<std::pair<bool, int64_t>, std::vector<TensorId>> steps;
  for (TensorId tensor{0}; tensor < run.dump.tensors(); ++tensor)
    steps[known_first(run.dump.identity(tensor).step)].push_back(tensor);
  std::optional<std::pair<bool, int64_t>> last;
  if (run.report.first) last = known_first(run.dump.identity(run.report.first->tensor).step);
  auto next = steps.begin();
  for (size_t batch = 1; next != steps.end(); batch *= 2) {
    for (size_t i = 0; i < batch && next != steps.end(); ++i) {
      MSDUMP_CHECK_OK(run.facts.read(next->second, context));
      next = last && next->first >= *last ? steps.end() : std::next(next);
    }
    RuleContext judging(run.dump, run.facts, run.rules, context);
    MSDUMP_TRY(run.report.first_divergence, judge_replicas(judging));
    if (!run.report.first_divergence) continue;
    for (Finding& finding : judging.findings) {
      if (finding.tensor == run.report.first_divergence->tensor) run.report.findings.push_back(std::move(finding));
    }
    break;
  }
  return {};
}

// A selection keeps findings about the chosen operators, and about what could not be read.
void keep_chosen(const CheckRun& run, std::vector<Finding>& findings) {
  std::vector<bool> ops(run.dump.operators().size(), false);
  bool all = true;
  for (TensorId tensor{0}; tensor < run.chosen.size(); ++tensor) {
    all = all && run.chosen[tensor];
    if (run.chosen[tensor] && run.dump.op_of(tensor) != kNoId) ops[run.dump.op_of(tensor)] = true;
  }
  if (all) return;
  std::erase_if(findings, [&](const Finding& finding) {
    if (info(finding.rule).has(kAnySelection)) return false;
    if (finding.tensor != kNoId) return !run.chosen[finding.tensor];
    return finding.op == kNoId || !ops[finding.op];
  });
}

// Lowers findings to notes if they have a reason, but for the tensor that is named as the first non-finite one.
void apply_downgrades(CheckReport& report) {
  const bool named = report.first && report.first->kind != FirstNonfinite::Kind::kOverflow;
  for (Finding& finding : report.findings) {
    if (finding.downgrade_reason.empty() || (named && finding.tensor == report.first->tensor)) continue;
    finding.severity = Severity::kNote;
    finding.message += finding.downgrade_reason;
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
  apply_downgrades(report);
  keep_chosen(run, report.findings);
  for (Finding& finding : report.findings) complete_place(run.dump, finding);
  sort_findings(report.findings);
}

}  // namespace

Status check_all(CheckRun& run, const Selection& selection, const RunContext& context) {
  CheckReport& report = run.report;
  for (const RuleInfo& rule : all_rules()) (void)judges(run, rule.id);
  // Reads most tensors, of which facts then needs no other pass.
  if (run.rules.on(RuleId::kWrongOutput)) {
    MSDUMP_TRY(report.recomputed,
               recompute_outputs(run.dump, run.rules, run.chosen, run.recompute, run.golden, run.facts, context));
  }
  MSDUMP_CHECK_OK(run.facts.read_all(context));
  RuleContext judging(run.dump, run.facts, run.rules, context);
  judging.failures = run.facts.take_failures();
  judge_values(judging);
  judge_gradients(judging);
  MSDUMP_CHECK_OK(judge_weights(judging));
  MSDUMP_CHECK_OK(judge_ranges(judging));
  MSDUMP_TRY(report.watched, judge_watched(judging, run.watched, run.chosen));
  if (judging.judges(RuleId::kCollectiveMismatch)) {
    MSDUMP_TRY(report.collectives, judge_collectives(judging));
  }
  if (judging.judges(RuleId::kReplicaMismatch)) {
    MSDUMP_TRY(report.first_divergence, judge_replicas(judging));
  }
  if (judging.judges(RuleId::kWrongOutput)) {
    MSDUMP_CHECK_OK(judge_outputs(judging, run.chosen, run.golden, report.recomputed));
  }
  if (judging.judges(RuleId::kBegan)) {
    MSDUMP_TRY(BeganReport began, judge_began(judging, run.chosen));
    report.began = std::make_shared<const BeganReport>(std::move(began));
  }
  report.overflows = read_overflows(judging, selection);
  drop_known(run.listing_failures, judging.failures);
  judge_overflows(judging, report.overflows);
  judge_tool_results(judging, selection);
  DumpSettings settings = settings_of(run.dump.index(), judging.failures);
  settings.watcher = !run.watched.outputs.empty();
  const ExecutionOrders orders = read_execution_orders(run.dump.index(), judging.failures);
  judge_debug_trees(judging, settings);
  std::vector<const Error*> failures = run.listing_failures;
  for (const Error& error : judging.failures) failures.push_back(&error);
  const std::vector<TreeFinding> tree_findings = find_in_tree(run.dump.index());
  judge_completeness(judging, {settings, orders, selection, failures, tree_findings});
  report.findings = std::move(judging.findings);
  report.failures = std::move(judging.failures);
  if (searches_nonfinite(run)) {
    MSDUMP_TRY(report.first, find_first_nonfinite(run.dump, run.chosen, run.facts, context));
  }
  if (run.rules.on(RuleId::kOperatorOverflow)) MSDUMP_CHECK_OK(take_first_overflow(run, context));
  finish(run);
  return {};
}

Status check_tables(CheckRun& run, const RunContext& context) {
  RuleContext judging(run.dump, run.facts, run.rules, context);
  run.report.judged[static_cast<size_t>(RuleId::kBegan)] = true;
  MSDUMP_TRY(BeganReport began, judge_began_in_tables(judging));
  run.report.table_rows = began.history.values();
  run.report.began = std::make_shared<const BeganReport>(std::move(began));
  run.report.findings = std::move(judging.findings);
  run.report.failures = std::move(judging.failures);
  return {};
}

Status check_first(CheckRun& run, const Selection& selection, const RunContext& context) {
  CheckReport& report = run.report;
  RuleContext judging(run.dump, run.facts, run.rules, context);
  if (searches_nonfinite(run)) {
    MSDUMP_TRY(report.first, find_first_nonfinite(run.dump, run.chosen, run.facts, context));
  }
  if (report.first) {
    judge_values(judging);
    std::erase_if(judging.findings, [&](const Finding& finding) {
      const bool of_run =
          report.first->run != kNoId && finding.tensor != kNoId && run.dump.run_of(finding.tensor) == report.first->run;
      return !of_run && finding.tensor != report.first->tensor;
    });
  } else if (judges(run, RuleId::kOperatorOverflow)) {
    report.overflows = read_overflows(judging, selection);
    MSDUMP_CHECK_OK(take_first_overflow(run, context));
    judge_overflows(judging, report.overflows);
  }
  report.findings = std::move(judging.findings);
  report.failures = std::move(judging.failures);
  if (judges(run, RuleId::kReplicaMismatch)) MSDUMP_CHECK_OK(find_first_divergence(run, context));
  for (Error& failure : run.facts.take_failures()) report.failures.push_back(std::move(failure));
  finish(run);
  return {};
}

}  // namespace msdump::check
