// AssembledParameters: global tensors of parameters that pair_sharded() found no partner for, or one whose values are others:
// the other side may have their values joined, divided, transposed or under another name. They are assembled as their parts
// allow, one way after the other, until one of them gets a partner.
//
//   begin(), then pair_parameters() and next() as long as it says so, then choose_replicas() and notes_of()
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/parameters/parameter_pairing.h"
#include "compare/match/placement/sharded_pairing.h"
#include "io/run_context.h"

namespace msdump {

class AssembledParameters {
 public:
  using ErrorOf = std::function<double(const TensorRecord& of_a, const TensorRecord& of_b)>;

  // `layouts` may be null.
  AssembledParameters(const Sides<std::unique_ptr<ShardedSide>>& shards, const PlacementRules* layouts,
                      const CancelToken& cancel);
  // `before`: what pair_sharded() found.
  Status begin(PairedShards before);
  // Assembles those without a partner in their next way. False if there is none to pair again.
  Result<bool> next(const PairedParameters& paired);
  // Takes, where replicas differ, the replica with the largest error against the partner.
  void choose_replicas(const PairedParameters& paired, const ErrorOf& error_of);
  // The notes of the pairs.
  [[nodiscard]] std::vector<PlacementNote> notes_of(const PairedParameters& paired) const;
  void add_reached_limit(ReachedLimits& limits) const;

 private:
  struct Parameter {
    Side side;
    RecordId tensor;
    TensorPieces before;
    bool has_shape = false;  // `before` has the shape of the partner of the same name
    std::vector<Placement> ways = {};
    size_t way = 0;        // the next; the last is `before`
    bool differs = false;  // the parts have different elements
    bool is_settled = false;

    [[nodiscard]] const Placement& taken() const { return ways[way - 1]; }
  };

  [[nodiscard]] const Parameter* parameter_of(Side side, const TensorRecord& tensor) const;
  [[nodiscard]] std::span<const TensorRecord* const> locals(const Parameter& one) const;
  [[nodiscard]] TensorPieces assembled(const Parameter& one) const;
  // A name alone proves no order of the elements, unless the shape is that of the partner.
  void settle(const PairedParameters& paired);
  // Adds those of `pairs` whose values do not show how they are assembled.
  Status find(const std::vector<TensorPair>& pairs);
  // True if there was one.
  bool take_next_ways();
  // Parts that lie one after the other along an axis in the order of the ranks, or replicas.
  Status find_ways(Parameter& one) const;
  // By --layout, else by the files.
  [[nodiscard]] std::optional<Placement> stated_of(const Parameter& one) const;
  // The shape that the parts of a replica have together.
  static Shape global_of(const Placement& placement, std::span<const TensorRecord* const> parts);

  const Sides<std::unique_ptr<ShardedSide>>& shards_;
  const PlacementRules* const layouts_;
  const CancelToken& cancel_;
  std::map<std::pair<RecordId, RecordId>, PlacementNote> before_;  // by tensors of the sides
  std::vector<Parameter> parameters_;
  size_t rounds_ = 0;
  Sides<std::map<const TensorPieces*, size_t>> by_pieces_;  // index in `parameters_`
};

}  // namespace msdump
