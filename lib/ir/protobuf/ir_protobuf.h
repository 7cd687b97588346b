// read_ir_protobuf: IR protobuf of MindSpore 1.0 to 2.10, into an IrGraph.
//
//   graphs/ms_output_trace_code_graph_{G}.pb         beside a dump: proto/debug_graph.proto, with source lines, names
//                                                    of constants and the id of the root graph
//   ms_output_{phase}.pb, ms_output_vm_build_{G}.pb  of save_graphs: proto/anf_ir.proto, with none of these
//   1. A file is a ModelProto: 1 ir_version (a number), 4 graph; or, in caches of 1.0, a bare GraphProto.
//   2. GraphProto: 1 nodes in the order of the IR text, without Return; 2 name; 3 parameters; 4 outputs; 5 constants;
//      6 id of the root graph. Writers put fields in this order.
//   3. Node: inputs, by the name of a node ("1", "2", ..), of a parameter, or the key of a constant ("cst1"); op type;
//      scope; full name; output type; attributes of the primitive; source lines (add_source_address).
//   4. There are no types of inputs: they follow from what the inputs are. Tensors in tuples have no shape. No device
//      types, no debug names. A parameter that is a tuple may have been unfolded: it is then the input of an operator
//      once for each element.
//   5. The schema shows in what only the dump feature writes: the id of the root graph, source lines, names of
//      constants; a bare GraphProto is from a debugger. File names are not trusted.
// An unreadable part of a graph is a problem with its byte offset, and is left out. A file that ends inside its
// graph (`truncated`) has the nodes that are whole, and lacks what follows them: parameters, constants, the root.
// Source: the writers and files of MindSpore 1.0 to 2.10.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "ir/model/ir_builder.h"
#include "ir/model/ir_graph.h"

namespace msdump {

struct IrProtobufOptions {
  // Keys of attributes to keep: what links an operator to the ones it was made from.
  std::vector<std::string> attributes = {"_datadump_original_names", "datadump_original_names", "forward_node_name"};
  std::vector<std::string> arguments = {};  // keys of those that become IrNode::arguments
  uint64_t max_file = INT32_MAX;            // bytes; protobuf itself stops there
  uint64_t max_memory = uint64_t{8} << 30;  // of the graph
};

// bad_protobuf with the offset for any other file; truncated if it ends before its first node; too_large.
Result<IrGraph> read_ir_protobuf(const File& file, const IrProtobufOptions& options = {});

// Reads source_address, the source lines of an operator: lines as in IR text, joined.
//
//        # In file PATH PLACE/CODE/                  its own stack
//        # Corresponding forward node candidate:     then stacks of the forward operator of a gradient,
//        # Corresponding code candidate:             of operators fused or expanded into this one
//        #  - In file ..                             the first line of such a stack (from 1.6)
//        #    In file ..                             its other lines
// They are innermost first in every version, also from 2.0 on, when IR text is outermost first. Other lines are remarks.
//
// Appends the indices of the frames. Returns how many lines begin as a frame but have no PLACE.
size_t add_source_address(IrGraphBuilder& builder, std::string_view text, std::vector<uint32_t>& frames);

}  // namespace msdump
