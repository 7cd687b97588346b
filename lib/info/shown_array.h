// ShownArray: the elements of a tensor, or of a part of it, to show to a person. Like numpy, it keeps only the first
// and the last three along each axis of more than a thousand elements; nothing else is read. Elements that numpy does
// not know (bfloat16, fp8, int4) are widened without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "tensor/basic_index.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// numpy's print options.
inline constexpr int64_t kSummaryThreshold = 1000;
inline constexpr int64_t kEdgeItems = 3;

struct ShownArray {
  DType dtype = DType::kUndefined;  // what an .npy of it would hold
  Shape shape;                      // of the whole array
  bool summarised = false;
  Shape shown;                      // of `elements`: the whole of `shape` unless summarised
  std::vector<std::byte> elements;  // in C order, little-endian
};

struct ShowOptions {
  bool summarise = true;  // false: all elements
  int64_t most = int64_t{1} << 20;
};

// too_large when more than `most` elements would be shown.
Result<ShownArray> read_shown(HostTensor& tensor, const ArrayView& view, const ShowOptions& options = {});

}  // namespace msdump
