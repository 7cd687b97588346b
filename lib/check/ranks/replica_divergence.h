// The tensors of a dump by what they are, over steps and ranks: a row is one input, output or parameter of one operator,
// a cell that tensor of one rank in one step. Ranks whose cells are equal in the first step of a row hold copies of it:
// replicas. Which ranks those are comes from the values alone.
//
// Memory: 24 bytes a tensor. Cost: a sort of the tensors.
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
#include "check/values/tensor_facts.h"
#include "io/run_context.h"
#include "kernels/pair/pair.h"

namespace msdump::check {

struct ReplicaCell {
  uint32_t row = 0;
  std::pair<bool, int64_t> step;  // known_first()
  int64_t rank = 0;
  uint32_t tensor = kNone;
};

// Cells of one row in one step, by rank.
using ReplicaCells = std::span<const ReplicaCell>;

class ReplicaTable {
 public:
  // Tensors without a rank, with the same place as another, or read by no rule, are left out.
  ReplicaTable(const CheckedDump& dump, const FactsReader& facts);

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(begin_.size() - 1); }
  // By step.
  [[nodiscard]] std::vector<ReplicaCells> steps_of(uint32_t row) const;
  [[nodiscard]] ReplicaCells cells_of(uint32_t row) const {
    return std::span(cells_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  [[nodiscard]] uint32_t row_of(uint32_t tensor) const { return row_of_[tensor]; }  // kNone: in none
  // The tensor of a row at a place; kNone: not there.
  [[nodiscard]] uint32_t at(uint32_t row, const std::pair<bool, int64_t>& step, int64_t rank) const;

 private:
  std::vector<ReplicaCell> cells_;  // by row, step, rank
  std::vector<size_t> begin_;       // by row, and the end
  std::vector<uint32_t> row_of_;    // by tensor
};

// Cells with equal tensors: places in the span, ascending; the classes by their first. Tensors that are not known are in
// none.
[[nodiscard]] std::vector<std::vector<size_t>> equal_cells(ReplicaCells cells, const FactsReader& facts);

// Which ranks are siblings: those that hold the same parameters. Known from the first step: each row of the table that is a
// parameter, or an input that no operator of the dump made, and telling, votes for the classes of ranks that are equal in
// it. Of the classes with a rank that have several votes the smallest is that of its siblings: tensor parallel ranks share
// some parameters, data parallel ones all.

// A value that the network keeps, as it is when it is read (msprobe) or at the end of the step; no gradient.
[[nodiscard]] bool is_kept_tensor(const CheckedDump& dump, uint32_t tensor);

// Classes of at least two ranks, ascending; a rank is in one of them at most.
[[nodiscard]] std::vector<std::vector<int64_t>> sibling_ranks(const FactsReader& facts, const ReplicaTable& table,
                                                              const std::function<bool(const ReplicaCell&)>& votes);

// Departures: the places where tensors that ranks have in common stop being equal, one for each row of the table and
// class of ranks. Those that nothing earlier explains are roots (check/ranks/replica_rules.h says which).

struct Departure {
  std::pair<bool, int64_t> step;
  uint64_t position = 0;  // of its run in the step of its rank
  uint32_t row = kNone;
  uint32_t tensor = kNone, sibling = kNone;
  std::vector<int64_t> odd;    // the ranks that left; empty: nobody can tell
  std::vector<int64_t> group;  // all that were, or should be, equal
  bool first_step = false;     // not equal from the start
  FirstApart::Kind kind = FirstApart::Kind::kOperator;
};

class DepartureFinder {
 public:
  // All arguments must outlive it.
  DepartureFinder(const CheckedDump& dump, const FactsReader& facts, const ReplicaTable& table,
                  const RunContext& context);

  // Of all rows, by step and position.
  [[nodiscard]] std::vector<Departure> find() const;
  // Does nothing earlier explain it? Sets its kind, and names the parameter in place of the input that shows it.
  [[nodiscard]] bool is_root(Departure& departure) const;
  // Of a parameter that ranks have otherwise in a later step: the first operator in the steps before that read a parameter,
  // and made something else of the same inputs. An operator that gets other settings on a rank does so in every step.
  [[nodiscard]] std::optional<Departure> cause_of(const Departure& departure) const;
  // The output of an earlier step that first had the value of the one rank, where the same output of the other rank had
  // the other value.
  [[nodiscard]] std::optional<uint32_t> writer_of(const Departure& departure) const;
  // The ranks of its group that still have what they had in the first step.
  [[nodiscard]] std::vector<int64_t> unchanged_ranks(const Departure& departure) const;

 private:
  using StepKey = std::pair<bool, int64_t>;
  enum class Likeness : uint8_t { kOther, kCorrelated, kFewDiffer };
  struct Split {
    std::vector<size_t> odd, usual;  // cells; `odd` has all where nobody can tell
    bool told = false;
  };

  // The first output in the steps before a departure that `is_cause` takes, and its sibling on the other rank.
  using IsCause = std::function<bool(const ReplicaCell& cell, const ReplicaCell& sibling)>;
  [[nodiscard]] std::optional<std::pair<ReplicaCell, ReplicaCell>> first_before(const Departure& departure,
                                                                                const IsCause& is_cause) const;
  void collect_steps();
  void collect_contents();
  void collect_counts();
  void add_first_step(ReplicaCells cells, std::vector<Departure>& found) const;
  void add_unlike_siblings(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                           std::vector<Departure>& found) const;
  void add_odd_outputs(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                       std::vector<Departure>& found) const;
  void add_later(const std::vector<ReplicaCells>& steps, std::vector<Departure>& found) const;
  [[nodiscard]] Split split(ReplicaCells cells, const std::vector<size_t>& members) const;
  [[nodiscard]] Departure departure(ReplicaCells cells, const Split& split) const;
  [[nodiscard]] uint64_t position_of(const ReplicaCell& cell) const;
  [[nodiscard]] bool may_judge_output(uint32_t tensor) const;
  [[nodiscard]] bool has_same_inputs(const ReplicaCell& a, const ReplicaCell& b) const;
  [[nodiscard]] bool reads_parameter(const ReplicaCell& cell) const;
  [[nodiscard]] bool lacks_ranks(const StepKey& step) const;
  [[nodiscard]] bool is_made_in_dump(const ReplicaCell& cell) const;
  [[nodiscard]] Likeness likeness_of(uint32_t a, uint32_t b) const;
  [[nodiscard]] bool is_outer(const ReplicaCell& cell) const;
  [[nodiscard]] bool is_same_call(const ReplicaCell& now, const ReplicaCell& first) const;
  [[nodiscard]] uint64_t content_key(const ReplicaCell& cell) const;
  [[nodiscard]] ReplicaCell cell_of(const Departure& departure, uint32_t tensor) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const ReplicaTable& table_;
  const RunContext& context_;
  std::vector<std::vector<int64_t>> siblings_;
  std::unordered_map<uint64_t, uint32_t> first_runs_;  // by rank and step
  std::map<StepKey, size_t> ranks_of_step_;            // how many are there
  size_t ranks_ = 0;                                   // of the run, as far as the dump shows
  std::unordered_set<uint64_t> made_;                  // contents of outputs, by rank and step
  std::unordered_map<uint64_t, uint32_t> parameters_;  // by content, rank and step
  std::unordered_map<uint64_t, uint64_t> counts_;      // calls, by API, rank and step
};

}  // namespace msdump::check
