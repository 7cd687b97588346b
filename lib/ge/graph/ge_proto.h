// read_ge_proto: ge_proto_*.txt, a graph of GE as protobuf text.
//
//   1. ModelDef   name, graph {..}, attr {..}; or a GraphDef's fields alone
//   2. GraphDef   name, op {..}, attr {..}; one each for the root and its sub-graphs
//   3. OpDef      name, type, input ("conv1:0"), attr {key value {..}}, subgraph_name, input_desc {..}, output_desc {..}
//   4. TensorDescriptor  dtype, shape {dim}, layout, attr
// Everything else, kernels above all, is skipped at hundreds of megabytes a second. Memory grows with what is kept only.
// What cannot be read is a problem with its line; a file that was cut gives the operators before the cut.
// Source: graph_metadef/proto/ge_ir.proto (reference/field-2026.md 4), reference/ge-operators.md 4.
#pragma once

#include "base/error.h"
#include "ge/graph/proto_text.h"
#include "ir/model/ir_graph.h"

namespace msdump {

// bad_ir if no operator can be read.
Result<IrGraph> read_ge_proto(ProtoText text);

}  // namespace msdump
