// Matches splits and fusions that are known by the types of their operators (ge/operators/rewrites.txt), within a scope. The
// device then has more operators of the new types than the host, and the host has more of the old types. Values decide which
// operators are paired, else the order does.
#pragma once

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operator_claims.h"

namespace msdump {

void meet_by_rewrites(Claims& claims, HostOperators& hosts, HostNeighbours& neighbours, MatchEvidence& evidence);

}  // namespace msdump
