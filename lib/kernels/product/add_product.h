// Products of few rows or few columns, as samples of a large product have them. An element is summed in the order of the inner index: the
// sums are the same on every CPU.
#pragma once

#include <cstdint>

namespace msdump::kernels {

// A matrix whose rows are `stride` elements apart.
struct MatrixRows {
  const double* elements = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

// y += a b; and terms += |a| |b| unless it is null. Rows of y and of terms are `stride` apart.
void add_product(const MatrixRows& a, const MatrixRows& b, double* y, double* terms, int64_t stride);

}  // namespace msdump::kernels
