#include "kernels/widen/widen.h"

#include <array>
#include <cassert>
#include <cstring>

#include "base/bytes.h"

namespace msdump::kernels {
namespace {

// The elements of each byte.
template <unsigned kBits>
using Unpacked = std::array<std::array<uint8_t, 8 / kBits>, 256>;

template <unsigned kBits>
constexpr Unpacked<kBits> make_unpacked(bool has_sign) {
  constexpr unsigned kPerByte = 8 / kBits, kMask = (1U << kBits) - 1;
  Unpacked<kBits> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned at = 0; at < kPerByte; ++at) {
      const unsigned place = kBits == 1 ? kPerByte - 1 - at : at;
      const unsigned code = (byte >> (place * kBits)) & kMask;
      const bool negative = has_sign && (code >> (kBits - 1)) != 0;
      table[byte][at] = static_cast<uint8_t>(negative ? code | ~kMask : code);
    }
  }
  return table;
}

template <unsigned kBits>
void unpack_bits(bool has_sign, const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  static constexpr Unpacked<kBits> kSigned = make_unpacked<kBits>(true), kUnsigned = make_unpacked<kBits>(false);
  const Unpacked<kBits>& table = has_sign ? kSigned : kUnsigned;
  constexpr int64_t kPerByte = 8 / kBits;
  src += first / kPerByte;
  // The elements of a byte that lies only partly in the range.
  const auto part = [&](int64_t from, int64_t elements) {
    std::memcpy(dst, &table[std::to_integer<size_t>(*src)][static_cast<size_t>(from)], static_cast<size_t>(elements));
    ++src;
    dst += elements;
    count -= elements;
  };
  const int64_t skipped = first % kPerByte;
  if (skipped != 0 && count > 0) part(skipped, count < kPerByte - skipped ? count : kPerByte - skipped);
  for (; count >= kPerByte; count -= kPerByte) {
    std::memcpy(dst, table[std::to_integer<size_t>(*src)].data(), static_cast<size_t>(kPerByte));
    ++src;
    dst += kPerByte;
  }
  if (count > 0) part(0, count);
}

void widen_codes(const CodeValues& values, const std::byte* src, int64_t count, std::byte* dst) {
  // Reads eight codes at once: only the loads from the table and the stores remain.
  constexpr int64_t kStep = 8;
  int64_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    auto codes = load<uint64_t>(src + at);
    std::byte* const to = dst + at * 4;
    for (int64_t i = 0; i < kStep; ++i, codes >>= 8) std::memcpy(to + i * 4, &values[codes & 0xFF], sizeof(float));
  }
  for (; at < count; ++at) std::memcpy(dst + at * 4, &values[std::to_integer<size_t>(src[at])], sizeof(float));
}

template <uint32_t (*kBitsOf)(uint16_t)>
void widen_halves(const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  for (int64_t at = first; at < count; ++at) {
    const uint32_t wide = kBitsOf(load<uint16_t>(src + at * 2));
    std::memcpy(dst + at * 4, &wide, sizeof wide);
  }
}

}  // namespace

bool needs_unpacking(DType dtype) { return !is_raw(dtype) && info(dtype).bits < 8; }

bool needs_widening(DType dtype) {
  const DTypeKind kind = kind_of(dtype);
  return (kind == DTypeKind::kFloat || kind == DTypeKind::kComplex) && info(dtype).npy_dtype != dtype;
}

void unpack(DType from, const std::byte* src, int64_t first, int64_t count, std::byte* dst) {
  const bool has_sign = kind_of(from) == DTypeKind::kInteger && !is_unsigned(from);
  switch (info(from).bits) {
    case 1: return unpack_bits<1>(has_sign, src, first, count, dst);
    case 2: return unpack_bits<2>(has_sign, src, first, count, dst);
    case 4: return unpack_bits<4>(has_sign, src, first, count, dst);
    default: assert(!"a dtype of whole bytes is not unpacked");
  }
}

void widen(DType from, const std::byte* src, int64_t count, std::byte* dst) {
  assert(needs_widening(from));
  if (const CodeValues* const values = info(from).traits.values) return widen_codes(*values, src, count, dst);
  if (from == DType::kBfloat16) {
    return widen_halves<bfloat16_to_float_bits>(src, widen_bfloat16_fast(src, count, dst), count, dst);
  }
  const int64_t parts = 2 * count;  // of complex32: the real part, then the imaginary one
  widen_halves<float16_to_float_bits>(src, widen_float16_fast(src, parts, dst), parts, dst);
}

}  // namespace msdump::kernels
