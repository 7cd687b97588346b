// The line that defines an operator:
//
//   "%" NUMBER ["(" DEBUG ")"] " = " OP "(" OPERANDS ")" {" " GROUP}     or     "Return(" OPERANDS ")" {" " GROUP}
//   1. DEBUG     free text up to ") = ": "[CNode]8", "CNode_310$a", "equiv[CNode]707"
//   2. OP        "Conv2D", "PrimFunc_Add", "call @g", "%5[@FuncUnion(@a, @b)]", "$(@g:x)[@f]", "f{(Tensor, Tensor)}"
//                In sort mode of 2.0 and in analyze_fail "PrimitivePy::Sub{prim_type=2}[output_names=..]": Sub
//   3. OPERANDS  "%3", "%para1_x", "$(@g:para4_x)", "@g", or a literal, which may hold brackets and quotes
//   4. GROUP     attributes: ir/text/attributes.h
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/model/ir_graph.h"

namespace msdump {

struct NodeHead {
  uint32_t number = kNoIndex;  // kNoIndex: Return
  std::string_view debug_name, op;
  std::string_view operands;    // between the brackets
  std::string_view attributes;  // the rest of the line
  bool operands_closed = true;
};

// Returns what is wrong with it, or nullptr.
[[nodiscard]] const char* parse_node_head(std::string_view text, NodeHead& head);

// Whether no bracket is open at its end, and no group announced: "primitive_attrs:".
[[nodiscard]] bool is_complete_head(std::string_view text);

}  // namespace msdump
