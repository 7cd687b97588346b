// Which item of the golden dump each item of the target is compared with, as msprobe pairs them.
//
//   1. exact   equal keys; of several golden items of one key each makes a pair; pairs come in the order of the target
//   2. fuzzy   names without call numbers; both sides are walked in step, with queues of what found no partner yet: the
//              last target item with the first golden one of its name, else the last golden item with the first target
//              one; what was skipped has no partner, and golden items left behind are forgotten. Once one queue runs
//              dry the walk ends, and target items it has not come to are not in the result at all.
//   3. a pair whose dtypes differ is none, unless both are floats of the same framework; across frameworks Float32 and
//              torch.float16 are both "float". With a data mapping dtypes are not looked at.
// Source: reference/compare-and-check.md 2.6; msprobe 26.2.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/msprobe/msprobe_items.h"

namespace msdump {

struct MsprobePair {
  uint32_t target = 0;             // index in the items
  std::optional<uint32_t> golden;  // nothing: no item of that key
};

// `keys`: of the target's items, by index.
[[nodiscard]] std::vector<MsprobePair> match_exactly(const std::vector<std::string>& keys, const MsprobeItems& golden);
[[nodiscard]] std::vector<MsprobePair> match_fuzzily(const std::vector<std::string>& keys, const MsprobeItems& golden);

// Rule 3, on the texts of the result file.
[[nodiscard]] bool msprobe_dtypes_match(std::string_view target, std::string_view golden, bool cross_framework);

}  // namespace msdump
