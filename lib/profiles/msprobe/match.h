// Pairs the items of the target with those of the golden dump, as msprobe 26.2.0 does.
//
//   1. exact   equal keys; every golden item with the key makes a pair; pairs come in the order of the target
//   2. fuzzy   names without call numbers; both sides are read in step, with queues of items that have no partner yet:
//              the last target item with the first golden one of its name, else the last golden item with the first
//              target one. Skipped items have no partner, and remaining golden items are dropped. The match ends when a
//              queue is empty; later target items are not in the result at all.
//   3. dtypes  a pair whose dtypes differ is dropped, unless both are floats of the same framework; across frameworks
//              Float32 and torch.float16 are both "float". With a data mapping dtypes are not compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_items.h"

namespace msdump {

struct MsprobePair {
  uint32_t target = 0;             // index in the items
  std::optional<uint32_t> golden;  // nothing: no item of that key
};

inline constexpr size_t kMostMsprobePairs = size_t{1} << 24;

// `keys`: of the target's items, by index. kTooLarge if repeated keys give more than kMostMsprobePairs.
Result<std::vector<MsprobePair>> match_exactly(const std::vector<std::string>& keys, const MsprobeItems& golden);
[[nodiscard]] std::vector<MsprobePair> match_fuzzily(const std::vector<std::string>& keys, const MsprobeItems& golden);

// Rule 3, on the texts of the result file.
[[nodiscard]] bool msprobe_dtypes_match(std::string_view target, std::string_view golden, bool cross_framework);

}  // namespace msdump
