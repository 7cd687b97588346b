// Pairs a dump that a compiler for the device has named with one of the same network that has MindSpore's names.
//
//   operators  by device_match.h; all operators of the network that are fused into one of the device have it as partner
//   outputs    are those of the last of them; where one was split, the table of rewrites says which is which
//   inputs     by the table of slots if one operator is one operator and the shapes agree; else by shape, dtype, order and
//              values
// A tensor without a partner has the reason, where it is known (Alone).
#pragma once

#include "compare/match/pairing.h"

namespace msdump {

// Fills `pairing`, whose operators are those of both sides. False, and nothing done, when neither side is a device's,
// or both are for certain.
[[nodiscard]] bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step);

}  // namespace msdump
