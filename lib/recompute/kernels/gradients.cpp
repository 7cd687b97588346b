// Gradients of calls that msprobe records as NAME.backward: `dy` is the gradient of the forward output `y`, the other operands
// are those of the forward call. Outputs d0, d1, .. are the gradients of its tensor arguments, in their order.
//
// PyTorch's hooks see the last autograd node of a call, which is not always the whole call: a linear of more than two
// dimensions gives dy itself. Both are accepted.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recompute/kernels/kernels.h"
#include "recompute/kernels/products.h"

namespace msdump::recompute {
namespace {

// The gradients found so far.
class Gradients {
 public:
  // The gradient of the next argument, summed over the axes along which the argument was broadcast.
  Maybe<void> add(const Array& y, const Array& terms, const Shape& argument, double length = 1) {
    MSDUMP_TRY(Array own, fitted(sum_to(y, argument)));
    MSDUMP_TRY(Array size, fitted(sum_to(terms, argument)));
    const double repeats = own.size() == 0 ? 1 : static_cast<double>(y.size()) / static_cast<double>(own.size());
    add_output(outputs_, fmt::format("d{}", outputs_.size()), std::move(own), std::move(size.values), length * repeats);
    return {};
  }
  Maybe<void> add(const Answer& answer, const Shape& argument) {
    return add(answer.y, Array{answer.y.shape, answer.terms}, argument, answer.length);
  }
  // One more answer for the last argument.
  void accept(const Array& y, std::string_view variant) { accept({y, absolute(y).values, 1, variant}); }
  void accept(Answer answer) { outputs_.back().answers.push_back(std::move(answer)); }
  // The last gradient may come first as well.
  void repeat_last_first() { outputs_.insert(outputs_.begin(), outputs_.back()); }
  [[nodiscard]] Outputs take() { return std::move(outputs_); }

 private:
  Outputs outputs_;
};

double product(double u, double v) { return u * v; }
double product_size(double u, double v) { return std::fabs(u * v); }

// dy times a function of x, element by element. What becomes of NaN differs from function to function: it is not judged.
template <class Slope>
Maybe<Outputs> chain(const Call& call, std::string_view from, const Slope& of_number, double growth = 0) {
  const auto slope = [&](double v) { return std::isnan(v) ? v : of_number(v); };
  MSDUMP_TRY(const Tensor x, call.tensor(from));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Array y, fitted(combine(*dy, *x, [&](double g, double v) { return g * slope(v); })));
  MSDUMP_TRY(const Array terms, fitted(combine(*dy, *x, [&](double g, double v) {
               return std::fabs(g) * (std::fabs(slope(v)) + growth * (1 + std::fabs(v)));
             })));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, terms, x->shape));
  return gradients.take();
}

template <int kSign>
Maybe<Outputs> add_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const double alpha = kSign * call.number_or("alpha", 1);
  Gradients gradients;
  if (a->dtype != DType::kUndefined) {
    MSDUMP_CHECK_OK(gradients.add(*dy, absolute(*dy), a->shape));
  }
  if (b->dtype != DType::kUndefined) {
    const Array y = map(*dy, [=](double g) { return alpha * g; });
    MSDUMP_CHECK_OK(gradients.add(y, absolute(y), b->shape));
  }
  return gradients.take();
}

Maybe<Outputs> mul_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  Gradients gradients;
  for (const auto& [own, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (own->dtype == DType::kUndefined) continue;  // a number
    MSDUMP_TRY(const Array y, fitted(combine(*dy, *other, product)));
    MSDUMP_TRY(const Array terms, fitted(combine(*dy, *other, product_size)));
    MSDUMP_CHECK_OK(gradients.add(y, terms, own->shape));
  }
  return gradients.take();
}

Maybe<Outputs> div_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  Gradients gradients;
  MSDUMP_TRY(const Array da, fitted(combine(*dy, *b, [](double g, double v) { return g / v; })));
  if (a->dtype != DType::kUndefined) {
    MSDUMP_CHECK_OK(gradients.add(da, absolute(da), a->shape));
  }
  if (b->dtype != DType::kUndefined) {
    MSDUMP_TRY(const Array ratio, fitted(combine(*a, *b, [](double u, double v) { return -u / v; })));
    MSDUMP_TRY(const Array db, fitted(combine(da, ratio, product)));
    MSDUMP_CHECK_OK(gradients.add(db, absolute(db), b->shape, 2));
  }
  return gradients.take();
}

Maybe<Outputs> pow_back(const Call& call) {
  MSDUMP_TRY(const double p, call.number("b"));
  MSDUMP_TRY(const Tensor x, call.tensor("a"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Array y, fitted(combine(*dy, *x, [=](double g, double v) { return g * p * std::pow(v, p - 1); })));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), x->shape, 4));
  return gradients.take();
}

Maybe<Outputs> sqrt_back(const Call& call) {
  return chain(call, "y", [](double y) { return 0.5 / y; });
}
Maybe<Outputs> rsqrt_back(const Call& call) {
  return chain(call, "y", [](double y) { return -0.5 * y * y * y; });
}
Maybe<Outputs> exp_back(const Call& call) {
  return chain(call, "y", [](double y) { return y; });
}
Maybe<Outputs> log_back(const Call& call) {
  return chain(call, "x", [](double x) { return 1 / x; });
}
Maybe<Outputs> neg_back(const Call& call) {
  return chain(call, "x", [](double) { return -1.0; });
}
Maybe<Outputs> tanh_back(const Call& call) {
  return chain(
      call, "y", [](double y) { return 1 - y * y; }, 1);
}
Maybe<Outputs> sigmoid_back(const Call& call) {
  return chain(
      call, "y", [](double y) { return y * (1 - y); }, 1);
}
Maybe<Outputs> relu_back(const Call& call) {
  return chain(call, "y", [](double y) { return y > 0 ? 1.0 : 0.0; });
}
Maybe<Outputs> silu_back(const Call& call) {
  return chain(
      call, "x",
      [](double x) {
        const double s = 1 / (1 + std::exp(-x));
        return s * (1 + x * (1 - s));
      },
      1);
}
Maybe<Outputs> gelu_back(const Call& call) {
  const Kernel* const kernel = find_kernel("gelu_grad");
  MSDUMP_TRY(Outputs outputs, kernel->compute(call));
  outputs.front().name = "d0";
  return outputs;
}

Maybe<Outputs> square_back(const Call& call) {
  return chain(call, "x", [](double x) { return 2 * x; });
}
Maybe<Outputs> abs_back(const Call& call) {
  return chain(call, "x", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; });
}
Maybe<Outputs> sin_back(const Call& call) {
  return chain(
      call, "x", [](double x) { return std::cos(x); }, 1);
}
Maybe<Outputs> cos_back(const Call& call) {
  return chain(
      call, "x", [](double x) { return -std::sin(x); }, 1);
}
Maybe<Outputs> erf_back(const Call& call) {
  return chain(
      call, "x", [](double x) { return M_2_SQRTPI * std::exp(-x * x); }, 1);
}
Maybe<Outputs> log1p_back(const Call& call) {
  return chain(call, "x", [](double x) { return 1 / (1 + x); });
}
Maybe<Outputs> reciprocal_back(const Call& call) {
  return chain(call, "y", [](double y) { return -y * y; });
}
Maybe<Outputs> softplus_back(const Call& call) {
  return chain(
      call, "x", [](double x) { return 1 / (1 + std::exp(-x)); }, 1);
}
Maybe<Outputs> leaky_relu_back(const Call& call) {
  MSDUMP_TRY(const double alpha, call.number("alpha"));
  return chain(call, "x", [=](double x) { return x > 0 ? 1 : alpha; });
}
Maybe<Outputs> elu_back(const Call& call) {
  MSDUMP_TRY(const double alpha, call.number("alpha"));
  return chain(
      call, "x", [=](double x) { return x > 0 ? 1 : alpha * std::exp(x); }, 1);
}
Maybe<Outputs> relu6_back(const Call& call) {
  return chain(call, "x", [](double x) { return x > 0 && x < 6 ? 1.0 : 0.0; });
}
Maybe<Outputs> hard_sigmoid_back(const Call& call) {
  return chain(call, "x", [](double x) { return std::fabs(x) < 3 ? 1.0 / 6 : 0.0; });
}
Maybe<Outputs> hard_swish_back(const Call& call) {
  return chain(
      call, "x", [](double x) { return x <= -3  ? 0
                                       : x >= 3 ? 1
                                                : x / 3 + 0.5; }, 1);
}
Maybe<Outputs> clamp_back(const Call& call) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double least = call.number_or("min", -kInfinite), most = call.number_or("max", kInfinite);
  return chain(call, "x", [=](double x) { return x >= least && x <= most ? 1.0 : 0.0; });
}

// dx = dy; da = dy * value * b, db = dy * value * a; of a quotient dy * value / b and - dy * value * a / b^2.
template <bool kDivide>
Maybe<Outputs> add_product_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const double value = call.number_or("value", 1);
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(*dy, absolute(*dy), x->shape));
  MSDUMP_TRY(const Array da,
             fitted(combine(*dy, *b, [=](double g, double v) { return kDivide ? value * g / v : value * g * v; })));
  MSDUMP_CHECK_OK(gradients.add(da, absolute(da), a->shape, 2));
  MSDUMP_TRY(const Array slope,
             fitted(combine(*a, *b, [=](double u, double v) { return kDivide ? -value * u / (v * v) : value * u; })));
  MSDUMP_TRY(const Array db, fitted(combine(*dy, slope, product)));
  MSDUMP_CHECK_OK(gradients.add(db, absolute(db), b->shape, 4));
  return gradients.take();
}

Maybe<Outputs> lerp_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor end, call.tensor("a"));
  MSDUMP_TRY(const Tensor weight, call.tensor("b"));
  Gradients gradients;
  MSDUMP_TRY(const Array dx, fitted(combine(*dy, *weight, [](double g, double w) { return g * (1 - w); })));
  MSDUMP_TRY(const Array dx_size,
             fitted(combine(*dy, *weight, [](double g, double w) { return std::fabs(g) * (1 + std::fabs(w)); })));
  MSDUMP_CHECK_OK(gradients.add(dx, dx_size, x->shape));
  MSDUMP_TRY(const Array da, fitted(combine(*dy, *weight, product)));
  MSDUMP_CHECK_OK(gradients.add(da, absolute(da), end->shape));
  if (weight->dtype == DType::kUndefined) return gradients.take();
  MSDUMP_TRY(const Array way, fitted(combine(*end, *x, [](double u, double v) { return u - v; })));
  MSDUMP_TRY(const Array size,
             fitted(combine(*end, *x, [](double u, double v) { return std::fabs(u) + std::fabs(v); })));
  MSDUMP_TRY(const Array db, fitted(combine(*dy, way, product)));
  MSDUMP_TRY(const Array db_size, fitted(combine(*dy, size, product_size)));
  MSDUMP_CHECK_OK(gradients.add(db, db_size, weight->shape));
  return gradients.take();
}

Maybe<Outputs> select_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor condition, call.tensor("condition"));
  Gradients gradients;
  for (const auto& [name, wanted] : {std::pair("a", true), std::pair("b", false)}) {
    MSDUMP_TRY(const Tensor operand, call.tensor(name));
    if (operand->dtype == DType::kUndefined) continue;  // a number
    MSDUMP_TRY(
        const Array y,
        fitted(combine(*dy, *condition, [is_a = wanted](double g, double c) { return (c != 0) == is_a ? g : 0; })));
    MSDUMP_CHECK_OK(gradients.add(y, absolute(y), operand->shape));
  }
  return gradients.take();
}

// dy to the larger (kSign 1) or smaller one; half of it to each of two that are equal.
template <int kSign>
Maybe<Outputs> larger_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  Gradients gradients;
  for (const auto& [own, other] : {std::pair(a, b), std::pair(b, a)}) {
    MSDUMP_TRY(const Array part, fitted(combine(*own, *other, [](double u, double v) {
                 return std::isnan(u + v) ? u + v : u == v ? 0.5 : kSign * u > kSign * v ? 1 : 0;
               })));
    MSDUMP_TRY(const Array y, fitted(combine(*dy, part, product)));
    MSDUMP_CHECK_OK(gradients.add(y, absolute(y), own->shape));
  }
  return gradients.take();
}

// dy, shared by the elements that are the largest or smallest of their axes.
Maybe<Outputs> extreme_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor y, call.tensor("y"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const Shape kept = axes.kept_shape_of(x->shape);
  if (size_of(kept) != dy->size() || y->size() != dy->size()) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Array hit,
             fitted(combine(*x, with_shape(*y, kept), [](double u, double v) { return u == v ? 1.0 : 0.0; })));
  MSDUMP_TRY(const Array count, fitted(sum_to(hit, kept)));
  MSDUMP_TRY(const Array share,
             fitted(combine(with_shape(*dy, kept), count, [](double g, double n) { return g / n; })));
  // No element is y if y is NaN or wrong: the share is not finite then.
  MSDUMP_TRY(const Array dx, fitted(combine(hit, share, [](double h, double g) { return h * g; })));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(dx, absolute(dx), x->shape));
  gradients.accept(*dy, "view");
  return gradients.take();
}

// The gradient of the Euclidean norm is dy x / y.
Maybe<Outputs> euclidean_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor y, call.tensor("y"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (call.number_or("p", 2) != 2) return unjudged(Reason::kUnknownArgument, "p");
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const Shape kept = axes.kept_shape_of(x->shape);
  if (size_of(kept) != dy->size() || y->size() != dy->size()) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Array scale, fitted(combine(*dy, *y, [](double g, double v) { return v == 0 ? 0 : g / v; })));
  MSDUMP_TRY(const Array dx, fitted(combine(*x, with_shape(scale, kept), product)));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(dx, absolute(dx), x->shape, 2));
  gradients.accept(*dy, "view");
  return gradients.take();
}

// The gradient of a view: the same elements.
Maybe<Outputs> reshape_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(*dy, absolute(*dy), dy->shape));
  return gradients.take();
}

Maybe<Outputs> permute_back(const Call& call, std::span<const int64_t> permutation) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  std::vector<int64_t> inverse(permutation.size(), 0);
  for (size_t i = 0; i < permutation.size(); ++i) {
    MSDUMP_TRY(const size_t axis, fitted(axis_from_front(permutation[i], permutation.size())));
    inverse[axis] = static_cast<int64_t>(i);
  }
  MSDUMP_TRY(const Array y, fitted(transpose(*dy, inverse)));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), y.shape));
  return gradients.take();
}

Maybe<Outputs> transpose_back(const Call& call) {
  MSDUMP_TRY(const std::vector<int64_t> perm, call.integers("perm"));
  return permute_back(call, perm);
}

Maybe<Outputs> swap_back(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const int64_t dim0, call.integer("dim0"));
  MSDUMP_TRY(const int64_t dim1, call.integer("dim1"));
  MSDUMP_TRY(const size_t first, fitted(axis_from_front(dim0, dy->rank())));
  MSDUMP_TRY(const size_t second, fitted(axis_from_front(dim1, dy->rank())));
  std::vector<int64_t> perm(dy->rank());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[first], perm[second]);
  return permute_back(call, perm);
}

// The gradient of a sum or mean: dy for each element, or its share.
template <bool kMean>
Maybe<Outputs> reduce_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const ReducedAxes axes, axes_of(call, x->rank()));
  const Shape kept = axes.kept_shape_of(x->shape);
  if (size_of(kept) != dy->size()) return unjudged(Reason::kShape);
  const double divisor = kMean ? reduced_count(*x, axes) : 1;
  const Array share = map(with_shape(*dy, kept), [=](double g) { return g / divisor; });
  MSDUMP_TRY(const Array y, fitted(broadcast_to(share, x->shape)));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), x->shape));
  gradients.accept(*dy, "view");
  return gradients.take();
}

Maybe<Outputs> masked_fill_back(const Call& call) {
  MSDUMP_TRY(const Tensor mask, call.tensor("mask"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Array y, fitted(combine(*dy, *mask, [](double g, double m) { return m != 0 ? 0 : g; })));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), y.shape));
  return gradients.take();
}

// Computes gradients of one argument by a kernel that takes other operands.
Maybe<Answer> by_kernel(std::string_view name, Call call, const Shape& shape) {
  call.set_output("y", shape, DType::kFloat32);
  MSDUMP_TRY(Outputs outputs, find_kernel(name)->compute(call));
  return std::move(outputs.front().answers.front());
}

Value value_of(Tensor tensor) {
  Value value;
  value.tensor = std::move(tensor);
  return value;
}

Value number_value(double number) {
  Value value;
  value.numbers = {number};
  return value;
}

// The product of matrices, each transposed or not, as a kernel computes it.
Maybe<Answer> product_of(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  Call call;
  call.set("a", value_of(a));
  call.set("b", value_of(b));
  call.set("transpose_a", number_value(transpose_a ? 1 : 0));
  call.set("transpose_b", number_value(transpose_b ? 1 : 0));
  MSDUMP_TRY(Outputs outputs, find_kernel("matmul")->compute(call));
  return std::move(outputs.front().answers.front());
}

Maybe<Outputs> linear_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const Tensor rows = as_rows(dy), in = as_rows(x);
  if (w->rank() != 2 || rows->shape[0] != in->shape[0]) return unjudged(Reason::kShape);
  Gradients gradients;
  MSDUMP_TRY(const Answer dx, product_of(rows, false, w, false));
  MSDUMP_CHECK_OK(gradients.add(with_shape(dx.y, x->shape), Array{x->shape, dx.terms}, x->shape, dx.length));
  gradients.accept(*dy, "view");
  MSDUMP_TRY(const Answer dw, product_of(rows, true, in, false));
  MSDUMP_CHECK_OK(gradients.add(dw, w->shape));
  // If x is a matrix, the last node of autograd is mm or addmm, which read w transposed.
  const bool is_matrix = x->rank() == 2;
  if (is_matrix) {
    MSDUMP_TRY(Answer node, product_of(in, true, rows, false));
    node.variant = "last node";
    gradients.accept(std::move(node));
  }
  if (bias) {
    MSDUMP_CHECK_OK(gradients.add(*rows, absolute(*rows), bias->shape));
    // addmm has the bias first.
    if (is_matrix) {
      if (bias->size() == x->size()) return unjudged(Reason::kUnknownArgument, "order of gradients");
      gradients.repeat_last_first();
    }
  }
  return gradients.take();
}

// y = beta input + alpha a b.
Maybe<Outputs> addmm_back(const Call& call) {
  MSDUMP_TRY(const Tensor input, call.tensor("input"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const double beta = call.number_or("beta", 1), alpha = call.number_or("alpha", 1);
  Gradients gradients;
  const Array own = map(*dy, [=](double g) { return beta * g; });
  MSDUMP_CHECK_OK(gradients.add(own, absolute(own), input->shape));
  const auto add = [&](const Answer& answer, const Shape& shape) {
    const auto scaled = [=](double v) { return alpha * v; };
    const Array terms{answer.y.shape, answer.terms};
    return gradients.add(map(answer.y, scaled), absolute(map(terms, scaled)), shape, answer.length);
  };
  MSDUMP_TRY(const Answer da, product_of(dy, false, b, true));
  MSDUMP_CHECK_OK(add(da, a->shape));
  MSDUMP_TRY(const Answer db, product_of(a, true, dy, false));
  MSDUMP_CHECK_OK(add(db, b->shape));
  return gradients.take();
}

Maybe<Outputs> outer_back(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  Call columns = call;
  columns.set("a", value_of(share(with_shape(*a, {a->size(), 1}))));
  return mul_back(columns);
}

Maybe<Outputs> matmul_back(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (a->rank() < 2 || b->rank() < 2) return unjudged(Reason::kShape);
  Gradients gradients;
  MSDUMP_TRY(const Answer da, product_of(dy, false, b, true));
  MSDUMP_CHECK_OK(gradients.add(da, a->shape));
  gradients.accept(*dy, "view");
  MSDUMP_TRY(const Answer db, product_of(a, true, dy, false));
  MSDUMP_CHECK_OK(gradients.add(db, b->shape));
  return gradients.take();
}

Maybe<Outputs> conv_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Gradients gradients;
  MSDUMP_TRY(const Answer dx, by_kernel("conv_input", call, x->shape));
  MSDUMP_CHECK_OK(gradients.add(dx, x->shape));
  MSDUMP_TRY(const Answer dw, by_kernel("conv_filter", call, w->shape));
  MSDUMP_CHECK_OK(gradients.add(dw, w->shape));
  if (bias && dy->rank() >= 2) {
    ReducedAxes axes{std::vector<bool>(dy->rank(), true), false};
    axes.reduced[1] = false;
    const Array db = sum(*dy, axes);
    MSDUMP_CHECK_OK(gradients.add(db, sum(absolute(*dy), axes), bias->shape, reduced_count(*dy, axes)));
  }
  return gradients.take();
}

template <bool kLog>
Maybe<Outputs> softmax_back(const Call& call) {
  MSDUMP_TRY(Outputs outputs, find_kernel(kLog ? "log_softmax_grad" : "softmax_grad")->compute(call));
  outputs.front().name = "d0";
  return outputs;
}

Maybe<size_t> softmax_axes(const Call& call) { return find_kernel("softmax_grad")->own_axes(call); }

// The gradient of the table: rows of dy added where they were read, but for the row of the padding.
Maybe<Outputs> embedding_back(const Call& call) {
  MSDUMP_TRY(const Tensor table, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (call.flag_or("scale_grad_by_freq", false)) return unjudged(Reason::kUnknownArgument, "scale_grad_by_freq");
  constexpr double kLeftOut = -1;  // unsorted_segment_sum leaves out what is below 0
  Array ids = *indices;
  if (call.has("padding_idx") && !table->shape.empty()) {
    MSDUMP_TRY(const int64_t padding, call.integer("padding_idx"));
    const int64_t row = padding < 0 ? padding + table->shape.front() : padding;
    std::replace(ids.values.begin(), ids.values.end(), static_cast<double>(row), kLeftOut);
  }
  Call segments;
  segments.set("x", value_of(dy));
  segments.set("ids", value_of(share(std::move(ids))));
  MSDUMP_TRY(const Answer answer, by_kernel("unsorted_segment_sum", segments, table->shape));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(answer, table->shape));
  return gradients.take();
}

// The gradient of index_select adds dy at the places that were read.
Maybe<Outputs> gather_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Call added = call;
  added.set("x", value_of(share(make_array(x->shape))));
  added.set("updates", value_of(dy));
  MSDUMP_TRY(const Answer answer, by_kernel("index_add", added, x->shape));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(answer, x->shape));
  return gradients.take();
}

Maybe<Outputs> gather_elements_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Answer answer, by_kernel("gather_elements_grad", call, x->shape));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(answer, x->shape));
  return gradients.take();
}

// The gradients of index_add and scatter_add are dy for x, and for the updates the elements of dy at the places that they were added to.
Maybe<Outputs> index_add_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor indices, call.tensor("indices"));
  MSDUMP_TRY(const Tensor updates, call.tensor("updates"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Call read = call;
  read.set("x", value_of(dy));
  const bool of_elements = indices->rank() == updates->rank() && indices->rank() > 1;
  if (of_elements && indices->shape != updates->shape) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Answer at, by_kernel(of_elements ? "gather_elements" : "gather", read, updates->shape));
  const double alpha = call.number_or("alpha", 1);
  const Array y = map(at.y, [=](double g) { return alpha * g; });
  Gradients gradients;
  // x is often made of zeros and has no gradient.
  if (x->size() == updates->size()) return unjudged(Reason::kUnknownArgument, "order of gradients");
  MSDUMP_CHECK_OK(gradients.add(*dy, absolute(*dy), x->shape));
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), updates->shape));
  return gradients.take();
}

// (softmax - target) dy / n, or the gradient of the last node alone, -target dy / n.
Maybe<Outputs> cross_entropy_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const double dy, call.number("dy"));
  const std::string reduction = call.text("reduction");
  if (x->rank() != 2 || x->shape[1] == 0 || labels->rank() != 1 || labels->size() != x->shape[0] ||
      call.has("weight") || call.number_or("label_smoothing", 0) != 0 || reduction == "none")
    return unjudged(Reason::kUnknownArgument, "reduction");
  const int64_t classes = x->shape[1], ignored = call.integer_or("ignore_index", -100);
  const auto counts = [&](int64_t row) {
    const double label = labels->values[static_cast<size_t>(row)];
    return label != static_cast<double>(ignored) && label >= 0 && label < static_cast<double>(classes);
  };
  double counted = 0;
  for (int64_t row = 0; row < labels->size(); ++row) counted += counts(row) ? 1 : 0;
  const double scale = reduction == "sum" ? dy : dy / counted;
  Array whole = make_array(x->shape), terms = whole, last = whole;
  for (int64_t row = 0; row < labels->size(); ++row) {
    if (!counts(row)) continue;
    const double* const values = x->values.data() + row * classes;
    const double most = *std::max_element(values, values + classes);
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(values[c] - most);
    for (int64_t c = 0; c < classes; ++c) {
      const auto at = static_cast<size_t>(row * classes + c);
      const double p = std::exp(values[c] - most) / total;
      const double hit = static_cast<double>(c) == labels->values[static_cast<size_t>(row)] ? 1 : 0;
      whole.values[at] = (p - hit) * scale;
      terms.values[at] = (p * (2 + std::min(most - values[c], 100.0)) + hit) * std::fabs(scale);
      last.values[at] = -hit * scale;
    }
  }
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(whole, terms, x->shape));
  gradients.accept(last, "last node");
  return gradients.take();
}

// The gradient of a loss that is summed, or averaged over `count`.
Maybe<double> share_of(const Call& call, double dy, double count) {
  const std::string reduction = call.text("reduction");
  if (reduction == "none") return unjudged(Reason::kUnknownArgument, "reduction");
  return reduction == "sum" ? dy : dy / count;
}

// Of l1_loss, or of smooth_l1_loss.
template <bool kSmooth>
Maybe<Outputs> absolute_loss_back(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Array difference, fitted(combine(*a, *b, [](double u, double v) { return u - v; })));
  MSDUMP_TRY(const Array size, fitted(combine(*a, *b, [](double u, double v) { return std::fabs(u) + std::fabs(v); })));
  MSDUMP_TRY(const double dy, call.number("dy"));
  MSDUMP_TRY(const double scale, share_of(call, dy, static_cast<double>(difference.size())));
  const double beta = kSmooth ? call.number_or("beta", 1) : 0;
  Gradients gradients;
  for (const double sign : {1.0, -1.0}) {
    const auto slope = [=](double d) { return std::fabs(d) < beta ? d / beta : d > 0 ? 1 : d < 0 ? -1 : d; };
    const Array y = map(difference, [=](double d) { return sign * scale * slope(d); });
    const Array terms =
        map(size, [=](double s) { return std::fabs(scale) * (beta > 0 ? std::max(1.0, s / beta) : 1); });
    MSDUMP_CHECK_OK(gradients.add(y, terms, sign > 0 ? a->shape : b->shape));
    // The last node of l1_loss is the mean or sum.
    if (!kSmooth) gradients.accept(make_array(y.shape, scale), "last node");
  }
  return gradients.take();
}

Maybe<Outputs> sigmoid_cross_entropy_back(const Call& call) {
  for (const std::string_view name : {"weight", "pos_weight"}) {
    if (call.has(name)) return unjudged(Reason::kUnknownArgument, name);
  }
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const double dy, call.number("dy"));
  MSDUMP_TRY(const double scale, share_of(call, dy, static_cast<double>(x->size())));
  Call gradient = call;
  gradient.set("dy", value_of(share(scalar(scale))));
  MSDUMP_TRY(const Answer answer, by_kernel("sigmoid_cross_entropy_grad", gradient, x->shape));
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(answer.y, Array{answer.y.shape, answer.terms}, x->shape, 4));
  return gradients.take();
}

Maybe<Outputs> nll_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const double dy, call.number("dy"));
  if (call.has("weight")) return unjudged(Reason::kUnknownArgument, "weight");
  if (x->rank() != 2 || labels->size() != x->shape[0]) return unjudged(Reason::kShape);
  const auto ignored = static_cast<double>(call.integer_or("ignore_index", -100));
  const auto counts = [&](double label) {
    return label != ignored && label >= 0 && label < static_cast<double>(x->shape[1]);
  };
  const auto counted = std::count_if(labels->values.begin(), labels->values.end(), counts);
  MSDUMP_TRY(const double scale, share_of(call, dy, static_cast<double>(counted)));
  Array y = make_array(x->shape);
  for (size_t row = 0; row < labels->values.size(); ++row) {
    const double label = labels->values[row];
    if (counts(label)) y.values[row * static_cast<size_t>(x->shape[1]) + static_cast<size_t>(label)] = -scale;
  }
  Gradients gradients;
  MSDUMP_CHECK_OK(gradients.add(y, absolute(y), x->shape));
  return gradients.take();
}

Maybe<Outputs> mse_back(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const double dy, call.number("dy"));
  if (call.text("reduction") == "none") return unjudged(Reason::kUnknownArgument, "reduction");
  MSDUMP_TRY(const Array difference, fitted(combine(*a, *b, [](double u, double v) { return u - v; })));
  MSDUMP_TRY(const Array size, fitted(combine(*a, *b, [](double u, double v) { return std::fabs(u) + std::fabs(v); })));
  const double scale = 2 * dy / (call.text("reduction") == "sum" ? 1 : static_cast<double>(difference.size()));
  Gradients gradients;
  for (const double sign : {1.0, -1.0}) {
    const Array y = map(difference, [=](double d) { return sign * scale * d; });
    const Array terms = map(size, [=](double s) { return std::fabs(scale) * s; });
    MSDUMP_CHECK_OK(gradients.add(y, terms, sign > 0 ? a->shape : b->shape));
  }
  return gradients.take();
}

// The moments are computed again from x, since a call does not record them.
enum class Norm : uint8_t { kLayer, kBatch, kGroup };
template <Norm kNorm>
Maybe<Outputs> norm_back(const Call& call) {
  constexpr bool kBatch = kNorm == Norm::kBatch;
  constexpr std::string_view kForward = kBatch ? "batch_norm" : kNorm == Norm::kGroup ? "group_norm" : "layer_norm";
  constexpr std::string_view kGradient = kBatch                  ? "batch_norm_grad"
                                         : kNorm == Norm::kGroup ? "group_norm_grad"
                                                                 : "layer_norm_grad";
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));
  MSDUMP_TRY(const Tensor beta, call.tensor_if("beta"));
  Call gradient = call;
  const bool training = !kBatch || call.flag_or("is_training", false);
  if (training) {
    MSDUMP_TRY(Outputs forward, find_kernel(kForward)->compute(call));
    for (Output& output : forward) {
      if (output.name == "saved_mean") gradient.set("mean", value_of(share(output.answers.front().y)));
      if (output.name == "saved_variance") gradient.set("variance", value_of(share(output.answers.front().y)));
    }
  }
  if (!gamma) {
    int64_t length = kNorm != Norm::kLayer && x->rank() > 1 ? x->shape[1] : 1;
    if (const auto shape = call.integers_if("normalized_shape"); kNorm == Norm::kLayer && shape)
      length = size_of(*shape);
    gradient.set("gamma", value_of(share(make_array({length}, 1))));
  }
  MSDUMP_TRY(const Outputs outputs, find_kernel(kGradient)->compute(gradient));
  Gradients gradients;
  const auto add = [&](size_t i, const Shape& shape) {
    const Answer& answer = outputs[i].answers.front();
    return gradients.add(with_shape(answer.y, shape), Array{shape, answer.terms}, shape, answer.length);
  };
  MSDUMP_CHECK_OK(add(0, x->shape));
  if (gamma) {
    MSDUMP_CHECK_OK(add(1, gamma->shape));
  }
  if (beta) {
    MSDUMP_CHECK_OK(add(2, beta->shape));
  }
  return gradients.take();
}

Maybe<Outputs> max_pool_back(const Call& call) {
  MSDUMP_TRY(Outputs outputs, find_kernel("max_pool_grad")->compute(call));
  outputs.front().name = "d0";
  return outputs;
}

Maybe<Outputs> concat_back(const Call& call) {
  MSDUMP_TRY(const std::vector<Tensor> parts, call.tensors("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (parts.empty()) return unjudged(Reason::kNoInput, "x");
  MSDUMP_TRY(const size_t axis, fitted(axis_from_front(call.integer_or("axis", 0), dy->rank())));
  Gradients gradients;
  int64_t at = 0;
  for (const Tensor& part : parts) {
    if (part->rank() != dy->rank() || at + part->shape[axis] > dy->shape[axis]) return unjudged(Reason::kShape);
    std::vector<AxisSlice> box;
    for (const int64_t extent : dy->shape) box.push_back({0, 1, extent});
    box[axis] = {at, 1, part->shape[axis]};
    at += part->shape[axis];
    const Array y = slice(*dy, box);
    MSDUMP_CHECK_OK(gradients.add(y, absolute(y), part->shape));
  }
  return gradients.take();
}

constexpr Kernel kGradientKernels[] = {
    {"add_back", Arithmetic::kReduction, 4, add_back<1>, by_element},
    {"sub_back", Arithmetic::kReduction, 4, add_back<-1>, by_element},
    {"mul_back", Arithmetic::kReduction, 4, mul_back, by_element},
    {"div_back", Arithmetic::kReduction, 4, div_back, by_element},
    {"pow_back", Arithmetic::kElementwise, 4, pow_back, by_element},
    {"sqrt_back", Arithmetic::kElementwise, 4, sqrt_back, by_element},
    {"rsqrt_back", Arithmetic::kElementwise, 4, rsqrt_back, by_element},
    {"exp_back", Arithmetic::kElementwise, 4, exp_back, by_element},
    {"log_back", Arithmetic::kElementwise, 4, log_back, by_element},
    {"neg_back", Arithmetic::kElementwise, 4, neg_back, by_element},
    {"tanh_back", Arithmetic::kElementwise, 4, tanh_back, by_element},
    {"sigmoid_back", Arithmetic::kElementwise, 4, sigmoid_back, by_element},
    {"relu_back", Arithmetic::kElementwise, 4, relu_back, by_element},
    {"silu_back", Arithmetic::kTranscendental, 32, silu_back, by_element},
    {"gelu_back", Arithmetic::kTranscendental, 32, gelu_back, by_element},
    {"softplus_back", Arithmetic::kTranscendental, 32, softplus_back, by_element},
    {"leaky_relu_back", Arithmetic::kElementwise, 4, leaky_relu_back, by_element},
    {"elu_back", Arithmetic::kTranscendental, 32, elu_back, by_element},
    {"relu6_back", Arithmetic::kElementwise, 4, relu6_back, by_element},
    {"hard_swish_back", Arithmetic::kElementwise, 4, hard_swish_back, by_element},
    {"hard_sigmoid_back", Arithmetic::kElementwise, 4, hard_sigmoid_back, by_element},
    {"clamp_back", Arithmetic::kElementwise, 4, clamp_back, by_element},
    {"square_back", Arithmetic::kElementwise, 4, square_back, by_element},
    {"abs_back", Arithmetic::kElementwise, 4, abs_back, by_element},
    {"sin_back", Arithmetic::kTranscendental, 32, sin_back, by_element},
    {"cos_back", Arithmetic::kTranscendental, 32, cos_back, by_element},
    {"erf_back", Arithmetic::kTranscendental, 32, erf_back, by_element},
    {"log1p_back", Arithmetic::kElementwise, 4, log1p_back, by_element},
    {"reciprocal_back", Arithmetic::kElementwise, 4, reciprocal_back, by_element},
    {"addcmul_back", Arithmetic::kReduction, 4, add_product_back<false>, by_element},
    {"addcdiv_back", Arithmetic::kReduction, 4, add_product_back<true>, by_element},
    {"lerp_back", Arithmetic::kReduction, 4, lerp_back, by_element},
    {"select_back", Arithmetic::kReduction, 4, select_back, by_element},
    {"maximum_back", Arithmetic::kReduction, 4, larger_back<1>, by_element},
    {"minimum_back", Arithmetic::kReduction, 4, larger_back<-1>, by_element},
    {"amax_back", Arithmetic::kElementwise, 4, extreme_back},
    {"amin_back", Arithmetic::kElementwise, 4, extreme_back},
    {"norm_back", Arithmetic::kElementwise, 4, euclidean_back},
    {"gather_back", Arithmetic::kReduction, 4, gather_back},
    {"gather_elements_back", Arithmetic::kReduction, 4, gather_elements_back},
    {"index_add_back", Arithmetic::kElementwise, 4, index_add_back},
    {"addmm_back", Arithmetic::kProduct, 4, addmm_back},
    {"outer_back", Arithmetic::kReduction, 4, outer_back},
    {"sigmoid_cross_entropy_back", Arithmetic::kTranscendental, 32, sigmoid_cross_entropy_back},
    {"l1_back", Arithmetic::kElementwise, 4, absolute_loss_back<false>},
    {"smooth_l1_back", Arithmetic::kReduction, 4, absolute_loss_back<true>},
    {"nll_back", Arithmetic::kElementwise, 4, nll_back},
    {"reshape_back", Arithmetic::kElementwise, 4, reshape_back},
    {"transpose_back", Arithmetic::kElementwise, 4, transpose_back},
    {"swap_back", Arithmetic::kElementwise, 4, swap_back},
    {"sum_back", Arithmetic::kElementwise, 4, reduce_back<false>},
    {"mean_back", Arithmetic::kElementwise, 4, reduce_back<true>},
    {"masked_fill_back", Arithmetic::kElementwise, 4, masked_fill_back, by_element},
    {"linear_back", Arithmetic::kProduct, 4, linear_back, nullptr, sample_linear_back},
    {"matmul_back", Arithmetic::kProduct, 4, matmul_back, nullptr, sample_matmul_back},
    {"conv_back", Arithmetic::kProduct, 4, conv_back, nullptr, sample_conv_back},
    {"softmax_back", Arithmetic::kTranscendental, 4, softmax_back<false>, softmax_axes},
    {"log_softmax_back", Arithmetic::kTranscendental, 4, softmax_back<true>, softmax_axes},
    {"embedding_back", Arithmetic::kReduction, 4, embedding_back},
    {"cross_entropy_back", Arithmetic::kTranscendental, 32, cross_entropy_back},
    {"mse_back", Arithmetic::kReduction, 4, mse_back},
    {"layer_norm_back", Arithmetic::kNormalisation, 4, norm_back<Norm::kLayer>},
    {"batch_norm_back", Arithmetic::kNormalisation, 4, norm_back<Norm::kBatch>},
    {"group_norm_back", Arithmetic::kNormalisation, 4, norm_back<Norm::kGroup>},
    {"max_pool_back", Arithmetic::kReduction, 4, max_pool_back},
    {"concat_back", Arithmetic::kElementwise, 4, concat_back},
};

}  // namespace

std::span<const Kernel> gradient_kernels() { return kGradientKernels; }

}  // namespace msdump::recompute
