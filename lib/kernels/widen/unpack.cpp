// Sub-byte elements to bytes: one table lookup per byte of the source gives all of its elements.
#include <array>
#include <cassert>
#include <cstring>

#include "kernels/widen/widen.h"

namespace msdump::kernels {
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
