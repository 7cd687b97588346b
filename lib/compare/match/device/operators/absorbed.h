// Operators of the host that the device has as part of the one before, without naming them: a bias, an activation. The
// output of the device operator is theirs, as values show.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/claims.h"
#include "compare/match/device/operators/host_neighbours.h"
#include "compare/match/device/operators/host_operators.h"

namespace msdump {

inline constexpr uint32_t kMostAbsorbed = 6;  // by one operator

// By device operator, in the order of the data flow. They are taken.
[[nodiscard]] std::map<uint32_t, std::vector<uint32_t>> absorb_consumers(Claims& claims, HostOperators& hosts,
                                                                         HostNeighbours& neighbours,
                                                                         MatchEvidence& evidence);

}  // namespace msdump
