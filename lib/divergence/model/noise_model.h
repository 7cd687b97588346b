// NoiseModel: for every run of a comparison the error that its inputs and its own arithmetic lead to, and how far the
// measured one lies above it.
//
//   expected^2 = propagated^2 + (noise * amplification)^2      expectation.h; the noise of its kind: calibration.h
//   score      (log(measured / expected) - centre) / spread of its siblings: standard deviations
//
// A run is judged unless it draws or chooses, an input has an error beyond kMostError, or nothing is known of its inputs.
// Cost: linear in the tensors of the runs.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "divergence/model/calibration.h"
#include "divergence/model/expectation.h"
#include "divergence/run_view.h"

namespace msdump {

// Beyond this relative error of an input the model, which is linear, does not hold.
inline constexpr double kMostError = 0.3;

// A value is passed on with the error that it was written with, or up to so many times that: a cast adds its rounding.
inline constexpr double kChangedOnTheWay = 4;

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
  bool judged = false;
  bool beyond_arithmetic = false;  // more than any arithmetic of this format leads to, whatever the siblings have
  bool by_statistics = false;
  bool exact_inputs = false;  // all of them equal bit for bit
  Centre siblings;
  SampleGroup group;
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

class NoiseModel {
 public:
  explicit NoiseModel(const RunView& view);

  [[nodiscard]] std::span<const ScoredOutput> outputs(uint32_t run) const;
  [[nodiscard]] std::span<const ScoredOutput> outputs() const { return outputs_; }  // of all runs
  // What an output would be expected to have with these inputs.
  [[nodiscard]] double expected_with(const ScoredOutput& output, std::span<const KnownInput> inputs) const;
  // The inputs of a run that are known, and their gains to one of its outputs.
  [[nodiscard]] std::vector<KnownInput> inputs(uint32_t run) const { return inputs_of(run).known; }
  [[nodiscard]] const OperatorGain& gain(uint32_t run) const { return gains_[family_of_[run]]; }
  [[nodiscard]] const std::string& family(uint32_t run) const { return families_[family_of_[run]]; }
  // Of a run whose output stands for several operators, fused or not dumped between: the one that adds most noise, the
  // most upstream of those.
  [[nodiscard]] uint32_t likeliest_within(uint32_t run) const;
  // All of them, itself last.
  [[nodiscard]] std::vector<uint32_t> within(uint32_t run) const;
  // The limit of an alarm: so high that of a thousand comparisons without a fault one would have such a run, if scores were
  // normal deviates. They are not quite; tests/bench/bench_blame.cpp measures how often it is exceeded.
  [[nodiscard]] double threshold() const { return threshold_; }
  // What most operators of this pair add, at most.
  [[nodiscard]] double usual_noise() const { return usual_noise_; }
  // The relative error of rounding a value to what the coarser side stores, at most: of parameters and constants.
  [[nodiscard]] double storage_rounding() const { return storage_rounding_; }

 private:
  struct Inputs {
    std::vector<KnownInput> known;
    uint64_t pattern = 0;  // a hash of what is not known directly: such runs are siblings of their like alone
    bool complete = true;
    std::vector<uint32_t> through;  // runs that were looked through
  };
  void find_families();
  void find_modules();
  void collect();
  void collect_run(uint32_t run);
  void estimate_noise();
  [[nodiscard]] bool is_constant(uint32_t tensor) const;
  void estimate_storage();
  void score();
  [[nodiscard]] Inputs inputs_of(uint32_t run) const;
  void add_inputs(uint32_t run, uint32_t depth, Inputs& result) const;
  [[nodiscard]] bool follows_order_alone(uint32_t run) const;
  void add_before(uint32_t run, Inputs& result) const;
  void add_other_ranks(uint32_t run, Inputs& result) const;
  bool add_operand(const RunInput& input, Inputs& result) const;
  bool add_input(uint32_t tensor, const RunInput* input, Inputs& result) const;
  [[nodiscard]] uint32_t kind_of(const ScoredOutput& output, const Inputs& inputs);

  const RunView& view_;
  std::vector<std::string> families_;
  std::vector<OperatorGain> gains_;    // by family
  std::vector<uint32_t> family_of_;    // by run
  std::vector<ScoredOutput> outputs_;  // run by run
  std::vector<double> passed_on_;      // by tensor: the error that its readers are taken to read
  std::vector<uint32_t> first_;        // by run, and one more
  std::unordered_map<uint64_t, uint32_t> kinds_;
  std::vector<bool> is_module_;  // of msprobe, by run
  bool modules_repeat_ = false;  // what the calls inside them write
  double threshold_ = 0, storage_rounding_ = 0, usual_noise_ = 0;
};

}  // namespace msdump
