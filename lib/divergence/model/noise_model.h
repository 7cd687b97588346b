// NoiseModel: the error that each execution is expected to add, learned from the pair of dumps itself, and how far its outputs
// exceed it. It is an estimate; constants.h has its thresholds.
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

// Quantiles of values that are in no order.

// The value that this share of the others are at most as large as, without interpolation: 0.5 for the median, of an even
// number the upper one; 1 for the largest. `values` are reordered; there is at least one.
[[nodiscard]] double quantile_of_unsorted(std::span<double> values, double share);

// NoiseModel: for every run of a comparison the error that its inputs and its own arithmetic lead to, and how far the
// measured one lies above it.
//
//   expected^2 = propagated^2 + (noise * amplification)^2      scored_outputs.h
//   score      (log(measured / expected) - centre) / spread of its siblings: standard deviations
//
// A run is judged unless it draws or chooses, an input has an error beyond kMostError, or nothing is known of its inputs.
// Cost: linear in the tensors of the runs.

class NoiseModel {
 public:
  explicit NoiseModel(const RunView& view);
  NoiseModel(const NoiseModel&) = delete;  // members refer to each other
  NoiseModel& operator=(const NoiseModel&) = delete;

  [[nodiscard]] std::span<const ScoredOutput> outputs(uint32_t run) const { return outputs_.of(run); }
  [[nodiscard]] std::span<const ScoredOutput> outputs() const { return outputs_.all(); }  // of all runs
  // What an output would be expected to have with these inputs.
  [[nodiscard]] double expected_with(const ScoredOutput& output, std::span<const KnownInput> inputs) const;
  // The inputs of a run that are known, and their gains to one of its outputs.
  [[nodiscard]] std::vector<KnownInput> inputs(uint32_t run) const { return search_.inputs_of(run).known; }
  [[nodiscard]] const OperatorGain& gain(uint32_t run) const { return operators_.gain(run); }
  [[nodiscard]] const std::string& family(uint32_t run) const { return operators_.family(run); }
  // Of a run whose output stands for several operators, fused or not dumped between: the one that adds most noise, the
  // most upstream of those.
  [[nodiscard]] uint32_t likeliest_within(uint32_t run) const;
  // All of them, itself last.
  [[nodiscard]] std::vector<uint32_t> within(uint32_t run) const { return search_.within(run); }
  // The limit of an alarm: so high that of a thousand comparisons without a fault one would have such a run, if scores were
  // normal deviates. They are not quite; tests/bench/bench_blame.cpp measures how often it is exceeded.
  [[nodiscard]] double threshold() const { return threshold_; }
  [[nodiscard]] const ReachedLimits& limits() const { return search_.limits(); }
  // What most operators of this pair add, at most.
  [[nodiscard]] double usual_noise() const { return usual_noise_; }
  // The relative error of rounding a value to what the coarser side stores, at most: of parameters and constants.
  [[nodiscard]] double storage_rounding() const { return storage_rounding_; }

 private:
  const RunView& view_;
  const RunOperators operators_;
  InputSearch search_;
  ScoredOutputs outputs_;
  // In this order: each reads what the one before has set in the outputs.
  const double storage_rounding_, usual_noise_, threshold_;
};

}  // namespace msdump
