#include "divergence/model/own_noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "divergence/model/calibration.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_bounds.h"
#include "divergence/model/quantile.h"

namespace msdump {
namespace {

class NoiseEstimate {
 public:
  NoiseEstimate(const RunView& view, const RunOperators& operators, double storage_rounding, ScoredOutputs& outputs)
      : view_(view),
        operators_(operators),
        storage_rounding_(storage_rounding),
        outputs_(outputs.all()),
        bounds_(outputs.kinds()),
        sample_of_(outputs_.size(), UINT32_MAX) {}

  double run() {
    double prior = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].judged()) continue;
      prior += std::log(kPriorNoise * std::max(outputs_[i].roundoff, storage_rounding_ / kLargestOverMean));
      ++count;
      add_sample(i);
    }
    if (count == 0) return 0;
    bounds_.sort();
    const Calibration calibration(std::move(samples_), {prior / static_cast<double>(count), true, kShareOfNoise, true});
    std::vector<double> all;
    for (uint32_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].judged()) continue;
      set_noise(i, calibration);
      if (!view_.is_gradient(outputs_[i].run)) all.push_back(outputs_[i].noise);
    }
    return all.empty() ? 0 : quantile_of_unsorted(all, 0.5);
  }

 private:
  // Of an operator that adds rounding, where it shows.
  void add_sample(uint32_t i) {
    const ScoredOutput& output = outputs_[i];
    if (static_cast<NoiseClass>(output.group.noise_class) == NoiseClass::kMoves) return;
    if (operators_.repeats(output.run) || is_constant(output.tensor)) return;
    const double floor = kLeastNoise * output.roundoff;
    const double all = std::max(output.measured / output.amplification, floor);
    const uint32_t op = view_.run(output.run).op;
    if (output.measured > 0) bounds_.add(output.group.kind, op, all);
    double own = output.propagated;
    const double unsure =
        hypotenuse(operators_.gain(output.run).spread, output.by_statistics ? 2 * kSpreadOfStatistics : 0);
    if (output.measured > std::exp(unsure) * output.propagated || output.propagated == 0) {
      own = std::sqrt(output.measured * output.measured - output.propagated * output.propagated);
    } else if (!output.by_statistics || output.measured > 0 || output.propagated > kMostHidden * output.hidden) {
      return;  // the error of the inputs hides it
    }
    own /= output.amplification;
    sample_of_[i] = static_cast<uint32_t>(samples_.size());
    samples_.push_back({output.group, op, std::log(std::max(own, floor)), kSpreadOfNoise});
  }

  // Zeros and other values that are all the same round all the same.
  [[nodiscard]] bool is_constant(uint32_t tensor) const {
    const kernels::PairMetrics& metrics = view_.diff(tensor).metrics;
    return metrics.max_b && metrics.max_b == metrics.min_b;
  }

  void set_noise(uint32_t i, const Calibration& calibration) {
    ScoredOutput& output = outputs_[i];
    const Centre centre =
        sample_of_[i] == UINT32_MAX ? calibration.at(output.group, kSpreadOfNoise) : calibration.without(sample_of_[i]);
    const double most = bounds_.without(output.group.kind, view_.run(output.run).op);
    output.noise = std::min(std::exp(centre.centre), most);
    double above = output.noise * std::exp(centre.spread);
    // Of cuts many calls have no siblings, and the other calls of the class say more than what a device may do.
    if (centre.siblings == 0 && !view_.of_cuts()) above = std::max(above, operators_.gain(output.run).approximation);
    output.noise_above = std::max(output.noise, std::min(above, most));
    output.expected = hypotenuse(output.propagated, output.noise * output.amplification);
  }

  const RunView& view_;
  const RunOperators& operators_;
  const double storage_rounding_;
  const std::span<ScoredOutput> outputs_;
  NoiseBounds bounds_;
  std::vector<Calibration::Sample> samples_;
  std::vector<uint32_t> sample_of_;  // by output
};

}  // namespace

double find_storage_rounding(const RunView& view) {
  std::vector<double> entering;
  size_t exact = 0;
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    // Of cuts many sources are not known: what comes after the forward pass may be made of anything before.
    if (view.of_cuts() && view.is_backward(run)) break;
    if (view.place(run).step != view.place(0).step || view.one_sided(run)) continue;
    for (const RunInput& input : view.run(run).inputs) {
      if (input.made_by != kNoRun || input.from == InputEdge::From::kConstant || input.tensor == kNoTensor) continue;
      const auto error = view.error(input.tensor);
      if (!error || error->discrete || error->elements < kFewElements) continue;
      if (error->relative > 0 && error->relative < kMostRounding) entering.push_back(error->relative);
      exact += error->relative == 0 ? 1U : 0U;
    }
  }
  const double rounding = unit_roundoff(DType::kFloat32);
  if (entering.size() < kFewEntering || entering.size() * kMostExactPerRounded < exact) return rounding;
  return std::max(rounding, kLargestOverMean * quantile_of_unsorted(entering, 0.5));
}

double estimate_noise(const RunView& view, const RunOperators& operators, double storage_rounding,
                      ScoredOutputs& outputs) {
  return NoiseEstimate(view, operators, storage_rounding, outputs).run();
}

}  // namespace msdump
