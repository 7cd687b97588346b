// Splits and fusions that are known by the types of their operators (ge/operators/rewrites.txt), in one scope: where the
// device has more operators of a rewriting's types than the host, and the host more of the types that were rewritten.
// Values say which is which, else the order does.
#pragma once

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operator_claims.h"

namespace msdump {

void meet_by_rewrites(Claims& claims, HostOperators& hosts, HostNeighbours& neighbours, MatchEvidence& evidence);

}  // namespace msdump
