// known_first: the key by which numbers that may not be known (ranks, graphs, steps) are sorted: in their order, and what
// is not known after what is. (A plain std::optional would come first.)
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace msdump {

[[nodiscard]] constexpr std::pair<bool, int64_t> known_first(const std::optional<int64_t>& number) {
  return {!number, number.value_or(0)};
}

}  // namespace msdump
