// Any bytes as an IR protobuf, against libprotobuf's reading of the whole graph; as a type and a value of both schemas;
// and as the source lines of an operator.
#include <string>
#include <string_view>

#include "debug_graph.pb.h"
#include "fuzz_file.h"
#include "ir/model/types.h"
#include "ir/protobuf/ir_protobuf.h"
#include "ir/protobuf/protobuf_value.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_types(const IrGraph& ir, std::span<const uint32_t> types) {
  for (const uint32_t type : types) require(type < ir.types.size(), "a type is there");
}

void check_operand(const IrGraph& ir, const IrOperand& operand) {
  const size_t bounds[] = {ir.nodes.size(), ir.parameters.size(), ir.graphs.size(),
                           SIZE_MAX,        ir.constants.size(),  SIZE_MAX};
  require(operand.value < bounds[static_cast<size_t>(operand.kind)], "what an operand refers to is there");
  require(operand.kind != IrOperand::Kind::kConstant, "a constant has a name");
}

void check_graph(const IrGraph& ir, size_t size) {
  require(ir.graphs.size() == 1 && ir.graphs[0].node_count == ir.nodes.size(), "there is one graph with all operators");
  require(ir.parsed() <= ir.expected(), "no operator is made up");
  require(!ir.facts.truncated || ir.facts.truncated_at == size, "a file is cut at its end");
  for (const IrNode& node : ir.nodes) {
    require(!ir.text(node.op).empty(), "an operator has a type");
    require(ir.inputs(node.host).size() == node.operand_count, "each operand has a type");
    check_types(ir, ir.inputs(node.host));
    check_types(ir, ir.outputs(node.host));
    for (const IrOperand& operand : ir.operands_of(node)) check_operand(ir, operand);
    for (const uint32_t frame : ir.stack(node)) require(frame < ir.frames.size(), "a frame is there");
    (void)ir.full_name(node);
  }
  for (const IrParameter& parameter : ir.parameters) check_types(ir, {&parameter.host, 1});
  for (const IrConstant& constant : ir.constants) check_types(ir, {&constant.type, 1});
}

// What libprotobuf says of the same bytes. It takes groups for unknown fields, which we refuse.
void check_against_libprotobuf(const IrGraph& ir, std::string_view text) {
  const auto place = find_ir_graph(text);
  require(place.has_value(), "what is read has a graph");
  pb::debugger::GraphProto graph;
  if (place->cut || !graph.ParseFromArray(place->bytes.data(), static_cast<int>(place->bytes.size()))) return;
  size_t nodes = 0, parameters = 0, constants = 0;
  for (const auto& node : graph.node()) {
    if (node.op_type().empty()) continue;
    require(nodes < ir.nodes.size() && ir.text(ir.nodes[nodes].op) == node.op_type(), "both see the same operator");
    if (!node.full_name().empty()) require(!ir.full_name(ir.nodes[nodes]).empty(), "both see its name");
    require(ir.nodes[nodes].operand_count == static_cast<size_t>(node.input_size()), "both see its operands");
    ++nodes;
  }
  for (const auto& parameter : graph.parameters()) parameters += parameter.has_name() ? size_t{1} : size_t{0};
  for (const auto& constant : graph.const_vals()) constants += constant.has_key() ? size_t{1} : size_t{0};
  require(ir.nodes.size() == nodes, "both see as many operators");
  require(ir.parameters.size() == parameters, "both see as many parameters");
  require(ir.constants.size() == constants, "both see as many constants");
}

void check_file(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const auto ir = read_ir_protobuf(input.open());
  if (!ir) {
    fuzz::require_good_error(ir.error());
    require(ir.error().code == ErrorCode::kTooLarge || ir.error().offset <= size, "an error says where");
    return;
  }
  check_graph(*ir, size);
  check_against_libprotobuf(*ir, text);
}

void check_type(std::string_view text) {
  require(text.empty() || (text.front() == '<' && text.back() == '>'), "a type is in brackets");
  (void)parse_ir_type(text, 1000);
}

void check_source_address(std::string_view text) {
  IrGraphBuilder builder;
  std::vector<uint32_t> frames;
  (void)add_source_address(builder, text, frames);
  if (!frames.empty()) require(builder.graph().frames[frames[0]].begins_chain, "the first line begins a stack");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_file(data, size);
  for (const IrSchema schema : {IrSchema::kAnfIr, IrSchema::kDebugGraph}) {
    if (const auto type = protobuf_type_text(schema, text)) check_type(*type);
    if (const auto value = protobuf_value(schema, text)) check_type(value->type);
  }
  check_source_address(text);
  return 0;
}
