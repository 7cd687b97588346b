#include "next/checked_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
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

struct FoundSuspect {
  Suspect shown;
  OperatorId op;
  ExecutionId run;                  // kNoId: not known
  std::vector<int64_t> ranks = {};  // that the next dump is to have
};

FoundSuspect found_at(const CheckRun& run, OperatorId op, std::string_view kind, std::string reason) {
  FoundSuspect found;
  found.op = op;
  found.shown.kind = kind;
  found.shown.reason = std::move(reason);
  if (op == kNoId) return found;
  found.shown.op_name = run.op_name(op);
  found.shown.op_type = run.op_type(op);
  found.shown.frame = run.frame(op);
  return found;
}

std::optional<int64_t> first_step(const CheckRun& run) {
  std::optional<int64_t> first;
  for (TensorId tensor{0}; tensor < run.dump.tensors(); ++tensor) {
    const std::optional<int64_t> step = run.dump.identity(tensor).step;
    if (step && (!first || *step < *first)) first = step;
  }
  return first;
}

// True if the dump begins with this step, and the run had earlier ones.
bool begins_here(const CheckRun& run, const std::optional<int64_t>& step) {
  return step && *step > 0 && step == first_step(run);
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

Open open_of(const CheckRun& run, const FirstNonfinite& first, const RunPlace& place, DumpExtent extent) {
  using Kind = FirstNonfinite::Kind;
  switch (first.kind) {
    case Kind::kOverflow: return Open::kPinned;
    case Kind::kParameter:
    case Kind::kInput:
      if (extent != DumpExtent::kAll && first.kind == Kind::kInput && first.parameter.empty()) return Open::kBefore;
      // The input of a call without names may be a weight as well as data.
      return begins_here(run, place.step) ? Open::kStepsBefore : Open::kPinned;
    case Kind::kNan:
    case Kind::kInf: break;
  }
  // Inputs with nothing but the -inf of a mask are judged, and not finite.
  const bool made_it = std::find(first.outputs.begin(), first.outputs.end(), first.tensor) != first.outputs.end();
  if (!made_it || !first.inputs_finite) return Open::kBefore;
  return hides_calls(run, first.op) ? Open::kHiddenCalls : Open::kPinned;
}

FoundSuspect suspect_of(const CheckRun& run, const FirstNonfinite& first, DumpExtent extent) {
  FoundSuspect found = found_at(run, first.op, name_of(first.kind), first.reason);
  found.run = first.run;
  found.shown.parameter = first.parameter;
  if (first.run != kNoId) {
    found.shown.place = run.dump.runs()[first.run].place;
  } else if (first.tensor != kNoId) {
    const Identity identity = run.dump.identity(first.tensor);
    found.shown.place = {identity.rank, identity.step, 0};
  }
  found.shown.open = open_of(run, first, found.shown.place, extent);
  if (found.shown.place.rank) found.ranks = {*found.shown.place.rank};
  return found;
}

// True for findings about finite numbers: values that explode, ranks that diverge.
bool shows_growth(const Finding& finding) {
  return finding.severity != Severity::kNote && finding.op != kNoId && check::info(finding.rule).has(check::kGrows);
}

Open open_of(const CheckRun& run, const Finding& finding) {
  const bool of_weight = finding.rule != RuleId::kCollectiveMismatch;
  if (of_weight && begins_here(run, finding.step)) return Open::kStepsBefore;
  const auto& tensors = run.dump.operators()[finding.op].tensors;
  const bool elements = finding.tensor != kNoId ? run.dump.record(finding.tensor).has_elements
                                                : std::any_of(tensors.begin(), tensors.end(), [&](RecordId tensor) {
                                                    return run.dump.record(check::tensor_of(tensor)).has_elements;
                                                  });
  return elements ? Open::kPinned : Open::kStatistics;
}

FoundSuspect suspect_of(const CheckRun& run, const Finding& finding) {
  FoundSuspect found = found_at(run, finding.op, check::name_of(finding.rule), finding.message);
  found.shown.place = {finding.rank, finding.step, 0};
  if (finding.tensor != kNoId) found.run = run.dump.run_of(finding.tensor);
  for (ExecutionId index{0}; found.run == kNoId && index < run.dump.runs().size(); ++index) {
    const OpRun& other = run.dump.runs()[index];
    if (other.op == finding.op && other.place.rank == finding.rank && other.place.step == finding.step)
      found.run = index;
  }
  found.ranks = finding.group.empty() ? finding.ranks : finding.group;
  if (found.ranks.empty() && finding.rank) found.ranks = {*finding.rank};
  found.shown.open = open_of(run, finding);
  return found;
}

// The first operator whose outputs are not what its own inputs lead to: pinned, whatever is NaN after it.
std::optional<FoundSuspect> first_wrong_output(const CheckRun& run) {
  std::optional<FoundSuspect> first;
  for (const Finding& finding : run.report.findings) {
    if (finding.rule != RuleId::kWrongOutput || finding.op == kNoId || finding.tensor == kNoId) continue;
    FoundSuspect found = suspect_of(run, finding);
    found.shown.open = Open::kPinned;
    if (!first || found.run < first->run) first = std::move(found);
  }
  return first;
}

// The first overflow that the device noted: an operator that was dumped because of it, else a task without files.
std::optional<FoundSuspect> first_overflow(const CheckRun& run) {
  std::optional<FoundSuspect> first;
  for (const Finding& finding : run.report.findings) {
    if (finding.rule != RuleId::kOperatorOverflow || finding.op == kNoId) continue;
    FoundSuspect found = suspect_of(run, finding);
    found.shown.open = Open::kPinned;
    if (!first || found.run < first->run) first = std::move(found);
  }
  if (first || run.report.overflows.empty()) return first;
  const check::OverflowHit& hit = run.report.overflows.front();
  FoundSuspect found =
      found_at(run, kNoId, check::name_of(RuleId::kOperatorOverflow),
               fmt::format("the device noted an overflow: {}; no dumped file has this task and stream id",
                           check::describe(hit)));
  found.shown.place = {hit.rank, hit.step, 0};
  found.shown.open = Open::kNotDumped;
  if (hit.rank) found.ranks = {*hit.rank};
  return found;
}

// The first in time.
std::optional<FoundSuspect> first_growth(const CheckRun& run) {
  std::optional<FoundSuspect> first;
  const auto when = [](const FoundSuspect& found) {
    return std::tuple(!found.shown.place.step, found.shown.place.step.value_or(0), found.run);
  };
  for (const Finding& finding : run.report.findings) {
    if (!shows_growth(finding)) continue;
    FoundSuspect found = suspect_of(run, finding);
    if (!first || when(found) < when(*first)) first = std::move(found);
  }
  return first;
}

class CheckedRounds : public PlanSource {
 public:
  CheckedRounds(const std::vector<CheckedRound>& rounds, const DumpRequest& as_before)
      : rounds_(rounds),
        as_before_(as_before),
        last_(*rounds.back().run),
        whole_(rounds[whole_round(rounds)]),
        first_(*whole_.run) {}

  std::vector<Suspect> find_suspects() override {
    std::optional<FoundSuspect> found = first_wrong_output(last_);
    const bool is_first = found && (!last_.report.first || found->run < last_.report.first->run);
    if (last_.report.first && !is_first) {
      found = suspect_of(last_, *last_.report.first, rounds_.back().extent);
      if (enters_network(*found)) {
        const bool earlier = begins_here(first_, found->shown.place.step);
        found->shown.open = earlier ? Open::kStepsBefore : Open::kPinned;
      }
    } else if (!is_first) {
      found = first_overflow(last_);
      if (!found) found = first_growth(last_);
    }
    // The operators that overflow were asked for once.
    if (!found || (found->shown.open == Open::kNotDumped && rounds_.size() > 1)) return {};
    found_ = std::move(*found);
    return {found_.shown};
  }

  [[nodiscard]] std::vector<int64_t> ranks_of(size_t) const override { return found_.ranks; }

  // The call of the last dump, and those before it in the round that has all.
  AskedCalls calls_of(size_t, NextPlan& plan) override {
    AskedCalls calls;
    if (found_.shown.open == Open::kNotDumped) {
      // msprobe has no task for it; its statistics count what is infinite.
      calls.everything = as_before_.kind == ConfigKind::kMsprobe;
      plan.candidate.overflow = !calls.everything;
      return calls;
    }
    const bool before = found_.shown.open == Open::kBefore || found_.shown.open == Open::kStatistics;
    ExecutionId run = run_in_first(found_);
    of_ = run == kNoId ? &last_ : &first_;
    if (run == kNoId) run = found_.run;
    if (run != kNoId && before) asked_ = nearest_before(*of_, run);
    calls.reaches_back = !asked_.empty();
    if (run != kNoId) asked_.push_back(run);
    std::vector<std::string>& names = calls.candidate.list;
    for (const ExecutionId one : asked_) names.push_back(name_in(*of_, of_->dump.runs()[one].op));
    if (run == kNoId && found_.op != kNoId) names.push_back(name_in(*of_, found_.op));
    if (names.empty()) return calls;
    const auto entry = parse_msprobe_entry(names.back());
    calls.is_call = entry && entry->kind == MsprobeEntryKind::kCall;
    calls.candidate.range = {names.front(), names.back()};
    return calls;
  }

  void measure(DumpSize& size) const override {
    for (TensorId tensor{0}; tensor < of_->dump.tensors(); ++tensor) {
      if (!std::binary_search(asked_.begin(), asked_.end(), of_->dump.run_of(tensor))) continue;
      ++size.tensors;
      size.bytes += bytes_of_elements(of_->dump.record(tensor));
    }
    for (TensorId tensor{0}; tensor < first_.dump.tensors(); ++tensor)
      size.of_all += bytes_of_elements(first_.dump.record(tensor));
  }

  [[nodiscard]] const PlanWords& words(Open open) const override {
    static constexpr auto kWords = enum_table<Open, PlanWords>(
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
    return kWords[open];
  }

 private:
  // True if the first call of the network reads it.
  [[nodiscard]] bool enters_network(const FoundSuspect& found) const {
    if (found.shown.open != Open::kBefore || last_.report.first->kind != FirstNonfinite::Kind::kInput) return false;
    const ExecutionId run = whole_.extent == DumpExtent::kAll ? run_in_first(found) : kNoId;
    return run != kNoId && nearest_before(first_, run).empty();
  }

  [[nodiscard]] ExecutionId run_in_first(const FoundSuspect& found) const {
    if (&first_ == &last_) return found.run;
    const auto& runs = first_.dump.runs();
    for (ExecutionId run{0}; run < runs.size(); ++run) {
      if (runs[run].place == found.shown.place && first_.op_name(runs[run].op) == found.shown.op_name) return run;
    }
    return kNoId;
  }

  [[nodiscard]] std::string name_in(const CheckRun& of, OperatorId op) const {
    const SequencedOp& operation = of.dump.operators()[op];
    return name_to_ask(as_before_, operation, kernel_name(of.dump.dump(), operation));
  }

  // The runs before one, of its rank, step and pass, in the order of time.
  [[nodiscard]] std::vector<ExecutionId> nearest_before(const CheckRun& of, ExecutionId run) const {
    const auto& runs = of.dump.runs();
    const size_t most = calls_before(rounds_.size());
    const auto is_backward = [&](ExecutionId one) { return forward_entry_of(of.op_name(runs[one].op)).has_value(); };
    const bool backward = is_backward(run);
    std::vector<ExecutionId> before;
    for (ExecutionId other = run; other-- > 0 && before.size() < most;) {
      if (runs[other].place.rank != runs[run].place.rank || runs[other].place.step != runs[run].place.step) break;
      if (is_backward(other) == backward) before.push_back(other);
    }
    std::reverse(before.begin(), before.end());
    return before;
  }

  const std::vector<CheckedRound>& rounds_;
  const DumpRequest& as_before_;
  const CheckRun& last_;
  const CheckedRound& whole_;
  const CheckRun& first_;  // of `whole_`
  FoundSuspect found_;
  const CheckRun* of_ = &last_;     // whose runs are asked for
  std::vector<ExecutionId> asked_;  // in the order of time
};

}  // namespace

NextPlan plan_next(const std::vector<CheckedRound>& rounds, const DumpRequest& as_before) {
  CheckedRounds source(rounds, as_before);
  return plan_with(source, extents_of(rounds), as_before);
}

}  // namespace msdump
