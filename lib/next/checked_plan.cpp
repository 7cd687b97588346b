// The next dump of a run on its own, after what check found in the last one:
//
//   the first NaN or infinity comes out of a module   the calls inside it
//   its inputs were not dumped, or are bad already    the calls before it, four times as many with each round; where no dump
//                                                     has any, statistics of everything in that step
//   a parameter or gradient is bad or explodes where  statistics of the steps before
//   the dump begins, and the run had steps before
//   a tensor began to behave otherwise in a step      the same of the 16 steps before
//   (rule began)
//   statistics show what is wrong with a collective   the tensors of its group, or of the operator and the calls before it
//   or which gradient explodes
//   the device noted an overflow of an operator       the operators that overflow
//   that has no files
//
// An operator that computes something else than its own inputs lead to is pinned if nothing was NaN before.
// An operator that makes NaN of finite inputs is pinned by statistics as well as by elements.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "check/check.h"
#include "divergence/model/operator_gain.h"
#include "msprobe/names.h"
#include "next/planner.h"

namespace msdump {
namespace {

using check::CheckRun;
using check::Finding;
using check::FirstNonfinite;
using check::RuleId;
using Open = Suspect::Open;

// True if it is a module that may run several calls, in a dump without any call.
bool hides_calls(const CheckRun& run, OperatorId op) {
  const auto kind_of = [&](OperatorId other) {
    const auto entry = parse_msprobe_entry(run.op_name(other));
    return entry ? std::optional(entry->kind) : std::nullopt;
  };
  if (kind_of(op) != MsprobeEntryKind::kModule || gain_of(gain_family(run.op_type(op))).noise != NoiseClass::kUnknown)
    return false;
  for (OperatorId other{0}; other < run.dump.operators().size(); ++other) {
    if (kind_of(other) == MsprobeEntryKind::kCall) return false;
  }
  return true;
}

RunPlace place_of_first(const CheckRun& run, const FirstNonfinite& first) {
  if (first.run != kNoId) return run.dump.runs()[first.run].place;
  if (first.tensor == kNoId) return {};
  const FolderIdentity folder = place_of(run.dump.index(), run.dump.record(first.tensor));
  return {folder.rank, folder.step, 0, folder.dump};
}

// The first NaN or infinity.
Suspect suspect_of(const CheckRun& run, const CaseRuns& runs, const FirstNonfinite& first, DumpExtent extent) {
  using Kind = FirstNonfinite::Kind;
  const bool is_input = first.kind == Kind::kInput;
  // Inputs with nothing but the -inf of a mask are judged, and not finite.
  const bool made_it = std::find(first.outputs.begin(), first.outputs.end(), first.tensor) != first.outputs.end();
  Suspect found = suspect_at(run, runs.last(), first.op, place_of_first(run, first));
  found.kind = name_of(first.kind);
  found.reason = first.reason;
  found.parameter = first.parameter;
  if (is_input || first.kind == Kind::kParameter) {
    // The input of a call without names may be a weight as well as data.
    if (runs.last().begins_with(found.place.step)) found.open = Open::kStepsBefore;
    if (extent != DumpExtent::kAll && is_input && first.parameter.empty()) found.open = Open::kBefore;
  } else if (first.kind != Kind::kOverflow) {
    const bool reads_bad = !made_it || !first.inputs_finite;
    if (reads_bad || hides_calls(run, first.op)) found.open = reads_bad ? Open::kBefore : Open::kHiddenCalls;
  }
  found.only_reads = found.open == Open::kBefore && !made_it;
  if (found.open == Open::kBefore && is_input && runs.begins_network(found))
    found.open = runs.whole.begins_with(found.place.step) ? Open::kStepsBefore : Open::kPinned;
  return found;
}

ExecutionId run_of(const CheckRun& run, const Finding& finding) {
  if (finding.tensor != kNoId && run.dump.run_of(finding.tensor) != kNoId) return run.dump.run_of(finding.tensor);
  for (ExecutionId index{0}; index < run.dump.runs().size(); ++index) {
    const OpRun& other = run.dump.runs()[index];
    if (other.op == finding.op && other.place.rank == finding.rank && other.place.step == finding.step) return index;
  }
  return kNoId;
}

bool has_elements(const CheckRun& run, const Finding& finding) {
  const auto has = [&](TensorId tensor) { return run.dump.record(tensor).has_elements; };
  const auto& tensors = run.dump.operators()[finding.op].tensors;
  return finding.tensor != kNoId ? has(finding.tensor)
                                 : std::any_of(tensors.begin(), tensors.end(),
                                               [&](RecordId tensor) { return has(check::tensor_of(tensor)); });
}

Suspect suspect_of(const CheckRun& run, const CaseRuns& runs, const Finding& finding, Open open) {
  Suspect found = suspect_at(run, runs.last(), finding.op, {finding.rank, finding.step, 0});
  found.kind = check::name_of(finding.rule);
  found.reason = finding.message;
  const std::vector<int64_t>& ranks = finding.group.empty() ? finding.ranks : finding.group;
  if (!ranks.empty()) found.ranks = ranks;
  found.open = open;
  return found;
}

// The first finding of a kind: of the first step if `by_step`, and in it by its execution. Null: none.
const Finding* first_finding(const CheckRun& run, bool by_step, const std::function<bool(const Finding&)>& is_of_kind) {
  const Finding* first = nullptr;
  const auto when = [&](const Finding& finding) {
    return std::pair(by_step ? known_first(finding.step) : std::pair(false, int64_t{0}), run_of(run, finding));
  };
  for (const Finding& finding : run.report.findings) {
    if (finding.op != kNoId && is_of_kind(finding) && (first == nullptr || when(finding) < when(*first)))
      first = &finding;
  }
  return first;
}

// An operator that was dumped because it overflows, else a task without files.
std::optional<Suspect> first_overflow(const CheckRun& run, const CaseRuns& runs) {
  const Finding* const of_operator =
      first_finding(run, false, [](const Finding& finding) { return finding.rule == RuleId::kOperatorOverflow; });
  if (of_operator != nullptr) return suspect_of(run, runs, *of_operator, Open::kPinned);
  if (run.report.overflows.empty()) return {};
  const check::OverflowHit& hit = run.report.overflows.front();
  const DumpIndex& index = run.dump.index();
  const uint32_t dump = index.folders()[index.files()[hit.file].folder].identity.dump;
  Suspect found = suspect_at(run, runs.last(), kNoId, {hit.rank, hit.step, 0, dump});
  found.kind = check::name_of(RuleId::kOperatorOverflow);
  found.reason =
      fmt::format("the device noted an overflow: {}; no dumped file has this task and stream id", check::describe(hit));
  found.open = Open::kNotDumped;
  return found;
}

// Finite numbers that explode, or ranks that diverge.
std::optional<Suspect> first_growth(const CheckRun& run, const CaseRuns& runs) {
  const Finding* const first = first_finding(run, true, [](const Finding& finding) {
    return finding.severity != Severity::kNote && check::info(finding.rule).has(check::kGrows);
  });
  if (first == nullptr) return {};
  const bool of_weight = first->rule != RuleId::kCollectiveMismatch;
  // A history has few tensors of each step: what led to it is asked for.
  const bool before = first->rule == RuleId::kBegan || (of_weight && runs.last().begins_with(first->step));
  return suspect_of(run, runs, *first,
                    before                      ? Open::kStepsBefore
                    : has_elements(run, *first) ? Open::kPinned
                                                : Open::kStatistics);
}

std::optional<Suspect> find_suspect(const CheckRun& run, const CaseRuns& runs, DumpExtent extent) {
  // An operator whose outputs are not what its own inputs lead to is pinned, whatever is NaN after it.
  const auto& bad = run.report.first;
  const Finding* const wrong = first_finding(run, false, [](const Finding& finding) {
    return finding.rule == RuleId::kWrongOutput && finding.tensor != kNoId;
  });
  if (wrong != nullptr && (!bad || run_of(run, *wrong) < bad->run)) return suspect_of(run, runs, *wrong, Open::kPinned);
  if (bad) return suspect_of(run, runs, *bad, extent);
  std::optional<Suspect> found = first_overflow(run, runs);
  if (!found) found = first_growth(run, runs);
  // The operators that overflow were asked for once.
  if (found && found->open == Open::kNotDumped && runs.rounds > 1) return {};
  return found;
}

constexpr WordsTable kCheckedWords = enum_table<Open, PlanWords>(
    PlanWords{},
    PlanWords{"which of the calls inside {name} makes it?",
              {{{"the inputs of one of them are finite and its outputs are not", "that call is to blame"}}}},
    PlanWords{"which operator overflows?",
              {{{"an operator is dumped", "its output is beyond the range of its type"},
                {"none is", "the device notes overflow that no operator of the network makes"}}}},
    PlanWords{"what do the elements of {name} and of the calls before it show?",
              {{{"they show the same", "{name} is to blame"},
                {"they do not", "the statistics were rounded, and nothing is wrong there"}}}},
    PlanWords{},
    PlanWords{"where on the way to {name} does it begin?",
              {{{"the inputs of one of them are finite and its outputs are not", "that operator is to blame"},
                {"the inputs of the first are not", "the next dump goes further up"}}}},
    PlanWords{"in which step before does what {name} has begin to be wrong?",
              {{{"a gradient is wrong before the weight is", "the operator that made it is to blame"},
                {"a weight is wrong first", "its update in the step before is to blame"}}}});

}  // namespace

DumpRuns runs_of(const CheckRun& run) {
  DumpRuns runs(&run.dump.dump(), nullptr, run.dump.index().dumps());
  for (OperatorId op{0}; op < run.dump.operators().size(); ++op)
    runs.operators.push_back({run.op_name(op), {&run.dump.operators()[op], nullptr}});
  for (TensorId tensor{0}; tensor < run.dump.tensors(); ++tensor) {
    const TensorRecord& record = run.dump.record(tensor);
    const ExecutionId at = run.dump.run_of(tensor);
    runs.add(at, at == kNoId ? OperatorId() : run.dump.runs()[at].op, run.dump.identity(tensor), record);
    runs.bytes += bytes_of_elements(record);
    if (at != kNoId) runs.executions[at].equal = false;
  }
  return runs;
}

DumpExtent extent_of(const CheckRun& run) {
  return runs_of(run).begins_inside() ? DumpExtent::kList : DumpExtent::kAll;
}

NextPlan plan_next(const std::vector<CaseDump<CheckRun>>& dumps, const DumpRequest& as_before) {
  const CaseRuns runs(dumps);
  std::vector<Suspect> suspects;
  if (auto found = find_suspect(*dumps.back().run, runs, dumps.back().extent)) suspects.push_back(std::move(*found));
  return plan_for(std::move(suspects), runs.last(), runs, kCheckedWords, as_before);
}

}  // namespace msdump
