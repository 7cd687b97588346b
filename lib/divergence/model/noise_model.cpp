#include "divergence/model/noise_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/hash_slots.h"
#include "base/text.h"
#include "divergence/model/noise_bounds.h"
#include "divergence/model/quantile.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// One comparison in so many without a fault has an alarm.
constexpr double kComparisonsPerFalseAlarm = 1000;
// Rounding that nothing can be below of, in units of the dtype's roundoff.
constexpr double kLeastNoise = 0.25;
constexpr double kPriorNoise = 1;
constexpr double kSpreadOfNoise = 0.7;
// Errors of the gains add to what looks like an operator's own noise and never take from it: a low quantile is it.
constexpr double kShareOfNoise = 0.2;
constexpr double kLeastSpread = 0.12;
// Of statistics that agree, where what is expected is no more than they hide.
constexpr double kMostHidden = 4;
// A few statistics show an error by chance more or less than it is.
constexpr double kSpreadOfStatistics = 0.6, kLeastShown = 0.1;
// Rounding to bfloat16 leaves 2e-3 of a value on average; half a unit is at most 3.5 times that.
constexpr double kMostRounding = 0.01, kLargestOverMean = 2.5;
constexpr double kFewElements = 4;
// No arithmetic is coarser than this: products of inputs that are rounded to 10 bits, approximations of transcendental
// functions, or so many times the rounding of the format that values are stored in.
constexpr double kMostNoise = 4e-3, kMostRoundings = 16;
// Nor does an operator raise a random error by more beyond its gain.
constexpr double kMostGrowth = 3;
constexpr uint32_t kSeveral = 3;
// Operators without tensors of their own between an input and those that are known: in a row, and in all. Branches that
// meet again would take more with every row.
constexpr uint32_t kMostLookedThrough = 8;
constexpr size_t kMostInputs = 64;

// The point that a standard normal variable exceeds with this probability; Abramowitz and Stegun 26.2.23.
double normal_quantile(double probability) {
  const double t = std::sqrt(-2 * std::log(probability));
  return t -
         (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
}

// Optimizers that divide by the size of the gradient: an element that is next to nothing moves its parameter as far as a
// large one.
bool divides_by_size(std::string_view family) {
  for (const std::string_view part : {"adam", "rmsprop", "adagrad", "lamb", "lars", "ftrl", "adadelta"}) {
    if (family.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

NoiseModel::NoiseModel(const RunView& view) : view_(view) {
  find_families();
  find_modules();
  collect();
  estimate_storage();
  estimate_noise();
  score();
}

std::span<const ScoredOutput> NoiseModel::outputs(uint32_t run) const {
  return {outputs_.data() + first_[run], outputs_.data() + first_[run + 1]};
}

void NoiseModel::find_families() {
  std::unordered_map<std::string_view, uint32_t> known;
  family_of_.reserve(view_.runs().size());
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    const std::string_view type = view_.op(run).type;
    const auto [found, is_new] = known.try_emplace(type, static_cast<uint32_t>(families_.size()));
    if (is_new) {
      families_.push_back(gain_family(type));
      gains_.push_back(gain_of(families_.back()));
    }
    family_of_.push_back(found->second);
  }
}

void NoiseModel::find_modules() {
  bool calls = false, modules = false;
  is_module_.reserve(view_.runs().size());
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    const auto entry = parse_msprobe_entry(view_.name(run));
    is_module_.push_back(entry && entry->kind == MsprobeEntryKind::kModule);
    modules = modules || is_module_.back();
    calls = calls || (entry && entry->kind == MsprobeEntryKind::kCall);
  }
  modules_repeat_ = calls && modules;
}

double NoiseModel::expected_with(const ScoredOutput& output, std::span<const KnownInput> inputs) const {
  const auto error = view_.error(output.tensor);
  if (!error) return output.expected;
  const KnownOutput known{output.tensor, 0, *error, view_.diff(output.tensor).shape};
  const double propagated = expect(family(output.run), gain(output.run), inputs, known).propagated;
  return std::hypot(propagated, output.noise * output.amplification);
}

bool NoiseModel::add_input(uint32_t tensor, const RunInput* input, Inputs& result) const {
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
bool NoiseModel::add_operand(const RunInput& input, Inputs& result) const {
  if (input.made_by != kNoRun && view_.is_surprise(input.made_by)) return false;
  if (!add_input(input.tensor, &input, result)) return add_input(input.made_as, &input, result);
  const auto made = input.made_as == kNoTensor ? std::nullopt : view_.error(input.made_as);
  TensorError& error = result.known.back().error;
  if (!made) return true;
  if (error.relative > kChangedOnTheWay * made->relative) error.relative = made->relative;
  error.relative = std::max(error.relative, passed_on_[input.made_as]);
  return true;
}

// What is not known is made of what its producer read: operators that were fused, were not dumped or have no partner are
// looked through.
void NoiseModel::add_inputs(uint32_t run, uint32_t depth, Inputs& result) const {
  for (const RunInput& input : view_.run(run).inputs) {
    if (add_operand(input, result)) continue;
    if (input.from == InputEdge::From::kConstant || view_.is_attribute(input.tensor)) continue;
    result.pattern = mix_hash(result.pattern, input.slot + 64 * depth);
    const bool few = result.known.size() < kMostInputs && result.through.size() < kMostInputs;
    if (input.made_by != kNoRun && depth < kMostLookedThrough && few) {
      result.pattern = mix_hash(result.pattern, family_of_[input.made_by]);
      result.through.push_back(input.made_by);
      add_inputs(input.made_by, depth + 1, result);
    } else {
      result.complete = false;
    }
  }
}

// Neither a graph nor values know what it reads.
bool NoiseModel::follows_order_alone(uint32_t run) const {
  return view_.graph().flow() == FlowKind::kOrder && view_.run(run).inputs.empty();
}

// The outputs of what ran before stand for its inputs.
void NoiseModel::add_before(uint32_t run, Inputs& result) const {
  result.complete = false;
  for (uint32_t before = run; before-- > 0 && result.known.empty() && run - before <= kMostInputs;) {
    if (view_.place(before).rank != view_.place(run).rank || view_.place(before).step != view_.place(run).step) return;
    for (const uint32_t tensor : view_.outputs(before)) (void)add_input(tensor, nullptr, result);
  }
}

// A collective operation passes on the errors of all ranks.
void NoiseModel::add_other_ranks(uint32_t run, Inputs& result) const {
  const InputSummary& all = view_.inputs_of_all_ranks(run);
  for (KnownInput& input : result.known) {
    input.error.relative = std::max(input.error.relative, all.largest_error);
    input.error.exact = input.error.exact && all.all_same;
  }
}

NoiseModel::Inputs NoiseModel::inputs_of(uint32_t run) const {
  Inputs result;
  add_inputs(run, 0, result);
  if (follows_order_alone(run)) add_before(run, result);
  if (view_.is_collective(run)) add_other_ranks(run, result);
  if (const auto backward = backward_entry_of(view_.name(run))) {
    for (const uint32_t other : view_.runs_named(*backward, view_.place(run))) {
      if (view_.place(other) != view_.place(run)) continue;
      for (const RunInput& input : view_.run(other).inputs) (void)add_input(input.tensor, nullptr, result);
    }
  }
  // A backward call also reads what its forward call saved.
  if (const auto forward = forward_entry_of(view_.name(run))) {
    for (const uint32_t other : view_.runs_named(*forward, view_.place(run))) {
      if (view_.place(other) != view_.place(run)) continue;
      const size_t gradients = result.known.size();
      for (const RunInput& input : view_.run(other).inputs) (void)add_input(input.tensor, nullptr, result);
      const size_t read = result.known.size();
      for (const uint32_t tensor : view_.run(other).outputs) (void)add_input(tensor, nullptr, result);
      for (size_t i = gradients; i < result.known.size(); ++i) {
        result.known[i].of_forward = true;
        result.known[i].is_result = i >= read;
      }
    }
  }
  return result;
}

std::vector<uint32_t> NoiseModel::within(uint32_t run) const {
  std::vector<uint32_t> runs = inputs_of(run).through;
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  runs.push_back(run);
  return runs;
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

void NoiseModel::collect() {
  first_.reserve(view_.runs().size() + 1);
  passed_on_.resize(view_.tensors());
  outputs_.reserve(view_.runs().size());
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    first_.push_back(static_cast<uint32_t>(outputs_.size()));
    collect_run(run);
  }
  first_.push_back(static_cast<uint32_t>(outputs_.size()));
}

uint32_t NoiseModel::kind_of(const ScoredOutput& output, const Inputs& inputs) {
  const TensorDiff& diff = view_.diff(output.tensor);
  uint64_t key = text_hash(family(output.run));
  key = mix_hash(key, text_hash(view_.slot(output.tensor)));
  key = mix_hash(key, inputs.pattern);
  key = mix_hash(key, static_cast<uint64_t>(diff.dtype_a) * 64 + static_cast<uint64_t>(diff.dtype_b));
  // A module repeats what the calls inside it write: it is not a sibling of theirs.
  key = mix_hash(key, (is_module_[output.run] ? 4U : 0U) + (view_.is_gradient(output.run) ? 2U : 0U) +
                          (diff.by_statistics ? 1U : 0U));
  return kinds_.try_emplace(key, static_cast<uint32_t>(kinds_.size())).first->second;
}

void NoiseModel::collect_run(uint32_t run) {
  if (view_.one_sided(run)) return;
  const Inputs inputs = inputs_of(run);
  const OperatorGain& rule = gain(run);
  bool usable = (!inputs.known.empty() || follows_order_alone(run)) && rule.rule != GainRule::kChoose &&
                rule.rule != GainRule::kRandom;
  bool exact = inputs.complete;
  for (const KnownInput& input : inputs.known) {
    exact = exact && input.error.exact;
    if (input.error.discrete ? input.error.relative > 0 : !(input.error.relative <= kMostError)) usable = false;
  }
  for (const uint32_t tensor : view_.outputs(run)) {
    const auto error = view_.error(tensor);
    if (!error) continue;
    KnownOutput output;
    output.tensor = tensor;
    output.error = *error;
    output.shape = view_.diff(tensor).shape;
    const Expectation expectation = expect(family(run), rule, inputs.known, output);
    ScoredOutput scored;
    scored.tensor = tensor;
    scored.run = run;
    scored.measured = error->relative;
    scored.exact_inputs = exact;
    scored.propagated = expectation.propagated;
    scored.amplification = expectation.amplification;
    scored.roundoff = unit_roundoff(view_.expected_dtype(tensor));
    for (const uint32_t other : inputs.through)
      scored.roundoff = std::max(scored.roundoff, view_.expected_rounding(other));
    scored.uncertainty = expectation.uncertainty;
    scored.most = expectation.most;
    // A single rounding of the result is never a fault.
    scored.chance = std::max(expectation.chance, unit_roundoff(view_.expected_dtype(tensor)));
    scored.judged = usable && !error->discrete && error->elements > 0 && std::isfinite(scored.measured) &&
                    std::isfinite(scored.propagated) &&
                    !(error->relative == 0 && scored.propagated > kMostHidden * error->hidden());
    scored.by_statistics = error->by_statistics;
    scored.hidden = error->hidden();
    // Statistics may agree by chance although the elements do not.
    if (error->by_statistics && scored.propagated > error->relative)
      passed_on_[tensor] = std::sqrt(scored.propagated * std::max(error->relative, kLeastShown * scored.propagated));
    // What was there before the update is not dumped; from the second step on it has an error of its own.
    if (view_.graph().role(tensor) == TensorRole::kUpdated && view_.is_later_step(run)) scored.judged = false;
    if (divides_by_size(family(run)) && view_.slot(tensor) == "0") scored.judged = false;
    scored.group.kind = kind_of(scored, inputs);
    scored.group.noise_class = static_cast<uint32_t>(rule.noise);
    outputs_.push_back(scored);
  }
}

// Zeros and other values that are all the same round all the same.
bool NoiseModel::is_constant(uint32_t tensor) const {
  const kernels::PairMetrics& metrics = view_.diff(tensor).metrics;
  return metrics.max_b && metrics.max_b == metrics.min_b;
}

// The rounding that operators add: seen where the error of the inputs does not hide it, and never more than the smallest
// error of the kind.
void NoiseModel::estimate_noise() {
  NoiseBounds bounds(kinds_.size());
  std::vector<Calibration::Sample> samples;
  std::vector<uint32_t> sample_of(outputs_.size(), UINT32_MAX);
  double prior = 0;
  size_t count = 0;
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    const ScoredOutput& output = outputs_[i];
    if (!output.judged) continue;
    prior += std::log(kPriorNoise * std::max(output.roundoff, storage_rounding_ / kLargestOverMean));
    ++count;
    if (static_cast<NoiseClass>(output.group.noise_class) == NoiseClass::kMoves) continue;
    if ((modules_repeat_ && is_module_[output.run]) || is_constant(output.tensor)) continue;
    const double floor = kLeastNoise * output.roundoff;
    const double all = std::max(output.measured / output.amplification, floor);
    const uint32_t op = view_.run(output.run).op;
    if (output.measured > 0) bounds.add(output.group.kind, op, all);
    double own = output.propagated;
    const double unsure = std::hypot(gain(output.run).spread, output.by_statistics ? 2 * kSpreadOfStatistics : 0);
    if (output.measured > std::exp(unsure) * output.propagated || output.propagated == 0) {
      own = std::sqrt(output.measured * output.measured - output.propagated * output.propagated);
    } else if (!output.by_statistics || output.measured > 0 || output.propagated > kMostHidden * output.hidden) {
      continue;  // the error of the inputs hides it
    }
    own /= output.amplification;
    sample_of[i] = static_cast<uint32_t>(samples.size());
    samples.push_back({output.group, op, std::log(std::max(own, floor)), kSpreadOfNoise});
  }
  if (count == 0) return;
  bounds.sort();
  const Calibration calibration(std::move(samples), {prior / static_cast<double>(count), true, kShareOfNoise, true});
  std::vector<double> all;
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    ScoredOutput& output = outputs_[i];
    if (!output.judged) continue;
    const Centre centre =
        sample_of[i] == UINT32_MAX ? calibration.at(output.group, kSpreadOfNoise) : calibration.without(sample_of[i]);
    const double most = bounds.without(output.group.kind, view_.run(output.run).op);
    output.noise = std::min(std::exp(centre.centre), most);
    double above = output.noise * std::exp(centre.spread);
    if (centre.siblings == 0) above = std::max(above, gain(output.run).approximation);
    output.noise_above = std::max(output.noise, std::min(above, most));
    output.expected = std::hypot(output.propagated, output.noise * output.amplification);
    if (!view_.is_gradient(output.run)) all.push_back(output.noise);
  }
  if (all.empty()) return;
  usual_noise_ = quantile_of_unsorted(all, 0.5);
}

// The format that a device stores values in shows in the parameters and inputs of the network: no operator has changed
// them yet. Files of a wider dtype may hold them.
void NoiseModel::estimate_storage() {
  std::vector<double> entering;
  size_t exact = 0;
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    if (view_.place(run).step != view_.place(0).step || view_.one_sided(run)) continue;
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.made_by != kNoRun || input.from == InputEdge::From::kConstant || input.tensor == kNoTensor) continue;
      const auto error = view_.error(input.tensor);
      if (!error || error->discrete || error->elements < kFewElements) continue;
      if (error->relative > 0 && error->relative < kMostRounding) entering.push_back(error->relative);
      exact += error->relative == 0 ? 1U : 0U;
    }
  }
  storage_rounding_ = unit_roundoff(DType::kFloat32);
  if (entering.size() < 3 || entering.size() * 3 < exact) return;
  storage_rounding_ = std::max(storage_rounding_, kLargestOverMean * quantile_of_unsorted(entering, 0.5));
}

void NoiseModel::score() {
  std::vector<Calibration::Sample> samples;
  std::vector<uint32_t> place;
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    ScoredOutput& output = outputs_[i];
    if (!output.judged) continue;
    const double least = kLeastNoise * output.roundoff * output.amplification;
    const double ceiling = std::max(kMostNoise, kMostRoundings * storage_rounding_) * output.amplification;
    const double slack = output.by_statistics ? kMostGrowth * kMostGrowth : 1;
    output.beyond_arithmetic =
        gain(output.run).rule != GainRule::kFlip && gain(output.run).noise != NoiseClass::kUnknown &&
        output.measured > std::max(output.chance, slack * std::hypot(kMostGrowth * output.most, ceiling));
    output.expected = std::max(output.expected, least);
    output.residual = std::log(std::max(output.measured, least) / output.expected);
    // The result is the remainder of terms that cancel, and consists of rounding.
    if (output.expected > kMostError) output.judged = false;
    if (!output.judged) continue;
    // Nothing went in and nothing came out: that says nothing about the gains.
    if (output.measured <= std::max(least, output.hidden) &&
        output.propagated <= std::max(least, kMostHidden * output.hidden))
      continue;
    place.push_back(i);
    const double spread = std::hypot(gain(output.run).spread, output.by_statistics ? kSpreadOfStatistics : 0);
    samples.push_back(
        {output.group, view_.run(output.run).op, output.residual, std::hypot(spread, output.uncertainty)});
  }
  if (samples.empty()) return;
  threshold_ = normal_quantile(1 / kComparisonsPerFalseAlarm / static_cast<double>(samples.size()));
  const Calibration calibration(std::move(samples), {0, false, 0.5});
  // Steps show the same operator again, which msprobe pairs for each step by itself: what its statistics show by chance averages out.
  std::map<std::pair<uint32_t, std::string_view>, std::pair<double, double>> steps;  // runs, and the sum of residuals
  for (const uint32_t i : place) {
    if (!outputs_[i].by_statistics) continue;
    auto& [count, sum] = steps[{view_.name_number(outputs_[i].run), view_.slot(outputs_[i].tensor)}];
    count += 1;
    sum += outputs_[i].residual;
  }
  for (uint32_t i = 0; i < place.size(); ++i) {
    ScoredOutput& output = outputs_[place[i]];
    output.siblings = calibration.without(i);
    // Gradients of a normalisation cancel, and a few statistics exaggerate: where several siblings have what is expected,
    // the score says whether this one is off.
    const bool vague = output.by_statistics || gain(output.run).noise == NoiseClass::kNormalisation;
    if (vague && view_.is_gradient(output.run) && output.siblings.siblings >= kSeveral &&
        output.siblings.sibling_centre < std::log(kMostGrowth))
      output.beyond_arithmetic = false;
    // The error of a tensor of few elements is itself a random number.
    const double elements = view_.error(output.tensor)->elements;
    // Its own noise is known from others alone, and often as a bound only.
    const double above = std::hypot(output.propagated, output.noise_above * output.amplification);
    const double of_noise = std::max(0.0, std::log(above / output.expected));
    double residual = output.residual, of_statistics = 0;
    if (output.by_statistics) {
      const auto& [runs, sum] = steps.at({view_.name_number(output.run), view_.slot(output.tensor)});
      residual = std::min(residual, sum / runs);
      of_statistics = kSpreadOfStatistics * kSpreadOfStatistics / runs;
    }
    const double spread = std::sqrt(
        of_noise * of_noise + std::max(output.siblings.spread * output.siblings.spread, kLeastSpread * kLeastSpread) +
        output.uncertainty * output.uncertainty + 0.5 / elements + of_statistics);
    const double beyond_chance = output.measured > std::max(output.chance, storage_rounding_) ? 1 : 0;
    output.score = beyond_chance * (residual - output.siblings.centre) / spread;
  }
}

}  // namespace msdump
