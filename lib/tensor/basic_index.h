// Basic indexing as in numpy: which elements of an array `a[0, :, 2:5, ..., -1]` are.
//
//   items, separated by commas, the whole perhaps in brackets:
//   N         one index, counted from the end if negative; the axis is dropped
//   A:B:C     a slice with Python's rules: any part may be missing, bounds are clamped to the axis, C may be negative
//   ...       as many whole axes as are missing, at most once; axes that are not named are taken whole
// Indexing that needs other arrays or makes new axes (lists, masks, None) is not supported.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/shape.h"

namespace msdump {

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
