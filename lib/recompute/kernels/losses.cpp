// Softmax and the losses that are built on it.
#include <algorithm>
#include <cmath>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// Rows along one axis or several: softmax normalises each.
struct SoftmaxRows {
  Array most, total;  // by row, kept: the largest x, and the sum of exp(x - most)
  ReducedAxes axes;
};

std::vector<int64_t> softmax_dims(const Call& call) {
  std::vector<int64_t> dims = call.integers_if("axis").value_or(std::vector<int64_t>{-1});
  if (dims.empty()) dims = {-1};
  return dims;
}

enum class SoftmaxOf : uint8_t { kX, kY };

// The axes from the first one on that is normalised.
template <SoftmaxOf kOf>
Maybe<size_t> softmax_axes(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor(kOf == SoftmaxOf::kX ? "x" : "y"));
  size_t axes = 0;
  for (const int64_t dim : softmax_dims(call)) {
    MSDUMP_TRY(const size_t axis, fitted(axis_from_front(dim, x->rank())));
    axes = std::max(axes, x->rank() - axis);
  }
  return axes;
}

Maybe<SoftmaxRows> softmax_rows(const Call& call, const Array& x) {
  const std::vector<int64_t> dims = softmax_dims(call);
  MSDUMP_TRY(ReducedAxes axes, fitted(reduced_axes(dims, x.rank(), true)));
  Array most = reduce(x, axes, -std::numeric_limits<double>::infinity(),
                      [](double m, double v) { return std::isnan(m) || m > v ? m : v; });
  MSDUMP_TRY(const Array shifted, fitted(combine(x, most, [](double v, double m) { return std::exp(v - m); })));
  Array total = sum(shifted, axes);
  return SoftmaxRows{std::move(most), std::move(total), std::move(axes)};
}

// exp(x - most) / total, and y (2 + |x - most|), with which the error of the exponent grows.
Maybe<Answer> softmax_of(const Array& x, const SoftmaxRows& rows) {
  constexpr double kMostDistance = 100;  // exp(-100) is below what float32 resolves
  MSDUMP_TRY(const Array distance, fitted(combine(x, rows.most, [](double v, double m) { return v - m; })));
  MSDUMP_TRY(Array y, fitted(combine(distance, rows.total, [](double d, double t) { return std::exp(d) / t; })));
  Answer answer{std::move(y), std::vector<double>(x.values.size()), 0, {}};
  for (size_t i = 0; i < x.values.size(); ++i)
    answer.terms[i] = answer.y.values[i] * (2 + std::min(std::fabs(distance.values[i]), kMostDistance));
  return answer;
}

Maybe<Outputs> softmax(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const SoftmaxRows rows, softmax_rows(call, *x));
  MSDUMP_TRY(Answer answer, softmax_of(*x, rows));
  Outputs outputs;
  outputs.push_back({"y", {}});
  outputs.back().answers.push_back(std::move(answer));
  return outputs;
}

Maybe<Outputs> log_softmax(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const SoftmaxRows rows, softmax_rows(call, *x));
  MSDUMP_TRY(const Array shift,
             fitted(combine(rows.most, rows.total, [](double m, double t) { return m + std::log(t); })));
  MSDUMP_TRY(const Array size, fitted(combine(rows.most, rows.total, [](double m, double t) {
               return std::fabs(m) + std::fabs(std::log(t)) + 1;
             })));
  MSDUMP_TRY(Array y, fitted(combine(*x, shift, [](double v, double s) { return v - s; })));
  MSDUMP_TRY(Array terms, fitted(combine(*x, size, [](double v, double s) { return std::fabs(v) + s; })));
  return one_output(std::move(y), std::move(terms.values), reduced_count(*x, rows.axes));
}

// dy - exp(y) sum(dy) for the logarithm, y (dy - sum(dy y)) for softmax itself.
template <bool kLog>
Maybe<Outputs> softmax_grad(const Call& call) {
  MSDUMP_TRY(const Tensor y, call.tensor("y"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  if (dy->size() != y->size()) return unjudged(Reason::kShape);
  MSDUMP_TRY(const ReducedAxes axes, fitted(reduced_axes(softmax_dims(call), y->rank(), true)));
  const Array gradient = with_shape(*dy, y->shape);
  const auto weight = [](double out) { return kLog ? std::exp(out) : out; };
  const auto part = [](double g, double out) { return kLog ? g : g * out; };
  MSDUMP_TRY(const Array parts, fitted(combine(gradient, *y, part)));
  const Array total = sum(parts, axes), size = sum(absolute(parts), axes);
  MSDUMP_TRY(const Array spread, fitted(broadcast_to(total, y->shape)));
  MSDUMP_TRY(const Array spread_size, fitted(broadcast_to(size, y->shape)));
  Array dx = make_array(y->shape);
  std::vector<double> terms(dx.values.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    const double w = weight(y->values[i]), g = gradient.values[i];
    dx.values[i] = kLog ? g - w * spread.values[i] : w * (g - spread.values[i]);
    terms[i] = kLog ? std::fabs(g) + w * spread_size.values[i] : std::fabs(w) * (std::fabs(g) + spread_size.values[i]);
  }
  return one_output(std::move(dx), std::move(terms), reduced_count(*y, axes));
}

// How a loss of several elements becomes the result.
enum class Reduction : uint8_t { kMean, kSum, kNone };
Maybe<Reduction> reduction_of(const Call& call) {
  const std::string text = call.text("reduction");
  if (text.empty() || text == "mean" || text == "elementwise_mean" || text == "1") return Reduction::kMean;
  if (text == "sum" || text == "0") return Reduction::kSum;
  if (text == "none" || text == "2") return Reduction::kNone;
  return unjudged(Reason::kUnknownArgument, "reduction");
}

// The loss of elements, reduced; `weight` is what a mean divides by.
Outputs reduced_loss(Array loss, std::vector<double> terms, Reduction reduction, double weight) {
  if (reduction == Reduction::kNone) return one_output(std::move(loss), std::move(terms), 0);
  double total = 0, size = 0;
  for (size_t i = 0; i < loss.values.size(); ++i) {
    total += loss.values[i];
    size += terms[i];
  }
  const double divisor = reduction == Reduction::kMean ? weight : 1;
  return one_output(scalar(total / divisor), {size / divisor}, static_cast<double>(loss.values.size()));
}

// Class indices along axis 1 (or the last of two dimensions), a label for each row. Labels of ignore_index do not count.
struct Classes {
  AxisView view;
  int64_t ignored = -100;

  static Maybe<Classes> of(const Call& call, const Array& x, const Array& labels) {
    if (x.rank() == 0) return unjudged(Reason::kShape);
    Classes classes{view_of_axis(x.shape, x.rank() == 1 ? 0 : 1), call.integer_or("ignore_index", -100)};
    if (labels.size() != classes.view.outer * classes.view.inner) return unjudged(Reason::kShape);
    if (call.has("weight")) return unjudged(Reason::kUnknownArgument, "weight");
    return classes;
  }
  // -1 if it is ignored or no class.
  [[nodiscard]] int64_t label(const Array& labels, int64_t row) const {
    const double label = labels.values[static_cast<size_t>(row)];
    if (label == static_cast<double>(ignored) || !(label >= 0 && label < static_cast<double>(view.length))) return -1;
    return static_cast<int64_t>(label);
  }
  [[nodiscard]] size_t place(int64_t row, int64_t c) const {
    return static_cast<size_t>((row / view.inner * view.length + c) * view.inner + row % view.inner);
  }
  [[nodiscard]] int64_t rows() const { return view.outer * view.inner; }
  [[nodiscard]] double counted(const Array& labels) const {
    double count = 0;
    for (int64_t row = 0; row < rows(); ++row) count += label(labels, row) >= 0 ? 1 : 0;
    return count;
  }
};

Maybe<Outputs> nll_loss(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const Reduction reduction, reduction_of(call));
  MSDUMP_TRY(const Classes classes, Classes::of(call, *x, *labels));
  Array loss = make_array(labels->shape);
  for (int64_t row = 0; row < classes.rows(); ++row) {
    const int64_t label = classes.label(*labels, row);
    if (label >= 0) loss.values[static_cast<size_t>(row)] = -x->values[classes.place(row, label)];
  }
  std::vector<double> terms = absolute(loss).values;
  return reduced_loss(std::move(loss), std::move(terms), reduction, classes.counted(*labels));
}

// The logarithm of softmax along the classes, and the size of its terms.
struct LogProbabilities {
  std::vector<double> values, terms;
};
LogProbabilities log_probabilities(const Array& x, const Classes& classes) {
  LogProbabilities log{std::vector<double>(x.values.size()), std::vector<double>(x.values.size())};
  for (int64_t row = 0; row < classes.rows(); ++row) {
    double most = -std::numeric_limits<double>::infinity(), total = 0;
    for (int64_t c = 0; c < classes.view.length; ++c) most = std::max(most, x.values[classes.place(row, c)]);
    for (int64_t c = 0; c < classes.view.length; ++c) total += std::exp(x.values[classes.place(row, c)] - most);
    for (int64_t c = 0; c < classes.view.length; ++c) {
      const size_t at = classes.place(row, c);
      log.values[at] = x.values[at] - most - std::log(total);
      log.terms[at] = std::fabs(x.values[at]) + std::fabs(most) + std::fabs(std::log(total)) + 1;
    }
  }
  return log;
}

// -sum_c target log softmax(x); the target is a class, smoothed, or a probability for each class.
Maybe<Outputs> cross_entropy(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const Reduction reduction, reduction_of(call));
  const bool probabilities = labels->shape == x->shape && x->rank() > 1;
  const double smoothing = call.number_or("label_smoothing", 0);
  Array by_row = probabilities ? make_array({size_of(x->shape) / std::max<int64_t>(x->shape[1], 1)}) : *labels;
  MSDUMP_TRY(const Classes classes, Classes::of(call, *x, by_row));
  const LogProbabilities log = log_probabilities(*x, classes);
  const auto count = static_cast<double>(classes.view.length);
  Array loss = make_array(by_row.shape);
  std::vector<double> terms(loss.values.size());
  for (int64_t row = 0; row < classes.rows(); ++row) {
    const int64_t label = probabilities ? -1 : classes.label(*labels, row);
    if (!probabilities && label < 0) continue;
    double sum = 0, size = 0;
    for (int64_t c = 0; c < classes.view.length; ++c) {
      const size_t at = classes.place(row, c);
      const double own = probabilities ? labels->values[at] : c == label ? 1 : 0;
      const double target = own * (1 - smoothing) + smoothing / count;
      if (target == 0) continue;
      sum -= target * log.values[at];
      size += std::fabs(target) * (log.terms[at] + std::fabs(log.values[at]));
    }
    loss.values[static_cast<size_t>(row)] = sum;
    terms[static_cast<size_t>(row)] = size;
  }
  const double weight = probabilities ? static_cast<double>(classes.rows()) : classes.counted(*labels);
  return reduced_loss(std::move(loss), std::move(terms), reduction, weight);
}

// MindSpore's: the mean of the loss, or with is_grad its gradient.
Maybe<Outputs> sparse_cross_entropy(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const Classes classes, Classes::of(call, *x, *labels));
  MSDUMP_TRY(const bool gradient, call.flag("is_grad"));
  const LogProbabilities log = log_probabilities(*x, classes);
  const auto rows = static_cast<double>(classes.rows());
  if (!gradient) {
    Array loss = make_array({classes.rows()});
    std::vector<double> terms(loss.values.size());
    for (int64_t row = 0; row < classes.rows(); ++row) {
      const int64_t label = classes.label(*labels, row);
      if (label < 0) return unjudged(Reason::kUnknownArgument, "labels");
      loss.values[static_cast<size_t>(row)] = -log.values[classes.place(row, label)];
      terms[static_cast<size_t>(row)] = log.terms[classes.place(row, label)];
    }
    return reduced_loss(std::move(loss), std::move(terms), Reduction::kMean, rows);
  }
  Array y = make_array(x->shape);
  std::vector<double> terms(y.values.size());
  for (int64_t row = 0; row < classes.rows(); ++row) {
    const int64_t label = classes.label(*labels, row);
    for (int64_t c = 0; c < classes.view.length; ++c) {
      const size_t at = classes.place(row, c);
      const double p = std::exp(log.values[at]), hit = c == label ? 1 : 0;
      y.values[at] = (p - hit) / rows;
      terms[at] = (p * (2 + std::min(std::fabs(log.values[at]), 100.0)) + hit) / rows;
    }
  }
  return one_output(std::move(y), std::move(terms), static_cast<double>(classes.view.length));
}

// max(x, 0) - x y + log(1 + exp(-|x|)).
Maybe<Outputs> sigmoid_cross_entropy(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(Array loss, fitted(combine(*x, *labels, [](double v, double y) {
               return std::max(v, 0.0) - v * y + std::log1p(std::exp(-std::fabs(v)));
             })));
  MSDUMP_TRY(Array terms,
             fitted(combine(*x, *labels, [](double v, double y) { return std::fabs(v) * (1 + std::fabs(y)) + 1; })));
  if (!call.has("reduction")) return one_output(std::move(loss), std::move(terms.values));
  for (const std::string_view name : {"weight", "pos_weight"}) {
    MSDUMP_TRY(const Tensor weight, call.tensor_if(name));
    if (!weight) continue;
    if (std::any_of(weight->values.begin(), weight->values.end(), [](double w) { return w != 1; }))
      return unjudged(Reason::kUnknownArgument, name);
  }
  MSDUMP_TRY(const Reduction reduction, reduction_of(call));
  const auto count = static_cast<double>(loss.values.size());
  return reduced_loss(std::move(loss), std::move(terms.values), reduction, count);
}

Maybe<Outputs> sigmoid_cross_entropy_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor labels, call.tensor("labels"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  MSDUMP_TRY(const Array slope, fitted(combine(*x, *labels, [&](double v, double y) { return sigmoid(v) - y; })));
  MSDUMP_TRY(const Array size,
             fitted(combine(*x, *labels, [&](double v, double y) { return sigmoid(v) + std::fabs(y); })));
  MSDUMP_TRY(Array y, fitted(combine(slope, *dy, [](double s, double g) { return s * g; })));
  MSDUMP_TRY(Array terms, fitted(combine(size, *dy, [](double s, double g) { return s * std::fabs(g); })));
  return one_output(std::move(y), std::move(terms.values));
}

enum class Distance : uint8_t { kSquare, kAbsolute, kSmooth };
template <Distance kKind>
Maybe<Outputs> distance_loss(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Reduction reduction, reduction_of(call));
  const double beta = call.number_or("beta", 1);
  MSDUMP_TRY(Array loss, fitted(combine(*a, *b, [=](double u, double v) {
               const double d = std::fabs(u - v);
               return kKind == Distance::kSquare                  ? d * d
                      : kKind == Distance::kAbsolute || d >= beta ? d - (kKind == Distance::kSmooth ? beta / 2 : 0)
                                                                  : d * d / (2 * beta);
             })));
  MSDUMP_TRY(Array terms, fitted(combine(*a, *b, [=](double u, double v) {
               const double size = std::fabs(u) + std::fabs(v);
               return kKind == Distance::kSquare ? size * size : size + (kKind == Distance::kSmooth ? beta : 0);
             })));
  const auto count = static_cast<double>(loss.values.size());
  return reduced_loss(std::move(loss), std::move(terms.values), reduction, count);
}

constexpr Kernel kLossesKernels[] = {
    {"softmax", Arithmetic::kTranscendental, 32, softmax, softmax_axes<SoftmaxOf::kX>},
    {"log_softmax", Arithmetic::kTranscendental, 32, log_softmax, softmax_axes<SoftmaxOf::kX>},
    {"softmax_grad", Arithmetic::kTranscendental, 4, softmax_grad<false>, softmax_axes<SoftmaxOf::kY>},
    {"log_softmax_grad", Arithmetic::kTranscendental, 4, softmax_grad<true>, softmax_axes<SoftmaxOf::kY>},
    {"nll_loss", Arithmetic::kReduction, 4, nll_loss},
    {"cross_entropy", Arithmetic::kTranscendental, 32, cross_entropy},
    {"sparse_cross_entropy", Arithmetic::kTranscendental, 32, sparse_cross_entropy},
    {"sigmoid_cross_entropy", Arithmetic::kTranscendental, 32, sigmoid_cross_entropy},
    {"sigmoid_cross_entropy_grad", Arithmetic::kTranscendental, 32, sigmoid_cross_entropy_grad},
    {"mse_loss", Arithmetic::kReduction, 4, distance_loss<Distance::kSquare>},
    {"l1_loss", Arithmetic::kReduction, 4, distance_loss<Distance::kAbsolute>},
    {"smooth_l1_loss", Arithmetic::kReduction, 4, distance_loss<Distance::kSmooth>},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kLossesKernels; }

}  // namespace msdump::recompute
