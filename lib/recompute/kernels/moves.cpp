// Kernels that move elements: every output element is an input element, so outputs are equal to the bit.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// The elements stay in their order; the shape is that of the output.
Maybe<Outputs> reshape(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || size_of(*shape) != x->size()) return unjudged(Reason::kShape);
  return one_output(with_shape(*x, *shape));
}

Maybe<size_t> axes_before_reshape(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  const size_t most = std::min(shape->size(), x->rank());
  return static_cast<size_t>(
      std::mismatch(shape->begin(), shape->begin() + static_cast<std::ptrdiff_t>(most), x->shape.begin()).first -
      shape->begin());
}

using Permutation = std::vector<int64_t>;
Maybe<Permutation> permutation(const Call& call, size_t /*rank*/) { return call.integers("perm"); }

// Two axes change places.
Maybe<Permutation> swapped_axes(const Call& call, size_t rank) {
  // MindSpore's transpose() takes a permutation instead.
  if (const auto dims = call.integers_if("dim0"); dims && dims->size() == rank && !call.has("dim1")) return *dims;
  Permutation perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  if (rank < 2) return perm;
  MSDUMP_TRY(const int64_t dim0, call.integer("dim0"));
  MSDUMP_TRY(const int64_t dim1, call.integer("dim1"));
  MSDUMP_TRY(const size_t first, fitted(axis_from_front(dim0, rank)));
  MSDUMP_TRY(const size_t second, fitted(axis_from_front(dim1, rank)));
  std::swap(perm[first], perm[second]);
  return perm;
}

template <Maybe<Permutation> (*kAxes)(const Call& call, size_t rank)>
Maybe<Outputs> transposed(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Permutation perm, kAxes(call, x->rank()));
  MSDUMP_TRY(Array y, fitted(transpose(*x, perm)));
  return one_output(std::move(y));
}

template <Maybe<Permutation> (*kAxes)(const Call& call, size_t rank)>
Maybe<size_t> axes_before_move(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Permutation perm, kAxes(call, x->rank()));
  size_t axis = 0;
  while (axis < perm.size() && perm[axis] == static_cast<int64_t>(axis)) ++axis;
  return axis;
}

Maybe<Outputs> concat(const Call& call) {
  MSDUMP_TRY(const std::vector<Tensor> all, call.tensors("x"));
  std::vector<Tensor> parts;
  // An empty vector is accepted beside tensors of any rank.
  std::copy_if(all.begin(), all.end(), std::back_inserter(parts),
               [](const Tensor& part) { return !(part->rank() == 1 && part->size() == 0); });
  if (parts.empty()) return unjudged(Reason::kNoInput, "x");
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), parts.front()->rank())));
  Shape shape = parts.front()->shape;
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    if (part->rank() != shape.size()) return unjudged(Reason::kShape);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i != axis && part->shape[i] != shape[i]) return unjudged(Reason::kShape);
    }
    shape[axis] += part->shape[axis];
  }
  Array y = make_array(shape);
  int64_t at = 0;
  for (const Tensor& part : parts) {
    std::vector<AxisSlice> box;
    for (const int64_t extent : part->shape) box.push_back({0, 1, extent});
    box[axis].begin = at;
    at += part->shape[axis];
    scatter_slice(y, *part, box);
  }
  return one_output(std::move(y));
}

// The parts of x along an axis, of these lengths.
Maybe<Outputs> split_into(const Array& x, size_t axis, const std::vector<int64_t>& lengths) {
  Outputs outputs;
  int64_t at = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > x.shape[axis] - at) return unjudged(Reason::kShape);
    std::vector<AxisSlice> box;
    for (const int64_t extent : x.shape) box.push_back({0, 1, extent});
    box[axis] = {at, 1, lengths[i]};
    at += lengths[i];
    add_output(outputs, fmt::format("y{}", i), slice(x, box));
  }
  return outputs;
}

constexpr int64_t kMostParts = 4096;

// MindSpore: `output_num` equal parts, or sizes.
Maybe<Outputs> split(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), x->rank())));
  if (const auto sizes = call.integers_if("size_splits")) return split_into(*x, axis, *sizes);
  MSDUMP_TRY(const int64_t count, call.integer("output_num"));
  if (count < 1 || count > kMostParts || x->shape[axis] % count != 0) return unjudged(Reason::kShape);
  return split_into(*x, axis, std::vector<int64_t>(static_cast<size_t>(count), x->shape[axis] / count));
}

// PyTorch: parts of one size, the last one the rest, or a list of sizes; `chunks` parts of equal size, rounded up.
Maybe<Outputs> split_by_size(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), x->rank())));
  const int64_t extent = x->shape[axis];
  std::vector<int64_t> sizes;
  int64_t size = 0;
  if (call.has("chunks")) {
    MSDUMP_TRY(const int64_t chunks, call.integer("chunks"));
    if (chunks < 1) return unjudged(Reason::kShape);
    size = (extent + chunks - 1) / chunks;
  } else {
    MSDUMP_TRY(sizes, call.integers("size"));
    if (sizes.size() == 1) size = sizes.front();
  }
  if (size > 0) {
    if (extent / size > kMostParts) return unjudged(Reason::kTooLarge);
    sizes.clear();
    for (int64_t at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
  }
  return split_into(*x, axis, sizes);
}

Maybe<Outputs> stack(const Call& call) {
  MSDUMP_TRY(const std::vector<Tensor> all, call.tensors("x"));
  if (all.empty()) return unjudged(Reason::kNoInput, "x");
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), all.front()->rank() + 1)));
  Shape shape = all.front()->shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int64_t>(all.size()));
  Array y = make_array(shape);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->shape != all.front()->shape) return unjudged(Reason::kShape);
    std::vector<AxisSlice> box;
    for (const int64_t extent : shape) box.push_back({0, 1, extent});
    box[axis] = {static_cast<int64_t>(i), 1, 1};
    scatter_slice(y, *all[i], box);
  }
  return one_output(std::move(y));
}

Maybe<Outputs> unstack(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), x->rank())));
  if (x->shape[axis] > kMostParts) return unjudged(Reason::kTooLarge);
  MSDUMP_TRY(Outputs outputs, split_into(*x, axis, std::vector<int64_t>(static_cast<size_t>(x->shape[axis]), 1)));
  for (Output& output : outputs) {
    Shape& shape = output.answers.front().y.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return outputs;
}

Maybe<Outputs> tile(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(std::vector<int64_t> repeats, call.integers("multiples"));
  Shape own = x->shape;
  if (repeats.size() < own.size()) repeats.insert(repeats.begin(), own.size() - repeats.size(), 1);
  own.insert(own.begin(), repeats.size() - own.size(), 1);
  Shape shape;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    if (repeats[axis] < 0) return unjudged(Reason::kShape);
    shape.push_back(own[axis] * repeats[axis]);
  }
  const Shape* const expected = call.output_shape("y");
  if (expected != nullptr && size_of(*expected) != size_of(shape)) return unjudged(Reason::kShape);
  if (!bounded_count(shape)) return unjudged(Reason::kTooLarge);
  // Axis by axis: (repeat, extent) with stride 0 along the repeat.
  const std::vector<int64_t> strides = strides_of(own);
  Shape pairs;
  std::vector<int64_t> pair_strides;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    pairs.insert(pairs.end(), {repeats[axis], own[axis]});
    pair_strides.insert(pair_strides.end(), {0, strides[axis]});
  }
  Array y = make_array(shape);
  double* out = y.values.data();
  walk<1>(pairs, {pair_strides},
          [&](const std::array<int64_t, 1>& at) { *out++ = x->values[static_cast<size_t>(at[0])]; });
  return one_output(std::move(y));
}

Maybe<Outputs> broadcast(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(Array y, fitted(broadcast_to(*x, *shape)));
  return one_output(std::move(y));
}

// The slices of x, checked.
Maybe<Outputs> sliced(const Array& x, const std::vector<AxisSlice>& box) {
  for (size_t axis = 0; axis < box.size(); ++axis) {
    const auto [begin, step, count] = box[axis];
    if (count < 0 || begin < 0) return unjudged(Reason::kShape);
    if (count > 0 &&
        (begin >= x.shape[axis] || begin + (count - 1) * step < 0 || begin + (count - 1) * step >= x.shape[axis]))
      return unjudged(Reason::kShape);
  }
  return one_output(slice(x, box));
}

Maybe<Outputs> slice_box(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const std::vector<int64_t> begin, call.integers("begin"));
  MSDUMP_TRY(const std::vector<int64_t> size, call.integers("size"));
  if (begin.size() != x->rank() || size.size() != x->rank()) return unjudged(Reason::kShape);
  std::vector<AxisSlice> box;
  for (size_t axis = 0; axis < begin.size(); ++axis)
    box.push_back({begin[axis], 1, size[axis] < 0 ? x->shape[axis] - begin[axis] : size[axis]});
  return sliced(*x, box);
}

// torch.narrow.
Maybe<Outputs> narrow(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const int64_t dim, call.integer("dim"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, x->rank())));
  MSDUMP_TRY(const int64_t start, call.integer("start"));
  MSDUMP_TRY(const int64_t length, call.integer("length"));
  std::vector<AxisSlice> box;
  for (const int64_t extent : x->shape) box.push_back({0, 1, extent});
  box[axis] = {start < 0 ? start + x->shape[axis] : start, 1, length};
  return sliced(*x, box);
}

// The box of numpy's begin:end:step with the five masks of StridedSlice; bit i of a mask is about item i.
Maybe<std::vector<AxisSlice>> strided_box(const Call& call, const Shape& shape) {
  MSDUMP_TRY(const std::vector<int64_t> begin, call.integers("begin"));
  MSDUMP_TRY(const std::vector<int64_t> end, call.integers("end"));
  MSDUMP_TRY(const std::vector<int64_t> step, call.integers("strides"));
  if (begin.size() != end.size() || begin.size() != step.size() || begin.size() > kMaxRank)
    return unjudged(Reason::kShape);
  const int64_t begin_mask = call.integer_or("begin_mask", 0), end_mask = call.integer_or("end_mask", 0);
  const int64_t ellipsis_mask = call.integer_or("ellipsis_mask", 0);
  const int64_t new_axis_mask = call.integer_or("new_axis_mask", 0);
  const int64_t shrink_mask = call.integer_or("shrink_axis_mask", 0);
  const auto bit = [](int64_t mask, size_t i) { return ((mask >> i) & 1) != 0; };
  std::vector<AxisSlice> box;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit(ellipsis_mask, i)) {
      size_t after = 0;  // items that take an axis behind the ellipsis
      for (size_t k = i + 1; k < begin.size(); ++k) after += bit(new_axis_mask, k) ? 0U : 1U;
      while (box.size() + after < shape.size()) box.push_back({0, 1, shape[box.size()]});
      continue;
    }
    if (bit(new_axis_mask, i)) continue;
    if (box.size() >= shape.size() || step[i] == 0) return unjudged(Reason::kShape);
    const int64_t extent = shape[box.size()], from_front = begin[i] < 0 ? begin[i] + extent : begin[i];
    if (bit(shrink_mask, i)) {
      box.push_back({from_front, 1, 1});
      continue;
    }
    const int64_t least = step[i] > 0 ? 0 : -1, most = step[i] > 0 ? extent : extent - 1;
    int64_t first = std::clamp(from_front, least, most);
    int64_t last = std::clamp(end[i] < 0 ? end[i] + extent : end[i], least, most);
    if (bit(begin_mask, i)) first = step[i] > 0 ? 0 : extent - 1;
    if (bit(end_mask, i)) last = step[i] > 0 ? extent : -1;
    const int64_t span = step[i] > 0 ? last - first : first - last, stride = step[i] > 0 ? step[i] : -step[i];
    box.push_back({first, step[i], span <= 0 ? 0 : (span + stride - 1) / stride});
  }
  while (box.size() < shape.size()) box.push_back({0, 1, shape[box.size()]});
  return box;
}

// The result has the shape of the output, which drops and adds axes of 1.
Maybe<Outputs> strided_slice(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const std::vector<AxisSlice> box, strided_box(call, x->shape));
  MSDUMP_TRY(Outputs outputs, sliced(*x, box));
  Array& y = outputs.front().answers.front().y;
  const Shape* const shape = call.output_shape("y");
  if (shape != nullptr && size_of(*shape) == y.size()) y.shape = *shape;
  return outputs;
}

Maybe<Outputs> strided_slice_grad(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const std::vector<AxisSlice> box, strided_box(call, *shape));
  Array y = make_array(*shape);
  MSDUMP_TRY(const Outputs part, sliced(y, box));
  if (part.front().answers.front().y.size() != dy->size()) return unjudged(Reason::kShape);
  scatter_slice(y, *dy, box);
  return one_output(std::move(y));
}

// Adds elements before and after each axis; MindSpore's list of pairs, or PyTorch's flat list from the last axis.
Maybe<Outputs> pad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const std::vector<int64_t> flat, call.integers("paddings"));
  if (const std::string mode = call.text("mode"); !mode.empty() && mode != "constant")
    return unjudged(Reason::kUnknownArgument, "mode");
  if (flat.size() % 2 != 0 || flat.size() / 2 > x->rank()) return unjudged(Reason::kShape);
  const bool from_last = call.has("from_last");
  std::vector<AxisSlice> box;
  Shape shape = x->shape;
  for (const int64_t extent : x->shape) box.push_back({0, 1, extent});
  for (size_t i = 0; i < flat.size() / 2; ++i) {
    const size_t axis = from_last ? x->rank() - 1 - i : i;
    const int64_t before = flat[2 * i], after = flat[2 * i + 1];
    if (before < 0 || after < 0) return unjudged(Reason::kUnknownArgument, "paddings");
    box[axis].begin = before;
    shape[axis] += before + after;
  }
  const Shape* const expected = call.output_shape("y");
  if (!bounded_count(shape) || (expected != nullptr && size_of(*expected) != size_of(shape)))
    return unjudged(Reason::kShape);
  Array y = make_array(shape, call.number_or("value", 0));
  scatter_slice(y, *x, box);
  return one_output(std::move(y));
}

// Axes in reverse order.
Maybe<Outputs> flip(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  std::vector<AxisSlice> box;
  for (size_t axis = 0; axis < x->rank(); ++axis) {
    const int64_t extent = x->shape[axis];
    box.push_back(axes.reduced[axis] && extent > 0 ? AxisSlice{extent - 1, -1, extent} : AxisSlice{0, 1, extent});
  }
  return sliced(*x, box);
}

// Elements on one side of a diagonal of the last two axes; the others are 0.
template <bool kLower>
Maybe<Outputs> triangle(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  if (x->rank() < 2) return unjudged(Reason::kShape);
  const int64_t diagonal = call.integer_or("diagonal", 0), columns = x->shape.back(), rows = x->shape[x->rank() - 2];
  Array y = *x;
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t column = i % columns, row = i / columns % rows;
    if (kLower ? column - row > diagonal : column - row < diagonal) y.values[static_cast<size_t>(i)] = 0;
  }
  return one_output(std::move(y));
}

constexpr Kernel kMovesKernels[] = {
    {"reshape", Arithmetic::kExact, 0, reshape, nullptr, nullptr, axes_before_reshape},
    {"transpose", Arithmetic::kExact, 0, transposed<permutation>, nullptr, nullptr, axes_before_move<permutation>},
    {"swap_axes", Arithmetic::kExact, 0, transposed<swapped_axes>, nullptr, nullptr, axes_before_move<swapped_axes>},
    {"concat", Arithmetic::kExact, 0, concat, nullptr, nullptr, axes_before_axis},
    {"split", Arithmetic::kExact, 0, split, nullptr, nullptr, axes_before_axis},
    {"split_by_size", Arithmetic::kExact, 0, split_by_size, nullptr, nullptr, axes_before_axis},
    {"stack", Arithmetic::kExact, 0, stack},
    {"unstack", Arithmetic::kExact, 0, unstack, nullptr, nullptr, axes_before_axis},
    {"tile", Arithmetic::kExact, 0, tile},
    {"broadcast", Arithmetic::kExact, 0, broadcast},
    {"slice", Arithmetic::kExact, 0, slice_box},
    {"narrow", Arithmetic::kExact, 0, narrow},
    {"strided_slice", Arithmetic::kExact, 0, strided_slice},
    {"strided_slice_grad", Arithmetic::kExact, 0, strided_slice_grad},
    {"pad", Arithmetic::kExact, 0, pad},
    {"flip", Arithmetic::kExact, 0, flip},
    {"tril", Arithmetic::kExact, 0, triangle<true>},
    {"triu", Arithmetic::kExact, 0, triangle<false>},
};

}  // namespace

std::span<const Kernel> move_kernels() { return kMovesKernels; }

}  // namespace msdump::recompute
