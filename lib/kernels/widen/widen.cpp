#include "kernels/widen/widen.h"

#include <array>
#include <cassert>
#include <cstring>

#include "kernels/widen/decode.h"
#include "kernels/widen/widen_halves.h"

namespace msdump::kernels {

// Widening. Types of one byte go through a table of 256 floats, made by the compiler from decode.h: 1 KiB, one load and one
// store per element, which keeps up with memory. The 16-bit types are widened in vectors (widen_halves.cpp).

namespace {

template <float (*kFormula)(uint8_t)>
void widen_codes(const std::byte* src, int64_t count, std::byte* dst) {
  static constexpr auto kTable = [] {
    std::array<float, 256> table{};
    for (unsigned code = 0; code < 256; ++code) table[code] = kFormula(static_cast<uint8_t>(code));
    return table;
  }();
  // Reads eight codes at once: only the loads from the table and the stores remain.
  constexpr int64_t kStep = 8;
  int64_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    uint64_t codes = 0;
    std::memcpy(&codes, src + at, sizeof codes);
    std::byte* const to = dst + at * 4;
    for (int64_t i = 0; i < kStep; ++i, codes >>= 8) std::memcpy(to + i * 4, &kTable[codes & 0xFF], sizeof(float));
  }
  for (; at < count; ++at) std::memcpy(dst + at * 4, &kTable[std::to_integer<size_t>(src[at])], sizeof(float));
}

uint32_t bfloat16_to_float_bits(uint16_t bits) { return static_cast<uint32_t>(bits) << 16; }

template <uint32_t (*kFormula)(uint16_t)>
void widen_halves(const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  for (int64_t at = first; at < count; ++at) {
    uint16_t bits = 0;
    std::memcpy(&bits, src + at * 2, sizeof bits);
    const uint32_t wide = kFormula(bits);
    std::memcpy(dst + at * 4, &wide, sizeof wide);
  }
}

}  // namespace

bool needs_widening(DType dtype) {
  switch (dtype) {
    case DType::kBfloat16:
    case DType::kComplex32:
    case DType::kHifloat8:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E8m0:
    case DType::kFloat4E2m1:
    case DType::kFloat4E1m2: return true;
    default: return false;
  }
}

void widen(DType from, const std::byte* src, int64_t count, std::byte* dst) {
  switch (from) {
    case DType::kBfloat16:
      widen_halves<bfloat16_to_float_bits>(src, widen_bfloat16_fast(src, count, dst), count, dst);
      return;
    case DType::kComplex32:  // the real part, then the imaginary one
      widen_halves<formula::float16_to_float_bits>(src, widen_float16_fast(src, 2 * count, dst), 2 * count, dst);
      return;
    case DType::kHifloat8: widen_codes<formula::hifloat8>(src, count, dst); return;
    case DType::kFloat8E5m2: widen_codes<formula::float8_e5m2>(src, count, dst); return;
    case DType::kFloat8E4m3fn: widen_codes<formula::float8_e4m3fn>(src, count, dst); return;
    case DType::kFloat8E8m0: widen_codes<formula::float8_e8m0>(src, count, dst); return;
    case DType::kFloat4E2m1: widen_codes<formula::float4_e2m1>(src, count, dst); return;
    case DType::kFloat4E1m2: widen_codes<formula::float4_e1m2>(src, count, dst); return;
    default: assert(!"needs_widening is false for this dtype");
  }
}

// Sub-byte elements to bytes: one table lookup per byte of the source gives all of its elements.

namespace {

enum class Order : uint8_t { kLowBitsFirst, kHighBitsFirst };
enum class Sign : uint8_t { kUnsigned, kSigned };

// Element `at` of a byte.
template <unsigned kBits, Sign kSign, Order kOrder>
constexpr uint8_t element_of(unsigned byte, unsigned at) {
  constexpr unsigned kPerByte = 8 / kBits;
  constexpr unsigned kMask = (1U << kBits) - 1;
  const unsigned place = kOrder == Order::kLowBitsFirst ? at : kPerByte - 1 - at;
  const unsigned code = (byte >> (place * kBits)) & kMask;
  const bool negative = kSign == Sign::kSigned && (code >> (kBits - 1)) != 0;
  return static_cast<uint8_t>(negative ? code | ~kMask : code);
}

template <unsigned kBits, Sign kSign, Order kOrder>
constexpr auto make_table() {
  std::array<std::array<uint8_t, 8 / kBits>, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned at = 0; at < 8 / kBits; ++at) table[byte][at] = element_of<kBits, kSign, kOrder>(byte, at);
  }
  return table;
}

template <unsigned kBits, Sign kSign, Order kOrder = Order::kLowBitsFirst>
void unpack_bits(const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  static constexpr auto kTable = make_table<kBits, kSign, kOrder>();
  constexpr int64_t kPerByte = 8 / kBits;
  src += first / kPerByte;
  // The elements of a byte that lies only partly in the range.
  const auto part = [&](int64_t from, int64_t elements) {
    std::memcpy(dst, &kTable[std::to_integer<size_t>(*src)][static_cast<size_t>(from)], static_cast<size_t>(elements));
    ++src;
    dst += elements;
    count -= elements;
  };
  const int64_t skipped = first % kPerByte;
  if (skipped != 0 && count > 0) part(skipped, count < kPerByte - skipped ? count : kPerByte - skipped);
  for (; count >= kPerByte; count -= kPerByte) {
    std::memcpy(dst, kTable[std::to_integer<size_t>(*src)].data(), static_cast<size_t>(kPerByte));
    ++src;
    dst += kPerByte;
  }
  if (count > 0) part(0, count);
}

}  // namespace

bool needs_unpacking(DType dtype) {
  const int bits = info(dtype).bits;
  return bits > 0 && bits < 8;
}

void unpack(DType from, const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  switch (from) {
    case DType::kInt4: unpack_bits<4, Sign::kSigned>(src, first, count, dst); return;
    case DType::kFloat4E2m1:
    case DType::kFloat4E1m2: unpack_bits<4, Sign::kUnsigned>(src, first, count, dst); return;
    case DType::kInt2: unpack_bits<2, Sign::kSigned>(src, first, count, dst); return;
    case DType::kUint2: unpack_bits<2, Sign::kUnsigned>(src, first, count, dst); return;
    case DType::kUint1: unpack_bits<1, Sign::kUnsigned, Order::kHighBitsFirst>(src, first, count, dst); return;
    default: assert(!"a dtype of whole bytes is not unpacked");
  }
}

}  // namespace msdump::kernels
