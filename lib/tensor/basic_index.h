// Basic indexing as numpy has it: which elements of an array `a[0, :, 2:5, ..., -1]` are.
//
//   items, separated by commas, the whole perhaps in brackets:
//   N         one index, counted from the end if negative; that axis goes
//   A:B:C     a slice with Python's rules: any part may be missing, borders beyond the axis are cut, C may be negative
//   ...       as many whole axes as are missing, once; also without it what is not named is taken whole
// What needs a look at other arrays or makes new axes (lists, masks, None) is not taken.
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

// kUsage with the item, and with the shape where it is what the item contradicts.
Result<ArrayView> index_view(std::string_view text, const Shape& shape);

// Could this be meant as an index? True for texts of digits, ':', ',', '.', '-', brackets and blanks that hold a digit,
// a colon or an ellipsis: tells `--values 0,:` from `--values FILE`.
[[nodiscard]] bool looks_like_index(std::string_view text);

}  // namespace msdump
