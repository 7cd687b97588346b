// The device formats whose inverse is known: for each, where the axes of the host tensor lie in the device tensor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/host_shape.h"
#include "format/plan.h"

namespace msdump {

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
