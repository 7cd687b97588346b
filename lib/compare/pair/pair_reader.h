// Passes over one tensor: for_each_slab() reads its elements as the file stores them, for_each_piece() a sample of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"
#include "kernels/pair/pair.h"
#include "tensor/dtype.h"

namespace msdump {

inline constexpr int64_t kTensorSlab = int64_t{1} << 17;  // elements

// Calls take(bytes, count) for each slab in order. The pass ends if it returns false.
template <class Take>
Status for_each_slab(HostTensor& tensor, const CancelToken& cancel, const Take& take) {
  std::vector<std::byte> slab(static_cast<size_t>(std::min(kTensorSlab, tensor.count())) * tensor.element_bytes());
  for (int64_t first = 0; first < tensor.count(); first += kTensorSlab) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kTensorSlab, tensor.count() - first);
    MSDUMP_CHECK_OK(tensor.read(first, count, slab.data()));
    const auto bytes = std::span<const std::byte>(slab).first(static_cast<size_t>(count) * tensor.element_bytes());
    if constexpr (std::is_same_v<decltype(take(bytes, count)), bool>) {
      if (!take(bytes, count)) break;
    } else {
      take(bytes, count);
    }
  }
  return tensor.check_unchanged();
}

// The size of a sample: up to so many pieces of so many elements.
struct SampleSize {
  int64_t pieces = 1, piece = 0;
};

// Calls take(bytes, count) for each piece of a sample that is evenly spread over the tensor. A tensor that has no more
// elements is read completely. A sample of one piece is the beginning.
template <class Take>
Status for_each_piece(HostTensor& tensor, const SampleSize& size, const Take& take) {
  const int64_t whole = tensor.count(), most = size.pieces * size.piece;
  const int64_t pieces = whole > most ? size.pieces : 1;
  const int64_t piece = whole > most ? size.piece : whole;
  std::vector<std::byte> stored(static_cast<size_t>(piece) * tensor.element_bytes());
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t first = pieces == 1 ? 0 : i * ((whole - piece) / (pieces - 1));
    MSDUMP_CHECK_OK(tensor.read(first, piece, stored.data()));
    take(std::span<const std::byte>(stored), piece);
  }
  return {};
}

// PairReader: two tensors side by side. It gives their elements slab by slab, in the dtype that holds those of both. Every
// pass over a pair of tensors uses it.
//
//   1. both have the same number of elements, in C order; shapes are the caller's business
//   2. a slab has kPairSlab elements, the last one the rest. Sums depend on where a tensor is cut, hence one size
//   3. elements come widened to kernels::common_dtype and also as stored: an int64 beside a float loses digits
//
// Memory: at most 17 bytes per element of a slab and side, a few MiB.

inline constexpr int64_t kPairSlab = int64_t{1} << 17;  // elements
static_assert(kPairSlab % kernels::kPairBlock == 0);

// A slab of both tensors, valid until the next one is read.
struct PairSlab {
  int64_t first = 0, count = 0;
  const std::byte *a = nullptr, *b = nullptr;                // in the common dtype
  const std::byte *stored_a = nullptr, *stored_b = nullptr;  // each in its own
};

class PairReader {
 public:
  // kShapeMismatch if one has more elements, kUnsupportedDtype without a common dtype. The tensors must outlive this.
  static Result<PairReader> open(HostTensor& a, HostTensor& b);
  // Reads only the elements [first, first + count). Tensors that are direct() may have several readers at once.
  static Result<PairReader> open(HostTensor& a, HostTensor& b, int64_t first, int64_t count);

  [[nodiscard]] DType dtype() const { return common_; }

  // The next slab; no value at the end. An error if one of the files has changed meanwhile.
  Result<std::optional<PairSlab>> next(const CancelToken& cancel);
  // Calls take(slab) for each slab that is left.
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
    std::vector<std::byte> stored, widened;  // `widened` is empty if the tensor has the common dtype
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
