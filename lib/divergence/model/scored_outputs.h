// The outputs of all runs as the noise model sees them. To collect them is its first stage: what the errors of the inputs
// lead to (expectation.h), which outputs can be judged, and which are siblings. own_noise.h and scores.h fill in the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "divergence/model/calibration.h"
#include "divergence/model/input_search.h"
#include "divergence/model/run_operators.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Why nobody judged a tensor: the model an output, or explanation.h any other.
enum class Unjudged : uint8_t {
  kNone,            // it is judged
  kDraws,           // the operator draws random numbers
  kChooses,         // it chooses among its inputs
  kNoInputs,        // none of its inputs was compared
  kLargeInput,      // an input has an error beyond kMostError
  kIntegerInput,    // integers or truth values among its inputs differ
  kNoNumbers,       // its outputs are integers, truth values or not finite
  kAgreesByChance,  // equal although its inputs lead to more
  kCancels,         // terms cancel: nothing but rounding is left
  kKeptValue,       // updated in place: the value before the update is not dumped
  kAdaptive,        // an optimizer that divides by the size of the gradient
  kUnlikely,        // below the alarm, but more than kNeverNoise times what is expected
  kUnknownSource,   // what wrote it was not dumped
  kUnread,          // no operator that was compared reads or writes it
  kNotPassedOn,     // all that reads it got equal values
  kNotFinite,       // NaN or infinities on one side
  kOtherShape,      // another shape or kind of dtype
  kUnmatched,       // nothing on the other side
};
[[nodiscard]] constexpr Unjudged last_of(Unjudged) { return Unjudged::kUnmatched; }
// True if rounding alone may lead to such a difference, so that it is no sign of a fault.
[[nodiscard]] bool may_be_rounding(Unjudged reason);
// A word for scripts: "draws"; empty for kNone.
[[nodiscard]] std::string_view name_of(Unjudged reason);
// "the operator draws random numbers"; empty for kNone.
[[nodiscard]] std::string_view text_of(Unjudged reason);

struct ScoredOutput {
  uint32_t tensor = kNoTensor;
  uint32_t run = kNoRun;
  double measured = 0, propagated = 0, amplification = 1;
  double uncertainty = 0, most = 0, chance = 0;  // as Expectation
  double hidden = 0;                             // as TensorError
  double roundoff = 0;                           // of the coarsest format that it went through
  double noise = 0;                              // of its own, where terms do not cancel
  double noise_above = 0;                        // one standard deviation above, as far as its siblings allow
  double expected = 0;
  double residual = 0;  // log(measured / expected)
  double score = 0;
  Unjudged unjudged = Unjudged::kNoInputs;
  bool beyond_arithmetic = false;  // more than any arithmetic of this format leads to, whatever the siblings have
  bool by_statistics = false;
  bool past_operators = false;  // what others read stands for an input
  bool exact_inputs = false;    // all of them equal bit for bit
  Centre siblings;
  SampleGroup group;

  [[nodiscard]] bool judged() const { return unjudged == Unjudged::kNone; }
  // True if neither its inputs nor its arithmetic can explain it, whatever its siblings have.
  [[nodiscard]] bool is_never_noise() const;
};

// The expected error as its siblings lead one to expect.
[[nodiscard]] inline double expected_of(const ScoredOutput& output) {
  return output.expected * std::exp(output.siblings.centre);
}

// How many times what is expected the siblings have: their median, and the factor of their spread.
[[nodiscard]] inline double sibling_median_of(const ScoredOutput& output) {
  return std::exp(output.siblings.sibling_centre - output.siblings.centre);
}
[[nodiscard]] inline double sibling_spread_of(const ScoredOutput& output) {
  return std::exp(output.siblings.sibling_spread);
}

class ScoredOutputs {
 public:
  // Tells `search` which tensors may have more error than their statistics show.
  ScoredOutputs(const RunView& view, const RunOperators& operators, InputSearch& search);

  [[nodiscard]] std::span<const ScoredOutput> of(uint32_t run) const;
  [[nodiscard]] std::span<const ScoredOutput> all() const { return outputs_; }
  [[nodiscard]] std::span<ScoredOutput> all() { return outputs_; }
  [[nodiscard]] size_t kinds() const { return kinds_; }  // SampleGroup::kind is below it

 private:
  std::vector<ScoredOutput> outputs_;  // run by run
  std::vector<uint32_t> first_;        // by run, and one more
  size_t kinds_ = 0;
};

}  // namespace msdump
