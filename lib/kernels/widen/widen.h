// Widening: elements that numpy cannot hold become elements of info(dtype).npy_dtype, without loss.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace msdump::kernels {

[[nodiscard]] bool needs_unpacking(DType dtype);  // fewer than 8 bits
[[nodiscard]] bool needs_widening(DType dtype);   // after unpacking, still not what the .npy holds

// Elements narrower than a byte become one byte each: integers sign-extended, floats as their codes. The lowest bits of a
// byte are its first element, but 1-bit types begin with the highest (as in msaccucmp). Reads elements
// [first, first + count) counted from `src`.
void unpack(DType from, const std::byte* src, int64_t first, int64_t count, std::byte* dst);

// Elements of whole bytes, or the codes that unpack() made, become float32 (complex32: complex64). `from` is a dtype for
// which needs_widening() holds. NaNs of 16-bit types keep their payload and stay signalling, as in numpy; those of
// narrower types become the quiet one.
void widen(DType from, const std::byte* src, int64_t count, std::byte* dst);

// The definitions of the 16-bit types. Bits are moved, because F16C and float arithmetic make a NaN quiet.
inline constexpr uint32_t kFloatInfinity = 0x7F80'0000;
[[nodiscard]] constexpr uint32_t float16_to_float_bits(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude >= 0x7C00) return sign | kFloatInfinity | (magnitude & 0x3FFU) << 13;
  if (magnitude < 0x0400) return sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
  return sign | ((magnitude << 13) + ((127U - 15U) << 23));  // replaces the bias of the exponent
}
[[nodiscard]] constexpr uint32_t bfloat16_to_float_bits(uint16_t bits) { return static_cast<uint32_t>(bits) << 16; }
[[nodiscard]] constexpr float decode_float16(uint16_t bits) {
  return std::bit_cast<float>(float16_to_float_bits(bits));
}
[[nodiscard]] constexpr float decode_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(bfloat16_to_float_bits(bits));
}

// Internal to lib/kernels: the SIMD part (widen_halves.cpp). Widens as many elements as fill whole vectors and returns
// how many those are, 0 if the CPU has no vectors or "scalar" is forced.
[[nodiscard]] int64_t widen_bfloat16_fast(const std::byte* src, int64_t count, std::byte* dst);
[[nodiscard]] int64_t widen_float16_fast(const std::byte* src, int64_t count, std::byte* dst);
[[nodiscard]] int64_t widen_float32_fast(const std::byte* src, int64_t count, std::byte* dst);  // to float64

}  // namespace msdump::kernels
