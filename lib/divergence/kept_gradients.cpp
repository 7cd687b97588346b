#include "divergence/kept_gradients.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/numbers.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// Means agree if they differ by no more than this share.
constexpr double kNearMean = 0.1;

class KeptSearch {
 public:
  explicit KeptSearch(const RunView& view) : view_(view) {}

  std::optional<KeptGradients> first() {
    for (ExecutionId run{0}; run < view_.runs().size(); ++run) {
      if (view_.one_sided(run)) continue;
      if (view_.is_backward(run) && view_.run(run).inputs.empty()) {
        for (const ExecutionId before : view_.summands_of(run)) add(run, view_.run(run).outputs, outputs_of(before));
        if (view_.summands_of(run).empty()) add(run, view_.run(run).outputs, outputs_of(view_.in_step_before(run)));
      } else if (view_.comes_after_backward(run)) {
        add(run, gradients_read_by(run), gradients_read_by(view_.in_step_before(run)));
      }
    }
    for (auto& [batch, found] : batches_) {
      for (const Side side : kBothSides) {
        std::vector<double>& ratios = found.ratios[side];
        if (ratios.size() < kLeastTensors) continue;
        const double share = quantile_of_unsorted(ratios, 0.5);
        for (double& ratio : ratios) ratio = std::fabs(ratio - share);
        if (share <= 0 || share > 1 + kNearMean) continue;
        if (quantile_of_unsorted(ratios, 0.5) > kNearMean * share) continue;
        KeptGradients& kept = found.kept;
        kept.of_candidate = side == Side::kCandidate;
        kept.share = share;
        kept.at = first_behind(kept);
        return std::move(kept);
      }
    }
    return {};
  }

 private:
  struct Batch {
    Sides<std::vector<double>> ratios;
    KeptGradients kept;
  };

  [[nodiscard]] std::vector<TensorId> gradients_read_by(ExecutionId run) const {
    std::vector<TensorId> tensors;
    if (run == kNoId) return tensors;
    for (const RunInput& input : view_.run(run).inputs) {
      const bool is_gradient = input.producer != kNoId && view_.is_backward(input.producer);
      if (is_gradient && input.tensor != kNoId) tensors.push_back(input.tensor);
    }
    return tensors;
  }
  [[nodiscard]] std::vector<TensorId> outputs_of(ExecutionId run) const {
    return run == kNoId ? std::vector<TensorId>() : view_.run(run).outputs;
  }

  // Compares gradients with those of the batch before, which are right on both sides.
  void add(ExecutionId run, const std::vector<TensorId>& now, const std::vector<TensorId>& before) {
    for (size_t i = 0; i < std::min(now.size(), before.size()); ++i) {
      const TensorId tensor = now[i], last = before[i];
      if (view_.slot(last) != view_.slot(tensor) || !view_.compared(tensor) || !view_.compared(last)) continue;
      const kernels::PairMetrics is = view_.diff(tensor).metrics, was = view_.diff(last).metrics;
      if (!is.mean_a || !is.mean_b || !was.mean_a || !was.mean_b) continue;
      const double kept = (*was.mean_a + *was.mean_b) / 2;
      if (!(std::fabs(kept) > 0) || std::fabs(*was.mean_a - *was.mean_b) > kNearMean * std::fabs(kept)) continue;
      Batch& batch = batches_[view_.place(run).in_step()];
      batch.ratios.a.push_back((*is.mean_a - *is.mean_b) / kept);
      batch.ratios.b.push_back((*is.mean_b - *is.mean_a) / kept);
      batch.kept.tensors.push_back(tensor);
      batch.kept.executions.insert(run);
    }
  }

  // The first execution behind the backward pass; those before it are added to the gradients.
  [[nodiscard]] ExecutionId first_behind(KeptGradients& kept) const {
    const ExecutionId first = *kept.executions.begin();
    for (ExecutionId run = first; run < view_.runs().size() && view_.place(run).is_beside(view_.place(first)); ++run) {
      if (view_.comes_after_backward(run) && !view_.one_sided(run)) return run;
      kept.executions.insert(run);  // gradients whose batch before tells nothing
    }
    return first;
  }

  const RunView& view_;
  std::map<RunPlace::Step, Batch> batches_;
};

}  // namespace

std::optional<KeptGradients> first_kept_gradients(const RunView& view) {
  if (view.is_sharded()) return {};
  return KeptSearch(view).first();
}

}  // namespace msdump
