// The dtype in which tensors of two dtypes can be compared, and their elements in it.
//
//     same dtype           itself
//     bool, integers       the narrowest of int8 to int64, uint8 to uint64 that holds all values of both
//     floats               float32, which all narrower ones fit into, or float64
//     float and integer    float32 with 16 bits or less on both sides, else float64
//     one is complex       complex64, or complex128 where the other part needs float64
//
// Widening is exact but for 64-bit integers: float64 for int64 against uint64 or against a float rounds those above
// 2^53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace msdump::kernels {

// No value if one of them is raw.
[[nodiscard]] std::optional<DType> common_dtype(DType a, DType b);

// `count` elements (codes of less than a byte come unpacked, one a byte) become `to`, which is common_dtype(from, any).
// Memory: `dst` has what `to` needs.
void widen_to(DType from, DType to, const std::byte* src, int64_t count, std::byte* dst);

}  // namespace msdump::kernels
