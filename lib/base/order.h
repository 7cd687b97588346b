// known_first: the sort key for numbers that may be unknown (ranks, graphs, steps): known ones in order, then unknown
// ones. (A plain std::optional would put unknown ones first.)
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace msdump {

[[nodiscard]] constexpr std::pair<bool, int64_t> known_first(const std::optional<int64_t>& number) {
  return {!number, number.value_or(0)};
}

}  // namespace msdump
