#include "format/device_formats.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/bytes.h"

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

// Readings of fewer than 4 dimensions: MindSpore pads (C), (C,H) and (C,H,W); a flattened 1x1 tensor has (N,C).
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
    // Writers use NCHW also for "not set", so only another original_format takes precedence.
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

namespace {

SourceAxis plain(char letter, int64_t extent, int64_t stride) { return {letter, plain_axis(extent, stride, 1)}; }

SourceAxis blocked(char letter, int64_t extent, int64_t block, int64_t outer, int64_t inner) {
  return {letter, {.extent = extent, .block = block, .src_outer = outer, .src_inner = inner, .dst_stride = 1}};
}

Error does_not_fit(const DeviceTensor& tensor) {
  return make_error(ErrorCode::kShapeMismatch, "original shape {} (rank {}) does not fit {} {}",
                    describe(*tensor.original_shape), tensor.original_shape->size(), name_of(tensor.format),
                    describe(tensor.shape));
}

Status need_rank(const DeviceTensor& tensor, size_t rank) {
  if (tensor.shape.size() == rank) return {};
  return fail(ErrorCode::kShapeMismatch, "{} needs {} dimensions, has {}", name_of(tensor.format), rank,
              tensor.shape.size());
}

Status need_block(const DeviceTensor& tensor) {
  if (tensor.shape.back() > 0) return {};
  return fail(ErrorCode::kShapeMismatch, "empty tensor (C0 = {}) in {}", tensor.shape.back(), name_of(tensor.format));
}

// The host tensor of the original shape. No value if there is none, or only the empty one that writers use for "unknown".
template <class Fits>
Result<std::optional<HostShape>> host_by_original(const DeviceTensor& tensor, bool with_depth, Fits fits) {
  if (!tensor.original_shape) return std::optional<HostShape>();
  auto host = read_original_shape(*tensor.original_shape, tensor.original_format, with_depth, fits);
  if (!host && !tensor.original_shape->empty()) return fail(does_not_fit(tensor));
  return host;
}

// An empty tensor needs no strides, and the product of its other dimensions may overflow.
bool is_empty(const HostDims& dims) { return dims.n == 0 || dims.c == 0 || dims.d == 0 || dims.h == 0 || dims.w == 0; }

// NC1HWC0, NC1HWC0_C04: N,C1,H,W,C0.  NDC1HWC0: N,D,C1,H,W,C0.  C = C1*C0 less padding.
Result<DeviceReading> read_nc1hwc0(const DeviceTensor& tensor) {
  const bool with_depth = tensor.format == Format::kNDC1HWC0;
  MSDUMP_CHECK_OK(need_rank(tensor, with_depth ? 6 : 5));
  MSDUMP_CHECK_OK(need_block(tensor));
  const Shape& s = tensor.shape;
  const size_t at = with_depth ? 1 : 0;  // the dimensions after N (and D) begin at `at` + 1
  const int64_t n = s[0], d = with_depth ? s[1] : 1, c1 = s[at + 1], h = s[at + 2], w = s[at + 3], c0 = s[at + 4];
  DeviceReading reading;
  const auto fits = [&](const HostDims& dims) {
    return dims.n == n && dims.d == d && dims.h == h && dims.w == w && ceil_div(dims.c, c0) == c1;
  };
  auto host = host_by_original(tensor, with_depth, fits);
  if (!host) {
    // The most frequent contradiction has a message of its own.
    const Shape& original = *tensor.original_shape;
    const bool only_c = original.size() == s.size() - 1 && original[0] == n && (!with_depth || original[2] == d) &&
                        original[original.size() - 2] == h && original.back() == w;
    if (only_c) return fail(ErrorCode::kShapeMismatch, "original C {} does not fit C1*C0 = {}", original[1], c1 * c0);
    return fail(std::move(host).error());
  }
  reading.padding_kept = !host->has_value();
  reading.host = host->value_or(HostShape{{.n = n, .c = c1 * c0, .d = d, .h = h, .w = w}, std::nullopt});
  const HostDims& dims = reading.host.dims;
  if (is_empty(dims)) return reading;
  SourcePart part;
  part.axes = {plain('N', dims.n, d * c1 * h * w * c0), plain('D', dims.d, c1 * h * w * c0),
               blocked('C', dims.c, c0, h * w * c0, 1), plain('H', dims.h, w * c0), plain('W', dims.w, c0)};
  reading.parts = {part};
  return reading;
}

// FRACTAL_Z: C1*H*W,N1,N0,C0.  FRACTAL_Z_3D: D*C1*H*W,N1,N0,C0.
Result<DeviceReading> read_fractal_z(const DeviceTensor& tensor) {
  const bool with_depth = tensor.format == Format::kFractalZ3D;
  MSDUMP_CHECK_OK(need_rank(tensor, 4));
  MSDUMP_CHECK_OK(need_block(tensor));
  const Shape& s = tensor.shape;
  const int64_t rows = s[0], n1 = s[1], n0 = s[2], c0 = s[3];
  DeviceReading reading;
  const auto fits = [&](const HostDims& dims) {
    const auto expected = checked_product(std::vector{dims.d, ceil_div(dims.c, c0), dims.h, dims.w});
    return expected && *expected == rows && n0 > 0 && ceil_div(dims.n, n0) == n1;
  };
  MSDUMP_TRY(const auto host, host_by_original(tensor, with_depth, fits));
  if (!host) {
    reading.kept_reason = kNoOriginalShape;
    return reading;
  }
  reading.host = *host;
  const HostDims& dims = host->dims;
  if (is_empty(dims)) return reading;
  const int64_t row = n1 * n0 * c0, c1 = ceil_div(dims.c, c0);
  SourcePart part;
  part.axes = {plain('D', dims.d, c1 * dims.h * dims.w * row), blocked('C', dims.c, c0, dims.h * dims.w * row, 1),
               plain('H', dims.h, dims.w * row), plain('W', dims.w, row), plain('N', dims.n, c0)};
  reading.parts = {part};
  return reading;
}

// The number of groups in a device block, and the padded size of the block (as in GE). Host C is that of a group.
struct GroupLayout {
  int64_t groups, cout, per_block, c_padded, n_padded;
};

GroupLayout group_layout(int64_t groups, const HostDims& dims, int64_t c0, int64_t n0) {
  const int64_t cout = dims.n / groups;
  const int64_t by_input = c0 / std::gcd(dims.c, c0), by_output = n0 / std::gcd(cout, n0);  // lcm(a, b) / a
  const int64_t per_block = std::min(std::lcm(by_input, by_output), groups);
  return {groups, cout, per_block, ceil_div(per_block * dims.c, c0) * c0, ceil_div(per_block * cout, n0) * n0};
}

// FRACTAL_Z with groups: block g/E has E groups on its diagonal. The group at position e begins at input channel e*Cin and
// output channel e*cout. Each position is a part.
Result<DeviceReading> read_grouped_fractal_z(const DeviceTensor& tensor) {
  MSDUMP_CHECK_OK(need_rank(tensor, 4));
  MSDUMP_CHECK_OK(need_block(tensor));
  const Shape& s = tensor.shape;
  const int64_t groups = tensor.groups, n0 = s[2], c0 = s[3];
  DeviceReading reading;
  if (!tensor.original_shape || tensor.original_shape->empty()) {
    reading.kept_reason = kNoOriginalShape;
    return reading;
  }
  // Keeps every product below in range, and the number of parts small (real blocks are 16 to 64).
  constexpr int64_t kMostElements = int64_t{1} << 62, kLargestBlock = 256;
  const auto elements = element_count(*tensor.original_shape);
  const auto device_elements = element_count(s);
  const bool sound = n0 > 0 && elements && device_elements && *elements <= *device_elements;
  if (!sound || *device_elements > kMostElements || c0 > kLargestBlock || n0 > kLargestBlock) {
    return fail(does_not_fit(tensor));
  }
  if (*elements == 0) {
    if (*device_elements != 0 || tensor.original_shape->size() != 4) return fail(does_not_fit(tensor));
    const Shape& o = *tensor.original_shape;
    reading.host.dims = {.n = o[0], .c = o[1], .h = o[2], .w = o[3]};
    return reading;
  }
  bool divides = false;
  const auto fits = [&](const HostDims& dims) {
    if (dims.n % groups != 0) return false;
    divides = true;
    const GroupLayout layout = group_layout(groups, dims, c0, n0);
    const auto rows =
        checked_product(std::vector{ceil_div(groups, layout.per_block), layout.c_padded / c0, dims.h, dims.w});
    return rows && *rows == s[0] && layout.n_padded == s[1] * n0;
  };
  auto host = host_by_original(tensor, false, fits);
  const int64_t n = tensor.original_shape->front();
  if (!host && !divides && n % groups != 0) {
    return fail(ErrorCode::kShapeMismatch, "{} groups do not divide N = {}", groups, n);
  }
  MSDUMP_TRY(const auto fitting, std::move(host));
  reading.host = *fitting;
  const HostDims& dims = fitting->dims;
  const GroupLayout layout = group_layout(groups, dims, c0, n0);
  const int64_t row = layout.n_padded * c0;            // all output channels of one block, one c0 of inputs
  const int64_t plane = dims.h * dims.w * row;         // one c1 of a block
  const int64_t block = layout.c_padded / c0 * plane;  // one block of per_block groups
  for (int64_t e = 0; e < layout.per_block; ++e) {
    SourceAxis c = blocked('C', dims.c, c0, plane, 1);
    c.axis.phase = e * dims.c;
    SourceAxis group_block = plain('N', ceil_div(groups - e, layout.per_block), block);
    group_block.axis.dst_stride = layout.per_block * layout.cout;
    SourcePart part;
    part.src_base = e * layout.cout * c0;
    part.n_base = e * layout.cout;
    part.axes = {group_block, c, plain('H', dims.h, dims.w * row), plain('W', dims.w, row),
                 plain('N', layout.cout, c0)};
    reading.parts.push_back(std::move(part));
  }
  return reading;
}

// FRACTAL_Z_C04: ceil(4*H*W/X),N1,N0,X with z = (h*W + w)*4 + c running over the first and last dimension; X is 16 or 32.
Result<DeviceReading> read_fractal_z_c04(const DeviceTensor& tensor) {
  MSDUMP_CHECK_OK(need_rank(tensor, 4));
  MSDUMP_CHECK_OK(need_block(tensor));
  const Shape& s = tensor.shape;
  const int64_t n1 = s[1], n0 = s[2], x = s[3];
  DeviceReading reading;
  const auto fits = [&](const HostDims& dims) {
    const auto depth = checked_product(std::vector<int64_t>{4, dims.h, dims.w});
    return depth && dims.c <= 4 && x % 4 == 0 && n0 > 0 && ceil_div(*depth, x) == s[0] && ceil_div(dims.n, n0) == n1;
  };
  MSDUMP_TRY(const auto host, host_by_original(tensor, false, fits));
  if (!host) {
    reading.kept_reason = kNoOriginalShape;
    return reading;
  }
  reading.host = *host;
  const HostDims& dims = host->dims;
  if (is_empty(dims)) return reading;
  SourcePart part;
  part.axes = {blocked('P', dims.h * dims.w, x / 4, n1 * n0 * x, 4), plain('N', dims.n, x), plain('C', dims.c, 1)};
  reading.parts = {part};
  return reading;
}

// C1HWNCoC0: C1,H,W,N,C0,C0; only the diagonal of the last two has data (depthwise weights).
Result<DeviceReading> read_c1hwncoc0(const DeviceTensor& tensor) {
  MSDUMP_CHECK_OK(need_rank(tensor, 6));
  MSDUMP_CHECK_OK(need_block(tensor));
  const Shape& s = tensor.shape;
  const int64_t c1 = s[0], h = s[1], w = s[2], n = s[3], c0 = s[5];
  if (s[4] != c0)
    return fail(ErrorCode::kShapeMismatch, "C1HWNCoC0 needs equal last dimensions, has {} and {}", s[4], c0);
  DeviceReading reading;
  const auto fits = [&](const HostDims& dims) {
    return dims.n == n && dims.h == h && dims.w == w && ceil_div(dims.c, c0) == c1;
  };
  MSDUMP_TRY(const auto host, host_by_original(tensor, false, fits));
  reading.padding_kept = !host;
  reading.host = host.value_or(HostShape{{.n = n, .c = c1 * c0, .h = h, .w = w}, std::nullopt});
  const HostDims& dims = reading.host.dims;
  if (is_empty(dims)) return reading;
  const int64_t cube = c0 * c0;
  SourcePart part;
  part.axes = {blocked('C', dims.c, c0, h * w * n * cube, c0 + 1), plain('H', dims.h, w * n * cube),
               plain('W', dims.w, n * cube), plain('N', dims.n, cube)};
  reading.parts = {part};
  return reading;
}

}  // namespace

Result<DeviceReading> read_device_tensor(const DeviceTensor& tensor) {
  switch (tensor.format) {
    case Format::kNC1HWC0:
    case Format::kNC1HWC0C04:
    case Format::kNDC1HWC0: return read_nc1hwc0(tensor);
    case Format::kFractalZ:
    case Format::kFractalZG: return tensor.groups > 1 ? read_grouped_fractal_z(tensor) : read_fractal_z(tensor);
    case Format::kFractalZ3D: return read_fractal_z(tensor);
    case Format::kFractalZC04: return read_fractal_z_c04(tensor);
    case Format::kC1HWNCoC0: return read_c1hwncoc0(tensor);
    default: return fail(ErrorCode::kInternal, "{} has no reading", name_of(tensor.format));
  }
}

}  // namespace msdump
