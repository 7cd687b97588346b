// Where the graph is in an IR protobuf (ir/protobuf/ir_protobuf.h says what there is), and in which of the two schemas it is.
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
  bool cut = false;        // it should be longer
  IrSchema schema = IrSchema::kDebugGraph;
};

// bad_protobuf for what is not IR protobuf, truncated for what ends too early to decide.
Result<IrProtobufGraph> find_ir_graph(std::string_view file);

}  // namespace msdump
