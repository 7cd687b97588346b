// The formulas of the narrow types, checked in other ways than they are written: by counting up value by value, against
// Eigen, and against values printed in the OCP specifications (OFP8 1.0, MX 1.0) and in the HiFloat8 paper.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/widen/widen.h"
#include "support/catch.h"

namespace msdump::kernels {
namespace {

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// The upper half of the codes is the lower one with the sign changed; NaN stays NaN.
void check_sign_symmetry(DType dtype) {
  for (unsigned code = 1; code < 0x80; ++code) {
    const float positive = narrow_value(dtype, static_cast<uint8_t>(code)),
                negative = narrow_value(dtype, static_cast<uint8_t>(code | 0x80));
    INFO("code " << code);
    if (std::isnan(positive)) {
      CHECK(std::isnan(negative));
    } else {
      CHECK(bits_of(negative) == bits_of(-positive));
    }
  }
}

}  // namespace

TEST_CASE("float8_e5m2 is the upper byte of a half, for all codes") {
  for (unsigned code = 0; code < 256; ++code) {
    const float expected = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<uint16_t>(code << 8)));
    const float actual = narrow_value(DType::kFloat8E5m2, static_cast<uint8_t>(code));
    INFO("code " << code);
    CHECK(std::isnan(actual) == std::isnan(expected));
    if (!std::isnan(expected)) CHECK(bits_of(actual) == bits_of(expected));
  }
}

TEST_CASE("float8_e5m2 has the landmarks of the OCP table") {
  CHECK(narrow_value(DType::kFloat8E5m2, 0x7B) == 57344.0F);
  CHECK(narrow_value(DType::kFloat8E5m2, 0x04) == std::ldexp(1.0F, -14));
  CHECK(narrow_value(DType::kFloat8E5m2, 0x03) == 0.75F * std::ldexp(1.0F, -14));
  CHECK(narrow_value(DType::kFloat8E5m2, 0x01) == std::ldexp(1.0F, -16));
  CHECK(narrow_value(DType::kFloat8E5m2, 0x7C) == INFINITY);
  CHECK(narrow_value(DType::kFloat8E5m2, 0xFC) == -INFINITY);
  for (const unsigned code : {0x7DU, 0x7EU, 0x7FU, 0xFDU, 0xFEU, 0xFFU})
    CHECK(std::isnan(narrow_value(DType::kFloat8E5m2, static_cast<uint8_t>(code))));
}

TEST_CASE("float8_e4m3fn counts up in steps that double every eight codes") {
  float value = 0.0F, step = std::ldexp(1.0F, -9);
  for (unsigned code = 0; code < 0x7F; ++code) {
    INFO("code " << code);
    CHECK(narrow_value(DType::kFloat8E4m3fn, static_cast<uint8_t>(code)) == value);
    if (code >= 16 && code % 8 == 0) step *= 2.0F;
    value += step;
  }
  CHECK(!std::signbit(narrow_value(DType::kFloat8E4m3fn, 0x00)));
  CHECK(bits_of(narrow_value(DType::kFloat8E4m3fn, 0x80)) == 0x8000'0000);
  check_sign_symmetry(DType::kFloat8E4m3fn);
}

TEST_CASE("float8_e4m3fn has the landmarks of the OCP table: no infinity, NaN only where all bits are ones") {
  CHECK(narrow_value(DType::kFloat8E4m3fn, 0x7E) == 448.0F);
  CHECK(narrow_value(DType::kFloat8E4m3fn, 0x08) == std::ldexp(1.0F, -6));
  CHECK(narrow_value(DType::kFloat8E4m3fn, 0x38) == 1.0F);
  CHECK(narrow_value(DType::kFloat8E4m3fn, 0x78) == 256.0F);
  CHECK(std::isnan(narrow_value(DType::kFloat8E4m3fn, 0x7F)));
  CHECK(std::isnan(narrow_value(DType::kFloat8E4m3fn, 0xFF)));
}

TEST_CASE("float8_e8m0 doubles from 2^-127 to 2^127 and ends with NaN") {
  for (int code = 0; code < 255; ++code)
    CHECK(narrow_value(DType::kFloat8E8m0, static_cast<uint8_t>(code)) == std::ldexp(1.0F, code - 127));
  CHECK(bits_of(narrow_value(DType::kFloat8E8m0, 0)) == 0x0040'0000);  // not flushed to zero
  CHECK(narrow_value(DType::kFloat8E8m0, 127) == 1.0F);
  CHECK(std::isnan(narrow_value(DType::kFloat8E8m0, 255)));
}

TEST_CASE("hifloat8 holds exactly the values that its paper lists") {
  // Mantissa bits by magnitude of the exponent: 3 up to 3, 2 up to 7, 1 up to 15; below that powers of two down to 2^-22.
  std::vector<float> expected = {0.0F};
  for (int exponent = -22; exponent <= -16; ++exponent) expected.push_back(std::ldexp(1.0F, exponent));
  for (int exponent = -15; exponent <= 15; ++exponent) {
    const int magnitude = std::abs(exponent);
    const int steps = magnitude <= 3 ? 8 : magnitude <= 7 ? 4 : 2;
    for (int step = 0; step < steps; ++step) {
      expected.push_back(std::ldexp(1.0F + static_cast<float>(step) / static_cast<float>(steps), exponent));
    }
  }
  expected.back() = INFINITY;  // takes the code of 1.5 * 2^15
  std::vector<float> actual;
  for (unsigned code = 0; code < 0x80; ++code)
    actual.push_back(narrow_value(DType::kHifloat8, static_cast<uint8_t>(code)));
  std::sort(actual.begin(), actual.end());
  CHECK(actual == expected);
  check_sign_symmetry(DType::kHifloat8);
}

TEST_CASE("hifloat8 gives each dot field its exponent and mantissa") {
  struct Landmark {
    uint8_t code;
    float value;
  };
  constexpr std::array kLandmarks = {
      Landmark{0x00, 0.0F},     Landmark{0x01, 0x1p-22F}, Landmark{0x07, 0x1p-16F},  // denormal
      Landmark{0x08, 1.0F},     Landmark{0x09, 1.125F},   Landmark{0x0F, 1.875F},    // D0
      Landmark{0x10, 2.0F},     Landmark{0x17, 3.75F},    Landmark{0x18, 0.5F},      Landmark{0x1F, 0.9375F},   // D1
      Landmark{0x20, 4.0F},     Landmark{0x28, 8.0F},     Landmark{0x30, 0.25F},     Landmark{0x38, 0.125F},    // D2
      Landmark{0x40, 16.0F},    Landmark{0x4F, 224.0F},   Landmark{0x50, 0.0625F},   Landmark{0x5C, 0x1p-7F},   // D3
      Landmark{0x60, 256.0F},   Landmark{0x61, 384.0F},   Landmark{0x70, 0x1p-8F},   Landmark{0x7E, 0x1p-15F},  // D4
      Landmark{0x6E, 32768.0F}, Landmark{0x6F, INFINITY}, Landmark{0xEF, -INFINITY}, Landmark{0x88, -1.0F},
  };
  for (const Landmark& landmark : kLandmarks) {
    INFO("code " << static_cast<unsigned>(landmark.code));
    CHECK(narrow_value(DType::kHifloat8, landmark.code) == landmark.value);
  }
  CHECK(std::isnan(narrow_value(DType::kHifloat8, 0x80)));
  CHECK(!std::signbit(narrow_value(DType::kHifloat8, 0x00)));
}

TEST_CASE("Both four-bit floats have the values of their tables and ignore the upper half of the byte") {
  constexpr std::array kE2m1 = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  for (unsigned code = 0; code < 256; ++code) {
    const float sign = (code & 8) != 0 ? -1.0F : 1.0F;
    CHECK(bits_of(narrow_value(DType::kFloat4E2m1, static_cast<uint8_t>(code))) == bits_of(sign * kE2m1[code % 8]));
    CHECK(bits_of(narrow_value(DType::kFloat4E1m2, static_cast<uint8_t>(code))) ==
          bits_of(sign * 0.25F * static_cast<float>(code % 8)));
  }
}

TEST_CASE("All halves decode as Eigen has them, and NaN payloads survive bit by bit") {
  for (unsigned code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<uint16_t>(code);
    const float actual = decode_float16(half);
    const float expected = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(half));
    uint32_t wanted = bits_of(expected);
    // The compiler's conversion may quiet a NaN; ours keeps it as it was.
    if (std::isnan(expected)) wanted = (code & 0x8000U) << 16 | 0x7F80'0000U | (code & 0x3FFU) << 13;
    if (bits_of(actual) != wanted) FAIL_CHECK("code " << code);
  }
}

TEST_CASE("All bfloat16 decode as Eigen has them, NaN payloads included") {
  for (unsigned code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const float actual = decode_bfloat16(bits);
    const float expected = static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(bits));
    if (bits_of(actual) != bits_of(expected) || bits_of(actual) >> 16 != code) FAIL_CHECK("code " << code);
  }
}

TEST_CASE("The traits of a float of at most 16 bits are those of the values of all its codes") {
  for (const DTypeInfo& row : all_dtypes()) {
    if (kind_of(row.dtype) != DTypeKind::kFloat || row.bits > 16) continue;
    INFO(row.name);
    const bool narrow = row.traits.values != nullptr;
    CHECK(narrow == (row.bits <= 8));
    std::vector<float> values;  // of the codes without a sign, in order
    for (unsigned code = 0; code < 1U << (row.bits - (row.dtype == DType::kFloat8E8m0 ? 0 : 1)); ++code) {
      const auto half = static_cast<uint16_t>(code);
      values.push_back(narrow                         ? narrow_value(row.dtype, static_cast<uint8_t>(code))
                       : row.dtype == DType::kFloat16 ? decode_float16(half)
                                                      : decode_bfloat16(half));
    }
    const FloatFormat& format = row.traits.format;
    const size_t subnormals = (size_t{1} << format.mantissa_bits) - 1;
    const auto limits = float_limits(row.dtype);
    CHECK(limits.has_value() == (row.bits >= 8 && format.mantissa_bits > 0));
    const auto is_finite = [](float value) { return std::isfinite(value); };
    const auto finite = static_cast<size_t>(std::count_if(values.begin(), values.end(), is_finite));
    CHECK((std::all_of(values.begin(), values.end(), is_finite)) == (format.specials == SpecialCodes::kNone));
    const bool has_infinity = std::any_of(values.begin(), values.end(), [](float value) { return std::isinf(value); });
    CHECK(has_infinity == (format.specials == SpecialCodes::kIeee));
    if (limits) {
      float largest = 0;
      for (const float value : values) largest = is_finite(value) ? std::max(largest, value) : largest;
      CHECK(limits->largest == double{largest});
      CHECK(values[limits->largest_code] == largest);
      CHECK(limits->last_subnormal == subnormals);
    }
    if (format.exponent_bits == 0 || format.mantissa_bits == 0) continue;  // other fields, or no mantissa
    // Subnormals and the first octave of the others are equally far apart; each later octave doubles the step.
    CHECK(double{values[1]} == std::ldexp(1.0, 1 - format.bias - format.mantissa_bits));
    for (size_t code = 1; code < finite; ++code) {
      const size_t octave = code / (subnormals + 1);
      const double step = std::ldexp(double{values[1]}, octave < 2 ? 0 : static_cast<int>(octave) - 1);
      const double before = code % (subnormals + 1) == 0 && octave >= 2 ? step / 2 : step;
      if (double{values[code]} - double{values[code - 1]} != before) FAIL_CHECK("code " << code);
    }
    if (row.bits == 16) CHECK(unit_roundoff(row.dtype) == std::ldexp(1.0, -format.mantissa_bits - 1));
  }
}

}  // namespace msdump::kernels
