// Projection of a large product: y R against a (b R), where R has random signs. It costs 8 columns instead of all.
//
// Each of the 8 columns of R takes its own eighth of the columns of y, so that a wrong element stands against the rounding of an
// eighth of its row. One wrong element never cancels; of several in one part, all do so with a probability of at most 1/2.
// What a projection suspects is computed exactly: it accuses nobody itself.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "recompute/array.h"

namespace msdump::recompute {

inline constexpr int64_t kProjectedParts = 8;
// The first column of a part; that of part kProjectedParts is `columns`.
[[nodiscard]] inline int64_t first_column(int64_t part, int64_t columns) {
  return (part * columns + kProjectedParts - 1) / kProjectedParts;
}

// The sign of a column of R: the same in every run.
[[nodiscard]] double sign_of_column(int64_t column);
[[nodiscard]] std::vector<double> signs_of_columns(int64_t columns);

// Rows of a product of `rows` rows that are computed exactly: the first, the last, and 8 between.
[[nodiscard]] std::vector<int64_t> sampled_rows(int64_t rows);

// Columns with their signs, summed by part.
struct ProjectedColumns {
  std::vector<double> sums;     // outer x parts x inner
  std::vector<double> squares;  // by part: of all elements
};
// `elements` has outer x columns x inner.
[[nodiscard]] ProjectedColumns project_columns(const double* elements, int64_t outer, int64_t columns, int64_t inner);

// Some rows of an output. A row is an index of the axes before and after that of the columns (AxisView); a block is all rows of
// some outer indices, whose elements follow each other.
struct ProjectedBlock {
  int64_t first_outer = 0, outers = 0;
  const double* expected = nullptr;  // outers x inner x parts: sums of signed elements
  const double* squares = nullptr;   // likewise: of (|a_i| |b_j|), summed over the part
};

// Compares an output, block by block, with its projection.
class ProjectionCheck {
 public:
  // u is the roundoff of the format of y, v that of its terms; the limit is in roots of the summed squares of what rounding can do.
  ProjectionCheck(AxisView view, double u, double v, double limit);
  // `y` has the elements of the block.
  void add(const ProjectedBlock& block, const double* y);

  [[nodiscard]] double units() const { return units_; }  // largest residual
  // Rows beyond the limit, and those with Inf or NaN: the first, the last, and the worst ones; at most 66.
  [[nodiscard]] std::vector<int64_t> suspects() const;
  // The error of one element that is suspected in any row without Inf or NaN.
  [[nodiscard]] double smallest_certain() const { return smallest_certain_; }
  [[nodiscard]] double root_mean_square() const;

 private:
  void judge_row(int64_t row, const double* sums, const double* squares, const double* expected, const double* terms);

  AxisView view_;
  double u_, v_, limit_;
  std::vector<double> signs_;
  double units_ = 0, smallest_certain_ = 0, total_ = 0;
  int64_t finite_ = 0;
  std::vector<std::pair<double, int64_t>> suspects_;  // negative units, row
  int64_t first_suspect_ = -1, last_suspect_ = -1;
  std::vector<double> sums_, squares_;  // of an outer index: inner x parts
};

}  // namespace msdump::recompute
