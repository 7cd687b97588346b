#include "next/compared_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "divergence/roots/cut_text.h"
#include "msprobe/names.h"
#include "next/planner.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

// A suspect of a comparison.
struct RootSuspect : Suspect {
  const Divergence* root = nullptr;  // null: by its error alone
  OperatorId op;
  std::vector<OperatorId> operators;  // to dump; the first is its own
};

bool on_both_sides(const DiffResult& run, OperatorId op) {
  const OpPair& pair = run.pairing.operators[op];
  return pair.a != kNoId && pair.b != kNoId;
}

bool by_statistics(const DiffResult& run, const Divergence& root) {
  const auto is_statistic = [&](TensorId tensor) { return run.diffs[tensor].by_statistics; };
  return std::any_of(root.outputs.begin(), root.outputs.end(), is_statistic) ||
         std::any_of(root.inputs.begin(), root.inputs.end(), is_statistic);
}

std::optional<int64_t> first_step(const DiffResult& run) {
  std::optional<int64_t> first;
  for (const TensorId row : run.rows) {
    const std::optional<int64_t> step = run.identity(row).step;
    if (step && (!first || *step < *first)) first = step;
  }
  return first;
}

bool has_input(const DiffResult& run, OperatorId op) {
  return std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) {
    return run.pairing.tensors[row].op == op && run.identity(row).name.io == Io::kInput;
  });
}

Open open_of(const DiffResult& run, const Divergence& root, DumpExtent extent, std::optional<int64_t> first) {
  const bool partial = extent != DumpExtent::kAll;
  if (root.unseen) {
    // A range has every call that can be dumped.
    const bool between = root.unseen->after != kNoId;
    if (!partial || !between) return Open::kHiddenCalls;
    return extent == DumpExtent::kRange ? Open::kPinned : Open::kBefore;
  }
  if (root.candidates.size() > 1) return Open::kNotDumped;
  if (!on_both_sides(run, root.op)) return Open::kPinned;  // no value of it can be compared
  if (root.kind == DivergenceKind::kMissing || root.kind == DivergenceKind::kShape || !root.arguments.empty())
    return Open::kPinned;
  if (enters(root)) {
    if (root.parameter.empty() && partial) return Open::kBefore;
    const bool is_weight = root.kind == DivergenceKind::kParameter;
    return is_weight && root.place.step && root.place.step == first && *first > 0 ? Open::kStepsBefore : Open::kPinned;
  }
  if (root.inputs.empty() && partial) return Open::kBefore;
  // Statistics show what is not finite as well as elements do.
  if (root.kind == DivergenceKind::kNan) return Open::kPinned;
  if (by_statistics(run, root)) return Open::kStatistics;
  const bool undecided = decided_by(root.rule) == DecidedBy::kEstimate && run.computed.without_input.count(root.op) > 0;
  return undecided && !partial && !has_input(run, root.op) ? Open::kNoInput : Open::kPinned;
}

std::vector<OperatorId> operators_of(const DiffResult& run, const Divergence& root, Open open) {
  std::vector<OperatorId> operators = {root.op};
  if (open == Open::kNotDumped) operators.insert(operators.end(), root.candidates.begin(), root.candidates.end());
  if (open == Open::kStatistics) {
    operators.insert(operators.end(), root.chain.begin(), root.chain.end());
    // Its readers show it: they are asked for, too.
    for (const TensorId tensor : root.outputs) operators.push_back(run.pairing.tensors[tensor].op);
  }
  std::vector<OperatorId> once;
  for (const OperatorId op : operators) {
    if (std::find(once.begin(), once.end(), op) == once.end()) once.push_back(op);
  }
  return once;
}

// The relative error of a tensor; 0 if it is not known.
double error_of(const DiffResult& run, TensorId tensor) {
  const TensorDiff& diff = run.diffs[tensor];
  const double error = diff.verdict == Verdict::kShape ? 1 : diff.metrics.relative_l2.value_or(0);
  return std::isfinite(error) ? error : 0;
}

double largest_error(const DiffResult& run, const std::vector<TensorId>& tensors) {
  double largest = 0;
  for (const TensorId tensor : tensors) largest = std::max(largest, error_of(run, tensor));
  return largest;
}

// True for an error far below the largest of the range. Few calls do not show their own noise.
bool is_noise(const DiffResult& run, const RootSuspect& suspect, double largest) {
  constexpr double kShareOfLargest = 0.1;
  const Divergence* const root = suspect.root;
  if (root == nullptr || root->kind != DivergenceKind::kValue || !root->arguments.empty() || root->outputs.empty())
    return false;
  return on_both_sides(run, root->op) && largest_error(run, root->outputs) < kShareOfLargest * largest;
}

RootSuspect suspect_at(const DiffResult& run, OperatorId op) {
  RootSuspect suspect;
  suspect.op = op;
  suspect.operators = {op};
  suspect.op_name = run.op_name(op);
  suspect.op_type = run.op_type(op);
  suspect.frame = run.frame(op);
  return suspect;
}

RootSuspect suspect_of(const DiffResult& run, const Divergence& root, DumpExtent extent, std::optional<int64_t> first) {
  RootSuspect suspect = suspect_at(run, root.op);
  suspect.root = &root;
  suspect.place = root.place;
  suspect.kind = name_of(root.kind);
  suspect.parameter = root.parameter;
  suspect.reason = root.reason;
  suspect.open = open_of(run, root, extent, first);
  suspect.operators = operators_of(run, root, suspect.open);
  for (const auto* const list : {&root.candidates, &root.chain}) {
    for (const OperatorId op : *list) suspect.others.push_back({run.op_name(op), run.frame(op)});
  }
  if (root.cut) {
    for (const CutLine& line : lines_of_cut(run, *root.cut)) suspect.others.push_back({{}, line.frame});
  }
  return suspect;
}

// The first call of a range at which the error jumps. Its first calls have the errors of all calls before the range.
std::optional<RootSuspect> jump_in(const DiffResult& run, double largest) {
  constexpr double kJump = 5, kShareOfLargest = 0.3;
  struct Call {
    TensorId tensor;
    double in = 0, out = 0;  // largest relative errors
  };
  std::map<ExecutionId, Call> calls;  // by run, which are in order
  for (const TensorId row : run.rows) {
    const ExecutionId index = run.divergence.runs[row];
    if (index == kNoId) continue;
    const double error = error_of(run, row);
    Call& call = calls.try_emplace(index, Call{row}).first->second;
    double& side = run.identity(row).name.io == Io::kOutput ? call.out : call.in;
    side = std::max(side, error);
  }
  double entered = 0;
  for (const auto& [index, call] : calls) {
    const double error = std::max(call.in, call.out);
    if (error < kShareOfLargest * largest || error <= 0 || error < kJump * entered) {
      entered = std::max(entered, error);
      continue;
    }
    const bool made = call.out >= kJump * call.in;
    if (!made && index == calls.begin()->first) return {};  // the error entered the range
    RootSuspect suspect = suspect_at(run, run.pairing.tensors[call.tensor].op);
    const Identity identity = run.identity(call.tensor);
    suspect.place = {identity.rank, identity.step, 0};
    suspect.reason =
        made ? "its outputs have a much larger error than its inputs, and than all before"
             : "its inputs have a much larger error than anything before: something that was not dumped, or "
               "the order of its operands, is another";
    return suspect;
  }
  return {};
}

// In the order of the roots.
std::vector<RootSuspect> suspects_of(const DiffResult& run, DumpExtent extent) {
  const std::optional<int64_t> first = first_step(run);
  std::vector<RootSuspect> suspects;
  for (const Divergence& root : run.divergence.roots) suspects.push_back(suspect_of(run, root, extent, first));
  if (extent != DumpExtent::kRange) return suspects;
  const double largest = largest_error(run, run.rows);
  std::erase_if(suspects, [&](const RootSuspect& suspect) { return is_noise(run, suspect, largest); });
  const bool all_came_in =
      std::all_of(suspects.begin(), suspects.end(), [](const RootSuspect& one) { return one.open == Open::kBefore; });
  if (std::optional<RootSuspect> jump = all_came_in ? jump_in(run, largest) : std::nullopt) return {std::move(*jump)};
  return suspects;
}

// The first operator whose statistics differ although no input of it does; none if no difference exceeds noise.
std::optional<RootSuspect> first_after_equal_inputs(const DiffResult& run) {
  struct Call {
    TensorId tensor;  // an output that differs
    bool any_input = false, inputs_differ = false;
  };
  const bool any_doubt = std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) {
    return is_unexplained(run, row) && run.diffs[row].by_statistics && !may_be_rounding(run.divergence.unjudged[row]);
  });
  if (!any_doubt) return {};
  std::map<ExecutionId, Call> calls;  // by run, which are in order
  for (const TensorId row : run.rows) {
    const ExecutionId index = run.divergence.runs[row];
    if (index == kNoId || run.diffs[row].verdict == Verdict::kSkipped) continue;
    Call& call = calls[index];
    const bool differs = counts_as_difference(run, row);
    if (run.identity(row).name.io != Io::kOutput) {
      call.any_input = true;
      call.inputs_differ = call.inputs_differ || differs;
    } else if (differs && run.diffs[row].by_statistics && call.tensor == kNoId) {
      call.tensor = row;
    }
  }
  const auto found = std::find_if(calls.begin(), calls.end(), [](const auto& one) {
    return one.second.tensor != kNoId && one.second.any_input && !one.second.inputs_differ;
  });
  if (found == calls.end()) return {};
  RootSuspect suspect = suspect_at(run, run.pairing.tensors[found->second.tensor].op);
  const Identity identity = run.identity(found->second.tensor);
  suspect.place = {identity.rank, identity.step, 0};
  suspect.open = Open::kStatistics;
  suspect.reason = "nothing is proved; it is the first whose outputs differ although its inputs agree";
  return suspect;
}

using Open = Suspect::Open;

// The operators before one, of its rank and step.
class CallsBefore {
 public:
  // Only operators of the same pass that both sides have.
  CallsBefore(const DiffResult& run, OperatorId op, const RunPlace& place) {
    std::map<ExecutionId, OperatorId> op_of_run;
    for (const TensorId row : run.rows) {
      const Identity identity = run.identity(row);
      const ExecutionId index = run.divergence.runs[row];
      if (index != kNoId && identity.rank == place.rank && identity.step == place.step)
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
  [[nodiscard]] std::vector<OperatorId> nearest(size_t calls) const {
    return {before_.rbegin(), before_.rbegin() + static_cast<std::ptrdiff_t>(std::min(calls, before_.size()))};
  }

 private:
  bool ran_ = false;
  std::vector<OperatorId> before_;  // in the order of the runs
};

// The operator of this name that ran at the place, else the first: each rank has operators of its own.
std::optional<OperatorId> operator_named(const DiffResult& run, const std::string& name, const RunPlace& place) {
  std::vector<bool> named(run.pairing.operators.size(), false);
  for (OperatorId op{0}; op < named.size(); ++op) named[op] = run.op_name(op) == name;
  for (const TensorId row : run.rows) {
    const OperatorId op = run.pairing.tensors[row].op;
    if (op == kNoId || !named[op]) continue;
    const Identity identity = run.identity(row);
    if (identity.rank == place.rank && identity.step == place.step) return op;
  }
  const auto first = std::find(named.begin(), named.end(), true);
  if (first == named.end()) return {};
  return OperatorId(first - named.begin());
}

class ComparedRounds : public PlanSource {
 public:
  ComparedRounds(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before)
      : rounds_(rounds),
        as_before_(as_before),
        last_(*rounds.back().run),
        begin_(whole_round(rounds)),
        first_(*rounds[begin_].run) {}

  std::vector<Suspect> find_suspects() override {
    suspects_ = suspects_of(last_, rounds_.back().extent);
    pin_first_calls();
    std::stable_partition(suspects_.begin(), suspects_.end(),
                          [](const Suspect& suspect) { return suspect.open == Open::kPinned; });
    if (suspects_.empty()) add_not_asked();
    if (suspects_.empty() && rounds_.size() == 1) {
      if (std::optional<RootSuspect> one = first_after_equal_inputs(last_)) suspects_.push_back(std::move(*one));
    }
    return {suspects_.begin(), suspects_.end()};
  }

  // The rank of the suspect; all ranks on which a collective is known to be wrong.
  [[nodiscard]] std::vector<int64_t> ranks_of(size_t suspect) const override {
    const RootSuspect& own = suspects_[suspect];
    if (own.root != nullptr && !own.root->ranks.empty()) return own.root->ranks;
    return own.place.rank ? std::vector<int64_t>{*own.place.rank} : std::vector<int64_t>();
  }

  AskedCalls calls_of(size_t suspect, NextPlan& plan) override {
    const RootSuspect& own = suspects_[suspect];
    if (own.open == Open::kHiddenCalls) {
      ask_for_hidden(*own.root->unseen, own.place, plan);
      return {};
    }
    const std::optional<OperatorId> op = operator_named(first_, of_->op_name(own.op), own.place);
    if (own.open == Open::kNotDumped || !op) return named(*of_, own.operators, own.place);
    std::vector<OperatorId> operators = CallsBefore(first_, *op, own.place).nearest(calls_before(rounds_.size()));
    const bool reaches_back = !operators.empty();
    const auto entry = parse_msprobe_entry(first_.op_name(*op));
    const bool is_call = entry && entry->kind == MsprobeEntryKind::kCall;
    if (entry && !is_call && rounds_.size() == 1) operators.clear();
    const OperatorId begin = operators.empty() ? *op : operators.back();
    operators.insert(operators.begin(), *op);
    for (const OperatorId other : of_ == &first_ ? own.operators : std::vector<OperatorId>()) {
      if (std::find(operators.begin(), operators.end(), other) == operators.end()) operators.push_back(other);
    }
    AskedCalls calls = named(first_, operators, own.place);
    calls.reaches_back = reaches_back;
    calls.is_call = is_call;
    calls.candidate.range = names_of(first_, {begin, *op}, true);
    calls.reference.range = names_of(first_, {begin, *op}, false);
    return calls;
  }

  // Counts the tensors of one side: of the operators that are asked for, in the step and on the rank of their suspect.
  void measure(DumpSize& size) const override {
    std::set<const DiffResult*> runs;
    for (const auto& [key, place] : asked_) runs.insert(key.first);
    std::set<std::pair<const DiffResult*, OperatorId>> shown;
    for (const DiffResult* const run : runs) {
      for (TensorId tensor{0}; tensor < run->pairing.tensors.size(); ++tensor) {
        const TensorPair& pair = run->pairing.tensors[tensor];
        const auto asked = asked_.find({run, pair.op});
        if (asked == asked_.end()) continue;
        const Identity identity = run->identity(tensor);
        const RunPlace& place = asked->second;
        if (identity.step != place.step || (place.rank && identity.rank != place.rank)) continue;
        shown.insert(asked->first);
        ++size.tensors;
        size.bytes += bytes_of_elements(run->record_of(pair));
      }
    }
    if (shown.size() < asked_.size()) size.at_least = true;
    for (const TensorPair& pair : first_.pairing.tensors) {
      if (pair.a != kNoId) size.of_all += bytes_of_elements((*first_.a->side.tensors)[pair.a]);
    }
  }

  [[nodiscard]] const PlanWords& words(Open open) const override {
    static constexpr auto kWords = enum_table<Open, PlanWords>(
        PlanWords{},
        PlanWords{"which of the calls that were not dumped makes {name} differ?",
                  {{{"the inputs of one of them agree and its outputs do not", "that call is to blame"},
                    {"all of them agree", "the difference is of the settings of the run, and not of these calls"}}}},
        PlanWords{"which of {count} operators that were not dumped is to blame?",
                  {{{"the inputs of one of them agree and its outputs do not", "that operator is to blame"},
                    {"the inputs of the first differ already", "the next dump goes further up"}}}},
        PlanWords{"do the elements of the inputs of {name} agree, as their statistics do?",
                  {{{"its inputs agree and its outputs do not", "{name} is to blame"},
                    {"its inputs differ already", "what made them is to blame; the next dump goes further up"}}}},
        PlanWords{"does {name} compute what its inputs lead to, which were not dumped?",
                  {{{"it does not", "{name} is to blame"},
                    {"it does", "what made its inputs is to blame; the next dump goes further up"}}}},
        PlanWords{"where on the way to {name} does the difference begin?",
                  {{{"the inputs of one of them agree and its outputs do not", "that operator is to blame"},
                    {"the inputs of the first differ already", "the next dump goes further up"}}}},
        PlanWords{"in which step before does what {name} reads begin to differ?",
                  {{{"a gradient differs before the weight does", "the operator that made it is to blame"},
                    {"a weight differs first", "its update in the step before is to blame"}}}});
    return kWords[open];
  }

 private:
  // An input of the first call of the network has no producer to ask for.
  void pin_first_calls() {
    if (rounds_[begin_].extent != DumpExtent::kAll) return;
    for (RootSuspect& suspect : suspects_) {
      if (suspect.open != Open::kBefore) continue;
      const std::optional<OperatorId> op = operator_named(first_, last_.op_name(suspect.op), suspect.place);
      if (op && CallsBefore(first_, *op, suspect.place).is_first()) suspect.open = Open::kPinned;
    }
  }

  // The suspects that were asked for are healthy: takes the next one of the first dump.
  void add_not_asked() {
    const size_t asked = rounds_.size() - 1 - begin_;
    if (asked == 0) return;
    std::vector<RootSuspect> suspects = suspects_of(first_, rounds_[begin_].extent);
    if (asked >= suspects.size()) return;
    suspects_ = {std::move(suspects[asked])};
    of_ = &first_;
  }

  AskedCalls named(const DiffResult& run, const std::vector<OperatorId>& operators, const RunPlace& place) {
    for (const OperatorId op : operators) asked_.try_emplace({&run, op}, place);
    AskedCalls calls;
    calls.candidate.list = names_of(run, operators, true);
    calls.reference.list = names_of(run, operators, false);
    return calls;
  }

  [[nodiscard]] std::vector<std::string> names_of(const DiffResult& run, const std::vector<OperatorId>& operators,
                                                  bool of_candidate) const {
    std::vector<std::string> names;
    for (const OperatorId op : operators) {
      const OpPair& pair = run.pairing.operators[op];
      const SequencedOpId place = of_candidate ? pair.a : pair.b;
      if (place == kNoId) continue;
      const SequencedOp& own = (of_candidate ? run.pairing.a : run.pairing.b)[place];
      names.push_back(name_to_ask(as_before_, own, kernels_of(run, {op}, of_candidate).front()));
    }
    return names;
  }

  void ask_for_hidden(const UnseenCalls& calls, const RunPlace& place, NextPlan& plan) {
    for (const bool of_candidate : {true, false}) {
      DumpRequest& request = of_candidate ? plan.candidate : plan.reference;
      const MsprobeSettings settings = msprobe_settings(*of_, calls, of_candidate);
      request.level = settings.level;
      request.list = settings.list;
      request.scope = settings.scope;
    }
    asked_.try_emplace({of_, calls.before}, place);
    if (calls.after != kNoId) asked_.try_emplace({of_, calls.after}, place);
  }

  const std::vector<ComparedRound>& rounds_;
  const DumpRequest& as_before_;
  const DiffResult& last_;
  const size_t begin_;  // the round of `first_`
  const DiffResult& first_;
  std::vector<RootSuspect> suspects_;
  const DiffResult* of_ = &last_;                                       // to which the suspects belong
  std::map<std::pair<const DiffResult*, OperatorId>, RunPlace> asked_;  // operators of a comparison
};

}  // namespace

NextPlan plan_next(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before) {
  ComparedRounds source(rounds, as_before);
  return plan_with(source, extents_of(rounds), as_before);
}

}  // namespace msdump
