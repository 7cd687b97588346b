#include "divergence/roots/agreement_behind.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// The most operators in a row that differ where both sides write the same in two ways.
constexpr size_t kMostRewritten = 12;

// The median error of the outputs that were written before the first root, and before any execution that only one side
// has.
double median_error_before(const RunView& view, ExecutionId root) {
  std::vector<double> errors;
  for (ExecutionId run{0}; run < root && !view.one_sided(run); ++run) {
    for (const TensorId output : view.run(run).outputs) {
      const auto error = view.compared(output) ? view.error(output) : std::nullopt;
      if (error && !error->discrete && std::isfinite(error->relative)) errors.push_back(error->relative);
    }
  }
  return errors.empty() ? 0 : quantile_of_unsorted(errors, 0.5);
}

}  // namespace

AgreementBehind::AgreementBehind(const RunView& view, ExecutionId first_root)
    : view_(view),
      most_(kChangedOnTheWay *
            std::max(kMostRoundings * unit_roundoff(DType::kFloat32), median_error_before(view, first_root))),
      behind_(view.runs().size()) {
  size_t behind = 0, in_a_row = 0, longest = 0;
  bool last_agrees = true;
  for (size_t i = behind_.size(); i-- > 0;) {
    const ExecutionId run(i);
    if (i + 1 == behind_.size() || view_.place(ExecutionId(i + 1)).rank != view_.place(run).rank)
      behind = in_a_row = longest = 0;
    behind_[run] = behind > 2 * kMostRewritten && longest <= kMostRewritten && last_agrees;
    if (!is_known(run)) continue;
    const auto& outputs = view_.run(run).outputs;
    const bool all = std::all_of(outputs.begin(), outputs.end(), [&](TensorId tensor) { return agrees(tensor); });
    if (behind++ == 0) last_agrees = all;
    in_a_row = all ? 0 : in_a_row + 1;
    longest = std::max(longest, in_a_row);
  }
}

bool AgreementBehind::is_known(ExecutionId run) const {
  const auto& outputs = view_.run(run).outputs;
  return !view_.one_sided(run) && std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
    return view_.compared(tensor) && view_.error(tensor);
  });
}

bool AgreementBehind::agrees(TensorId tensor) const {
  if (!view_.compared(tensor)) return true;
  const auto error = view_.error(tensor);
  if (!error || view_.is_scaled(tensor)) return !view_.differs(tensor);
  return error->relative <= (error->discrete ? 0 : most_);
}

}  // namespace msdump
