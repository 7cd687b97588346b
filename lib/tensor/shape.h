// Shape: the dimensions of a tensor, outermost first. () is a scalar with one element; a 0 in it makes it empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace msdump {

using Shape = std::vector<int64_t>;

// A rank above this is refused wherever a shape is read from a file. GE stops at 25, MindSpore at 8 for most operators;
// real npy files of MindSpore with 31 dimensions exist, and numpy 1 stops at 32.
inline constexpr size_t kMaxRank = 64;

// Dump files carry dimensions as u64, in which 2^63 and above stand for "unknown".
inline constexpr int64_t kUnknownDim = -1;
[[nodiscard]] constexpr int64_t dim_from_file(uint64_t dim) {
  return dim >> 63 != 0 ? kUnknownDim : static_cast<int64_t>(dim);
}

// No value on overflow and for unknown dimensions.
[[nodiscard]] inline std::optional<int64_t> element_count(const Shape& shape) { return checked_product(shape); }

// Without the dimensions of 1.
[[nodiscard]] Shape without_ones(Shape shape);

// "1x16x4x4"; the empty text for a scalar.
[[nodiscard]] std::string join_dims(const Shape& shape, std::string_view separator);
// For messages: "1x16x4x4", "scalar".
[[nodiscard]] std::string describe(const Shape& shape);

}  // namespace msdump
