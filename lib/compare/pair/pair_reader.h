// Two tensors side by side: their elements slab by slab, in the dtype that holds those of both. The one loop for every
// pass over a pair of tensors.
//
//   1. both have the same number of elements, in C order; shapes are the caller's business
//   2. a slab has kPairSlab elements, the last one the rest. Sums depend on where a tensor is cut, hence one size
//   3. elements come widened to kernels::common_dtype and also as stored: an int64 beside a float loses digits
//
// Memory: at most 17 bytes per element of a slab and side, a few MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/cancel.h"
#include "kernels/pair/pair.h"
#include "tensor/dtype.h"

namespace msdump {

inline constexpr int64_t kPairSlab = int64_t{1} << 17;  // elements
static_assert(kPairSlab % kernels::kPairBlock == 0);

// Valid until the next one is read.
struct PairSlab {
  int64_t first = 0, count = 0;
  const std::byte *a = nullptr, *b = nullptr;                // in the common dtype
  const std::byte *stored_a = nullptr, *stored_b = nullptr;  // each in its own
};

class PairReader {
 public:
  // shape_mismatch when one has more elements, unsupported_dtype when there is no common dtype. The tensors outlive it.
  static Result<PairReader> open(HostTensor& a, HostTensor& b);
  // The elements [first, first + count) only. Tensors that are direct() may have several readers at once.
  static Result<PairReader> open(HostTensor& a, HostTensor& b, int64_t first, int64_t count);

  [[nodiscard]] DType dtype() const { return common_; }

  // The next slab; nothing at the end. An error if one of the files has changed meanwhile.
  Result<std::optional<PairSlab>> next(const CancelToken& cancel);
  // take(slab) for each that is left.
  template <class Take>
  Status for_each(const CancelToken& cancel, const Take& take) {
    for (;;) {
      MSDUMP_TRY(const std::optional<PairSlab> slab, next(cancel));
      if (!slab) return {};
      take(*slab);
    }
  }

 private:
  struct Side {
    HostTensor* tensor;
    std::vector<std::byte> stored, widened;  // `widened` is empty where the tensor has the common dtype
  };

  PairReader(HostTensor& a, HostTensor& b, DType common, int64_t first, int64_t count);
  [[nodiscard]] Side side_of(HostTensor& tensor) const;
  Result<const std::byte*> read(Side& side, int64_t first, int64_t count) const;

  DType common_;
  int64_t slab_;
  Side a_, b_;
  int64_t next_, end_;
};

}  // namespace msdump
