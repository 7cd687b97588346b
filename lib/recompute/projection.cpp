#include "recompute/projection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/product/dot_sums.h"

namespace msdump::recompute {
namespace {

constexpr size_t kMostSuspects = 64;  // rows that are computed exactly

}  // namespace

double sign_of_column(int64_t column) {
  // splitmix64, with a fixed seed
  uint64_t bits = static_cast<uint64_t>(column) * 0x9E3779B97F4A7C15U + 0x243F6A8885A308D3U;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return ((bits ^ (bits >> 31U)) & 1U) != 0 ? 1 : -1;
}

std::vector<double> signs_of_columns(int64_t columns) {
  std::vector<double> signs(static_cast<size_t>(columns));
  for (int64_t column = 0; column < columns; ++column) signs[static_cast<size_t>(column)] = sign_of_column(column);
  return signs;
}

ProjectedColumns project_columns(const double* elements, int64_t outer, int64_t columns, int64_t inner) {
  ProjectedColumns projected{std::vector<double>(static_cast<size_t>(outer * kProjectedParts * inner)),
                             std::vector<double>(static_cast<size_t>(kProjectedParts))};
  const std::vector<double> signs = signs_of_columns(columns);
  for (int64_t at = 0; at < outer; ++at) {
    for (int64_t part = 0; part < kProjectedParts; ++part) {
      double* const sums = projected.sums.data() + (at * kProjectedParts + part) * inner;
      for (int64_t column = first_column(part, columns); column < first_column(part + 1, columns); ++column) {
        const double* const from = elements + (at * columns + column) * inner;
        for (int64_t i = 0; i < inner; ++i) {
          sums[i] += signs[static_cast<size_t>(column)] * from[i];
          projected.squares[static_cast<size_t>(part)] += from[i] * from[i];
        }
      }
    }
  }
  return projected;
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

ProjectionCheck::ProjectionCheck(AxisView view, double u, double v, double limit)
    : view_(view), u_(u), v_(v), limit_(limit), signs_(signs_of_columns(view.length)) {}

void ProjectionCheck::add(const ProjectedBlock& block, const double* y) {
  constexpr auto kParts = static_cast<size_t>(kProjectedParts);
  const auto inner = static_cast<size_t>(view_.inner);
  for (int64_t outer = 0; outer < block.outers; ++outer) {
    sums_.assign(inner * kParts, 0);
    squares_.assign(inner * kParts, 0);
    for (size_t part = 0; part < kParts; ++part) {
      const int64_t begin = first_column(static_cast<int64_t>(part), view_.length);
      const int64_t end = first_column(static_cast<int64_t>(part) + 1, view_.length);
      if (inner == 1) {
        const kernels::DotSums dot =
            kernels::dot_sums(y + outer * view_.length + begin, signs_.data() + begin, end - begin);
        sums_[part] = dot.products;
        squares_[part] = dot.squares;
        continue;
      }
      for (int64_t column = begin; column < end; ++column) {
        const double sign = signs_[static_cast<size_t>(column)];
        const double* const row = y + (outer * view_.length + column) * view_.inner;
        double* const sums = sums_.data() + part * inner;
        double* const squares = squares_.data() + part * inner;
        for (size_t i = 0; i < inner; ++i) {
          sums[i] += sign * row[i];
          squares[i] += row[i] * row[i];
        }
      }
    }
    for (size_t i = 0; i < inner; ++i) {
      const size_t at = (static_cast<size_t>(outer) * inner + i) * kParts;
      judge_row((block.first_outer + outer) * view_.inner + static_cast<int64_t>(i), sums_.data() + i,
                squares_.data() + i, block.expected + at, block.squares + at);
    }
  }
}

// The sums of parts are `inner` apart.
void ProjectionCheck::judge_row(int64_t row, const double* sums, const double* squares, const double* expected,
                                const double* terms) {
  double worst = 0;
  for (int64_t part = 0; part < kProjectedParts; ++part) {
    const double square = squares[part * view_.inner];
    const double error = std::sqrt(u_ * u_ * square + 4 * v_ * v_ * terms[part]);
    const double distance = std::fabs(sums[part * view_.inner] - expected[part]);
    if (!std::isfinite(distance) || !std::isfinite(error)) {
      worst = std::numeric_limits<double>::infinity();
      break;
    }
    total_ += square;
    finite_ += first_column(part + 1, view_.length) - first_column(part, view_.length);
    // Right residuals stay below half the limit: one element of the limit and a half stands out.
    smallest_certain_ = std::max(smallest_certain_, 1.5 * limit_ * error);
    if (distance > 0) worst = std::max(worst, distance / error);
  }
  if (std::isfinite(worst)) units_ = std::max(units_, worst);
  if (!(worst > limit_)) return;
  if (first_suspect_ < 0) first_suspect_ = row;
  last_suspect_ = row;
  suspects_.emplace_back(-worst, row);
  if (suspects_.size() < 2 * kMostSuspects) return;
  std::sort(suspects_.begin(), suspects_.end());
  suspects_.resize(kMostSuspects);
}

std::vector<int64_t> ProjectionCheck::suspects() const {
  std::vector<std::pair<double, int64_t>> worst = suspects_;
  std::sort(worst.begin(), worst.end());
  if (worst.size() > kMostSuspects) worst.resize(kMostSuspects);
  std::set<int64_t> rows;
  if (first_suspect_ >= 0) rows = {first_suspect_, last_suspect_};
  for (const auto& [negative, row] : worst) rows.insert(row);
  return {rows.begin(), rows.end()};
}

double ProjectionCheck::root_mean_square() const {
  return finite_ > 0 ? std::sqrt(total_ / static_cast<double>(finite_)) : 0;
}

}  // namespace msdump::recompute
