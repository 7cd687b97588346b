// ShownArray: the elements of a tensor, or of a part of it, to show to a person. Like numpy, it keeps only the first
// and the last three along each axis of more than a thousand elements; nothing else is read. Elements that numpy does
// not know (bfloat16, fp8, int4) are widened without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "report/value.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// numpy's print options.
inline constexpr int64_t kSummaryThreshold = 1000;
inline constexpr int64_t kEdgeItems = 3;

struct ShownArray {
  DType dtype = DType::kUndefined;  // what an .npy of it would hold
  Shape shape;                      // of the array
  bool summarised = false;
  Shape shown;                      // of `elements`: equal to `shape` unless summarised
  std::vector<std::byte> elements;  // in C order, little-endian
};

struct ShowOptions {
  bool summarise = true;  // false: all elements
  int64_t most = int64_t{1} << 20;
};

// too_large when more than `most` elements would be shown.
Result<ShownArray> read_shown(HostTensor& tensor, const ArrayView& view, const ShowOptions& options = {});

// The elements of a tensor as text and as values of a report.
//
// Text: a line for each row of the last axis, after its place ("[0, 2, :]") if there are several rows. Numbers have
// eight significant digits and are aligned; a long row continues on the next line. "..." stands for what is left out.

// The text has no line feed at its end.
[[nodiscard]] std::string array_text(const ShownArray& array);

// Nested lists, a number for a single element; a complex number is [real, imaginary]. Of an array with everything shown.
[[nodiscard]] report::Value array_value(const ShownArray& array);

}  // namespace msdump
