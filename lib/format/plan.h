// Format conversion, part 1: the plan. It maps the elements of a device tensor to a host tensor. It is checked once against
// every number of the file, and running it (window.h) cannot fail.
//
// The host tensor has axes N, C, D, H, W in the requested order. Each axis has a constant stride in the device tensor, or is
// blocked: index i is at (i / C0) * outer + (i % C0) * inner. All formats with a known inverse have this form. FRACTAL_Z with
// groups has several parts, one for each position of a group inside a device block. No formula is evaluated per element, and
// padding is never read.
// Source of the formulas: GE, MindSpore and msaccucmp.
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

// Index i of a host axis:
//   device element  ((i + phase) / block) * src_outer + ((i + phase) % block) * src_inner
//   host element    i * dst_stride
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
  kConverted,  // in the requested host format (also if nothing had to move)
  kKept,       // in the device layout: requested, or without a known inverse
  kRaw,        // bytes, because dtype or shape is missing
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
  int64_t src_elements = 0;  // the parts read elements [0, src_elements) of `dtype`
  int64_t dst_elements = 0;
  bool identity = false;  // elements keep their order: dst[i] = src[i]
  std::string note;       // the reason for keeping the device layout against the request
};

struct PlanRequest {
  std::optional<DType> dtype;
  int32_t dtype_number = 0;   // for the message when dtype is unknown
  int64_t format_number = 0;  // possibly packed
  int64_t sub_format = 0;
  std::optional<Shape> shape;           // device
  std::optional<Shape> original_shape;  // host
  std::optional<Format> original_format;
  uint64_t bytes = 0;            // of the tensor in the file
  std::optional<Format> target;  // none: keep the device format
};

// kUnsupportedDtype, kUnsupportedFormat, kShapeMismatch (shapes, sizes and formats contradict each other) or kTooLarge (the
// product of dimensions overflows). A format without a known inverse is no error but kKept with a note.
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace msdump
