// Which inputs of the operators of the host the device operator that stands for them can have: those that none of them
// makes for another.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/device/device_match.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/device/op_runs.h"

namespace msdump {

struct HostInput {
  uint32_t host = 0, tensor = 0;  // operator
};

// In one run. `hosts` are the runs of match.hosts.
[[nodiscard]] std::vector<HostInput> outer_inputs(const DeviceMatch& match, const std::vector<Runs>& hosts,
                                                  const RunKey& key, MatchEvidence& evidence);

}  // namespace msdump
