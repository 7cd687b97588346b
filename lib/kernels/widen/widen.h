// Widening: element types that numpy lacks become types that it has, without loss.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace msdump::kernels {

// Sub-byte types (int4, uint4-like codes of float4, int2, uint2, uint1) become one byte per element: ints
// sign-extended, float4 as its code. Order inside a byte: low bits first, except uint1, which is most significant bit
// first (as in msaccucmp). Reads elements [first, first + count) counted from `src`.
void unpack(DType from, const std::byte* src, int64_t first, int64_t count, std::byte* dst);

// Whole-byte elements (or codes that `unpack` made) become info(from).npy_dtype: bfloat16, fp8 (all), HiFloat8 and float4
// codes -> float32; complex32 -> complex64. NaN payloads of the 16-bit types survive and stay signalling, as numpy has
// them; codes that mean NaN become the quiet one. `from` must be one for which `needs_widening` holds.
void widen(DType from, const std::byte* src, int64_t count, std::byte* dst);

[[nodiscard]] bool needs_unpacking(DType dtype);  // fewer than 8 bits
[[nodiscard]] bool needs_widening(DType dtype);   // after unpacking, still not what the .npy holds

// The definitions, one value at a time, by the formulas of each type. The tables and SIMD forms are tested against
// them.
[[nodiscard]] float decode_float8_e5m2(uint8_t code);
[[nodiscard]] float decode_float8_e4m3fn(uint8_t code);
[[nodiscard]] float decode_float8_e8m0(uint8_t code);
[[nodiscard]] float decode_hifloat8(uint8_t code);
[[nodiscard]] float decode_float4_e2m1(uint8_t code);
[[nodiscard]] float decode_float4_e1m2(uint8_t code);
[[nodiscard]] float decode_float16(uint16_t bits);
[[nodiscard]] float decode_bfloat16(uint16_t bits);

}  // namespace msdump::kernels
