#include <algorithm>
#include <cmath>

#include "support/noisy_net/kernels.h"

namespace msdump::noisy {
namespace {

// The elements of one group, and what they have in common.
struct Moments {
  double mean = 0, variance = 0;
};

template <class At>
Moments moments(const Arithmetic& how, int64_t count, const At& at) {
  Moments result;
  const auto size = static_cast<double>(count);
  result.mean = how.inner(how.sum(count, at) / size);
  if (how.one_pass_variance) {
    const double squares = how.inner(how.sum(count, [&](int64_t i) { return how.inner(at(i) * at(i)); }) / size);
    result.variance = std::fmax(how.inner(squares - how.inner(result.mean * result.mean)), 0);
  } else {
    const auto term = [&](int64_t i) {
      const double d = how.inner(at(i) - result.mean);
      return how.inner(d * d);
    };
    result.variance = how.inner(how.sum(count, term) / size);
  }
  return result;
}

double inverse_deviation(const Arithmetic& how, double variance, double epsilon) {
  return how.function(1 / std::sqrt(how.inner(variance + epsilon)));
}

void layer_norm(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers &x = call.in[0]->v, &gamma = call.in[1]->v, &beta = call.in[2]->v;
  const auto width = static_cast<int64_t>(gamma.size());
  const double epsilon = call.twist.epsilon.value_or(call.scalar(5));
  for (size_t row = 0; row < call.out[1].v.size(); ++row) {
    const size_t from = row * gamma.size();
    const Moments of = moments(how, width, [&](int64_t i) { return x[from + static_cast<size_t>(i)]; });
    const double scale = inverse_deviation(how, of.variance, epsilon);
    for (size_t i = 0; i < gamma.size(); ++i)
      call.out[0].v[from + i] = how.inner(how.inner(how.inner(x[from + i] - of.mean) * scale) * gamma[i]) + beta[i];
    call.out[1].v[row] = of.mean;
    call.out[2].v[row] = of.variance;
  }
}

// dx = rstd (g - mean(g) - n mean(g n)), g = dy gamma, n the normalised x. `at(k)`: the place of the k-th of the group.
template <class At, class Gamma>
void input_gradient(const Arithmetic& how, const Numbers& x, const Numbers& dy, const Moments& of, double epsilon,
                    int64_t count, const At& at, const Gamma& gamma, Numbers& dx) {
  const double scale = inverse_deviation(how, of.variance, epsilon);
  const auto g = [&](int64_t i) { return how.inner(dy[at(i)] * gamma(i)); };
  const auto n = [&](int64_t i) { return how.inner(how.inner(x[at(i)] - of.mean) * scale); };
  const auto size = static_cast<double>(count);
  const double mean_g = how.inner(how.sum(count, g) / size);
  const double mean_gn = how.inner(how.sum(count, [&](int64_t i) { return how.inner(g(i) * n(i)); }) / size);
  for (int64_t i = 0; i < count; ++i)
    dx[at(i)] = how.inner(how.inner(g(i) - mean_g) - how.inner(n(i) * mean_gn)) * scale;
}

void layer_norm_gradient(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers &x = call.in[0]->v, &dy = call.in[1]->v, &gamma = call.in[4]->v;
  const double epsilon = call.twist.epsilon.value_or(call.node->epsilon);
  const size_t width = gamma.size(), rows = x.size() / width;
  const auto moments_of = [&](size_t row) { return Moments{call.in[3]->v[row], call.in[2]->v[row]}; };
  for (size_t row = 0; row < rows; ++row) {
    const auto at = [&](int64_t i) { return row * width + static_cast<size_t>(i); };
    input_gradient(
        how, x, dy, moments_of(row), epsilon, static_cast<int64_t>(width), at,
        [&](int64_t i) { return gamma[static_cast<size_t>(i)]; }, call.out[0].v);
  }
  const auto summed = static_cast<int64_t>(call.twist.part ? rows - std::max<size_t>(1, rows / 8) : rows);
  for (size_t i = 0; i < width; ++i) {
    call.out[1].v[i] = how.sum(summed, [&](int64_t row) {
      const Moments of = moments_of(static_cast<size_t>(row));
      const size_t place = static_cast<size_t>(row) * width + i;
      return how.inner(dy[place] *
                       how.inner(how.inner(x[place] - of.mean) * inverse_deviation(how, of.variance, epsilon)));
    });
    call.out[2].v[i] = how.sum(summed, [&](int64_t row) { return dy[static_cast<size_t>(row) * width + i]; });
  }
}

// The k-th element of a channel of (batch, channels, height, width).
struct Channel {
  size_t channels, inner, channel;
  size_t operator()(int64_t k) const {
    const auto place = static_cast<size_t>(k);
    return (place / inner * channels + channel) * inner + place % inner;
  }
};

void batch_norm(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers& x = call.in[0]->v;
  const size_t channels = call.in[1]->v.size();
  const size_t count = x.size() / channels, inner = count / static_cast<size_t>(call.in[0]->shape[0]);
  const double epsilon = call.twist.epsilon.value_or(call.scalar(6)), share = call.scalar(7);
  call.updated.assign(2, Tensor{{static_cast<int64_t>(channels)}, Numbers(channels)});
  for (size_t channel = 0; channel < channels; ++channel) {
    const Channel at{channels, inner, channel};
    const Moments of = moments(how, static_cast<int64_t>(count), [&](int64_t k) { return x[at(k)]; });
    const double scale = inverse_deviation(how, of.variance, epsilon);
    for (int64_t k = 0; k < static_cast<int64_t>(count); ++k)
      call.out[0].v[at(k)] =
          how.inner(how.inner(how.inner(x[at(k)] - of.mean) * scale) * call.in[1]->v[channel]) + call.in[2]->v[channel];
    call.out[3].v[channel] = of.mean;
    call.out[4].v[channel] = of.variance;
    const double unbiased = of.variance * static_cast<double>(count) / static_cast<double>(count - 1);
    call.updated[0].v[channel] = (1 - share) * call.in[3]->v[channel] + share * of.mean;
    call.updated[1].v[channel] = (1 - share) * call.in[4]->v[channel] + share * unbiased;
  }
}

void batch_norm_gradient(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers &dy = call.in[0]->v, &x = call.in[1]->v, &gamma = call.in[2]->v;
  const size_t channels = gamma.size(), count = x.size() / channels;
  const size_t inner = count / static_cast<size_t>(call.in[0]->shape[0]);
  const double epsilon = call.twist.epsilon.value_or(call.scalar(7));
  const auto summed = static_cast<int64_t>(call.twist.part ? count - std::max<size_t>(1, count / 8) : count);
  for (size_t channel = 0; channel < channels; ++channel) {
    const Channel at{channels, inner, channel};
    const Moments of{call.in[3]->v[channel], call.in[4]->v[channel]};
    input_gradient(
        how, x, dy, of, epsilon, static_cast<int64_t>(count), at, [&](int64_t) { return gamma[channel]; },
        call.out[0].v);
    const double scale = inverse_deviation(how, of.variance, epsilon);
    call.out[1].v[channel] = how.sum(
        summed, [&](int64_t k) { return how.inner(dy[at(k)] * how.inner(how.inner(x[at(k)] - of.mean) * scale)); });
    call.out[2].v[channel] = how.sum(summed, [&](int64_t k) { return dy[at(k)]; });
  }
}

// exp(x - max) / sum along an axis: `count` elements from `from`, `stride` apart. Returns log(sum) + max.
double normalised(const Arithmetic& how, const Numbers& x, Numbers& out, size_t from, size_t stride, int64_t count) {
  const auto at = [&](int64_t i) { return from + static_cast<size_t>(i) * stride; };
  double most = x[from];
  for (int64_t i = 1; i < count; ++i) most = std::fmax(most, x[at(i)]);
  for (int64_t i = 0; i < count; ++i) out[at(i)] = how.exp(how.inner(x[at(i)] - most));
  const double sum = how.sum(count, [&](int64_t i) { return out[at(i)]; });
  for (int64_t i = 0; i < count; ++i) out[at(i)] = how.inner(out[at(i)] / sum);
  return how.inner(how.function(std::log(sum)) + most);
}

void softmax(KernelCall& call) {
  const Shape& shape = call.in[0]->shape;
  const auto rank = static_cast<int>(shape.size());
  const int axis = call.twist.axis.value_or(static_cast<int>(call.scalar(1)));
  const auto place = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  size_t stride = 1;
  for (size_t i = place + 1; i < shape.size(); ++i) stride *= static_cast<size_t>(shape[i]);
  const auto count = static_cast<size_t>(shape[place]);
  for (size_t group = 0; group < call.in[0]->v.size() / count; ++group)
    normalised(*call.how, call.in[0]->v, call.out[0].v, group / stride * stride * count + group % stride, stride,
               shape[place]);
}

void cross_entropy(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers &x = call.in[0]->v, &labels = call.in[1]->v;
  const int64_t classes = call.in[0]->shape[1];
  Numbers& gradient = call.out[1].v;
  for (size_t row = 0; row < call.out[0].v.size(); ++row) {
    const size_t from = row * static_cast<size_t>(classes);
    const double log_sum = normalised(how, x, gradient, from, 1, classes);
    call.out[0].v[row] = how.sum(classes, [&](int64_t i) {
      const size_t place = from + static_cast<size_t>(i);
      return how.inner(labels[place] * how.inner(log_sum - x[place]));
    });
    for (size_t i = from; i < from + static_cast<size_t>(classes); ++i) gradient[i] -= labels[i];
  }
}

}  // namespace

bool compute_norms(KernelCall& call) {
  const std::string& type = call.node->type;
  if (type == "LayerNorm") {
    layer_norm(call);
  } else if (type == "LayerNormGrad") {
    layer_norm_gradient(call);
  } else if (type == "BatchNorm") {
    batch_norm(call);
  } else if (type == "BatchNormGrad") {
    batch_norm_gradient(call);
  } else if (type == "Softmax") {
    softmax(call);
  } else if (type == "SoftmaxCrossEntropyWithLogits") {
    cross_entropy(call);
  } else {
    return false;
  }
  return true;
}

}  // namespace msdump::noisy
