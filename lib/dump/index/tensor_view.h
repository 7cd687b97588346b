// TensorView: some of the elements of a tensor, in an order of their own: a part of its rows, or all of it transposed. Or
// a tensor that is put together of several others (tensor_pieces.h).
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.h"

namespace msdump {

struct TensorPieces;

// Not empty. Of a tensor whose elements lie in C order, a byte or more each.
struct TensorView {
  struct Axis {
    int64_t extent = 1, stride = 1;
  };

  Shape shape;             // with as many elements as the axes
  std::vector<Axis> axes;  // the outermost first; (i, j, ..) is element first + i * stride + j * stride ..
  int64_t first = 0;
  const TensorPieces* pieces = nullptr;  // then the others say nothing

  [[nodiscard]] int64_t count() const;
  [[nodiscard]] int64_t last() const;  // the last element of the tensor that it has
  [[nodiscard]] bool is_run() const;   // elements that follow each other
  // Which element of the tensor its element `index` is.
  [[nodiscard]] int64_t element(int64_t index) const;
};

// All elements of a tensor, an axis a dimension.
[[nodiscard]] TensorView view_of(const Shape& shape);

}  // namespace msdump
