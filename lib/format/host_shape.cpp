#include "format/host_shape.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace msdump {
namespace {

HostDims read_in_order(const Shape& shape, std::string_view axes) {
  HostDims dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t value = shape[i];
    switch (axes[i]) {
      case 'N': dims.n = value; break;
      case 'C': dims.c = value; break;
      case 'D': dims.d = value; break;
      case 'H': dims.h = value; break;
      default: dims.w = value; break;
    }
  }
  return dims;
}

// Readings of a rank below 4: MindSpore pads (C), (C,H) and (C,H,W); (N,C) is what a flattened 1x1 tensor has.
std::vector<HostDims> low_rank_readings(const Shape& shape) {
  switch (shape.size()) {
    case 0: return {HostDims{}};
    case 1: return {HostDims{.c = shape[0]}};
    case 2: return {HostDims{.n = shape[0], .c = shape[1]}, HostDims{.c = shape[0], .h = shape[1]}};
    case 3: return {HostDims{.c = shape[0], .h = shape[1], .w = shape[2]}};
    default: return {};
  }
}

}  // namespace

std::optional<Shape> usable_original_shape(const PlanRequest& request) {
  if (!request.original_shape) return std::nullopt;
  const Shape& shape = *request.original_shape;
  if (std::find(shape.begin(), shape.end(), kUnknownDim) != shape.end()) return std::nullopt;
  return shape;
}

std::optional<HostShape> read_original_shape(const Shape& original, std::optional<Format> original_format,
                                             bool with_depth, const std::function<bool(const HostDims&)>& fits) {
  const size_t full_rank = with_depth ? 5 : 4;
  if (original.size() == full_rank) {
    std::vector<Format> orders = with_depth ? std::vector{Format::kNCDHW, Format::kNDHWC, Format::kDHWCN}
                                            : std::vector{Format::kNCHW, Format::kNHWC, Format::kHWCN};
    // Writers also put NCHW for "not set", so only another original_format is tried before NCHW.
    if (original_format && host_axes(*original_format).size() == full_rank && *original_format != orders.front()) {
      orders.insert(orders.begin(), *original_format);
    }
    for (const Format order : orders) {
      const HostDims dims = read_in_order(original, host_axes(order));
      if (fits(dims)) return HostShape{dims, std::nullopt};
    }
    return std::nullopt;
  }
  for (const HostDims& dims : low_rank_readings(original)) {
    if (fits(dims)) return HostShape{dims, original};
  }
  return std::nullopt;
}

int64_t extent_of(const HostDims& dims, char axis) {
  switch (axis) {
    case 'N': return dims.n;
    case 'C': return dims.c;
    case 'D': return dims.d;
    case 'H': return dims.h;
    default: return dims.w;
  }
}

Shape shape_in_order(const HostDims& dims, std::string_view axes) {
  Shape shape;
  for (const char axis : axes) shape.push_back(extent_of(dims, axis));
  return shape;
}

std::optional<Format> target_for_rank(Format target, bool with_depth) {
  struct Pair {
    Format flat, deep;
  };
  constexpr std::array kPairs = {
      Pair{Format::kNCHW, Format::kNCDHW},
      Pair{Format::kNHWC, Format::kNDHWC},
      Pair{Format::kHWCN, Format::kDHWCN},
  };
  const std::string_view axes = host_axes(target);
  if (axes.empty()) return with_depth ? Format::kNCDHW : Format::kNCHW;
  if (axes.size() == (with_depth ? 5U : 4U)) return target;
  for (const Pair& pair : kPairs) {
    if (pair.flat == target || pair.deep == target) return with_depth ? pair.deep : pair.flat;
  }
  return std::nullopt;
}

}  // namespace msdump
