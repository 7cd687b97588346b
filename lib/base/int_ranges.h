// IntRanges: "0|5-8|100-120" as MindSpore writes iterations, with ',' accepted for '|'. Empty means: everything.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

class IntRanges {
 public:
  // kUsage errors name the item that cannot be understood.
  static Result<IntRanges> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(int64_t value) const;

 private:
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // inclusive
};

}  // namespace msdump
