#include "next/suspects.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "divergence/roots/cut_text.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

bool by_statistics(const DiffResult& run, const Divergence& root) {
  const auto is_statistic = [&](uint32_t tensor) { return run.diffs[tensor].by_statistics; };
  return std::any_of(root.outputs.begin(), root.outputs.end(), is_statistic) ||
         std::any_of(root.inputs.begin(), root.inputs.end(), is_statistic);
}

std::optional<int64_t> first_step(const DiffResult& run) {
  std::optional<int64_t> first;
  for (const uint32_t row : run.rows) {
    const std::optional<int64_t> step = run.identity(row).step;
    if (step && (!first || *step < *first)) first = step;
  }
  return first;
}

Open open_of(const DiffResult& run, const Divergence& root, DumpExtent extent, std::optional<int64_t> first) {
  const bool partial = extent != DumpExtent::kAll;
  if (root.unseen) {
    // Of a range every call was dumped that can be.
    const bool between = root.unseen->after != kNoOperator;
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
  return by_statistics(run, root) ? Open::kStatistics : Open::kPinned;
}

std::vector<uint32_t> operators_of(const DiffResult& run, const Divergence& root, Open open) {
  std::vector<uint32_t> operators = {root.op};
  if (open == Open::kNotDumped) operators.insert(operators.end(), root.candidates.begin(), root.candidates.end());
  if (open == Open::kStatistics) {
    operators.insert(operators.end(), root.chain.begin(), root.chain.end());
    // Where its readers show it: what they read.
    for (const uint32_t tensor : root.outputs) operators.push_back(run.pairing.tensors[tensor].op);
  }
  std::vector<uint32_t> once;
  for (const uint32_t op : operators) {
    if (std::find(once.begin(), once.end(), op) == once.end()) once.push_back(op);
  }
  return once;
}

// Of a value; 0 where it is not known.
double error_of(const DiffResult& run, uint32_t tensor) {
  const TensorDiff& diff = run.diffs[tensor];
  const double error = diff.verdict == Verdict::kShape ? 1 : diff.metrics.relative_l2.value_or(0);
  return std::isfinite(error) ? error : 0;
}

double largest_error(const DiffResult& run, const std::vector<uint32_t>& tensors) {
  double largest = 0;
  for (const uint32_t tensor : tensors) largest = std::max(largest, error_of(run, tensor));
  return largest;
}

// Few calls do not show what noise they have: what does not make the error that the range is about is its noise.
bool is_noise(const DiffResult& run, const RootSuspect& suspect, double largest) {
  constexpr double kShareOfLargest = 0.1;
  const Divergence* const root = suspect.root;
  if (root == nullptr || root->kind != DivergenceKind::kValue || !root->arguments.empty() || root->outputs.empty())
    return false;
  return on_both_sides(run, root->op) && largest_error(run, root->outputs) < kShareOfLargest * largest;
}

RootSuspect suspect_at(const DiffResult& run, uint32_t op) {
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
    for (const uint32_t op : *list) suspect.others.push_back({run.op_name(op), run.frame(op)});
  }
  if (root.cut) {
    for (const CutLine& line : lines_of_cut(run, *root.cut)) suspect.others.push_back({{}, line.frame});
  }
  return suspect;
}

// In a range of calls, whose first ones have the errors of all before it: the first call at which the error jumps.
std::optional<RootSuspect> jump_in(const DiffResult& run, double largest) {
  constexpr double kJump = 5, kShareOfLargest = 0.3;
  struct Call {
    uint32_t tensor = 0;
    double in = 0, out = 0;  // largest relative errors
  };
  std::map<uint32_t, Call> calls;  // by run, which are in order
  for (const uint32_t row : run.rows) {
    const uint32_t index = run.divergence.runs[row];
    if (index == kNoRun) continue;
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
    if (!made && index == calls.begin()->first) return {};  // it came in
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

}  // namespace

bool on_both_sides(const DiffResult& run, uint32_t op) {
  const OpPair& pair = run.pairing.operators[op];
  return pair.a != kNoOperator && pair.b != kNoOperator;
}

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

std::optional<RootSuspect> first_after_equal_inputs(const DiffResult& run) {
  struct Call {
    uint32_t tensor = kNoTensor;  // an output that differs
    bool any_input = false, inputs_differ = false;
  };
  const bool any_doubt = std::any_of(run.rows.begin(), run.rows.end(), [&](uint32_t row) {
    return is_unexplained(run, row) && run.diffs[row].by_statistics && !may_be_rounding(run.divergence.unjudged[row]);
  });
  if (!any_doubt) return {};
  std::map<uint32_t, Call> calls;  // by run, which are in order
  for (const uint32_t row : run.rows) {
    const uint32_t index = run.divergence.runs[row];
    if (index == kNoRun || run.diffs[row].verdict == Verdict::kSkipped) continue;
    Call& call = calls[index];
    const bool differs = counts_as_difference(run, row);
    if (run.identity(row).name.io != Io::kOutput) {
      call.any_input = true;
      call.inputs_differ = call.inputs_differ || differs;
    } else if (differs && run.diffs[row].by_statistics && call.tensor == kNoTensor) {
      call.tensor = row;
    }
  }
  const auto found = std::find_if(calls.begin(), calls.end(), [](const auto& one) {
    return one.second.tensor != kNoTensor && one.second.any_input && !one.second.inputs_differ;
  });
  if (found == calls.end()) return {};
  RootSuspect suspect = suspect_at(run, run.pairing.tensors[found->second.tensor].op);
  const Identity identity = run.identity(found->second.tensor);
  suspect.place = {identity.rank, identity.step, 0};
  suspect.open = Open::kStatistics;
  suspect.reason = "nothing is proved; it is the first whose outputs differ although its inputs agree";
  return suspect;
}

}  // namespace msdump
