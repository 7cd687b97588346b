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
    const bool usable = are_usable(run, inputs);
    for (const uint32_t tensor : view_.outputs(run)) {
      const auto& error = view_.error(tensor);
      if (!error) continue;
      ScoredOutput& output = outputs.emplace_back();
      output.tensor = tensor;
      output.run = run;
      output.past_operators = !inputs.through.empty();
      output.exact_inputs = exact;
      add_errors(inputs, *error, output);
      output.judged = usable && can_be_judged(output, *error);
      // Statistics may agree by chance although the elements do not.
      if (error->by_statistics && output.propagated > error->relative)
        search_.assume(tensor,
                       std::sqrt(output.propagated * std::max(error->relative, kLeastShown * output.propagated)));
      output.group.kind = kind_of(output, inputs);
      output.group.noise_class = static_cast<uint32_t>(operators_.gain(run).noise);
    }
  }

 private:
  // Does the model say anything about what follows from these inputs?
  [[nodiscard]] bool are_usable(uint32_t run, const KnownInputs& inputs) const {
    const GainRule rule = operators_.gain(run).rule;
    if (rule == GainRule::kChoose || rule == GainRule::kRandom) return false;
    if (inputs.known.empty() && !inputs.by_order) return false;
    const auto& read = view_.run(run).inputs;
    if (std::any_of(read.begin(), read.end(), [&](const RunInput& input) { return view_.is_forgotten(input.tensor); }))
      return false;
    // Calls of one side alone may hide the gradient that goes in: what the forward call has says nothing of it.
    const auto of_forward = [](const KnownInput& input) { return input.of_forward; };
    if (view_.of_cuts() && view_.is_backward(run) && std::all_of(inputs.known.begin(), inputs.known.end(), of_forward))
      return false;
    return std::all_of(inputs.known.begin(), inputs.known.end(), [](const KnownInput& input) {
      return input.error.discrete ? !(input.error.relative > 0) : input.error.relative <= kMostError;
    });
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

  [[nodiscard]] bool can_be_judged(const ScoredOutput& output, const TensorError& error) const {
    if (error.discrete || error.elements == 0) return false;
    if (!std::isfinite(output.measured) || !std::isfinite(output.propagated)) return false;
    if (error.relative == 0 && output.propagated > kMostHidden * output.hidden) return false;
    // What was there before the update is not dumped; from the second step on it has an error of its own.
    if (view_.graph().role(output.tensor) == TensorRole::kUpdated && view_.is_later_step(output.run)) return false;
    return !divides_by_size(operators_.family(output.run)) || view_.slot(output.tensor) != "0";
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
