// ShardedMatch: the state of pair_sharded(), on which its steps work. It holds both sides with global tensors, their
// partners so far, and the placements of these. The steps that have a file of their own are declared here, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "compare/limits.h"
#include "compare/match/placement/placement_samples.h"
#include "compare/match/placement/sharded_pairing.h"
#include "compare/statistics/statistic_tables.h"

namespace msdump {

// The local tensors of a global one, by their elements or by their statistics.
using LocalTensors = std::variant<LocalValues, LocalStatistics>;
[[nodiscard]] bool ok(const LocalTensors& locals);
[[nodiscard]] const std::vector<Shape>& shapes_of(const LocalTensors& locals);
// Both must hold the same alternative.
[[nodiscard]] std::optional<PlacementFit> find_placement(LocalTensors& a, LocalTensors& b, const PlacementQuery& query,
                                                         const PlacementPrior& prior);

// The user's line for a tensor on several ranks and its placement, if it is possible for as many ranks; without a line, the
// placement that the writer states.
struct Stated {
  const StatedPlacement* line = nullptr;
  std::optional<Placement> placement;
};
// `rules` may be null.
[[nodiscard]] Stated stated_of(const ShardedSide& shards, Side side, RecordId tensor, const PlacementRules* rules);

class ShardedMatch {
 public:
  // The arguments must outlive this, also what they point to. `stated` may be null.
  ShardedMatch(const ShardedInput& a, const ShardedInput& b, const PlacementRules* stated, const RunContext& run);

  // Elements, or statistics if most tensors of a side have no elements.
  [[nodiscard]] LocalTensors locals_of(Side side, std::span<const TensorRecord* const> records) const;
  [[nodiscard]] LocalTensors locals_of(Side side, RecordId tensor) const;

  [[nodiscard]] const TensorRecord& record(Side side, RecordId tensor) const { return result[side]->tensors()[tensor]; }
  [[nodiscard]] std::optional<int64_t> step_of(Side side, RecordId tensor) const;

  // Counts a comparison of two tensors that may be partners. False, and a limit is noted, if a step has used up its trials.
  [[nodiscard]] bool may_try(size_t& trials);
  // Notes that only the first kMostTried calls were compared with a call.
  void leave_out_calls();
  // True if both are of one step, and the shapes allow them to be parts of one global tensor.
  [[nodiscard]] bool may_be_one(RecordId a, RecordId b) const;
  [[nodiscard]] std::optional<PlacementFit> fit_of(const IndexPair<RecordId>& tensors,
                                                   PlacementQuery::Effort effort) const;
  // Finds the placements of all pairs, into `fits`. First those that are certain; these break ties among the others. An
  // error if interrupted.
  Status find_placements();
  // The limits that find_placements() hit and that the fits still depend on.
  [[nodiscard]] ReachedLimits limits_of_placements() const;
  // Allows every gradient factor again, after find_placements() kept the most frequent one. Call before partners change.
  void allow_all_factors();
  // The agreement of the tensor that fits least, by operator of the pairing; 0 without a partner.
  [[nodiscard]] std::vector<double> agreements() const;

  [[nodiscard]] Stated stated_of(Side side, RecordId tensor) const {
    return msdump::stated_of(*result[side], side, tensor, rules);
  }
  // Finds placements with those that are stated, or without them if they do not fit the shapes; problem_of() reports that.
  [[nodiscard]] std::optional<PlacementFit> find_stated(const Sides<LocalTensors*>& locals, PlacementQuery query,
                                                        const Sides<Stated>& stated) const;
  [[nodiscard]] std::string problem_of(Side side, RecordId tensor, const std::optional<PlacementFit>& fit) const;

  // A tensor that one side alone has, the tensor of the other side with its value, and the placements of both.
  struct Twin {
    TensorId pair;
    RecordId value;  // tensor of the other side
    PlacementFit fit;
  };
  // Adds a partner of its own name to the operator of `side`, with these values.
  void add_partner(Side side, OperatorId op, const std::vector<Twin>& twins);

  // A hash of the elements of each local tensor, or of its statistics if it has no elements. Empty if one is missing or
  // cannot be read.
  [[nodiscard]] Result<std::vector<uint64_t>> digests_of(Side side, RecordId tensor) const;
  // A hash of all of them and their ranks; 0 if there is none.
  [[nodiscard]] Result<uint64_t> contents_of(Side side, RecordId tensor) const;

  const RunContext& context;
  const PlacementRules* const rules;
  const Sides<CompareSide> inputs;  // with their ranks
  const Sides<StatisticTables*> tables;
  PairedShards result;
  PlacementPrior prior;
  Sides<std::vector<double>> factors;             // of gradients
  std::vector<std::optional<PlacementFit>> fits;  // by Pairing::tensors
  ReachedLimits limits;

 private:
  [[nodiscard]] PlacementQuery query_of(const IndexPair<RecordId>& pair) const;
  void find_backward_pass();
  void find_placements_of_kind(const std::vector<size_t>& pairs, bool first);
  void choose_factors();

  const bool by_statistics_;
  std::atomic<bool> searched_less_ = false;  // a placement was not found with little effort
  std::vector<bool> of_backward_pass_;       // by tensor of a; its forward calls are hand-written derivatives
};

// The kind of a call: the type, the step, and true for a call of the backward pass. Calls of one kind may be partners.
using OpKind = std::tuple<std::string_view, std::optional<int64_t>, bool>;
[[nodiscard]] OpKind kind_of(const SequencedOp& op);

// Finds calls that have one name but are different calls on each rank, such as those of experts. Such a call has a weight that
// differs between the ranks of one side. Each part of it is the weight of another call of the other side. Calls between such
// calls, and backward calls, are split with them. An error if interrupted or if a tensor cannot be read.
Result<Sides<ExpertSplits>> find_expert_splits(const ShardedMatch& match);

// Finds partners by values, for operators without one and for pairs by position whose tensors do not fit: the operator of the
// reference for each of the candidate, or kNoId. A partner is an operator of the same kind nearby whose tensors all fit. Cost:
// a bounded number of trials for an operator and for a run. An error if interrupted.
Result<std::vector<SequencedOpId>> partners_by_values(ShardedMatch& match);

// Adds pairs of values that the two sides compute in different calls. Examples are t, matmul and add against linear, or the
// mean of a masked loss against cross_entropy.
//
// Unpaired calls of the two sides are compared if they lie between the same partners, whatever the calls are. Their tensors
// are paired by values. The loss is the last single number that the forward calls write; it is paired even if it differs.
// Cost and errors are as above.
Status pair_value_twins(ShardedMatch& match);

}  // namespace msdump
