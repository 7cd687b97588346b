#include "support/noisy_net/kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace msdump::noisy {
namespace {

double gelu(double x, const Arithmetic& how) {
  if (how.tanh_gelu) {
    const double inner = how.inner(0.7978845608028654 * how.inner(x + 0.044715 * x * x * x));
    return how.inner(0.5 * x * (1 + how.function(std::tanh(inner))));
  }
  return how.inner(0.5 * x * (1 + how.function(std::erf(x * 0.7071067811865476))));
}

double gelu_slope(double x, const Arithmetic& how) {
  if (how.tanh_gelu) {
    const double t = how.function(std::tanh(how.inner(0.7978845608028654 * how.inner(x + 0.044715 * x * x * x))));
    return how.inner(0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x));
  }
  const double density = how.exp(-0.5 * x * x) * 0.3989422804014327;
  return how.inner(0.5 * (1 + how.function(std::erf(x * 0.7071067811865476))) + x * density);
}

double sigmoid(double x, const Arithmetic& how) { return how.inner(1 / how.inner(1 + how.exp(-x))); }

using Unary = double (*)(double, const Arithmetic&);
Unary unary_of(std::string_view type) {
  if (type == "Neg") return [](double x, const Arithmetic&) { return -x; };
  if (type == "Exp") return [](double x, const Arithmetic& how) { return how.exp(x); };
  if (type == "Log") return [](double x, const Arithmetic& how) { return how.function(std::log(x)); };
  if (type == "Sqrt") return [](double x, const Arithmetic& how) { return how.function(std::sqrt(x)); };
  if (type == "Rsqrt") return [](double x, const Arithmetic& how) { return how.function(1 / std::sqrt(x)); };
  if (type == "Tanh") return [](double x, const Arithmetic& how) { return how.function(std::tanh(x)); };
  if (type == "Square") return [](double x, const Arithmetic&) { return x * x; };
  if (type == "ReLU") return [](double x, const Arithmetic&) { return x > 0 || x != x ? x : 0.0; };
  if (type == "Sigmoid") return sigmoid;
  if (type == "GeLU") return gelu;
  if (type == "Cast") return [](double x, const Arithmetic&) { return x; };
  return nullptr;
}

using Binary = double (*)(double, double, const Arithmetic&);
Binary binary_of(std::string_view type) {
  if (type == "Add") return [](double x, double y, const Arithmetic&) { return x + y; };
  if (type == "Sub") return [](double x, double y, const Arithmetic&) { return x - y; };
  if (type == "Mul") return [](double x, double y, const Arithmetic&) { return x * y; };
  if (type == "RealDiv") return [](double x, double y, const Arithmetic&) { return x / y; };
  if (type == "Equal") return [](double x, double y, const Arithmetic&) { return x == y ? 1.0 : 0.0; };
  if (type == "ReluGrad") return [](double dy, double y, const Arithmetic&) { return y > 0 || y != y ? dy : 0.0; };
  if (type == "TanhGrad")
    return [](double y, double dy, const Arithmetic& how) { return dy * how.inner(1 - how.inner(y * y)); };
  if (type == "SigmoidGrad")
    return [](double y, double dy, const Arithmetic& how) { return dy * how.inner(y * how.inner(1 - y)); };
  if (type == "SqrtGrad") return [](double y, double dy, const Arithmetic& how) { return how.inner(dy * 0.5) / y; };
  if (type == "RsqrtGrad")
    return [](double y, double dy, const Arithmetic& how) { return -0.5 * how.inner(dy * y) * how.inner(y * y); };
  if (type == "GeLUGrad") return [](double dy, double x, const Arithmetic& how) { return dy * gelu_slope(x, how); };
  if (type == "SigmoidCrossEntropyWithLogits")
    return [](double x, double target, const Arithmetic& how) {
      return std::fmax(x, 0) - x * target + how.function(std::log1p(how.exp(-std::fabs(x))));
    };
  return nullptr;
}

// By element of the result, where an operand has it.
class Broadcast {
 public:
  Broadcast(const Shape& from, const Shape& to) : dims_(to), strides_(to.size()) {
    int64_t stride = 1;
    for (size_t i = from.size(); i-- > 0;) {
      const size_t place = i + to.size() - from.size();
      strides_[place] = from[i] == 1 ? 0 : stride;
      stride *= from[i];
    }
    same_ = from == to;
  }
  [[nodiscard]] size_t operator()(size_t flat) const {
    if (same_) return flat;
    auto left = static_cast<int64_t>(flat);
    int64_t place = 0;
    for (size_t i = dims_.size(); i-- > 0;) {
      place += left % dims_[i] * strides_[i];
      left /= dims_[i];
    }
    return static_cast<size_t>(place);
  }

 private:
  Shape dims_, strides_;
  bool same_ = false;
};

// With so few bits: of numbers that the kernel reads.
std::vector<Tensor> coarse(KernelCall& call) {
  std::vector<Tensor> copies;
  copies.reserve(call.in.size());
  for (const Tensor*& input : call.in) {
    copies.push_back(*input);
    if (!input->shape.empty()) {
      for (double& x : copies.back().v) x = with_mantissa(x, call.twist.mantissa);
    }
    input = &copies.back();
  }
  return copies;
}

}  // namespace

bool compute_elementwise(KernelCall& call) {
  const std::string& type = call.node->type;
  const Arithmetic& how = *call.how;
  Numbers& out = call.out[0].v;
  const Numbers& x = call.in[0]->v;
  if (const Unary function = unary_of(type)) {
    std::transform(x.begin(), x.end(), out.begin(), [&](double one) { return function(one, how); });
    return true;
  }
  if (type == "AddN") {
    for (size_t i = 0; i < out.size(); ++i) {
      double sum = 0;
      for (size_t k = call.twist.no_term ? 1 : 0; k < call.in.size(); ++k) sum = how.inner(sum + call.in[k]->v[i]);
      out[i] = sum;
    }
    return true;
  }
  if (type == "SigmoidCrossEntropyWithLogitsGrad") {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = how.inner(sigmoid(x[i], how) - call.in[1]->v[i]) * call.in[2]->v[i];
    return true;
  }
  if (type == "BiasAdd") {
    const Shape& shape = call.in[0]->shape;
    const size_t channels = call.in[1]->v.size();
    const size_t inner = shape.size() == 2 ? 1 : out.size() / static_cast<size_t>(shape[0]) / channels;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = call.twist.no_term ? x[i] : x[i] + call.in[1]->v[i / inner % channels];
    return true;
  }
  const Binary function = binary_of(type);
  if (function == nullptr) return false;
  const Broadcast left(call.in[0]->shape, call.out[0].shape), right(call.in[1]->shape, call.out[0].shape);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = call.twist.no_term ? x[left(i)] : function(x[left(i)], call.in[1]->v[right(i)], how);
  return true;
}

void compute(KernelCall& call) {
  std::vector<Tensor> kept;
  const std::vector<const Tensor*> inputs = call.in;
  if (call.twist.mantissa != 0) kept = coarse(call);
  for (Tensor& out : call.out) out.v.assign(static_cast<size_t>(elements(out.shape)), 0);
  if (!compute_elementwise(call) && !compute_products(call) && !compute_norms(call) && !compute_layout(call) &&
      !compute_reductions(call) && !compute_optimizers(call))
    throw std::runtime_error("no kernel for " + call.node->type);
  for (Tensor& out : call.out) {
    for (double& x : out.v) {
      x *= call.twist.factor;
      x = call.how->stored(call.twist.mantissa != 0 ? with_mantissa(x, call.twist.mantissa) : x);
    }
  }
  for (Tensor& updated : call.updated) {
    for (double& x : updated.v) x = call.how->stored(x);
  }
  call.in = inputs;
}

}  // namespace msdump::noisy
