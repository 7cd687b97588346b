#include "divergence/runs/tensor_facts.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compare/pair/precision.h"
#include "divergence/model/constants.h"

namespace msdump {

TensorFacts::TensorFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                         const std::vector<TensorDiff>& diffs, const CutEvidence* cuts)
    : a_(a),
      b_(b),
      pairing_(pairing),
      diffs_(diffs),
      cuts_(cuts),
      loss_scale_(msdump::loss_scale(diffs)),
      coarser_throughout_(msdump::coarser_throughout(a, b, pairing).has_value()) {
  errors_.reserve(diffs_.size());
  verdicts_.reserve(diffs_.size());
  for (const TensorDiff& diff : diffs_) {
    errors_.push_back(error_of(diff, loss_scale_));
    const bool found = diff.verdict != Verdict::kUnmatched && diff.verdict != Verdict::kSkipped;
    const bool gained_nan = diff.nan_in_a_alone || diff.metrics.nan_a > diff.metrics.nan_b;
    verdicts_.push_back({diff.verdict, found && !diff.mislabelled, gained_nan});
  }
}

bool TensorFacts::is_scaled(uint32_t tensor) const {
  return loss_scale_ != 1 && is_about_times(diffs_[tensor], loss_scale_);
}

bool TensorFacts::is_attribute(uint32_t tensor) const {
  return tensor != kNoTensor && pairing_.tensors[tensor].alone == Alone::kAttribute;
}

bool TensorFacts::any_differs(const std::vector<uint32_t>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return differs(tensor); });
}

bool TensorFacts::layout_known(uint32_t tensor) const {
  if (cuts_ == nullptr || cuts_->known[tensor]) return true;
  const auto& error = errors_[tensor];
  // Of two layouts at once, both may be wrong: the largest of each half of a row is near that of the row.
  double most = cuts_->both_cut ? kMostError / kChangedOnTheWay : kMostError;
  // Values of the same kind have about the same statistics, whichever they are.
  if (error && error->by_statistics) most = kMostError / (kChangedOnTheWay * kChangedOnTheWay);
  return error && !error->discrete && error->relative < most;
}

bool TensorFacts::layout_sure(uint32_t tensor) const {
  if (cuts_ == nullptr || cuts_->alike[tensor]) return true;
  const auto& error = errors_[tensor];
  return layout_known(tensor) && error && (error->discrete || error->relative < kMostError);
}

void TensorFacts::forget(uint32_t tensor) {
  verdicts_[tensor] = {Verdict::kSkipped, false, false};
  errors_[tensor].reset();
}

const std::vector<int64_t>& TensorFacts::ranks_not_finite(uint32_t tensor) const {
  static const std::vector<int64_t> kNowhere;
  if (cuts_ == nullptr) return kNowhere;
  const auto found = cuts_->not_finite.find(tensor);
  return found == cuts_->not_finite.end() ? kNowhere : found->second;
}

bool TensorFacts::any_compared(const std::vector<uint32_t>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return compared(tensor); });
}

double TensorFacts::largest_error(const std::vector<uint32_t>& tensors) const {
  double largest = 0;
  for (const uint32_t tensor : tensors) {
    if (const auto& error = errors_[tensor]) largest = std::max(largest, error->relative);
  }
  return largest;
}

bool TensorFacts::same_in_a(uint32_t left, uint32_t right) const {
  const kernels::PairMetrics &x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_a == y.max_a && x.min_a == y.min_a && x.mean_a == y.mean_a;
}

bool TensorFacts::same_in_b(uint32_t left, uint32_t right) const {
  const kernels::PairMetrics &x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_b == y.max_b && x.min_b == y.min_b && x.mean_b == y.mean_b && diffs_[left].scale == diffs_[right].scale;
}

std::string_view TensorFacts::slot(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.b != kNoTensor ? (*b_.tensors)[both.b].name.slot : (*a_.tensors)[both.a].name.slot;
}

DType TensorFacts::dtype(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.a != kNoTensor ? (*a_.tensors)[both.a].name.dtype : (*b_.tensors)[both.b].name.dtype;
}

std::pair<std::string_view, FolderIdentity> TensorFacts::name_and_place(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  const CompareSide& side = both.b != kNoTensor ? b_ : a_;
  const TensorRecord& record = (*side.tensors)[both.b != kNoTensor ? both.b : both.a];
  return {record.name.op_name, place_of(*side.index, record)};
}

DType TensorFacts::expected_dtype(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  const DType a = both.a != kNoTensor ? (*a_.tensors)[both.a].name.dtype : DType::kUndefined;
  const DType b = both.b != kNoTensor ? (*b_.tensors)[both.b].name.dtype : DType::kUndefined;
  // Tables without a column for it hold values of float32: a roundoff of 0 would make every difference one of the arithmetic.
  if (a == DType::kUndefined && b == DType::kUndefined) return DType::kFloat32;
  if (b == DType::kUndefined) return a;
  return coarser_throughout_ && unit_roundoff(a) > unit_roundoff(b) ? a : b;
}

std::string TensorFacts::parameter_like(uint32_t tensor) const {
  const auto hash = [&](uint32_t i) {
    uint64_t result = 0;
    const auto& metrics = diffs_[i].metrics;
    for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b})
      result = mix_hash(result, std::bit_cast<uint64_t>(value.value_or(0) + 0.0));  // -0 is 0
    return result;
  };
  const auto same_as = [&](uint32_t i) { return [this, i](uint32_t other) { return same_in_b(i, other); }; };
  if (!diffs_[tensor].metrics.max_b) return {};
  if (!parameters_) {
    parameters_.emplace();
    for (uint32_t i = 0; i < pairing_.tensors.size(); ++i) {
      const uint32_t of_b = pairing_.tensors[i].b;
      if (of_b == kNoTensor || (*b_.tensors)[of_b].name.io != Io::kParameter) continue;
      (void)parameters_->find_or_add(hash(i), i, same_as(i));
    }
  }
  const uint32_t found = parameters_->find(hash(tensor), same_as(tensor));
  if (found == HashSlots::kNone) return {};
  const NameFacts& name = (*b_.tensors)[pairing_.tensors[found].b].name;
  return fmt::format("{}:{}", name.op_name, name.slot);
}

void TensorFacts::add_to(InputSummary& summary, uint32_t tensor) const {
  if (!compared(tensor)) return;
  summary.differ = summary.differ || differs(tensor);
  summary.all_same = summary.all_same && is(tensor, Verdict::kSame);
  summary.gained_nan = summary.gained_nan || gained_nan(tensor);
  summary.gained_inf = summary.gained_inf || is(tensor, Verdict::kNan);
  if (const auto& error = errors_[tensor]) summary.largest_error = std::max(summary.largest_error, error->relative);
}

}  // namespace msdump
