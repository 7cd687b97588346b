// Where the graph is in an IR protobuf (format: ir/protobuf/ir_protobuf.h), and which of the two schemas it has.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "ir/protobuf/protobuf_value.h"

namespace msdump {

struct IrProtobufGraph {
  std::string_view bytes;  // the GraphProto
  size_t offset = 0;       // of it in the file
  bool bare = false;       // it is the whole file
  bool cut = false;        // it extends past the end of the file
  IrSchema schema = IrSchema::kDebugGraph;
};

// bad_protobuf if it is not IR protobuf, truncated if it ends too early to decide.
Result<IrProtobufGraph> find_ir_graph(std::string_view file);

}  // namespace msdump
