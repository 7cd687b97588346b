// RunFacts: facts about the tensors of a comparison and the executions of its operators ("runs" in the names). An
// execution has the tensors of both dumps. Operators and tensors are indices of the Pairing; rank and step are the
// reference's if it has the tensor. The data flow is that of the reference's IR, else of the candidate's, else of the
// reference's values. "Sharded" means that the sides are sharded differently: is_sharded() is true, and `placements` is not
// null.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/model/tensor_error.h"
#include "divergence/placement_evidence.h"
#include "graph/flow/run_graph.h"

namespace msdump {

// The executions and the edges between them. `diffs` is by Pairing::tensors; `placements` is null unless sharded.
[[nodiscard]] RunGraph paired_runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const std::vector<TensorDiff>& diffs, const PlacementEvidence* placements = nullptr);

// Facts about tensors, which are indices of Pairing::tensors; kNoId is an unknown one.

// Summary of tensors that went into an operator together.
struct InputSummary {
  bool differ = false;
  bool all_same = true;                         // all are kSame
  bool gained_nan = false, gained_inf = false;  // more NaN than in the reference; NaN or infinities on one side only
  double largest_error = 0;
};

class TensorFacts {
 public:
  // `placements` is null unless sharded. Everything that the arguments refer to must outlive this.
  TensorFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
              const PlacementEvidence* placements);

  [[nodiscard]] const CompareSide& a() const { return a_; }
  [[nodiscard]] const CompareSide& b() const { return b_; }
  [[nodiscard]] const Pairing& pairing() const { return pairing_; }
  [[nodiscard]] const PlacementEvidence* placements() const { return placements_; }
  [[nodiscard]] bool is_sharded() const { return pairing_.is_sharded; }
  // True if the sides use different frameworks. Their operators and arguments differ, so one-sided ones prove nothing.
  [[nodiscard]] bool other_framework() const { return pairing_.other_framework; }
  // True if the candidate computes in a coarser dtype throughout (compare/pair/precision.h).
  [[nodiscard]] bool coarser_throughout() const { return coarser_throughout_; }

  [[nodiscard]] size_t tensors() const { return diffs_.size(); }
  [[nodiscard]] const TensorDiff& diff(TensorId tensor) const { return diffs_[tensor]; }
  // The error, with the loss scale divided out; none if it is not known. That of a tensor which is zero but for rounding is
  // relative to the terms that cancel.
  [[nodiscard]] std::optional<TensorError> error(TensorId tensor) const;
  // True if the tensor is zero but for rounding in the reference.
  [[nodiscard]] bool cancels(TensorId tensor) const { return tensor != kNoId && verdicts_[tensor].cancels; }
  [[nodiscard]] double loss_scale() const { return loss_scale_; }
  // True if the candidate's values are about loss_scale() times the reference's. False without a loss scale.
  [[nodiscard]] bool is_scaled(TensorId tensor) const;
  [[nodiscard]] bool is(TensorId tensor, Verdict verdict) const {
    return tensor != kNoId && verdicts_[tensor].verdict == verdict;
  }
  [[nodiscard]] bool compared(TensorId tensor) const { return tensor != kNoId && verdicts_[tensor].compared; }
  // False for a tensor that only one side has.
  [[nodiscard]] bool differs(TensorId tensor) const {
    return compared(tensor) && is_difference(verdicts_[tensor].verdict);
  }
  // True if the tensor was skipped because the other side has it as an attribute of the operator.
  [[nodiscard]] bool is_attribute(TensorId tensor) const;
  [[nodiscard]] Alone alone(TensorId tensor) const { return pairing_.tensors[tensor].alone; }
  [[nodiscard]] bool is_of_candidate(TensorId tensor) const { return pairing_.tensors[tensor].a != kNoId; }
  [[nodiscard]] bool any_differs(const std::vector<TensorId>& tensors) const;
  [[nodiscard]] bool any_compared(const std::vector<TensorId>& tensors) const;
  // False if the difference may come from a wrong placement, which leaves an error as large as the values.
  [[nodiscard]] bool layout_known(TensorId tensor) const;
  // Stricter: the tensor's own values fit the placement. One that similar tensors have may be wrong after a fault.
  [[nodiscard]] bool layout_sure(TensorId tensor) const;
  // True if the placement search established the placement, however large the error is.
  [[nodiscard]] bool layout_proven(TensorId tensor) const {
    return placements_ == nullptr || placements_->known[tensor];
  }
  // Treats the tensor as not compared from now on. It is for differences that mean nothing: row numbers that are local to
  // a rank, or values that later executions show to be right.
  void forget(TensorId tensor);
  [[nodiscard]] bool is_forgotten(TensorId tensor) const {
    return placements_ != nullptr && tensor != kNoId && !verdicts_[tensor].compared &&
           has_metrics(diffs_[tensor].verdict);
  }
  [[nodiscard]] bool gained_nan(TensorId tensor) const { return tensor != kNoId && verdicts_[tensor].gained_nan; }
  // Sharded: the candidate's ranks on which the tensor is not finite, although the reference is.
  [[nodiscard]] const std::vector<int64_t>& ranks_not_finite(TensorId tensor) const;
  [[nodiscard]] double largest_error(const std::vector<TensorId>& tensors) const;
  // True if two tensors have the same range and mean in the candidate, or in the reference. Unknown values are the same.
  [[nodiscard]] bool same_in_a(TensorId left, TensorId right) const;
  [[nodiscard]] bool same_in_b(TensorId left, TensorId right) const;
  // True if the candidate's own IR has this edge, too: a script may read another value than the reference's.
  [[nodiscard]] bool is_candidate_edge(TensorId input, TensorId written) const;
  // True if the input differs, and is what its producer wrote, by checksums or statistics, in the reference alone.
  [[nodiscard]] bool changed_in_candidate(TensorId input, TensorId written) const;
  [[nodiscard]] std::string_view slot(TensorId tensor) const;  // the reference's, if it has the tensor
  // The operator's name as the file spells it, with its rank and step.
  [[nodiscard]] std::pair<std::string_view, FolderIdentity> name_and_place(TensorId tensor) const;
  // The dtype whose rounding is expected: the reference's, or a coarser one if the candidate is coarser throughout.
  [[nodiscard]] DType expected_dtype(TensorId tensor) const;
  [[nodiscard]] DType dtype(TensorId tensor) const;  // the candidate's, if it has the tensor
  // "NAME:slot" of a module parameter in the reference with the same statistics as the tensor; empty if there is none.
  [[nodiscard]] std::string parameter_like(TensorId tensor) const;
  // Adds a tensor, unless it was not compared.
  void add_to(InputSummary& summary, TensorId tensor) const;

 protected:
  // Measures the error of the tensor by this size of the terms that it is a sum of, if they cancel in the reference.
  void measure_by_terms(TensorId tensor, double rms);

 private:
  const CompareSide a_, b_;  // handles; what they refer to outlives this
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const PlacementEvidence* const placements_;
  const double loss_scale_;
  const bool coarser_throughout_;
  struct TensorVerdict {  // the fields that are read most often, instead of a whole TensorDiff
    Verdict verdict;
    bool compared = false, gained_nan = false, forgotten = false, cancels = false;
  };
  std::vector<TensorVerdict> verdicts_;  // by tensor
  std::map<TensorId, double> terms_;     // root mean square, of tensors that are zero but for rounding
  // Module parameters of the reference by their values, in Pairing::tensors; filled on first use.
  mutable std::optional<HashSlots> parameters_;
  mutable std::optional<std::map<TensorId, TensorId>> edges_;  // of the candidate, from its inputs to outputs; likewise
};

// Facts about executions: operators, names, source lines, and the calls that msprobe's names connect.

struct SourceLine {
  std::string_view file;
  uint32_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

// The source line of an operator of the pairing, from the reference's graph, else the candidate's.
[[nodiscard]] std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                OperatorId op);

class RunFacts : public TensorFacts {
 public:
  RunFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
           const PlacementEvidence* placements);

  [[nodiscard]] const RunGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return graph_.runs(); }
  [[nodiscard]] const OpRun& run(ExecutionId index) const { return runs()[index]; }
  [[nodiscard]] const RunPlace& place(ExecutionId index) const { return run(index).place; }
  [[nodiscard]] const OpPair& pair(ExecutionId index) const { return pairing().operators[run(index).op]; }
  [[nodiscard]] const SequencedOp& op(ExecutionId index) const;  // the reference's, if it has the operator
  [[nodiscard]] std::string_view name(ExecutionId index) const { return op(index).name; }
  // Names are numbered in the order in which they first occur.
  [[nodiscard]] uint32_t name_number(ExecutionId index) const { return name_numbers_[index]; }
  [[nodiscard]] bool one_sided(ExecutionId index) const;
  // True unless the execution is in the first step of its rank, before which no step was made.
  [[nodiscard]] bool is_later_step(ExecutionId index) const {
    return !is_first_step(index) || error_at_start(place(index)) > 0;
  }
  // True in the first dumped step of its rank.
  [[nodiscard]] bool is_first_step(ExecutionId index) const {
    return place(index).step == first_steps_.at({place(index).rank, place(index).dump}).step;
  }
  // The relative error that steps before the first dumped one have left: the upper quartile over the values that enter its forward pass,
  // weights nearly all of them. 0 if the first dumped step is step 0, or has no number.
  [[nodiscard]] double error_at_start(const RunPlace& place) const {
    return first_steps_.at({place.rank, place.dump}).error;
  }
  // True if only one side has the operator, for no known reason (Alone): the networks differ.
  [[nodiscard]] bool is_surprise(ExecutionId index) const { return one_sided(index) && !expected_[run(index).op]; }
  [[nodiscard]] bool of_candidate_only(ExecutionId index) const { return pair(index).b == kNoId; }
  // True for a backward call of msprobe, or parameter gradients.
  [[nodiscard]] bool is_backward(ExecutionId index) const { return backward_[index]; }
  [[nodiscard]] bool is_gradient(ExecutionId index) const;  // by its name
  // True for a forward call after a backward pass of its step, and before the next forward pass: the optimizer, and what comes
  // before it.
  [[nodiscard]] bool comes_after_backward(ExecutionId index) const { return after_backward_[index]; }
  // The largest scale of gradients, and of values of unknown source, that executions of this type read in this step after the
  // backward pass.
  [[nodiscard]] double largest_scale_beside(ExecutionId index) const;
  // Executions of the operator of this name on the rank and in the step of `place`.
  [[nodiscard]] std::span<const ExecutionId> runs_named(std::string_view name, const RunPlace& place) const;
  // All executions of the operators of this name, ascending.
  [[nodiscard]] std::span<const ExecutionId> runs_of_name(ExecutionId index) const {
    return named_[name_numbers_[index]];
  }
  // The execution of the same operator in the nearest step before, on the same rank; kNoId if there is none.
  [[nodiscard]] ExecutionId in_step_before(ExecutionId index) const;
  // For msprobe, in the same place: the backward calls that wrote these parameter gradients; the forward calls of a
  // backward call or of such gradients; the gradients of the batch before, which they were added to. Empty for any other
  // execution.
  [[nodiscard]] std::vector<ExecutionId> backward_calls_of(ExecutionId index) const;
  [[nodiscard]] std::vector<ExecutionId> forward_calls_of(ExecutionId index) const;
  [[nodiscard]] std::vector<ExecutionId> summands_of(ExecutionId index) const;
  // True if the same ranks make both calls (PlacementEvidence::programs). Only if sharded.
  [[nodiscard]] bool same_program(ExecutionId one, ExecutionId other) const {
    return placements()->programs[run(one).op] == placements()->programs[run(other).op];
  }
  // The execution whose candidate call lacks an input of the reference's, such as a bias that is added after the
  // all-reduce. Its output is then another value. It is this execution, or, for a collective, the producer of an input.
  // kNoId if there is none, or unless sharded.
  [[nodiscard]] ExecutionId lacking(ExecutionId index) const;
  [[nodiscard]] bool lacks_input(ExecutionId index) const { return lacking(index) != kNoId; }
  // The finding if it is a collective whose ranks did not receive what was sent; else null.
  [[nodiscard]] const BrokenExchange* broken(ExecutionId index) const;
  // The largest unit roundoff of the expected dtypes of its inputs and outputs.
  [[nodiscard]] double expected_rounding(ExecutionId index) const;
  [[nodiscard]] std::optional<SourceLine> line(ExecutionId index) const {
    return line_of(a(), b(), pairing(), run(index).op);
  }

 private:
  void find_names();
  void find_passes();
  void find_errors_at_start();
  void find_cancelled(ExecutionId index);  // sums of terms that cancel, among its gradients
  [[nodiscard]] bool enters_update(const RunInput& input) const;
  [[nodiscard]] double rms_of(TensorId tensor) const;  // of the reference; 0 if it is not known
  [[nodiscard]] std::vector<ExecutionId> runs_beside(ExecutionId index, const std::optional<std::string>& name) const;

  const RunGraph graph_;
  const std::vector<bool> expected_;             // by operator: alone_for_known_reason()
  HashSlots names_;                              // of executions, as indices of `named_`
  std::vector<std::vector<ExecutionId>> named_;  // the runs of each name, by rank and step
  std::vector<uint32_t> name_numbers_;           // by run: in `named_`
  struct FirstStep {
    std::optional<int64_t> step;
    double error = 0;  // error_at_start()
  };
  std::map<std::pair<std::optional<int64_t>, uint32_t>, FirstStep> first_steps_;  // by rank and dump
  std::vector<bool> backward_, after_backward_;                                   // by run
  using StepOfType = std::pair<RunPlace::Step, std::string_view>;                 // with the rank
  std::map<StepOfType, double> scales_;                                           // largest_scale_beside()
};

}  // namespace msdump
