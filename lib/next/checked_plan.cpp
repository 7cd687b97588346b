#include "next/checked_plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "divergence/model/operator_gain.h"
#include "divergence/roots/undumped.h"
#include "msprobe/names.h"
#include "next/planner.h"

namespace msdump {
namespace {

using check::CheckRun;
using check::Finding;
using check::FirstNonfinite;
using check::RuleId;
using Open = Suspect::Open;

FoundSuspect found_at(const CheckRun& run, OperatorId op, std::string_view kind, std::string reason,
                      const RunPlace& place) {
  FoundSuspect found;
  found.op = op;
  found.kind = kind;
  found.reason = std::move(reason);
  found.place = place;
  if (op != kNoId) found.place.dump = run.dump.operators()[op].dump;
  found.dump = run.dump.index().name_of_dump(found.place.dump);
  if (place.rank) found.ranks = {*place.rank};
  if (op == kNoId) return found;
  found.op_name = run.op_name(op);
  found.op_type = run.op_type(op);
  found.frame = run.frame(op);
  return found;
}

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

// The first NaN or infinity.
class FirstBad {
 public:
  FirstBad(const CheckRun& run, const FirstNonfinite& first, const CaseRuns& runs)
      : run_(run), first_(first), runs_(runs) {}

  [[nodiscard]] FoundSuspect suspect(DumpExtent extent) const {
    FoundSuspect found = found_at(run_, first_.op, name_of(first_.kind), first_.reason, place());
    found.parameter = first_.parameter;
    found.open = open_of(found.place, extent);
    found.only_reads = found.open == Open::kBefore && !made_it();
    if (found.open == Open::kBefore && is_input() && runs_.begins_network(found))
      found.open = runs_.whole.begins_with(found.place.step) ? Open::kStepsBefore : Open::kPinned;
    return found;
  }

 private:
  [[nodiscard]] bool is_input() const { return first_.kind == FirstNonfinite::Kind::kInput; }
  // Inputs with nothing but the -inf of a mask are judged, and not finite.
  [[nodiscard]] bool made_it() const {
    return std::find(first_.outputs.begin(), first_.outputs.end(), first_.tensor) != first_.outputs.end();
  }
  [[nodiscard]] RunPlace place() const {
    if (first_.run != kNoId) return run_.dump.runs()[first_.run].place;
    if (first_.tensor == kNoId) return {};
    const FolderIdentity folder = place_of(run_.dump.index(), run_.dump.record(first_.tensor));
    return {folder.rank, folder.step, 0, folder.dump};
  }

  [[nodiscard]] Open open_of(const RunPlace& place, DumpExtent extent) const {
    using Kind = FirstNonfinite::Kind;
    switch (first_.kind) {
      case Kind::kOverflow: return Open::kPinned;
      case Kind::kParameter:
      case Kind::kInput:
        if (extent != DumpExtent::kAll && is_input() && first_.parameter.empty()) return Open::kBefore;
        // The input of a call without names may be a weight as well as data.
        return runs_.last.begins_with(place.step) ? Open::kStepsBefore : Open::kPinned;
      case Kind::kNan:
      case Kind::kInf: break;
    }
    if (!made_it() || !first_.inputs_finite) return Open::kBefore;
    return hides_calls(run_, first_.op) ? Open::kHiddenCalls : Open::kPinned;
  }

  const CheckRun& run_;
  const FirstNonfinite& first_;
  const CaseRuns& runs_;
};

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

FoundSuspect suspect_of(const CheckRun& run, const Finding& finding, Open open) {
  FoundSuspect found =
      found_at(run, finding.op, check::name_of(finding.rule), finding.message, {finding.rank, finding.step, 0});
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
std::optional<FoundSuspect> first_overflow(const CheckRun& run) {
  const Finding* const of_operator =
      first_finding(run, false, [](const Finding& finding) { return finding.rule == RuleId::kOperatorOverflow; });
  if (of_operator != nullptr) return suspect_of(run, *of_operator, Open::kPinned);
  if (run.report.overflows.empty()) return {};
  const check::OverflowHit& hit = run.report.overflows.front();
  const DumpIndex& index = run.dump.index();
  FoundSuspect found = found_at(
      run, kNoId, check::name_of(RuleId::kOperatorOverflow),
      fmt::format("the device noted an overflow: {}; no dumped file has this task and stream id", check::describe(hit)),
      {hit.rank, hit.step, 0, index.folders()[index.files()[hit.file].folder].identity.dump});
  found.open = Open::kNotDumped;
  return found;
}

// Finite numbers that explode, or ranks that diverge.
std::optional<FoundSuspect> first_growth(const CheckRun& run, const CaseRuns& runs) {
  const Finding* const first = first_finding(run, true, [](const Finding& finding) {
    return finding.severity != Severity::kNote && check::info(finding.rule).has(check::kGrows);
  });
  if (first == nullptr) return {};
  const bool of_weight = first->rule != RuleId::kCollectiveMismatch;
  // A history has few tensors of each step: what led to it is asked for.
  const bool before = first->rule == RuleId::kBegan || (of_weight && runs.last.begins_with(first->step));
  return suspect_of(run, *first,
                    before                      ? Open::kStepsBefore
                    : has_elements(run, *first) ? Open::kPinned
                                                : Open::kStatistics);
}

std::optional<FoundSuspect> find_suspect(const CheckRun& run, const CaseRuns& runs, DumpExtent extent) {
  // An operator whose outputs are not what its own inputs lead to is pinned, whatever is NaN after it.
  const auto& bad = run.report.first;
  const Finding* const wrong = first_finding(run, false, [](const Finding& finding) {
    return finding.rule == RuleId::kWrongOutput && finding.tensor != kNoId;
  });
  if (wrong != nullptr && (!bad || run_of(run, *wrong) < bad->run)) return suspect_of(run, *wrong, Open::kPinned);
  if (bad) return FirstBad(run, *bad, runs).suspect(extent);
  std::optional<FoundSuspect> found = first_overflow(run);
  if (!found) found = first_growth(run, runs);
  // The operators that overflow were asked for once.
  if (found && found->open == Open::kNotDumped && runs.rounds > 1) return {};
  return found;
}

DumpRuns runs_of(const CheckRun& run) {
  DumpRuns runs(&run.dump.dump(), nullptr);
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

DumpExtent extent_of(const CheckRun& run) {
  return runs_of(run).begins_inside() ? DumpExtent::kList : DumpExtent::kAll;
}

NextPlan plan_next(const std::vector<CaseDump<CheckRun>>& dumps, const DumpRequest& as_before) {
  const size_t begin = whole_dump(dumps);
  const DumpRuns whole = runs_of(*dumps[begin].run);
  const std::optional<DumpRuns> other =
      begin + 1 < dumps.size() ? std::optional(runs_of(*dumps.back().run)) : std::nullopt;
  const DumpRuns& last = other ? *other : whole;
  const CaseRuns runs{last, whole, dumps[begin].extent == DumpExtent::kAll, dumps.size()};
  std::vector<FoundSuspect> suspects;
  if (auto found = find_suspect(*dumps.back().run, runs, dumps.back().extent)) suspects.push_back(std::move(*found));
  return plan_for(std::move(suspects), last, runs, kCheckedWords, as_before);
}

}  // namespace msdump
