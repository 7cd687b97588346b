#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/product/add_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/product/add_product.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Some rows of y, in the columns that fill whole vectors. Returns the number of these columns.
template <int64_t kRows, bool kHasTerms>
int64_t add_rows(const double* a, int64_t stride_a, const MatrixRows& b, double* y, double* terms, int64_t stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  for (; column + lanes <= b.columns; column += lanes) {
    V sums[static_cast<size_t>(kRows)], sizes[static_cast<size_t>(kRows)];
    for (int64_t row = 0; row < kRows; ++row) {
      sums[row] = hn::LoadU(d, y + row * stride + column);
      if constexpr (kHasTerms) sizes[row] = hn::LoadU(d, terms + row * stride + column);
    }
    for (int64_t k = 0; k < b.rows; ++k) {
      const V right = hn::LoadU(d, b.elements + k * b.stride + column);
      for (int64_t row = 0; row < kRows; ++row) {
        const V product = hn::Mul(hn::Set(d, a[row * stride_a + k]), right);
        sums[row] = hn::Add(sums[row], product);
        if constexpr (kHasTerms) sizes[row] = hn::Add(sizes[row], hn::Abs(product));
      }
    }
    for (int64_t row = 0; row < kRows; ++row) {
      hn::StoreU(sums[row], d, y + row * stride + column);
      if constexpr (kHasTerms) hn::StoreU(sizes[row], d, terms + row * stride + column);
    }
  }
  return column;
}

template <bool kHasTerms>
int64_t add_all_rows(const MatrixRows& a, const MatrixRows& b, double* y, double* terms, int64_t stride) {
  constexpr int64_t kRows = kHasTerms ? 5 : 8;  // registers hold the sums; samples have 10 rows
  int64_t row = 0, columns = 0;
  const auto size_at = [&](int64_t at) { return kHasTerms ? terms + at * stride : nullptr; };
  for (; row + kRows <= a.rows; row += kRows)
    columns =
        add_rows<kRows, kHasTerms>(a.elements + row * a.stride, a.stride, b, y + row * stride, size_at(row), stride);
  for (; row < a.rows; ++row)
    columns = add_rows<1, kHasTerms>(a.elements + row * a.stride, a.stride, b, y + row * stride, size_at(row), stride);
  return columns;
}

}  // namespace

int64_t add_product_vectors(const MatrixRows& a, const MatrixRows& b, double* y, double* terms, int64_t stride) {
  return terms == nullptr ? add_all_rows<false>(a, b, y, terms, stride) : add_all_rows<true>(a, b, y, terms, stride);
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the portable loop

int64_t add_product_vectors(const MatrixRows& /*a*/, const MatrixRows& /*b*/, double* /*y*/, double* /*terms*/,
                            int64_t /*stride*/) {
  return 0;
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(add_product_vectors);

void add_product(const MatrixRows& a, const MatrixRows& b, double* y, double* terms, int64_t stride) {
  const int64_t done = portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(add_product_vectors)(a, b, y, terms, stride);
  for (int64_t row = 0; row < a.rows && done < b.columns; ++row) {
    for (int64_t k = 0; k < b.rows; ++k) {
      const double left = a.elements[row * a.stride + k];
      for (int64_t column = done; column < b.columns; ++column) {
        const double product = left * b.elements[k * b.stride + column];
        y[row * stride + column] += product;
        if (terms != nullptr) terms[row * stride + column] += std::fabs(product);
      }
    }
  }
}

}  // namespace msdump::kernels
#endif
