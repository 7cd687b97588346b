// read_ge_json: the JSON that atc prints of a ge_proto (--mode=5) or of an offline model (--mode=1): the fields of
// ge/graph/ge_proto.h under the same names, repeated ones as lists, or a GraphDef alone.
//
// The whole tree is in memory and takes up to nine times the size of the text, so at most kMostGeJson bytes are read: ten
// thousand operators. JSON that is cut cannot be read at all (bad_json with its offset); the ge_proto of the same graph can.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ir/model/ir_graph.h"

namespace msdump {

inline constexpr uint64_t kMostGeJson = uint64_t{64} << 20;

Result<IrGraph> read_ge_json(std::string_view text);

}  // namespace msdump
