#include "compare/between_runs.h"

#include <algorithm>

#include "compare/error_size.h"

namespace msdump {
namespace {

constexpr int kMostHops = 1000;

bool has_paired_inside(const RunView& view, uint32_t run) {
  const auto& inside = view.inside(run);
  return std::any_of(inside.begin(), inside.end(), [&](uint32_t inner) { return !view.one_sided(inner); });
}

}  // namespace

uint32_t one_sided_between(const RunView& view, uint32_t first, uint32_t end) {
  if (view.other_framework()) return kNoRun;
  uint32_t of_a = kNoRun, of_b = kNoRun;
  for (uint32_t run = first; run < end; ++run) {
    if (!view.one_sided(run) || has_paired_inside(view, run) || view.is_backward(run) != view.is_backward(end))
      continue;
    (view.of_candidate_only(run) ? of_a : of_b) = run;
    if (of_a == run && turns_coarser(view, run)) return run;
  }
  return of_a != kNoRun ? of_a : of_b;
}

bool turns_coarser(const RunView& view, uint32_t run) {
  double in = 0, out = 0;
  for (const FlowInput& input : view.run(run).inputs) {
    if (input.tensor != kNoTensor) in = std::max(in, rounding_of(view.dtype(input.tensor)));
  }
  for (const uint32_t tensor : view.run(run).outputs) out = std::max(out, rounding_of(view.dtype(tensor)));
  return in > 0 && out > in;
}

std::string happened_between(const RunView& view, uint32_t first, uint32_t end) {
  for (uint32_t run = first; run < end; ++run) {
    if (view.one_sided(run) && view.of_candidate_only(run)) return view.name(run) + ", which only the candidate has,";
  }
  return "something between them that was not dumped";
}

bool inherits(const RunView& view, const FlowInput& input) {
  constexpr double kAsMuch = 3;
  if (input.made_by == kNoRun || !view.is(input.made_as, Verdict::kClose)) return false;
  return error_size(view.diff(input.tensor)).l2 <= kAsMuch * error_size(view.diff(input.made_as)).l2;
}

uint32_t origin_of_error(const RunView& view, uint32_t run) {
  for (int hops = 0; hops < kMostHops; ++hops) {
    const auto& inputs = view.run(run).inputs;
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const FlowInput& input) {
      return view.is(input.tensor, Verdict::kClose) && inherits(view, input);
    });
    if (found == inputs.end()) return run;
    run = found->made_by;
  }
  return run;
}

}  // namespace msdump
