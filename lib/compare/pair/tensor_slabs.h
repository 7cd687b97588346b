// The elements of one tensor, slab by slab, as the file stores them: the one loop for every pass over a single tensor. And
// a sample of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/cancel.h"

namespace msdump {

inline constexpr int64_t kTensorSlab = int64_t{1} << 17;  // elements

// take(bytes, count) for each slab in order; the pass ends if it returns false.
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

// Up to so many pieces of so many elements.
struct SampleSize {
  int64_t pieces = 1, piece = 0;
};

// take(bytes, count) for each piece of a sample, evenly spread; all elements of a tensor that has no more. In one piece:
// the beginning.
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

}  // namespace msdump
