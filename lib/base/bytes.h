// Arithmetic on numbers that came from a file. Every size, count and product of dimensions goes through these before it
// is used to allocate, seek or index: an overflow gives no value, never a small number.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.h"

namespace msdump {

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Number of elements of a shape: 1 for a scalar, 0 if any dimension is 0 (even if the others would overflow), no value
// on overflow or for a negative dimension.
[[nodiscard]] constexpr std::optional<int64_t> checked_product(std::span<const int64_t> dims) {
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty = empty || dim == 0;
  }
  if (empty) return 0;
  int64_t product = 1;
  for (int64_t dim : dims) {
    const auto next = checked_mul(product, dim);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

// ceil(a / b) for a >= 0, b > 0; cannot overflow.
[[nodiscard]] constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Little-endian numbers from memory that is known to be long enough; it need not be aligned. Bytes of a header, whose
// length is in doubt, are read through ByteReader.

static_assert(std::endian::native == std::endian::little, "msdump reads little-endian files on little-endian hosts");

template <class T>
[[nodiscard]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// ByteReader: the only way bytes of a file become numbers. A bounds-checked cursor over borrowed bytes; all numbers are
// little-endian (every format msdump reads is) and unaligned. Reading past the end is an error that names the absolute
// offset in the file, never undefined behaviour.

class ByteReader {
 public:
  // `base_offset` is where `bytes` begins in its file; only messages use it.
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t base_offset = 0)
      : bytes_(bytes), base_offset_(base_offset) {}

  [[nodiscard]] uint64_t offset() const { return base_offset_ + position_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }

  Result<uint32_t> u32();
  Result<int32_t> i32();
  Result<uint64_t> u64();
  Result<std::span<const std::byte>> bytes(uint64_t count);
  Status skip(uint64_t count);
  // A reader of the next `count` bytes, which this reader skips.
  Result<ByteReader> sub(uint64_t count);

 private:
  std::span<const std::byte> bytes_;
  uint64_t base_offset_;
  size_t position_ = 0;
};

}  // namespace msdump
