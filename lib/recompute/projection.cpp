#include "recompute/projection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace msdump::recompute {

double sign_of_column(int64_t column) {
  // splitmix64, with a fixed seed
  uint64_t bits = static_cast<uint64_t>(column) * 0x9E3779B97F4A7C15U + 0x243F6A8885A308D3U;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return ((bits ^ (bits >> 31U)) & 1U) != 0 ? 1 : -1;
}

std::vector<int64_t> sampled_rows(int64_t rows) {
  constexpr int64_t kIntervals = 9;
  std::vector<int64_t> sampled;
  for (int64_t i = 0; i <= kIntervals && rows > 0; ++i) {
    const int64_t row = i * (rows - 1) / kIntervals;
    if (sampled.empty() || sampled.back() != row) sampled.push_back(row);
  }
  return sampled;
}

ProjectionResult compare_projection(const Projection& projection, const double* y, double u, double v, double limit) {
  constexpr size_t kMostSuspects = 64;  // rows that are computed exactly
  constexpr auto kParts = static_cast<size_t>(Projection::kParts);
  ProjectionResult result;
  std::vector<std::pair<double, int64_t>> suspects;
  for (int64_t row = 0; row < projection.rows; ++row) {
    std::array<double, kParts> sums{}, squares{};
    for (int64_t column = 0; column < projection.columns; ++column) {
      const double value = y[row * projection.columns + column];
      const auto part = static_cast<size_t>(projection.part_of(column));
      sums[part] += sign_of_column(column) * value;
      squares[part] += value * value;
    }
    double worst = 0;
    for (size_t part = 0; part < kParts; ++part) {
      const size_t at = static_cast<size_t>(row) * kParts + part;
      const double error = std::sqrt(u * u * squares[part] + 4 * v * v * projection.squares[at]);
      const double distance = std::fabs(sums[part] - projection.expected[at]);
      if (!std::isfinite(distance) || !std::isfinite(error)) {
        worst = std::numeric_limits<double>::infinity();
        break;
      }
      // Right residuals stay below half the limit: one element of the limit and a half stands out.
      result.smallest_certain = std::max(result.smallest_certain, 1.5 * limit * error);
      if (distance > 0) worst = std::max(worst, distance / error);
    }
    if (std::isfinite(worst)) result.units = std::max(result.units, worst);
    if (worst > limit) suspects.emplace_back(-worst, row);
  }
  std::sort(suspects.begin(), suspects.end());
  if (suspects.size() > kMostSuspects) suspects.resize(kMostSuspects);
  for (const auto& [negative, row] : suspects) result.suspects.push_back(row);
  return result;
}

}  // namespace msdump::recompute
