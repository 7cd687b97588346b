// Device formats the slow way, as an oracle for lib/format: device shapes and the flat index of one element, written
// straight from the table of reference/ascend-dump-file.md section 5, one division and one remainder at a time. Shares
// nothing with lib/format but the names of the formats and the form of a plan. Header only: the fuzz targets use it too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "format/plan.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump::test {

struct Coordinates {
  int64_t n = 0, c = 0, d = 0, h = 0, w = 0;

  [[nodiscard]] int64_t& of(char axis) {
    return axis == 'N' ? n : axis == 'C' ? c : axis == 'D' ? d : axis == 'H' ? h : w;
  }
};

// A host tensor of extents N,C,D,H,W (D = 1 where the format has none) in a device format.
struct DeviceLayout {
  Format format = Format::kNC1HWC0;
  Coordinates extent;  // N, C, D, H, W
  int64_t c0 = 16;
  int64_t groups = 0;  // FRACTAL_Z only; C is per group then
};

inline int64_t blocks_of(int64_t count, int64_t block) { return (count + block - 1) / block; }
inline int64_t padded(int64_t count, int64_t block) { return blocks_of(count, block) * block; }

inline bool has_depth(Format format) { return format == Format::kNDC1HWC0 || format == Format::kFractalZ3D; }
inline bool is_grouped(const DeviceLayout& l) {
  return l.groups > 1 && (l.format == Format::kFractalZ || l.format == Format::kFractalZG);
}

// Section 5.1: E groups share a block.
struct GroupBlock {
  int64_t cout, e, cin_padded, cout_padded;
};
inline GroupBlock group_block(const DeviceLayout& l) {
  const int64_t cin = l.extent.c, cout = l.extent.n / l.groups;
  const int64_t e = std::min(std::lcm(std::lcm(cin, l.c0) / cin, std::lcm(cout, int64_t{16}) / cout), l.groups);
  return {cout, e, padded(e * cin, l.c0), padded(e * cout, 16)};
}

// No value for a host tensor that the format cannot hold.
inline std::optional<Shape> device_shape(const DeviceLayout& l) {
  const auto& [n, c, d, h, w] = l.extent;
  const int64_t c1 = blocks_of(c, l.c0), n1 = blocks_of(n, 16);
  if (is_grouped(l)) {
    if (c <= 0 || n <= 0 || n % l.groups != 0) return std::nullopt;
    const GroupBlock g = group_block(l);
    return Shape{blocks_of(l.groups, g.e) * (g.cin_padded / l.c0) * h * w, g.cout_padded / 16, 16, l.c0};
  }
  switch (l.format) {
    case Format::kNC1HWC0:
    case Format::kNC1HWC0C04: return Shape{n, c1, h, w, l.c0};
    case Format::kFractalZ:
    case Format::kFractalZG: return Shape{c1 * h * w, n1, 16, l.c0};
    case Format::kFractalZC04:
      if (c > 4) return std::nullopt;
      return Shape{blocks_of(4 * h * w, l.c0), n1, 16, l.c0};
    case Format::kNDC1HWC0: return Shape{n, d, c1, h, w, l.c0};
    case Format::kFractalZ3D: return Shape{d * c1 * h * w, n1, 16, l.c0};
    case Format::kC1HWNCoC0: return Shape{c1, h, w, n, l.c0, l.c0};
    default: return std::nullopt;
  }
}

inline int64_t device_index(const DeviceLayout& l, const Coordinates& at) {
  const int64_t C0 = l.c0, H = l.extent.h, W = l.extent.w, N = l.extent.n, D = l.extent.d;
  const int64_t C1 = blocks_of(l.extent.c, C0), N1 = blocks_of(N, 16);
  const auto& [n, c, d, h, w] = at;
  if (is_grouped(l)) {
    const GroupBlock b = group_block(l);
    const int64_t C1g = b.cin_padded / C0, g = n / b.cout, v = g % b.e;
    const int64_t i = v * l.extent.c + c, o = v * b.cout + n % b.cout;
    return ((((g / b.e * C1g + i / C0) * H + h) * W + w) * b.cout_padded + o) * C0 + i % C0;
  }
  switch (l.format) {
    case Format::kNC1HWC0:
    case Format::kNC1HWC0C04: return (((n * C1 + c / C0) * H + h) * W + w) * C0 + c % C0;
    case Format::kFractalZ:
    case Format::kFractalZG: return (((c / C0 * H + h) * W + w) * (N1 * 16) + n) * C0 + c % C0;
    case Format::kFractalZC04: {
      const int64_t z = (h * W + w) * 4 + c;
      return ((z / C0 * N1 + n / 16) * 16 + n % 16) * C0 + z % C0;
    }
    case Format::kNDC1HWC0: return ((((n * D + d) * C1 + c / C0) * H + h) * W + w) * C0 + c % C0;
    case Format::kFractalZ3D: return ((((d * C1 + c / C0) * H + h) * W + w) * (N1 * 16) + n) * C0 + c % C0;
    case Format::kC1HWNCoC0: return ((((c / C0 * H + h) * W + w) * N + n) * C0 + c % C0) * C0 + c % C0;
    default: return -1;
  }
}

// The extents of `axes` ("NHWC") in that order.
inline Shape host_shape(Coordinates extent, std::string_view axes) {
  Shape shape;
  for (const char axis : axes) shape.push_back(extent.of(axis));
  return shape;
}

inline Coordinates extents_from(const Shape& shape, std::string_view axes) {
  Coordinates extent{1, 1, 1, 1, 1};
  for (size_t i = 0; i < axes.size(); ++i) extent.of(axes[i]) = shape[i];
  return extent;
}

// Where element (n,c,d,h,w) lies in a plain tensor with these axes.
inline int64_t plain_index(Coordinates extent, Coordinates at, std::string_view axes) {
  int64_t index = 0;
  for (const char axis : axes) index = index * extent.of(axis) + at.of(axis);
  return index;
}

// Calls visit(coordinates) for all elements of a host tensor, in the order of `axes` (4 or 5 letters).
template <class Visit>
void for_each_element(Coordinates extent, std::string_view axes, Visit visit) {
  int64_t count = 1;
  for (const char axis : axes) count *= extent.of(axis);
  for (int64_t flat = 0; flat < count; ++flat) {
    Coordinates at;
    int64_t rest = flat;
    for (size_t i = axes.size(); i-- > 0;) {
      at.of(axes[i]) = rest % extent.of(axes[i]);
      rest /= extent.of(axes[i]);
    }
    visit(at);
  }
}

// For each element of the host tensor written in the order of `axes`: which element of the device tensor it is.
inline std::vector<int64_t> sources_of(const DeviceLayout& l, std::string_view axes) {
  std::vector<int64_t> sources;
  for_each_element(l.extent, axes, [&](const Coordinates& at) { sources.push_back(device_index(l, at)); });
  return sources;
}

// FRACTAL_NZ: ...,H,W -> ...,W1,H1,16,C0. A host tensor of rank 0 or 1 is a matrix of one row.
inline Shape nz_matrix(Shape host) {
  while (host.size() < 2) host.insert(host.begin(), 1);
  return host;
}
inline Shape nz_device_shape(const Shape& host, int64_t c0) {
  const Shape m = nz_matrix(host);
  Shape shape(m.begin(), m.end() - 2);
  for (const int64_t dim : {blocks_of(m.back(), c0), blocks_of(m[m.size() - 2], 16), int64_t{16}, c0})
    shape.push_back(dim);
  return shape;
}
inline std::vector<int64_t> nz_sources(const Shape& host, int64_t c0) {
  const Shape m = nz_matrix(host);
  const int64_t W = m.back(), H = m[m.size() - 2], W1 = blocks_of(W, c0), H1 = blocks_of(H, 16);
  int64_t lead = 1;
  for (size_t i = 0; i + 2 < m.size(); ++i) lead *= m[i];
  std::vector<int64_t> sources;
  for (int64_t b = 0; b < lead; ++b) {
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t w = 0; w < W; ++w) sources.push_back(((b * W1 + w / c0) * (H1 * 16) + h) * c0 + w % c0);
    }
  }
  return sources;
}

// The element of the source that becomes the host element at `host_index`, by the formula of PlanAxis alone.
inline int64_t source_index_of(const PlanPart& part, const std::vector<int64_t>& host_index) {
  int64_t index = part.src_base;
  for (size_t i = 0; i < part.axes.size(); ++i) {
    const PlanAxis& axis = part.axes[i];
    const int64_t shifted = host_index[i] + axis.phase;
    index += shifted / axis.block * axis.src_outer + shifted % axis.block * axis.src_inner;
  }
  return index;
}

}  // namespace msdump::test
