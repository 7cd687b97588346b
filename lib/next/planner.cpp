#include "next/planner.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/placement/sharded_side.h"
#include "divergence/roots/undumped.h"
#include "graph/flow/data_flow.h"
#include "msprobe/names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

constexpr size_t kMostUndumped = 256;  // operators without tensors that a dump is asked for; the nearest ones

template <class Item>
void append_new(std::vector<Item>& list, const Item& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

bool is_backward(std::string_view name) { return forward_entry_of(name).has_value(); }

// True for a call or module that has run before in its step, by its number: Functional.gelu.3.forward.
bool ran_before(std::string_view name) {
  if (!parse_msprobe_entry(name)) return false;
  const std::vector<std::string_view> parts = split(name, '.');
  const auto of_module = parse_i64(parts.back());
  return (of_module ? of_module : parse_i64(parts[parts.size() - 2])).value_or(0) > 0;
}

// The side whose graph has the data flow into the operator.
std::optional<Side> side_with_flow(const DumpRuns& dump, OperatorId op) {
  for (const Side side : kBothSides) {
    const SequencedOp* const own = dump.operators[op].on[side];
    if (own != nullptr && own->op != kNoId && has_flow(*dump.dumps[side])) return side;
  }
  return {};
}

class Planner {
 public:
  Planner(const DumpRuns& of, const CaseRuns& runs, const DumpRequest& as_before)
      : of_(of), runs_(runs), as_before_(as_before) {
    plan_.candidate = plan_.reference = as_before;
  }

  NextPlan plan(std::vector<Suspect> suspects, const WordsTable& words) && {
    plan_.suspects = std::move(suspects);
    if (plan_.suspects.empty()) return std::move(plan_);
    // A pinned operator ends the search: what is open beside it may follow from it.
    const Open open = plan_.suspects.front().open;
    plan_.state = open == Open::kPinned ? PlanState::kPinned : PlanState::kAsked;
    if (open == Open::kPinned) return std::move(plan_);
    ask(open);
    if (!asks_more_) {
      NextPlan pinned;
      pinned.state = PlanState::kPinned;
      pinned.suspects = std::move(plan_.suspects);
      pinned.suspects.front().open = Open::kPinned;
      pinned.candidate = pinned.reference = as_before_;
      return pinned;
    }
    say(words[open]);
    return std::move(plan_);
  }

 private:
  DumpRequest& request_of(Side side) { return side == Side::kCandidate ? plan_.candidate : plan_.reference; }
  [[nodiscard]] bool of_msprobe() const { return plan_.candidate.kind == ConfigKind::kMsprobe; }

  void ask(Open open) {
    const bool steps_before_it = open == Open::kStepsBefore;
    std::set<int64_t> steps, ranks;
    size_t asked = 0;
    bool all_have_steps = true;
    for (const Suspect& suspect : plan_.suspects) {
      if (suspect.open != open) continue;
      // The dump of msprobe has one range.
      if (asked == (of_msprobe() ? 1 : kMostSuspects)) break;
      ++asked;
      if (!steps_before_it) add_calls(suspect);
      asks_more_ = asks_more_ || steps_before_it || everything_ || !suspect.only_reads || !has_all(suspect.place);
      all_have_steps = all_have_steps && suspect.place.step.has_value();
      if (suspect.place.step) steps.insert(*suspect.place.step);
      ranks.insert(suspect.ranks.begin(), suspect.ranks.end());
    }
    for (DumpRequest* const request : {&plan_.candidate, &plan_.reference}) {
      request->statistics = steps_before_it || everything_;
      if (everything_) request->list.clear();
      if (all_have_steps)
        request->steps = steps_before_it ? steps_before(*steps.begin()) : std::vector(steps.begin(), steps.end());
      request->ranks.assign(ranks.begin(), ranks.end());
      request->all_risks = request->target.framework == Framework::kPyTorch;
    }
    if (!steps_before_it && !everything_)
      plan_.extent = plan_.candidate.scope.empty() ? DumpExtent::kList : DumpExtent::kRange;
    plan_.size.of_all = runs_.whole.bytes;
    if (!everything_) measure(open);
  }

  void add_calls(const Suspect& suspect) {
    if (suspect.hidden) return ask_for_hidden(suspect);
    if (suspect.op == kNoId) {
      // A task without files. msprobe has no task for overflow; its statistics count what is infinite.
      everything_ = everything_ || of_msprobe();
      plan_.candidate.overflow = !of_msprobe();
      return;
    }
    // The dump of everything shows what ran before.
    const ExecutionId there = runs_.whole.find(of_.operators[suspect.op].name, suspect.place);
    const bool in_whole = there != kNoId && suspect.open != Open::kNotDumped;
    const DumpRuns& dump = in_whole ? runs_.whole : of_;
    const OperatorId op = in_whole ? runs_.whole.executions[there].op : suspect.op;
    const std::optional<Side> by_graph = side_with_flow(dump, op);
    std::vector<OperatorId> operators;
    if (suspect.open != Open::kHiddenCalls && suspect.open != Open::kNotDumped)
      operators = by_graph ? producers(dump, *by_graph, op, suspect.place) : before(dump, op, suspect.place);
    const auto entry = parse_msprobe_entry(dump.operators[op].name);
    const bool range = of_msprobe() && !operators.empty() && entry && entry->kind == MsprobeEntryKind::kCall;
    // Without a whole dump nobody knows what ran before; a range has calls between those that are known.
    everything_ = everything_ || (suspect.open == Open::kBefore && !runs_.is_whole && !by_graph && !range);
    if (entry && entry->kind == MsprobeEntryKind::kModule && runs_.rounds == 1 && suspect.open != Open::kBefore)
      operators.clear();
    const OperatorId first = operators.empty() ? op : operators.back();
    operators.insert(operators.begin(), op);
    if (&dump == &of_) {
      for (const OperatorId other : suspect.further) append_new(operators, other);
    }
    for (const Side side : kBothSides) {
      DumpRequest& request = request_of(side);
      if (range) {
        request.scope = {name_in(dump, first, side), name_in(dump, op, side)};
        continue;
      }
      for (const OperatorId other : operators) {
        if (const std::string name = name_in(dump, other, side); !name.empty()) append_new(request.list, name);
      }
    }
    note(dump, operators, suspect.place);
  }

  // True if the newest dump of several has the elements of all that is asked for. A range may have further calls.
  [[nodiscard]] bool has_all(const RunPlace& place) const {
    return runs_.rounds > 1 && asked_.size() > 1 && plan_.candidate.scope.empty() &&
           std::all_of(asked_.begin(), asked_.end(), [&](const Asked& asked) {
             const ExecutionId run = runs_.last().find(asked.dump->operators[asked.op].name, place);
             return run != kNoId && runs_.last().executions[run].has_elements;
           });
  }

  void ask_for_hidden(const Suspect& suspect) {
    for (const Side side : kBothSides) {
      DumpRequest& request = request_of(side);
      request.level = (*suspect.hidden)[side].level;
      request.list = (*suspect.hidden)[side].list;
      request.scope = (*suspect.hidden)[side].scope;
    }
    std::vector<OperatorId> around = suspect.further;
    around.push_back(suspect.op);
    note(of_, around, suspect.place);
  }

  // The operators of the same pass that ran before, the nearest first.
  [[nodiscard]] std::vector<OperatorId> before(const DumpRuns& dump, OperatorId op, const RunPlace& place) const {
    std::vector<OperatorId> found;
    const bool backward = is_backward(dump.operators[op].name);
    bool reached = false;
    for (size_t i = dump.executions.size(); i-- > 0 && found.size() < calls_before(runs_.rounds);) {
      const DumpRuns::Execution& one = dump.executions[i];
      if (one.op == kNoId || !one.place.is_beside(place)) continue;
      if (one.op == op) {
        found.clear();
        reached = true;
      } else if (reached && dump.is_on_all_sides(one.op) && is_backward(dump.operators[one.op].name) == backward) {
        append_new(found, one.op);
      }
    }
    return found;
  }

  // The operators whose outputs lead to it by the graph of the side, breadth first. Outputs that agree bit for bit acquit.
  [[nodiscard]] std::vector<OperatorId> producers(const DumpRuns& dump, Side side, OperatorId op,
                                                  const RunPlace& place) const {
    std::unordered_map<OpId, OperatorId> by_op;
    for (OperatorId other{0}; other < dump.operators.size(); ++other) {
      const SequencedOp* const there = dump.operators[other].on[side];
      if (there != nullptr && there->op != kNoId) by_op.emplace(there->op, other);
    }
    std::set<OperatorId> seen = {op};
    for (const DumpRuns::Execution& one : dump.executions) {
      if (one.equal && one.place.is_beside(place)) seen.insert(one.op);
    }
    std::vector<OperatorId> found = {op};
    for (size_t next = 0; next < found.size(); ++next) {
      for (const InputEdge& edge : inputs_of(*dump.dumps[side]->graph, dump.operators[found[next]].on[side]->op)) {
        const auto maker = edge.from == InputEdge::From::kOperator ? by_op.find(edge.op) : by_op.end();
        if (maker == by_op.end() || found.size() > calls_before(runs_.rounds)) continue;
        if (seen.insert(maker->second).second) found.push_back(maker->second);
      }
    }
    found.erase(found.begin());
    return found;
  }

  [[nodiscard]] std::string name_in(const DumpRuns& dump, OperatorId op, Side side) const {
    const SequencedOp* const own = dump.operators[op].on[side];
    if (own == nullptr || dump.dumps[side] == nullptr) return {};
    return name_to_ask(plan_.candidate, *own, kernel_name(*dump.dumps[side], *own));
  }

  void note(const DumpRuns& dump, const std::vector<OperatorId>& operators, const RunPlace& place) {
    for (const OperatorId op : operators) asked_.push_back({&dump, op, place});
  }

  // The tensors of one side, of a step and rank.
  void measure(Open open) {
    for (const Asked& asked : asked_) {
      bool shown = false;
      for (const DumpRuns::Execution& one : asked.dump->executions) {
        const bool here = !asked.place.rank || one.place.rank == asked.place.rank;
        if (one.op != asked.op || one.place.step != asked.place.step || !here) continue;
        shown = true;
        plan_.size.tensors += one.tensors;
        plan_.size.bytes += one.bytes;
      }
      plan_.size.at_least = plan_.size.at_least || !shown;
    }
    plan_.size.at_least = plan_.size.at_least || open == Open::kHiddenCalls;
  }

  void say(const PlanWords& words) {
    const Suspect& suspect = plan_.suspects.front();
    const auto filled = [&](std::string_view text) {
      return fmt::format(fmt::runtime(text),
                         fmt::arg("name", suspect.op_name.empty() ? suspect.parameter : suspect.op_name));
    };
    plan_.question = filled(words.question);
    for (const auto& [condition, meaning] : words.outcomes) {
      if (!condition.empty()) plan_.outcomes.push_back(fmt::format("if {}: {}", filled(condition), filled(meaning)));
    }
  }

  struct Asked {
    const DumpRuns* dump;
    OperatorId op;
    RunPlace place;
  };
  const DumpRuns& of_;  // whose operators the suspects are
  const CaseRuns& runs_;
  const DumpRequest& as_before_;
  NextPlan plan_;
  std::vector<Asked> asked_;
  bool asks_more_ = false;   // than the newest dump has
  bool everything_ = false;  // no dump of the case has the calls before
};

}  // namespace

std::string_view name_of(DumpExtent extent) {
  static constexpr auto kNames = enum_table<DumpExtent, std::string_view>("all", "range", "list");
  return kNames[extent];
}

std::string_view name_of(Suspect::Open open) {
  static constexpr auto kNames = enum_table<Suspect::Open, std::string_view>(
      "pinned", "hidden_calls", "not_dumped", "statistics", "no_input", "before", "steps_before");
  return kNames[open];
}

std::string_view name_of(PlanState state) {
  static constexpr auto kNames = enum_table<PlanState, std::string_view>("nothing", "pinned", "asked");
  return kNames[state];
}

void DumpRuns::add(ExecutionId run, OperatorId op, const Identity& identity, const TensorRecord& record) {
  if (identity.step && (!first_step || *identity.step < *first_step)) first_step = identity.step;
  if (run == kNoId) return;
  if (run >= executions.size()) executions.resize(size_t{run} + 1);
  Execution& own = executions[run];
  if (own.op == kNoId) {
    const SequencedOp* const known = operators[op].on.a != nullptr ? operators[op].on.a : operators[op].on.b;
    own = {op, {identity.rank, identity.step, identity.occurrence, known->dump}, 0, 0, true, true};
  }
  own.has_elements = own.has_elements && record.has_elements;
  ++own.tensors;
  own.bytes += bytes_of_elements(record);
}

ExecutionId DumpRuns::find(const std::string& name, const RunPlace& place) const {
  for (ExecutionId run{0}; run < executions.size(); ++run) {
    const Execution& one = executions[run];
    if (one.op != kNoId && one.place.is_beside(place) && operators[one.op].name == name) return run;
  }
  return kNoId;
}

bool DumpRuns::begins_inside() const {
  constexpr size_t kBackwardOverForward = 8;  // a step computes no forward call that often
  size_t forward = 0, backward = 0;
  const Execution* first = nullptr;
  for (const Execution& one : executions) {
    if (one.op == kNoId) continue;
    if (first == nullptr) first = &one;
    if (!one.place.is_beside(first->place)) break;
    const std::string_view name = operators[one.op].name;
    const bool is_gradient = is_backward_operator(name);
    backward += is_gradient ? 1 : 0;
    forward += !is_gradient && backward == 0 ? 1 : 0;
  }
  return first != nullptr && (backward > kBackwardOverForward * forward || ran_before(operators[first->op].name));
}

bool DumpRuns::begins_at(OperatorId op, const RunPlace& place) const {
  const auto first = std::find_if(executions.begin(), executions.end(),
                                  [&](const Execution& one) { return one.op != kNoId && one.place.is_beside(place); });
  return first != executions.end() && first->op == op;
}

bool CaseRuns::begins_network(const Suspect& suspect) const {
  const ExecutionId run = is_whole ? whole.find(suspect.op_name, suspect.place) : kNoId;
  if (run == kNoId) return false;
  const bool backward = is_backward(suspect.op_name);
  return std::none_of(whole.executions.begin(), whole.executions.begin() + run, [&](const auto& one) {
    return one.op != kNoId && one.place.is_beside(suspect.place) && whole.is_on_all_sides(one.op) &&
           is_backward(whole.operators[one.op].name) == backward;
  });
}

NextPlan plan_for(std::vector<Suspect> suspects, const DumpRuns& of, const CaseRuns& runs, const WordsTable& words,
                  const DumpRequest& as_before) {
  for (Suspect& suspect : suspects) {
    if (suspect.further.size() > kMostUndumped)
      suspect.further.erase(suspect.further.begin(), suspect.further.end() - kMostUndumped);
  }
  return Planner(of, runs, as_before).plan(std::move(suspects), words);
}

size_t calls_before(size_t rounds) {
  constexpr size_t kFirst = 6, kMostDoublings = 10;
  return kFirst << std::min(2 * (rounds - 1), kMostDoublings);
}

std::vector<int64_t> steps_before(int64_t end) {
  constexpr int64_t kMost = 16;
  std::vector<int64_t> steps;
  for (int64_t step = std::max<int64_t>(0, end - kMost); step < end; ++step) steps.push_back(step);
  return steps;
}

uint64_t bytes_of_elements(const TensorRecord& record) {
  if (record.shape == nullptr) return record.bytes.value_or(0);
  const auto count = element_count(*record.shape);
  return count ? bytes_of(record.name.dtype, *count).value_or(0) : 0;
}

std::string name_to_ask(const DumpRequest& request, const SequencedOp& op, const std::string& name) {
  constexpr Version kPatterns{2, 3, 0};
  if (request.kind == ConfigKind::kMsprobe) return backward_entry_of(name).value_or(name);
  const bool patterns = request.target.version.value_or(kPatterns) >= kPatterns;
  if (request.kind != ConfigKind::kDataDump || op.op != kNoId || !patterns) return name;
  std::string pattern;
  for (const char c : name) pattern += c == '_' ? "[_/]" : std::string(1, c);
  return fmt::format("name-regex({})", pattern);
}

}  // namespace msdump
