#include "kernels/widen/widen.h"

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kCanary{0xA5};

// The definition of one narrow value as the bits of a float; the code is the value's one or two bytes.
uint32_t defined(DType dtype, uint16_t code) {
  if (dtype == DType::kBfloat16) return std::bit_cast<uint32_t>(decode_bfloat16(code));
  if (dtype == DType::kComplex32) return std::bit_cast<uint32_t>(decode_float16(code));
  return std::bit_cast<uint32_t>(narrow_value(dtype, static_cast<uint8_t>(code)));
}

// Widens `codes` (all values of a type, or some) from and to odd addresses and compares every byte.
void check_widen(DType dtype, const std::vector<uint16_t>& codes) {
  const size_t code_bytes = dtype == DType::kBfloat16 || dtype == DType::kComplex32 ? 2 : 1;
  Bytes src(1 + codes.size() * code_bytes), dst(1 + codes.size() * 4 + 64, kCanary), expected = dst;
  for (size_t i = 0; i < codes.size(); ++i) {
    std::memcpy(src.data() + 1 + i * code_bytes, &codes[i], code_bytes);
    const uint32_t wide = defined(dtype, codes[i]);
    std::memcpy(expected.data() + 1 + i * 4, &wide, sizeof wide);
  }
  const size_t elements = dtype == DType::kComplex32 ? codes.size() / 2 : codes.size();
  widen(dtype, src.data() + 1, static_cast<int64_t>(elements), dst.data() + 1);
  if (dst != expected) FAIL_CHECK(name_of(dtype) << ", " << codes.size() << " codes");
}

int defined_element(DType dtype, const Bytes& src, int64_t index) {
  const int bits = info(dtype).bits;
  const int64_t per_byte = 8 / bits;
  const auto byte = std::to_integer<int>(src[static_cast<size_t>(index / per_byte)]);
  const auto in_byte = static_cast<int>(index % per_byte);
  if (dtype == DType::kUint1) return (byte >> (7 - in_byte)) & 1;
  const int code = (byte >> (in_byte * bits)) % (1 << bits);
  const bool is_signed = dtype == DType::kInt4 || dtype == DType::kInt2;
  return is_signed && code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

}  // namespace

TEST_CASE("Every code of every type widens as its formula says, on every CPU target") {
  for_each_target([] {
    for (const DTypeInfo& entry : all_dtypes()) {
      if (!needs_widening(entry.dtype)) continue;
      std::vector<uint16_t> codes(entry.bits >= 16 ? 0x10000 : 256);
      for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
      check_widen(entry.dtype, codes);
    }
  });
}

TEST_CASE("Any number of elements widens, and nothing is written after them") {
  for_each_target([] {
    std::mt19937 random(3);
    for (const DTypeInfo& entry : all_dtypes()) {
      if (!needs_widening(entry.dtype)) continue;
      for (size_t count = 0; count < 140; ++count) {
        std::vector<uint16_t> codes(entry.dtype == DType::kComplex32 ? 2 * count : count);
        for (uint16_t& code : codes) code = static_cast<uint16_t>(random() & (entry.bits >= 16 ? 0xFFFF : 0xFF));
        check_widen(entry.dtype, codes);
      }
    }
  });
}

TEST_CASE("Elements narrower than a byte unpack from any first to any last one") {
  std::mt19937 random(4);
  Bytes src(9);
  for (std::byte& byte : src) byte = static_cast<std::byte>(random() & 0xFF);
  for (const DTypeInfo& entry : all_dtypes()) {
    if (!needs_unpacking(entry.dtype)) continue;
    const auto total = static_cast<int64_t>(src.size()) * 8 / entry.bits;
    for (int64_t first = 0; first <= total; ++first) {
      for (int64_t count = 0; first + count <= total; ++count) {
        Bytes dst(static_cast<size_t>(count) + 8, kCanary), expected = dst;
        for (int64_t i = 0; i < count; ++i) {
          expected[static_cast<size_t>(i)] =
              static_cast<std::byte>(defined_element(entry.dtype, src, first + i) & 0xFF);
        }
        unpack(entry.dtype, src.data(), first, count, dst.data());
        if (dst != expected) FAIL_CHECK(entry.name << " from " << first << ", " << count << " elements");
      }
    }
  }
}

TEST_CASE("int4 has its low nibble first and is sign-extended; uint1 has its highest bit first") {
  const Bytes nibbles = {std::byte{0xF7}, std::byte{0x80}};
  Bytes dst(4);
  unpack(DType::kInt4, nibbles.data(), 0, 4, dst.data());
  CHECK(dst == Bytes{std::byte{7}, std::byte{0xFF}, std::byte{0}, std::byte{0xF8}});
  unpack(DType::kFloat4E2m1, nibbles.data(), 0, 4, dst.data());
  CHECK(dst == Bytes{std::byte{7}, std::byte{15}, std::byte{0}, std::byte{8}});
  const Bytes bits = {std::byte{0b1010'0000}};
  unpack(DType::kUint1, bits.data(), 0, 4, dst.data());
  CHECK(dst == Bytes{std::byte{1}, std::byte{0}, std::byte{1}, std::byte{0}});
}

TEST_CASE("What needs unpacking or widening is exactly what an npy cannot hold") {
  for (const DTypeInfo& entry : all_dtypes()) {
    INFO(entry.name);
    CHECK(needs_unpacking(entry.dtype) == (entry.bits > 0 && entry.bits < 8));
    const bool becomes_float = entry.npy_dtype == DType::kFloat32 || entry.npy_dtype == DType::kComplex64;
    CHECK(needs_widening(entry.dtype) == (becomes_float && entry.npy_dtype != entry.dtype));
  }
}

}  // namespace msdump::kernels
