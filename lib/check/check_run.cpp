#include "check/check_run.h"

#include <algorithm>

#include "graph/join/mislabelled.h"

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

}  // namespace msdump::check
