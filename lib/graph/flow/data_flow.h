// Which inputs an operator writes into: after it has run, its dump shows the result there, not what went in.
//
//   1. the IR marks them (`is_inplace`, MindSpore 2.10 and later), but not for every operator: SGD's have no mark
//   2. a short table of operators known to do so
// The bytes prove it for others: an input that is not what its producer wrote, or what others read of a parameter
// (graph/flow/run_graph.h).
// Source: corpus/diagnosis/README.md 2; MindSpore's documentation of these operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

[[nodiscard]] bool updates_input(const OpGraph& graph, OpId op, uint32_t slot);

// The table.
[[nodiscard]] bool is_known_to_update(std::string_view op_type, uint32_t slot);
// Is any input of this type in it?
[[nodiscard]] bool is_known_to_update(std::string_view op_type);

// An input that kernels of a type are given and do not use: the reserve of BatchNormGrad, which is whatever memory the
// BatchNorm left unwritten.
[[nodiscard]] bool ignores_input(std::string_view op_type, uint32_t slot);

// The data flow into an operator: for each of its inputs, as dump files number them, the operator, parameter or constant
// that produced the value. Virtual nodes (Load, Depend, TupleGetItem, ...) between them are passed through.
//
// Input k of the files is the k-th element of the device types; operands of the IR become these by leaving out monads
// and unfolding tuples; up to 2.0 constants that are attributes are left out, too.
// In a graph of GE they are the operands: absent optional inputs are not among those. Sub-graphs that one operator runs are
// passed through in both directions.
// Source: reference/ir.md 1.8 and 1.11, reference/verified-on-real-mindspore.md 2 and 5.

struct InputEdge {
  enum class From : uint8_t { kOperator, kParameter, kConstant, kUnknown };
  uint32_t slot = 0;
  From from = From::kUnknown;
  OpId op = 0;                     // kOperator
  uint32_t output = 0;             // of that operator
  uint32_t parameter = 0;          // kParameter: index into IrGraph::parameters of the same origin
  std::string_view constant = {};  // kConstant: the literal as the IR spells it; empty for a tensor
};

// Whether the network keeps this value between steps (a weight, state of an optimizer); false for an input of the graph.
[[nodiscard]] bool is_kept(const IrGraph& ir, const IrParameter& parameter);

// Which outputs are read: by an operator, dumped or not, or by the caller of the graph. An order alone (a monad, the
// second operand of Depend) reads nothing, and neither does an input that kernels ignore (graph/flow/in_place.h).
class OutputReads {
 public:
  explicit OutputReads(const OpGraph& graph);
  [[nodiscard]] bool is_read(OpId op, uint64_t output) const;

 private:
  std::vector<uint64_t> read_;  // by operator: one bit per output; the last bit is for all from the 64th on
};

// A tuple is unfolded for each operator that reads it, which takes its elements times its readers: quadratic in the
// size of the file if both are many. These are the tuples beyond the budget of the graph, which no real network
// reaches: nodes, ascending.
[[nodiscard]] std::vector<uint32_t> wide_tuples(const IrGraph& ir);

// Empty when the operands cannot be matched to the slots, or one is a wide tuple.
[[nodiscard]] std::vector<InputEdge> inputs_of(const OpGraph& graph, OpId op);

}  // namespace msdump
