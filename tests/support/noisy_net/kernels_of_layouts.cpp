#include <algorithm>

#include "support/noisy_net/kernels.h"

namespace msdump::noisy {
namespace {

size_t axis_of(double axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<double>(rank) : axis);
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// out[i, j, ...] = x[place(i, j, ...)]: calls back with the index of each element of `shape`.
template <class Place>
void gather(const Shape& shape, Numbers& out, const Numbers& x, const Place& place) {
  Shape index(shape.size());
  for (double& one : out) {
    one = x[static_cast<size_t>(place(index))];
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

void transpose(KernelCall& call) {
  const Shape strides = strides_of(call.in[0]->shape);
  const Numbers& order = call.in[1]->v;
  gather(call.out[0].shape, call.out[0].v, call.in[0]->v, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * strides[static_cast<size_t>(order[i])];
    return place;
  });
}

void tile(KernelCall& call) {
  const Shape &from = call.in[0]->shape, strides = strides_of(from);
  gather(call.out[0].shape, call.out[0].v, call.in[0]->v, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] % from[i] * strides[i];
    return place;
  });
}

void slice(KernelCall& call) {
  const Shape strides = strides_of(call.in[0]->shape);
  gather(call.out[0].shape, call.out[0].v, call.in[0]->v, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += (index[i] + static_cast<int64_t>(call.in[1]->v[i])) * strides[i];
    return place;
  });
}

// Copies between a whole and its parts along an axis.
template <class Copy>
void along(const Shape& whole, size_t axis, const std::vector<Shape>& parts, const Copy& copy) {
  size_t outer = 1, inner = 1, start = 0;
  for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(whole[i]);
  for (size_t i = axis + 1; i < whole.size(); ++i) inner *= static_cast<size_t>(whole[i]);
  const size_t row = static_cast<size_t>(whole[axis]) * inner;
  for (size_t part = 0; part < parts.size(); ++part) {
    const size_t length = static_cast<size_t>(parts[part][axis]) * inner;
    for (size_t i = 0; i < outer; ++i) copy(part, i * length, i * row + start, length);
    start += length;
  }
}

void concat(KernelCall& call) {
  std::vector<Shape> parts;
  for (size_t i = 0; i + 1 < call.in.size(); ++i) parts.push_back(call.in[i]->shape);
  Numbers& out = call.out[0].v;
  along(call.out[0].shape, axis_of(call.in.back()->v[0], parts[0].size()), parts,
        [&](size_t part, size_t from, size_t to, size_t length) {
          std::copy_n(call.in[part]->v.begin() + static_cast<std::ptrdiff_t>(from), length,
                      out.begin() + static_cast<std::ptrdiff_t>(to));
        });
}

void split(KernelCall& call) {
  std::vector<Shape> parts;
  for (const Tensor& out : call.out) parts.push_back(out.shape);
  along(call.in[0]->shape, axis_of(call.scalar(1), parts[0].size()), parts,
        [&](size_t part, size_t to, size_t from, size_t length) {
          std::copy_n(call.in[0]->v.begin() + static_cast<std::ptrdiff_t>(from), length,
                      call.out[part].v.begin() + static_cast<std::ptrdiff_t>(to));
        });
}

void pick_rows(KernelCall& call) {
  const auto width = static_cast<std::ptrdiff_t>(call.in[0]->shape[1]);
  for (size_t row = 0; row < call.in[1]->v.size(); ++row)
    std::copy_n(call.in[0]->v.begin() + static_cast<std::ptrdiff_t>(call.in[1]->v[row]) * width, width,
                call.out[0].v.begin() + static_cast<std::ptrdiff_t>(row) * width);
}

}  // namespace

bool compute_layout(KernelCall& call) {
  const std::string& type = call.node->type;
  if (type == "Reshape") {
    call.out[0].v = call.in[0]->v;
  } else if (type == "Transpose") {
    transpose(call);
  } else if (type == "Tile") {
    tile(call);
  } else if (type == "Slice") {
    slice(call);
  } else if (type == "Concat") {
    concat(call);
  } else if (type == "Split") {
    split(call);
  } else if (type == "Gather") {
    pick_rows(call);
  } else {
    return false;
  }
  return true;
}

}  // namespace msdump::noisy
