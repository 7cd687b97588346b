// The dtype in which tensors of two dtypes are compared, and conversion to it.
//
//     same dtype           itself
//     bool, integers       the narrowest integer type that holds all values of both
//     floats               float32, or float64 if one is float64
//     float and integer    float32 with 16 bits or less on both sides, else float64
//     one is complex       complex64, or complex128 if a part needs float64
//
// Exact, except that 64-bit integers above 2^53 are rounded to float64, which int64 with uint64 or with a float needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace msdump::kernels {

// No value if one of them is raw.
[[nodiscard]] std::optional<DType> common_dtype(DType a, DType b);

// Converts `count` elements to `to`, which is common_dtype(from, any). Types narrower than a byte are unpacked.
void widen_to(DType from, DType to, const std::byte* src, int64_t count, std::byte* dst);

}  // namespace msdump::kernels
