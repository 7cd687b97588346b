// The value of one code of each narrow floating-point type, by its definition; constexpr, so that the tables of widen.cpp
// are made by the compiler. Internal to lib/kernels: widen.h has the same as ordinary functions.
//
// In the pictures S is the sign, E the exponent, M the mantissa, most significant bit first.
#pragma once

#include <bit>
#include <cstdint>

namespace msdump::kernels::formula {

constexpr uint32_t kFloatInfinity = 0x7F80'0000;
constexpr uint32_t kFloatQuietNan = 0x7FC0'0000;

constexpr float with_sign(bool negative, float magnitude) { return negative ? -magnitude : magnitude; }
constexpr float infinity(bool negative) { return with_sign(negative, std::bit_cast<float>(kFloatInfinity)); }
constexpr float nan() { return std::bit_cast<float>(kFloatQuietNan); }

// significand * 2^exponent. Every step is exact: all results here are floats, the smallest 2^-127.
constexpr float scaled(uint32_t significand, int exponent) {
  auto value = static_cast<float>(significand);
  for (; exponent > 0; --exponent) value *= 2.0F;
  for (; exponent < 0; ++exponent) value *= 0.5F;
  return value;
}

// A code with `mantissa_bits` and a biased exponent above them, no special values: E = 0 is denormal.
constexpr float small_float(uint32_t magnitude, int mantissa_bits, int bias) {
  const uint32_t one = 1U << mantissa_bits;
  const uint32_t mantissa = magnitude & (one - 1);
  const auto exponent = static_cast<int>(magnitude >> mantissa_bits);
  if (exponent == 0) return scaled(mantissa, 1 - bias - mantissa_bits);
  return scaled(one + mantissa, exponent - bias - mantissa_bits);
}

// OCP 8-bit floating point: S EEEEE MM, bias 15, with infinities; as binary16 cut to its upper half.
constexpr float float8_e5m2(uint8_t code) {
  const bool negative = (code & 0x80) != 0;
  const uint32_t magnitude = code & 0x7FU;
  if (magnitude == 0x7C) return infinity(negative);
  if (magnitude > 0x7C) return nan();
  return with_sign(negative, small_float(magnitude, 2, 15));
}

// OCP 8-bit floating point: S EEEE MMM, bias 7, no infinities; all ones is NaN, so 0x7E = 448 is the largest.
constexpr float float8_e4m3fn(uint8_t code) {
  const uint32_t magnitude = code & 0x7FU;
  if (magnitude == 0x7F) return nan();
  return with_sign((code & 0x80) != 0, small_float(magnitude, 3, 7));
}

// OCP microscaling scale: EEEEEEEE, 2^(E - 127), no sign and no zero.
constexpr float float8_e8m0(uint8_t code) {
  if (code == 0xFF) return nan();
  return scaled(1, static_cast<int>(code) - 127);
}

// HiFloat8: the number of exponent bits is given by a prefix ("dot field") of two to four bits, and the mantissa takes what
// is left of seven bits. Codes instead of the values they would have: 0x00 zero, 0x80 NaN, 0x6F and 0xEF the infinities.
//
//     S 11   EEEE M      exponent 8..15 either way        S 001  E MMM    exponent 1 or -1
//     S 10   EEE MM      4..7                             S 0001 MMM      exponent 0
//     S 01   EE MMM      2..3                             S 0000 MMM      denormal: 2^(M - 23)
//
// An exponent field of D bits is a sign and D - 1 bits below a hidden leading 1: |exponent| = 2^(D-1) + bits.
constexpr float hifloat8(uint8_t code) {
  const bool negative = (code & 0x80) != 0;
  const uint32_t low = code & 0x7FU;
  if (low == 0) return negative ? nan() : 0.0F;
  if (low == 0x6F) return infinity(negative);
  if (low < 0x08) return with_sign(negative, scaled(1, static_cast<int>(low) - 23));

  int prefix_bits = 4, exponent_bits = 0;
  if (low >= 0x20) {
    prefix_bits = 2;
    exponent_bits = static_cast<int>(low >> 5) + 1;  // 01 -> 2, 10 -> 3, 11 -> 4
  } else if (low >= 0x10) {
    prefix_bits = 3;
    exponent_bits = 1;
  }
  const int mantissa_bits = 7 - prefix_bits - exponent_bits;
  const uint32_t one = 1U << mantissa_bits;
  const uint32_t mantissa = low & (one - 1);
  int exponent = 0;
  if (exponent_bits > 0) {
    const uint32_t hidden = 1U << (exponent_bits - 1);
    const uint32_t field = (low >> mantissa_bits) & (2 * hidden - 1);
    const auto magnitude = static_cast<int>(hidden | (field & (hidden - 1)));
    exponent = (field & hidden) != 0 ? -magnitude : magnitude;
  }
  return with_sign(negative, scaled(one + mantissa, exponent - mantissa_bits));
}

// OCP microscaling 4-bit: S EE M, bias 1: 0, 0.5, 1, 1.5, 2, 3, 4, 6. The upper half of the byte is ignored.
constexpr float float4_e2m1(uint8_t code) { return with_sign((code & 0x8) != 0, small_float(code & 0x7U, 1, 1)); }

// Ascend's other 4-bit type: S E MM, bias 1: 0 to 1.75 in steps of 0.25.
constexpr float float4_e1m2(uint8_t code) { return with_sign((code & 0x8) != 0, small_float(code & 0x7U, 2, 1)); }

// IEEE binary16: S EEEEE MMMMMMMMMM, bias 15. A NaN keeps its payload and stays signalling, as numpy has it (F16C would
// make it quiet), hence the bits are returned and not the float.
constexpr uint32_t float16_to_float_bits(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude >= 0x7C00) return sign | kFloatInfinity | (magnitude & 0x3FFU) << 13;
  if (magnitude < 0x0400) return sign | std::bit_cast<uint32_t>(scaled(magnitude, -24));
  return sign | ((magnitude << 13) + ((127U - 15U) << 23));  // replaces the bias of the exponent
}

}  // namespace msdump::kernels::formula
