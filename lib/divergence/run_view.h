// Facts about the runs of a comparison: names, partners, modules, and which outputs count. divergence/divergence.h judges
// by them.
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

#include "base/hash_slots.h"
#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/model/tensor_error.h"
#include "divergence/paired_runs.h"

namespace msdump {

struct SourceLine {
  std::string_view file;
  uint32_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

// Of an operator of the pairing: by the reference's graph, else by the candidate's; none where neither knows it.
[[nodiscard]] std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                uint32_t op);

// Tensors that went into an operator together.
struct InputSummary {
  bool differ = false;
  bool all_same = true;                         // bit for bit
  bool gained_nan = false, gained_inf = false;  // that the reference lacks
  double largest_error = 0;
};

// Collective operations: what goes into one of `members` comes out of all of them.
struct Collectives {
  std::vector<std::vector<uint32_t>> members;  // runs of one operation on the ranks of its group
  std::vector<uint32_t> at;                    // by run: in `members`; kNoRun for any other operator
};

class RunView {
 public:
  RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
          const ModuleTree& modules, const CutEvidence* cuts = nullptr);

  // ---- tensors, by their index in Pairing::tensors; kNoTensor is one that is not known

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
  // Of runs that are cut differently: was the tensor put together rightly, so that what differs is a difference? Another
  // layout leaves an error as large as the values.
  [[nodiscard]] bool layout_known(uint32_t tensor) const;
  // Known whatever the values are.
  [[nodiscard]] bool layout_proven(uint32_t tensor) const { return cuts_ == nullptr || cuts_->known[tensor]; }
  // Not known, and what was compared says nothing: the numbers of a rank's own rows, or values that later ones show to be
  // right. As if the tensor had not been compared.
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
  // The format whose rounding is to be expected: the reference's, or the coarser where the candidate is coarser throughout.
  [[nodiscard]] DType expected_dtype(uint32_t tensor) const;
  // The largest rounding to the expected format of what a run reads and writes.
  [[nodiscard]] double expected_rounding(uint32_t run) const;
  [[nodiscard]] DType dtype(uint32_t tensor) const;  // of the candidate where it has the tensor

  // ---- runs

  [[nodiscard]] const RunGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return graph_.runs(); }
  [[nodiscard]] const OpRun& run(uint32_t index) const { return runs()[index]; }
  [[nodiscard]] const RunPlace& place(uint32_t index) const { return run(index).place; }
  [[nodiscard]] const OpPair& pair(uint32_t index) const { return pairing_.operators[run(index).op]; }
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
  // Runs of an operator of this name on the rank and in the step of a place.
  [[nodiscard]] std::span<const uint32_t> runs_named(std::string_view name, const RunPlace& place) const;
  // Of msprobe, in the place of a run: the backward call that makes these gradients of parameters, and the forward call of
  // a backward call or of such gradients. Empty for any other run.
  [[nodiscard]] std::vector<uint32_t> backward_calls_of(uint32_t index) const;
  [[nodiscard]] std::vector<uint32_t> forward_calls_of(uint32_t index) const;
  // Of two runs that are cut differently: is one of them of the program of the other (CutEvidence)?
  [[nodiscard]] bool same_program(uint32_t one, uint32_t other) const {
    return cuts_->programs[run(one).op] == cuts_->programs[run(other).op];
  }
  // Where it is a collective that did not give its ranks what went in; else null.
  [[nodiscard]] const BrokenExchange* broken(uint32_t index) const;
  // Does the operator exchange values between ranks?
  [[nodiscard]] bool is_collective(uint32_t index) const { return collectives_.at[index] != kNoRun; }
  [[nodiscard]] const Collectives& collectives() const { return collectives_; }
  // The inputs of the collective operation of this name in the step of a run, on the ranks of its group: all ranks where
  // the dump does not name the group.
  [[nodiscard]] const InputSummary& inputs_of_group(uint32_t index) const {
    return inputs_of_groups_[collectives_.at[index]];
  }
  // The runs inside a module, of its rank and step, ascending; empty for any other operator.
  [[nodiscard]] const std::vector<uint32_t>& inside(uint32_t index) const;

  // The outputs that count. A differing output does not count if every run that reads it got an equal input: the dump
  // does not show what was passed on. The inputs of readers stand in for outputs that were not dumped.
  [[nodiscard]] std::vector<uint32_t> outputs(uint32_t index) const;

  // Of runs that are cut differently, where each rank may compute with parts in its own way: do its outputs agree although
  // its inputs do not?
  [[nodiscard]] bool evens_out(uint32_t index) const;

  // Of such runs: does every output differ, and did no reader get what differs?
  [[nodiscard]] bool heals(uint32_t index) const;

  // Were outputs compared, and does none of them differ?
  [[nodiscard]] bool all_agree(uint32_t index) const;

  // The parameter of a module in the reference that holds the same values as a tensor: "NAME:slot"; empty for none.
  [[nodiscard]] std::string parameter_like(uint32_t tensor) const;

  // The frameworks have different operators and arguments: what only one side has is then no evidence.
  [[nodiscard]] bool other_framework() const { return pairing_.other_framework; }
  [[nodiscard]] bool of_cuts() const { return pairing_.of_cuts; }
  // compare/pair/precision.h
  [[nodiscard]] bool coarser_throughout() const { return coarser_throughout_; }
  // Adds a tensor that was compared.
  void add_to(InputSummary& summary, uint32_t tensor) const;
  // By its name.
  [[nodiscard]] bool is_gradient(uint32_t index) const;
  // The smallest time stamp of a run's files, of the reference where it has them; none where names have none.
  [[nodiscard]] std::optional<uint64_t> time(uint32_t index) const;

  // Of the operator; none where it is not known.
  [[nodiscard]] std::optional<SourceLine> line(uint32_t index) const {
    return line_of(a_, b_, pairing_, run(index).op);
  }

 private:
  struct CollectiveCall {  // of one rank
    std::string_view name;
    std::optional<int64_t> rank, step;
    auto operator<=>(const CollectiveCall&) const = default;
  };
  void find_errors();
  void find_names();
  void find_collectives();
  [[nodiscard]] std::string group_by_ir(uint32_t index) const;
  void find_groups_of_calls(const CompareSide& side);
  void find_not_passed_on();
  void forget_local_numbers();
  void forget_made_up();
  void forget(uint32_t tensor);
  [[nodiscard]] bool is_mended(uint32_t output, uint32_t input) const;
  void find_modules(const ModuleTree& modules);
  [[nodiscard]] std::vector<uint32_t> runs_at(const std::optional<std::string>& name, const RunPlace& place) const;

  const CompareSide a_, b_;  // handles: what they point to outlives this
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  struct TensorVerdict {  // what is asked most, in place of a whole TensorDiff
    Verdict verdict;
    bool compared, gained_nan;
  };
  std::vector<TensorVerdict> verdicts_;  // by tensor
  const RunGraph graph_;
  const CutEvidence* const cuts_;             // null where the runs are not cut differently
  HashSlots names_;                           // of runs, in `named_`
  std::vector<std::vector<uint32_t>> named_;  // the runs of each name, by rank and step
  std::vector<uint32_t> name_numbers_;        // by run: in `named_`
  Collectives collectives_;
  std::vector<InputSummary> inputs_of_groups_;  // by place in Collectives::members
  // By msprobe's arguments: the ranks or the name of the group.
  std::map<CollectiveCall, std::string> groups_of_calls_;
  std::vector<std::vector<uint32_t>> inside_;  // by module; empty where there are none
  std::vector<bool> not_passed_on_;            // by tensor
  std::vector<bool> mended_;                   // by tensor: what reads it got much less of the error
  const std::vector<bool> expected_;           // by operator: alone_for_known_reason()
  // Parameters of the reference by their values, in Pairing::tensors; made on first use.
  mutable std::optional<HashSlots> parameters_;
  std::map<std::optional<int64_t>, std::optional<int64_t>> first_steps_;  // by rank
  double loss_scale_ = 1;
  std::vector<std::optional<TensorError>> errors_;  // by tensor
  bool coarser_throughout_ = false;
};

}  // namespace msdump
