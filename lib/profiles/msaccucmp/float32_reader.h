// The elements of a tensor as numpy's astype(float32) has them, chunk by chunk.
//
//   integers, float64    rounded to the nearest; beyond float32's range infinite
//   bool                 0 and 1
//   complex numbers      their real part
//   narrower floats      widened; int4 and its like unpacked
//
// Memory: one slab of elements as they are stored and as float32, about 2 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dump/index/host_tensor.h"
#include "io/cancel.h"
#include "tensor/dtype.h"

namespace msdump {

// False for dtypes that are kept as raw bytes.
[[nodiscard]] bool can_become_float32(DType dtype);

// `count` elements as HostTensor::read gives them.
void to_float32(DType from, const std::byte* stored, int64_t count, float* into);

class Float32Reader {
 public:
  explicit Float32Reader(HostTensor& tensor) : tensor_(tensor) {}

  // Elements [first, first + count), of which there are at most kSlab; valid until the next call.
  Result<const float*> read(int64_t first, int64_t count);

  static constexpr int64_t kSlab = int64_t{1} << 17;

 private:
  HostTensor& tensor_;
  std::vector<std::byte> stored_;
  std::vector<float> floats_;
};

}  // namespace msdump
