// Matches the operators of two sides by their graphs: equal neighbours and types, whatever their names and numbers are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/match/compared_scope.h"
#include "compare/match/op_sequence.h"
#include "compare/sides.h"
#include "graph/arguments/questions.h"
#include "graph/join/dump_operators.h"
#include "graph/op_graph.h"

namespace msdump {

// OpNames: looks up the operators of one side by place, type and name, also for an operator of the other side. The numbers
// in names are ignored unless they are `numbered`.
class OpNames {
 public:
  // `operators` must outlive this. Operators that are `left_out` are not found.
  OpNames(const std::vector<SequencedOp>& operators, const std::vector<bool>& left_out, ComparedPlaces places,
          bool numbered);

  [[nodiscard]] bool any_twice() const { return several_; }
  // The only operator with the name of `one`, which may be of the other side; kNoId if there are none or several.
  [[nodiscard]] SequencedOpId find(const SequencedOp& one);
  [[nodiscard]] bool is_alone(SequencedOpId place) { return find(operators_[place]) == place; }
  // Equal to find(one) == place when no name occurs twice, but without a look-up.
  [[nodiscard]] bool is_at(SequencedOpId place, const SequencedOp& one) const {
    return place < operators_.size() && is_equal(operators_[place], one);
  }

 private:
  struct Named {
    SequencedOpId place;
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

// match_graphs(): pairs the operators of two graphs by the data flow, whatever their numbers and their order.
//
//   0. operators that are asked the same (graph/arguments/questions.h), in their order; and their neighbours by rule 2
//   1. operators whose kind occurs once on each side: with two rounds of neighbours, then with one; then operators that read
//      weights, by their kind alone
//   2. from each pair on: the producers of the same input, and consumers of a kind that occurs once on each side
//   3. if that pairs nothing: of operators with equal neighbours, as many on each side, the first ones; then rule 2 again
//
// The kind of an operator is its type, its scope, the shapes of its outputs and the parameters that it reads. Without a data
// flow on both sides nothing is paired. Time is n log n for n operators.

struct GraphSide {
  SequenceFlow flow;
  std::vector<uint64_t> kinds;      // by operator
  std::vector<uint64_t> questions;  // likewise, 0: unknown; empty until ask_graphs()
};
// Kinds and questions include the place, so that operators of different places never match.
[[nodiscard]] GraphSide graph_side(const CompareSide& side, const std::vector<SequencedOp>& operators,
                                   ComparedPlaces places);

struct GraphSource {
  const CompareSide& side;
  const std::vector<SequencedOp>& operators;
};
// Constants whose values an IR leaves out ("value=[...]"), by a hash of their samples in the dump. Only values that both sides have
// are in it: a coarser dtype may have rounded the others.
[[nodiscard]] Sides<SameValues> unprinted_constants(const GraphSource& a, const GraphSource& b);

// Sets the questions of both graphs, if both have the data flow and are of one compiler: else they ask in different words.
void ask_graphs(const GraphSource& of_a, GraphSide& a, const GraphSource& of_b, GraphSide& b, ComparedPlaces places);

// The partner in b of each operator of a, or kNoId. No two operators have the same partner.
using Partners = std::vector<SequencedOpId>;

[[nodiscard]] Partners match_graphs(const GraphSide& a, const GraphSide& b, ReachedLimits& limits);

// The number of disagreements of the pairs: inputs whose producers are not partners, and partners of different kinds.
[[nodiscard]] size_t disagreements(const GraphSide& a, const GraphSide& b, const Partners& partners);

// pair_replaced(): pairs operators without a partner that stand in each other's place. That happens when one line of a
// network changed: MaxPool into AvgPool, ReduceMean into ReduceSum.
//
// Two operators replace each other if all of these hold:
//   * an input of both comes from partners, or neither has producers
//   * an output of both goes to partners, or neither has consumers
//   * no other operator shares as many neighbours with either of them
//
// Each such pair is a neighbour for the next: a gradient follows its forward operator.

// The data flow and the partners of one side.
struct PairedSide {
  const SequenceFlow& flow;
  std::vector<SequencedOpId>& partners;  // of each operator: the one of the other side, or kNoId
};

// Adds the pairs to the partners of both sides. Returns the operators of a that got a partner.
std::vector<SequencedOpId> pair_replaced(const PairedSide& a, const PairedSide& b, ReachedLimits& limits);

}  // namespace msdump
