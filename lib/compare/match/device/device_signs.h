// Has a compiler for the device named the operators of a dump? Types alone are a weak sign: a network may have some of
// them itself.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

enum class DeviceSigns : uint8_t { kNone, kTypes, kCertain };
[[nodiscard]] DeviceSigns device_signs(const std::vector<SequencedOp>& operators);

}  // namespace msdump
