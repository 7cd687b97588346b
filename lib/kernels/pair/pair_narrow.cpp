// ULP of dtypes with at most 256 codes: each code's place among the values.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/pair/pair_block.h"
#include "kernels/pair/pair_element.h"

namespace msdump::kernels {
namespace {

constexpr int kNone = -1;  // NaN and infinities

using Places = std::array<int, 256>;

Places make_places(DType dtype) {
  const unsigned codes = 1U << info(dtype).bits;
  std::array<double, 256> values{};
  std::vector<double> finite;
  for (unsigned code = 0; code < codes; ++code) {
    const auto byte = static_cast<std::byte>(code);
    values[code] = element::as_double(dtype, &byte);
    if (std::isfinite(values[code])) finite.push_back(values[code]);
  }
  std::sort(finite.begin(), finite.end());
  finite.erase(std::unique(finite.begin(), finite.end()), finite.end());  // -0 is +0
  Places places;
  places.fill(kNone);
  for (unsigned code = 0; code < codes; ++code) {
    if (!std::isfinite(values[code])) continue;
    places[code] = static_cast<int>(std::lower_bound(finite.begin(), finite.end(), values[code]) - finite.begin());
  }
  return places;
}

const Places& places_of(DType dtype) {
  static const Places hifloat8 = make_places(DType::kHifloat8), e5m2 = make_places(DType::kFloat8E5m2),
                      e4m3fn = make_places(DType::kFloat8E4m3fn), e8m0 = make_places(DType::kFloat8E8m0),
                      e2m1 = make_places(DType::kFloat4E2m1), e1m2 = make_places(DType::kFloat4E1m2);
  switch (dtype) {
    case DType::kHifloat8: return hifloat8;
    case DType::kFloat8E5m2: return e5m2;
    case DType::kFloat8E4m3fn: return e4m3fn;
    case DType::kFloat8E8m0: return e8m0;
    case DType::kFloat4E2m1: return e2m1;
    default: return e1m2;
  }
}

}  // namespace

uint64_t max_ulp_of_codes(DType dtype, const std::byte* a, const std::byte* b, int64_t count) {
  const Places& places = places_of(dtype);
  const auto mask = static_cast<std::byte>((1U << info(dtype).bits) - 1);
  int max = 0;
  for (int64_t at = 0; at < count; ++at) {
    const int place_a = places[std::to_integer<size_t>(a[at] & mask)];
    const int place_b = places[std::to_integer<size_t>(b[at] & mask)];
    if (place_a != kNone && place_b != kNone) max = std::max(max, std::abs(place_a - place_b));
  }
  return static_cast<uint64_t>(max);
}

}  // namespace msdump::kernels
