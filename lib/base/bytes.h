// Numbers from untrusted files: bounds-checked reading and arithmetic that detects overflow. Every size, count and offset
// of a file goes through these functions before it is used to allocate, seek or index.
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

// Number of elements of a shape: 1 for a scalar, 0 if any dimension is 0. No value on overflow or if a dimension is
// negative.
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

// ceil(a / b) of a >= 0 and b > 0.
[[nodiscard]] constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

static_assert(std::endian::native == std::endian::little, "msdump reads little-endian files on little-endian hosts");

// A number from memory of any alignment that is known to be long enough.
template <class T>
[[nodiscard]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A bounds-checked cursor over the bytes of a header; numbers are little-endian and unaligned. Reading past the end is an
// error with the offset in the file.
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
