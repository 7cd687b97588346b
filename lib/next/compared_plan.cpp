// The next dump of two sides that were compared:
//
//   statistics alone blame an operator            its tensors and those of the calls before it, in that step, on that rank
//   calls that were not dumped may be to blame    the module or the calls around them, as tensors
//   operators that were not dumped                these
//   what went in differs already                  the calls before, four times as many with each round; where no dump has
//                                                 any, statistics of everything in that step
//   a weight differs where the dump begins        statistics of the steps before
//   two histories diverge in a step               the same
//
// Everything else is pinned: no dump can tell more.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "divergence/dump_diff.h"
#include "divergence/roots/cut_text.h"
#include "divergence/roots/no_root.h"
#include "msprobe/names.h"
#include "next/planner.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

bool by_statistics(const DiffResult& run, const Divergence& root) {
  const auto is_statistic = [&](TensorId tensor) { return run.diffs[tensor].by_statistics; };
  return std::any_of(root.outputs.begin(), root.outputs.end(), is_statistic) ||
         std::any_of(root.inputs.begin(), root.inputs.end(), is_statistic);
}

// True if a tensor of the operator, or of any (kNoId), is an input or output.
bool has_any(const DiffResult& run, Io io, OperatorId op = kNoId) {
  return std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) {
    return (op == kNoId || run.pairing.tensors[row].op == op) && run.identity(row).name.io == io;
  });
}

Open open_of(const DiffResult& run, const Divergence& root, DumpExtent extent, const DumpRuns& runs) {
  const bool partial = extent != DumpExtent::kAll;
  if (root.unseen) {
    // A range has every call that can be dumped.
    const bool between = root.unseen->after != kNoId;
    if (!partial || !between) return Open::kHiddenCalls;
    return extent == DumpExtent::kRange ? Open::kPinned : Open::kBefore;
  }
  const bool by_estimate = decided_by(root.rule) == DecidedBy::kEstimate;
  if (root.candidates.size() > 1 || (by_estimate && !root.candidates.empty())) return Open::kNotDumped;
  // No value of it can be compared; that of a part may follow from what was not dumped.
  if (!run.pairing.operators[root.op].is_paired())
    return partial && by_estimate && runs.begins_at(root.op, root.place) ? Open::kBefore : Open::kPinned;
  if (root.kind == DivergenceKind::kMissing || root.kind == DivergenceKind::kShape || !root.arguments.empty())
    return Open::kPinned;
  if (enters(root)) {
    if (root.parameter.empty() && (partial || !has_any(run, Io::kOutput))) return Open::kBefore;
    const bool is_weight = root.kind == DivergenceKind::kParameter;
    return is_weight && runs.begins_with(root.place.step) ? Open::kStepsBefore : Open::kPinned;
  }
  if (root.inputs.empty() && partial) return Open::kBefore;
  if (root.inputs.empty() && by_estimate && !has_any(run, Io::kInput)) return Open::kNoInput;
  // Statistics show what is not finite as well as elements do.
  if (root.kind == DivergenceKind::kNan) return Open::kPinned;
  if (by_statistics(run, root)) return Open::kStatistics;
  const bool undecided = by_estimate && run.computed.without_input.count(root.op) > 0;
  return undecided && !partial && !has_any(run, Io::kInput, root.op) ? Open::kNoInput : Open::kPinned;
}

// What a dump about the root has beside it.
std::vector<OperatorId> further_of(const DiffResult& run, const Divergence& root, Open open) {
  if (open == Open::kHiddenCalls && root.unseen->after != kNoId) return {root.unseen->after};
  if (open == Open::kNotDumped) return root.candidates;
  if (open != Open::kStatistics) return {};
  std::vector<OperatorId> operators = root.chain;
  // Its readers show it: they are asked for, too.
  for (const TensorId tensor : root.outputs) operators.push_back(run.pairing.tensors[tensor].op);
  return operators;
}

// The relative error of a tensor; 0 if it is not known.
double error_of(const DiffResult& run, TensorId tensor) {
  const TensorDiff& diff = run.diffs[tensor];
  const double error = diff.verdict == Verdict::kShape ? 1 : diff.metrics->relative_l2.value_or(0);
  return std::isfinite(error) ? error : 0;
}

double largest_error(const DiffResult& run, const std::vector<TensorId>& tensors) {
  double largest = 0;
  for (const TensorId tensor : tensors) largest = std::max(largest, error_of(run, tensor));
  return largest;
}

// True for an error far below the largest of the range. Few calls do not show their own noise.
bool is_noise(const DiffResult& run, const Divergence& root, double largest) {
  constexpr double kShareOfLargest = 0.1;
  if (root.kind != DivergenceKind::kValue || !root.arguments.empty() || root.outputs.empty()) return false;
  return run.pairing.operators[root.op].is_paired() && largest_error(run, root.outputs) < kShareOfLargest * largest;
}

// At the operator of a tensor.
Suspect suspect_at(const DiffResult& run, const DumpRuns& runs, TensorId tensor, std::string reason) {
  const Identity identity = run.identity(tensor);
  Suspect suspect = suspect_at(run, runs, run.pairing.tensors[tensor].op, {identity.rank, identity.step, 0});
  suspect.reason = std::move(reason);
  return suspect;
}

Sides<MsprobeSettings> settings_of(const DiffResult& run, const UnseenCalls& calls) {
  return {msprobe_settings(run, calls, true), msprobe_settings(run, calls, false)};
}

Suspect suspect_of(const DiffResult& run, const Divergence& root, DumpExtent extent, const DumpRuns& runs) {
  Suspect suspect = suspect_at(run, runs, root.op, root.place);
  suspect.kind = name_of(root.kind);
  suspect.parameter = root.parameter;
  suspect.reason = root.reason;
  suspect.only_reads = enters(root);
  suspect.open = open_of(run, root, extent, runs);
  suspect.further = further_of(run, root, suspect.open);
  // The rank of the suspect; all ranks on which a collective is known to be wrong.
  if (!root.ranks.empty()) suspect.ranks = root.ranks;
  if (suspect.open == Open::kHiddenCalls) suspect.hidden = settings_of(run, *root.unseen);
  for (const auto* const list : {&root.candidates, &root.chain}) {
    for (const OperatorId op : *list) suspect.others.push_back({std::string(run.op_name(op)), run.frame(op)});
  }
  if (root.cut) {
    for (const CutLine& line : lines_of_cut(run, *root.cut)) suspect.others.push_back({{}, line.frame});
  }
  return suspect;
}

// The first call of a range at which the error jumps. Its first calls have the errors of all calls before the range.
std::optional<Suspect> jump_in(const DiffResult& run, const DumpRuns& runs, double largest) {
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
    return suspect_at(run, runs, call.tensor,
                      made ? "its outputs have a much larger error than its inputs, and than all before"
                           : "its inputs have a much larger error than anything before: something that was not "
                             "dumped, or the order of its operands, is another");
  }
  return {};
}

// In the order of the roots.
std::vector<Suspect> suspects_of(const DiffResult& run, DumpExtent extent, const DumpRuns& runs) {
  const bool range = extent == DumpExtent::kRange;
  const double largest = range ? largest_error(run, run.rows) : 0;
  std::vector<Suspect> suspects;
  for (const Divergence& root : run.divergence.roots) {
    if (!range || !is_noise(run, root, largest)) suspects.push_back(suspect_of(run, root, extent, runs));
  }
  const bool all_came_in =
      std::all_of(suspects.begin(), suspects.end(), [](const Suspect& one) { return one.open == Open::kBefore; });
  if (!range || !all_came_in) return suspects;
  if (std::optional<Suspect> jump = jump_in(run, runs, largest)) return {std::move(*jump)};
  return suspects;
}

// The first operator whose statistics differ although no input of it does; none if no difference exceeds noise.
std::optional<Suspect> first_after_equal_inputs(const DiffResult& run, const DumpRuns& runs) {
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
  Suspect suspect = suspect_at(run, runs, found->second.tensor,
                               "nothing is proved; it is the first whose outputs differ although its inputs agree");
  suspect.open = Open::kStatistics;
  return suspect;
}

// The first tensor whose history diverges from that of the other training.
std::optional<Suspect> first_mover(const DiffResult& run, const DumpRuns& runs) {
  if (!run.histories.began) return {};
  const check::Mover& mover = run.histories.began->first;
  const check::StepTensor& moved = run.histories.history[mover.tensor];
  const auto row = std::find_if(run.rows.begin(), run.rows.end(), [&](TensorId tensor) {
    const Identity identity = run.identity(tensor);
    return identity.step == mover.step && identity.rank == moved.rank && identity.graph == moved.graph &&
           identity.name.io == moved.io && identity.name.slot == moved.slot &&
           identity.occurrence == moved.occurrence && run.op_name(run.pairing.tensors[tensor].op) == moved.op_name;
  });
  if (row == run.rows.end()) return {};
  Suspect suspect = suspect_at(run, runs, *row, check::reason_of(run.histories));
  suspect.kind = "began";
  suspect.open = Open::kStepsBefore;
  return suspect;
}

// The first value that differs when the dump begins, with a later step; none if every difference is explained.
std::optional<Suspect> left_by_steps_before(const DiffResult& run, const DumpRuns& runs) {
  const double error = run.divergence.error_at_start;
  const auto is_in_doubt = [&](TensorId row) { return is_unexplained(run, row); };
  if (error == 0 || std::none_of(run.rows.begin(), run.rows.end(), is_in_doubt)) return {};
  TensorId first;
  for (const TensorId row : run.rows) {
    const ExecutionId at = run.divergence.runs[row];
    if (at == kNoId || run.identity(row).name.io == Io::kOutput || judged_error(run, row).value_or(0) < error) continue;
    if (first == kNoId || at < run.divergence.runs[first]) first = row;
  }
  if (first == kNoId) return {};
  Suspect suspect = suspect_at(run, runs, first, "its input differs when the dump begins, as do other weights");
  suspect.open = Open::kStepsBefore;
  return suspect;
}

// The first operator with a large difference that was not judged for want of values.
class UnjudgedSearch {
 public:
  UnjudgedSearch(const DiffResult& run, const DumpRuns& runs) : run_(run), runs_(runs) {
    for (const TensorId row : run.rows) {
      const OperatorId op = run.pairing.tensors[row].op;
      const auto entry = parse_msprobe_entry(run.op_name(op));
      has_calls_ = has_calls_ || (entry && entry->kind == MsprobeEntryKind::kCall);
      if (is_output(row)) continue;
      with_inputs_.insert(op);
      const bool noise = !is_unexplained(run, row) || may_be_rounding(run.divergence.unjudged[row]);
      if (counts_as_difference(run, row) && noise) reads_noise_.insert(run.divergence.runs[row]);
    }
  }

  [[nodiscard]] std::optional<Suspect> find() const {
    TensorId first;
    const auto place_of = [&](TensorId row) { return std::pair(run_.divergence.runs[row], is_output(row)); };
    for (const TensorId row : run_.rows) {
      if ((first == kNoId || place_of(row) < place_of(first)) && open_of(row) != Open::kPinned) first = row;
    }
    if (first == kNoId) return {};
    const NameFacts name = run_.identity(first).name;
    Suspect suspect =
        suspect_at(run_, runs_, first,
                   fmt::format("nothing is proved; its {} {} is the first difference that was not judged: {}",
                               name_of(name.io), name.slot, text_of(run_.divergence.unjudged[first])));
    suspect.open = open_of(first);
    suspect.only_reads = suspect.open == Open::kBefore;
    if (suspect.open == Open::kHiddenCalls) {
      const UnseenCalls inside{kNoId, suspect.op, "mix"};
      suspect.hidden = settings_of(run_, inside);
    }
    return suspect;
  }

 private:
  [[nodiscard]] bool is_output(TensorId row) const { return run_.identity(row).name.io == Io::kOutput; }

  // What would judge it; kPinned if it is judged, or no dump would.
  [[nodiscard]] Open open_of(TensorId row) const {
    constexpr double kLarge = 0.05;  // relative error
    const Unjudged reason = run_.divergence.unjudged[row];
    const OperatorId op = run_.pairing.tensors[row].op;
    const ExecutionId at = run_.divergence.runs[row];
    if (!is_unexplained(run_, row) || at == kNoId || !run_.pairing.operators[op].is_paired()) return Open::kPinned;
    if (reason != Unjudged::kUnlikely && judged_error(run_, row).value_or(0) < kLarge) return Open::kPinned;
    // In a later step it is what the step before left. Statistics do not tell it from a gradient that is zero but for rounding.
    const bool first_step = run_.identity(row).step == runs_.first_step, by_statistics = run_.diffs[row].by_statistics;
    if (reason == Unjudged::kUnknownSource && !is_output(row))
      return first_step && !by_statistics ? Open::kBefore : Open::kPinned;
    const bool large = reason == Unjudged::kLargeInput && reads_noise_.count(at) == 0;
    if (reason != Unjudged::kNoInputs && reason != Unjudged::kUnlikely && !large) return Open::kPinned;
    const auto entry = parse_msprobe_entry(run_.op_name(op));
    if (entry && entry->kind == MsprobeEntryKind::kModule && !has_calls_) return Open::kHiddenCalls;
    if (by_statistics) return first_step || !large ? Open::kStatistics : Open::kPinned;
    return is_output(row) && with_inputs_.count(op) == 0 ? Open::kNoInput : Open::kPinned;
  }

  const DiffResult& run_;
  const DumpRuns& runs_;
  bool has_calls_ = false;             // of msprobe
  std::set<OperatorId> with_inputs_;   // that were dumped
  std::set<ExecutionId> reads_noise_;  // an input has an error that rounding leads to
};

constexpr WordsTable kComparedWords = enum_table<Open, PlanWords>(
    PlanWords{},
    PlanWords{"which of the calls that were not dumped makes {name} differ?",
              {{{"the inputs of one of them agree and its outputs do not", "that call is to blame"},
                {"all of them agree", "the difference is of the settings of the run, and not of these calls"}}}},
    PlanWords{"which operator before {name}, of those that were not dumped, is to blame?",
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

}  // namespace

DumpRuns runs_of(const DiffResult& run) {
  DumpRuns runs(&run.a->side, &run.b->side, run.pairing.dumps);
  for (OperatorId op{0}; op < run.pairing.operators.size(); ++op) {
    const OpPair& pair = run.pairing.operators[op];
    runs.operators.push_back(
        {std::string(run.op_name(op)),
         {pair.a == kNoId ? nullptr : &run.pairing.a[pair.a], pair.b == kNoId ? nullptr : &run.pairing.b[pair.b]}});
  }
  for (const TensorId row : run.rows) {
    const TensorPair& pair = run.pairing.tensors[row];
    const ExecutionId at = run.divergence.runs[row];
    runs.add(at, pair.op, run.identity(row), run.record_of(pair));
    if (pair.a != kNoId) runs.bytes += bytes_of_elements((*run.a->side.tensors)[pair.a]);
    if (at == kNoId) continue;
    const bool equal = run.diffs[row].verdict == Verdict::kSame && !run.diffs[row].by_statistics;
    runs.executions[at].equal = runs.executions[at].equal && equal;
  }
  return runs;
}

DumpExtent extent_of(const DiffResult& run) {
  // What a gradient operator reads was made in the step. Calls of msprobe that were not dumped are found otherwise.
  const auto lacks_producer = [&](const Divergence& root) {
    return enters(root) && root.parameter.empty() && root.candidates.empty() && is_gradient_name(run.op_name(root.op));
  };
  const auto& roots = run.divergence.roots;
  const bool partial = std::any_of(roots.begin(), roots.end(), lacks_producer) || runs_of(run).begins_inside();
  return partial ? DumpExtent::kList : DumpExtent::kAll;
}

NextPlan plan_next(const std::vector<CaseDump<DiffResult>>& dumps, const DumpRequest& as_before) {
  const DiffResult& last = *dumps.back().run;
  const CaseRuns runs(dumps);
  const DumpRuns* of = &runs.last();

  std::vector<Suspect> suspects = suspects_of(last, dumps.back().extent, *of);
  // An input of the first call of the network has no producer to ask for.
  for (Suspect& suspect : suspects) {
    if (suspect.open == Open::kBefore && runs.begins_network(suspect)) suspect.open = Open::kPinned;
  }
  // The roots are ordered by their evidence: what `diff` names first leads. What enters a part of the dump says no more than
  // that the fault may lie before it, and is asked about only where nothing inside is pinned.
  if (dumps.back().extent != DumpExtent::kAll)
    std::stable_partition(suspects.begin(), suspects.end(),
                          [](const Suspect& suspect) { return suspect.open == Open::kPinned; });
  // The suspects that were asked for are healthy: takes the next one of the first dump.
  if (const size_t asked = dumps.size() - 1 - runs.begin; suspects.empty() && asked > 0) {
    std::vector<Suspect> of_first = suspects_of(*dumps[runs.begin].run, dumps[runs.begin].extent, runs.whole);
    if (asked < of_first.size()) {
      suspects = {std::move(of_first[asked])};
      of = &runs.whole;
    }
  }
  const bool judged = !last.single_pair && !last.pairing.of_parameters && !last.pairing.likeness.two_networks();
  if (suspects.empty() && dumps.size() == 1 && judged) {
    std::optional<Suspect> one = first_mover(last, *of);
    if (!one) one = left_by_steps_before(last, *of);
    if (!one) one = first_after_equal_inputs(last, *of);
    if (!one) one = UnjudgedSearch(last, *of).find();
    if (one && !(one->open == Open::kBefore && runs.begins_network(*one))) suspects.push_back(std::move(*one));
  }
  NextPlan plan = plan_for(std::move(suspects), *of, runs, kComparedWords, as_before);
  const bool any = std::any_of(last.rows.begin(), last.rows.end(), [&](TensorId row) {
    return counts_as_difference(last, row) && last.diffs[row].verdict != Verdict::kUnmatched;
  });
  if (any && judged) plan.nothing = describe_no_root(last).text;
  return plan;
}

}  // namespace msdump
