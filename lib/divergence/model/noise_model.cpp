#include "divergence/model/noise_model.h"

#include <algorithm>

#include "base/numbers.h"
#include "divergence/model/own_noise.h"
#include "divergence/model/scores.h"

namespace msdump {

NoiseModel::NoiseModel(const RunView& view)
    : view_(view),
      operators_(view),
      search_(view, operators_),
      outputs_(view, operators_, search_),
      storage_rounding_(find_storage_rounding(view)),
      usual_noise_(estimate_noise(view, operators_, storage_rounding_, outputs_)),
      threshold_(score_outputs(view, operators_, storage_rounding_, outputs_)) {}

double NoiseModel::expected_with(const ScoredOutput& output, std::span<const KnownInput> inputs) const {
  const auto error = view_.error(output.tensor);
  if (!error) return output.expected;
  const KnownOutput known{output.tensor, 0, *error, view_.diff(output.tensor).shape};
  const double propagated = expect(family(output.run), gain(output.run), inputs, known).propagated;
  return hypotenuse(propagated, output.noise * output.amplification);
}

uint32_t NoiseModel::likeliest_within(uint32_t run) const {
  const auto adds = [&](uint32_t one) {
    switch (gain(one).noise) {
      case NoiseClass::kMoves: return 0;
      case NoiseClass::kElementwise:
      case NoiseClass::kUnknown: return 1;
      default: return 2;
    }
  };
  const std::vector<uint32_t> runs = within(run);
  // One that reads what the statistics say nothing about, such as a mask, may have read something else.
  const auto reads_unknown = [&](uint32_t one) {
    const auto& inputs = view_.run(one).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return view_.compared(input.tensor) && !view_.error(input.tensor) &&
             std::find(runs.begin(), runs.end(), input.made_by) == runs.end();
    });
  };
  const auto blind = std::find_if(runs.begin(), runs.end(), reads_unknown);
  if (blind != runs.end()) return *blind;
  // A comparison that finds the first of the largest; the run itself unless another adds more.
  uint32_t best = run;
  for (auto one = runs.rbegin(); one != runs.rend(); ++one) {
    if (adds(*one) > adds(best) || (adds(*one) == adds(best) && adds(*one) == 2 && *one < best)) best = *one;
  }
  return best;
}

}  // namespace msdump
