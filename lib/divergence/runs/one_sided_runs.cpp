#include "divergence/runs/one_sided_runs.h"

#include <algorithm>

#include "compare/limits.h"
#include "divergence/model/operator_gain.h"
#include "divergence/model/tensor_error.h"

namespace msdump {
namespace {

ExecutionId first_in(const std::vector<ExecutionId>& runs, ExecutionId first, ExecutionId end) {
  const auto found = std::lower_bound(runs.begin(), runs.end(), first);
  return found != runs.end() && *found < end ? *found : kNoId;
}

ExecutionId last_in(const std::vector<ExecutionId>& runs, ExecutionId first, ExecutionId end) {
  const auto after = std::lower_bound(runs.begin(), runs.end(), end);
  return after != runs.begin() && *(after - 1) >= first ? *(after - 1) : kNoId;
}

}  // namespace

OneSidedRuns::OneSidedRuns(const RunView& view) : view_(view) {
  for (ExecutionId run{0}; run < view_.runs().size(); ++run) {
    if (!view_.is_surprise(run)) continue;
    const bool of_a = view_.of_candidate_only(run);
    if (of_a) all_of_a_.push_back(run);
    Pass& pass = passes_[view_.is_backward(run) ? 1 : 0];
    (of_a ? pass.of_a : pass.of_b).push_back(run);
    if (!of_a && view_.is_backward(run)) first_backward_.try_emplace(view_.place(run).in_step(), run);
    if (of_a && turns_coarser(run)) pass.coarser.push_back(run);
  }
}

ExecutionId OneSidedRuns::between(ExecutionId first, ExecutionId end) const {
  if (passes_[0].of_a.empty() && passes_[0].of_b.empty() && passes_[1].of_a.empty() && passes_[1].of_b.empty())
    return kNoId;
  const Pass& pass = passes_[view_.is_backward(end) ? 1 : 0];
  if (const ExecutionId run = first_in(pass.coarser, first, end); run != kNoId) return run;
  for (const auto* const runs : {&pass.of_a, &pass.of_b}) {
    if (const ExecutionId run = last_in(*runs, first, end); run != kNoId) return last_that_computes(*runs, first, run);
  }
  // After the backward pass, values depend on all gradients.
  return view_.is_backward(end) ? kNoId : first_in(passes_[1].of_b, first, end);
}

// The last up to `last` that does more than move values; `last` if none of the nearest does.
ExecutionId OneSidedRuns::last_that_computes(const std::vector<ExecutionId>& runs, ExecutionId first,
                                             ExecutionId last) const {
  auto at = std::upper_bound(runs.begin(), runs.end(), last);
  for (size_t i = 0; i < kFewTried && at != runs.begin() && *--at >= first; ++i) {
    if (gain_of(gain_family(view_.op(*at).type)).noise != NoiseClass::kMoves) return *at;
  }
  return last;
}

ExecutionId OneSidedRuns::first_backward(const RunPlace& place) const {
  const auto found = first_backward_.find(place.in_step());
  return found == first_backward_.end() ? kNoId : found->second;
}

ExecutionId OneSidedRuns::first_of_candidate(ExecutionId first, ExecutionId end) const {
  return first_in(all_of_a_, first, end);
}

bool OneSidedRuns::turns_coarser(ExecutionId run) const {
  double in = 0, out = 0;
  for (const RunInput& input : view_.run(run).inputs) {
    if (input.tensor != kNoId) in = std::max(in, unit_roundoff(view_.dtype(input.tensor)));
  }
  for (const TensorId tensor : view_.run(run).outputs) out = std::max(out, unit_roundoff(view_.dtype(tensor)));
  return in > 0 && out > in;
}

}  // namespace msdump
