// PieceValues: single elements of the tensors of several ranks, and which of these tensors are equal to the bit.
//
// Small tensors are kept whole. Of others, elements are kept as they are read: fetch() reads those of a piece at once, so that
// a piece is not opened for each of them. Memory: kMostKept values in all.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/read_failures.h"
#include "dump/elements/piece_tensors.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"

namespace msdump {

class PieceValues {
 public:
  // Null records are missing pieces. ok() is false where one is missing or cannot be read, or has no order. `failures`: is
  // told of files that cannot be read; may be null.
  PieceValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  // True if all elements are in memory.
  [[nodiscard]] bool are_kept() const { return !kept_.empty(); }
  // Reads these elements of a piece, if they are not in memory.
  void fetch(size_t piece, std::vector<int64_t> elements);
  // NaN where it cannot be read.
  [[nodiscard]] double at(size_t piece, int64_t element);
  // A number for the contents of each piece.
  Result<std::vector<uint64_t>> digests(const CancelToken& cancel);

 private:
  static constexpr size_t kMostKept = size_t{1} << 20;

  void forget(const Error& error);

  PieceTensors tensors_;
  ReadFailures* failures_;
  std::vector<std::vector<double>> kept_;                         // all elements; none if they are too many
  std::vector<std::vector<std::pair<int64_t, double>>> fetched_;  // by piece: elements, ascending
  size_t fetched_count_ = 0;
  std::vector<Shape> shapes_;
  DType dtype_ = DType::kUndefined;
  bool ok_ = true;
};

}  // namespace msdump
