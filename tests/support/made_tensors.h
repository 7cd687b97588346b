// Tensors for the tests of comparisons, from the values they shall have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {

class MadeTensors {
 public:
  template <class T>
  HostTensor make(DType dtype, const Shape& shape, const std::vector<T>& values) {
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    auto file = File::open(scratch_.write(std::to_string(made_++), bytes));
    REQUIRE(file);
    StoredTensor stored;
    stored.bytes = stored.request.bytes = bytes.size();
    stored.request.dtype = dtype;
    stored.request.shape = shape;
    auto tensor = HostTensor::make(std::move(*file), FileKind::kRaw, stored, {.target = std::nullopt});
    REQUIRE(tensor);
    return std::move(*tensor);
  }

  // float32, of one axis.
  HostTensor floats(const std::vector<float>& values) {
    return make(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
  }

 private:
  test::ScratchDir scratch_;
  int made_ = 0;
};

inline TensorDiff diff_of(HostTensor a, HostTensor b, const Tolerance& tolerance = {},
                          const PairOptions& options = {}) {
  const CancelToken cancel;
  auto diff = diff_tensors(a, b, tolerance, cancel, options);
  REQUIRE(diff);
  return std::move(*diff);
}

}  // namespace msdump
