#include "divergence/runs/one_sided_runs.h"

#include <algorithm>

#include "divergence/model/operator_gain.h"
#include "divergence/model/tensor_error.h"

namespace msdump {
namespace {

uint32_t first_in(const std::vector<uint32_t>& runs, uint32_t first, uint32_t end) {
  const auto found = std::lower_bound(runs.begin(), runs.end(), first);
  return found != runs.end() && *found < end ? *found : kNoRun;
}

uint32_t last_in(const std::vector<uint32_t>& runs, uint32_t first, uint32_t end) {
  const auto after = std::lower_bound(runs.begin(), runs.end(), end);
  return after != runs.begin() && *(after - 1) >= first ? *(after - 1) : kNoRun;
}

}  // namespace

OneSidedRuns::OneSidedRuns(const RunView& view) : view_(view) {
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    if (!view_.is_surprise(run)) continue;
    const bool of_a = view_.of_candidate_only(run);
    if (of_a) all_of_a_.push_back(run);
    if (has_paired_inside(run)) continue;
    Pass& pass = passes_[view_.is_backward(run) ? 1 : 0];
    (of_a ? pass.of_a : pass.of_b).push_back(run);
    if (!of_a && view_.is_backward(run))
      first_backward_.try_emplace({view_.place(run).rank, view_.place(run).step}, run);
    if (of_a && turns_coarser(run)) pass.coarser.push_back(run);
  }
}

uint32_t OneSidedRuns::between(uint32_t first, uint32_t end) const {
  if (passes_[0].of_a.empty() && passes_[0].of_b.empty() && passes_[1].of_a.empty() && passes_[1].of_b.empty())
    return kNoRun;
  const Pass& pass = passes_[view_.is_backward(end) ? 1 : 0];
  if (const uint32_t run = first_in(pass.coarser, first, end); run != kNoRun) return run;
  for (const auto* const runs : {&pass.of_a, &pass.of_b}) {
    if (const uint32_t run = last_in(*runs, first, end); run != kNoRun) return last_that_computes(*runs, first, run);
  }
  // After the backward pass, values depend on all gradients.
  return view_.is_backward(end) ? kNoRun : first_in(passes_[1].of_b, first, end);
}

// The last up to `last` that does more than move values; `last` if none of the nearest does.
uint32_t OneSidedRuns::last_that_computes(const std::vector<uint32_t>& runs, uint32_t first, uint32_t last) const {
  constexpr int kNearest = 16;
  auto at = std::upper_bound(runs.begin(), runs.end(), last);
  for (int i = 0; i < kNearest && at != runs.begin() && *--at >= first; ++i) {
    if (gain_of(gain_family(view_.op(*at).type)).noise != NoiseClass::kMoves) return *at;
  }
  return last;
}

uint32_t OneSidedRuns::first_backward(const RunPlace& place) const {
  const auto found = first_backward_.find({place.rank, place.step});
  return found == first_backward_.end() ? kNoRun : found->second;
}

uint32_t OneSidedRuns::first_of_candidate(uint32_t first, uint32_t end) const {
  return first_in(all_of_a_, first, end);
}

bool OneSidedRuns::has_paired_inside(uint32_t run) const {
  const auto& inside = view_.inside(run);
  return std::any_of(inside.begin(), inside.end(), [&](uint32_t inner) { return !view_.one_sided(inner); });
}

bool OneSidedRuns::turns_coarser(uint32_t run) const {
  double in = 0, out = 0;
  for (const RunInput& input : view_.run(run).inputs) {
    if (input.tensor != kNoTensor) in = std::max(in, unit_roundoff(view_.dtype(input.tensor)));
  }
  for (const uint32_t tensor : view_.run(run).outputs) out = std::max(out, unit_roundoff(view_.dtype(tensor)));
  return in > 0 && out > in;
}

}  // namespace msdump
