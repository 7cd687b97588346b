// Pairs a dump that a compiler for the device has named with a dump of the same network that has MindSpore's names.
//
//   operators  by device_match.h; operators that are fused into one device operator all have it as partner
//   outputs    of a device operator are those of the last of its operators; for splits the table of rewrites decides
//   inputs     by the table of slots if one operator is one operator and the shapes agree; else by shape, dtype, order and
//              values
//
// A tensor without a partner has the reason, if known (Alone).
#pragma once

#include "compare/match/pairing.h"

namespace msdump {

// Fills `pairing`, whose operators are those of both sides. Returns false and changes nothing if neither side is a device's,
// or both are for certain.
[[nodiscard]] bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step);

}  // namespace msdump
