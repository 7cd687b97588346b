#include "graph/flow/data_flow.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace msdump {
namespace {

constexpr int kMaxHops = 64;  // virtual nodes in a row

// One value: an operand, followed to what made it.
class ValueTracer {
 public:
  explicit ValueTracer(const Origin& origin) : ir_(origin.graph), first_(origin.first_operator) {}

  // The elements of an operand: one, or those of a tuple that was made in the graph.
  void unfold(const IrOperand& operand, std::vector<InputEdge>& values) const {
    if (operand.kind == IrOperand::Kind::kNode) {
      const IrNode& node = ir_.nodes[operand.value];
      const std::string_view type = ir_.op_type(node);
      if (type == "MakeTuple" || type == "make_tuple") {
        for (const IrOperand& element : ir_.operands_of(node)) values.push_back(trace(element));
        return;
      }
    }
    values.push_back(trace(operand));
  }

  [[nodiscard]] InputEdge trace(IrOperand operand) const {
    std::vector<uint32_t> elements;  // still to be taken out, the innermost last
    InputEdge edge;
    for (int hop = 0; hop < kMaxHops; ++hop) {
      if (operand.kind == IrOperand::Kind::kConstant || operand.kind == IrOperand::Kind::kNamed) {
        edge.from = InputEdge::From::kConstant;
        return edge;
      }
      if (operand.kind == IrOperand::Kind::kParameter) {
        edge.from = InputEdge::From::kParameter;
        edge.parameter = operand.value;
        return edge;
      }
      if (operand.kind != IrOperand::Kind::kNode) return edge;
      const IrNode& node = ir_.nodes[operand.value];
      const auto operands = ir_.operands_of(node);
      const std::string_view type = ir_.op_type(node);
      if (node.kind == IrNodeKind::kKernel) {
        edge.from = InputEdge::From::kOperator;
        edge.op = first_ + operand.value;
        edge.output = elements.empty() ? 0 : elements.back();
        return edge;
      }
      if (operands.empty()) return edge;
      if (type == "TupleGetItem" || type == "tuple_getitem" || type == "ListGetItem") {
        const auto element = operands.size() > 1 ? constant_number(operands[1]) : std::nullopt;
        if (!element) return edge;
        elements.push_back(*element);
        operand = operands[0];
      } else if (type == "Load" || type == "Depend") {
        operand = operands[0];
      } else if ((type == "MakeTuple" || type == "make_tuple") && !elements.empty() &&
                 elements.back() < operands.size()) {
        operand = operands[elements.back()];
        elements.pop_back();
      } else {
        return edge;
      }
    }
    return edge;
  }

 private:
  // "1", "I64(1)"
  [[nodiscard]] std::optional<uint32_t> constant_number(const IrOperand& operand) const {
    if (operand.kind != IrOperand::Kind::kConstant) return std::nullopt;
    std::string_view text = ir_.text(Text{operand.value});
    const size_t open = text.find('(');
    if (open != std::string_view::npos && text.ends_with(')')) text = text.substr(open + 1, text.size() - open - 2);
    const auto number = parse_u64(text);
    return number && *number < kNoIndex ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
  }

  const IrGraph& ir_;
  const OpId first_;
};

bool is_monad(const IrGraph& ir, std::span<const uint32_t> host, const IrOperand& operand, size_t place) {
  if (place < host.size() && ir.types[host[place]].is_monad) return true;
  if (operand.kind == IrOperand::Kind::kConstant) {
    const std::string_view text = ir.text(Text{operand.value});
    return text == "U" || text == "IO" || text.starts_with("UMonad") || text.starts_with("IOMonad");
  }
  if (operand.kind != IrOperand::Kind::kNode) return false;
  return ir.op_type(ir.nodes[operand.value]) == "UpdateState";
}

}  // namespace

bool is_kept(const IrGraph& ir, const IrParameter& parameter) {
  const bool is_ref = parameter.host != kNoIndex && !ir.types[parameter.host].ref_key.empty();
  return parameter.is_weight.value_or(is_ref || parameter.has_default);
}

std::vector<InputEdge> inputs_of(const OpGraph& graph, OpId op) {
  const Origin& origin = graph.origin(op);
  const IrGraph& ir = origin.graph;
  const IrNode& node = graph.node(op);
  const ValueTracer tracer(origin);
  const auto host = ir.inputs(node.host);
  const auto operands = ir.operands_of(node);
  std::vector<InputEdge> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].control || is_monad(ir, host, operands[i], i)) continue;
    tracer.unfold(operands[i], values);
  }
  const auto number = [&] {
    for (uint32_t i = 0; i < values.size(); ++i) values[i].slot = i;
    return values;
  };
  if (node.device == List::kEmpty) return number();
  const size_t slots = ir.inputs(node.device).size();
  if (values.size() == slots) return number();
  std::erase_if(values, [](const InputEdge& edge) { return edge.from == InputEdge::From::kConstant; });
  return values.size() == slots ? number() : std::vector<InputEdge>();
}

}  // namespace msdump
