// Shape: the dimensions of a tensor, outermost first; and numpy's basic indexing. () is a scalar with one element, and a
// dimension of 0 makes a tensor empty.
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

// More dimensions are refused in every file. (GE allows 25 and numpy 1 allows 32; MindSpore wrote .npy files with 31.)
inline constexpr size_t kMaxRank = 64;

// Dump files hold dimensions as u64; 2^63 and above mean "unknown".
inline constexpr int64_t kUnknownDim = -1;
[[nodiscard]] constexpr int64_t dim_from_file(uint64_t dim) {
  return dim >> 63 != 0 ? kUnknownDim : static_cast<int64_t>(dim);
}

// No value on overflow and if a dimension is unknown.
[[nodiscard]] inline std::optional<int64_t> element_count(const Shape& shape) { return checked_product(shape); }

// The shape without its dimensions of 1.
[[nodiscard]] Shape without_ones(Shape shape);

// "1x16x4x4"; the empty text for a scalar.
[[nodiscard]] std::string join_dims(const Shape& shape, std::string_view separator);
// For messages: "1x16x4x4", "scalar".
[[nodiscard]] std::string describe(const Shape& shape);

// "[3, 4]" as Python writes a list; nothing for other texts and more than kMaxRank dimensions.
[[nodiscard]] std::optional<Shape> listed_shape(std::string_view text);

// A view of an array in C order: its element at index i is element offset + sum(i[k] * strides[k]) of the array.
struct ArrayView {
  int64_t offset = 0;
  Shape shape;
  std::vector<int64_t> strides;
};

// The view of the whole array. Its number of elements must fit, and no dimension may be unknown.
[[nodiscard]] ArrayView whole_view(const Shape& shape);

// The view a[INDEX] with the items of INDEX separated by commas, perhaps in brackets:
//
//   N         one index, counted from the end if negative; the axis is dropped
//   A:B:C     a slice with Python's rules: parts may be missing, bounds are clamped to the axis, C may be negative
//   ...       all axes that are not named, at most once; missing axes at the end are taken whole
//
// Lists, masks and None are not supported. Errors are kUsage and name the item.
Result<ArrayView> index_view(std::string_view text, const Shape& shape);

// True for texts of digits, ':', ',', '.', '-', brackets and blanks that contain a digit, a colon or an ellipsis.
// Distinguishes `--values 0,:` from `--values FILE`.
[[nodiscard]] bool looks_like_index(std::string_view text);

}  // namespace msdump
