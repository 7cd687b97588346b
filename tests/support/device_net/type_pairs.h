// Types of operators of a host and of a device whose operands are known one by one, from ge/operators/operators.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace msdump::test {

using DeviceSlots = std::vector<std::optional<uint32_t>>;  // by operand; none: an attribute

struct TypePair {
  std::string_view host, device;
  DeviceSlots slots;
  uint32_t outputs = 1;
};

[[nodiscard]] const std::vector<TypePair>& type_pairs();

}  // namespace msdump::test
