// What is known of a chunk of pairs, or of several that follow each other: plain sums, counts and extremes, from which
// finish (pair.h) makes the metrics.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/pair/pair_histogram.h"
#include "kernels/reduce/wide_sum.h"

namespace msdump::kernels {

// Of one side's finite values in one block.
struct BlockMoments {
  uint64_t count = 0;
  Scaled sum;
  double mean = 0;
  double mean_rest = 0;  // what the mean has beyond the digits of a double, of 64-bit integers
  Scaled squares;        // of the distances from the mean
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();

  bool operator==(const BlockMoments&) const = default;
};

// Of one side's finite values.
class Moments {
 public:
  void add(const BlockMoments& block);
  void add(const Moments& next);

  [[nodiscard]] std::optional<double> mean() const;
  [[nodiscard]] std::optional<double> deviation() const;  // of the population
  [[nodiscard]] std::optional<double> max() const;
  [[nodiscard]] std::optional<double> min() const;

  bool operator==(const Moments&) const = default;

 private:
  void take(uint64_t count, double mean, double half_rest, double max, double min);

  uint64_t count_ = 0;
  WideSum sum_;
  WideSum squares_;       // of the distances from the mean
  double mean_ = 0;       // of the first block
  double half_rest_ = 0;  // half of what the mean of all is above it; 0 where all values are alike
  double max_ = -std::numeric_limits<double>::infinity();
  double min_ = std::numeric_limits<double>::infinity();
};

struct BlockFacts;

struct PairState {
  uint64_t elements = 0;  // pairs so far, and those of them where both sides are finite
  uint64_t finite = 0;
  uint64_t equal = 0, reference_zero = 0, reference_nonzero = 0;
  uint64_t under_1e3 = 0, under_5e3 = 0, over_tolerance = 0;
  uint64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  double max_abs = 0, max_rel = 0;  // max_rel: where the reference is not 0
  double max_scaled = 0;
  std::optional<uint64_t> worst;    // none while `finite` is 0
  std::optional<uint64_t> max_ulp;  // none where a dtype has none
  WideSum abs, relative;            // of d, of d / |b|
  WideSum squares;                  // of d
  WideSum squares_a, squares_b, products;
  Moments a, b;
  MagnitudeCounts magnitudes;  // of d
  bool has_magnitudes = false;

  // The next block.
  void add(const BlockFacts& block);

  // The next chunk: as if its blocks had been added here, but for the last bits of sums.
  void merge(const PairState& next);

  bool operator==(const PairState&) const = default;
};

}  // namespace msdump::kernels
