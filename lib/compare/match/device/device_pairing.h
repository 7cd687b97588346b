// Pairs a dump that a compiler for the device has named with one of the same network that has MindSpore's names.
//
//   operators  device_match.h. An operator of the network that is fused into one of the device has that one as its partner,
//              and so have the others that are in it
//   outputs    those of the last operator that is in it; by the table where one was split
//   inputs     by the table of slots where one operator is one operator, if the shapes agree; else by shape, dtype, order
//              and values
// What has no partner for a known reason has that reason (Alone).
#pragma once

#include "compare/match/pairing.h"

namespace msdump {

// Fills `pairing`, whose operators are those of both sides. False, and nothing done, when neither side is a device's,
// or both are for certain.
[[nodiscard]] bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step);

}  // namespace msdump
