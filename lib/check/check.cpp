#include "check/check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/containers.h"
#include "check/nonfinite/nonfinite.h"
#include "check/ranks/collective_rules.h"
#include "check/ranks/replica_rules.h"
#include "check/tree/completeness.h"
#include "check/tree/dump_settings.h"
#include "check/tree/tool_results.h"
#include "check/values/value_rules.h"
#include "check/values/weight_rules.h"
#include "graph/join/dump_operators.h"

namespace msdump::check {
namespace {

bool needs_mean_abs(const RuleSet& rules) {
  return rules.any_given("abs_mean_gt") || rules.any_given("abs_mean_lt") ||
         rules.any_given("abs_mean_update_ratio_gt") || rules.any_given("abs_mean_update_ratio_lt");
}

bool compares_ranks(const RuleSet& rules, const DumpIndex& index) {
  if (!rules.on(RuleId::kCollectiveMismatch) && !rules.on(RuleId::kReplicaMismatch)) return false;
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

void CheckRun::choose(const std::function<bool(const TensorRecord&, const Identity&)>& asked) {
  for (uint32_t tensor = 0; tensor < chosen.size(); ++tensor) {
    Identity identity = dump.identity(tensor);
    chosen[tensor] = asked(dump.record(tensor), identity);
    const uint32_t op = dump.op_of(tensor);
    if (chosen[tensor] || op == kNone) continue;
    identity.name.op_name = dump.operators()[op].name;
    identity.name.op_type = dump.operators()[op].type;
    chosen[tensor] = asked(dump.record(tensor), identity);
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
  for (uint32_t tensor = 0; tensor < chosen.size(); ++tensor) {
    const uint32_t run = dump.run_of(tensor);
    if (!chosen[tensor] || run == kNone) continue;
    for (const RunInput& input : dump.runs()[run].inputs) {
      if (input.tensor != kNone) needed[input.tensor] = true;
      if (input.made_as != kNone) needed[input.made_as] = true;
    }
    for (const uint32_t output : dump.runs()[run].outputs) needed[output] = true;
  }
  const std::vector<bool> snapshots = watched.snapshots(chosen.size());
  for (uint32_t tensor = 0; tensor < needed.size(); ++tensor) needed[tensor] = needed[tensor] && !snapshots[tensor];
  return needed;
}

bool CheckRun::selects_any() const { return std::find(chosen.begin(), chosen.end(), true) != chosen.end(); }
bool CheckRun::selects_all() const { return std::find(chosen.begin(), chosen.end(), false) == chosen.end(); }

std::string CheckRun::op_name(uint32_t op) const { return op == kNone ? std::string() : dump.operators()[op].name; }

std::string_view CheckRun::op_type(uint32_t op) const {
  return op == kNone ? std::string_view() : dump.operators()[op].type;
}

OperatorLine CheckRun::line(uint32_t op) const {
  if (op == kNone || dump.operators()[op].op == kNoIndex) return {};
  return lines.of(dump.operators()[op].op);
}

size_t CheckRun::count(Severity severity) const {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                           [&](const Finding& finding) { return finding.severity == severity; }));
}

size_t CheckRun::count(RuleId id) const {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                           [&](const Finding& finding) { return finding.kind == info(id).name; }));
}

const RuleInfo* CheckRun::first_rule() const {
  if (!report.first) return nullptr;
  if (report.first->kind == FirstNonfinite::Kind::kOverflow) return &info(RuleId::kOperatorOverflow);
  return &info(facts[report.first->tensor].has_nan ? RuleId::kNan : RuleId::kInf);
}

std::optional<Severity> CheckRun::first_severity() const {
  return report.first ? std::optional(rules[first_rule()->id].severity) : std::nullopt;
}

bool CheckRun::repeats_its_maker(const Finding& finding) const {
  const bool special = finding.kind == info(RuleId::kNan).name || finding.kind == info(RuleId::kInf).name;
  if (!special || finding.tensor == kNone || dump.role(finding.tensor) != TensorRole::kInput) return false;
  const uint32_t run = dump.run_of(finding.tensor);
  if (run == kNone) return false;
  for (const RunInput& input : dump.runs()[run].inputs) {
    if (input.tensor == finding.tensor && input.made_as != kNone) return true;
  }
  // Without a flow: something before it is already not finite.
  return !dump.has_flow() && report.first && report.first->tensor != finding.tensor &&
         !dump.runs()[run].outputs.empty();
}

namespace {

constexpr uint64_t kLeastUnits = 4;  // of a share

bool judges_exchanges(const CheckRun& run) {
  return run.facts.has_digests() && run.rules.on(RuleId::kCollectiveMismatch);
}

bool judges_replicas(const CheckRun& run) { return run.facts.has_digests() && run.rules.on(RuleId::kReplicaMismatch); }

// By tensor: the number of the exchange that it is part of; kNone: of none, or nobody asks.
std::vector<uint32_t> exchanges_of(const CheckRun& run) {
  std::vector<uint32_t> of(run.dump.tensors(), kNone);
  if (!judges_exchanges(run)) return of;
  const JoinedCalls joined(run.dump);
  for (uint32_t i = 0; i < joined.exchanges.size(); ++i) {
    for (const uint32_t tensor : joined.tensors_of(joined.exchanges[i])) of[tensor] = i;
  }
  return of;
}

bool is_read(const CheckRun& run, uint32_t tensor) {
  const TensorRecord& record = run.dump.record(tensor);
  return !run.facts.has_read(tensor) && record.has_elements && !record.broken;
}

uint64_t bytes_of(const CheckRun& run, uint32_t tensor) {
  const TensorRecord& record = run.dump.record(tensor);
  return record.bytes.value_or(run.dump.index().files()[record.file].size);
}

// Operators whose tensors of all ranks are small enough to stay together.
std::set<std::string_view> names_kept_together(const CheckRun& run, uint32_t shards) {
  std::set<std::string_view> names;
  if (!judges_replicas(run)) return names;
  std::map<std::string_view, uint64_t> bytes;
  uint64_t all = 0;
  for (uint32_t tensor = 0; tensor < run.dump.tensors(); ++tensor) {
    if (!is_read(run, tensor)) continue;
    bytes[run.dump.record(tensor).name.op_name] += bytes_of(run, tensor);
    all += bytes_of(run, tensor);
  }
  for (const auto& [name, own] : bytes) {
    if (own <= all / shards / kLeastUnits) names.insert(name);
  }
  return names;
}

}  // namespace

CheckUnits check_units(const CheckRun& run, uint32_t shards) {
  CheckUnits units;
  units.of.assign(run.dump.tensors(), kNone);
  using Key = std::tuple<uint32_t, std::string_view, std::optional<int64_t>>;  // exchange; else name, and rank if alone
  std::map<Key, uint32_t> by_key;
  const std::vector<uint32_t> exchanges = exchanges_of(run);
  const std::set<std::string_view> together = names_kept_together(run, shards);
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
    if (!is_read(run, tensor)) continue;
    Key key(exchanges[tensor], {}, {});
    if (exchanges[tensor] == kNone) {
      const std::string_view name = run.dump.record(tensor).name.op_name;
      key = {kNone, name, together.contains(name) ? std::nullopt : run.dump.identity(tensor).rank};
    }
    const auto [found, is_new] = by_key.try_emplace(key, static_cast<uint32_t>(units.bytes.size()));
    if (is_new) units.bytes.push_back(0);
    units.of[tensor] = found->second;
    units.bytes[found->second] += bytes_of(run, tensor);
  }
  return units;
}

Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context) {
  run.facts.limit_to(tensors);
  MSDUMP_CHECK_OK(run.facts.read_all(context));
  std::vector<Finding> unused;
  std::vector<Error> failures;
  if (judges_exchanges(run)) MSDUMP_CHECK_OK(find_exchanges(run.dump, run.facts, tensors, context));
  if (judges_replicas(run)) MSDUMP_CHECK_OK(judge_replicas(run.dump, run.facts, run.rules, context, unused));
  MSDUMP_CHECK_OK(judge_weights(run.dump, run.facts, run.rules, context, unused, failures));
  return judge_ranges(run.dump, run.facts, run.rules, context, unused, failures);
}

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
