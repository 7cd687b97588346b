// PieceValues: single elements of the tensors of several ranks, and which of these tensors are equal to the bit.
//
// Small tensors are kept whole, of others an element is read when it is asked for. Memory: kMostKept values in all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"

namespace msdump {

class PieceValues {
 public:
  // Null records are missing pieces. ok() is false where one is missing or cannot be read, or has no order.
  PieceValues(const DumpIndex& index, std::span<const TensorRecord* const> records);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  // NaN where it cannot be read.
  [[nodiscard]] double at(size_t piece, int64_t element);
  // A number for the contents of each piece.
  Result<std::vector<uint64_t>> digests(const CancelToken& cancel);

 private:
  static constexpr int64_t kMostKept = int64_t{1} << 20;

  std::vector<HostTensor> tensors_;
  std::vector<std::vector<double>> kept_;
  std::vector<Shape> shapes_;
  DType dtype_ = DType::kUndefined;
  bool ok_ = true;
};

}  // namespace msdump
