// NoiseModel: the expected error of each output of a comparison, learned from the pair of dumps itself, and how far the
// measured error exceeds it. constants.h has the thresholds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "divergence/model/expectation.h"
#include "divergence/model/operator_gain.h"
#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// For every execution, the error that its inputs and its own arithmetic lead to, and the score of the measured one.
//
//   expected^2 = propagated^2 + (noise * amplification)^2      scored_outputs.h
//   score      (log(measured / expected) - centre) / spread of its siblings: standard deviations
//
// An execution is judged unless it draws or chooses, an input has an error beyond kMostError, or no input is known.
// Cost: linear in the tensors of the runs.

class NoiseModel {
 public:
  explicit NoiseModel(const RunView& view);
  NoiseModel(const NoiseModel&) = delete;  // members refer to each other
  NoiseModel& operator=(const NoiseModel&) = delete;

  [[nodiscard]] std::span<const ScoredOutput> outputs(ExecutionId run) const { return outputs_.of(run); }
  [[nodiscard]] std::span<const ScoredOutput> outputs() const { return outputs_.all(); }  // of all executions
  // The known inputs of an execution.
  [[nodiscard]] std::vector<KnownInput> inputs(ExecutionId run) const { return search_.inputs_of(run).known; }
  [[nodiscard]] const OperatorGain& gain(ExecutionId run) const { return operators_.gain(run); }
  [[nodiscard]] const std::string& family(ExecutionId run) const { return operators_.family(run); }
  // The operator to name for an output that stands for several. It is one that reads a value of unknown error, else the
  // most upstream of those that add most noise.
  [[nodiscard]] ExecutionId likeliest_within(ExecutionId run) const;
  // The executions that an output stands for, fused or not dumped between: ascending, `run` last.
  [[nodiscard]] std::vector<ExecutionId> within(ExecutionId run) const { return search_.within(run); }
  // The score above which an output is an alarm. If scores were normal deviates, one of a thousand comparisons without a
  // fault would have such an output; tests/bench/bench_blame.cpp measures how often it happens.
  [[nodiscard]] double threshold() const { return threshold_; }
  [[nodiscard]] const ReachedLimits& limits() const { return search_.limits(); }
  // The median rounding that operators of this pair add, without gradients.
  [[nodiscard]] double usual_noise() const { return usual_noise_; }
  // The largest relative error of rounding a value to the coarser storage of the two sides, for parameters and constants.
  [[nodiscard]] double storage_rounding() const { return storage_rounding_; }
  // True if a tensor has more error than so many roundings, and more than a value with an error of `before` is passed on
  // with.
  [[nodiscard]] bool is_off(TensorId tensor, double before, double roundings) const;

 private:
  const RunView& view_;
  const RunOperators operators_;
  InputSearch search_;
  ScoredOutputs outputs_;
  // The order matters: each one needs the one before, and the outputs as that has set them.
  const double storage_rounding_, usual_noise_, threshold_;
};

}  // namespace msdump
