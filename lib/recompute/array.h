// Array: a tensor in double precision, as the kernels of recompute take and return it; and the loops that kernels share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::recompute {

// The elements of a tensor that is too large to hold, in C order. Not thread-safe.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  // Reads elements [first, first + count).
  [[nodiscard]] virtual Status read(int64_t first, int64_t count, double* into) = 0;
};

struct Array {
  Shape shape = {};
  std::vector<double> values = {};  // in C order
  DType dtype = DType::kUndefined;  // of the framework's tensor; kUndefined: computed
  // The narrowest float that holds every value: a float32 file of a bfloat16 device has 16 zero bits in each.
  DType effective = DType::kUndefined;
  bool undecided = false;  // the values do not tell `effective`: too few, or float16 and bfloat16 both hold them
  bool subnormal = false;  // of float16: some values have fewer bits than others
  // Only so many elements are known, as of a float16 file with half of a float32 buffer; the others are NaN. -1: all.
  int64_t known = -1;
  std::shared_ptr<ElementSource> source = {};  // if `values` is empty, it may have them

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(values.size()); }
  [[nodiscard]] size_t rank() const { return shape.size(); }
};

// No kernel makes an array of more elements, whatever its arguments say.
inline constexpr int64_t kMostElements = int64_t{1} << 25;
// The number of elements; none beyond kMostElements.
[[nodiscard]] std::optional<int64_t> bounded_count(const Shape& shape);

[[nodiscard]] int64_t size_of(const Shape& shape);
// The distance between neighbouring numbers of a float dtype of fixed width, at a number of this size.
[[nodiscard]] double spacing_at(DType dtype, double value);
// Tensors of more elements are opened, and read in blocks.
inline constexpr int64_t kBlockElements = int64_t{1} << 16;
// Zeros.
[[nodiscard]] Array make_array(Shape shape, double value = 0);
[[nodiscard]] Array scalar(double value);
// The same elements. The caller knows that the sizes agree.
[[nodiscard]] Array with_shape(Array array, Shape shape);
[[nodiscard]] Array absolute(const Array& x);

[[nodiscard]] std::vector<int64_t> strides_of(const Shape& shape);
// The strides of an array of `shape` that is broadcast to `to`: 0 along axes that repeat. None if it does not fit.
[[nodiscard]] std::optional<std::vector<int64_t>> broadcast_strides(const Shape& shape, const Shape& to);
[[nodiscard]] std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
[[nodiscard]] std::optional<Array> broadcast_to(const Array& x, const Shape& shape);

// The axis counted from the front; none if there is no such axis.
[[nodiscard]] std::optional<size_t> axis_from_front(int64_t axis, size_t rank);

// Calls visit(offsets) for each index of `shape` in C order; offsets[k] is the place of the index with strides[k].
template <size_t N, class Visit>
void walk(const Shape& shape, const std::array<std::vector<int64_t>, N>& strides, const Visit& visit) {
  if (size_of(shape) == 0) return;
  std::array<int64_t, N> at{};
  const size_t rank = shape.size();
  if (rank == 0) {
    visit(at);
    return;
  }
  std::vector<int64_t> index(rank, 0);
  const int64_t inner = shape[rank - 1];
  for (;;) {
    std::array<int64_t, N> place = at;
    for (int64_t i = 0; i < inner; ++i) {
      visit(place);
      for (size_t k = 0; k < N; ++k) place[k] += strides[k][rank - 1];
    }
    size_t axis = rank - 1;
    for (;;) {
      if (axis == 0) return;
      --axis;
      for (size_t k = 0; k < N; ++k) at[k] += strides[k][axis];
      if (++index[axis] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) at[k] -= strides[k][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

// f(0), f(1), .. as a range.
template <class F>
struct GeneratedIterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = double;
  using difference_type = std::ptrdiff_t;
  using pointer = const double*;
  using reference = double;

  const F* f;
  std::ptrdiff_t at;

  double operator*() const { return (*f)(static_cast<size_t>(at)); }
  GeneratedIterator& operator++() {
    ++at;
    return *this;
  }
  std::ptrdiff_t operator-(const GeneratedIterator& other) const { return at - other.at; }
  bool operator==(const GeneratedIterator& other) const { return at == other.at; }
};
// The first ones. A vector that is resized first is written twice.
template <class F>
[[nodiscard]] std::vector<double> generate(size_t count, const F& f) {
  const auto end = static_cast<std::ptrdiff_t>(count);
  return std::vector<double>(GeneratedIterator<F>{&f, 0}, GeneratedIterator<F>{&f, end});
}

template <class F>
[[nodiscard]] Array map(const Array& x, const F& f) {
  return {x.shape, generate(x.values.size(), [&f, from = x.values.data()](size_t i) { return f(from[i]); })};
}

// f(a, b) of all pairs of elements, with the shapes broadcast as numpy does. None if they do not fit.
template <class F>
[[nodiscard]] std::optional<Array> combine(const Array& a, const Array& b, const F& f) {
  if (a.shape == b.shape) {
    return Array{a.shape, generate(a.values.size(),
                                   [&f, u = a.values.data(), v = b.values.data()](size_t i) { return f(u[i], v[i]); })};
  }
  const auto shape = broadcast_shape(a.shape, b.shape);
  if (!shape) return std::nullopt;
  Array y = make_array(*shape);
  double* out = y.values.data();
  walk<2>(*shape, {*broadcast_strides(a.shape, *shape), *broadcast_strides(b.shape, *shape)},
          [&](const std::array<int64_t, 2>& at) {
            *out++ = f(a.values[static_cast<size_t>(at[0])], b.values[static_cast<size_t>(at[1])]);
          });
  return y;
}

// The axes that a reduction removes, or keeps with length 1.
struct ReducedAxes {
  std::vector<bool> reduced;  // by axis
  bool keep = false;

  [[nodiscard]] Shape shape_of(const Shape& x) const;
  [[nodiscard]] Shape kept_shape_of(const Shape& x) const;  // with 1 for each reduced axis
};
// All axes if `axes` is empty. None if there is no such axis.
[[nodiscard]] std::optional<ReducedAxes> reduced_axes(std::span<const int64_t> axes, size_t rank, bool keep);

// Folds the elements along the axes: y = step(y, x), from `begin` on.
template <class F>
[[nodiscard]] Array reduce(const Array& x, const ReducedAxes& axes, double begin, const F& step) {
  const Shape kept = axes.kept_shape_of(x.shape);
  Array y = make_array(kept, begin);
  std::vector<int64_t> to = strides_of(kept);
  for (size_t axis = 0; axis < to.size(); ++axis) {
    if (axes.reduced[axis]) to[axis] = 0;
  }
  const double* in = x.values.data();
  walk<1>(x.shape, {to}, [&](const std::array<int64_t, 1>& at) {
    double& sum = y.values[static_cast<size_t>(at[0])];
    sum = step(sum, *in++);
  });
  y.shape = axes.shape_of(x.shape);
  return y;
}
[[nodiscard]] Array sum(const Array& x, const ReducedAxes& axes);
[[nodiscard]] Array mean(const Array& x, const ReducedAxes& axes);
// Elements of x for each element of the result.
[[nodiscard]] double reduced_count(const Array& x, const ReducedAxes& axes);
// Sums `x` over the axes that were broadcast from `shape`.
[[nodiscard]] std::optional<Array> sum_to(const Array& x, const Shape& shape);

[[nodiscard]] std::optional<Array> transpose(const Array& x, std::span<const int64_t> permutation);

// Elements begin, begin + step, .. of each axis, count of them. The caller has checked that they exist.
struct AxisSlice {
  int64_t begin = 0, step = 1, count = 0;
};
[[nodiscard]] Array slice(const Array& x, std::span<const AxisSlice> axes);
// Writes or adds `part` where slice() would read.
void scatter_slice(Array& into, const Array& part, std::span<const AxisSlice> axes);

// x as rows x columns, where a row is one index of the axes before `axis` and those after it.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
[[nodiscard]] AxisView view_of_axis(const Shape& shape, size_t axis);

}  // namespace msdump::recompute
