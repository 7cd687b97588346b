#include "recompute/standard.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/containers.h"

namespace msdump::recompute {
namespace {

constexpr double kBeyond = std::numeric_limits<double>::infinity();

// By dtype: the tolerance and the floor of `cann`; the smallest number of the normal range and the error of smaller ones of `cann:L`.
struct StandardLimits {
  DType dtype;
  double tolerance, floor, normal, error;
};
constexpr std::array kStandardLimits = {
    StandardLimits{DType::kFloat16, 0x1p-10, 0.1, 0x1p-11, 0x1p-16},
    StandardLimits{DType::kBfloat16, 0x1p-7, 0.1, 0x1p-8, 0x1p-16},
    StandardLimits{DType::kFloat32, 0x1p-13, 0.01, 0x1p-14, 0x1p-30},
};
constexpr double kRequiredMatches = 0.99, kUlps = 32, kMostSmallErrors = 2;

// How often the errors of y may be those of r: of MARE, of MERE and RMSE.
struct LevelLimits {
  double mare, mean;
};
constexpr LevelLimits limits_of(Standard standard) {
  switch (standard) {
    case Standard::kL1: return {5, 1.5};
    case Standard::kL2: return {2, 1.2};
    default: return {10, 2};
  }
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::optional<StandardVerdict> judge_equality(const Array& y, const Array& g) {
  int64_t differ = 0;
  for (size_t i = 0; i < y.values.size(); ++i) {
    const auto expected = round_to(y.dtype, g.values[i]);
    // A double does not tell an integer beyond 2^53.
    if (!expected || (std::isnan(*expected) && !std::isnan(g.values[i]))) return std::nullopt;
    differ += is_same(y.values[i], *expected) ? 0 : 1;
  }
  StandardVerdict verdict;
  verdict.passes = differ == 0;
  if (!verdict.passes) verdict.reason = fmt::format("{} of {} elements are not equal", differ, y.values.size());
  return verdict;
}

StandardVerdict judge_open(const Array& y, const Array& g, const StandardLimits& limits) {
  int64_t matched = 0;
  double largest = 0, at = 0;
  for (size_t i = 0; i < y.values.size(); ++i) {
    const double found = y.values[i], expected = g.values[i];
    if (std::isfinite(found) && std::isfinite(expected)) {
      const double error = std::fabs(found - expected);
      matched += error <= limits.tolerance * (1 + std::fabs(expected)) ? 1 : 0;
      if (error > largest) at = expected;
      largest = std::max(largest, error);
    } else {
      matched += is_same(found, *round_to(y.dtype, expected)) ? 1 : 0;
    }
  }
  StandardVerdict verdict;
  const auto count = static_cast<double>(y.values.size());
  verdict.matched = count == 0 ? 1 : static_cast<double>(matched) / count;
  verdict.largest = largest;
  verdict.largest_limit = std::max(limits.floor, kUlps * spacing_at(y.dtype, *round_to(y.dtype, at)));
  if (*verdict.matched < kRequiredMatches)
    verdict.reason =
        fmt::format("{:.4g} of the elements are within the tolerance (limit {})", *verdict.matched, kRequiredMatches);
  else if (largest > *verdict.largest_limit)
    verdict.reason = fmt::format("an element is off by {:.4g} (limit {:.4g})", largest, *verdict.largest_limit);
  verdict.passes = verdict.reason.empty();
  return verdict;
}

StandardVerdict judge_level(Standard standard, const Array& y, const Array& g, const Array& r,
                            const StandardLimits& limits) {
  std::array<OutputErrors, 2> errors;
  int64_t normal = 0, special = 0;
  for (size_t i = 0; i < y.values.size(); ++i) {
    const double expected = g.values[i];
    const std::array<double, 2> found = {y.values[i], r.values[i]};
    if (!std::isfinite(expected) || !std::isfinite(found[0]) || !std::isfinite(found[1])) {
      // Where the reference alone is not finite, it says nothing about y.
      const bool is_of_reference = std::isfinite(expected) && std::isfinite(found[0]);
      const bool right = is_same(found[0], found[1]) || is_same(found[0], *round_to(y.dtype, expected));
      special += right || is_of_reference ? 0 : 1;
      continue;
    }
    const bool is_small = std::fabs(expected) < limits.normal;
    normal += is_small ? 0 : 1;
    for (size_t of = 0; of < errors.size(); ++of) {
      const double error = std::fabs(found[of] - expected), relative = error / (std::fabs(expected) + 1e-7);
      if (is_small) {
        errors[of].small_errors += error > limits.error ? 1 : 0;
        continue;
      }
      errors[of].mare = std::max(errors[of].mare, relative);
      errors[of].mere += relative;
      errors[of].rmse += error * error;
    }
  }
  for (OutputErrors& of : errors) {
    const auto count = static_cast<double>(std::max<int64_t>(normal, 1));
    of.mere /= count;
    of.rmse = std::sqrt(of.rmse / count);
  }
  StandardVerdict verdict;
  verdict.y = errors[0];
  verdict.r = errors[1];
  const auto add = [&](std::string_view text) {
    verdict.reason += (verdict.reason.empty() ? "" : ", ") + std::string(text);
  };
  const auto compare = [&](std::string_view name, double of_y, double of_r, double limit) {
    // Where the reference has no error at all, there may be none.
    const double ratio = of_r > 0 ? of_y / of_r : of_y > 0 ? kBeyond : 1;
    if (!(ratio <= limit)) add(fmt::format("{} {:.3g} times that of the reference (limit {})", name, ratio, limit));
  };
  const LevelLimits most = limits_of(standard);
  compare("MARE", errors[0].mare, errors[1].mare, most.mare);
  compare("MERE", errors[0].mere, errors[1].mere, most.mean);
  compare("RMSE", errors[0].rmse, errors[1].rmse, most.mean);
  compare("errors of small values", static_cast<double>(errors[0].small_errors),
          static_cast<double>(std::max<int64_t>(errors[1].small_errors, 1)), kMostSmallErrors);
  if (special > 0)
    add(fmt::format("{} NaN or infinite elements are neither as expected nor as in the reference", special));
  verdict.passes = verdict.reason.empty();
  return verdict;
}

}  // namespace

std::string_view name_of(Standard standard) {
  static constexpr auto kNames = enum_table<Standard, std::string_view>("cann", "cann:L0", "cann:L1", "cann:L2");
  return kNames[standard];
}

std::optional<StandardVerdict> judge_by(Standard standard, const Array& y, const Array& g, bool moves, const Array* r) {
  if (y.values.size() != g.values.size()) return std::nullopt;
  const bool is_computed = kind_of(y.dtype) == DTypeKind::kFloat && !moves;
  if (standard != Standard::kOpen && !is_computed) return judge_equality(y, g);
  const auto limits = std::find_if(kStandardLimits.begin(), kStandardLimits.end(),
                                   [&](const StandardLimits& one) { return one.dtype == y.dtype; });
  if (!is_computed || limits == kStandardLimits.end()) return std::nullopt;
  if (standard == Standard::kOpen) return judge_open(y, g, *limits);
  if (r == nullptr || r->values.size() != y.values.size()) return std::nullopt;
  return judge_level(standard, y, g, *r, *limits);
}

std::optional<double> round_to(DType dtype, double value) {
  switch (kind_of(dtype)) {
    case DTypeKind::kBool: return std::isnan(value) ? value : value != 0 ? 1 : 0;
    case DTypeKind::kInteger: {
      const int bits = info(dtype).bits;
      const double most = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1), whole = std::trunc(value);
      const bool fits = whole < most && whole >= (is_unsigned(dtype) ? 0 : -most) && std::fabs(whole) < 0x1p53;
      return fits ? whole : std::nan("");
    }
    case DTypeKind::kFloat: {
      if (info(dtype).bits < 16 || !float_limits(dtype)) return std::nullopt;
      if (dtype == DType::kFloat64 || !std::isfinite(value) || value == 0) return value;
      const double step = spacing_at(dtype, value), nearest = std::nearbyint(value / step) * step;
      return std::fabs(nearest) > float_limits(dtype)->largest ? std::copysign(kBeyond, value) : nearest;
    }
    default: return std::nullopt;
  }
}

}  // namespace msdump::recompute
