#include "next/checked_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "divergence/model/operator_gain.h"
#include "divergence/roots/undumped.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using check::CheckRun;
using check::Finding;
using check::FirstNonfinite;
using check::kNone;
using check::RuleId;
using Open = Suspect::Open;

struct FoundSuspect {
  Suspect shown;
  uint32_t op = kNone, run = kNone;  // CheckedDump::operators(), runs(); kNone: not known
  std::vector<int64_t> ranks = {};   // that the next dump is to have
};

FoundSuspect found_at(const CheckRun& run, uint32_t op, std::string_view kind, std::string reason) {
  FoundSuspect found;
  found.op = op;
  found.shown.kind = kind;
  found.shown.reason = std::move(reason);
  if (op == kNone) return found;
  found.shown.op_name = run.op_name(op);
  found.shown.op_type = run.op_type(op);
  found.shown.frame = run.frame(op);
  return found;
}

std::optional<int64_t> first_step(const CheckRun& run) {
  std::optional<int64_t> first;
  for (uint32_t tensor = 0; tensor < run.dump.tensors(); ++tensor) {
    const std::optional<int64_t> step = run.dump.identity(tensor).step;
    if (step && (!first || *step < *first)) first = step;
  }
  return first;
}

// Had the run steps before this one, of which the dump has none?
bool begins_here(const CheckRun& run, const std::optional<int64_t>& step) {
  return step && *step > 0 && step == first_step(run);
}

// Is it a module, in a dump without any call, of a type that may run several?
bool hides_calls(const CheckRun& run, uint32_t op) {
  const auto kind_of = [&](uint32_t other) {
    const auto entry = parse_msprobe_entry(run.op_name(other));
    return entry ? std::optional(entry->kind) : std::nullopt;
  };
  if (kind_of(op) != MsprobeEntryKind::kModule || gain_of(gain_family(run.op_type(op))).noise != NoiseClass::kUnknown)
    return false;
  for (uint32_t other = 0; other < run.dump.operators().size(); ++other) {
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
      // Of a call without names the input may be a weight as well as data.
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
  if (first.run != kNone) {
    found.shown.place = run.dump.runs()[first.run].place;
  } else if (first.tensor != kNone) {
    const Identity identity = run.dump.identity(first.tensor);
    found.shown.place = {identity.rank, identity.step, 0};
  }
  found.shown.open = open_of(run, first, found.shown.place, extent);
  if (found.shown.place.rank) found.ranks = {*found.shown.place.rank};
  return found;
}

// Numbers that stay finite: what explodes, and where ranks leave each other.
bool shows_growth(const Finding& finding) {
  constexpr RuleId kRules[] = {RuleId::kGradientExploding, RuleId::kGradientTooLarge,   RuleId::kTooLarge,
                               RuleId::kTensorRange,       RuleId::kActivationRange,    RuleId::kWeightTooLarge,
                               RuleId::kWeightChangeLarge, RuleId::kCollectiveMismatch, RuleId::kReplicaMismatch};
  return finding.severity != check::Severity::kNote && finding.op != kNone &&
         std::any_of(std::begin(kRules), std::end(kRules),
                     [&](RuleId rule) { return finding.kind == check::info(rule).name; });
}

Open open_of(const CheckRun& run, const Finding& finding) {
  const bool of_weight = finding.kind != check::info(RuleId::kCollectiveMismatch).name;
  if (of_weight && begins_here(run, finding.step)) return Open::kStepsBefore;
  const auto& tensors = run.dump.operators()[finding.op].tensors;
  const bool elements = finding.tensor != kNone ? run.dump.record(finding.tensor).has_elements
                                                : std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) {
                                                    return run.dump.record(tensor).has_elements;
                                                  });
  return elements ? Open::kPinned : Open::kStatistics;
}

FoundSuspect suspect_of(const CheckRun& run, const Finding& finding) {
  FoundSuspect found = found_at(run, finding.op, finding.kind, finding.message);
  found.shown.place = {finding.rank, finding.step, 0};
  if (finding.tensor != kNone) found.run = run.dump.run_of(finding.tensor);
  for (uint32_t index = 0; found.run == kNone && index < run.dump.runs().size(); ++index) {
    const OpRun& other = run.dump.runs()[index];
    if (other.op == finding.op && other.place.rank == finding.rank && other.place.step == finding.step)
      found.run = index;
  }
  found.ranks = finding.group.empty() ? finding.ranks : finding.group;
  if (found.ranks.empty() && finding.rank) found.ranks = {*finding.rank};
  found.shown.open = open_of(run, finding);
  return found;
}

// What the device noted: an operator that was dumped because of it, else a task without files.
std::optional<FoundSuspect> first_overflow(const CheckRun& run) {
  std::optional<FoundSuspect> first;
  for (const Finding& finding : run.report.findings) {
    if (finding.kind != check::info(RuleId::kOperatorOverflow).name || finding.op == kNone) continue;
    FoundSuspect found = suspect_of(run, finding);
    found.shown.open = Open::kPinned;
    if (!first || found.run < first->run) first = std::move(found);
  }
  if (first || run.report.overflows.empty()) return first;
  const check::OverflowHit& hit = run.report.overflows.front();
  FoundSuspect found =
      found_at(run, kNone, check::info(RuleId::kOperatorOverflow).name,
               fmt::format("the device noted an overflow: {}; no file here is of that task", check::describe(hit)));
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

class CheckedPlanner {
 public:
  CheckedPlanner(const std::vector<CheckedRound>& rounds, const DumpRequest& as_before)
      : rounds_(rounds), last_(*rounds.back().run), whole_(rounds[whole_round(rounds)]), first_(*whole_.run) {
    plan_.candidate = as_before;
  }

  NextPlan plan() && {
    std::optional<FoundSuspect> found;
    if (last_.report.first) {
      found = suspect_of(last_, *last_.report.first, rounds_.back().extent);
      if (enters_network(*found)) {
        const bool earlier = begins_here(first_, found->shown.place.step);
        found->shown.open = earlier ? Open::kStepsBefore : Open::kPinned;
      }
    } else {
      found = first_overflow(last_);
      if (!found) found = first_growth(last_);
    }
    // The operators that overflow were asked for once.
    if (!found || (found->shown.open == Open::kNotDumped && rounds_.size() > 1)) return std::move(plan_);
    plan_.suspects = {found->shown};
    const bool pinned = found->shown.open == Open::kPinned;
    plan_.state = pinned ? PlanState::kPinned : PlanState::kAsked;
    if (!pinned) ask(*found);
    return std::move(plan_);
  }

 private:
  void ask(const FoundSuspect& found) {
    const Open open = found.shown.open;
    DumpRequest& request = plan_.candidate;
    request.statistics = open == Open::kStepsBefore;
    request.all_risks = request.target.framework == Framework::kPyTorch;
    if (found.shown.place.step)
      request.steps = open == Open::kStepsBefore ? steps_before(*found.shown.place.step)
                                                 : std::vector<int64_t>{*found.shown.place.step};
    request.ranks = found.ranks;
    if (open == Open::kNotDumped) add_overflow();
    if (open != Open::kStepsBefore && open != Open::kNotDumped) add_calls(found);
    if (open == Open::kHiddenCalls) plan_.size.at_least = true;
    for (uint32_t tensor = 0; tensor < first_.dump.tensors(); ++tensor)
      plan_.size.of_all += bytes_of_elements(first_.dump.record(tensor));
    say(found.shown);
  }

  // msprobe has no task for it; its statistics count what is infinite.
  void add_overflow() {
    if (plan_.candidate.kind == ConfigKind::kMsprobe) return ask_everything();
    plan_.candidate.overflow = true;
    plan_.extent = DumpExtent::kList;
  }

  void ask_everything() {
    plan_.candidate.statistics = true;
    plan_.extent = DumpExtent::kAll;
  }

  // A call of the last dump, and those before it in the one that has them all.
  void add_calls(const FoundSuspect& found) {
    DumpRequest& request = plan_.candidate;
    const bool of_msprobe = request.kind == ConfigKind::kMsprobe;
    const bool before = found.shown.open == Open::kBefore || found.shown.open == Open::kStatistics;
    uint32_t run = run_in_first(found);
    const CheckRun& of = run == kNone ? last_ : first_;
    if (run == kNone) run = found.run;
    std::vector<uint32_t> runs;
    if (run != kNone && before) runs = nearest_before(of, run);
    const bool none_known = rounds_.back().extent != DumpExtent::kAll && whole_.extent != DumpExtent::kAll;
    if (found.shown.open == Open::kBefore && runs.empty() && none_known) return ask_everything();
    if (run != kNone) runs.push_back(run);
    std::vector<std::string> names;
    for (const uint32_t one : runs) names.push_back(name_in(of, of.dump.runs()[one].op));
    if (run == kNone && found.op != kNone) names.push_back(name_in(of, found.op));
    measure(of, runs);
    // A range of msprobe ends before what its last module makes.
    const auto entry = names.empty() ? std::nullopt : parse_msprobe_entry(names.back());
    if (of_msprobe && names.size() > 1 && entry && entry->kind == MsprobeEntryKind::kCall) {
      request.scope = {names.front(), names.back()};
      plan_.extent = DumpExtent::kRange;
      return;
    }
    std::set<std::string_view> seen;
    std::copy_if(names.begin(), names.end(), std::back_inserter(request.list),
                 [&](const std::string& name) { return seen.insert(name).second; });
    plan_.extent = DumpExtent::kList;
  }

  // Is it what the first call of the whole network reads?
  [[nodiscard]] bool enters_network(const FoundSuspect& found) const {
    if (found.shown.open != Open::kBefore || last_.report.first->kind != FirstNonfinite::Kind::kInput) return false;
    const uint32_t run = whole_.extent == DumpExtent::kAll ? run_in_first(found) : kNone;
    return run != kNone && nearest_before(first_, run).empty();
  }

  [[nodiscard]] uint32_t run_in_first(const FoundSuspect& found) const {
    if (&first_ == &last_) return found.run;
    const auto& runs = first_.dump.runs();
    for (uint32_t run = 0; run < runs.size(); ++run) {
      if (runs[run].place == found.shown.place && first_.op_name(runs[run].op) == found.shown.op_name) return run;
    }
    return kNone;
  }

  [[nodiscard]] std::string name_in(const CheckRun& of, uint32_t op) const {
    const SequencedOp& operation = of.dump.operators()[op];
    return name_to_ask(plan_.candidate, operation, kernel_name(of.dump.dump(), operation));
  }

  // Of the same rank, step and pass, in the order of time.
  [[nodiscard]] std::vector<uint32_t> nearest_before(const CheckRun& of, uint32_t run) const {
    const auto& runs = of.dump.runs();
    const size_t most = calls_before(rounds_.size());
    const auto is_backward = [&](uint32_t one) { return forward_entry_of(of.op_name(runs[one].op)).has_value(); };
    const bool backward = is_backward(run);
    std::vector<uint32_t> before;
    for (uint32_t other = run; other-- > 0 && before.size() < most;) {
      if (runs[other].place.rank != runs[run].place.rank || runs[other].place.step != runs[run].place.step) break;
      if (is_backward(other) == backward) before.push_back(other);
    }
    std::reverse(before.begin(), before.end());
    return before;
  }

  void measure(const CheckRun& of, const std::vector<uint32_t>& runs) {
    for (uint32_t tensor = 0; tensor < of.dump.tensors(); ++tensor) {
      if (!std::binary_search(runs.begin(), runs.end(), of.dump.run_of(tensor))) continue;
      ++plan_.size.tensors;
      plan_.size.bytes += bytes_of_elements(of.dump.record(tensor));
    }
  }

  void say(const Suspect& suspect) {
    const std::string& name = suspect.op_name.empty() ? suspect.parameter : suspect.op_name;
    const auto if_then = [&](std::string_view condition, std::string_view meaning) {
      plan_.outcomes.push_back(fmt::format("if {}: {}", condition, meaning));
    };
    switch (suspect.open) {
      case Open::kHiddenCalls:
        plan_.question = fmt::format("which of the calls inside {} makes it?", name);
        if_then("the inputs of one of them are finite and its outputs are not", "that call is to blame");
        break;
      case Open::kStatistics:
        plan_.question = fmt::format("what do the elements of {} and of the calls before it show?", name);
        if_then("they show the same", fmt::format("{} is to blame", name));
        if_then("they do not", "the statistics were rounded, and nothing is wrong there");
        break;
      case Open::kBefore:
        plan_.question = fmt::format("where on the way to {} does it begin?", name);
        if_then("the inputs of one of them are finite and its outputs are not", "that operator is to blame");
        if_then("the inputs of the first are not", "the next dump goes further up");
        break;
      case Open::kStepsBefore:
        plan_.question = fmt::format("in which step before does what {} has begin to be wrong?", name);
        if_then("a gradient is wrong before the weight is", "the operator that made it is to blame");
        if_then("a weight is wrong first", "its update in the step before is to blame");
        break;
      case Open::kNotDumped:
        plan_.question = "which operator overflows?";
        if_then("an operator is dumped", "its output is beyond the range of its type");
        if_then("none is", "the device notes overflow that no operator of the network makes");
        break;
      case Open::kPinned: break;
    }
  }

  const std::vector<CheckedRound>& rounds_;
  const CheckRun& last_;
  const CheckedRound& whole_;
  const CheckRun& first_;  // of `whole_`
  NextPlan plan_;
};

}  // namespace

NextPlan plan_next(const std::vector<CheckedRound>& rounds, const DumpRequest& as_before) {
  return CheckedPlanner(rounds, as_before).plan();
}

}  // namespace msdump
