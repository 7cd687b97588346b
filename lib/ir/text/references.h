// What the operands of IR text refer to: "%3" is an operator of the same graph, "%para1_x" a parameter, "@g" a graph,
// "$(@g:x)" an operator or parameter of another graph. A reference may come before its target: a closure uses the
// parameters of a graph that is printed after it. Kernel graphs and 00_bootstrap refer to "%para1_Parameter_3" where
// their heads have "%para1_x": then the number decides. A reference without a target in the file keeps its text.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/model/handle_map.h"
#include "ir/model/ir_builder.h"

namespace msdump {

class References {
 public:
  explicit References(IrGraphBuilder& builder) : builder_(&builder) {}

  // Numbers start again with each graph.
  void begin_graph();
  void add_node(uint32_t number, uint32_t index);
  void add_parameter(const IrParameter& parameter, uint32_t index);

  // The operand for a text of the next node; `place` is where it will be in IrGraph::operands.
  IrOperand operand(std::string_view text, size_t place);

  // Resolves references between graphs, and parents.
  void finish();

 private:
  using Labels = std::unordered_map<std::string_view, IrOperand>;

  [[nodiscard]] uint32_t node_of(uint32_t number) const;
  IrOperand unresolved(std::string_view text, size_t place, std::vector<uint32_t>& pending);
  void resolve_numbers();
  void resolve_outside(IrOperand& operand);
  void resolve_parameter(IrOperand& operand);
  void find_parents();
  const Labels& labels_of(uint32_t graph);

  IrGraphBuilder* builder_;
  std::vector<uint32_t> by_number_;  // while numbers are dense, as in files that MindSpore wrote
  std::unordered_map<uint32_t, uint32_t> by_large_number_;
  size_t numbered_ = 0;
  HandleMap parameters_;  // the last of that name: a graph names its own before it uses them
  HandleMap numbered_parameters_;
  HandleMap graphs_;
  std::vector<uint32_t> pending_, pending_outside_, pending_parameters_;  // places of operands
  std::unordered_map<uint32_t, Labels> labels_;
};

}  // namespace msdump
