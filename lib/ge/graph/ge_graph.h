// read_ge_json: the JSON that atc prints of a ge_proto (--mode=5) or of an offline model (--mode=1): the fields of
// ge/graph/ge_proto.h under the same names, repeated ones as lists, or a GraphDef alone.
//
// The whole tree is in memory and takes up to nine times the size of the text, so at most kMostGeJson bytes are read: ten
// thousand operators. JSON that is cut cannot be read at all (bad_json with its offset); the ge_proto of the same graph can.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "ge/graph/proto_text.h"
#include "io/file.h"
#include "ir/model/ir_graph.h"

namespace msdump {

inline constexpr uint64_t kMostGeJson = uint64_t{64} << 20;

Result<IrGraph> read_ge_json(std::string_view text);

// read_ge_proto: ge_proto_*.txt, a graph of GE as protobuf text.
//
//   1. ModelDef   name, graph {..}, attr {..}; or a GraphDef's fields alone
//   2. GraphDef   name, op {..}, attr {..}; one each for the root and its sub-graphs
//   3. OpDef      name, type, input ("conv1:0"), attr {key value {..}}, subgraph_name, input_desc {..}, output_desc {..}
//   4. TensorDescriptor  dtype, shape {dim}, layout, attr
// Everything else, kernels above all, is skipped at hundreds of megabytes a second. Memory grows with what is kept only.
// What cannot be read is a problem with its line; a file that was cut gives the operators before the cut.
// Source: graph_metadef/proto/ge_ir.proto (reference/field-2026.md 4), reference/ge-operators.md 4.

// bad_ir if no operator can be read.
Result<IrGraph> read_ge_proto(ProtoText text);

// read_ge_onnx: ge_onnx_*.pbtxt, a graph of GE as ONNX text.
//
//   1. ModelProto  ir_version, producer_name, graph {..}
//   2. GraphProto  node {..}, name
//   3. NodeProto   name, op_type ("ge:Conv2D"), input ("conv1:0"), attribute {name, i | s | ints | strings | g}
//   4. GE's descriptions are attributes: "input_desc_dtype:0", "output_desc_shape:1", "output_desc_origin_layout:0";
//      attributes of a description are "output_desc_attr_NAME:0"
//   5. a sub-graph is a node of type "subgraph" with a graph as attribute; its operators are kept until the root graph ends
// Source: reference/field-2026.md 4 and the files themselves.

// bad_ir if no operator can be read.
Result<IrGraph> read_ge_onnx(ProtoText text);

// read_ge_graph: a graph of GE (the graph engine of CANN) as an IrGraph, from any of the forms in which GE writes it:
// protobuf text (ge/graph/ge_proto.h), ONNX text (ge/graph/ge_onnx.h), JSON of atc (ge/graph/ge_json.h). What becomes of the
// operators is at the head of ge/graph/ge_assembler.h.

enum class GeForm : uint8_t { kProto, kOnnx, kJson };
[[nodiscard]] std::string_view name_of(GeForm form);  // "ge_proto", "ge_onnx", "ge_json"

// By the first 64 KiB, whatever the name of the file is: they hold operators of GE, or the beginning of a model in JSON.
[[nodiscard]] std::optional<GeForm> ge_form(std::string_view first_bytes);

// bad_ir for any other file, and for one in which no operator can be read.
Result<IrGraph> read_ge_graph(const File& file);

// What the name of a file from GE says: ge_proto_00000062_graph_3_Build.txt.
struct GeFileName {
  uint64_t number = 0;  // counts the graphs that GE wrote; the last one of a stage is the one that ran
  std::optional<int64_t> graph;
  std::string_view stage;  // "Build", "PreRunBegin"; may be empty
  GeForm form = GeForm::kProto;

  // Was the graph executed as it is in this file?
  [[nodiscard]] bool executed() const { return stage == "Build" || stage.ends_with("_Build"); }
};
[[nodiscard]] std::optional<GeFileName> ge_file_name(std::string_view name);

}  // namespace msdump
