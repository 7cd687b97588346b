#include "next/next_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "msprobe/names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

uint64_t size_of(const TensorRecord& record) {
  if (record.shape == nullptr) return record.bytes.value_or(0);
  const auto count = element_count(*record.shape);
  return count ? bytes_of(record.name.dtype, *count).value_or(0) : 0;
}

// The operators before one, of its rank and step.
class CallsBefore {
 public:
  // Of the same pass, and that both sides have.
  CallsBefore(const DiffResult& run, uint32_t op, const RunPlace& place) {
    std::map<uint32_t, uint32_t> op_of_run;
    for (const uint32_t row : run.rows) {
      const Identity identity = run.identity(row);
      const uint32_t index = run.divergence.runs[row];
      if (index != kNoRun && identity.rank == place.rank && identity.step == place.step)
        op_of_run.emplace(index, run.pairing.tensors[row].op);
    }
    const bool backward = forward_entry_of(run.op_name(op)).has_value();
    for (const auto& [index, other] : op_of_run) {
      if (other == op) break;
      const OpPair& pair = run.pairing.operators[other];
      const bool both = pair.a != kNoOperator && pair.b != kNoOperator;
      if (both && forward_entry_of(run.op_name(other)).has_value() == backward) before_.push_back(other);
    }
  }

  // The nearest first.
  [[nodiscard]] std::vector<uint32_t> nearest(size_t calls) const {
    return {before_.rbegin(), before_.rbegin() + static_cast<std::ptrdiff_t>(std::min(calls, before_.size()))};
  }

 private:
  std::vector<uint32_t> before_;  // in the order of the runs
};

std::optional<uint32_t> operator_named(const DiffResult& run, const std::string& name) {
  for (uint32_t op = 0; op < run.pairing.operators.size(); ++op) {
    if (run.op_name(op) == name) return op;
  }
  return {};
}

class Planner {
 public:
  Planner(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before)
      : rounds_(rounds), last_(*rounds.back().run), first_(*rounds.front().run) {
    plan_.candidate = plan_.reference = as_before;
  }

  NextPlan plan() && {
    plan_.suspects = suspects_of(last_, rounds_.back().extent);
    std::stable_partition(plan_.suspects.begin(), plan_.suspects.end(),
                          [](const Suspect& suspect) { return suspect.open == Open::kPinned; });
    if (plan_.suspects.empty()) add_not_asked();
    if (plan_.suspects.empty()) return std::move(plan_);
    // A pinned operator ends the search: what is open beside it may follow from it.
    if (plan_.suspects.front().open == Open::kPinned) {
      plan_.state = PlanState::kPinned;
      return std::move(plan_);
    }
    plan_.state = PlanState::kAsked;
    ask();
    return std::move(plan_);
  }

 private:
  // What was asked about is healthy: the next one that the first dump suspects.
  void add_not_asked() {
    if (rounds_.size() < 2) return;
    std::vector<Suspect> suspects = suspects_of(first_, rounds_.front().extent);
    if (rounds_.size() - 1 >= suspects.size()) return;
    plan_.suspects = {std::move(suspects[rounds_.size() - 1])};
    of_ = &first_;
    plan_.of_first = true;
  }

  void ask() {
    const Open open = plan_.suspects.front().open;
    size_t asked = 0;
    std::set<int64_t> steps, ranks;
    bool placed = true;
    for (const Suspect& suspect : plan_.suspects) {
      if (suspect.open != open || asked == kMostSuspects) continue;
      // A dump of msprobe has one range: it is about the most upstream.
      if (plan_.candidate.kind == ConfigKind::kMsprobe && asked > 0) break;
      ++asked;
      add_operators(suspect);
      placed = placed && suspect.place.step.has_value();
      if (suspect.place.step) steps.insert(*suspect.place.step);
      add_ranks(suspect, ranks);
    }
    if (open == Open::kStepsBefore) {
      const int64_t end = *steps.begin();
      steps.clear();
      for (int64_t step = std::max<int64_t>(0, end - kStepsBefore); step < end; ++step) steps.insert(step);
    }
    for (DumpRequest* const request : {&plan_.candidate, &plan_.reference}) {
      request->statistics = open == Open::kStepsBefore;
      if (placed) request->steps.assign(steps.begin(), steps.end());
      request->ranks.assign(ranks.begin(), ranks.end());
      request->all_risks = request->target.framework == Framework::kPyTorch;
    }
    if (open != Open::kStepsBefore)
      plan_.extent = plan_.candidate.scope.empty() ? DumpExtent::kList : DumpExtent::kRange;
    say(open);
    measure();
  }

  // One rank first; of a collective all that it is known to be wrong on.
  static void add_ranks(const Suspect& suspect, std::set<int64_t>& ranks) {
    if (suspect.root != nullptr && !suspect.root->ranks.empty()) {
      ranks.insert(suspect.root->ranks.begin(), suspect.root->ranks.end());
    } else if (suspect.place.rank) {
      ranks.insert(*suspect.place.rank);
    }
  }

  void add_operators(const Suspect& suspect) {
    if (suspect.open == Open::kStepsBefore) return;
    if (suspect.open == Open::kHiddenCalls) return add_hidden(*suspect.root, suspect.place);
    if (suspect.open == Open::kNotDumped) return add_list(*of_, suspect.operators, suspect.place);
    const std::optional<uint32_t> op = operator_named(first_, of_->op_name(suspect.op));
    if (!op) return add_list(*of_, suspect.operators, suspect.place);
    const size_t calls = kCallsBefore << std::min(2 * (rounds_.size() - 1), kMostDoublings);
    std::vector<uint32_t> operators = CallsBefore(first_, *op, suspect.place).nearest(calls);
    // A range of msprobe ends before what its last module makes.
    const auto entry = parse_msprobe_entry(first_.op_name(*op));
    const bool is_call = entry && entry->kind == MsprobeEntryKind::kCall;
    const bool range = plan_.candidate.kind == ConfigKind::kMsprobe && is_call && !operators.empty();
    if (entry && !is_call && rounds_.size() == 1) operators.clear();
    const uint32_t begin = operators.empty() ? *op : operators.back();
    operators.insert(operators.begin(), *op);
    for (const uint32_t other : of_ == &first_ ? suspect.operators : std::vector<uint32_t>()) {
      if (std::find(operators.begin(), operators.end(), other) == operators.end()) operators.push_back(other);
    }
    if (!range) return add_list(first_, operators, suspect.place);
    add_range(begin, *op);
    for (const uint32_t other : operators) asked_.try_emplace({&first_, other}, suspect.place);
  }

  void add_range(uint32_t begin, uint32_t end) {
    for (const bool of_candidate : {true, false}) {
      DumpRequest& request = of_candidate ? plan_.candidate : plan_.reference;
      request.scope = names_of(first_, {begin, end}, of_candidate);
      request.level = level_of(request.scope);
    }
  }

  void add_list(const DiffResult& run, const std::vector<uint32_t>& operators, const RunPlace& place) {
    for (const bool of_candidate : {true, false}) {
      DumpRequest& request = of_candidate ? plan_.candidate : plan_.reference;
      for (std::string& name : names_of(run, operators, of_candidate)) {
        const bool is_new = std::find(request.list.begin(), request.list.end(), name) == request.list.end();
        if (is_new) request.list.push_back(std::move(name));
      }
      if (request.kind == ConfigKind::kMsprobe) request.level = level_of(request.list);
    }
    for (const uint32_t op : operators) asked_.try_emplace({&run, op}, place);
  }

  [[nodiscard]] std::vector<std::string> names_of(const DiffResult& run, const std::vector<uint32_t>& operators,
                                                  bool of_candidate) const {
    std::vector<std::string> names = kernels_of(run, operators, of_candidate);
    if (plan_.candidate.kind != ConfigKind::kMsprobe) return names;
    // The gradients of parameters are made by a backward call.
    for (std::string& name : names) name = backward_entry_of(name).value_or(name);
    return names;
  }

  // What msprobe dumps them with.
  static std::string level_of(const std::vector<std::string>& names) {
    const bool calls = std::all_of(names.begin(), names.end(), [](const std::string& name) {
      const auto entry = parse_msprobe_entry(name);
      return entry && entry->kind == MsprobeEntryKind::kCall;
    });
    return calls ? "L1" : "mix";
  }

  void add_hidden(const Divergence& root, const RunPlace& place) {
    plan_.size.at_least = true;
    for (const bool of_candidate : {true, false}) {
      DumpRequest& request = of_candidate ? plan_.candidate : plan_.reference;
      const MsprobeSettings settings = msprobe_settings(*of_, *root.unseen, of_candidate);
      request.level = settings.level;
      request.list = settings.list;
      request.scope = settings.scope;
    }
    asked_.try_emplace({of_, root.unseen->before}, place);
    if (root.unseen->after != kNoOperator) asked_.try_emplace({of_, root.unseen->after}, place);
  }

  // Of one side: the tensors of the operators that are asked for, in the step and on the rank of the root that asks.
  void measure() {
    std::set<const DiffResult*> runs;
    for (const auto& [key, place] : asked_) runs.insert(key.first);
    for (const DiffResult* const run : runs) {
      for (uint32_t tensor = 0; tensor < run->pairing.tensors.size(); ++tensor) {
        const TensorPair& pair = run->pairing.tensors[tensor];
        const auto asked = asked_.find({run, pair.op});
        if (asked == asked_.end()) continue;
        const Identity identity = run->identity(tensor);
        const RunPlace& place = asked->second;
        if (identity.step != place.step || (place.rank && identity.rank != place.rank)) continue;
        ++plan_.size.tensors;
        plan_.size.bytes += size_of(run->record_of(pair));
      }
    }
    for (const TensorPair& pair : first_.pairing.tensors) {
      if (pair.a != kNoTensor) plan_.size.of_all += size_of((*first_.a->side.tensors)[pair.a]);
    }
  }

  void say(Open open) {
    const std::string name = of_->op_name(plan_.suspects.front().op);
    const auto if_then = [&](std::string_view condition, std::string_view meaning) {
      plan_.outcomes.push_back(fmt::format("if {}: {}", condition, meaning));
    };
    const size_t asked = plan_.candidate.list.size();
    switch (open) {
      case Open::kHiddenCalls:
        plan_.question = fmt::format("which of the calls that were not dumped makes {} differ?", name);
        if_then("the inputs of one of them agree and its outputs do not", "that call is to blame");
        if_then("all of them agree", "the difference is of the settings of the run, and not of these calls");
        break;
      case Open::kNotDumped:
        plan_.question = fmt::format("which of {} operators that were not dumped is to blame?", asked);
        if_then("the inputs of one of them agree and its outputs do not", "that operator is to blame");
        if_then("the inputs of the first differ already", "the next dump goes further up");
        break;
      case Open::kStatistics:
        plan_.question = fmt::format("do the elements of the inputs of {} agree, as their statistics do?", name);
        if_then("its inputs agree and its outputs do not", fmt::format("{} is to blame", name));
        if_then("its inputs differ already", "what made them is to blame; the next dump goes further up");
        break;
      case Open::kBefore:
        plan_.question = fmt::format("where on the way to {} does the difference begin?", name);
        if_then("the inputs of one of them agree and its outputs do not", "that operator is to blame");
        if_then("the inputs of the first differ already", "the next dump goes further up");
        break;
      case Open::kStepsBefore:
        plan_.question = fmt::format("in which step before does what {} reads begin to differ?", name);
        if_then("a gradient differs before the weight does", "the operator that made it is to blame");
        if_then("a weight differs first", "its update in the step before is to blame");
        break;
      case Open::kPinned: break;
    }
  }

  static constexpr size_t kCallsBefore = 6, kMostDoublings = 10;
  static constexpr int64_t kStepsBefore = 16;

  const std::vector<ComparedRound>& rounds_;
  const DiffResult &last_, &first_;
  NextPlan plan_;
  const DiffResult* of_ = &last_;                                     // to which the suspects belong
  std::map<std::pair<const DiffResult*, uint32_t>, RunPlace> asked_;  // operators of a comparison
};

}  // namespace

std::string_view name_of(PlanState state) {
  switch (state) {
    case PlanState::kNothing: return "nothing";
    case PlanState::kPinned: return "pinned";
    case PlanState::kAsked: return "asked";
  }
  return "";
}

NextPlan plan_next(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before) {
  return Planner(rounds, as_before).plan();
}

}  // namespace msdump
