// The elements of a tensor as numpy's astype(float32) gives them, chunk by chunk.
//
//   integers, float64    rounded to the nearest; beyond float32's range infinite
//   bool                 0 and 1
//   complex numbers      their real part
//   narrower floats      widened; int4 and its like unpacked
//
// Memory: one slab of elements, as stored and as float32, about 2 MiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"
#include "profiles/numpy_sum.h"
#include "tensor/dtype.h"

namespace msdump {

// False for raw bytes.
[[nodiscard]] bool can_become_float32(DType dtype);

// `count` elements as HostTensor::read gives them.
void to_float32(DType from, const std::byte* stored, int64_t count, float* into);

class Float32Reader {
 public:
  explicit Float32Reader(HostTensor& tensor) : tensor_(tensor) {}

  // Elements [first, first + count), of which there are at most kSlab; valid until the next call.
  Result<const float*> read(int64_t first, int64_t count);

  static constexpr int64_t kSlab = int64_t{1} << 17;
  static_assert(kSlab % kNumpyChunk == 0);

 private:
  HostTensor& tensor_;
  std::vector<std::byte> stored_;
  std::vector<float> floats_;
};

// Two tensors with equally many elements. The one loop for every pass over a pair.
class Float32Pair {
 public:
  Float32Pair(HostTensor& a, HostTensor& b) : a_(a), b_(b), reader_a_(a), reader_b_(b) {}

  // visit(a, b, count) for each chunk of kNumpyChunk elements.
  template <class Visit>
  Status for_each_chunk(const CancelToken& cancel, const Visit& visit) {
    for (int64_t first = 0; first < a_.count(); first += Float32Reader::kSlab) {
      MSDUMP_CHECK_OK(cancel.check());
      const int64_t count = std::min(Float32Reader::kSlab, a_.count() - first);
      MSDUMP_TRY(const float* const a, reader_a_.read(first, count));
      MSDUMP_TRY(const float* const b, reader_b_.read(first, count));
      for (int64_t at = 0; at < count; at += kNumpyChunk) visit(a + at, b + at, std::min(kNumpyChunk, count - at));
    }
    MSDUMP_CHECK_OK(a_.check_unchanged());
    return b_.check_unchanged();
  }

 private:
  HostTensor &a_, &b_;
  Float32Reader reader_a_, reader_b_;
};

}  // namespace msdump
