#include "support/ir_pb_builder.h"

#include <bit>

namespace msdump::test {

std::string pb_varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string pb_number(uint32_t field, uint64_t value) { return pb_varint(field << 3) + pb_varint(value); }

std::string pb_bytes(uint32_t field, std::string_view bytes) {
  return pb_varint((field << 3) | 2) + pb_varint(bytes.size()) + std::string(bytes);
}

std::string pb_float(uint32_t field, float value) {
  std::string bytes = pb_varint((field << 3) | 5);
  for (uint32_t bits = std::bit_cast<uint32_t>(value), i = 0; i < 4; ++i, bits >>= 8) {
    bytes += static_cast<char>(bits & 0xff);
  }
  return bytes;
}

std::string pb_type(int number) { return pb_number(1, static_cast<uint64_t>(number)); }

std::string pb_tensor_type(int element, const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t dim : dims) shape += pb_bytes(1, pb_number(1, static_cast<uint64_t>(dim)));
  return pb_type(14) + pb_bytes(2, pb_type(element) + (dims.empty() ? "" : pb_bytes(2, shape)));
}

std::string pb_tuple_type(const std::vector<std::string>& elements) {
  std::string sequence;
  for (const std::string& element : elements) sequence += pb_bytes(1, element);
  return pb_type(31) + pb_bytes(3, sequence);
}

std::string pb_int_value(int64_t value) { return pb_number(1, 5) + pb_number(3, static_cast<uint64_t>(value)); }
std::string pb_text_value(std::string_view text) { return pb_number(1, 13) + pb_bytes(7, text); }

std::string pb_list_value(int number, const std::vector<std::string>& items) {
  std::string value = pb_number(1, static_cast<uint64_t>(number));
  for (const std::string& item : items) value += pb_bytes(18, item);
  return value;
}

std::string build_pb_node(const PbNode& node) {
  std::string bytes;
  for (const std::string& input : node.inputs) bytes += pb_bytes(1, pb_bytes(1, input) + pb_number(2, 0));
  bytes += pb_bytes(2, node.name) + pb_bytes(3, node.op_type) + pb_bytes(4, node.scope);
  for (const auto& [name, value] : node.attributes) bytes += pb_bytes(5, pb_bytes(1, name) + pb_bytes(2, value));
  bytes += pb_bytes(6, node.output_type) + pb_bytes(8, node.full_name);
  if (node.source_address) bytes += pb_bytes(9, *node.source_address);
  if (node.instance_name) bytes += pb_bytes(10, *node.instance_name);
  return bytes;
}

std::string build_ir_pb(const IrPbSpec& spec) {
  std::string graph;
  for (const PbNode& node : spec.nodes) graph += pb_bytes(1, build_pb_node(node));
  graph += pb_bytes(2, spec.name);
  for (const auto& [name, type] : spec.parameters) graph += pb_bytes(3, pb_bytes(1, name) + pb_bytes(2, type));
  if (!spec.nodes.empty()) graph += pb_bytes(4, pb_bytes(1, spec.nodes.back().name));
  for (const PbConstant& constant : spec.constants) {
    std::string bytes = pb_bytes(1, constant.key) + pb_bytes(2, constant.value);
    if (constant.full_name) bytes += pb_bytes(3, *constant.full_name);
    graph += pb_bytes(5, bytes);
  }
  if (spec.root_name) graph += pb_bytes(6, *spec.root_name);
  return spec.bare ? graph : pb_number(1, 1) + pb_bytes(4, graph);
}

IrPbSpec small_ir_pb() {
  IrPbSpec spec;
  spec.nodes = {
      {.name = "1",
       .op_type = "Add",
       .scope = "Default/net-Net",
       .full_name = "Default/net-Net/Add-op3",
       .inputs = {"x", "cst1"},
       .source_address = "      # In file /net.py:7/        a + 1/\n      # In file /train.py:40/    net(x)/\n"},
      {.name = "2",
       .op_type = "ReLU",
       .scope = "Default/net-Net",
       .full_name = "Default/net-Net/ReLU-op4",
       .inputs = {"1"},
       .source_address = "      # In file /net.py:8/        relu(b)/\n"}};
  spec.parameters = {{"x", pb_tensor_type(11, {2, 3})}};
  spec.constants = {{"cst1", pb_int_value(1), "Default--data-0"}};
  spec.root_name = "0";
  return spec;
}

const std::vector<IrPbFault>& all_ir_pb_faults() {
  static const std::vector<IrPbFault> all = {
      IrPbFault::kEmptyFile,      IrPbFault::kTextFile,        IrPbFault::kNoGraph,        IrPbFault::kCutBeforeGraph,
      IrPbFault::kCutInFirstNode, IrPbFault::kNoOperators,     IrPbFault::kGroup,          IrPbFault::kFieldZero,
      IrPbFault::kLongVarint,     IrPbFault::kLengthPastGraph, IrPbFault::kNodesOfGarbage, IrPbFault::kDeepType,
      IrPbFault::kDeepValue,      IrPbFault::kNoOpType};
  return all;
}

std::string_view name_of(IrPbFault fault) {
  switch (fault) {
    case IrPbFault::kEmptyFile: return "empty file";
    case IrPbFault::kTextFile: return "text file";
    case IrPbFault::kNoGraph: return "no graph";
    case IrPbFault::kCutBeforeGraph: return "cut before the graph";
    case IrPbFault::kCutInFirstNode: return "cut in the first node";
    case IrPbFault::kNoOperators: return "no operators";
    case IrPbFault::kGroup: return "group";
    case IrPbFault::kFieldZero: return "field zero";
    case IrPbFault::kLongVarint: return "long varint";
    case IrPbFault::kLengthPastGraph: return "length past the graph";
    case IrPbFault::kNodesOfGarbage: return "nodes of garbage";
    case IrPbFault::kDeepType: return "deep type";
    case IrPbFault::kDeepValue: return "deep value";
    case IrPbFault::kNoOpType: return "no op type";
  }
  return "";
}

std::string build_faulty_ir_pb(IrPbFault fault) {
  IrPbSpec spec = small_ir_pb();
  const auto with_field = [&](const std::string& field) {
    const std::string graph = build_ir_pb({.nodes = spec.nodes, .bare = true});
    return pb_number(1, 1) + pb_bytes(4, graph + field);
  };
  switch (fault) {
    case IrPbFault::kEmptyFile: return "";
    case IrPbFault::kTextFile: return "\n# IR entry: @kernel_graph0\n# Total subgraphs: 1\n";
    case IrPbFault::kNoGraph: return pb_number(1, 1) + pb_bytes(2, "mindspore");
    case IrPbFault::kCutBeforeGraph: return build_ir_pb(spec).substr(0, 3);
    case IrPbFault::kCutInFirstNode: return build_ir_pb(spec).substr(0, 40);
    case IrPbFault::kNoOperators: return build_ir_pb({.bare = true});
    case IrPbFault::kGroup: return with_field(pb_varint(7 << 3 | 3));
    case IrPbFault::kFieldZero: return with_field(pb_number(0, 1));
    case IrPbFault::kLongVarint: return with_field(pb_varint(7 << 3) + std::string(11, '\xff'));
    case IrPbFault::kLengthPastGraph: return with_field(pb_varint(7 << 3 | 2) + pb_varint(9));
    case IrPbFault::kNodesOfGarbage:
      return pb_number(1, 1) + pb_bytes(4, pb_bytes(1, "\xff\xff") + pb_bytes(1, "\x0b"));
    case IrPbFault::kDeepType:
      for (int i = 0; i < 300; ++i) spec.nodes[0].output_type = pb_tuple_type({spec.nodes[0].output_type});
      return build_ir_pb(spec);
    case IrPbFault::kDeepValue:
      for (int i = 0; i < 300; ++i) spec.constants[0].value = pb_list_value(31, {spec.constants[0].value});
      return build_ir_pb(spec);
    case IrPbFault::kNoOpType: spec.nodes[0].op_type.clear(); return build_ir_pb(spec);
  }
  return "";
}

}  // namespace msdump::test
