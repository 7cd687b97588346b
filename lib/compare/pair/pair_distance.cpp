#include "compare/pair/pair_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/load.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
void subtract(const std::byte* a, const std::byte* b, size_t count, double* distances) {
  for (size_t i = 0; i < count; ++i) {
    const T x = load<T>(a + i * sizeof(T)), y = load<T>(b + i * sizeof(T));
    const auto larger = static_cast<uint64_t>(std::max(x, y)), smaller = static_cast<uint64_t>(std::min(x, y));
    distances[i] = static_cast<double>(larger - smaller);
  }
}

// For a pair with a value that is not finite.
double mismatch(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b ? 0 : kNan; }

double modulus(double re, double im) {
  int exponent = 0;
  (void)std::frexp(std::max(std::abs(re), std::abs(im)), &exponent);
  const double x = std::ldexp(re, -exponent), y = std::ldexp(im, -exponent);
  return std::ldexp(std::sqrt(x * x + y * y), exponent);
}

double complex_distance(const double* a, const double* b) {
  const auto is_nan = [](const double* x) { return std::isnan(x[0]) || std::isnan(x[1]); };
  const auto is_finite = [](const double* x) { return std::isfinite(x[0]) && std::isfinite(x[1]); };
  if (is_finite(a) && is_finite(b)) {
    const double re = a[0] - b[0], im = a[1] - b[1];
    if (std::isfinite(re) && std::isfinite(im)) return modulus(re, im);
    return std::numeric_limits<double>::infinity();
  }
  return (is_nan(a) && is_nan(b)) || (a[0] == b[0] && a[1] == b[1]) ? 0 : kNan;
}

}  // namespace

PairDistances::PairDistances(DType dtype, double scale)
    : dtype_(dtype),
      complex_(kind_of(dtype) == DTypeKind::kComplex),
      scale_(scale),
      block_(std::make_unique<Block>()) {}

std::span<const double> PairDistances::of(const std::byte* a, const std::byte* b, int64_t count) {
  const auto number = static_cast<size_t>(count);
  const std::span<const double> distances(block_->distances, number);
  if (dtype_ == DType::kInt64) {
    subtract<int64_t>(a, b, number, block_->distances);
    return distances;
  }
  if (dtype_ == DType::kUint64) {
    subtract<uint64_t>(a, b, number, block_->distances);
    return distances;
  }
  const DType wide = complex_ ? DType::kComplex128 : DType::kFloat64;
  kernels::widen_to(dtype_, wide, a, count, reinterpret_cast<std::byte*>(block_->a));
  kernels::widen_to(dtype_, wide, b, count, reinterpret_cast<std::byte*>(block_->b));
  if (scale_ != 1) {
    for (size_t i = 0; i < (complex_ ? 2 : 1) * number; ++i) block_->a[i] /= scale_;
  }
  if (complex_) {
    take_complex(number);
  } else {
    take_real(number);
  }
  return distances;
}

void PairDistances::take_real(size_t count) {
  Block& block = *block_;
  bool all_finite = true;
  for (size_t i = 0; i < count; ++i) {
    block.distances[i] = std::abs(block.a[i] - block.b[i]);
    all_finite &= block.distances[i] <= std::numeric_limits<double>::max();
  }
  if (all_finite) return;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(block.a[i]) || !std::isfinite(block.b[i])) block.distances[i] = mismatch(block.a[i], block.b[i]);
  }
}

void PairDistances::take_complex(size_t count) {
  Block& block = *block_;
  for (size_t i = 0; i < count; ++i) block.distances[i] = complex_distance(block.a + 2 * i, block.b + 2 * i);
}

}  // namespace msdump
