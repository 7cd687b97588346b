// Kernels that read or write at places that a tensor of indices names.
#include <algorithm>
#include <array>
#include <cmath>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// The index as a place below `extent`; -1 if it is outside. Negative ones count from the end.
int64_t place_of(double index, int64_t extent) {
  if (!(std::fabs(index) < 0x1p62)) return -1;
  auto place = static_cast<int64_t>(index);
  if (place < 0) place += extent;
  return place >= 0 && place < extent ? place : -1;
}

// x[.., indices, ..] along an axis. An index outside reads 0, as MindSpore's kernels do.
Maybe<Outputs> gather(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  if (call.integer_or("batch_dims", 0) != 0) return unjudged(Reason::kUnknownArgument, "batch_dims");
  if (call.has("max_norm")) return unjudged(Reason::kUnknownArgument, "max_norm");  // scales rows of x in place
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), x->rank())));
  const AxisView view = view_of_axis(x->shape, axis);
  Shape shape(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x->shape.end());
  const Shape* const expected = call.output_shape("y");
  if (!bounded_count(shape) || (expected != nullptr && size_of(*expected) != size_of(shape)))
    return unjudged(Reason::kShape);
  Array y = make_array(expected == nullptr ? shape : *expected);
  double* out = y.values.data();
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const double index : indices->values) {
      const int64_t place = place_of(index, view.length);
      const double* const row = x->values.data() + (outer * view.length + std::max<int64_t>(place, 0)) * view.inner;
      out = place < 0 ? std::fill_n(out, view.inner, 0.0) : std::copy_n(row, view.inner, out);
    }
  }
  return one_output(std::move(y));
}

// y[i][j] = x[indices[i][j]][j] for axis 0.
Maybe<Outputs> gather_elements(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const int64_t dim, call.integer("axis"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, x->rank())));
  if (indices->rank() != x->rank()) return unjudged(Reason::kShape);
  const std::vector<int64_t> own = strides_of(x->shape);
  std::vector<int64_t> strides = own;
  strides[axis] = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    if (i != axis && indices->shape[i] > x->shape[i]) return unjudged(Reason::kShape);
  }
  Array y = make_array(indices->shape);
  size_t i = 0;
  walk<1>(indices->shape, {strides}, [&](const std::array<int64_t, 1>& at) {
    const int64_t place = place_of(indices->values[i], x->shape[axis]);
    if (place >= 0) y.values[i] = x->values[static_cast<size_t>(at[0] + place * own[axis])];
    ++i;
  });
  return one_output(std::move(y));
}

// The gradient of gather_elements: adds dy at the places that were read.
Maybe<Outputs> gather_elements_grad(const Call& call) {
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const int64_t dim, call.integer("axis"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || indices->rank() != shape->size() || dy->size() != indices->size())
    return unjudged(Reason::kShape);
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, shape->size())));
  const std::vector<int64_t> own = strides_of(*shape);
  std::vector<int64_t> strides = own;
  strides[axis] = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    if (i != axis && indices->shape[i] > (*shape)[i]) return unjudged(Reason::kShape);
  }
  Array y = make_array(*shape), terms = y, count = y;
  size_t i = 0;
  walk<1>(indices->shape, {strides}, [&](const std::array<int64_t, 1>& at) {
    const int64_t place = place_of(indices->values[i], (*shape)[axis]);
    const double value = dy->values[i++];
    if (place < 0) return;
    const auto to = static_cast<size_t>(at[0] + place * own[axis]);
    y.values[to] += value;
    terms.values[to] += std::fabs(value);
    ++count.values[to];
  });
  const double most = count.values.empty() ? 0 : *std::max_element(count.values.begin(), count.values.end());
  return one_output(std::move(y), std::move(terms.values), most);
}

// The place in an array that a row of an index tensor names, and the block below it.
struct IndexRows {
  int64_t rows = 0, depth = 0, block = 1;

  static std::optional<IndexRows> of(const Array& indices, const Shape& shape) {
    if (indices.rank() == 0 || indices.shape.back() > static_cast<int64_t>(shape.size())) return std::nullopt;
    IndexRows rows;
    rows.depth = indices.shape.back();
    rows.rows = rows.depth == 0 ? 0 : indices.size() / rows.depth;
    for (size_t axis = static_cast<size_t>(rows.depth); axis < shape.size(); ++axis) rows.block *= shape[axis];
    return rows;
  }
  // -1: outside.
  [[nodiscard]] int64_t place(const Array& indices, const Shape& shape, int64_t row) const {
    int64_t place = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t at = place_of(indices.values[static_cast<size_t>(row * depth + i)], shape[static_cast<size_t>(i)]);
      if (at < 0) return -1;
      place = place * shape[static_cast<size_t>(i)] + at;
    }
    return place * block;
  }
};

Maybe<Outputs> gather_nd(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const IndexRows rows, fitted(IndexRows::of(*indices, x->shape)));
  Shape shape(indices->shape.begin(), indices->shape.end() - 1);
  shape.insert(shape.end(), x->shape.begin() + rows.depth, x->shape.end());
  const Shape* const expected = call.output_shape("y");
  if (expected != nullptr && size_of(*expected) != rows.rows * rows.block) return unjudged(Reason::kShape);
  if (!bounded_count(shape)) return unjudged(Reason::kTooLarge);
  Array y = make_array(shape);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int64_t place = rows.place(*indices, x->shape, row);
    if (place >= 0) std::copy_n(x->values.data() + place, rows.block, y.values.data() + row * rows.block);
  }
  return one_output(std::move(y));
}

// Adds rows of updates into an array of zeros, or into x.
Maybe<Outputs> scatter_add_rows(const Call& call) {
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor updates, call.tensor("updates"));
  MSDUMP_TRY(const Tensor x, call.tensor_if("x"));
  const Shape* const shape = x ? &x->shape : call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const IndexRows rows, fitted(IndexRows::of(*indices, *shape)));
  if (rows.block == 0 || updates->size() != rows.rows * rows.block) return unjudged(Reason::kShape);
  Array y = x ? *x : make_array(*shape), terms = absolute(y);
  std::vector<double> count(static_cast<size_t>(rows.block == 0 ? 0 : y.size() / rows.block), x ? 1 : 0);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int64_t place = rows.place(*indices, *shape, row);
    if (place < 0) continue;
    ++count[static_cast<size_t>(place / rows.block)];
    for (int64_t i = 0; i < rows.block; ++i) {
      const double value = updates->values[static_cast<size_t>(row * rows.block + i)];
      y.values[static_cast<size_t>(place + i)] += value;
      terms.values[static_cast<size_t>(place + i)] += std::fabs(value);
    }
  }
  const double most = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
  return one_output(std::move(y), std::move(terms.values), most);
}

// PyTorch: x with alpha times updates added. `indices` has one place for each row along the axis, or, if kElements, one for each
// element.
template <bool kElements>
Maybe<Outputs> add_along_axis(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor updates, call.tensor("updates"));
  MSDUMP_TRY(const int64_t dim, call.integer("axis"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, x->rank())));
  const double alpha = call.number_or("alpha", 1);
  const Shape& shape = kElements ? indices->shape : updates->shape;
  if (updates->rank() != x->rank() || shape.size() != x->rank() || (!kElements && indices->size() != shape[axis]))
    return unjudged(Reason::kShape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > updates->shape[i] || (i != axis && shape[i] > x->shape[i])) return unjudged(Reason::kShape);
  }
  const std::vector<int64_t> own = strides_of(x->shape);
  std::vector<int64_t> to = own, from = strides_of(shape);
  to[axis] = 0;
  if (!kElements) {
    from.assign(from.size(), 0);
    from[axis] = 1;
  }
  Array y = *x, terms = absolute(y), count = make_array(x->shape);
  walk<3>(shape, {to, from, strides_of(updates->shape)}, [&](const std::array<int64_t, 3>& at) {
    const int64_t place = place_of(indices->values[static_cast<size_t>(at[1])], x->shape[axis]);
    if (place < 0) return;
    const auto target = static_cast<size_t>(at[0] + place * own[axis]);
    const double value = alpha * updates->values[static_cast<size_t>(at[2])];
    y.values[target] += value;
    terms.values[target] += std::fabs(value);
    ++count.values[target];
  });
  const double most = count.values.empty() ? 0 : *std::max_element(count.values.begin(), count.values.end());
  return one_output(std::move(y), std::move(terms.values), most + 1);
}

// Replaces rows of x. Rows that are named twice hold one of the updates: they are not judged (NaN).
Maybe<Outputs> scatter_update_rows(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor updates, call.tensor("updates"));
  MSDUMP_TRY(const IndexRows rows, fitted(IndexRows::of(*indices, x->shape)));
  if (rows.block == 0 || updates->size() != rows.rows * rows.block) return unjudged(Reason::kShape);
  Array y = *x;
  std::vector<bool> written(static_cast<size_t>(rows.block == 0 ? 0 : y.size() / rows.block), false);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int64_t place = rows.place(*indices, x->shape, row);
    if (place < 0) continue;
    const bool twice = written[static_cast<size_t>(place / rows.block)];
    written[static_cast<size_t>(place / rows.block)] = true;
    for (int64_t i = 0; i < rows.block; ++i) {
      double& value = y.values[static_cast<size_t>(place + i)];
      const double update = updates->values[static_cast<size_t>(row * rows.block + i)];
      value = twice && value != update ? std::nan("") : update;
    }
  }
  return one_output(std::move(y));
}

// Sums, or maxima, of the rows of x that have one id. Ids below 0 are left out.
enum class Segment : uint8_t { kSum, kMax, kMin };
template <Segment kFold>
Maybe<Outputs> unsorted_segment(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor ids, call.tensor("ids"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || shape->empty() || ids->size() == 0 || x->size() % ids->size() != 0)
    return unjudged(Reason::kShape);
  const int64_t block = x->size() / ids->size(), segments = shape->front();
  if (size_of(*shape) != segments * block) return unjudged(Reason::kShape);
  Array y = make_array(*shape), terms = y;
  std::vector<double> count(static_cast<size_t>(segments), 0);
  for (int64_t row = 0; row < ids->size(); ++row) {
    const double id = ids->values[static_cast<size_t>(row)];
    if (!(id >= 0 && id < static_cast<double>(segments))) continue;
    const auto segment = static_cast<int64_t>(id);
    const bool first = count[static_cast<size_t>(segment)]++ == 0;
    for (int64_t i = 0; i < block; ++i) {
      const double value = x->values[static_cast<size_t>(row * block + i)];
      double& folded = y.values[static_cast<size_t>(segment * block + i)];
      if (kFold == Segment::kSum) {
        folded += value;
        terms.values[static_cast<size_t>(segment * block + i)] += std::fabs(value);
      } else if (first || std::isnan(value) || (kFold == Segment::kMax ? value > folded : value < folded)) {
        folded = value;
      }
    }
  }
  const double most = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
  if (kFold == Segment::kSum) return one_output(std::move(y), std::move(terms.values), most);
  // What an empty segment holds differs between versions: the lowest number of the type, or 0.
  for (int64_t segment = 0; segment < segments; ++segment) {
    if (count[static_cast<size_t>(segment)] == 0) std::fill_n(y.values.begin() + segment * block, block, std::nan(""));
  }
  return one_output(std::move(y));
}

Maybe<Outputs> one_hot(const Call& call) {
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const int64_t depth, call.integer("depth"));
  const double on = call.number_or("on", 1), off = call.number_or("off", 0);
  if (depth < 0) return unjudged(Reason::kUnknownArgument, "depth");
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", -1), indices->rank() + 1)));
  Shape shape = indices->shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  const Shape* const expected = call.output_shape("y");
  if (!bounded_count(shape) || (expected != nullptr && size_of(*expected) != size_of(shape)))
    return unjudged(Reason::kShape);
  Array y = make_array(shape, off);
  const AxisView view = view_of_axis(shape, axis);
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const double index = indices->values[static_cast<size_t>(outer * view.inner + inner)];
      if (!(index >= 0 && index < static_cast<double>(depth))) continue;
      y.values[static_cast<size_t>((outer * depth + static_cast<int64_t>(index)) * view.inner + inner)] = on;
    }
  }
  return one_output(std::move(y));
}

constexpr Kernel kIndicesKernels[] = {
    {"gather", Arithmetic::kExact, 0, gather},
    {"gather_elements", Arithmetic::kExact, 0, gather_elements, nullptr, nullptr, axes_before_axis},
    {"gather_elements_grad", Arithmetic::kReduction, 4, gather_elements_grad},
    {"gather_nd", Arithmetic::kExact, 0, gather_nd},
    {"scatter_add_rows", Arithmetic::kReduction, 4, scatter_add_rows},
    {"index_add", Arithmetic::kReduction, 4, add_along_axis<false>},
    {"scatter_add", Arithmetic::kReduction, 4, add_along_axis<true>},
    {"scatter_update_rows", Arithmetic::kExact, 0, scatter_update_rows},
    {"unsorted_segment_sum", Arithmetic::kReduction, 4, unsorted_segment<Segment::kSum>},
    {"unsorted_segment_max", Arithmetic::kExact, 0, unsorted_segment<Segment::kMax>},
    {"unsorted_segment_min", Arithmetic::kExact, 0, unsorted_segment<Segment::kMin>},
    {"one_hot", Arithmetic::kExact, 0, one_hot},
};

}  // namespace

std::span<const Kernel> index_kernels() { return kIndicesKernels; }

}  // namespace msdump::recompute
