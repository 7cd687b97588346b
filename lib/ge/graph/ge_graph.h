// Reads a graph of GE (the graph engine of CANN) into an IrGraph, from each of the forms in which GE writes it:
//
//   ge_proto_*.txt    protobuf text
//     1. ModelDef   name, graph {..}, attr {..}; or a GraphDef's fields alone
//     2. GraphDef   name, op {..}, attr {..}; one each for the root and its sub-graphs
//     3. OpDef      name, type, input ("conv1:0"), attr {key value {..}}, subgraph_name, input_desc {..}, output_desc {..}
//     4. TensorDescriptor  dtype, shape {dim}, layout, attr
//   ge_onnx_*.pbtxt   ONNX text
//     1. ModelProto  ir_version, producer_name, graph {..}
//     2. GraphProto  node {..}, name
//     3. NodeProto   name, op_type ("ge:Conv2D"), input ("conv1:0"), attribute {name, i | s | ints | strings | g}
//     4. GE's descriptions are attributes: "input_desc_dtype:0", "output_desc_shape:1", "output_desc_origin_layout:0";
//        attributes of a description are "output_desc_attr_NAME:0"
//     5. A sub-graph is a node of type "subgraph" with a graph as attribute. Its operators are kept until the root graph
//        ends.
//   JSON of atc       of a ge_proto (--mode=5) or an offline model (--mode=1): the fields of ge_proto under the same names,
//                     repeated ones as lists, or a GraphDef alone
//
// Texts are read in one pass. Everything else, kernels above all, is skipped at hundreds of megabytes a second, and memory
// grows with what is kept only. An unreadable part is a problem with its line; a file that was cut gives the operators
// before the cut. JSON is read as one tree, which takes up to nine times the size of the text. So files of more than
// kMostGeJson bytes (ten thousand operators) are refused, as is JSON that was cut.
// ge/graph/ge_assembler.h says what becomes of the operators.
// Source: graph_metadef/proto/ge_ir.proto of CANN, and files that GE of CANN 7 and 8 wrote.
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

enum class GeForm : uint8_t { kProto, kOnnx, kJson };
[[nodiscard]] std::string_view name_of(GeForm form);  // "ge_proto", "ge_onnx", "ge_json"

// The form of a file by its first 64 KiB, which hold operators of GE or the beginning of a JSON model. File names are
// not trusted.
[[nodiscard]] std::optional<GeForm> ge_form(std::string_view first_bytes);

// bad_ir for any other file, and for one in which no operator can be read.
Result<IrGraph> read_ge_graph(const File& file);
// The same for one form.
Result<IrGraph> read_ge_proto(ProtoText text);
Result<IrGraph> read_ge_onnx(ProtoText text);
Result<IrGraph> read_ge_json(std::string_view text);

// The facts in the name of a file from GE: ge_proto_00000062_graph_3_Build.txt.
struct GeFileName {
  uint64_t number = 0;  // counts the graphs that GE wrote; the last one of a stage is the one that ran
  std::optional<int64_t> graph;
  std::string_view stage;  // "Build", "PreRunBegin"; may be empty
  GeForm form = GeForm::kProto;

  // True if the graph was executed in the form of this file.
  [[nodiscard]] bool executed() const { return stage == "Build" || stage.ends_with("_Build"); }
};
[[nodiscard]] std::optional<GeFileName> ge_file_name(std::string_view name);

}  // namespace msdump
