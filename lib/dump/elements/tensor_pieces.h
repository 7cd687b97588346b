// TensorPieces: a tensor that lies in several others, each of which has boxes of it: the shards of a parameter on the
// ranks of a tensor-parallel group, or the partial sums of a product. And the reader of its elements, which holds no
// more of them than are asked for.
//
//   1. a box is a range of each axis, in the piece and in the whole; together the boxes cover the whole
//   2. elements of boxes of several pieces that lie on each other are added up, or the largest of them is taken (NaN where
//      one is NaN): in float64, and they come as float32 (float64 where a piece has float64 or integers)
//   3. else they come in the dtype of the pieces, which is one
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

class DumpIndex;
class PieceTensors;
struct TensorRecord;

struct PieceBox {
  uint32_t piece = 0;                   // in TensorPieces::records
  std::vector<int64_t> from, to, size;  // by axis: where it begins in the piece and in the whole, and its extent
};

// What is done with the elements of boxes that lie on each other.
enum class PieceOverlap : uint8_t { kNone, kAdded, kLargest };
[[nodiscard]] inline double larger_or_nan(double x, double y) { return x > y || std::isnan(x) ? x : y; }

struct TensorPieces {
  Shape shape;                               // of the whole
  std::vector<const TensorRecord*> records;  // not empty; with shapes; they outlive this
  std::vector<PieceBox> boxes;               // none: the only record is the whole
  PieceOverlap overlap = PieceOverlap::kNone;
  double factor = 1;  // that every element is multiplied by

  [[nodiscard]] bool is_plain() const { return boxes.empty(); }
};

// The elements of the whole. Reads pieces; not for several threads at once.
class PiecesReader {
 public:
  // kShapeMismatch where a piece has not the elements that a box wants, kUnsupportedDtype where dtypes do not go together.
  static Result<PiecesReader> open(const DumpIndex& index, const TensorPieces& pieces);
  PiecesReader(PiecesReader&&) noexcept;
  PiecesReader& operator=(PiecesReader&&) noexcept;
  ~PiecesReader();

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_; }
  // Elements [first, first + count) in C order.
  Status read(int64_t first, int64_t count, std::byte* into);
  [[nodiscard]] Status check_unchanged();

 private:
  PiecesReader() = default;
  // A box as runs of elements that follow each other in both: run i begins at start(i, ..) and has `run` elements.
  struct Runs {
    uint32_t piece = 0;
    int64_t run = 0, count = 0;
    std::vector<int64_t> extents, from_strides, to_strides;  // of the axes that are outside of a run
    int64_t from = 0, to = 0;
    [[nodiscard]] int64_t start(int64_t index, bool in_whole) const;
  };
  [[nodiscard]] static Runs runs_of(const PieceBox& box, const Shape& piece, const Shape& whole);
  Status read_runs(const Runs& runs, int64_t first, int64_t count, std::byte* into);
  void put(const std::byte* elements, int64_t count, int64_t at, std::byte* into);

  std::unique_ptr<PieceTensors> pieces_;
  std::vector<Runs> boxes_;
  DType dtype_ = DType::kUndefined, original_dtype_ = DType::kUndefined;
  DType stored_ = DType::kUndefined;  // of the pieces, and the bytes of an element of them
  size_t width_ = 0;
  bool computed_ = false;  // added, compared or multiplied
  bool largest_ = false;
  double factor_ = 1;
  std::vector<double> results_, terms_;
  std::vector<std::byte> covered_;
};

}  // namespace msdump
