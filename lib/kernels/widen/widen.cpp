// Widening. Types of one byte go through a table of 256 floats, made by the compiler from decode.h: 1 KiB, one load and one
// store per element, which keeps up with memory. The 16-bit types are widened in vectors (widen_halves.cpp).
#include "kernels/widen/widen.h"

#include <array>
#include <cassert>
#include <cstring>

#include "kernels/widen/decode.h"
#include "kernels/widen/widen_halves.h"

namespace msdump::kernels {
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

}  // namespace msdump::kernels
