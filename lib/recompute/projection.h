// Projection of a large product: y R against a (b R), where R has random signs. It costs 8 columns instead of all.
//
// Each of the 8 columns of R takes its own eighth of the columns of y, so that a wrong element stands against the rounding of an
// eighth of its row. One wrong element never cancels; of several in one part, all do so with a probability of at most 1/2.
// What a projection suspects is computed exactly: it accuses nobody itself.
#pragma once

#include <cstdint>
#include <vector>

namespace msdump::recompute {

struct Projection {
  static constexpr int64_t kParts = 8;
  int64_t rows = 0, columns = 0;  // of y, over all products of a batch
  std::vector<double> expected;   // rows x kParts: sums of signed elements
  std::vector<double> squares;    // rows x kParts: of (|a_i| |b_j|), summed over the part

  [[nodiscard]] int64_t part_of(int64_t column) const { return column * kParts / columns; }
};

// The sign of a column of R: the same in every run.
[[nodiscard]] double sign_of_column(int64_t column);

// Rows of a product of `rows` rows that are computed exactly: the first, the last, and 8 between.
[[nodiscard]] std::vector<int64_t> sampled_rows(int64_t rows);

// How a product in a file compares with its projection.
struct ProjectionResult {
  double units = 0;               // largest residual, in roots of the summed squares of what rounding can do
  std::vector<int64_t> suspects;  // rows beyond `limit`, worst first; those with Inf or NaN too
  double smallest_certain = 0;    // error of one element that is suspected in any row; of finite rows
};
// y has rows x columns elements; u is the roundoff of its format, v that of its terms.
[[nodiscard]] ProjectionResult compare_projection(const Projection& projection, const double* y, double u, double v,
                                                  double limit);

}  // namespace msdump::recompute
