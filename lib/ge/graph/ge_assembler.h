// GeAssembler: the operators of GE graphs, one after the other, into an IrGraph.
//
//   Data, RefData, Variable   a node without a kernel, whose operand is the parameter of its name
//   Const, Constant, ...      a node without a kernel, whose operand is a constant
//   NetOutput, NoOp           a node without a kernel
//   PartitionedCall, If, ...  a call; its last operands (`control`) are the graphs that it runs
//   anything else             a kernel
// Operands are outputs of nodes ("conv1:0" is output 0). Optional inputs that are absent are left out with their
// descriptions, as in dump files, so operand k that is not `control` is slot k. Of the types, `device` has the format and shape
// of the description, `host` those of the origin.
// Source: reference/ge-operators.md 3.3 and 4, reference/field-2026.md 4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ge/graph/ge_operator.h"
#include "ge/graph/proto_text.h"
#include "ir/model/ir_builder.h"

namespace msdump {

class GeAssembler {
 public:
  // Ends the graph before it, too.
  void begin_graph(std::string_view name, uint64_t line);
  // For a file that has the name after the operators.
  void name_graph(std::string_view name);
  // To the graph that was begun last.
  void add(const GeOperator& op);
  void add_problem(uint64_t line, std::string reason) { builder_.add_problem(line, std::move(reason)); }
  void add_problems(IrProblems problems);
  // Counts an operator that cannot be kept.
  void lose_operator(uint64_t line, std::string reason);
  void set_truncated(uint64_t at);
  [[nodiscard]] size_t operators() const { return builder_.graph().nodes.size(); }

  // bad_ir if there is no operator.
  Result<IrGraph> finish();

 private:
  struct PendingOperand {
    uint32_t place = 0;        // in the operands
    Text name = Text::kEmpty;  // of names_
    uint32_t line = 0;
  };
  struct PendingCall {
    uint32_t node = 0, place = 0;
    bool alone = false;  // the node runs no other graph
  };

  void add_inputs(const GeOperator& op);
  void add_source(const GeOperator& op);
  List originals(const GeOperator& op);
  Signature signature(const GeOperator& op, bool device);
  uint32_t type(const GeTensor& tensor, bool device);
  void end_graph();
  void note_result(const GeOperator& op, uint32_t node);
  void resolve_calls();

  IrGraphBuilder builder_;
  InternPool names_;  // of operators, only while the file is read
  HandleMap node_of_name_;
  uint32_t graph_ = kNoIndex;
  std::vector<PendingOperand> pending_;
  std::vector<PendingCall> calls_;
  std::vector<IrOperand> operands_;
  std::vector<PendingOperand> named_;  // of operands_
  std::vector<uint32_t> types_in_, types_out_;
  std::vector<Text> texts_;
  std::vector<OriginOutput> outputs_;
  std::string scratch_;
};

}  // namespace msdump
