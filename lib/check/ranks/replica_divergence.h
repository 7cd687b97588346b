// Replica divergence: the first place at which a tensor that should be equal on several ranks is not.
//
// Data-parallel ranks hold copies ("replicas") of parameters and compute equal activations from equal inputs. For every such
// tensor, find_divergences() reports the earliest step at which a group of equal ranks splits. is_root_cause() tells which
// divergences follow from an earlier one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/replica_rules.h"
#include "check/rules/rule_context.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

using RowId = Index<class ReplicaTable>;
using StepKey = std::pair<bool, int64_t>;  // known_first()

struct ReplicaCell {
  RowId row;
  StepKey step;
  int64_t rank = 0;
  TensorId tensor;
};

// Cells of one row in one step, by rank.
using ReplicaCells = std::span<const ReplicaCell>;

// The tensors of a dump over steps and ranks. A row is one input, output or parameter of one operator; a cell is its tensor
// on one rank in one step. Ranks whose cells are equal in the first step of a row hold replicas.
//
// Memory: 44 bytes a tensor. Cost: a sort of the tensors.
class ReplicaTable {
 public:
  // Leaves out tensors without a rank, those with the same place as another, and those that were not read.
  ReplicaTable(const CheckedDump& dump, const FactsReader& facts);

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(begin_.size() - 1); }
  // The cells of the row, a span for each step.
  [[nodiscard]] std::vector<ReplicaCells> steps_of(RowId row) const;
  [[nodiscard]] ReplicaCells cells_of(RowId row) const {
    return std::span(cells_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  [[nodiscard]] RowId row_of(TensorId tensor) const { return row_of_[tensor]; }  // kNoId: left out
  // kNoId: the row has no tensor there.
  [[nodiscard]] TensorId at(RowId row, const StepKey& step, int64_t rank) const;

 private:
  std::vector<ReplicaCell> cells_;  // by row, step, rank
  std::vector<size_t> begin_;       // by row, and the end
  std::vector<RowId> row_of_;       // by tensor
};

// Classes of equal tensors: positions in the span in ascending order, the classes by their first.
[[nodiscard]] std::vector<std::vector<size_t>> equal_cells(ReplicaCells cells, const FactsReader& facts);

// True for a value that the network keeps: a parameter, as it is when it is read (msprobe) or at the end of the step.
[[nodiscard]] bool is_kept_tensor(const CheckedDump& dump, TensorId tensor);

// Sibling ranks: those that hold the same parameters, by their values in the first step. A row is external if it is a
// parameter, or an input that no operator of the dump computed. External rows that are not constant vote for their classes
// of equal ranks. Of the classes with several votes that contain a rank, the smallest wins: tensor-parallel ranks share some
// parameters, data-parallel ranks all.
// Returns classes of at least two ranks in ascending order; a rank is in one of them at most.
[[nodiscard]] std::vector<std::vector<int64_t>> sibling_ranks(
    const FactsReader& facts, const ReplicaTable& table, const std::function<bool(const ReplicaCell&)>& is_external);

struct ReplicaDivergence {
  StepKey step;
  uint64_t execution = 0;  // index among the executions of that step and rank
  RowId row;
  TensorId tensor, sibling;
  std::vector<int64_t> diverged;  // minority of the group; empty if it has no majority
  std::vector<int64_t> group;     // ranks that were equal, or should be
  bool since_first_step = false;  // never equal: initialised or loaded differently
  FirstDivergence::Kind kind = FirstDivergence::Kind::kOperator;

  [[nodiscard]] const std::vector<int64_t>& diverged_or_all() const { return diverged.empty() ? group : diverged; }
};

class DivergenceFinder {
 public:
  // All arguments must outlive it.
  DivergenceFinder(const RuleContext& context, const ReplicaTable& table);

  // The divergences of all rows of the table, in the order of step and execution.
  [[nodiscard]] std::vector<ReplicaDivergence> find_divergences() const;
  // True if no earlier divergence explains it. Sets its kind, and replaces an input by the parameter that it holds.
  [[nodiscard]] bool is_root_cause(ReplicaDivergence& divergence) const;
  // The operator that explains a parameter that first differs in step N. It ran in a step before N, read equal inputs, a
  // parameter among them, and wrote different outputs on the two ranks. None if no such operator was dumped.
  [[nodiscard]] std::optional<ReplicaDivergence> find_cause(const ReplicaDivergence& divergence) const;
  // The earlier output that holds the diverged value on one rank while its sibling holds the other. None if no dumped
  // operator wrote it.
  [[nodiscard]] std::optional<TensorId> find_producer(const ReplicaDivergence& divergence) const;
  // Ranks of the group that still hold their value of the first step.
  [[nodiscard]] std::vector<int64_t> unchanged_ranks(const ReplicaDivergence& divergence) const;

 private:
  enum class Likeness : uint8_t { kOther, kCorrelated, kFewDiffer };
  // Cells by their value. Without a majority, `diverged` has all cells that differ from the first of the most frequent ones.
  struct Split {
    std::vector<size_t> diverged, usual;
    bool has_majority = false;
  };

  // The first output before a divergence for which `is_cause` holds, and its sibling on the other rank.
  using IsCause = std::function<bool(const ReplicaCell& cell, const ReplicaCell& sibling)>;
  [[nodiscard]] std::optional<std::pair<ReplicaCell, ReplicaCell>> first_before(const ReplicaDivergence& divergence,
                                                                                const IsCause& is_cause) const;
  void collect_steps();
  void collect_contents();
  void collect_counts();
  void add_first_step(ReplicaCells cells, std::vector<ReplicaDivergence>& found) const;
  void add_unlike_siblings(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                           std::vector<ReplicaDivergence>& found) const;
  void add_diverged_outputs(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                            std::vector<ReplicaDivergence>& found) const;
  void add_later(const std::vector<ReplicaCells>& steps, std::vector<ReplicaDivergence>& found) const;
  [[nodiscard]] Split split(ReplicaCells cells, const std::vector<size_t>& members) const;
  [[nodiscard]] ReplicaDivergence make_divergence(ReplicaCells cells, const Split& split) const;
  [[nodiscard]] uint64_t execution_of(const ReplicaCell& cell) const;
  [[nodiscard]] bool may_judge_output(TensorId tensor) const;
  [[nodiscard]] bool has_same_inputs(const ReplicaCell& a, const ReplicaCell& b) const;
  [[nodiscard]] bool reads_parameter(const ReplicaCell& cell) const;
  [[nodiscard]] bool lacks_ranks(const StepKey& step) const;
  [[nodiscard]] bool is_computed_in_dump(const ReplicaCell& cell) const;
  [[nodiscard]] Likeness likeness_of(TensorId a, TensorId b) const;
  [[nodiscard]] bool is_external(const ReplicaCell& cell) const;
  [[nodiscard]] bool is_same_call(const ReplicaCell& now, const ReplicaCell& first) const;
  [[nodiscard]] uint64_t content_key(const ReplicaCell& cell) const;
  [[nodiscard]] ReplicaCell cell_of(const ReplicaDivergence& divergence, TensorId tensor) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const ReplicaTable& table_;
  const RunContext& run_;
  std::vector<std::vector<int64_t>> siblings_;
  std::unordered_map<uint64_t, ExecutionId> first_runs_;  // by rank and step
  std::map<StepKey, size_t> ranks_of_step_;               // how many are there
  size_t ranks_ = 0;                                      // of the run, as far as the dump shows
  std::unordered_set<uint64_t> outputs_;                  // contents of outputs, by rank and step
  std::unordered_map<uint64_t, TensorId> parameters_;     // by content, rank and step
  std::unordered_map<uint64_t, uint64_t> counts_;         // calls, by API, rank and step
};

}  // namespace msdump::check
