// Which input of an operator of the network is which input of the device operator that stands for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "graph/join/dump_operators.h"

namespace msdump {

class ValueProbe;

struct InputSides {
  const DumpWithGraph &device, &host;
  ValueProbe& probe;  // of the device and the host
  ReachedLimits& limits;
};

// By input of the host: its place in `device`, or nothing. Both are tensors by ascending slot. Types are empty where
// the inputs are those of several operators. `sure`: only what values confirm, for inputs of which others are made in
// between.
using InputMatch = std::vector<std::optional<uint32_t>>;
[[nodiscard]] InputMatch match_inputs(const InputSides& sides, const std::vector<uint32_t>& device,
                                      const std::vector<uint32_t>& host, std::string_view device_type,
                                      std::string_view host_type, bool sure);

}  // namespace msdump
