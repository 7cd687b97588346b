#include "recompute/array.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace msdump::recompute {

int64_t size_of(const Shape& shape) { return element_count(shape).value_or(0); }

std::optional<int64_t> bounded_count(const Shape& shape) {
  const auto count = element_count(shape);
  return count && *count <= kMostElements ? count : std::nullopt;
}

double spacing_at(DType dtype, double value) {
  const FloatFormat& format = info(dtype).traits.format;
  const int least = 1 - format.bias;
  const int exponent = value == 0 || !std::isfinite(value) ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

Array make_array(Shape shape, double value) {
  Array array;
  array.values.assign(static_cast<size_t>(size_of(shape)), value);
  array.shape = std::move(shape);
  return array;
}

Array scalar(double value) { return make_array({}, value); }

Array with_shape(Array array, Shape shape) {
  array.shape = std::move(shape);
  return array;
}

Array absolute(const Array& x) {
  return map(x, [](double value) { return std::fabs(value); });
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

std::optional<std::vector<int64_t>> broadcast_strides(const Shape& shape, const Shape& to) {
  if (shape.size() > to.size()) return std::nullopt;
  const size_t more = to.size() - shape.size();
  const std::vector<int64_t> own = strides_of(shape);
  std::vector<int64_t> strides(to.size(), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == to[more + axis]) {
      strides[more + axis] = own[axis];
    } else if (shape[axis] != 1) {
      return std::nullopt;
    }
  }
  return strides;
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    shape[shape.size() - i] = x == 1 ? y : x;
  }
  return bounded_count(shape) ? std::optional(shape) : std::nullopt;
}

std::optional<Array> broadcast_to(const Array& x, const Shape& shape) {
  if (x.shape == shape) return x;
  const auto strides = broadcast_strides(x.shape, shape);
  if (!strides) return std::nullopt;
  Array y = make_array(shape);
  double* out = y.values.data();
  walk<1>(shape, {*strides}, [&](const std::array<int64_t, 1>& at) { *out++ = x.values[static_cast<size_t>(at[0])]; });
  return y;
}

std::optional<size_t> axis_from_front(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < 0) axis += count;
  return axis >= 0 && axis < count ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
}

Shape ReducedAxes::shape_of(const Shape& x) const {
  Shape shape;
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (!reduced[axis]) shape.push_back(x[axis]);
    if (reduced[axis] && keep) shape.push_back(1);
  }
  return shape;
}

Shape ReducedAxes::kept_shape_of(const Shape& x) const {
  Shape shape = x;
  for (size_t axis = 0; axis < x.size(); ++axis) shape[axis] = reduced[axis] ? 1 : x[axis];
  return shape;
}

std::optional<ReducedAxes> reduced_axes(std::span<const int64_t> axes, size_t rank, bool keep) {
  ReducedAxes result{std::vector<bool>(rank, axes.empty()), keep};
  if (rank == 0) return result;  // an axis of a scalar is accepted
  for (const int64_t axis : axes) {
    const auto found = axis_from_front(axis, rank);
    if (!found) return std::nullopt;
    result.reduced[*found] = true;
  }
  return result;
}

Array sum(const Array& x, const ReducedAxes& axes) {
  return reduce(x, axes, 0, [](double sum, double value) { return sum + value; });
}

Array mean(const Array& x, const ReducedAxes& axes) {
  const double count = reduced_count(x, axes);
  Array y = sum(x, axes);
  for (double& value : y.values) value /= count;
  return y;
}

double reduced_count(const Array& x, const ReducedAxes& axes) {
  double count = 1;
  for (size_t axis = 0; axis < x.shape.size(); ++axis) {
    if (axes.reduced[axis]) count *= static_cast<double>(x.shape[axis]);
  }
  return count;
}

std::optional<Array> sum_to(const Array& x, const Shape& shape) {
  if (x.shape == shape) return x;
  if (shape.size() > x.rank()) return std::nullopt;
  const size_t more = x.rank() - shape.size();
  ReducedAxes axes{std::vector<bool>(x.rank(), false), false};
  for (size_t axis = 0; axis < x.rank(); ++axis) {
    if (axis < more || (shape[axis - more] == 1 && x.shape[axis] != 1))
      axes.reduced[axis] = true;
    else if (shape[axis - more] != x.shape[axis])
      return std::nullopt;
  }
  return with_shape(sum(x, axes), shape);
}

std::optional<Array> transpose(const Array& x, std::span<const int64_t> permutation) {
  if (permutation.size() != x.rank()) return std::nullopt;
  const std::vector<int64_t> own = strides_of(x.shape);
  std::vector<bool> used(x.rank(), false);
  Shape shape;
  std::vector<int64_t> strides;
  for (const int64_t from : permutation) {
    const auto axis = axis_from_front(from, x.rank());
    if (!axis || used[*axis]) return std::nullopt;
    used[*axis] = true;
    shape.push_back(x.shape[*axis]);
    strides.push_back(own[*axis]);
  }
  Array y = make_array(std::move(shape));
  double* out = y.values.data();
  walk<1>(y.shape, {strides}, [&](const std::array<int64_t, 1>& at) { *out++ = x.values[static_cast<size_t>(at[0])]; });
  return y;
}

namespace {

struct SlicePlan {
  int64_t first = 0;
  Shape shape;
  std::vector<int64_t> strides;
};

SlicePlan plan_slice(const Shape& shape, std::span<const AxisSlice> axes) {
  const std::vector<int64_t> own = strides_of(shape);
  SlicePlan plan;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    plan.first += own[axis] * axes[axis].begin;
    plan.shape.push_back(axes[axis].count);
    plan.strides.push_back(own[axis] * axes[axis].step);
  }
  return plan;
}

}  // namespace

Array slice(const Array& x, std::span<const AxisSlice> axes) {
  const SlicePlan plan = plan_slice(x.shape, axes);
  Array y = make_array(plan.shape);
  double* out = y.values.data();
  walk<1>(plan.shape, {plan.strides},
          [&](const std::array<int64_t, 1>& at) { *out++ = x.values[static_cast<size_t>(plan.first + at[0])]; });
  return y;
}

void scatter_slice(Array& into, const Array& part, std::span<const AxisSlice> axes) {
  const SlicePlan plan = plan_slice(into.shape, axes);
  const double* in = part.values.data();
  walk<1>(plan.shape, {plan.strides},
          [&](const std::array<int64_t, 1>& at) { into.values[static_cast<size_t>(plan.first + at[0])] = *in++; });
}

AxisView view_of_axis(const Shape& shape, size_t axis) {
  AxisView view;
  for (size_t i = 0; i < shape.size(); ++i) {
    (i < axis ? view.outer : i == axis ? view.length : view.inner) *= shape[i];
  }
  return view;
}

}  // namespace msdump::recompute
