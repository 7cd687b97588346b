#include "next/compared_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "msprobe/names.h"
#include "next/suspects.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

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
      ran_ = other == op;
      if (ran_) break;
      if (on_both_sides(run, other) && forward_entry_of(run.op_name(other)).has_value() == backward)
        before_.push_back(other);
    }
  }

  [[nodiscard]] bool is_first() const { return ran_ && before_.empty(); }
  // The nearest first.
  [[nodiscard]] std::vector<uint32_t> nearest(size_t calls) const {
    return {before_.rbegin(), before_.rbegin() + static_cast<std::ptrdiff_t>(std::min(calls, before_.size()))};
  }

 private:
  bool ran_ = false;
  std::vector<uint32_t> before_;  // in the order of the runs
};

// The one that ran at this place; each rank has operators of its own. Else the first of that name.
std::optional<uint32_t> operator_named(const DiffResult& run, const std::string& name, const RunPlace& place) {
  std::vector<bool> named(run.pairing.operators.size(), false);
  for (uint32_t op = 0; op < named.size(); ++op) named[op] = run.op_name(op) == name;
  for (const uint32_t row : run.rows) {
    const uint32_t op = run.pairing.tensors[row].op;
    if (op == kNoOperator || !named[op]) continue;
    const Identity identity = run.identity(row);
    if (identity.rank == place.rank && identity.step == place.step) return op;
  }
  const auto first = std::find(named.begin(), named.end(), true);
  if (first == named.end()) return {};
  return static_cast<uint32_t>(first - named.begin());
}

class ComparedPlanner {
 public:
  ComparedPlanner(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before)
      : rounds_(rounds), last_(*rounds.back().run), begin_(whole_round(rounds)), first_(*rounds[begin_].run) {
    plan_.candidate = plan_.reference = as_before;
  }

  NextPlan plan() && {
    suspects_ = suspects_of(last_, rounds_.back().extent);
    pin_first_calls();
    std::stable_partition(suspects_.begin(), suspects_.end(),
                          [](const Suspect& suspect) { return suspect.open == Open::kPinned; });
    if (suspects_.empty()) add_not_asked();
    if (suspects_.empty() && rounds_.size() == 1) {
      if (std::optional<RootSuspect> one = first_after_equal_inputs(last_)) suspects_.push_back(std::move(*one));
    }
    if (suspects_.empty()) return std::move(plan_);
    plan_.suspects.assign(suspects_.begin(), suspects_.end());
    // A pinned operator ends the search: what is open beside it may follow from it.
    const bool pinned = suspects_.front().open == Open::kPinned;
    plan_.state = pinned ? PlanState::kPinned : PlanState::kAsked;
    if (!pinned) ask();
    return std::move(plan_);
  }

 private:
  // What the first call of the whole network reads enters the network: nothing before it is left to ask.
  void pin_first_calls() {
    if (rounds_[begin_].extent != DumpExtent::kAll) return;
    for (RootSuspect& suspect : suspects_) {
      if (suspect.open != Open::kBefore) continue;
      const std::optional<uint32_t> op = operator_named(first_, last_.op_name(suspect.op), suspect.place);
      if (op && CallsBefore(first_, *op, suspect.place).is_first()) suspect.open = Open::kPinned;
    }
  }

  // What was asked about is healthy: the next one that the first dump suspects.
  void add_not_asked() {
    const size_t asked = rounds_.size() - 1 - begin_;
    if (asked == 0) return;
    std::vector<RootSuspect> suspects = suspects_of(first_, rounds_[begin_].extent);
    if (asked >= suspects.size()) return;
    suspects_ = {std::move(suspects[asked])};
    of_ = &first_;
  }

  void ask() {
    const Open open = suspects_.front().open;
    size_t asked = 0;
    std::set<int64_t> steps, ranks;
    bool placed = true;
    for (const RootSuspect& suspect : suspects_) {
      if (suspect.open != open || asked == kMostSuspects) continue;
      // A dump of msprobe has one range: it is about the most upstream.
      if (plan_.candidate.kind == ConfigKind::kMsprobe && asked > 0) break;
      ++asked;
      add_operators(suspect);
      placed = placed && suspect.place.step.has_value();
      if (suspect.place.step) steps.insert(*suspect.place.step);
      add_ranks(suspect, ranks);
    }
    const std::vector<int64_t> asked_steps =
        open == Open::kStepsBefore ? steps_before(*steps.begin()) : std::vector<int64_t>(steps.begin(), steps.end());
    for (DumpRequest* const request : {&plan_.candidate, &plan_.reference}) {
      request->statistics = open == Open::kStepsBefore || everything_;
      if (everything_) request->list.clear();
      if (placed) request->steps = asked_steps;
      request->ranks.assign(ranks.begin(), ranks.end());
      request->all_risks = request->target.framework == Framework::kPyTorch;
    }
    if (open != Open::kStepsBefore && !everything_)
      plan_.extent = plan_.candidate.scope.empty() ? DumpExtent::kList : DumpExtent::kRange;
    say(open);
    measure();
  }

  // One rank first; of a collective all that it is known to be wrong on.
  static void add_ranks(const RootSuspect& suspect, std::set<int64_t>& ranks) {
    if (suspect.root != nullptr && !suspect.root->ranks.empty()) {
      ranks.insert(suspect.root->ranks.begin(), suspect.root->ranks.end());
    } else if (suspect.place.rank) {
      ranks.insert(*suspect.place.rank);
    }
  }

  void add_operators(const RootSuspect& suspect) {
    if (suspect.open == Open::kStepsBefore) return;
    if (suspect.open == Open::kHiddenCalls) return add_hidden(*suspect.root, suspect.place);
    if (suspect.open == Open::kNotDumped) return add_list(*of_, suspect.operators, suspect.place);
    const std::optional<uint32_t> op = operator_named(first_, of_->op_name(suspect.op), suspect.place);
    const bool none_known = rounds_.back().extent != DumpExtent::kAll && rounds_[begin_].extent != DumpExtent::kAll;
    if (suspect.open == Open::kBefore && none_known &&
        (!op || CallsBefore(first_, *op, suspect.place).nearest(1).empty())) {
      everything_ = true;
      return;
    }
    if (!op) return add_list(*of_, suspect.operators, suspect.place);
    std::vector<uint32_t> operators = CallsBefore(first_, *op, suspect.place).nearest(calls_before(rounds_.size()));
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
    }
  }

  void add_list(const DiffResult& run, const std::vector<uint32_t>& operators, const RunPlace& place) {
    for (const bool of_candidate : {true, false}) {
      DumpRequest& request = of_candidate ? plan_.candidate : plan_.reference;
      for (std::string& name : names_of(run, operators, of_candidate)) {
        const bool is_new = std::find(request.list.begin(), request.list.end(), name) == request.list.end();
        if (is_new) request.list.push_back(std::move(name));
      }
    }
    for (const uint32_t op : operators) asked_.try_emplace({&run, op}, place);
  }

  [[nodiscard]] std::vector<std::string> names_of(const DiffResult& run, const std::vector<uint32_t>& operators,
                                                  bool of_candidate) const {
    std::vector<std::string> names;
    for (const uint32_t op : operators) {
      const OpPair& pair = run.pairing.operators[op];
      const uint32_t place = of_candidate ? pair.a : pair.b;
      if (place == kNoOperator) continue;
      const SequencedOp& own = (of_candidate ? run.pairing.a : run.pairing.b)[place];
      names.push_back(name_to_ask(plan_.candidate, own, kernels_of(run, {op}, of_candidate).front()));
    }
    return names;
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
    std::set<std::pair<const DiffResult*, uint32_t>> shown;
    for (const DiffResult* const run : runs) {
      for (uint32_t tensor = 0; tensor < run->pairing.tensors.size(); ++tensor) {
        const TensorPair& pair = run->pairing.tensors[tensor];
        const auto asked = asked_.find({run, pair.op});
        if (asked == asked_.end()) continue;
        const Identity identity = run->identity(tensor);
        const RunPlace& place = asked->second;
        if (identity.step != place.step || (place.rank && identity.rank != place.rank)) continue;
        shown.insert(asked->first);
        ++plan_.size.tensors;
        plan_.size.bytes += bytes_of_elements(run->record_of(pair));
      }
    }
    if (shown.size() < asked_.size()) plan_.size.at_least = true;
    for (const TensorPair& pair : first_.pairing.tensors) {
      if (pair.a != kNoTensor) plan_.size.of_all += bytes_of_elements((*first_.a->side.tensors)[pair.a]);
    }
  }

  void say(Open open) {
    const std::string& name = plan_.suspects.front().op_name;
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
      case Open::kStatistics:
        plan_.question = fmt::format("do the elements of the inputs of {} agree, as their statistics do?", name);
        if_then("its inputs agree and its outputs do not", fmt::format("{} is to blame", name));
        if_then("its inputs differ already", "what made them is to blame; the next dump goes further up");
        break;
      case Open::kNotDumped:
      case Open::kBefore:
        plan_.question = open == Open::kBefore
                             ? fmt::format("where on the way to {} does the difference begin?", name)
                             : fmt::format("which of {} operators that were not dumped is to blame?", asked);
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

  const std::vector<ComparedRound>& rounds_;
  const DiffResult& last_;
  const size_t begin_;  // the round of `first_`
  const DiffResult& first_;
  NextPlan plan_;
  bool everything_ = false;  // no dump has the calls before
  std::vector<RootSuspect> suspects_;
  const DiffResult* of_ = &last_;                                     // to which the suspects belong
  std::map<std::pair<const DiffResult*, uint32_t>, RunPlace> asked_;  // operators of a comparison
};

}  // namespace

NextPlan plan_next(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before) {
  return ComparedPlanner(rounds, as_before).plan();
}

}  // namespace msdump
