// Calibration, InputSearch, ScoredOutputs: the parts of the noise model that learn from the pair of dumps.
//
// Calibration learns the rounding that operators of a kind add, and how far single operators lie from the expected error.
// No operator is judged by itself: each is left out of the samples that it is compared with. There are three levels: a
// kind (op type, output, forward or gradient, dtypes), its class, and all. A level with few samples leans on the one
// above it, and the uppermost on the rounding of a dtype. Centres are quantiles and spreads median deviations, so a few
// faults among siblings do not move them.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "divergence/model/expectation.h"
#include "divergence/model/operator_gain.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// The groups of a sample, as dense numbers from 0.
struct SampleGroup {
  uint32_t kind = 0, noise_class = 0;
};

struct Centre {
  double centre = 0;
  double spread = 0;                              // standard deviation of a further sample around it
  uint32_t siblings = 0;                          // samples of the kind, without the judged one
  double sibling_centre = 0, sibling_spread = 0;  // of these alone; 0 without any
};

// Centres of samples (logarithms) by kind, class and all.
class Calibration {
 public:
  struct Sample {
    SampleGroup group;
    uint32_t unit = 0;  // the operator: its executions have the same fault, and count once
    double value = 0;
    double spread = 0;  // the prior's, of this sample
  };
  struct Rule {
    double prior = 0;         // the centre if there is no sample at all, or what kinds with few samples lean on
    bool by_class = true;     // kinds with few samples lean on their class; else on the prior
    double share = 0.5;       // of the samples below the centre
    bool kinds_vary = false;  // kinds without samples spread as the other kinds do
  };
  Calibration(std::vector<Sample> samples, const Rule& rule);

  // The centre for the sample of this index, which does not count itself.
  [[nodiscard]] Centre without(uint32_t sample) const;
  // The centre for a value that is not among the samples.
  [[nodiscard]] Centre at(SampleGroup group, double spread) const;

 private:
  struct Group {
    std::vector<double> values;
    double centre = 0, deviation = 0;
  };
  // The standard deviation of the centres of the other kinds.
  [[nodiscard]] double between_others(const Group* kind) const;
  [[nodiscard]] Centre centre_of(SampleGroup group, double spread, const double* left_out) const;

  std::vector<Sample> samples_;
  std::vector<double> values_;  // by sample: the median of its operator
  std::vector<Group> kinds_, classes_;
  Group all_;
  const Rule rule_;
  std::vector<double> centres_;  // of kinds
  double between_ = 0;           // their standard deviation
  double scale_ = 1;             // how the spreads of this pair compare with the prior's
};

// The known inputs of an execution. The inputs of its producer replace one that was not compared, so fused, undumped and
// one-sided operators are looked through. If neither a graph nor values show the inputs, the outputs before stand in.

struct KnownInputs {
  std::vector<KnownInput> known;
  uint64_t pattern = 0;  // a hash of the inputs that are not known directly; siblings have the same
  bool complete = true;
  bool blind = false;     // gradients of a parameter that one side alone lists, and of unknown source, are among them
  bool by_order = false;  // outputs of executions before it stand in
  std::vector<ExecutionId> through;  // executions that were looked through
};

class InputSearch {
 public:
  InputSearch(const RunView& view, const RunOperators& operators)
      : view_(view), operators_(operators), assumed_(view.tensors()) {}

  [[nodiscard]] KnownInputs inputs_of(ExecutionId run) const;
  // The executions that an output stands for, fused or not dumped between: ascending, `run` last.
  [[nodiscard]] std::vector<ExecutionId> within(ExecutionId run) const;
  // Makes consumers of a tensor read at least this error, from now on.
  void assume(TensorId tensor, double error) { assumed_[tensor] = error; }
  [[nodiscard]] const ReachedLimits& limits() const { return limits_; }

 private:
  void add_inputs(ExecutionId run, uint32_t depth, KnownInputs& result) const;
  void add_before(ExecutionId run, KnownInputs& result) const;
  void add_other_ranks(ExecutionId run, KnownInputs& result) const;
  void add_saved(ExecutionId forward, KnownInputs& result) const;
  [[nodiscard]] double largest_error_into(ExecutionId run) const;
  bool add_operand(const RunInput& input, KnownInputs& result) const;
  bool add_tensor(TensorId tensor, const RunInput* input, KnownInputs& result) const;

  const RunView& view_;
  const RunOperators& operators_;
  std::vector<double> assumed_;   // by tensor
  mutable ReachedLimits limits_;  // that the searches reached
};

// All outputs as the noise model sees them. The constructor finds the errors that the inputs lead to (expectation.h),
// which outputs can be judged, and which are siblings. NoiseModel fills in the rest.

// The reason why a tensor was not judged: by the model if it is an output, else by explanation.h.
enum class Unjudged : uint8_t {
  kNone,            // it is judged
  kDraws,           // the operator draws random numbers
  kChooses,         // it chooses among its inputs
  kNoInputs,        // none of its inputs was compared
  kLargeInput,      // an input has an error beyond kMostError
  kIntegerInput,    // integers or truth values among its inputs differ
  kNoNumbers,       // its outputs are integers, truth values or not finite
  kAgreesByChance,  // equal although its inputs lead to an error
  kCancels,         // terms cancel: only rounding is left
  kKeptValue,       // updated in place: the value before the update is not dumped
  kAdaptive,        // an optimizer that divides by the size of the gradient
  kUnlikely,        // below the alarm, but more than kNeverNoise times what is expected
  kUnknownSource,   // its producer was not dumped
  kUnread,          // no operator that was compared reads or writes it
  kNotPassedOn,     // all its consumers received equal values
  kNotFinite,       // NaN or infinities on one side
  kOtherShape,      // another shape or kind of dtype
  kUnmatched,       // nothing on the other side
};
// True if rounding alone may lead to such a difference, so it is no sign of a fault.
[[nodiscard]] bool may_be_rounding(Unjudged reason);
// A word for scripts: "draws"; empty for kNone.
[[nodiscard]] std::string_view name_of(Unjudged reason);
// "the operator draws random numbers"; empty for kNone.
[[nodiscard]] std::string_view text_of(Unjudged reason);

struct ScoredOutput {
  TensorId tensor;
  ExecutionId run;
  double measured = 0, propagated = 0, amplification = 1;
  double least_error = 0;                        // as in TensorError
  double uncertainty = 0, most = 0, chance = 0;  // as in Expectation
  double hidden = 0;                             // as in TensorError
  double roundoff = 0;                           // of the coarsest dtype that it went through
  double noise = 0;                              // its own rounding, if terms do not cancel
  double noise_above = 0;                        // one standard deviation above, as far as its siblings allow
  double expected = 0;
  double residual = 0;  // log(measured / expected)
  double score = 0;
  Unjudged unjudged = Unjudged::kNoInputs;
  bool beyond_arithmetic = false;  // more than any arithmetic of this format leads to, whatever the siblings have
  bool by_statistics = false;
  bool exact_inputs = false;  // all inputs are TensorError::exact
  Centre siblings;
  SampleGroup group;

  [[nodiscard]] bool judged() const { return unjudged == Unjudged::kNone; }
  // True if neither its inputs nor its arithmetic can explain it, whatever its siblings have.
  [[nodiscard]] bool is_never_noise() const;
};

// The figures of an output that reports show.
struct OutputScore {
  TensorId tensor;
  double measured = 0, expected = 0;  // errors; `expected` is corrected by the siblings
  double score = 0;
  uint32_t siblings = 0;  // executions of the same kind that it was compared with
  // The siblings' measured error over their expected one: the median, and the factor of one standard deviation.
  double sibling_median = 0, sibling_spread = 0;
};
[[nodiscard]] OutputScore score_of(const ScoredOutput& output);

class ScoredOutputs {
 public:
  // Tells `search` which tensors may have more error than their statistics show.
  ScoredOutputs(const RunView& view, const RunOperators& operators, InputSearch& search);

  [[nodiscard]] std::span<const ScoredOutput> of(ExecutionId run) const;
  [[nodiscard]] std::span<const ScoredOutput> all() const { return outputs_; }
  [[nodiscard]] std::span<ScoredOutput> all() { return outputs_; }
  [[nodiscard]] size_t kinds() const { return kinds_; }  // SampleGroup::kind is below it

 private:
  std::vector<ScoredOutput> outputs_;  // run by run
  std::vector<uint32_t> first_;        // by run, and one more
  size_t kinds_ = 0;
};

}  // namespace msdump
