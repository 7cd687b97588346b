#include "divergence/model/input_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash_slots.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// Operators without tensors of their own between an input and those that are known: in a row, and in all. Branches that
// meet again would take more with every row.
constexpr uint32_t kMostLookedThrough = 8;
constexpr size_t kMostInputs = 64;
constexpr ReachedLimit kDepthLimit = {
    "operators_looked_through", kMostLookedThrough,
    "operators behind more than this many undumped ones in a row are judged without them"};
constexpr ReachedLimit kInputsLimit = {
    "inputs_of_an_operator", kMostInputs,
    "operators with more inputs, or undumped operators before them, are judged by these"};

}  // namespace

bool InputSearch::add_tensor(uint32_t tensor, const RunInput* input, KnownInputs& result) const {
  const auto error = tensor == kNoTensor ? std::nullopt : view_.error(tensor);
  if (!error) return false;
  KnownInput known;
  known.tensor = tensor;
  known.error = *error;
  known.error.relative = std::max(error->relative, error->hidden());
  known.shape = view_.diff(tensor).shape;
  const kernels::PairMetrics& metrics = view_.diff(tensor).metrics;
  if (metrics.max_b && metrics.min_b && error->rms > 0)
    known.peak = std::max(std::abs(*metrics.max_b), std::abs(*metrics.min_b)) / error->rms;
  if (input != nullptr) {
    known.slot = input->slot;
    known.is_constant = input->from == InputEdge::From::kConstant;
  }
  result.known.push_back(std::move(known));
  return true;
}

// An input counts with the error that it was written with: more than that is a change on the way, which shows in the
// outputs if it matters.
bool InputSearch::add_operand(const RunInput& input, KnownInputs& result) const {
  if (input.made_by != kNoRun && view_.is_surprise(input.made_by)) return false;
  const uint32_t lacking = input.made_by == kNoRun ? kNoRun : view_.lacking(input.made_by);
  if (!add_tensor(input.tensor, &input, result)) return lacking == kNoRun && add_tensor(input.made_as, &input, result);
  const auto made = input.made_as == kNoTensor ? std::nullopt : view_.error(input.made_as);
  TensorError& error = result.known.back().error;
  if (!made) return true;
  // What lacks an input of the reference's is off by that, and what is made of it later is not.
  const double written =
      lacking == kNoRun || view_.same_in_a(input.tensor, input.made_as) ? made->relative : largest_error_into(lacking);
  if (error.relative > kChangedOnTheWay * written)
    error.relative = std::max(written, view_.expected_rounding(input.made_by));
  error.relative = std::max(error.relative, assumed_[input.made_as]);
  return true;
}

double InputSearch::largest_error_into(uint32_t run) const {
  double largest = 0;
  for (const RunInput& input : view_.run(run).inputs) {
    const auto error = input.tensor == kNoTensor ? std::nullopt : view_.error(input.tensor);
    if (error) largest = std::max({largest, error->relative, error->hidden()});
  }
  return largest;
}

// Does an exponential read values of which some are masked? Their error is that of the mask, which does not count: what
// was masked says more.
bool InputSearch::is_masked_for(uint32_t run, const RunInput& input) const {
  if (operators_.gain(run).rule != GainRule::kExponential) return false;
  if (input.made_by == kNoRun || input.tensor == kNoTensor) return false;
  const double least = view_.diff(input.tensor).metrics.min_b.value_or(0);
  return least < kMask && view_.diff(input.tensor).metrics.max_b.value_or(least) > kFarAboveMask * least;
}

void InputSearch::add_inputs(uint32_t run, uint32_t depth, KnownInputs& result) const {
  for (const RunInput& input : view_.run(run).inputs) {
    if (!is_masked_for(run, input) && add_operand(input, result)) continue;
    if (input.from == InputEdge::From::kConstant || view_.is_attribute(input.tensor)) continue;
    result.pattern = mix_hash(result.pattern, input.slot + 64 * depth);
    const bool few = result.known.size() < kMostInputs && result.through.size() < kMostInputs;
    if (input.made_by != kNoRun && depth < kMostLookedThrough && few) {
      result.pattern = mix_hash(result.pattern, operators_.type(input.made_by));
      result.through.push_back(input.made_by);
      add_inputs(input.made_by, depth + 1, result);
    } else {
      result.complete = false;
      if (!few) limits_.insert(kInputsLimit);
      if (few && input.made_by != kNoRun) limits_.insert(kDepthLimit);
    }
  }
}

void InputSearch::add_before(uint32_t run, KnownInputs& result) const {
  result.by_order = true;
  result.complete = false;
  for (uint32_t before = run; before-- > 0 && result.known.empty() && run - before <= kMostInputs;) {
    if (view_.place(before).rank != view_.place(run).rank || view_.place(before).step != view_.place(run).step) return;
    for (const uint32_t tensor : view_.outputs(before)) (void)add_tensor(tensor, nullptr, result);
  }
}

// A collective operation passes on the errors of all ranks.
void InputSearch::add_other_ranks(uint32_t run, KnownInputs& result) const {
  const InputSummary& all = view_.inputs_of_group(run);
  for (KnownInput& input : result.known) {
    input.error.relative = std::max(input.error.relative, all.largest_error);
    input.error.exact = input.error.exact && all.all_same;
  }
}

// A backward call also reads what its forward call saved.
void InputSearch::add_saved(uint32_t forward, KnownInputs& result) const {
  const size_t gradients = result.known.size();
  for (const RunInput& input : view_.run(forward).inputs) (void)add_tensor(input.tensor, nullptr, result);
  const size_t read = result.known.size();
  for (const uint32_t tensor : view_.run(forward).outputs) (void)add_tensor(tensor, nullptr, result);
  for (size_t i = gradients; i < result.known.size(); ++i) {
    result.known[i].of_forward = true;
    result.known[i].is_result = i >= read;
  }
}

KnownInputs InputSearch::inputs_of(uint32_t run) const {
  KnownInputs result;
  add_inputs(run, 0, result);
  if (view_.graph().flow() == FlowKind::kOrder && view_.run(run).inputs.empty()) add_before(run, result);
  if (view_.is_collective(run)) add_other_ranks(run, result);
  for (const uint32_t backward : view_.backward_calls_of(run)) {
    for (const RunInput& input : view_.run(backward).inputs) (void)add_tensor(input.tensor, nullptr, result);
  }
  for (const uint32_t forward : view_.forward_calls_of(run)) add_saved(forward, result);
  return result;
}

std::vector<uint32_t> InputSearch::within(uint32_t run) const {
  std::vector<uint32_t> runs = inputs_of(run).through;
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  runs.push_back(run);
  return runs;
}

}  // namespace msdump
