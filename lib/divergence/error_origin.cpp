#include "divergence/error_origin.h"

#include <algorithm>

#include "divergence/error_size.h"

namespace msdump {
namespace {

constexpr int kMostHops = 1000;

}  // namespace

bool inherits(const RunView& view, const RunInput& input) {
  constexpr double kAsMuch = 3;
  if (input.made_by == kNoRun || !view.is(input.made_as, Verdict::kClose)) return false;
  return error_size(view.diff(input.tensor)).l2 <= kAsMuch * error_size(view.diff(input.made_as)).l2;
}

uint32_t origin_of_error(const RunView& view, uint32_t run) {
  for (int hops = 0; hops < kMostHops; ++hops) {
    const auto& inputs = view.run(run).inputs;
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return view.is(input.tensor, Verdict::kClose) && inherits(view, input);
    });
    if (found == inputs.end()) return run;
    run = found->made_by;
  }
  return run;
}

}  // namespace msdump
