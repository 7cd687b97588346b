// read_ge_onnx: ge_onnx_*.pbtxt, a graph of GE as ONNX text.
//
//   1. ModelProto  ir_version, producer_name, graph {..}
//   2. GraphProto  node {..}, name
//   3. NodeProto   name, op_type ("ge:Conv2D"), input ("conv1:0"), attribute {name, i | s | ints | strings | g}
//   4. GE's descriptions are attributes: "input_desc_dtype:0", "output_desc_shape:1", "output_desc_origin_layout:0";
//      attributes of a description are "output_desc_attr_NAME:0"
//   5. a sub-graph is a node of type "subgraph" with a graph as attribute; its operators are kept until the root graph ends
// Source: reference/field-2026.md 4 and the files themselves.
#pragma once

#include "base/error.h"
#include "ge/graph/proto_text.h"
#include "ir/model/ir_graph.h"

namespace msdump {

// bad_ir if no operator can be read.
Result<IrGraph> read_ge_onnx(ProtoText text);

}  // namespace msdump
