#include "divergence/model/noise_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "compare/sample/tensor_samples.h"
#include "divergence/model/constants.h"
#include "divergence/model/operator_gain.h"
#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

namespace {

// Bounds of the noise of each kind: an operator adds no more than its error. Some add none, such as a product with a
// power of two, so the bound is a low quantile and not the smallest error.
class NoiseBounds {
 public:
  explicit NoiseBounds(size_t kinds) : kinds_(kinds) {}
  void add(uint32_t kind, uint32_t unit, double error) { kinds_[kind].push_back({error, unit}); }
  void sort();  // once all are added
  // The bound by other units of the kind (RunOperators); infinite if there are none.
  [[nodiscard]] double without(uint32_t kind, uint32_t unit) const;

 private:
  struct Bound {
    double error;
    uint32_t unit;
    bool operator<(const Bound& other) const { return error < other.error; }
  };
  std::vector<std::vector<Bound>> kinds_;
};

void NoiseBounds::sort() {
  for (std::vector<Bound>& kind : kinds_) std::sort(kind.begin(), kind.end());
}

double NoiseBounds::without(uint32_t kind, uint32_t unit) const {
  const std::vector<Bound>& bounds = kinds_[kind];
  for (auto i = static_cast<size_t>(kShareOfFew * static_cast<double>(bounds.size())); i < bounds.size(); ++i) {
    if (bounds[i].unit != unit) return bounds[i].error;
  }
  return INFINITY;
}

// Second stage of the noise model: the rounding that both sides add, estimated from the pair itself.
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
      // Without a sample, an operator rounds as its dtype does.
      prior += std::log(std::max(outputs_[i].roundoff, storage_rounding_ / kLargestOverMean));
      ++count;
      add_sample(i);
    }
    if (count == 0) return 0;
    bounds_.sort();
    const Calibration calibration(std::move(samples_), {prior / static_cast<double>(count), true, kShareOfFew, true});
    std::vector<double> all;
    for (uint32_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].judged()) continue;
      set_noise(i, calibration);
      if (!view_.is_gradient(outputs_[i].run)) all.push_back(outputs_[i].noise);
    }
    return all.empty() ? 0 : quantile_of_unsorted(all, 0.5);
  }

 private:
  // Adds a sample of an operator that adds rounding, unless the errors of its inputs hide it.
  void add_sample(uint32_t i) {
    const ScoredOutput& output = outputs_[i];
    if (static_cast<NoiseClass>(output.group.noise_class) == NoiseClass::kMoves) return;
    if (operators_.repeats(output.run) || is_constant(output.tensor)) return;
    const double floor = kLeastNoise * output.roundoff;
    const double all = std::max(output.measured / output.amplification, floor);
    const uint32_t unit = operators_.unit(output.run);
    if (output.measured > 0) bounds_.add(output.group.kind, unit, all);
    double own = output.propagated;
    const double unsure = hypotenuse(operators_.gain(output.run).spread, output.by_statistics ? 2 * kFactorOfTwo : 0);
    if (output.measured > std::exp(unsure) * output.propagated || output.propagated == 0) {
      own = std::sqrt(output.measured * output.measured - output.propagated * output.propagated);
    } else if (!output.by_statistics || output.measured > 0 || output.propagated > kChangedOnTheWay * output.hidden) {
      return;  // the error of the inputs hides it
    }
    own /= output.amplification;
    sample_of_[i] = static_cast<uint32_t>(samples_.size());
    samples_.push_back({output.group, unit, std::log(std::max(own, floor)), kFactorOfTwo});
  }

  // True for zeros and other constant tensors, whose elements all round alike.
  [[nodiscard]] bool is_constant(TensorId tensor) const {
    const kernels::PairMetrics metrics = view_.diff(tensor).metrics;
    return metrics.max_b && metrics.max_b == metrics.min_b;
  }

  void set_noise(uint32_t i, const Calibration& calibration) {
    ScoredOutput& output = outputs_[i];
    const Centre centre =
        sample_of_[i] == UINT32_MAX ? calibration.at(output.group, kFactorOfTwo) : calibration.without(sample_of_[i]);
    const double most = bounds_.without(output.group.kind, operators_.unit(output.run));
    output.noise = std::min(std::exp(centre.centre), most);
    double above = output.noise * std::exp(centre.spread);
    if (centre.siblings == 0) above = std::max(above, operators_.gain(output.run).approximation);
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

// The errors of the parameters of the first step.
struct ParameterErrors {
  std::vector<double> rounded;
  size_t exact = 0;

  void add(const TensorError& error) {
    if (error.relative > 0 && error.relative < kMostNoise) rounded.push_back(error.relative);
    exact += error.relative == 0 ? 1U : 0U;
  }
  [[nodiscard]] bool shows() const { return rounded.size() >= kSeveral && rounded.size() * kSeveral >= exact; }
};

// The largest relative error of rounding a value to the coarser storage of the two sides, as parameters show it.
double find_storage_rounding(const RunView& view) {
  ParameterErrors parameters;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (view.place(run).step != view.place(ExecutionId(0)).step || view.one_sided(run)) continue;
    for (const RunInput& input : view.run(run).inputs) {
      if (input.producer != kNoId || input.from != InputEdge::From::kParameter || input.tensor == kNoId) continue;
      const auto error = view.error(input.tensor);
      if (error && !error->discrete && error->elements >= kSeveral) parameters.add(*error);
    }
  }
  const double rounding = unit_roundoff(DType::kFloat32);
  // Steps that were not dumped have left other parameters.
  const bool is_start = view.runs().empty() || view.error_at_start(view.place(ExecutionId(0))) == 0;
  if (!is_start || !parameters.shows()) return rounding;
  return std::max(rounding, kLargestOverMean * quantile_of_unsorted(parameters.rounded, 0.5));
}

// Sets `noise`, `noise_above` and `expected` of judged outputs. Returns NoiseModel::usual_noise(), or 0 without any.
double estimate_noise(const RunView& view, const RunOperators& operators, double storage_rounding,
                      ScoredOutputs& outputs) {
  return NoiseEstimate(view, operators, storage_rounding, outputs).run();
}

// Last stage of the noise model: how far each output lies above the error that its siblings lead one to expect.

// The value that a standard normal variable exceeds with this probability; Abramowitz and Stegun 26.2.23.
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
    double runs = 0, residuals = 0;  // the number of executions; the sum of their residuals
  };

  void add_sample(uint32_t i) {
    ScoredOutput& output = outputs_[i];
    const OperatorGain& gain = operators_.gain(output.run);
    const double least = kLeastNoise * output.roundoff * output.amplification;
    output.beyond_arithmetic = is_beyond_arithmetic(output);
    output.expected = std::max(output.expected, least);
    output.residual = std::log(std::max(output.measured, least) / output.expected);
    // Terms cancel, and the result consists of rounding. Not if all of the kind are as far off, beyond any arithmetic.
    const bool by_kind = output.beyond_arithmetic && output.propagated < kMostError;
    if (output.expected > kMostError && !by_kind) {
      output.unjudged = Unjudged::kCancels;
      return;
    }
    // No error went in and none came out, which says nothing about the gains.
    if (output.measured <= std::max(least, output.hidden) &&
        output.propagated <= std::max(least, kChangedOnTheWay * output.hidden))
      return;
    output_of_.push_back(i);
    const double spread = hypotenuse(gain.spread, output.by_statistics ? kFactorOfTwo : 0);
    samples_.push_back(
        {output.group, operators_.unit(output.run), output.residual, hypotenuse(spread, output.uncertainty)});
  }

  // The relative error of the coarsest arithmetic.
  [[nodiscard]] double coarsest() const { return std::max(kMostNoise, kMostRoundings * storage_rounding_); }

  // True if the statistics of an input may hide a larger error. A normalisation fixes the mean and the norm of what it writes; an
  // input of unknown producer that is off may be another value.
  [[nodiscard]] bool inputs_may_hide(ExecutionId run) const {
    const auto& inputs = view_.run(run).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      if (input.from == InputEdge::From::kParameter || input.from == InputEdge::From::kConstant) return false;
      if (input.producer != kNoId) return operators_.gain(input.producer).noise == NoiseClass::kNormalisation;
      const auto error = view_.compared(input.tensor) ? view_.error(input.tensor) : std::nullopt;
      return error && error->relative > coarsest();
    });
  }

  // True if the errors of the inputs bound that of the output. Those of gradients do not: terms cancel that the model does not know.
  [[nodiscard]] bool inputs_bound(const ScoredOutput& output) const {
    const bool forward = !view_.is_gradient(output.run) && !view_.comes_after_backward(output.run);
    const auto elements = static_cast<size_t>(view_.error(output.tensor)->elements);
    return forward && elements >= kFewValues && !inputs_may_hide(output.run);
  }

  // True if no arithmetic of the dtype leads to the error. False for a module, if the calls inside it were dumped.
  [[nodiscard]] bool is_beyond_arithmetic(const ScoredOutput& output) const {
    const OperatorGain& gain = operators_.gain(output.run);
    if (gain.rule == GainRule::kFlip) return false;
    if (operators_.repeats(output.run) && !view_.inside(output.run).empty()) return false;
    const bool known = gain.noise != NoiseClass::kUnknown;
    const double growth = known ? kMostGrowth : kMostGrowthOfUnknown;
    const double slack = !output.by_statistics ? 1 : known ? kMostGrowth * kMostGrowth : kMostGrowth;
    const double most = hypotenuse(growth * output.most, coarsest() * output.amplification);
    if (output.least_error > std::max(output.chance, most) && inputs_bound(output)) return true;
    return output.measured > std::max(output.chance, slack * most);
  }

  // Averages the residuals of an operator over the steps: errors that statistics show by chance average out. A fault may
  // begin in any step, so a step is averaged with those after it.
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

  // True if the bounds of arithmetic are vague: gradients of a normalisation and of parameters cancel, and few statistics exaggerate.
  // If several siblings have the expected error, only the score counts.
  [[nodiscard]] bool is_vague(const ScoredOutput& output) const {
    const bool vague = output.by_statistics || operators_.gain(output.run).noise == NoiseClass::kNormalisation ||
                       (view_.is_backward(output.run) && view_.run(output.run).inputs.empty());
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
    // Its own noise is known from other operators only, and often as a bound.
    const double above = hypotenuse(output.propagated, output.noise_above * output.amplification);
    const double of_noise = std::max(0.0, std::log(above / output.expected));
    const double of_statistics = output.by_statistics ? kFactorOfTwo * kFactorOfTwo / pooled_[i].runs : 0;
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

// Sets `residual`, `siblings`, `score` and `beyond_arithmetic`. Outputs that consist of rounding are not judged. Returns
// NoiseModel::threshold(), or 0 if no output is judged.
double score_outputs(const RunView& view, const RunOperators& operators, double storage_rounding,
                     ScoredOutputs& outputs) {
  return Scorer(view, operators, storage_rounding, outputs.all()).run();
}

}  // namespace

NoiseModel::NoiseModel(const RunView& view)
    : view_(view),
      operators_(view),
      search_(view, operators_),
      outputs_(view, operators_, search_),
      storage_rounding_(find_storage_rounding(view)),
      usual_noise_(estimate_noise(view, operators_, storage_rounding_, outputs_)),
      threshold_(score_outputs(view, operators_, storage_rounding_, outputs_)) {}

ExecutionId NoiseModel::likeliest_within(ExecutionId run) const {
  const auto adds = [&](ExecutionId one) {
    switch (gain(one).noise) {
      case NoiseClass::kMoves: return 0;
      case NoiseClass::kElementwise:
      case NoiseClass::kUnknown: return 1;
      default: return 2;
    }
  };
  const std::vector<ExecutionId> runs = within(run);
  // An operator that reads a value of unknown error, such as a mask, may have read something else.
  const auto reads_unknown = [&](ExecutionId one) {
    const auto& inputs = view_.run(one).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return view_.compared(input.tensor) && !view_.error(input.tensor) &&
             std::find(runs.begin(), runs.end(), input.producer) == runs.end();
    });
  };
  const auto blind = std::find_if(runs.begin(), runs.end(), reads_unknown);
  if (blind != runs.end()) return *blind;
  // Finds the first of the largest; `run` itself unless another one adds more.
  ExecutionId best = run;
  for (auto one = runs.rbegin(); one != runs.rend(); ++one) {
    if (adds(*one) > adds(best) || (adds(*one) == adds(best) && adds(*one) == 2 && *one < best)) best = *one;
  }
  return best;
}

bool NoiseModel::is_off(TensorId tensor, double before, double roundings) const {
  const auto error = view_.error(tensor);
  if (!error || error->exact) return !error && view_.differs(tensor);
  if (error->discrete) return error->relative > before;
  // The reference may store it in a coarser format.
  const TensorDiff& diff = view_.diff(tensor);
  double rounding = std::max(storage_rounding_, unit_roundoff(diff.dtype_b, error->rms));
  if (view_.coarser_throughout()) rounding = std::max(rounding, unit_roundoff(diff.dtype_a, error->rms));
  return error->relative > std::max(roundings * rounding, kChangedOnTheWay * before);
}

}  // namespace msdump
