// Shapes of matrix products and convolutions, which are computed in full (products.cpp) or sampled (sampled_*.cpp).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "recompute/kernel.h"

namespace msdump::recompute {

// y (rows x columns) = a b, each stored as it is or transposed.
struct Block {
  int64_t rows = 0, inner = 0, columns = 0;
  bool transpose_a = false, transpose_b = false;
};

// The products of a batch.
struct Batch {
  Block block;
  Shape shape, batch;               // of y; of the batch
  std::vector<int64_t> at_a, at_b;  // strides of the batch, in matrices
  double multiplications = 0;
};
// numpy.matmul with flags for transposed operands of two axes or more.
[[nodiscard]] Maybe<Batch> batch_of(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b);

// What a call of matmul multiplies.
struct ProductOperands {
  Tensor a, b, bias;  // the bias may be null
  bool transpose_a = false, transpose_b = false;
};
[[nodiscard]] Maybe<ProductOperands> product_operands(const Call& call);

// The tensor as rows of its last axis.
[[nodiscard]] Tensor as_rows(const Tensor& x);

// A two-dimensional convolution of NCHW; a one-dimensional one has a height of 1.
struct Geometry {
  int64_t n = 0, c = 0, h = 0, w = 0;  // of x
  int64_t o = 0, ho = 0, wo = 0;       // of y
  int64_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  int64_t top = 0, left = 0, groups = 1;
  bool one_dimension = false;

  [[nodiscard]] int64_t channels() const { return c / groups; }  // of a group
  [[nodiscard]] int64_t filters() const { return o / groups; }
  [[nodiscard]] int64_t patch() const { return channels() * kh * kw; }
  [[nodiscard]] int64_t places() const { return ho * wo; }
  [[nodiscard]] double multiplications() const {
    return static_cast<double>(n * places()) * static_cast<double>(o) * static_cast<double>(patch());
  }
};
[[nodiscard]] Maybe<Geometry> geometry_of(const Call& call, const Shape& x, const Shape& w, const Shape& y);
enum class ConvolutionPart : uint8_t { kForward, kInput, kFilter };

// Products of more multiplications take seconds: they are sampled.
inline constexpr double kMostMultiplications = 0x1p31;
// Doubles that a sample holds beside the block that it reads.
inline constexpr int64_t kMostHeld = int64_t{1} << 24;

// Kernel::sample of these kernels.
using Samples = std::vector<SampledOutput>;
[[nodiscard]] inline Maybe<Samples> one_sample(Maybe<SampledOutput> sample) {
  if (!sample) return fail(sample.error());
  Samples samples;
  samples.push_back(std::move(*sample));
  return samples;
}
[[nodiscard]] Maybe<Samples> sample_mat_mul(const Call& call);
[[nodiscard]] Maybe<Samples> sample_linear(const Call& call);
[[nodiscard]] Maybe<Samples> sample_add_mm(const Call& call);
[[nodiscard]] Maybe<Samples> sample_linear_back(const Call& call);
[[nodiscard]] Maybe<Samples> sample_matmul_back(const Call& call);
[[nodiscard]] Maybe<Samples> sample_conv(const Call& call);
[[nodiscard]] Maybe<Samples> sample_conv_input(const Call& call);
[[nodiscard]] Maybe<Samples> sample_conv_filter(const Call& call);
[[nodiscard]] Maybe<Samples> sample_conv_back(const Call& call);

}  // namespace msdump::recompute
