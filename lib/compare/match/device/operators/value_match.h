// Operators of the device that neither name nor type nor order have matched, by the values of their outputs alone.
#pragma once

#include <cstdint>
#include <map>

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/claims.h"
#include "compare/match/device/operators/host_operators.h"

namespace msdump {

// The operator of the host, by that of the device. They are taken.
[[nodiscard]] std::map<uint32_t, uint32_t> match_by_values(Claims& claims, HostOperators& hosts,
                                                           MatchEvidence& evidence);

}  // namespace msdump
