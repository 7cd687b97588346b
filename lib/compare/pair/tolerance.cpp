#include "compare/pair/tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace msdump {
namespace {

// Below this scale, the rounding of the comparison itself is no longer small.
constexpr double kSmallestScale = 0x1p-960;

}  // namespace

double default_rtol(DType dtype) {
  const DTypeTraits& traits = info(dtype).traits;
  if (traits.kind != DTypeKind::kFloat && traits.kind != DTypeKind::kComplex) return 0;
  const int digits = traits.format.mantissa_bits;
  return digits >= 52 ? 1e-9 : digits >= 23 ? 1e-3 : digits >= 10 ? 5e-3 : digits >= 7 ? 3e-2 : 0.2;
}

double smallest_step(DType dtype) {
  const FloatFormat& format = info(dtype).traits.format;
  if (info(dtype).bits < 8 || format.exponent_bits == 0 ||
      format.exponent_bits > info(DType::kFloat16).traits.format.exponent_bits)
    return 0;
  return std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
}

Limits limits_for(const Tolerance& tolerance, DType a, DType b, double scale) {
  if (tolerance.rtol || tolerance.atol) return {tolerance.rtol.value_or(0), tolerance.atol.value_or(0)};
  double rtol = std::max(default_rtol(a), default_rtol(b));
  if (rtol > 0 && tolerance.coarsest) rtol = std::max(rtol, default_rtol(*tolerance.coarsest));
  return {rtol, rtol * scale + std::max(smallest_step(a), smallest_step(b))};
}

std::optional<Limits> passing_limits(const kernels::PairMetrics& metrics, double scale) {
  if (metrics.nan_mismatch + metrics.inf_mismatch > 0 || !metrics.max_abs || !metrics.max_scaled) return std::nullopt;
  if (*metrics.max_abs == 0) return Limits{};
  if (!std::isfinite(*metrics.max_abs)) return std::nullopt;
  // The comparison that has to pass rounds, too.
  constexpr double larger = 1 + 4 * std::numeric_limits<double>::epsilon();
  const double rtol = rounded_up(*metrics.max_scaled * larger);
  if (scale < kSmallestScale || !std::isfinite(rtol)) return Limits{0, rounded_up(*metrics.max_abs)};
  return Limits{rtol, rounded_up(rtol * scale * larger)};
}

double rounded_up(double value, int digits) {
  if (!(value > 0) || !std::isfinite(value)) return value;
  // D.DDDe+XX: its digits as an integer, one more if they were rounded down.
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const size_t mark = text.find('e');
  std::string mantissa = text.substr(0, mark);
  mantissa.erase(std::remove(mantissa.begin(), mantissa.end(), '.'), mantissa.end());
  const int exponent = std::stoi(text.substr(mark + 1)) - (digits - 1);
  const auto number = [exponent](long whole) {
    const std::string plain = fmt::format("{}e{}", whole, exponent);
    double result = std::numeric_limits<double>::infinity();  // stays when out of range
    std::from_chars(plain.data(), plain.data() + plain.size(), result);
    return result;
  };
  const long whole = std::stol(mantissa);
  const double near = number(whole), above = near >= value ? near : number(whole + 1);
  return std::isfinite(above) ? above : value;
}

}  // namespace msdump
