#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

using Function = double (*)(double x);
using UnaryTerms = double (*)(double x, double y);
using BinaryFunction = double (*)(double a, double b);
using BinaryTerms = double (*)(double a, double b, double y);

template <Function F, UnaryTerms S = nullptr>
Maybe<Outputs> unary(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  Array y = map(*x, [](double v) { return F(v); });
  std::vector<double> terms;
  if constexpr (S != nullptr)
    terms = generate(y.values.size(), [u = x->values.data(), v = y.values.data()](size_t i) { return S(u[i], v[i]); });
  return one_output(std::move(y), std::move(terms));
}

// An output and its terms.
template <class F, class S>
Maybe<Outputs> combine_with_terms(const Array& a, const Array& b, const F& f, const S& s) {
  MSDUMP_TRY(Array y, fitted(combine(a, b, f)));
  MSDUMP_TRY(Array terms, fitted(combine(a, b, s)));
  return one_output(std::move(y), std::move(terms.values));
}

// S sees no y: it is a sum of absolute values of products of the operands.
template <BinaryFunction F, BinaryTerms S = nullptr>
Maybe<Outputs> binary(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const auto function = [](double u, double v) { return F(u, v); };
  if constexpr (S != nullptr) {
    return combine_with_terms(*a, *b, function, [](double u, double v) { return S(u, v, 0); });
  } else {
    MSDUMP_TRY(Array y, fitted(combine(*a, *b, function)));
    return one_output(std::move(y));
  }
}

// Files of 16 bits may hold rounded values of what was compared: which of two that rounding may exchange is larger is not known.
template <BinaryFunction F>
Maybe<Outputs> comparison(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  double u = 0;
  for (const DType format : {a->effective, b->effective}) {
    if (kind_of(format) == DTypeKind::kFloat && unit_roundoff(format) > unit_roundoff(DType::kFloat32))
      u = std::max(u, unit_roundoff(format));
  }
  MSDUMP_TRY(Array y, fitted(combine(*a, *b, [u](double v, double w) {
               const bool near = u > 0 && std::fabs(v - w) <= u * (std::fabs(v) + std::fabs(w));
               return near ? std::nan("") : F(v, w);
             })));
  return one_output(std::move(y));
}

double nan_or(double x, double y) { return std::isnan(x) ? x : y; }

double mul(double a, double b) { return a * b; }
double neg(double x) { return -x; }
double abs_of(double x) { return std::fabs(x); }
double sign(double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }
double identity(double x) { return x; }
double zero(double) { return 0; }
double one(double) { return 1; }
double square(double x) { return x * x; }
double reciprocal(double x) { return 1 / x; }
double sqrt_of(double x) { return std::sqrt(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return std::log(x); }
double exp2_of(double x) { return std::exp2(x); }
double expm1_of(double x) { return std::expm1(x); }
double log1p_of(double x) { return std::log1p(x); }
double log2_of(double x) { return std::log2(x); }
double log10_of(double x) { return std::log10(x); }
double erf_of(double x) { return std::erf(x); }
double erfc_of(double x) { return std::erfc(x); }
double sin_of(double x) { return std::sin(x); }
double cos_of(double x) { return std::cos(x); }
double tan_of(double x) { return std::tan(x); }
double asin_of(double x) { return std::asin(x); }
double acos_of(double x) { return std::acos(x); }
double atan_of(double x) { return std::atan(x); }
double sinh_of(double x) { return std::sinh(x); }
double cosh_of(double x) { return std::cosh(x); }
double tanh_of(double x) { return std::tanh(x); }
double asinh_of(double x) { return std::asinh(x); }
double acosh_of(double x) { return std::acosh(x); }
double atanh_of(double x) { return std::atanh(x); }
double trunc_of(double x) { return std::trunc(x); }
double floor_of(double x) { return std::floor(x); }
double ceil_of(double x) { return std::ceil(x); }
double round_of(double x) { return std::nearbyint(x); }
double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double relu(double x) { return nan_or(x, std::max(x, 0.0)); }
double relu6(double x) { return nan_or(x, std::clamp(x, 0.0, 6.0)); }
double silu(double x) { return x * sigmoid(x); }
double hard_sigmoid(double x) { return nan_or(x, std::clamp(x + 3, 0.0, 6.0) / 6); }
double hard_swish(double x) { return x * hard_sigmoid(x); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double log_sigmoid(double x) { return -softplus(-x); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double is_finite(double x) { return std::isfinite(x) ? 1 : 0; }
double logical_not(double x) { return x == 0 ? 1 : 0; }

double of_exp(double x, double y) { return std::fabs(y) * (1 + std::fabs(x)); }
double of_log(double, double y) { return std::fabs(y) + 1; }
double of_one(double, double) { return 1; }
double of_exp_and_one(double x, double y) { return 1 + std::fabs(y) * (1 + std::fabs(x)); }
double of_tan(double x, double y) { return std::fabs(y) + std::fabs(x) * (1 + y * y); }
double of_hard_swish(double x, double y) { return std::fabs(y) + std::fabs(x) * 0.1; }

double minimum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b); }
double maximum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b); }
double floor_div(double a, double b) { return std::floor(a / b); }
double trunc_div(double a, double b) { return std::trunc(a / b); }
double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
double equal(double a, double b) { return a == b ? 1 : 0; }
double not_equal(double a, double b) { return a != b ? 1 : 0; }
double greater(double a, double b) { return a > b ? 1 : 0; }
double greater_equal(double a, double b) { return a >= b ? 1 : 0; }
double less(double a, double b) { return a < b ? 1 : 0; }
double less_equal(double a, double b) { return a <= b ? 1 : 0; }
double logical_and(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }
double logical_or(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }
double atan2_of(double a, double b) { return std::atan2(a, b); }
double logical_xor(double a, double b) { return (a != 0) != (b != 0) ? 1 : 0; }

double of_angle(double, double, double) { return 4; }
double of_sum(double a, double b, double) { return std::fabs(a) + std::fabs(b); }

// Gradients of functions, from the output y or input x of the function and the gradient dy of its output.
double sigmoid_grad(double y, double dy) { return dy * y * (1 - y); }
double tanh_grad(double y, double dy) { return dy * (1 - y * y); }
double relu_grad(double dy, double x) { return std::isnan(x) ? x : x > 0 ? dy : 0; }
double relu6_grad(double dy, double x) { return std::isnan(x) ? x : x > 0 && x < 6 ? dy : 0; }
double sqrt_grad(double y, double dy) { return dy / (2 * y); }
double rsqrt_grad(double y, double dy) { return -0.5 * y * y * y * dy; }
double reciprocal_grad(double y, double dy) { return -y * y * dy; }
double hard_swish_grad(double dy, double x) { return nan_or(x, x <= -3 ? 0 : x >= 3 ? dy : dy * (x / 3 + 0.5)); }
double hard_sigmoid_grad(double dy, double x) { return nan_or(x, x > -3 && x < 3 ? dy / 6 : 0); }
double silu_grad(double dy, double x) {
  const double s = sigmoid(x);
  return dy * (s + x * s * (1 - s));
}
double of_output_grad(double y, double dy, double) { return std::fabs(dy * y) * (1 + std::fabs(y)); }
double of_tanh_grad(double y, double dy, double) { return std::fabs(dy) * (1 + y * y); }
double of_input_grad(double dy, double x, double) { return std::fabs(dy) * (1 + std::fabs(x)); }

// a + alpha b, or a - alpha b.
template <int kSign>
Maybe<Outputs> add(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const double factor = kSign * call.number_or("alpha", 1);
  return combine_with_terms(
      *a, *b, [=](double u, double v) { return u + factor * v; },
      [=](double u, double v) { return std::fabs(u) + std::fabs(factor * v); });
}

Maybe<Outputs> divide(const Call& call) {
  const std::string mode = call.text("rounding_mode");
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const auto function = mode == "floor"   ? floor_div
                        : mode == "trunc" ? trunc_div
                                          : [](double u, double v) { return u / v; };
  MSDUMP_TRY(Array y, fitted(combine(*a, *b, function)));
  return one_output(std::move(y));
}

// exp(p log x): the error grows with |p log x|, unless p is a small whole number, for which products are used.
Maybe<Outputs> power(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("a"));
  MSDUMP_TRY(const Tensor p, call.tensor("b"));
  MSDUMP_TRY(Array y, fitted(combine(*x, *p, [](double u, double v) { return std::pow(u, v); })));
  MSDUMP_TRY(Array growth, fitted(combine(*x, *p, [](double u, double v) {
               if (v == std::floor(v) && std::fabs(v) <= 16) return 1.0 + std::fabs(v);
               const double log = std::fabs(v * std::log(std::fabs(u)));
               return std::isfinite(log) ? 1 + log : 1.0;
             })));
  for (size_t i = 0; i < y.values.size(); ++i) growth.values[i] *= std::fabs(y.values[i]);
  return one_output(std::move(y), std::move(growth.values));
}

Maybe<Outputs> add_n(const Call& call) {
  MSDUMP_TRY(const std::vector<Tensor> all, call.tensors("x"));
  if (all.empty()) return unjudged(Reason::kNoInput, "x");
  Array y = *all.front(), terms = absolute(*all.front());
  for (size_t i = 1; i < all.size(); ++i) {
    MSDUMP_TRY(y, fitted(combine(y, *all[i], [](double u, double v) { return u + v; })));
    MSDUMP_TRY(terms, fitted(combine(terms, *all[i], [](double u, double v) { return u + std::fabs(v); })));
  }
  return one_output(std::move(y), std::move(terms.values), static_cast<double>(all.size()));
}

// Adds a vector along the channels: axis 1, or the last axis of a matrix and of NHWC.
// The bias lies along the second axis.
Maybe<size_t> first_axis_alone(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("a"));
  return x->rank() == 0 ? 0 : x->rank() - 1;
}

Maybe<Outputs> bias_add(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const std::string format = call.text("format") + call.text("data_format");
  Array bias = *b;
  if (x->rank() > 2 && format.find("nhwc") == std::string::npos) {
    bias.shape.assign(x->rank() - 1, 1);
    bias.shape.front() = b->size();
  }
  return combine_with_terms(
      *x, bias, [](double u, double v) { return u + v; },
      [](double u, double v) { return std::fabs(u) + std::fabs(v); });
}

// a where the condition holds, else b.
Maybe<Outputs> choose(const Array& condition, const Array& a, const Array& b) {
  MSDUMP_TRY(const Shape values, fitted(broadcast_shape(a.shape, b.shape)));
  MSDUMP_TRY(const Shape shape, fitted(broadcast_shape(values, condition.shape)));
  Array y = make_array(shape);
  double* out = y.values.data();
  walk<3>(shape,
          {*broadcast_strides(condition.shape, shape), *broadcast_strides(a.shape, shape),
           *broadcast_strides(b.shape, shape)},
          [&](const std::array<int64_t, 3>& at) {
            *out++ = condition.values[static_cast<size_t>(at[0])] != 0 ? a.values[static_cast<size_t>(at[1])]
                                                                       : b.values[static_cast<size_t>(at[2])];
          });
  return one_output(std::move(y));
}

Maybe<Outputs> select(const Call& call) {
  MSDUMP_TRY(const Tensor condition, call.tensor("condition"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  return choose(*condition, *a, *b);
}

Maybe<Outputs> masked_fill(const Call& call) {
  MSDUMP_TRY(const Tensor mask, call.tensor("mask"));
  MSDUMP_TRY(const Tensor value, call.tensor("value"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  return choose(*mask, *value, *x);
}

Maybe<Outputs> clamp(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor least, call.tensor_if("min"));
  MSDUMP_TRY(const Tensor most, call.tensor_if("max"));
  Array y = *x;
  if (least) {
    MSDUMP_TRY(y, fitted(combine(y, *least, maximum)));
  }
  if (most) {
    MSDUMP_TRY(y, fitted(combine(y, *most, minimum)));
  }
  return one_output(std::move(y));
}

Maybe<Outputs> leaky_relu(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const double alpha, call.number("alpha"));
  return one_output(map(*x, [=](double value) { return value > 0 ? value : value * alpha; }));
}

Maybe<Outputs> elu(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const double alpha, call.number("alpha"));
  Array terms = map(*x, [=](double v) { return v > 0 ? v : std::fabs(alpha) * (std::exp(v) + 1); });
  return one_output(map(*x, [=](double v) { return v > 0 ? v : alpha * std::expm1(v); }), std::move(terms.values));
}

// Of the output; MindSpore's has no alpha but 1.
double elu_grad(double dy, double y) { return std::isnan(y) ? y : y > 0 ? dy : dy * (y + 1); }
double of_elu_grad(double dy, double y, double) { return std::fabs(dy) * (y > 0 ? 1 : 1 + std::fabs(y)); }

Maybe<Outputs> fill(const Call& call) {
  MSDUMP_TRY(const double value, call.number("value"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  return one_output(make_array(*shape, value));
}

// x + value * a * b, or x + value * a / b.
template <bool kDivide>
Maybe<Outputs> add_product(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  const double value = call.number_or("value", 1);
  MSDUMP_TRY(const Array product,
             fitted(combine(*a, *b, [=](double u, double v) { return kDivide ? value * u / v : value * u * v; })));
  MSDUMP_TRY(Array y, fitted(combine(*x, product, [](double u, double v) { return u + v; })));
  MSDUMP_TRY(Array terms,
             fitted(combine(*x, product, [](double u, double v) { return std::fabs(u) + 2 * std::fabs(v); })));
  return one_output(std::move(y), std::move(terms.values), 2);
}

Maybe<Outputs> lerp(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor end, call.tensor("a"));
  MSDUMP_TRY(const Tensor weight, call.tensor("b"));
  MSDUMP_TRY(const Array difference, fitted(combine(*end, *x, [](double u, double v) { return u - v; })));
  MSDUMP_TRY(const Array size,
             fitted(combine(*end, *x, [](double u, double v) { return std::fabs(u) + std::fabs(v); })));
  MSDUMP_TRY(const Array step, fitted(combine(difference, *weight, mul)));
  MSDUMP_TRY(const Array step_size,
             fitted(combine(size, *weight, [](double u, double v) { return std::fabs(u * v); })));
  MSDUMP_TRY(Array y, fitted(combine(*x, step, [](double u, double v) { return u + v; })));
  MSDUMP_TRY(Array terms, fitted(combine(*x, step_size, [](double u, double v) { return std::fabs(u) + 2 * v; })));
  return one_output(std::move(y), std::move(terms.values), 2);
}

struct Gelu {
  double value, slope;
};
Gelu gelu_erf(double x) {
  const double half = 0.5 * std::erfc(-x * M_SQRT1_2);
  return {x * half, half + x * std::exp(-x * x / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2)};
}
Gelu gelu_tanh(double x) {
  constexpr double kFactor = 0.7978845608028654, kCube = 0.044715;
  const double t = std::tanh(kFactor * (x + kCube * x * x * x));
  return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kFactor * (1 + 3 * kCube * x * x)};
}
double of_gelu(double x) { return 0.5 * std::fabs(x) * (1 + 0.2 * std::fabs(x)); }

Outputs gelu_answers(const Array& x, const Array* dy, const std::string& approximate) {
  Outputs outputs(1);
  outputs[0].name = "y";
  const auto add_answer = [&](Gelu (*gelu)(double), std::string_view variant) {
    Answer answer{make_array(x.shape), std::vector<double>(x.values.size()), 0, variant};
    for (size_t i = 0; i < x.values.size(); ++i) {
      const Gelu at = gelu(x.values[i]);
      answer.y.values[i] = dy == nullptr ? at.value : dy->values[i] * at.slope;
      answer.terms[i] = dy == nullptr ? of_gelu(x.values[i]) : std::fabs(dy->values[i]) * (1 + std::fabs(x.values[i]));
    }
    outputs[0].answers.push_back(std::move(answer));
  };
  if (approximate != "none") add_answer(gelu_tanh, "tanh");
  if (approximate != "tanh") add_answer(gelu_erf, "erf");
  return outputs;
}

Maybe<Outputs> gelu(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  return gelu_answers(*x, nullptr, call.text("approximate"));
}

Maybe<Outputs> gelu_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (dy->values.size() != x->values.size()) return unjudged(Reason::kShape);
  return gelu_answers(*x, dy.get(), call.text("approximate"));
}

// Without the mask only that the output is 0 or x / (1 - p) is known: such an operator is not judged.
Maybe<Outputs> dropout(const Call& call) {
  const double p = call.number_or("p", 0.5);
  if (call.has("training") && !call.flag_or("training", true)) {
    MSDUMP_TRY(const Tensor x, call.tensor("x"));
    return one_output(*x);
  }
  if (p == 0) {
    MSDUMP_TRY(const Tensor x, call.tensor("x"));
    return one_output(*x);
  }
  return unjudged(Reason::kRandom);
}

template <Function Limit>
Maybe<Outputs> max_min_grad(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Outputs outputs;
  for (const bool first : {true, false}) {
    MSDUMP_TRY(const Array wins, fitted(combine(*a, *b, [=](double u, double v) {
                 const bool a_wins = Limit(u) >= Limit(v);
                 return (a_wins == first) ? 1.0 : 0.0;
               })));
    MSDUMP_TRY(const Array gradient, fitted(combine(*dy, wins, mul)));
    MSDUMP_TRY(Array y, fitted(sum_to(gradient, first ? a->shape : b->shape)));
    add_output(outputs, first ? "da" : "db", std::move(y));
  }
  return outputs;
}

constexpr Kernel kElementwiseKernels[] = {
    {"neg", Arithmetic::kExact, 0, unary<neg>, by_element},
    {"abs", Arithmetic::kExact, 0, unary<abs_of>, by_element},
    {"sign", Arithmetic::kExact, 0, unary<sign>, by_element},
    {"identity", Arithmetic::kExact, 0, unary<identity>, by_element},
    {"zeros_like", Arithmetic::kExact, 0, unary<zero>, by_element},
    {"ones_like", Arithmetic::kExact, 0, unary<one>, by_element},
    {"floor", Arithmetic::kExact, 0, unary<floor_of>, by_element},
    {"ceil", Arithmetic::kExact, 0, unary<ceil_of>, by_element},
    {"round", Arithmetic::kExact, 0, unary<round_of>, by_element},
    {"trunc", Arithmetic::kExact, 0, unary<trunc_of>, by_element},
    {"relu", Arithmetic::kExact, 0, unary<relu>, by_element},
    {"relu6", Arithmetic::kExact, 0, unary<relu6>, by_element},
    {"is_finite", Arithmetic::kExact, 0, unary<is_finite>, by_element},
    {"logical_not", Arithmetic::kExact, 0, unary<logical_not>, by_element},
    {"cast", Arithmetic::kElementwise, 4, unary<identity>, by_element},
    {"square", Arithmetic::kElementwise, 4, unary<square>, by_element},
    {"reciprocal", Arithmetic::kElementwise, 4, unary<reciprocal>, by_element},
    {"sqrt", Arithmetic::kElementwise, 4, unary<sqrt_of>, by_element},
    {"rsqrt", Arithmetic::kElementwise, 4, unary<rsqrt>, by_element},
    {"hard_sigmoid", Arithmetic::kElementwise, 4, unary<hard_sigmoid>, by_element},
    {"hard_swish", Arithmetic::kElementwise, 4, unary<hard_swish, of_hard_swish>, by_element},
    {"exp", Arithmetic::kTranscendental, 32, unary<exp_of, of_exp>, by_element},
    {"log", Arithmetic::kTranscendental, 32, unary<log_of, of_log>, by_element},
    {"exp2", Arithmetic::kTranscendental, 32, unary<exp2_of, of_exp>, by_element},
    {"expm1", Arithmetic::kTranscendental, 32, unary<expm1_of, of_exp_and_one>, by_element},
    {"log1p", Arithmetic::kTranscendental, 32, unary<log1p_of, of_log>, by_element},
    {"log2", Arithmetic::kTranscendental, 32, unary<log2_of, of_log>, by_element},
    {"log10", Arithmetic::kTranscendental, 32, unary<log10_of, of_log>, by_element},
    {"erf", Arithmetic::kTranscendental, 32, unary<erf_of>, by_element},
    {"erfc", Arithmetic::kTranscendental, 32, unary<erfc_of, of_log>, by_element},
    {"sin", Arithmetic::kTranscendental, 32, unary<sin_of, of_one>, by_element},
    {"cos", Arithmetic::kTranscendental, 32, unary<cos_of, of_one>, by_element},
    {"tan", Arithmetic::kTranscendental, 32, unary<tan_of, of_tan>, by_element},
    {"asin", Arithmetic::kTranscendental, 32, unary<asin_of, of_log>, by_element},
    {"acos", Arithmetic::kTranscendental, 32, unary<acos_of, of_log>, by_element},
    {"atan", Arithmetic::kTranscendental, 32, unary<atan_of, of_log>, by_element},
    {"atan2", Arithmetic::kTranscendental, 32, binary<atan2_of, of_angle>, by_element},
    {"sinh", Arithmetic::kTranscendental, 32, unary<sinh_of, of_exp_and_one>, by_element},
    {"cosh", Arithmetic::kTranscendental, 32, unary<cosh_of, of_exp_and_one>, by_element},
    {"asinh", Arithmetic::kTranscendental, 32, unary<asinh_of, of_log>, by_element},
    {"acosh", Arithmetic::kTranscendental, 32, unary<acosh_of, of_log>, by_element},
    {"atanh", Arithmetic::kTranscendental, 32, unary<atanh_of, of_log>, by_element},
    {"log_sigmoid", Arithmetic::kTranscendental, 32, unary<log_sigmoid, of_log>, by_element},
    {"mish", Arithmetic::kTranscendental, 32, unary<mish, of_exp>, by_element},
    {"tanh", Arithmetic::kTranscendental, 512, unary<tanh_of>, by_element},
    {"sigmoid", Arithmetic::kTranscendental, 32, unary<sigmoid>, by_element},
    {"silu", Arithmetic::kTranscendental, 32, unary<silu, of_exp>, by_element},
    {"softplus", Arithmetic::kTranscendental, 32, unary<softplus, of_log>, by_element},
    {"mul", Arithmetic::kElementwise, 4, binary<mul>, by_element},
    {"add", Arithmetic::kElementwise, 4, add<1>, by_element},
    {"sub", Arithmetic::kElementwise, 4, add<-1>, by_element},
    {"div", Arithmetic::kElementwise, 4, divide, by_element},
    {"pow", Arithmetic::kElementwise, 4, power, by_element},
    {"add_n", Arithmetic::kElementwise, 4, add_n, by_element},
    {"bias_add", Arithmetic::kElementwise, 4, bias_add, first_axis_alone},
    {"minimum", Arithmetic::kExact, 0, binary<minimum>, by_element},
    {"maximum", Arithmetic::kExact, 0, binary<maximum>, by_element},
    {"floor_div", Arithmetic::kExact, 0, binary<floor_div>, by_element},
    {"floor_mod", Arithmetic::kElementwise, 4, binary<floor_mod, of_sum>, by_element},
    {"equal", Arithmetic::kExact, 0, comparison<equal>, by_element},
    {"not_equal", Arithmetic::kExact, 0, comparison<not_equal>, by_element},
    {"greater", Arithmetic::kExact, 0, comparison<greater>, by_element},
    {"greater_equal", Arithmetic::kExact, 0, comparison<greater_equal>, by_element},
    {"less", Arithmetic::kExact, 0, comparison<less>, by_element},
    {"less_equal", Arithmetic::kExact, 0, comparison<less_equal>, by_element},
    {"logical_and", Arithmetic::kExact, 0, binary<logical_and>, by_element},
    {"logical_or", Arithmetic::kExact, 0, binary<logical_or>, by_element},
    {"logical_xor", Arithmetic::kExact, 0, binary<logical_xor>, by_element},
    {"sigmoid_grad", Arithmetic::kElementwise, 4, binary<sigmoid_grad, of_output_grad>, by_element},
    {"tanh_grad", Arithmetic::kElementwise, 4, binary<tanh_grad, of_tanh_grad>, by_element},
    {"relu_grad", Arithmetic::kExact, 0, binary<relu_grad>, by_element},
    {"relu6_grad", Arithmetic::kExact, 0, binary<relu6_grad>, by_element},
    {"sqrt_grad", Arithmetic::kElementwise, 4, binary<sqrt_grad>, by_element},
    {"rsqrt_grad", Arithmetic::kElementwise, 4, binary<rsqrt_grad>, by_element},
    {"reciprocal_grad", Arithmetic::kElementwise, 4, binary<reciprocal_grad>, by_element},
    {"hard_swish_grad", Arithmetic::kElementwise, 4, binary<hard_swish_grad, of_input_grad>, by_element},
    {"hard_sigmoid_grad", Arithmetic::kElementwise, 4, binary<hard_sigmoid_grad>, by_element},
    {"silu_grad", Arithmetic::kTranscendental, 32, binary<silu_grad, of_input_grad>, by_element},
    {"select", Arithmetic::kExact, 0, select, by_element},
    {"masked_fill", Arithmetic::kExact, 0, masked_fill, by_element},
    {"clamp", Arithmetic::kExact, 0, clamp, by_element},
    {"leaky_relu", Arithmetic::kElementwise, 4, leaky_relu, by_element},
    {"elu", Arithmetic::kTranscendental, 32, elu, by_element},
    {"elu_grad", Arithmetic::kElementwise, 4, binary<elu_grad, of_elu_grad>, by_element},
    {"fill", Arithmetic::kExact, 0, fill},
    {"addcmul", Arithmetic::kElementwise, 4, add_product<false>, by_element},
    {"addcdiv", Arithmetic::kElementwise, 4, add_product<true>, by_element},
    {"lerp", Arithmetic::kElementwise, 4, lerp, by_element},
    {"gelu", Arithmetic::kTranscendental, 32, gelu, by_element},
    {"gelu_grad", Arithmetic::kTranscendental, 32, gelu_grad, by_element},
    {"maximum_grad", Arithmetic::kReduction, 4, max_min_grad<identity>},
    {"minimum_grad", Arithmetic::kReduction, 4, max_min_grad<neg>},
    {"dropout", Arithmetic::kExact, 0, dropout},
};

}  // namespace

std::span<const Kernel> elementwise_kernels() { return kElementwiseKernels; }

}  // namespace msdump::recompute
