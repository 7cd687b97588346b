#include <algorithm>
#include <array>
#include <cmath>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// Before 2.1 the epsilon is not written anywhere: usual ones are tried.
constexpr double kUsualEpsilons[] = {1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3};

// x as groups of elements that share a mean: element i belongs to group group(i), and to weight(i) of gamma and beta.
struct Groups {
  int64_t outer = 1, count = 1, inner = 1;  // group = i / inner % count if they interleave (channels), else i / inner
  int64_t groups = 1, length = 1;
  bool interleaved = false;

  [[nodiscard]] size_t group(size_t i) const {
    const auto run = static_cast<int64_t>(i) / inner;
    return static_cast<size_t>(interleaved ? run % count : run);
  }
  static Groups rows(int64_t size, int64_t length) {
    return {.inner = std::max<int64_t>(length, 1), .groups = length == 0 ? 0 : size / length, .length = length};
  }
  // Channels: axis 1 of x.
  static Groups channels(const Shape& shape) {
    const AxisView view = view_of_axis(shape, 1);
    return {.outer = view.outer,
            .count = view.length,
            .inner = view.inner,
            .groups = view.length,
            .length = view.outer * view.inner,
            .interleaved = true};
  }
};

struct Moments {
  std::vector<double> mean, variance, mean_abs, square;  // by group: of x, (x - mean)^2, |x|, x^2
};

Moments moments_of(const Array& x, const Groups& groups) {
  const auto count = static_cast<size_t>(groups.groups);
  Moments m{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
            std::vector<double>(count)};
  const auto length = static_cast<double>(groups.length);
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t group = groups.group(i);
    m.mean[group] += x.values[i] / length;
    m.mean_abs[group] += std::fabs(x.values[i]) / length;
    m.square[group] += x.values[i] * x.values[i] / length;
  }
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t group = groups.group(i);
    const double distance = x.values[i] - m.mean[group];
    m.variance[group] += distance * distance / length;
  }
  return m;
}

// The value of gamma or beta for element i; `otherwise` if there is none.
struct Weight {
  const Array* array = nullptr;
  size_t inner = 1;
  double otherwise = 1;

  [[nodiscard]] double at(size_t i) const {
    return array == nullptr || array->values.empty() ? otherwise : array->values[i / inner % array->values.size()];
  }
};

// (x - mean) / sqrt(variance + eps) * gamma + beta. The error of the variance by E[x^2] - E[x]^2 enters the terms.
Answer normalise(const Array& x, const Groups& groups, const Moments& m, double epsilon, const Weight& gamma,
                 const Weight& beta) {
  Answer answer{make_array(x.shape), std::vector<double>(x.values.size()), static_cast<double>(groups.length), {}};
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t group = groups.group(i);
    const double r = 1 / std::sqrt(m.variance[group] + epsilon), h = (x.values[i] - m.mean[group]) * r;
    const double g = gamma.at(i), b = beta.at(i);
    answer.y.values[i] = h * g + b;
    // The mean is a sum: it is off by as much as its terms are, however small it is.
    const double centre = std::max(std::fabs(m.mean[group]), m.mean_abs.empty() ? 0 : m.mean_abs[group]);
    answer.terms[i] = (std::fabs(x.values[i]) + centre) * r * std::fabs(g) +
                      std::fabs(h * g) * (1 + m.square[group] * r * r) + std::fabs(b);
  }
  return answer;
}

Array by_group(std::vector<double> values) {
  Array array;
  array.shape = {static_cast<int64_t>(values.size())};
  array.values = std::move(values);
  return array;
}

// The mean, and the variance or the reciprocal of the deviation: versions save either.
void add_moments(Outputs& outputs, const Moments& m, double epsilon, double length) {
  add_output(outputs, "saved_mean", by_group(m.mean), m.mean_abs, length);
  std::vector<double> r(m.variance.size()), terms(m.variance.size()), r_terms(m.variance.size());
  for (size_t i = 0; i < r.size(); ++i) {
    r[i] = 1 / std::sqrt(m.variance[i] + epsilon);
    terms[i] = m.square[i] + m.mean[i] * m.mean[i];
    r_terms[i] = r[i] * (1 + m.square[i] * r[i] * r[i]);
  }
  Output variance{"saved_variance", {}};
  variance.answers.push_back({by_group(m.variance), std::move(terms), length, {}});
  variance.answers.push_back({by_group(std::move(r)), std::move(r_terms), length, "rstd"});
  outputs.push_back(std::move(variance));
}

Maybe<size_t> layer_norm_axes(const Call& call) {
  if (const auto shape = call.integers_if("normalized_shape")) return shape->size();
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const size_t begin, fitted(axis_from_front(call.integer_or("begin_norm_axis", -1), x->rank())));
  return x->rank() - begin;
}

Maybe<Outputs> layer_norm(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));
  MSDUMP_TRY(const Tensor beta, call.tensor_if("beta"));
  std::vector<double> epsilons(std::begin(kUsualEpsilons), std::end(kUsualEpsilons));
  if (!call.fitted || call.has("epsilon")) {
    MSDUMP_TRY(const double epsilon, call.number("epsilon"));
    epsilons = {epsilon};
  }
  int64_t length = 1;
  if (const auto shape = call.integers_if("normalized_shape")) {
    length = size_of(*shape);
  } else {
    MSDUMP_TRY(const size_t begin, fitted(axis_from_front(call.integer_or("begin_norm_axis", -1), x->rank())));
    length = size_of(Shape(x->shape.begin() + static_cast<std::ptrdiff_t>(begin), x->shape.end()));
  }
  if (length <= 0 || x->size() % length != 0) return unjudged(Reason::kShape);
  const Groups groups = Groups::rows(x->size(), length);
  const Moments m = moments_of(*x, groups);
  Outputs outputs(1);
  outputs[0].name = "y";
  for (const double epsilon : epsilons)
    outputs[0].answers.push_back(normalise(*x, groups, m, epsilon, {gamma.get(), 1, 1}, {beta.get(), 1, 0}));
  add_moments(outputs, m, epsilons.front(), static_cast<double>(length));
  return outputs;
}

// dx = r (d - mean(d) - h mean(d h)), with d = dy gamma and h = (x - mean) r; dgamma = sum dy h; dbeta = sum dy.
// `fixed`: mean and r do not depend on x.
Outputs norm_gradients(const Array& x, const Array& dy, const Groups& groups, const std::vector<double>& mean,
                       const std::vector<double>& r, const Weight& gamma, size_t weights, bool fixed) {
  const auto count = static_cast<size_t>(groups.groups);
  const auto length = static_cast<double>(groups.length);
  std::vector<double> d_mean(count), d_size(count), dh_mean(count), dh_size(count), h_mean(count);
  Array dgamma = make_array({static_cast<int64_t>(weights)}), dbeta = dgamma, dgamma_size = dgamma, dbeta_size = dgamma;
  const auto h_of = [&](size_t i, size_t g) { return (x.values[i] - mean[g]) * r[g]; };
  std::vector<double> centre(count);  // what the mean may be off by, as in normalise
  for (size_t i = 0; i < x.values.size(); ++i) centre[groups.group(i)] += std::fabs(x.values[i]) / length;
  const auto h_size = [&](size_t i, size_t g) {
    return (std::fabs(x.values[i]) + std::max(centre[g], std::fabs(mean[g]))) * std::fabs(r[g]);
  };
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t g = groups.group(i), weight = i / gamma.inner % weights;
    const double d = dy.values[i] * gamma.at(i), h = h_of(i, g), size = h_size(i, g);
    d_mean[g] += d / length;
    d_size[g] += std::fabs(d) / length;
    dh_mean[g] += d * h / length;
    dh_size[g] += std::fabs(d) * size / length;
    h_mean[g] += h / length;
    dgamma.values[weight] += dy.values[i] * h;
    dgamma_size.values[weight] += std::fabs(dy.values[i]) * size;
    dbeta.values[weight] += dy.values[i];
    dbeta_size.values[weight] += std::fabs(dy.values[i]);
  }
  Array dx = make_array(x.shape), centred = dx;
  std::vector<double> terms(x.values.size());
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t g = groups.group(i);
    const double d = dy.values[i] * gamma.at(i);
    // A saved mean of 16 bits is not the mean; some kernels sum what is left of x - mean.
    centred.values[i] = r[g] * (d - d_mean[g] - (h_of(i, g) - h_mean[g]) * dh_mean[g]);
    dx.values[i] = fixed ? r[g] * d : r[g] * (d - d_mean[g] - h_of(i, g) * dh_mean[g]);
    terms[i] = std::fabs(r[g]) * (fixed ? std::fabs(d) : std::fabs(d) + d_size[g] + h_size(i, g) * dh_size[g]);
  }
  Outputs outputs;
  const double summed = weights == 0 ? 0 : static_cast<double>(x.size()) / static_cast<double>(weights);
  add_output(outputs, "dx", std::move(dx), terms, length);
  if (!fixed) outputs.back().answers.push_back({std::move(centred), std::move(terms), length, "centred"});
  add_output(outputs, "dgamma", std::move(dgamma), std::move(dgamma_size.values), summed);
  add_output(outputs, "dbeta", std::move(dbeta), std::move(dbeta_size.values), summed);
  return outputs;
}

std::vector<double> epsilons_of(const Call& call) {
  if (call.has("epsilon")) return {call.number_or("epsilon", 1e-5)};
  return {std::begin(kUsualEpsilons), std::end(kUsualEpsilons)};
}

// Answers for each reading of `variance`: variance with this epsilon, or the reciprocal of the deviation.
Outputs gradients_of_saved(const Call& call, const Array& x, const Array& dy, const Groups& groups, const Array& mean,
                           const Array& variance, const Weight& gamma, size_t weights, bool fixed) {
  Outputs all;
  const auto add_answers = [&](const std::vector<double>& r, std::string_view variant) {
    Outputs outputs = norm_gradients(x, dy, groups, mean.values, r, gamma, weights, fixed);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (all.size() <= i) all.push_back({outputs[i].name, {}});
      for (Answer& answer : outputs[i].answers) {
        if (answer.variant.empty()) answer.variant = variant;
        all[i].answers.push_back(std::move(answer));
      }
    }
  };
  for (const double epsilon : epsilons_of(call)) {
    std::vector<double> r = variance.values;
    for (double& value : r) value = 1 / std::sqrt(value + epsilon);
    add_answers(r, call.has("epsilon") ? "" : "epsilon fitted");
  }
  add_answers(variance.values, "rstd");
  return all;
}

Maybe<Outputs> layer_norm_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor variance, call.tensor("variance"));
  MSDUMP_TRY(const Tensor mean, call.tensor("mean"));
  MSDUMP_TRY(const Tensor gamma, call.tensor("gamma"));
  if (gamma->size() == 0 || mean->size() == 0 || x->size() % mean->size() != 0 || mean->size() != variance->size() ||
      dy->size() != x->size())
    return unjudged(Reason::kShape);
  const Groups groups = Groups::rows(x->size(), x->size() / mean->size());
  return gradients_of_saved(call, *x, *dy, groups, *mean, *variance, {gamma.get(), 1, 1}, gamma->values.size(), false);
}

Maybe<Outputs> batch_norm(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));
  MSDUMP_TRY(const Tensor beta, call.tensor_if("beta"));
  MSDUMP_TRY(const double epsilon, call.number("epsilon"));
  MSDUMP_TRY(const bool training, call.flag("is_training"));
  if (x->rank() < 2) return unjudged(Reason::kShape);
  if (call.text("format").find("nhwc") != std::string::npos) return unjudged(Reason::kUnknownArgument, "format");
  const Groups groups = Groups::channels(x->shape);
  const auto inner = static_cast<size_t>(std::max<int64_t>(groups.inner, 1));
  Outputs outputs(1);
  outputs[0].name = "y";
  Moments m;
  if (training) {
    m = moments_of(*x, groups);
  } else {
    // Not updated, so that the file has them whatever it is taken for.
    MSDUMP_TRY(const Tensor mean, call.tensor(call.has("new_mean") ? "new_mean" : "mean"));
    MSDUMP_TRY(const Tensor variance, call.tensor(call.has("new_variance") ? "new_variance" : "variance"));
    if (mean->size() != groups.groups || variance->size() != groups.groups) return unjudged(Reason::kShape);
    m.mean = mean->values;
    m.variance = variance->values;
    m.square.assign(m.mean.size(), 0);
    m.mean_abs = m.square;
  }
  outputs[0].answers.push_back(normalise(*x, groups, m, epsilon, {gamma.get(), inner, 1}, {beta.get(), inner, 0}));
  if (training) add_moments(outputs, m, epsilon, static_cast<double>(groups.length));
  return outputs;
}

Maybe<Outputs> batch_norm_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));  // a device's part of it computes no dx
  MSDUMP_TRY(const Tensor mean, call.tensor("mean"));
  MSDUMP_TRY(const Tensor variance, call.tensor("variance"));
  if (x->rank() < 2 || dy->size() != x->size()) return unjudged(Reason::kShape);
  const Groups groups = Groups::channels(x->shape);
  if (mean->size() != groups.groups || variance->size() != groups.groups || (gamma && gamma->size() != groups.groups))
    return unjudged(Reason::kShape);
  const auto inner = static_cast<size_t>(std::max<int64_t>(groups.inner, 1));
  return gradients_of_saved(call, *x, *dy, groups, *mean, *variance, {gamma.get(), inner, 1}, mean->values.size(),
                            !call.flag_or("is_training", true));
}

// The parts of a device's batch normalisation: sum x and sum x^2 of each channel.
Maybe<Outputs> bn_reduce(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  if (x->rank() < 2) return unjudged(Reason::kShape);
  const Groups groups = Groups::channels(x->shape);
  Moments m = moments_of(*x, groups);
  const auto length = static_cast<double>(groups.length);
  for (auto* const sums : {&m.mean, &m.mean_abs, &m.square}) {
    for (double& sum : *sums) sum *= length;
  }
  Outputs outputs;
  add_output(outputs, "sum", by_group(std::move(m.mean)), std::move(m.mean_abs), length);
  add_output(outputs, "square_sum", by_group(std::move(m.square)), {}, length);
  return outputs;
}

// x normalised by its sums, and the mean and variance that these lead to.
Maybe<Outputs> bn_update(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor sum, call.tensor("sum"));
  MSDUMP_TRY(const Tensor square_sum, call.tensor("square_sum"));
  MSDUMP_TRY(const Tensor gamma, call.tensor("gamma"));
  MSDUMP_TRY(const Tensor beta, call.tensor("beta"));
  if (x->rank() < 2) return unjudged(Reason::kShape);
  const Groups groups = Groups::channels(x->shape);
  if (sum->size() != groups.groups || square_sum->size() != groups.groups || groups.length == 0)
    return unjudged(Reason::kShape);
  Moments m{sum->values, square_sum->values, {}, square_sum->values};
  std::vector<double> terms(m.mean.size());
  for (size_t i = 0; i < m.mean.size(); ++i) {
    m.mean[i] /= static_cast<double>(groups.length);
    m.square[i] /= static_cast<double>(groups.length);
    m.variance[i] = std::max(m.square[i] - m.mean[i] * m.mean[i], 0.0);
    terms[i] = m.square[i] + m.mean[i] * m.mean[i];
  }
  const auto inner = static_cast<size_t>(std::max<int64_t>(groups.inner, 1));
  Outputs outputs(1);
  outputs[0].name = "y";
  for (const double epsilon : epsilons_of(call)) {
    Answer answer = normalise(*x, groups, m, epsilon, {gamma.get(), inner, 1}, {beta.get(), inner, 0});
    // A compiler may fuse the activation into it without another type.
    Answer activated = answer;
    activated.y = map(answer.y, [](double y) { return std::max(y, 0.0); });
    activated.variant = "relu";
    outputs[0].answers.push_back(std::move(answer));
    outputs[0].answers.push_back(std::move(activated));
  }
  add_output(outputs, "saved_mean", by_group(m.mean));
  add_output(outputs, "saved_variance", by_group(m.variance), std::move(terms));
  return outputs;
}

// gamma r (dy - dbeta / n - h dgamma / n), with h = (x - mean) r.
Maybe<Outputs> bn_reduce_grad(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  std::array<Tensor, 5> of_channel;
  constexpr std::array<std::string_view, 5> kNames = {"dgamma", "dbeta", "gamma", "mean", "variance"};
  if (x->rank() < 2 || dy->size() != x->size()) return unjudged(Reason::kShape);
  const Groups groups = Groups::channels(x->shape);
  for (size_t i = 0; i < kNames.size(); ++i) {
    MSDUMP_TRY(of_channel[i], call.tensor(kNames[i]));
    if (of_channel[i]->size() != groups.groups) return unjudged(Reason::kShape, kNames[i]);
  }
  const auto& [dgamma, dbeta, gamma, mean, variance] = of_channel;
  const auto length = static_cast<double>(groups.length);
  Outputs outputs(1);
  outputs[0].name = "dx";
  for (const double epsilon : epsilons_of(call)) {
    Answer answer{make_array(x->shape), std::vector<double>(x->values.size()), 0, {}};
    for (size_t i = 0; i < x->values.size(); ++i) {
      const size_t c = groups.group(i);
      const double r = 1 / std::sqrt(variance->values[c] + epsilon), scale = gamma->values[c] * r;
      const double share = r * dgamma->values[c] / length, shift = dbeta->values[c] / length;
      answer.y.values[i] = scale * (dy->values[i] - shift - (x->values[i] - mean->values[c]) * share);
      answer.terms[i] =
          std::fabs(scale) * (std::fabs(dy->values[i]) + std::fabs(shift) +
                              2 * (std::fabs(x->values[i]) + std::fabs(mean->values[c])) * std::fabs(share));
    }
    outputs[0].answers.push_back(std::move(answer));
  }
  return outputs;
}

Maybe<size_t> rms_norm_axes(const Call& call) {
  if (const auto shape = call.integers_if("normalized_shape")) return shape->size();
  MSDUMP_TRY(const Tensor gamma, call.tensor("gamma"));
  return gamma->rank();
}

// x / sqrt(mean(x^2) + eps) * gamma over the last axes, as many as gamma has.
Maybe<Outputs> rms_norm(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));
  MSDUMP_TRY(const double epsilon, call.number("epsilon"));
  const auto shape = call.integers_if("normalized_shape");
  const int64_t length = shape ? size_of(*shape) : gamma ? gamma->size() : 0;
  if (length <= 0 || x->size() % length != 0) return unjudged(Reason::kShape);
  const Groups groups = Groups::rows(x->size(), length);
  Moments m = moments_of(*x, groups);
  m.variance = m.square;
  std::fill(m.mean.begin(), m.mean.end(), 0.0);
  std::vector<double> r(m.square.size());
  for (size_t i = 0; i < r.size(); ++i) r[i] = 1 / std::sqrt(m.square[i] + epsilon);
  Outputs outputs(1);
  outputs[0].name = "y";
  outputs[0].answers.push_back(normalise(*x, groups, m, epsilon, {gamma.get(), 1, 1}, {nullptr, 1, 0}));
  add_output(outputs, "rstd", by_group(std::move(r)), {}, static_cast<double>(length));
  return outputs;
}

Maybe<Outputs> group_norm(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor gamma, call.tensor_if("gamma"));
  MSDUMP_TRY(const Tensor beta, call.tensor_if("beta"));
  MSDUMP_TRY(const double epsilon, call.number("epsilon"));
  MSDUMP_TRY(const int64_t count, call.integer("num_groups"));
  if (x->rank() < 2 || count < 1 || x->shape[1] % count != 0 || x->size() == 0) return unjudged(Reason::kShape);
  const AxisView view = view_of_axis(x->shape, 1);
  const Groups groups = Groups::rows(x->size(), view.length / count * view.inner);
  const Moments m = moments_of(*x, groups);
  const auto inner = static_cast<size_t>(std::max<int64_t>(view.inner, 1));
  Outputs outputs(1);
  outputs[0].name = "y";
  outputs[0].answers.push_back(normalise(*x, groups, m, epsilon, {gamma.get(), inner, 1}, {beta.get(), inner, 0}));
  add_moments(outputs, m, epsilon, static_cast<double>(groups.length));
  return outputs;
}

Maybe<Outputs> group_norm_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor variance, call.tensor("variance"));
  MSDUMP_TRY(const Tensor mean, call.tensor("mean"));
  MSDUMP_TRY(const Tensor gamma, call.tensor("gamma"));
  if (x->rank() < 2 || gamma->size() == 0 || gamma->size() != x->shape[1] || mean->size() == 0 ||
      x->size() % mean->size() != 0 || mean->size() != variance->size() || dy->size() != x->size())
    return unjudged(Reason::kShape);
  const Groups groups = Groups::rows(x->size(), x->size() / mean->size());
  const auto inner = static_cast<size_t>(std::max<int64_t>(view_of_axis(x->shape, 1).inner, 1));
  return gradients_of_saved(call, *x, *dy, groups, *mean, *variance, {gamma.get(), inner, 1}, gamma->values.size(),
                            false);
}

constexpr Kernel kNormalisationKernels[] = {
    {"layer_norm", Arithmetic::kNormalisation, 4, layer_norm, layer_norm_axes},
    {"layer_norm_grad", Arithmetic::kNormalisation, 4, layer_norm_grad},
    {"batch_norm", Arithmetic::kNormalisation, 4, batch_norm},
    {"batch_norm_grad", Arithmetic::kNormalisation, 4, batch_norm_grad},
    {"bn_reduce", Arithmetic::kReduction, 4, bn_reduce},
    {"bn_update", Arithmetic::kNormalisation, 4, bn_update},
    {"bn_reduce_grad", Arithmetic::kNormalisation, 4, bn_reduce_grad},
    {"rms_norm", Arithmetic::kNormalisation, 4, rms_norm, rms_norm_axes},
    {"group_norm", Arithmetic::kNormalisation, 4, group_norm},
    {"group_norm_grad", Arithmetic::kNormalisation, 4, group_norm_grad},
};

}  // namespace

std::span<const Kernel> normalisation_kernels() { return kNormalisationKernels; }

}  // namespace msdump::recompute
