// Format conversion, part 1: the plan. How the elements of a device tensor come to lie in a host tensor, checked once
// against every number the file gives; carrying it out (window.h) cannot fail.
//
// The picture: the host tensor has axes N, C, D, H, W in the order asked for. Each axis moves through the device tensor by
// a constant stride, except that one may be blocked: index i lies at (i / C0) * outer + (i % C0) * inner. All formats with
// a known inverse are of this form; FRACTAL_Z with groups is a few of them (parts), one for each position a group can have
// inside a device block. No formula is evaluated per element.
//
// Source of the formulas: reference/ascend-dump-file.md section 5 (GE, MindSpore and msaccucmp sources). Padding is
// never read: no host index maps to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {

// Index i of a host axis is element ((i + phase) / block) * src_outer + ((i + phase) % block) * src_inner of the device
// tensor and i * dst_stride of the host tensor.
struct PlanAxis {
  int64_t extent = 1;
  int64_t block = 1;  // an axis that is not blocked: block = max(extent, 1), src_outer = 0
  int64_t phase = 0;
  int64_t src_outer = 0;
  int64_t src_inner = 0;
  int64_t dst_stride = 0;
};

[[nodiscard]] PlanAxis plain_axis(int64_t extent, int64_t src_stride, int64_t dst_stride);

struct PlanPart {
  std::vector<PlanAxis> axes;
  int64_t src_base = 0;
  int64_t dst_base = 0;
};

enum class PlanPolicy : uint8_t {
  kConverted,  // in the host format asked for (also when nothing had to move)
  kKept,       // device layout: nothing else was asked for, or no inverse is known
  kRaw,        // bytes without a meaning we know: dtype or shape is missing
};
[[nodiscard]] constexpr PlanPolicy last_of(PlanPolicy) { return PlanPolicy::kRaw; }
[[nodiscard]] std::string_view name_of(PlanPolicy policy);

struct Plan {
  PlanPolicy policy = PlanPolicy::kConverted;
  DType dtype = DType::kUint8;      // of the bytes in the file
  DType npy_dtype = DType::kUint8;  // of the array written
  Format from = Format::kND;
  Format to = Format::kND;
  Shape shape;  // of the array written
  std::vector<PlanPart> parts;
  int64_t src_elements = 0;  // elements of `dtype` the parts may touch: [0, src_elements)
  int64_t dst_elements = 0;
  bool identity = false;  // elements keep their order: dst[i] = src[i]
  std::string note;       // why the device layout was kept although a conversion was asked for
};

struct PlanRequest {
  std::optional<DType> dtype;
  int32_t dtype_number = 0;   // for the message when dtype is unknown
  int64_t format_number = 0;  // possibly packed
  int64_t sub_format = 0;
  std::optional<Shape> shape;           // device
  std::optional<Shape> original_shape;  // host
  std::optional<Format> original_format;
  uint64_t bytes = 0;            // there are for the tensor
  std::optional<Format> target;  // none: keep the device format
};

// Errors: unsupported_dtype, unsupported_format, shape_mismatch (shapes, sizes and formats that contradict each other),
// too_large (a dimension product that overflows). What has no known inverse is not an error but kKept with a note.
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace msdump
