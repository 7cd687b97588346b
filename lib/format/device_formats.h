// Which host tensor a device tensor stands for: reads `original_shape`, which may be in NCHW, NHWC or HWCN order, of a
// lower rank (a bias carried as NC1HWC0), unknown or absent.
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

// How the host tensor is written: its extents, and either the axes in the target order or, for a host shape of another
// rank than the format has axes, that shape as it is.
struct HostShape {
  HostDims dims;
  std::optional<Shape> own_shape;  // set: written with this shape, axes in NC(D)HW order
};

// The note of a plan that is kept because the original shape is missing.
inline constexpr std::string_view kNoOriginalShape = "the original shape is not in the file";

// The original shape; none if absent or with unknown dimensions. Writers leave it empty both for a scalar and for "not
// known": an empty one counts only where it fits.
[[nodiscard]] std::optional<Shape> usable_original_shape(const PlanRequest& request);

// Tries the readings of a rank-4 (with_depth: rank-5) original shape in the order original_format, NCHW, NHWC, HWCN and
// takes the first for which `fits` holds; then the readings of lower ranks. No value: nothing fits.
[[nodiscard]] std::optional<HostShape> read_original_shape(const Shape& original, std::optional<Format> original_format,
                                                           bool with_depth,
                                                           const std::function<bool(const HostDims&)>& fits);

// The shape written for `dims` in the axis order of `axes` ("NHWC").
[[nodiscard]] Shape shape_in_order(const HostDims& dims, std::string_view axes);
[[nodiscard]] int64_t extent_of(const HostDims& dims, char axis);

// The axis order a target means for a tensor with or without a depth axis: NCHW and NCDHW stand for each other, ND is
// NC(D)HW. Empty when there is none (CHWN of a 5-dimensional tensor).
[[nodiscard]] std::optional<Format> target_for_rank(Format target, bool with_depth);

// The device formats whose inverse is known: for each, where the axes of the host tensor lie in the device tensor.

// One host axis (or a piece of one) as it lies in the device tensor.
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
  std::string kept_reason;    // set: the layout is valid but cannot be undone (the original shape is missing)
  bool padding_kept = false;  // the original shape is missing, so C is still C1*C0
};

struct DeviceTensor {
  Format format;
  int64_t groups = 0;
  Shape shape;
  std::optional<Shape> original_shape;
  std::optional<Format> original_format;
};

// shape_mismatch when the device shape, the groups and the original shape contradict each other.
// FRACTAL_NZ is not among them (it has matrix axes, not N,C,H,W): see plan.cpp.
Result<DeviceReading> read_device_tensor(const DeviceTensor& tensor);

}  // namespace msdump
