// Scores of nets whose errors a test sets: equal dumps are made, and each tensor is then given the error that it shall
// have.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/model/noise_model.h"
#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {

class NetOfErrors {
 public:
  static constexpr double kElements = 4096;  // of each tensor

  explicit NetOfErrors(const Trial::Build& build, const TrialOptions& options = {})
      : trial_(build, options), diffs_(trial_.compared().diffs()), view_(made_view()) {
    for (TensorDiff& diff : diffs_) resize(diff, kElements);
  }

  // Of an output, and of the inputs that read it.
  void set_output(std::string_view op, double error, std::string_view slot = "0") {
    for (const OpRun& run : view_.runs()) {
      if (name(run) == op) {
        for (const TensorId tensor : run.outputs) {
          if (view_.slot(tensor) == slot) set(tensor, error);
        }
      }
      for (const RunInput& input : run.inputs) {
        if (input.producer == kNoId || input.tensor == kNoId) continue;
        if (view_.name(input.producer) == op && view_.slot(input.produced) == slot) set(input.tensor, error);
      }
    }
  }
  void set_input(std::string_view op, size_t slot, double error) {
    for (const OpRun& run : view_.runs()) {
      if (name(run) == op) set(run.inputs.at(slot).tensor, error);
    }
  }
  // All tensors of an operator.
  void set_elements(std::string_view op, double elements) {
    for (const OpRun& run : view_.runs()) {
      if (name(run) != op) continue;
      for (const RunInput& input : run.inputs) resize(diffs_[input.tensor], elements);
      for (const TensorId tensor : run.outputs) resize(diffs_[tensor], elements);
    }
  }
  // Of its first output, whose statistics show that the error is this one or larger.
  void set_certain(std::string_view op, double error, int64_t elements) {
    for (const OpRun& run : view_.runs()) {
      if (name(run) != op) continue;
      TensorDiff& diff = diffs_[run.outputs.front()];
      set(run.outputs.front(), error);
      diff.least_error = error;
      diff.shape = Shape{elements};
    }
  }
  // There are no elements from now on.
  void use_statistics() {
    for (TensorDiff& diff : diffs_) {
      diff.by_statistics = true;
      diff.scale = 1;
      diff.shape = Shape{64, 64};
      diff.relative_error = 0.0;
    }
  }

  [[nodiscard]] RunView made_view() const {
    const test::ComparedDumps& compared = trial_.compared();
    return {compared.a(), compared.b(), compared.pairing(), diffs_,
            ModuleTree::of(*compared.b().index, *compared.a().index)};
  }

 private:
  [[nodiscard]] std::string_view name(const OpRun& run) const {
    return view_.name(ExecutionId(&run - view_.runs().data()));
  }
  static void resize(TensorDiff& diff, double elements) {
    if (!has_metrics(diff.verdict)) return;
    kernels::PairMetrics metrics = diff.metrics;
    metrics.count = metrics.equal = static_cast<uint64_t>(elements);
    diff.metrics = metrics;
  }
  void set(TensorId tensor, double error) {
    TensorDiff& diff = diffs_[tensor];
    diff.verdict = error == 0 ? Verdict::kSame : Verdict::kDiffer;
    if (diff.by_statistics) {
      diff.relative_error = error;
      return;
    }
    kernels::PairMetrics metrics = diff.metrics;
    const double rms = std::hypot(*metrics.mean_b, *metrics.std_b);
    metrics.l2_distance = error * rms * std::sqrt(static_cast<double>(metrics.count));
    diff.metrics = metrics;
  }

  const Trial trial_;
  std::vector<TensorDiff> diffs_;
  const RunView view_;
};

class ScoredNet {
 public:
  explicit ScoredNet(const NetOfErrors& net) : view(net.made_view()), model(view) {}

  [[nodiscard]] ExecutionId run(std::string_view name) const {
    for (ExecutionId run{0}; run < view.runs().size(); ++run) {
      if (view.name(run) == name) return run;
    }
    FAIL("no run of " << name);
    return kNoId;
  }
  [[nodiscard]] const ScoredOutput& operator[](std::string_view name) const {
    const auto outputs = model.outputs(run(name));
    REQUIRE_FALSE(outputs.empty());
    return outputs.front();
  }
  [[nodiscard]] bool alarmed(std::string_view name) const {
    const ScoredOutput& output = (*this)[name];
    return output.judged() && output.score > model.threshold();
  }

  const RunView view;
  const NoiseModel model;
};

// Default/TYPE-opI.
inline std::string numbered(std::string_view type, int i) {
  return "Default/" + std::string(type) + "-op" + std::to_string(i);
}

}  // namespace msdump
