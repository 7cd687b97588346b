// Matches the operators of two sides by their graphs: equal neighbours and types, whatever their names and numbers are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/match/op_sequence.h"
#include "graph/join/dump_operators.h"
#include "graph/op_graph.h"

namespace msdump {

// Operators of one side by place, type and name, to look up those of the other side.

// Where operators are compared: those of one rank and step. Each number counts only if it distinguishes operators.
struct ComparedPlaces {
  bool ranks = true, steps = true;

  using Place = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  [[nodiscard]] Place of(const SequencedOp& one) const {
    return {ranks ? one.rank : std::nullopt, steps ? one.step : std::nullopt};
  }
  [[nodiscard]] uint64_t hash_of(const SequencedOp& one, uint64_t hash) const;
};

// The numbers in names are left out unless they are `numbered`.
class OpNames {
 public:
  // `operators` outlives this; of those that are `left_out` nothing is known.
  OpNames(const std::vector<SequencedOp>& operators, const std::vector<bool>& left_out, ComparedPlaces places,
          bool numbered);

  [[nodiscard]] bool any_twice() const { return several_; }
  // The only operator with the name of `one`, which may be from the other side; UINT32_MAX if there are none or several.
  [[nodiscard]] uint32_t find(const SequencedOp& one);
  [[nodiscard]] bool is_alone(uint32_t place) { return find(operators_[place]) == place; }
  // Equal to find(one) == place when no name occurs twice, but without a look-up.
  [[nodiscard]] bool is_at(uint32_t place, const SequencedOp& one) const {
    return place < operators_.size() && is_equal(operators_[place], one);
  }

 private:
  struct Named {
    uint32_t place;
    bool several;
  };
  uint64_t hash_of(const SequencedOp& one);
  [[nodiscard]] bool is_same(uint32_t named, const SequencedOp& one) const {
    return is_equal(operators_[named_[named].place], one);
  }
  [[nodiscard]] bool is_equal(const SequencedOp& a, const SequencedOp& b) const;

  const std::vector<SequencedOp>& operators_;
  const ComparedPlaces compared_;
  const bool numbered_;
  HashSlots places_;
  std::vector<Named> named_;
  bool several_ = false;
  NormalName name_;
  std::string plain_;
};

// Which operators of two graphs are the same by the data flow, whatever their numbers and their order.
//
//   1. operators that occur once on each side: with two circles of neighbours, with one, and those that read weights by
//      their kind alone
//   2. from each pair on: what feeds the same input, and the reader of its kind, if there is one on each side
//   3. of operators with equal neighbours, where each side has as many, the first ones; then rule 2 again
// The kind is type, scope, shapes of outputs and the parameters that it reads. Without a data flow on both sides nothing
// is paired. n log n for n operators.

struct GraphSide {
  SequenceFlow flow;
  std::vector<uint64_t> kinds;  // by operator
};
// Operators of different places are of different kinds.
[[nodiscard]] GraphSide graph_side(const CompareSide& side, const std::vector<SequencedOp>& operators,
                                   ComparedPlaces places);

// By operator of a: that of b, or kNoOperator. No two have the same.
using Partners = std::vector<uint32_t>;

[[nodiscard]] Partners match_graphs(const GraphSide& a, const GraphSide& b, ReachedLimits& limits);

// What the pairs disagree on: inputs of either operator whose producers are not partners, and kinds.
[[nodiscard]] size_t disagreements(const GraphSide& a, const GraphSide& b, const Partners& partners);

// Operators without a partner that stand in each other's place: what is left of both sides where one line of a network
// changed, MaxPool into AvgPool, ReduceMean into ReduceSum.
//
// Two operators replace each other if an input of both comes from partners, or neither has producers, and an output of
// both goes to partners, or neither has readers, and no other operator shares as many neighbours with either of them.
// Each such pair is a neighbour for the next: a gradient follows its forward operator.

// One side of a pairing.
struct PairedSide {
  const SequenceFlow& flow;
  std::vector<uint32_t>& partners;  // by operator: that of the other side, or kNoOperator
};

// Enters the pairs into the partners of both sides, and returns the operators of a that got one.
std::vector<uint32_t> pair_replaced(const PairedSide& a, const PairedSide& b, ReachedLimits& limits);

}  // namespace msdump
