#include "graph/flow/data_flow.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "ge/operators/operator_properties.h"

namespace msdump {
namespace {

bool has_slot(std::string_view op_type, ge::OperatorProperty property, uint32_t slot) {
  const std::span<const uint32_t> slots = ge::property_slots(op_type, property);
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace

bool updates_input(const OpGraph& graph, OpId op, uint32_t slot) {
  const IrGraph& ir = graph.ir(op);
  const auto types = ir.inputs(graph.node(op).host);
  // The IR marks all parameters of an operator that writes some of them, and even those of its gradient, which writes
  // none.
  if (is_known_to_update(graph.op_type(op))) return is_known_to_update(graph.op_type(op), slot);
  return slot < types.size() && ir.types[types[slot]].is_inplace && !graph.op_type(op).ends_with("Grad");
}

bool is_known_to_update(std::string_view op_type, uint32_t slot) {
  return has_slot(op_type, ge::OperatorProperty::kUpdates, slot);
}

bool is_known_to_update(std::string_view op_type) { return ge::has_property(op_type, ge::OperatorProperty::kUpdates); }

bool ignores_input(std::string_view op_type, uint32_t slot) {
  return has_slot(op_type, ge::OperatorProperty::kIgnores, slot);
}

namespace {

constexpr int kMaxHops = 64;  // virtual nodes in a row
// The number of elements that all tuples of a graph may unfold to: a million, or in larger graphs some per operand.
constexpr uint64_t kLeastUnfolded = uint64_t{1} << 20, kUnfoldedPerOperand = 8;

bool is_make_tuple(std::string_view op_type) { return op_type == "MakeTuple" || op_type == "make_tuple"; }

// "1", "I64(1)"
std::optional<uint32_t> constant_number(const IrGraph& ir, const IrOperand& operand) {
  if (operand.kind != IrOperand::Kind::kConstant) return std::nullopt;
  std::string_view text = ir.text(Text{operand.value});
  const size_t open = text.find('(');
  if (open != std::string_view::npos && text.ends_with(')')) text = text.substr(open + 1, text.size() - open - 2);
  const auto number = parse_u64(text);
  return number && *number < kNoIndex ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

uint64_t output_bit(uint64_t output) { return uint64_t{1} << std::min<uint64_t>(output, 63); }

bool takes_element(std::string_view type) {
  return type == "TupleGetItem" || type == "tuple_getitem" || type == "ListGetItem";
}
// Nodes that pass on their first operand. A kernel never does, even if it has one of these types. The first operand of
// a Const or Data of GE is the constant or parameter that it stands for.
bool passes_on(std::string_view type) {
  constexpr std::string_view kTypes[] = {"AippData",  "Const",   "ConstPlaceHolder", "Constant",
                                         "Data",      "Depend",  "FileConstant",     "Load",
                                         "QueueData", "RefData", "Variable",         "VariableV2"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// The operand `index` among those that are values, not control edges.
const IrOperand* value_operand(const IrGraph& ir, const IrNode& node, uint32_t index) {
  const auto operands = ir.operands_of(node);
  // Control edges come after values, so the place is nearly always the index.
  for (uint32_t values = 0; const IrOperand& operand : operands) {
    if (!operand.control && values++ == index) return &operand;
  }
  return nullptr;
}

uint32_t output_of(const IrOperand& operand) { return operand.output == IrOperand::kWhole ? 0 : operand.output; }

// Follows an operand to the operator, parameter or constant that produced it.
class ValueTracer {
 public:
  explicit ValueTracer(const Origin& origin) : ir_(origin.graph), first_(origin.first_operator) {}

  // Appends the elements of an operand: itself, or those of a tuple that was made in the graph.
  void unfold(const IrOperand& operand, std::vector<InputEdge>& values) const {
    if (operand.kind == IrOperand::Kind::kNode) {
      const IrNode& node = ir_.nodes[operand.value];
      if (is_make_tuple(ir_.op_type(node))) {
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
        edge.constant = ir_.text(operand.kind == IrOperand::Kind::kConstant ? Text{operand.value}
                                                                            : ir_.constants[operand.value].value);
        return edge;
      }
      if (operand.kind == IrOperand::Kind::kParameter) {
        if (const IrOperand* given = given_by_caller(ir_.parameters[operand.value])) {
          operand = *given;
          continue;
        }
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
        edge.op = OpId(first_ + operand.value);
        edge.output = elements.empty() ? output_of(operand) : elements.back();
        return edge;
      }
      if (node.kind == IrNodeKind::kCall) {
        const IrOperand* const result = result_of_call(operand.value, output_of(operand));
        if (result == nullptr) return edge;
        operand = *result;
        continue;
      }
      if (operands.empty()) return edge;
      if (takes_element(type)) {
        const auto element = operands.size() > 1 ? constant_number(ir_, operands[1]) : std::nullopt;
        if (!element) return edge;
        elements.push_back(*element);
        operand = operands[0];
      } else if (passes_on(type)) {
        operand = operands[0];
      } else if (is_make_tuple(type) && !elements.empty() && elements.back() < operands.size()) {
        operand = operands[elements.back()];
        elements.pop_back();
      } else {
        return edge;
      }
    }
    return edge;
  }

 private:
  // The operand of the call that becomes this parameter of a sub-graph of GE.
  [[nodiscard]] const IrOperand* given_by_caller(const IrParameter& parameter) const {
    if (parameter.graph == kNoIndex || ir_.graphs[parameter.graph].caller == kNoIndex) return nullptr;
    return value_operand(ir_, ir_.nodes[ir_.graphs[parameter.graph].caller], parameter.number);
  }
  // The value in the sub-graph of GE that becomes this output of its call.
  [[nodiscard]] const IrOperand* result_of_call(uint32_t call, uint32_t output) const {
    for (const IrOperand& operand : ir_.operands_of(ir_.nodes[call])) {
      if (operand.kind != IrOperand::Kind::kGraph || !operand.control) continue;
      const IrSubgraph& graph = ir_.graphs[operand.value];
      if (graph.caller != call || graph.result == kNoIndex) return nullptr;
      return value_operand(ir_, ir_.nodes[graph.result], output);
    }
    return nullptr;
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

bool is_wide(const Origin& origin, const IrOperand& operand) {
  return operand.kind == IrOperand::Kind::kNode &&
         std::binary_search(origin.wide_tuples.begin(), origin.wide_tuples.end(), operand.value);
}

// The reads of one graph.
class ReadMarker {
 public:
  ReadMarker(const Origin& origin, std::vector<uint64_t>& read)
      : ir_(origin.graph),
        first_(origin.first_operator),
        read_(read),
        has_reader_(ir_.nodes.size()),
        read_whole_(ir_.nodes.size()) {}

  void mark_all() {
    for (const IrNode& node : ir_.nodes) {
      for (const IrOperand& operand : ir_.operands_of(node)) {
        if (operand.kind == IrOperand::Kind::kNode && !operand.control) has_reader_[operand.value] = true;
      }
    }
    for (uint32_t i = 0; i < ir_.nodes.size(); ++i) mark_reads_of(i);
  }

 private:
  void mark_reads_of(uint32_t index) {
    const IrNode& node = ir_.nodes[index];
    const std::string_view type = ir_.op_type(node);
    if (type == "UpdateState") return;
    if (passes_on(type) || takes_element(type) || is_make_tuple(type)) {
      // A value without a reader is returned by the graph: IR protobuf has no Return.
      if (!has_reader_[index]) mark({IrOperand::Kind::kNode, false, index});
      return;
    }
    const auto host = ir_.inputs(node.host);
    const auto operands = ir_.operands_of(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_value = !operands[i].control && !is_monad(ir_, host, operands[i], i);
      if (is_value && !ignores_input(type, static_cast<uint32_t>(i))) mark(operands[i]);
    }
  }

  void mark(const IrOperand& operand) {
    std::vector<IrOperand> whole = {operand};  // values that are read with all their elements
    while (!whole.empty()) {
      IrOperand at = whole.back();
      whole.pop_back();
      std::vector<uint32_t> elements;  // still to be taken out, the innermost last
      for (int hop = 0; hop < kMaxHops && at.kind == IrOperand::Kind::kNode; ++hop) {
        if (elements.empty() && at.output == IrOperand::kWhole) {
          if (read_whole_[at.value]) break;
          read_whole_[at.value] = true;
        }
        const IrNode& node = ir_.nodes[at.value];
        const auto operands = ir_.operands_of(node);
        const std::string_view type = ir_.op_type(node);
        if (node.kind == IrNodeKind::kKernel) {
          const bool all = at.output == IrOperand::kWhole && is_tuple(node);
          read_[first_ + at.value] |= !elements.empty() ? output_bit(elements.back())
                                      : all             ? ~uint64_t{0}
                                                        : output_bit(output_of(at));
          break;
        }
        if (operands.empty()) break;
        if (takes_element(type)) {
          const auto element = operands.size() > 1 ? constant_number(ir_, operands[1]) : std::nullopt;
          if (element) {
            elements.push_back(*element);
          } else {
            elements.clear();
          }
          at = operands[0];
        } else if (passes_on(type)) {
          at = operands[0];
        } else if (is_make_tuple(type) && !elements.empty()) {
          if (elements.back() >= operands.size()) break;
          at = operands[elements.back()];
          elements.pop_back();
        } else {
          if (is_make_tuple(type)) whole.insert(whole.end(), operands.begin(), operands.end());
          break;
        }
      }
    }
  }

  [[nodiscard]] bool is_tuple(const IrNode& node) const {
    const auto types = ir_.outputs(node.host);
    return types.size() > 1 || (types.size() == 1 && ir_.types[types.front()].is_tuple);
  }

  const IrGraph& ir_;
  const OpId first_;
  std::vector<uint64_t>& read_;
  std::vector<bool> has_reader_, read_whole_;  // by node
};

}  // namespace

OutputReads::OutputReads(const OpGraph& graph) : read_(graph.size()) {
  for (const Origin& origin : graph.origins()) ReadMarker(origin, read_).mark_all();
}

bool OutputReads::is_read(OpId op, uint64_t output) const { return (read_[op] & output_bit(output)) != 0; }

bool is_kept(const IrGraph& ir, const IrParameter& parameter) {
  const bool is_ref = parameter.host != kNoIndex && !ir.types[parameter.host].ref_key.empty();
  return parameter.is_weight.value_or(is_ref || parameter.has_default);
}

std::vector<uint32_t> wide_tuples(const IrGraph& ir) {
  std::vector<uint32_t> readers(ir.nodes.size());
  for (const IrNode& node : ir.nodes) {
    for (const IrOperand& operand : ir.operands_of(node)) {
      if (operand.kind == IrOperand::Kind::kNode) ++readers[operand.value];
    }
  }
  std::vector<std::pair<uint64_t, uint32_t>> tuples;  // what unfolding one yields, its node
  uint64_t all = 0;
  for (uint32_t i = 0; i < ir.nodes.size(); ++i) {
    if (!is_make_tuple(ir.op_type(ir.nodes[i]))) continue;
    tuples.emplace_back(uint64_t{ir.nodes[i].operand_count} * readers[i], i);
    all += tuples.back().first;
  }
  const uint64_t budget = std::max(kLeastUnfolded, kUnfoldedPerOperand * ir.operands.size());
  if (all <= budget) return {};
  std::sort(tuples.begin(), tuples.end());
  std::vector<uint32_t> wide;
  uint64_t unfolded = 0;
  for (const auto& [yield, node] : tuples) {
    unfolded += yield;
    if (unfolded > budget) wide.push_back(node);
  }
  std::sort(wide.begin(), wide.end());
  return wide;
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
    if (is_wide(origin, operands[i])) return {};
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
