// --shard I/N: which units of a run are the I-th of N processes' to do.
//
// The largest units first, each to the share with the fewest bytes so far: no share has more than 4/3 of what the best
// distribution would give the largest one (Graham 1969), and mostly it is far closer. The result depends on the sizes and
// the order of the units alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump {

inline constexpr uint32_t kMostShards = 100'000;

struct Shard {
  uint32_t index = 1, count = 1;  // 1 <= index <= count <= kMostShards
  bool operator==(const Shard&) const = default;
};

// "2/8"; kUsage for anything else.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);
[[nodiscard]] std::string to_string(const Shard& shard);

// For each unit the index of its shard, from 1. Units without bytes count as one byte, so that they are spread, too.
[[nodiscard]] std::vector<uint32_t> shares_of(std::span<const uint64_t> bytes, uint32_t count);

}  // namespace msdump
