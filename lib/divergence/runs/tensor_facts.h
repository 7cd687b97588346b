// Facts about the tensors of a comparison, by their index in Pairing::tensors: verdicts, errors, formats. kNoTensor is one
// that is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_slots.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/cuts/cut_evidence.h"
#include "divergence/model/tensor_error.h"

namespace msdump {

// Tensors that went into an operator together.
struct InputSummary {
  bool differ = false;
  bool all_same = true;                         // bit for bit
  bool gained_nan = false, gained_inf = false;  // that the reference lacks
  double largest_error = 0;
};

class TensorFacts {
 public:
  // `cuts` of runs that are cut differently, else null. What the arguments refer to must outlive this.
  TensorFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
              const CutEvidence* cuts);

  [[nodiscard]] const CompareSide& a() const { return a_; }
  [[nodiscard]] const CompareSide& b() const { return b_; }
  [[nodiscard]] const Pairing& pairing() const { return pairing_; }
  [[nodiscard]] const CutEvidence* cuts() const { return cuts_; }
  [[nodiscard]] bool of_cuts() const { return pairing_.of_cuts; }
  // The frameworks have different operators and arguments: what only one side has is then no evidence.
  [[nodiscard]] bool other_framework() const { return pairing_.other_framework; }
  // compare/pair/precision.h
  [[nodiscard]] bool coarser_throughout() const { return coarser_throughout_; }

  [[nodiscard]] size_t tensors() const { return diffs_.size(); }
  [[nodiscard]] const TensorDiff& diff(uint32_t tensor) const { return diffs_[tensor]; }
  // In the units of the noise model, the scale of the loss divided out; no value where nothing is known.
  [[nodiscard]] const std::optional<TensorError>& error(uint32_t tensor) const { return errors_[tensor]; }
  [[nodiscard]] double loss_scale() const { return loss_scale_; }
  // Is it larger than the reference's by about the scale of the loss?
  [[nodiscard]] bool is_scaled(uint32_t tensor) const;
  [[nodiscard]] bool is(uint32_t tensor, Verdict verdict) const {
    return tensor != kNoTensor && verdicts_[tensor].verdict == verdict;
  }
  [[nodiscard]] bool compared(uint32_t tensor) const { return tensor != kNoTensor && verdicts_[tensor].compared; }
  // False for a tensor that only one side has.
  [[nodiscard]] bool differs(uint32_t tensor) const {
    return compared(tensor) && is_difference(verdicts_[tensor].verdict);
  }
  // Skipped, because the other side has it as an attribute of the operator.
  [[nodiscard]] bool is_attribute(uint32_t tensor) const;
  [[nodiscard]] Alone alone(uint32_t tensor) const { return pairing_.tensors[tensor].alone; }
  [[nodiscard]] bool is_of_candidate(uint32_t tensor) const { return pairing_.tensors[tensor].a != kNoTensor; }
  [[nodiscard]] bool any_differs(const std::vector<uint32_t>& tensors) const;
  [[nodiscard]] bool any_compared(const std::vector<uint32_t>& tensors) const;
  // Of runs that are cut differently: was the tensor put together rightly, so that what differs is a difference? Another
  // layout leaves an error as large as the values.
  [[nodiscard]] bool layout_known(uint32_t tensor) const;
  // By its own values, and not by those of its kind alone: after a fault they may be of another layout.
  [[nodiscard]] bool layout_sure(uint32_t tensor) const;
  // Known whatever the values are.
  [[nodiscard]] bool layout_proven(uint32_t tensor) const { return cuts_ == nullptr || cuts_->known[tensor]; }
  // And nearly all elements agree under it. False for runs that are not cut differently.
  [[nodiscard]] bool layout_alike(uint32_t tensor) const { return cuts_ != nullptr && cuts_->alike[tensor]; }
  // From now on as if the tensor had not been compared: the layout is not known, and what was compared says nothing, as the
  // numbers of a rank's own rows, or values that later ones show to be right.
  void forget(uint32_t tensor);
  [[nodiscard]] bool is_forgotten(uint32_t tensor) const {
    return cuts_ != nullptr && tensor != kNoTensor && !verdicts_[tensor].compared &&
           has_metrics(diffs_[tensor].verdict);
  }
  [[nodiscard]] bool gained_nan(uint32_t tensor) const { return tensor != kNoTensor && verdicts_[tensor].gained_nan; }
  // Of runs that are cut differently: the candidate's ranks on which it is not finite, although the reference is.
  [[nodiscard]] const std::vector<int64_t>& ranks_not_finite(uint32_t tensor) const;
  [[nodiscard]] double largest_error(const std::vector<uint32_t>& tensors) const;
  // Have two tensors the same range and mean in the candidate, or in the reference? Also where neither's are known.
  [[nodiscard]] bool same_in_a(uint32_t left, uint32_t right) const;
  [[nodiscard]] bool same_in_b(uint32_t left, uint32_t right) const;
  [[nodiscard]] std::string_view slot(uint32_t tensor) const;  // the reference's, where it has the tensor
  // The name of its operator as the file spells it, and its rank and step.
  [[nodiscard]] std::pair<std::string_view, FolderIdentity> name_and_place(uint32_t tensor) const;
  // The format whose rounding is to be expected: the reference's, or the coarser where the candidate is coarser throughout.
  [[nodiscard]] DType expected_dtype(uint32_t tensor) const;
  [[nodiscard]] DType dtype(uint32_t tensor) const;  // of the candidate where it has the tensor
  // The parameter of a module in the reference that holds the same values as a tensor: "NAME:slot"; empty for none.
  [[nodiscard]] std::string parameter_like(uint32_t tensor) const;
  // Adds a tensor that was compared.
  void add_to(InputSummary& summary, uint32_t tensor) const;

 private:
  const CompareSide a_, b_;  // handles: what they point to outlives this
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const CutEvidence* const cuts_;
  const double loss_scale_;
  const bool coarser_throughout_;
  struct TensorVerdict {  // what is asked most, in place of a whole TensorDiff
    Verdict verdict;
    bool compared, gained_nan;
  };
  std::vector<TensorVerdict> verdicts_;             // by tensor
  std::vector<std::optional<TensorError>> errors_;  // by tensor
  // Parameters of the reference by their values, in Pairing::tensors; made on first use.
  mutable std::optional<HashSlots> parameters_;
};

}  // namespace msdump
