// Sums of one-byte integers. They are exact, so their order does not matter and a chunk needs no other lanes. Internal
// to lib/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace msdump::kernels {

struct ByteTotals {
  int64_t sum = 0, squares = 0;
  int64_t below_zero = 0, zero = 0;
  int max = 0, min = 0;  // of one element at least
};

// int8, uint8 and bool (of which any non-zero byte is 1); count > 0.
[[nodiscard]] bool has_byte_totals(DType stored);
[[nodiscard]] ByteTotals byte_totals(DType stored, const std::byte* src, int64_t count);

}  // namespace msdump::kernels
