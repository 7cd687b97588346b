#include "ir/protobuf/protobuf_graph.h"

#include "ir/protobuf/protobuf_fields.h"

namespace msdump {
namespace {

// Of ModelProto, GraphProto, NodeProto and NamedValueProto: proto/debug_graph.proto.
constexpr uint32_t kModelGraph = 4;
constexpr uint32_t kNodeTag = 1, kConstantTag = 5, kRootNameTag = 6;
constexpr uint32_t kNodeOutputIndex = 7, kNodeSourceAddress = 9, kLastNodeField = 10;
constexpr uint32_t kConstantFullName = 3;

Error not_ir(size_t offset, std::string_view what) {
  return make_error(ErrorCode::kBadProtobuf, "this is not an IR protobuf: {}", what).with_offset(offset);
}

bool looks_like_node(const ProtobufField& node) {
  ProtobufFields fields(node.bytes);
  while (const auto field = fields.next()) {
    if (field->number > kLastNodeField || field->is_bytes == (field->number == kNodeOutputIndex)) return false;
  }
  return fields.state() == ProtobufFields::State::kGood ||
         (node.cut && fields.state() != ProtobufFields::State::kDamaged);
}

Result<IrProtobufGraph> place_of_graph(std::string_view file) {
  ProtobufFields fields(file);
  for (bool first = true; const auto field = fields.next(); first = false) {
    if (first && field->number == 1 && field->is_bytes && looks_like_node(*field))
      return IrProtobufGraph{file, 0, true, false};
    if (first && (field->number != 1 || field->is_bytes)) return fail(not_ir(0, "it begins with no model and no node"));
    if (field->number == kModelGraph && field->is_bytes) {
      return IrProtobufGraph{field->bytes, static_cast<size_t>(field->bytes.data() - file.data()), false, field->cut};
    }
  }
  if (fields.state() == ProtobufFields::State::kDamaged) return fail(not_ir(fields.offset(), "a damaged field"));
  if (fields.state() == ProtobufFields::State::kGood) return fail(not_ir(file.size(), "there is no graph in it"));
  return fail(make_error(ErrorCode::kTruncated, "the file ends before its graph").with_offset(file.size()));
}

IrSchema schema_of(const IrProtobufGraph& graph) {
  if (graph.bare) return IrSchema::kDebugGraph;
  ProtobufFields fields(graph.bytes);
  while (const auto field = fields.next()) {
    if (!field->is_bytes) continue;
    if (field->number == kRootNameTag) return IrSchema::kDebugGraph;
    if (field->number == kNodeTag && find_field(field->bytes, kNodeSourceAddress)) return IrSchema::kDebugGraph;
    if (field->number == kConstantTag && find_field(field->bytes, kConstantFullName)) return IrSchema::kDebugGraph;
  }
  return IrSchema::kAnfIr;
}

}  // namespace

Result<IrProtobufGraph> find_ir_graph(std::string_view file) {
  MSDUMP_TRY(auto graph, place_of_graph(file));
  graph.schema = schema_of(graph);
  return graph;
}

}  // namespace msdump
