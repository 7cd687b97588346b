// How many elements lie in a range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace msdump::kernels {

// Elements from `first` to `last`, both included; NaN is in no range. No value for a dtype that is not of real numbers.
[[nodiscard]] std::optional<uint64_t> count_range(DType dtype, const std::byte* elements, int64_t count, double first,
                                                  double last);

}  // namespace msdump::kernels
