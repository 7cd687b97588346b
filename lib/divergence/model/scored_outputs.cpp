#include "divergence/model/scored_outputs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/containers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "divergence/model/constants.h"
#include "divergence/model/expectation.h"
#include "ge/operators/operator_properties.h"

namespace msdump {
namespace {

// Groups up to this size are judged without the sample itself; in larger ones it does not matter.
constexpr size_t kSmall = kMostTried;
constexpr double kDeviationOfNormal = 1.4826;

// Interpolates linearly between neighbours. Reorders the values.
double quantile_of(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), below, values.end());
  if (below + 1 == values.end()) return *below;
  const double above = *std::min_element(below + 1, values.end());
  return *below + (place - std::floor(place)) * (above - *below);
}

double median_of(std::vector<double>& values) { return quantile_of(values, 0.5); }

double deviation_of(const std::vector<double>& values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return kDeviationOfNormal * median_of(distances);
}

// The values without the first that equals `value`.
std::vector<double> without_one(std::vector<double> values, double value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found != values.end()) values.erase(found);
  return values;
}

struct Level {
  double size = 0, centre = 0, deviation = 0;
};

}  // namespace

Calibration::Calibration(std::vector<Sample> samples, const Rule& rule) : samples_(std::move(samples)), rule_(rule) {
  const auto add = [](std::vector<Group>& groups, uint32_t index, double value) {
    if (groups.size() <= index) groups.resize(index + 1);
    groups[index].values.push_back(value);
  };
  std::vector<uint32_t> order(samples_.size());  // by unit of a kind
  std::iota(order.begin(), order.end(), 0U);
  const auto unit_of = [&](uint32_t i) { return std::pair(samples_[i].group.kind, samples_[i].unit); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return unit_of(a) < unit_of(b); });
  values_.resize(samples_.size());
  std::vector<double> of_unit;
  for (auto at = order.begin(); at != order.end();) {
    const auto end = std::find_if(at, order.end(), [&](uint32_t other) { return unit_of(other) != unit_of(*at); });
    of_unit.clear();
    std::transform(at, end, std::back_inserter(of_unit), [&](uint32_t i) { return samples_[i].value; });
    const double value = median_of(of_unit);
    const SampleGroup& group = samples_[*at].group;
    add(kinds_, group.kind, value);
    add(classes_, group.noise_class, value);
    all_.values.push_back(value);
    for (; at != end; ++at) values_[*at] = value;
  }
  const auto finish = [&](Group& group) {
    if (group.values.empty()) return;
    group.centre = quantile_of(group.values, rule_.share);
    group.deviation = deviation_of(group.values, group.centre);
  };
  for (std::vector<Group>* const groups : {&kinds_, &classes_}) std::for_each(groups->begin(), groups->end(), finish);
  finish(all_);
  if (rule_.kinds_vary) {
    for (const Group& kind : kinds_) {
      if (!kind.values.empty()) centres_.push_back(kind.centre);
    }
    if (!centres_.empty()) between_ = deviation_of(centres_, median_of(centres_));
  }
  std::vector<double> scales;
  for (const Sample& sample : samples_) {
    if (sample.spread > 0) scales.push_back(std::abs(sample.value - kinds_[sample.group.kind].centre) / sample.spread);
  }
  if (scales.size() < kLeastTensors) return;
  scale_ = std::clamp(kDeviationOfNormal * median_of(scales), kLeastScale, kMostScale);
}

double Calibration::between_others(const Group* kind) const {
  if (kind == nullptr || kind->values.empty() || centres_.size() > kSmall) return between_;
  std::vector<double> others = without_one(centres_, kind->centre);
  return others.empty() ? 0 : deviation_of(others, median_of(others));
}

Centre Calibration::centre_of(SampleGroup group, double spread, const double* left_out) const {
  const auto level = [&](const Group* found) {
    Level result;
    if (found == nullptr || found->values.empty()) return result;
    result = {static_cast<double>(found->values.size()), found->centre, found->deviation};
    if (left_out == nullptr) return result;
    result.size -= 1;
    if (found->values.size() > kSmall) return result;
    std::vector<double> others = without_one(found->values, *left_out);
    if (others.empty()) return Level();
    result.centre = quantile_of(others, rule_.share);
    result.deviation = deviation_of(others, result.centre);
    return result;
  };
  const auto of = [](const std::vector<Group>& groups, uint32_t index) {
    return index < groups.size() ? &groups[index] : nullptr;
  };
  const Level all = level(&all_), of_class = level(of(classes_, group.noise_class)),
              kind = level(of(kinds_, group.kind));
  const auto lean = [](const Level& from, double on, double weight) {
    return (from.size * from.centre + weight * on) / (from.size + weight);
  };
  const double above = rule_.by_class ? lean(of_class, lean(all, rule_.prior, kLean), kLean) : rule_.prior;
  Centre result;
  result.centre = lean(kind, above, kLean);
  result.siblings = static_cast<uint32_t>(kind.size);
  result.sibling_centre = kind.centre;
  result.sibling_spread = kind.deviation;
  const double prior = spread * scale_;
  const double degrees = std::max(0.0, kind.size - 1);  // a single sibling has no spread
  const double variance = (kLean * prior * prior + degrees * kind.deviation * kind.deviation) / (kLean + degrees);
  // The centre is not known better than this, and less well if the siblings disagree with the level above.
  const double apart = kind.size > 0 ? kind.centre - above : 0;
  const double between = rule_.kinds_vary ? between_others(of(kinds_, group.kind)) : 0;
  const double of_kinds = std::max(prior * prior, between * between);
  result.spread = std::sqrt(variance + (of_kinds * kLean + apart * apart) / (kind.size + kLean));
  return result;
}

Centre Calibration::without(uint32_t sample) const {
  const Sample& one = samples_[sample];
  return centre_of(one.group, one.spread, &values_[sample]);
}

Centre Calibration::at(SampleGroup group, double spread) const { return centre_of(group, spread, nullptr); }

namespace {

// Limits for operators without tensors of their own between an input and known ones: in a row, and in all. Branches that
// join again would double the work with every row.
constexpr ReachedLimit kDepthLimit = {
    "operators_looked_through", kFewTried,
    "operators behind more than this many undumped ones in a row are judged without them"};
constexpr ReachedLimit kInputsLimit = {
    "inputs_of_an_operator", kMostTried,
    "operators with more inputs, or undumped operators before them, are judged by these"};

}  // namespace

bool InputSearch::add_tensor(TensorId tensor, const RunInput* input, KnownInputs& result) const {
  const auto error = tensor == kNoId ? std::nullopt : view_.error(tensor);
  if (!error) return false;
  KnownInput known;
  known.tensor = tensor;
  known.error = *error;
  known.error.relative = std::max(error->relative, error->hidden());
  known.shape = view_.diff(tensor).shape;
  const kernels::PairMetrics metrics = view_.diff(tensor).metrics;
  if (metrics.max_b && metrics.min_b && error->rms > 0)
    known.peak = std::max(std::abs(*metrics.max_b), std::abs(*metrics.min_b)) / error->rms;
  if (input != nullptr) {
    known.slot = input->slot;
    known.is_constant = input->from == InputEdge::From::kConstant;
  }
  result.known.push_back(std::move(known));
  return true;
}

// Adds an input with its producer's error. More is a change on the way, which shows in the outputs if it matters.
bool InputSearch::add_operand(const RunInput& input, KnownInputs& result) const {
  if (input.producer != kNoId && view_.is_surprise(input.producer)) return false;
  const ExecutionId lacking = input.producer == kNoId ? kNoId : view_.lacking(input.producer);
  if (!add_tensor(input.tensor, &input, result)) return lacking == kNoId && add_tensor(input.produced, &input, result);
  const auto made = input.produced == kNoId ? std::nullopt : view_.error(input.produced);
  TensorError& error = result.known.back().error;
  if (!made) return true;
  // If the producer lacks an input of the reference's, a later operator adds it, and the producer's output is no measure.
  // The errors of the producer's inputs count, unless the candidate's input is that output.
  const double written =
      lacking == kNoId || view_.same_in_a(input.tensor, input.produced) ? made->relative : largest_error_into(lacking);
  if (error.relative > kChangedOnTheWay * written)
    error.relative = std::max(written, view_.expected_rounding(input.producer));
  error.relative = std::max(error.relative, assumed_[input.produced]);
  return true;
}

double InputSearch::largest_error_into(ExecutionId run) const {
  double largest = 0;
  for (const RunInput& input : view_.run(run).inputs) {
    const auto error = input.tensor == kNoId ? std::nullopt : view_.error(input.tensor);
    if (error) largest = std::max({largest, error->relative, error->hidden()});
  }
  return largest;
}

void InputSearch::add_inputs(ExecutionId run, uint32_t depth, KnownInputs& result) const {
  for (const RunInput& input : view_.run(run).inputs) {
    if (add_operand(input, result)) continue;
    if (input.from == InputEdge::From::kConstant || view_.is_attribute(input.tensor)) continue;
    result.pattern = mix_hash(result.pattern, input.slot + 64 * depth);
    const bool few = result.known.size() < kMostTried && result.through.size() < kMostTried;
    // A value of another shape is another value, whatever its producer read.
    const bool known = input.producer != kNoId && !view_.is(input.tensor, Verdict::kShape);
    if (known && view_.run(input.producer).inputs.empty() && view_.is_backward(input.producer)) result.blind = true;
    if (known && depth < kFewTried && few) {
      result.pattern = mix_hash(result.pattern, operators_.type(input.producer));
      result.through.push_back(input.producer);
      add_inputs(input.producer, depth + 1, result);
    } else {
      result.complete = false;
      if (!few) limits_.insert(kInputsLimit);
      if (few && known) limits_.insert(kDepthLimit);
    }
  }
}

void InputSearch::add_before(ExecutionId run, KnownInputs& result) const {
  result.by_order = true;
  result.complete = false;
  for (ExecutionId before = run; before-- > 0 && result.known.empty() && run - before <= kMostTried;) {
    if (view_.place(before).rank != view_.place(run).rank || view_.place(before).step != view_.place(run).step) return;
    for (const TensorId tensor : view_.outputs(before)) (void)add_tensor(tensor, nullptr, result);
  }
}

// Adds the errors on all ranks, which a collective passes on.
void InputSearch::add_other_ranks(ExecutionId run, KnownInputs& result) const {
  const InputSummary& all = view_.inputs_of_group(run);
  for (KnownInput& input : result.known) {
    input.error.relative = std::max(input.error.relative, all.largest_error);
    input.error.exact = input.error.exact && all.all_same;
  }
}

// Adds the values that a backward call reads of its forward call.
void InputSearch::add_saved(ExecutionId forward, KnownInputs& result) const {
  const size_t gradients = result.known.size();
  for (const RunInput& input : view_.run(forward).inputs) (void)add_tensor(input.tensor, nullptr, result);
  const size_t read = result.known.size();
  for (const TensorId tensor : view_.run(forward).outputs) (void)add_tensor(tensor, nullptr, result);
  for (size_t i = gradients; i < result.known.size(); ++i) {
    result.known[i].of_forward = true;
    result.known[i].is_result = i >= read;
  }
}

KnownInputs InputSearch::inputs_of(ExecutionId run) const {
  KnownInputs result;
  add_inputs(run, 0, result);
  if (view_.graph().flow() == FlowKind::kOrder && view_.run(run).inputs.empty()) add_before(run, result);
  if (view_.is_collective(run)) add_other_ranks(run, result);
  for (const ExecutionId backward : view_.backward_calls_of(run)) {
    for (const RunInput& input : view_.run(backward).inputs) (void)add_tensor(input.tensor, nullptr, result);
  }
  for (const ExecutionId forward : view_.forward_calls_of(run)) add_saved(forward, result);
  for (const ExecutionId summand : view_.summands_of(run)) {
    for (const TensorId tensor : view_.outputs(summand)) {
      if (add_tensor(tensor, nullptr, result)) result.known.back().is_summand = true;
    }
  }
  return result;
}

std::vector<ExecutionId> InputSearch::within(ExecutionId run) const {
  std::vector<ExecutionId> runs = inputs_of(run).through;
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  runs.push_back(run);
  return runs;
}

namespace {

class Collector {
 public:
  Collector(const RunView& view, const RunOperators& operators, InputSearch& search)
      : view_(view), operators_(operators), search_(search) {}

  [[nodiscard]] size_t kinds() const { return kinds_.size(); }

  void add_outputs(ExecutionId run, std::vector<ScoredOutput>& outputs) {
    if (view_.one_sided(run)) return;
    const KnownInputs inputs = search_.inputs_of(run);
    const bool exact = inputs.complete && std::all_of(inputs.known.begin(), inputs.known.end(),
                                                      [](const KnownInput& input) { return input.error.exact; });
    const Unjudged unusable = why_unusable(run, inputs);
    for (const TensorId tensor : view_.outputs(run)) {
      const auto& error = view_.error(tensor);
      if (!error) continue;
      ScoredOutput& output = outputs.emplace_back();
      output.tensor = tensor;
      output.run = run;
      output.exact_inputs = exact;
      add_errors(inputs, *error, output);
      output.unjudged = unusable != Unjudged::kNone ? unusable : why_unjudged(output, *error);
      // Statistics may agree by chance although the elements do not.
      if (error->by_statistics && output.propagated > error->relative) {
        // By far more than a value itself is what a mask of -1e9 makes of the error of a softmax.
        const double most = std::min(output.propagated, 1.0);
        search_.assume(tensor, std::sqrt(most * std::max(error->relative, kLeastShown * most)));
      }
      output.group.kind = kind_of(output, inputs);
      output.group.noise_class = static_cast<uint32_t>(operators_.gain(run).noise);
    }
  }

 private:
  // The reason why the model cannot judge an output by these inputs.
  [[nodiscard]] Unjudged why_unusable(ExecutionId run, const KnownInputs& inputs) const {
    const GainRule rule = operators_.gain(run).rule;
    if (rule == GainRule::kRandom) return Unjudged::kDraws;
    if (rule == GainRule::kChoose) return Unjudged::kChooses;
    if (inputs.blind || (inputs.known.empty() && !inputs.by_order)) return Unjudged::kNoInputs;
    // An optimizer divides such gradients by their own size.
    const std::vector<RunInput>& read = view_.run(run).inputs;
    if (view_.comes_after_backward(run) &&
        std::any_of(read.begin(), read.end(), [&](const RunInput& input) { return view_.cancels(input.tensor); }))
      return Unjudged::kCancels;
    for (const KnownInput& input : inputs.known) {
      if (input.error.discrete && input.error.relative > 0) return Unjudged::kIntegerInput;
      if (!input.error.discrete && !(input.error.relative <= kMostError)) return Unjudged::kLargeInput;
    }
    return Unjudged::kNone;
  }

  void add_errors(const KnownInputs& inputs, const TensorError& error, ScoredOutput& output) const {
    const KnownOutput known{output.tensor, 0, error, view_.diff(output.tensor).shape};
    const Expectation expectation =
        expect(operators_.family(output.run), operators_.gain(output.run), inputs.known, known);
    const double roundoff = unit_roundoff(view_.expected_dtype(output.tensor));
    output.measured = error.relative;
    output.least_error = error.least_error;
    output.propagated = expectation.propagated;
    output.amplification = expectation.amplification;
    output.uncertainty = expectation.uncertainty;
    output.most = expectation.most;
    // A single rounding of the result is never a fault, nor is another order of adding up local tensors.
    output.chance = std::max(expectation.chance, (view_.is_sharded() ? kMostRoundings : 1) * roundoff);
    output.roundoff = roundoff;
    for (const ExecutionId other : inputs.through)
      output.roundoff = std::max(output.roundoff, view_.expected_rounding(other));
    output.by_statistics = error.by_statistics;
    output.hidden = error.hidden();
  }

  [[nodiscard]] Unjudged why_unjudged(const ScoredOutput& output, const TensorError& error) const {
    if (error.discrete || error.elements == 0) return Unjudged::kNoNumbers;
    if (!std::isfinite(output.measured) || !std::isfinite(output.propagated)) return Unjudged::kNoNumbers;
    if (view_.cancels(output.tensor) && output.measured <= std::max(output.propagated, kMostHiddenError))
      return Unjudged::kCancels;
    if (error.relative == 0 && output.propagated > kChangedOnTheWay * output.hidden) return Unjudged::kAgreesByChance;
    // The value before the update is not dumped, and has an error of its own from the second step on.
    if (view_.graph().role(output.tensor) == TensorRole::kUpdated && view_.is_later_step(output.run))
      return Unjudged::kKeptValue;
    const bool adaptive = ge::has_property(operators_.family(output.run), ge::OperatorProperty::kDividesByGradient) &&
                          view_.slot(output.tensor) == "0";
    return adaptive ? Unjudged::kAdaptive : Unjudged::kNone;
  }

  [[nodiscard]] uint32_t kind_of(const ScoredOutput& output, const KnownInputs& inputs) {
    const TensorDiff& diff = view_.diff(output.tensor);
    uint64_t key = text_hash(operators_.family(output.run));
    key = mix_hash(key, text_hash(view_.slot(output.tensor)));
    key = mix_hash(key, inputs.pattern);
    key = mix_hash(key, static_cast<uint64_t>(diff.dtype_a) * 64 + static_cast<uint64_t>(diff.dtype_b));
    // A module repeats the outputs of the calls inside it, so it is no sibling of theirs.
    key = mix_hash(key, (operators_.is_module(output.run) ? 4U : 0U) + (view_.is_gradient(output.run) ? 2U : 0U) +
                            (diff.by_statistics ? 1U : 0U));
    return kinds_.try_emplace(key, static_cast<uint32_t>(kinds_.size())).first->second;
  }

  const RunView& view_;
  const RunOperators& operators_;
  InputSearch& search_;
  std::unordered_map<uint64_t, uint32_t> kinds_;
};

}  // namespace

bool ScoredOutput::is_never_noise() const { return measured > kNeverNoise * std::max(expected, roundoff); }

OutputScore score_of(const ScoredOutput& output) {
  const Centre& siblings = output.siblings;
  return {output.tensor,
          output.measured,
          output.expected * std::exp(siblings.centre),
          output.score,
          siblings.siblings,
          std::exp(siblings.sibling_centre - siblings.centre),
          std::exp(siblings.sibling_spread)};
}

namespace {

struct UnjudgedWords {
  std::string_view name, text;
  bool may_be_rounding = false;
};
constexpr auto kUnjudged = enum_table<Unjudged, UnjudgedWords>(
    UnjudgedWords{}, UnjudgedWords{"draws", "the operator draws random numbers", true},
    UnjudgedWords{"chooses", "the operator chooses among its inputs, which differ", true},
    UnjudgedWords{"no_inputs", "none of its inputs was dumped on both sides"},
    UnjudgedWords{"large_input", "an input has an error that is too large for the model"},
    UnjudgedWords{"integer_input", "integers or truth values among its inputs differ", true},
    UnjudgedWords{"no_numbers", "its outputs are integers, truth values or not finite", true},
    UnjudgedWords{"agrees_by_chance", "its outputs agree although its inputs do not", true},
    UnjudgedWords{"cancels", "its terms cancel, and rounding is all that is left", true},
    UnjudgedWords{"kept_value", "the value before the update was not dumped", true},
    UnjudgedWords{"adaptive", "written by an optimizer that divides by the size of the gradient", true},
    UnjudgedWords{"unlikely", "more than 1000 times what is expected, yet too little for an alarm"},
    UnjudgedWords{"unknown_source", "what wrote it was not dumped"},
    UnjudgedWords{"unread", "no operator that was compared reads or writes it"},
    UnjudgedWords{"not_passed_on", "what reads its outputs has equal inputs, so they were not passed on as they are"},
    UnjudgedWords{"not_finite", "NaN or infinities on one side"},
    UnjudgedWords{"other_shape", "another shape or kind of dtype"},
    UnjudgedWords{"unmatched", "nothing on the other side"});

}  // namespace

bool may_be_rounding(Unjudged reason) { return kUnjudged[reason].may_be_rounding; }
std::string_view name_of(Unjudged reason) { return kUnjudged[reason].name; }
std::string_view text_of(Unjudged reason) { return kUnjudged[reason].text; }

ScoredOutputs::ScoredOutputs(const RunView& view, const RunOperators& operators, InputSearch& search) {
  Collector collector(view, operators, search);
  first_.reserve(view.runs().size() + 1);
  size_t outputs = 0;
  for (const OpRun& run : view.runs()) outputs += run.outputs.size();
  outputs_.reserve(outputs);
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    first_.push_back(static_cast<uint32_t>(outputs_.size()));
    collector.add_outputs(run, outputs_);
  }
  first_.push_back(static_cast<uint32_t>(outputs_.size()));
  kinds_ = collector.kinds();
}

std::span<const ScoredOutput> ScoredOutputs::of(ExecutionId run) const {
  return {outputs_.data() + first_[run], outputs_.data() + first_[run + 1]};
}

}  // namespace msdump
