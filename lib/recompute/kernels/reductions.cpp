#include <algorithm>
#include <cmath>
#include <limits>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {

Maybe<ReducedAxes> axes_of(const Call& call, size_t rank) {
  const std::vector<int64_t> axes = call.integers_if("axis").value_or(std::vector<int64_t>());
  return fitted(reduced_axes(axes, rank, call.flag_or("keep_dims", false)));
}

Maybe<size_t> axes_before_axis(const Call& call) {
  MSDUMP_TRY(const std::vector<Tensor> all, call.tensors("x"));
  if (all.empty()) return unjudged(Reason::kNoInput, "x");
  return fitted(axis_from_front(call.integer_or("axis", 0), all.front()->rank()));
}

namespace {

Maybe<size_t> axes_before_reduced(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  return static_cast<size_t>(std::find(axes.reduced.begin(), axes.reduced.end(), true) - axes.reduced.begin());
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Maybe<Outputs> reduce_sum(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  return one_output(sum(*x, axes), std::move(sum(absolute(*x), axes).values), reduced_count(*x, axes));
}

Maybe<Outputs> reduce_mean(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  return one_output(mean(*x, axes), std::move(mean(absolute(*x), axes).values), reduced_count(*x, axes));
}

Maybe<Outputs> reduce_prod(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const double count = reduced_count(*x, axes);
  Array y = reduce(*x, axes, 1, [](double product, double value) { return product * value; });
  std::vector<double> terms(y.values);
  for (double& term : terms) term = std::fabs(term) * std::sqrt(count);
  return one_output(std::move(y), std::move(terms));
}

enum class Fold : uint8_t { kMax, kMin, kAll, kAny };
template <Fold kFold>
Maybe<Outputs> reduce_choice(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const double begin = kFold == Fold::kMax ? -kInfinity : kFold == Fold::kMin ? kInfinity : kFold == Fold::kAll ? 1 : 0;
  Outputs outputs = one_output(reduce(*x, axes, begin, [](double folded, double value) {
    switch (kFold) {
      case Fold::kMax: return std::isnan(folded) || folded > value ? folded : value;
      case Fold::kMin: return std::isnan(folded) || folded < value ? folded : value;
      case Fold::kAll: return folded != 0 && value != 0 ? 1.0 : 0.0;
      case Fold::kAny: return folded != 0 || value != 0 ? 1.0 : 0.0;
    }
    return folded;
  }));
  return outputs;
}

// The index is right if its element is the largest: ties are broken in any way.
template <bool kLargest>
Maybe<Outputs> arg_choice(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const auto given = call.integers_if("axis");
  const bool flat = !given || given->empty();
  if (flat && call.type.find('.') == std::string_view::npos && !call.has("axis"))
    return unjudged(Reason::kUnknownArgument, "axis");
  const Array flattened = flat ? with_shape(*x, {x->size()}) : *x;
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(flat ? 0 : given->front(), flattened.rank())));
  const AxisView view = view_of_axis(flattened.shape, axis);
  if (view.length == 0) return unjudged(Reason::kShape);
  Shape shape = flattened.shape;
  if (call.flag_or("keep_dims", false))
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  Array place = make_array(shape), value = make_array(shape);
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const auto at = [&](int64_t i) {
        return flattened.values[static_cast<size_t>((outer * view.length + i) * view.inner + inner)];
      };
      int64_t best = 0;
      bool tied = false;
      for (int64_t i = 1; i < view.length; ++i) {
        if (at(i) == at(best)) tied = true;
        if (kLargest ? at(i) > at(best) : at(i) < at(best)) {
          best = i;
          tied = false;
        }
      }
      const auto to = static_cast<size_t>(outer * view.inner + inner);
      place.values[to] = tied ? std::nan("") : static_cast<double>(best);
      value.values[to] = at(best);
    }
  }
  Outputs outputs;
  add_output(outputs, "index", std::move(place));
  add_output(outputs, "value", std::move(value));
  return outputs;
}

// The k largest values of the last axis, in order. Indices are not judged where values repeat.
Maybe<Outputs> top_k(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const int64_t k, call.integer("k"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", -1), x->rank())));
  if (axis + 1 != x->rank()) return unjudged(Reason::kUnknownArgument, "axis");
  const int64_t length = x->shape[axis];
  if (k < 0 || k > length || length == 0) return unjudged(Reason::kShape);
  const bool largest = call.flag_or("largest", true);
  if (!call.flag_or("sorted", true)) return unjudged(Reason::kUnknownArgument, "sorted");
  Shape shape = x->shape;
  shape[axis] = k;
  Array value = make_array(shape), place = make_array(shape);
  std::vector<int64_t> order(static_cast<size_t>(length));
  for (int64_t row = 0; row < x->size() / length; ++row) {
    const double* const values = x->values.data() + row * length;
    for (int64_t i = 0; i < length; ++i) order[static_cast<size_t>(i)] = i;
    if (std::any_of(values, values + length, [](double v) { return std::isnan(v); }))
      return unjudged(Reason::kFormat, "NaN");
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return largest ? values[a] > values[b] : values[a] < values[b]; });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t best = order[static_cast<size_t>(i)];
      const bool tied = (i > 0 && values[order[static_cast<size_t>(i - 1)]] == values[best]) ||
                        (i + 1 < length && values[order[static_cast<size_t>(i + 1)]] == values[best]);
      value.values[static_cast<size_t>(row * k + i)] = values[best];
      place.values[static_cast<size_t>(row * k + i)] = tied ? std::nan("") : static_cast<double>(best);
    }
  }
  Outputs outputs;
  add_output(outputs, "value", std::move(value));
  add_output(outputs, "index", std::move(place));
  return outputs;
}

Maybe<Outputs> cumulative_sum(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const int64_t dim, call.integer("axis"));
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, x->rank())));
  const bool exclusive = call.flag_or("exclusive", false), reverse = call.flag_or("reverse", false);
  const AxisView view = view_of_axis(x->shape, axis);
  Array y = make_array(x->shape), terms = y;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      double sum = 0, size = 0;
      for (int64_t i = 0; i < view.length; ++i) {
        const int64_t from_front = reverse ? view.length - 1 - i : i;
        const auto at = static_cast<size_t>((outer * view.length + from_front) * view.inner + inner);
        const double value = x->values[at];
        if (exclusive) y.values[at] = sum, terms.values[at] = size;
        sum += value;
        size += std::fabs(value);
        if (!exclusive) y.values[at] = sum, terms.values[at] = size;
      }
    }
  }
  return one_output(std::move(y), std::move(terms.values), static_cast<double>(view.length));
}

// The sum over all axes but the channels: axis 1, or the last axis of a matrix and of NHWC.
Maybe<Outputs> bias_add_grad(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (dy->rank() < 2) return unjudged(Reason::kShape);
  const std::string format = call.text("format") + call.text("data_format");
  const size_t channels = dy->rank() > 2 && format.find("nhwc") == std::string::npos ? 1 : dy->rank() - 1;
  ReducedAxes axes{std::vector<bool>(dy->rank(), true), false};
  axes.reduced[channels] = false;
  return one_output(sum(*dy, axes), std::move(sum(absolute(*dy), axes).values), reduced_count(*dy, axes));
}

// The root of the sum of squares, or the sum of absolute values.
Maybe<Outputs> norm(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const double p = call.has("p") && call.text("p") != "fro" ? call.number_or("p", 2) : 2;
  if (p != 1 && p != 2) return unjudged(Reason::kUnknownArgument, "p");
  Array y = p == 1 ? sum(absolute(*x), axes) : sum(map(*x, [](double v) { return v * v; }), axes);
  if (p == 2) y = map(y, [](double v) { return std::sqrt(v); });
  return one_output(std::move(y), {}, reduced_count(*x, axes));
}

constexpr Kernel kReductionsKernels[] = {
    {"reduce_sum", Arithmetic::kReduction, 4, reduce_sum, nullptr, nullptr, axes_before_reduced},
    {"reduce_mean", Arithmetic::kReduction, 4, reduce_mean, nullptr, nullptr, axes_before_reduced},
    {"reduce_prod", Arithmetic::kReduction, 4, reduce_prod, nullptr, nullptr, axes_before_reduced},
    {"reduce_max", Arithmetic::kExact, 0, reduce_choice<Fold::kMax>, nullptr, nullptr, axes_before_reduced},
    {"reduce_min", Arithmetic::kExact, 0, reduce_choice<Fold::kMin>, nullptr, nullptr, axes_before_reduced},
    {"reduce_all", Arithmetic::kExact, 0, reduce_choice<Fold::kAll>, nullptr, nullptr, axes_before_reduced},
    {"reduce_any", Arithmetic::kExact, 0, reduce_choice<Fold::kAny>, nullptr, nullptr, axes_before_reduced},
    {"argmax", Arithmetic::kExact, 0, arg_choice<true>, nullptr, nullptr, axes_before_axis},
    {"argmin", Arithmetic::kExact, 0, arg_choice<false>, nullptr, nullptr, axes_before_axis},
    {"top_k", Arithmetic::kExact, 0, top_k, nullptr, nullptr, axes_before_axis},
    {"cumsum", Arithmetic::kReduction, 4, cumulative_sum, nullptr, nullptr, axes_before_axis},
    {"bias_add_grad", Arithmetic::kReduction, 4, bias_add_grad},
    {"norm", Arithmetic::kReduction, 4, norm, nullptr, nullptr, axes_before_reduced},
};

}  // namespace

std::span<const Kernel> reduction_kernels() { return kReductionsKernels; }

}  // namespace msdump::recompute
