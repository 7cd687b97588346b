// The inputs that an operator writes into: after it has run, its dump shows the result there, not the value it read.
//
//   1. the IR marks them (`is_inplace`, MindSpore 2.10 and later), but not for every operator: SGD's have no mark
//   2. a short table of operators known to do so
// For others, tensor values prove it: an input differs from the output of its producer, or from the parameter that other
// operators read (graph/flow/run_graph.h).
// Source: dumps of MindSpore 2.x; MindSpore's documentation of these operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

[[nodiscard]] bool updates_input(const OpGraph& graph, OpId op, uint32_t slot);

// True if the table has this input.
[[nodiscard]] bool is_known_to_update(std::string_view op_type, uint32_t slot);
// True if the table has any input of this type.
[[nodiscard]] bool is_known_to_update(std::string_view op_type);

// True for an input that kernels receive and do not use: the reserve space of BatchNormGrad, which BatchNorm leaves
// unwritten.
[[nodiscard]] bool ignores_input(std::string_view op_type, uint32_t slot);

// The data flow into an operator: each input, numbered as in dump files, and the operator, parameter or constant that
// produced its value. Virtual nodes (Load, Depend, TupleGetItem, ...) between them are skipped.
//
// Input k of the files is the k-th element of the device types. Operands of the IR become these by leaving out monads
// and unfolding tuples; up to 2.0 constants that are attributes are left out, too. In a graph of GE inputs are the
// operands, which lack absent optional inputs. Sub-graphs that one operator runs are followed in both directions.
// Source: IR and dumps of MindSpore 0.5 to 2.10, checked by the bytes of both files of an edge.

struct InputEdge {
  enum class From : uint8_t { kOperator, kParameter, kConstant, kUnknown };
  uint32_t slot = 0;
  From from = From::kUnknown;
  OpId op;                         // kOperator
  uint32_t output = 0;             // of that operator
  uint32_t parameter = 0;          // kParameter: index into IrGraph::parameters of the same origin
  std::string_view constant = {};  // kConstant: the literal as the IR spells it; empty for a tensor
};

// True if the network keeps this value between steps (a weight, state of an optimizer); false for an input of the
// graph.
[[nodiscard]] bool is_kept(const IrGraph& ir, const IrParameter& parameter);

// Knows which outputs are read: by an operator, dumped or not, or by the caller of the graph. A mere order (a monad,
// the second operand of Depend) reads nothing, and neither does an input that kernels ignore (ignores_input).
class OutputReads {
 public:
  explicit OutputReads(const OpGraph& graph);
  [[nodiscard]] bool is_read(OpId op, uint64_t output) const;

 private:
  std::vector<uint64_t> read_;  // by operator: one bit per output; the last bit is for all from the 64th on
};

// The tuples that inputs_of() does not unfold, ascending. A tuple is unfolded for each of its readers, which costs
// elements times readers: quadratic in the size of a crafted file. These tuples are beyond the budget of the graph,
// which no real network reaches.
[[nodiscard]] std::vector<uint32_t> wide_tuples(const IrGraph& ir);

// Empty if the operands cannot be matched to the slots, or one of them is a wide tuple.
[[nodiscard]] std::vector<InputEdge> inputs_of(const OpGraph& graph, OpId op);

}  // namespace msdump
