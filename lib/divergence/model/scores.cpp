#include "divergence/model/scores.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "divergence/model/calibration.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// The point that a standard normal variable exceeds with this probability; Abramowitz and Stegun 26.2.23.
double normal_quantile(double probability) {
  const double t = std::sqrt(-2 * std::log(probability));
  return t -
         (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
}

class Scorer {
 public:
  Scorer(const RunView& view, const RunOperators& operators, double storage_rounding, std::span<ScoredOutput> outputs)
      : view_(view), operators_(operators), storage_rounding_(storage_rounding), outputs_(outputs) {}

  double run() {
    for (uint32_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].judged()) add_sample(i);
    }
    if (samples_.empty()) return 0;
    const double threshold = normal_quantile(1 / kComparisonsPerFalseAlarm / static_cast<double>(samples_.size()));
    const Calibration calibration(std::move(samples_), {0, false, 0.5});
    pool_steps();
    for (uint32_t i = 0; i < output_of_.size(); ++i) {
      ScoredOutput& output = outputs_[output_of_[i]];
      output.siblings = calibration.without(i);
      if (is_vague(output) && !output.is_never_noise()) output.beyond_arithmetic = false;
      const double beyond_chance = output.measured > std::max(output.chance, storage_rounding_) ? 1 : 0;
      output.score = beyond_chance * (residual_of(output_of_[i]) - output.siblings.centre) / spread_of(output_of_[i]);
    }
    return threshold;
  }

 private:
  struct Pooled {
    double runs = 0, residuals = 0;  // the sum of these
  };

  void add_sample(uint32_t i) {
    ScoredOutput& output = outputs_[i];
    const OperatorGain& gain = operators_.gain(output.run);
    const double least = kLeastNoise * output.roundoff * output.amplification;
    output.beyond_arithmetic = is_beyond_arithmetic(output);
    output.expected = std::max(output.expected, least);
    output.residual = std::log(std::max(output.measured, least) / output.expected);
    // The result is the remainder of terms that cancel, and consists of rounding. Not where all runs of the kind are as far
    // off, and no arithmetic explains it.
    const bool by_kind = output.beyond_arithmetic && output.propagated < kMostError;
    if (output.expected > kMostError && !by_kind) {
      output.unjudged = Unjudged::kCancels;
      return;
    }
    // Nothing went in and nothing came out: that says nothing about the gains.
    if (output.measured <= std::max(least, output.hidden) &&
        output.propagated <= std::max(least, kMostHidden * output.hidden))
      return;
    output_of_.push_back(i);
    const double spread = hypotenuse(gain.spread, output.by_statistics ? kSpreadOfStatistics : 0);
    samples_.push_back(
        {output.group, view_.run(output.run).op, output.residual, hypotenuse(spread, output.uncertainty)});
  }

  // Of a module, the calls inside it say more.
  [[nodiscard]] bool is_beyond_arithmetic(const ScoredOutput& output) const {
    const OperatorGain& gain = operators_.gain(output.run);
    if (gain.rule == GainRule::kFlip) return false;
    if (operators_.repeats(output.run) && !view_.inside(output.run).empty()) return false;
    const bool known = gain.noise != NoiseClass::kUnknown;
    const double growth = known ? kMostGrowth : kMostGrowthOfUnknown;
    const double slack = !output.by_statistics ? 1 : known ? kMostGrowth * kMostGrowth : kMostGrowth;
    const double ceiling = std::max(kMostNoise, kMostRoundings * storage_rounding_) * output.amplification;
    return output.measured > std::max(output.chance, slack * hypotenuse(growth * output.most, ceiling));
  }

  // Steps show the same operator again: what its statistics show by chance averages out. A fault may begin in any of them,
  // so a step is averaged with those after it.
  void pool_steps() {
    std::map<Key, Pooled> after;
    pooled_.resize(outputs_.size());
    for (auto i = output_of_.rbegin(); i != output_of_.rend(); ++i) {
      if (!outputs_[*i].by_statistics) continue;
      Pooled& steps = after[key_of(outputs_[*i])];
      steps.runs += 1;
      steps.residuals += outputs_[*i].residual;
      pooled_[*i] = steps;
    }
  }

  using Key = std::tuple<uint32_t, std::optional<int64_t>, std::string_view>;  // an operator, its rank and slot
  [[nodiscard]] Key key_of(const ScoredOutput& output) const {
    return {operators_.unit(output.run), view_.place(output.run).rank, view_.slot(output.tensor)};
  }

  // Gradients of a normalisation cancel, and a few statistics exaggerate: where several siblings have what is expected,
  // the score says whether this one is off.
  [[nodiscard]] bool is_vague(const ScoredOutput& output) const {
    const bool vague = output.by_statistics || operators_.gain(output.run).noise == NoiseClass::kNormalisation;
    return vague && view_.is_gradient(output.run) && output.siblings.siblings >= kSeveral &&
           output.siblings.sibling_centre < std::log(kMostGrowth);
  }

  [[nodiscard]] double residual_of(uint32_t i) const {
    const double own = outputs_[i].residual;
    return outputs_[i].by_statistics ? std::min(own, pooled_[i].residuals / pooled_[i].runs) : own;
  }

  [[nodiscard]] double spread_of(uint32_t i) const {
    const ScoredOutput& output = outputs_[i];
    // The error of a tensor of few elements is itself a random number.
    const double elements = view_.error(output.tensor)->elements;
    // Its own noise is known from others alone, and often as a bound only.
    const double above = hypotenuse(output.propagated, output.noise_above * output.amplification);
    const double of_noise = std::max(0.0, std::log(above / output.expected));
    const double of_statistics = output.by_statistics ? kSpreadOfStatistics * kSpreadOfStatistics / pooled_[i].runs : 0;
    return std::sqrt(of_noise * of_noise +
                     std::max(output.siblings.spread * output.siblings.spread, kLeastSpread * kLeastSpread) +
                     output.uncertainty * output.uncertainty + 0.5 / elements + of_statistics);
  }

  const RunView& view_;
  const RunOperators& operators_;
  const double storage_rounding_;
  const std::span<ScoredOutput> outputs_;
  std::vector<Calibration::Sample> samples_;
  std::vector<uint32_t> output_of_;  // by sample
  std::vector<Pooled> pooled_;       // by output
};

}  // namespace

double score_outputs(const RunView& view, const RunOperators& operators, double storage_rounding,
                     ScoredOutputs& outputs) {
  return Scorer(view, operators, storage_rounding, outputs.all()).run();
}

}  // namespace msdump
