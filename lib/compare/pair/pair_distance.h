// |a - b| of each pair of a block, for passes that look at single elements: the d of kernels/pair/pair.h.
//
//   finite pairs       |a - b|, exact for 64-bit integers before it is rounded; infinite beyond the range of a double
//   complex numbers    the modulus of the difference, within two bits of the metrics
//   other pairs        0 if both are NaN or the same infinity, else NaN: a mismatch
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/pair/pair.h"
#include "tensor/dtype.h"

namespace msdump {

class PairDistances {
 public:
  // Of the common dtype of both sides. Elements of `a` are divided by `scale` first, a power of two; not integers.
  explicit PairDistances(DType dtype, double scale = 1);

  // At most kernels::kPairBlock pairs; the result is valid until the next call.
  std::span<const double> of(const std::byte* a, const std::byte* b, int64_t count);

 private:
  struct Block {
    double a[2 * kernels::kPairBlock], b[2 * kernels::kPairBlock];  // complex numbers have two parts
    double distances[kernels::kPairBlock];
  };

  void take_real(size_t count);
  void take_complex(size_t count);

  DType dtype_;
  bool complex_;
  double scale_;
  std::unique_ptr<Block> block_;
};

}  // namespace msdump
