// An operand as MindSpore 1.6 and later print it.
#pragma once

#include <string>

#include <fmt/format.h>

#include "ir/model/ir_graph.h"

namespace msdump::test {

inline std::string operand_text(const IrGraph& ir, const IrNode& node, const IrOperand& operand) {
  const auto text = [&](Text handle) { return std::string(ir.text(handle)); };
  switch (operand.kind) {
    case IrOperand::Kind::kNode: {
      const IrNode& other = ir.nodes[operand.value];
      if (other.graph == node.graph) return ir.node_name(other);
      return fmt::format("$(@{}:{})", ir.graph_name(other), text(other.debug_name));
    }
    case IrOperand::Kind::kParameter: return "%" + text(ir.parameters[operand.value].text);
    case IrOperand::Kind::kGraph: return "@" + text(ir.graphs[operand.value].name);
    case IrOperand::Kind::kNamed: return text(ir.constants[operand.value].key);
    case IrOperand::Kind::kConstant:
    case IrOperand::Kind::kUnresolved: break;
  }
  return text(Text{operand.value});
}

}  // namespace msdump::test
