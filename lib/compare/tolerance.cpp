#include "compare/tolerance.h"

#include <algorithm>
#include <string_view>

namespace msdump {

double default_rtol(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128: return 1e-9;
    case DType::kFloat32:
    case DType::kComplex64: return 1e-3;
    case DType::kFloat16:
    case DType::kComplex32: return 5e-3;
    case DType::kBfloat16: return 3e-2;
    default: break;
  }
  return name_of(dtype).find("float") != std::string_view::npos ? 0.2 : 0;
}

double smallest_step(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32: return 0x1p-24;
    case DType::kFloat8E4m3fn: return 0x1p-9;
    case DType::kFloat8E5m2: return 0x1p-16;
    default: return 0;
  }
}

Limits limits_for(const Tolerance& tolerance, DType a, DType b, double scale) {
  if (tolerance.rtol || tolerance.atol) return {tolerance.rtol.value_or(0), tolerance.atol.value_or(0)};
  double rtol = std::max(default_rtol(a), default_rtol(b));
  if (rtol > 0 && tolerance.coarsest) rtol = std::max(rtol, default_rtol(*tolerance.coarsest));
  return {rtol, rtol * scale + std::max(smallest_step(a), smallest_step(b))};
}

}  // namespace msdump
