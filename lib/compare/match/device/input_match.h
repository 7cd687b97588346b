// match_inputs(): matches the inputs of operators of the network with those of the device operator that stands for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compare/match/device/match_evidence.h"

namespace msdump {

// InputMatch: the index in `device` for each input of the host, or no value. Both lists are tensors by ascending slot. Types
// are empty for the inputs of several operators. With `sure`, only values that agree make a pair, unless it is the only
// possible one: some inputs of a split operator are intermediate.
using InputMatch = std::vector<std::optional<uint32_t>>;
[[nodiscard]] InputMatch match_inputs(MatchEvidence& evidence, const std::vector<RecordId>& device,
                                      const std::vector<RecordId>& host, std::string_view device_type,
                                      std::string_view host_type, bool sure);

}  // namespace msdump
