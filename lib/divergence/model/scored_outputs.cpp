#include "divergence/model/scored_outputs.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/hash_slots.h"
#include "base/text.h"
#include "divergence/model/constants.h"
#include "divergence/model/expectation.h"

namespace msdump {
namespace {

// Optimizers that divide by the size of the gradient: an element that is next to nothing moves its parameter as far as a
// large one.
bool divides_by_size(std::string_view family) {
  for (const std::string_view part : {"adam", "rmsprop", "adagrad", "lamb", "lars", "ftrl", "adadelta"}) {
    if (family.find(part) != std::string_view::npos) return true;
  }
  return false;
}

class Collector {
 public:
  Collector(const RunView& view, const RunOperators& operators, InputSearch& search)
      : view_(view), operators_(operators), search_(search) {}

  [[nodiscard]] size_t kinds() const { return kinds_.size(); }

  void add_outputs(uint32_t run, std::vector<ScoredOutput>& outputs) {
    if (view_.one_sided(run)) return;
    const KnownInputs inputs = search_.inputs_of(run);
    const bool exact = inputs.complete && std::all_of(inputs.known.begin(), inputs.known.end(),
                                                      [](const KnownInput& input) { return input.error.exact; });
    const Unjudged unusable = why_unusable(run, inputs);
    for (const uint32_t tensor : view_.outputs(run)) {
      const auto& error = view_.error(tensor);
      if (!error) continue;
      ScoredOutput& output = outputs.emplace_back();
      output.tensor = tensor;
      output.run = run;
      output.past_operators = !inputs.through.empty();
      output.exact_inputs = exact;
      add_errors(inputs, *error, output);
      output.unjudged = unusable != Unjudged::kNone ? unusable : why_unjudged(output, *error);
      // Statistics may agree by chance although the elements do not.
      if (error->by_statistics && output.propagated > error->relative)
        search_.assume(tensor,
                       std::sqrt(output.propagated * std::max(error->relative, kLeastShown * output.propagated)));
      output.group.kind = kind_of(output, inputs);
      output.group.noise_class = static_cast<uint32_t>(operators_.gain(run).noise);
    }
  }

 private:
  // Why the model says nothing about what follows from these inputs.
  [[nodiscard]] Unjudged why_unusable(uint32_t run, const KnownInputs& inputs) const {
    const GainRule rule = operators_.gain(run).rule;
    if (rule == GainRule::kRandom) return Unjudged::kDraws;
    if (rule == GainRule::kChoose) return Unjudged::kChooses;
    if (inputs.known.empty() && !inputs.by_order) return Unjudged::kNoInputs;
    const auto& read = view_.run(run).inputs;
    if (std::any_of(read.begin(), read.end(), [&](const RunInput& input) { return view_.is_forgotten(input.tensor); }))
      return Unjudged::kNoInputs;
    // Calls of one side alone may hide the gradient that goes in: what the forward call has says nothing of it.
    const auto of_forward = [](const KnownInput& input) { return input.of_forward; };
    if (view_.of_cuts() && view_.is_backward(run) && std::all_of(inputs.known.begin(), inputs.known.end(), of_forward))
      return Unjudged::kNoInputs;
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
    output.propagated = expectation.propagated;
    output.amplification = expectation.amplification;
    output.uncertainty = expectation.uncertainty;
    output.most = expectation.most;
    // A single rounding of the result is never a fault, nor that of parts which are added up in another order, whatever
    // siblings that are not cut have.
    output.chance = std::max(expectation.chance, (view_.of_cuts() ? kMostRoundings : 1) * roundoff);
    output.roundoff = roundoff;
    for (const uint32_t other : inputs.through)
      output.roundoff = std::max(output.roundoff, view_.expected_rounding(other));
    output.by_statistics = error.by_statistics;
    output.hidden = error.hidden();
  }

  [[nodiscard]] Unjudged why_unjudged(const ScoredOutput& output, const TensorError& error) const {
    if (error.discrete || error.elements == 0) return Unjudged::kNoNumbers;
    if (!std::isfinite(output.measured) || !std::isfinite(output.propagated)) return Unjudged::kNoNumbers;
    if (error.relative == 0 && output.propagated > kMostHidden * output.hidden) return Unjudged::kAgreesByChance;
    // What was there before the update is not dumped; from the second step on it has an error of its own.
    if (view_.graph().role(output.tensor) == TensorRole::kUpdated && view_.is_later_step(output.run))
      return Unjudged::kKeptValue;
    const bool adaptive = divides_by_size(operators_.family(output.run)) && view_.slot(output.tensor) == "0";
    return adaptive ? Unjudged::kAdaptive : Unjudged::kNone;
  }

  [[nodiscard]] uint32_t kind_of(const ScoredOutput& output, const KnownInputs& inputs) {
    const TensorDiff& diff = view_.diff(output.tensor);
    uint64_t key = text_hash(operators_.family(output.run));
    key = mix_hash(key, text_hash(view_.slot(output.tensor)));
    key = mix_hash(key, inputs.pattern);
    key = mix_hash(key, static_cast<uint64_t>(diff.dtype_a) * 64 + static_cast<uint64_t>(diff.dtype_b));
    // A module repeats what the calls inside it write: it is not a sibling of theirs.
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

bool may_be_rounding(Unjudged reason) {
  switch (reason) {
    case Unjudged::kDraws:
    case Unjudged::kChooses:
    case Unjudged::kAgreesByChance:
    case Unjudged::kIntegerInput:
    case Unjudged::kNoNumbers:
    case Unjudged::kCancels:
    case Unjudged::kKeptValue:
    case Unjudged::kAdaptive: return true;
    default: return false;
  }
}

std::string_view name_of(Unjudged reason) {
  switch (reason) {
    case Unjudged::kNone: break;
    case Unjudged::kDraws: return "draws";
    case Unjudged::kChooses: return "chooses";
    case Unjudged::kNoInputs: return "no_inputs";
    case Unjudged::kLargeInput: return "large_input";
    case Unjudged::kIntegerInput: return "integer_input";
    case Unjudged::kNoNumbers: return "no_numbers";
    case Unjudged::kAgreesByChance: return "agrees_by_chance";
    case Unjudged::kCancels: return "cancels";
    case Unjudged::kKeptValue: return "kept_value";
    case Unjudged::kAdaptive: return "adaptive";
    case Unjudged::kUnlikely: return "unlikely";
    case Unjudged::kUnknownSource: return "unknown_source";
    case Unjudged::kUnread: return "unread";
    case Unjudged::kNotPassedOn: return "not_passed_on";
    case Unjudged::kNotFinite: return "not_finite";
    case Unjudged::kOtherShape: return "other_shape";
    case Unjudged::kUnmatched: return "unmatched";
  }
  return {};
}

std::string_view text_of(Unjudged reason) {
  switch (reason) {
    case Unjudged::kNone: break;
    case Unjudged::kDraws: return "the operator draws random numbers";
    case Unjudged::kChooses: return "the operator chooses among its inputs, which differ";
    case Unjudged::kNoInputs: return "none of its inputs was dumped on both sides";
    case Unjudged::kLargeInput: return "an input has an error that is too large for the model";
    case Unjudged::kIntegerInput: return "integers or truth values among its inputs differ";
    case Unjudged::kNoNumbers: return "its outputs are integers, truth values or not finite";
    case Unjudged::kAgreesByChance: return "its outputs agree although its inputs do not";
    case Unjudged::kCancels: return "its terms cancel, and rounding is all that is left";
    case Unjudged::kKeptValue: return "the value before the update was not dumped";
    case Unjudged::kAdaptive: return "written by an optimizer that divides by the size of the gradient";
    case Unjudged::kUnlikely: return "more than 1000 times what is expected, yet too little for an alarm";
    case Unjudged::kUnknownSource: return "what wrote it was not dumped";
    case Unjudged::kNotPassedOn:
      return "what reads its outputs has equal inputs, so they were not passed on as they are";
    case Unjudged::kUnread: return "no operator that was compared reads or writes it";
    case Unjudged::kNotFinite: return "NaN or infinities on one side";
    case Unjudged::kOtherShape: return "another shape or kind of dtype";
    case Unjudged::kUnmatched: return "nothing on the other side";
  }
  return {};
}

ScoredOutputs::ScoredOutputs(const RunView& view, const RunOperators& operators, InputSearch& search) {
  Collector collector(view, operators, search);
  first_.reserve(view.runs().size() + 1);
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    first_.push_back(static_cast<uint32_t>(outputs_.size()));
    collector.add_outputs(run, outputs_);
  }
  first_.push_back(static_cast<uint32_t>(outputs_.size()));
  kinds_ = collector.kinds();
}

std::span<const ScoredOutput> ScoredOutputs::of(uint32_t run) const {
  return {outputs_.data() + first_[run], outputs_.data() + first_[run + 1]};
}

}  // namespace msdump
