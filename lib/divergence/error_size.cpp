#include "divergence/error_size.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"

namespace msdump {
namespace {

constexpr double kCancelled = 0.1;  // a smaller share of the norm of the inputs is what cancellation leaves

double elements_of(const TensorDiff& diff) {
  if (!diff.by_statistics) return static_cast<double>(diff.metrics.count);
  return static_cast<double>(element_count(diff.shape).value_or(0));
}

double norm_of(const TensorDiff& diff) {
  const double rms =
      diff.by_statistics ? diff.scale : std::hypot(diff.metrics.mean_b.value_or(0), diff.metrics.std_b.value_or(0));
  return rms * std::sqrt(elements_of(diff));
}

double error_norm_of(const TensorDiff& diff) {
  if (!diff.by_statistics) return diff.metrics.l2_distance.value_or(0);
  return diff.relative_error.value_or(0) * norm_of(diff);
}

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  const std::string lower = to_lower(text);
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

}  // namespace

void ErrorSize::raise(const ErrorSize& other) {
  l2 = std::max(l2, other.l2);
  max = std::max(max, other.max);
}

ErrorSize error_size(const TensorDiff& diff) {
  const kernels::PairMetrics& metrics = diff.metrics;
  if (diff.verdict == Verdict::kSame) return {};
  if (diff.by_statistics) {
    const double error = diff.relative_error.value_or(0);
    return {error, error};
  }
  if (metrics.count == 0) return {};
  const double l2 = metrics.l2_distance.value_or(0) / std::sqrt(static_cast<double>(metrics.count));
  const double largest = metrics.max_abs.value_or(0);
  if (diff.scale == 0) return largest == 0 ? ErrorSize() : ErrorSize{INFINITY, INFINITY};
  return {l2 / diff.scale, largest / diff.scale};
}

double rounding_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128: return 1e-12;
    case DType::kFloat32:
    case DType::kComplex64: return 2e-5;
    case DType::kFloat16:
    case DType::kComplex32: return 4e-3;
    case DType::kBfloat16: return 3e-2;
    default: break;
  }
  return name_of(dtype).find("float") != std::string_view::npos ? 0.25 : 0;
}

bool may_cancel(std::string_view op_type) {
  static constexpr std::array<std::string_view, 8> kParts = {"sum",   "add",         "sub",    "biasgrad",
                                                             "dense", "biasaddgrad", "linear", "normgrad"};
  return contains_any(op_type, kParts);
}

bool may_jump(std::string_view op_type) {
  static constexpr std::array<std::string_view, 20> kParts = {
      "argm",  "topk",  "sort",   "less",  "greater", "equal", "sign", "round",   "floor",   "ceil",
      "relug", "poolg", "select", "where", "unique",  "nms",   "adam", "adagrad", "rmsprop", "lamb"};
  return contains_any(op_type, kParts);
}

bool is_cancellation_noise(const CancellationCase& one) {
  const double output = elements_of(*one.output);
  if (output == 0) return false;
  double errors = 0, norms = 0, elements = 0;
  for (const TensorDiff* const input : one.inputs) {
    errors += error_norm_of(*input);
    norms = std::max(norms, norm_of(*input));
    elements = std::max(elements, elements_of(*input));
  }
  // The error of a sum of k terms is at most sqrt(k) times the norm of their errors.
  const double gain = std::sqrt(std::max(1.0, elements / output));
  const double error = error_norm_of(*one.output);
  if (error <= gain * errors) return true;
  const bool cancelled = norms > 0 && norm_of(*one.output) <= norms * kCancelled;
  return cancelled && error <= gain * (errors + rounding_of(one.output->dtype_b) * norms);
}

bool explains(const ErrorSize& inputs, const ErrorSize& outputs) {
  return outputs.l2 <= kOrdinaryGrowth * inputs.l2 && outputs.max <= kOrdinaryGrowth * inputs.max;
}

}  // namespace msdump
