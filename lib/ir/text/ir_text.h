// read_ir_text: IR text of MindSpore 0.5 to 2.10, whole files and excerpts, into an IrGraph.
//
// The other headers of ir/text describe the spellings of lines, heads, operators and attributes. ir/model/types.h has those
// of types, ir/model/source_frame.h those of source lines.
//   1. An unreadable part is a problem with its line and is left out; everything else is kept. `parsed()` and
//      `expected()` show whether anything is missing.
//   2. A file that ends inside a graph is `truncated`; its last operator is kept if its last line is whole.
//   3. Source lines are put innermost first. Files of 1.x have them so; 2.0 and later outermost first.
//   4. One pass, at some hundreds of megabytes a second; 90 bytes an operator plus its debug name and leaf, and each
//      other text once.
// Source: the dumper sources and files of MindSpore 0.5 to 2.10.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "ir/model/ir_graph.h"
#include "ir/text/text_blocks.h"

namespace msdump {

// The kind of a file, by its first 64 KiB. File names are not trusted: actor_set*.ir and somas_*.ir are not IR,
// trace_code_graph_0012 is.
struct IrKind {
  std::string_view word;  // "ir_text", "ir_dat", "ir_protobuf", "actor_set", "somas", "ge_proto", "ge_onnx", "other"
  std::string_view explanation;  // one sentence, empty for ir_text
};
[[nodiscard]] IrKind ir_kind(std::string_view first_bytes);

struct IrTextOptions {
  // Keys of attributes to keep: what links an operator to the ones it was made from.
  std::vector<std::string> attributes = {"unique_id",         "forward_unique_id",        "forward_comm_node_unique_id",
                                         "forward_node_name", "_datadump_original_names", "datadump_original_names"};
  std::vector<std::string> arguments = {};  // keys of those that become IrNode::arguments
  // Only operators whose text holds this are kept; their operands are not resolved. The others are counted.
  IrNeedle needle;
};

// bad_ir for a file of another kind, and for one in which no operator can be read.
Result<IrGraph> read_ir_text(const File& file, const IrTextOptions& options = {});

}  // namespace msdump
