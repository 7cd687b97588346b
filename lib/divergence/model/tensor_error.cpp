#include "divergence/model/tensor_error.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "compare/pair/tolerance.h"
#include "divergence/model/constants.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

bool is_discrete(DType dtype) {
  const DTypeKind kind = kind_of(dtype);
  return kind == DTypeKind::kBool || kind == DTypeKind::kInteger;
}

// The candidate's norm over the reference's; 0 if one is unknown or zero.
double ratio_of_norms(const TensorDiff& diff) {
  const kernels::PairMetrics metrics = diff.metrics;
  if (!metrics.std_a || !metrics.std_b || !metrics.mean_a || !metrics.mean_b) {
    return metrics.max_a && metrics.max_b && *metrics.max_b != 0 ? std::abs(*metrics.max_a / *metrics.max_b) : 0;
  }
  const double a = hypotenuse(*metrics.mean_a, *metrics.std_a), b = hypotenuse(*metrics.mean_b, *metrics.std_b);
  return b > 0 ? a / b : 0;
}

bool is_about(double ratio, double factor) { return ratio > factor / 2 && ratio < factor * 2; }

// |a / factor - b| over |b|; from elements by the law of cosines.
double scaled_error(const TensorDiff& diff, double factor) {
  const kernels::PairMetrics metrics = diff.metrics;
  if (!diff.by_statistics && metrics.cosine) {
    const double ratio = ratio_of_norms(diff) / factor;
    return std::sqrt(std::max(0.0, ratio * ratio - 2 * ratio * *metrics.cosine + 1));
  }
  double largest = 0;
  const auto see = [&](const std::optional<double>& a, const std::optional<double>& b) {
    if (a && b) largest = std::max(largest, std::abs(*a / factor - *b));
  };
  see(metrics.max_a, metrics.max_b);
  see(metrics.min_a, metrics.min_b);
  see(metrics.mean_a, metrics.mean_b);
  see(metrics.std_a, metrics.std_b);
  return diff.scale > 0 ? largest / diff.scale : 0;
}

std::optional<TensorError> from_statistics(const TensorDiff& diff, TensorError error) {
  error.by_statistics = true;
  error.exact = error.exact && diff.hashes->checksum_b != 0;  // other statistics may agree although the elements do not
  error.elements = static_cast<double>(element_count(diff.shape).value_or(0));
  error.rms = diff.scale;
  error.deviation = diff.scale;
  if (diff.verdict == Verdict::kSame) return error;
  if (!diff.relative_error || diff.extremes_only) return std::nullopt;
  error.relative = *diff.relative_error;
  error.least_error = diff.least_error;
  return error;
}

}  // namespace

double scale_of(const TensorDiff& diff, double factor) {
  if (factor == 1 || !has_metrics(diff.verdict) || is_discrete(diff.dtype_a) || is_discrete(diff.dtype_b)) return 1;
  const double ratio = ratio_of_norms(diff);
  return is_about(ratio, factor) ? factor : is_about(ratio, factor * factor) ? factor * factor : 1;
}

double TensorError::hidden() const {
  return by_statistics && !exact && !discrete
             ? std::min(kMostHiddenError, std::sqrt(elements) * unit_roundoff(DType::kFloat32))
             : 0;
}

double TensorError::norm() const { return rms * std::sqrt(elements); }

bool is_about_times(const TensorDiff& diff, double factor) {
  return has_metrics(diff.verdict) && is_about(ratio_of_norms(diff), factor);
}

double loss_scale(const std::vector<TensorDiff>& diffs) {
  std::map<int, size_t> exponents;
  std::vector<double> rough;  // exponents of ratios that are no powers of two
  for (const TensorDiff& diff : diffs) {
    if (!has_metrics(diff.verdict) || diff.mislabelled || is_discrete(diff.dtype_a)) continue;
    const double ratio = ratio_of_norms(diff);
    if (ratio == 0 || !std::isfinite(ratio) || is_about(ratio, 1)) continue;
    const double exponent = std::log2(ratio);
    const bool power =
        std::abs(exponent - std::round(exponent)) < kMostOffPower && std::abs(exponent) > kLeastExponent - 0.5;
    const bool alike = diff.by_statistics || diff.metrics->cosine.value_or(0) > kLeastCosine;
    if (power && alike) {
      ++exponents[static_cast<int>(std::round(exponent))];
    } else {
      rough.push_back(exponent);
    }
  }
  const auto most = std::max_element(exponents.begin(), exponents.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  if (most == exponents.end() || most->second < kLeastTensors) return 1;
  int scale = most->first;
  size_t scaled = most->second;
  size_t others = 0;
  for (const auto& [exponent, count] : exponents) others += count;
  // If the norm of all gradients is taken, there may be more squares than gradients.
  const auto half = most->first % 2 == 0 ? exponents.find(most->first / 2) : exponents.end();
  const auto twice = exponents.find(2 * most->first);
  if (half != exponents.end() && half->second >= kLeastTensors) {
    scale = half->first;
    scaled += half->second;
  } else if (twice != exponents.end()) {
    scaled += twice->second;
  }
  // A fault changes gradients by less than a scale does.
  others += static_cast<size_t>(std::count_if(rough.begin(), rough.end(), [&](double exponent) {
    return std::abs(exponent - scale) > 1 && std::abs(exponent - 2 * scale) > 1;
  }));
  return 2 * scaled > others ? std::ldexp(1, scale) : 1;
}

std::optional<TensorError> error_of(const TensorDiff& diff, double factor) {
  if (!has_metrics(diff.verdict) || diff.mislabelled) return std::nullopt;
  TensorError error;
  error.exact = diff.verdict == Verdict::kSame;
  error.discrete = is_discrete(diff.dtype_a) || is_discrete(diff.dtype_b);
  const double scale = scale_of(diff, factor);
  const bool scaled = scale != 1;
  if (diff.by_statistics) {
    auto found = from_statistics(diff, error);
    if (found && scaled) {
      found->relative = scaled_error(diff, scale);
      found->least_error = 0;
    }
    return found;
  }
  const kernels::PairMetrics metrics = diff.metrics;
  error.elements = static_cast<double>(metrics.count);
  error.rms = hypotenuse(metrics.mean_b.value_or(0), metrics.std_b.value_or(0));
  error.deviation = metrics.std_b.value_or(0);
  if (error.exact || metrics.count == 0) return error;
  if (error.discrete) {
    error.relative = static_cast<double>(metrics.count - metrics.equal) / error.elements;
    return error;
  }
  if (scaled) {
    error.relative = scaled_error(diff, scale);
    return error;
  }
  const double distance = metrics.l2_distance.value_or(0) / std::sqrt(error.elements);
  if (distance == 0) return error;
  // A reference of zeros has no scale of its own.
  error.relative = error.rms > 0 ? distance / error.rms : INFINITY;
  return error;
}

double unit_roundoff(DType dtype, double size) {
  const double usual = unit_roundoff(dtype);
  return size > 0 ? std::max(usual, smallest_step(dtype) / 2 / size) : usual;
}

}  // namespace msdump
