// Arithmetic on numbers that came from a file. Every size, count and product of dimensions goes through these before it
// is used to allocate, seek or index: an overflow gives no value, never a small number.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

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

}  // namespace msdump
