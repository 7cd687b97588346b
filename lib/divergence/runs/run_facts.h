// The runs of a comparison (graph/flow/run_graph.h): of both dumps together, so that a run has the tensors of either
// side. Operators and tensors are those of the Pairing; rank and step are the reference's if it has the tensor. The
// data flow is that of the reference's IR, else of the candidate's, else of the reference's values.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/cut_evidence.h"
#include "divergence/model/tensor_error.h"
#include "graph/flow/run_graph.h"

namespace msdump {

// `diffs` by Pairing::tensors; `cuts` of runs that are cut differently, else null.
[[nodiscard]] RunGraph paired_runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const std::vector<TensorDiff>& diffs, const CutEvidence* cuts = nullptr);

// Facts about the tensors of a comparison, by their index in Pairing::tensors: verdicts, errors, formats. kNoTensor is one
// that is not known.

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
  [[nodiscard]] bool is_sharded() const { return pairing_.is_sharded; }
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

// Facts about the runs of a comparison: the operators, their names and lines, and what msprobe's names say of each other.

struct SourceLine {
  std::string_view file;
  uint32_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

// Of an operator of the pairing: by the reference's graph, else by the candidate's; none where neither knows it.
[[nodiscard]] std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                uint32_t op);

class RunFacts : public TensorFacts {
 public:
  // As TensorFacts.
  RunFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
           const CutEvidence* cuts);

  [[nodiscard]] const RunGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return graph_.runs(); }
  [[nodiscard]] const OpRun& run(uint32_t index) const { return runs()[index]; }
  [[nodiscard]] const RunPlace& place(uint32_t index) const { return run(index).place; }
  [[nodiscard]] const OpPair& pair(uint32_t index) const { return pairing().operators[run(index).op]; }
  [[nodiscard]] const SequencedOp& op(uint32_t index) const;  // of the reference where it has it
  [[nodiscard]] const std::string& name(uint32_t index) const { return op(index).name; }
  // Of its name, in the order in which names first occur.
  [[nodiscard]] uint32_t name_number(uint32_t index) const { return name_numbers_[index]; }
  [[nodiscard]] bool one_sided(uint32_t index) const;
  // Not the first step of its rank.
  [[nodiscard]] bool is_later_step(uint32_t index) const {
    return place(index).step != first_steps_.at(place(index).rank);
  }
  // One-sided, and no tensor of it is alone for a known reason (Alone): a difference between the networks.
  [[nodiscard]] bool is_surprise(uint32_t index) const { return one_sided(index) && !expected_[run(index).op]; }
  [[nodiscard]] bool of_candidate_only(uint32_t index) const { return pair(index).b == kNoOperator; }
  [[nodiscard]] bool is_backward(uint32_t index) const;  // of msprobe: a backward call, or parameter gradients
  [[nodiscard]] bool is_gradient(uint32_t index) const;  // by its name
  // Runs of an operator of this name on the rank and in the step of a place.
  [[nodiscard]] std::span<const uint32_t> runs_named(std::string_view name, const RunPlace& place) const;
  // Of msprobe, in the place of a run: the backward call that makes these gradients of parameters, and the forward call of
  // a backward call or of such gradients. Empty for any other run.
  [[nodiscard]] std::vector<uint32_t> backward_calls_of(uint32_t index) const;
  [[nodiscard]] std::vector<uint32_t> forward_calls_of(uint32_t index) const;
  // Of two runs that are cut differently: is one of them of the program of the other (CutEvidence)?
  [[nodiscard]] bool same_program(uint32_t one, uint32_t other) const {
    return cuts()->programs[run(one).op] == cuts()->programs[run(other).op];
  }
  // Of runs that are cut differently: the run, or of a collective the one whose output it hands on, of which the candidate's
  // call lacks an input of the reference's, as a bias that is added after the sum over the ranks. It leaves something else.
  // kNoRun: none.
  [[nodiscard]] uint32_t lacking(uint32_t index) const;
  [[nodiscard]] bool lacks_input(uint32_t index) const { return lacking(index) != kNoRun; }
  // Where it is a collective that did not give its ranks what went in; else null.
  [[nodiscard]] const BrokenExchange* broken(uint32_t index) const;
  // The largest rounding to the expected format of what a run reads and writes.
  [[nodiscard]] double expected_rounding(uint32_t index) const;
  // The smallest time stamp of a run's files, of the reference where it has them; none where names have none.
  [[nodiscard]] std::optional<uint64_t> time(uint32_t index) const;
  // Of the operator; none where it is not known.
  [[nodiscard]] std::optional<SourceLine> line(uint32_t index) const {
    return line_of(a(), b(), pairing(), run(index).op);
  }

 private:
  void find_names();
  [[nodiscard]] std::vector<uint32_t> runs_at(const std::optional<std::string>& name, const RunPlace& place) const;

  const RunGraph graph_;
  const std::vector<bool> expected_;                                      // by operator: alone_for_known_reason()
  HashSlots names_;                                                       // of runs, in `named_`
  std::vector<std::vector<uint32_t>> named_;                              // the runs of each name, by rank and step
  std::vector<uint32_t> name_numbers_;                                    // by run: in `named_`
  std::map<std::optional<int64_t>, std::optional<int64_t>> first_steps_;  // by rank
};

}  // namespace msdump
