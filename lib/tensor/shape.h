// Shape: the dimensions of a tensor, outermost first. () is a scalar with one element; a 0 in it makes it empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

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

// Basic indexing as in numpy: which elements of an array `a[0, :, 2:5, ..., -1]` are.
//
//   items, separated by commas, the whole perhaps in brackets:
//   N         one index, counted from the end if negative; the axis is dropped
//   A:B:C     a slice with Python's rules: any part may be missing, bounds are clamped to the axis, C may be negative
//   ...       as many whole axes as are missing, at most once; axes that are not named are taken whole
// Indexing that needs other arrays or makes new axes (lists, masks, None) is not supported.

// A part of an array in C order: its element at index i is element offset + sum(i[k] * strides[k]) of the array.
struct ArrayView {
  int64_t offset = 0;
  Shape shape;
  std::vector<int64_t> strides;
};

// The array itself; its number of elements must fit, and no dimension may be unknown.
[[nodiscard]] ArrayView whole_view(const Shape& shape);

// kUsage naming the item, and the shape if the item contradicts it.
Result<ArrayView> index_view(std::string_view text, const Shape& shape);

// Could this be meant as an index? True for texts of digits, ':', ',', '.', '-', brackets and blanks that contain a
// digit, a colon or an ellipsis: distinguishes `--values 0,:` from `--values FILE`.
[[nodiscard]] bool looks_like_index(std::string_view text);

}  // namespace msdump
