// The device formats with a known inverse: the host tensor of a device tensor, and the strides of its axes in the device
// tensor. The original shape in a file may be in NCHW, NHWC or HWCN order, or unknown. It may have fewer dimensions: a bias
// stored as NC1HWC0.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/plan.h"

namespace msdump {

// Extents of the host axes; D is 1 for 4-dimensional formats.
struct HostDims {
  int64_t n = 1, c = 1, d = 1, h = 1, w = 1;
};

// The host tensor to write: its extents, with the axes in the target order. A host shape with another number of dimensions
// than the format is written as it is.
struct HostShape {
  HostDims dims;
  std::optional<Shape> own_shape;  // written with this shape instead, axes in NC(D)HW order
};

// The note of a plan that keeps the device layout because the original shape is missing.
inline constexpr std::string_view kNoOriginalShape = "the original shape is not in the file";

// The original shape; none if it is absent or has unknown dimensions. Writers use an empty shape for scalars and for
// "unknown", so an empty one counts only if it fits.
[[nodiscard]] std::optional<Shape> usable_original_shape(const PlanRequest& request);

// The first reading of an original shape for which `fits` holds. Shapes of 4 (with_depth: 5) dimensions are read in the order
// original_format, NCHW, NHWC, HWCN; then come readings of fewer dimensions. No value if none fits.
[[nodiscard]] std::optional<HostShape> read_original_shape(const Shape& original, std::optional<Format> original_format,
                                                           bool with_depth,
                                                           const std::function<bool(const HostDims&)>& fits);

// The shape written for `dims` in the axis order of `axes` ("NHWC").
[[nodiscard]] Shape shape_in_order(const HostDims& dims, std::string_view axes);
[[nodiscard]] int64_t extent_of(const HostDims& dims, char axis);

// The axis order of a target for a tensor with or without depth: NCHW and NCDHW stand for each other, ND is NC(D)HW. None for
// CHWN and five dimensions.
[[nodiscard]] std::optional<Format> target_for_rank(Format target, bool with_depth);

// A host axis, or a part of one, in the device tensor.
struct SourceAxis {
  char letter = 'N';  // N, C, D, H, W; 'P' is H and W as one axis
  PlanAxis axis;      // `dst_stride` counts indices of the host axis
};

struct SourcePart {
  std::vector<SourceAxis> axes;
  int64_t src_base = 0;
  int64_t n_base = 0;  // first index on the host's N axis
};

struct DeviceReading {
  HostShape host;
  std::vector<SourcePart> parts;
  std::string kept_reason;  // the layout is valid but has no inverse (the original shape is missing); empty: it has one
  bool padding_kept = false;  // the original shape is missing, so C is still C1*C0
};

struct DeviceTensor {
  Format format;
  int64_t groups = 0;
  Shape shape;
  std::optional<Shape> original_shape;
  std::optional<Format> original_format;
};

// kShapeMismatch if the device shape, the groups and the original shape contradict each other. FRACTAL_NZ, which has matrix
// axes, is in plan.cpp.
Result<DeviceReading> read_device_tensor(const DeviceTensor& tensor);

}  // namespace msdump
