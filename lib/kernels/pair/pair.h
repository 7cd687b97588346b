// A sum of many doubles that loses almost nothing and has room for the squares of any of them. Internal to lib/kernels.
//
// What each addition rounds away is kept and added in the end (TwoSum of Knuth), so that the error does not grow with
// the number of terms; an exponent of its own lets a term be (1e300)^2 or (1e-300)^2. Terms with exponent 0, which are
// nearly all, cost a few additions. Terms in the same order give the same bits everywhere.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace msdump::kernels {

struct Scaled {
  double value = 0;
  int exponent = 0;  // value * 2^exponent

  bool operator==(const Scaled&) const = default;
};

// The square root, as a double: infinity when there is none so large.
inline double root_of(Scaled x) {
  const int odd = x.exponent % 2;
  return std::ldexp(std::sqrt(odd != 0 ? std::ldexp(x.value, odd) : x.value), (x.exponent - odd) / 2);
}

// The factor is a double, but its square need not be one.
inline Scaled scaled_square(double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  return {fraction * fraction, 2 * exponent};
}

class WideSum {
 public:
  void add(double x) { add(Scaled{x, 0}); }

  void add(Scaled x) {
    if (x.value == 0) return;
    if (x.exponent != exponent_) align(x);
    const double sum = high_ + x.value;
    if (std::isfinite(sum)) {
      const double added = sum - high_;
      low_ += (high_ - (sum - added)) + (x.value - added);
    }
    high_ = sum;
  }

  void add(const WideSum& other) {
    add(Scaled{other.high_, other.exponent_});
    add(Scaled{other.low_, other.exponent_});
  }

  [[nodiscard]] Scaled total() const { return {std::isfinite(high_) ? high_ + low_ : high_, exponent_}; }
  [[nodiscard]] double value() const { return std::ldexp(total().value, exponent_); }
  [[nodiscard]] double over(double divisor) const { return std::ldexp(total().value / divisor, exponent_); }

  bool operator==(const WideSum&) const = default;

 private:
  // The larger exponent stays: what the other side loses is far below the last digit.
  void align(Scaled& x) {
    if (high_ == 0 && low_ == 0) {
      exponent_ = x.exponent;
    } else if (x.exponent > exponent_) {
      high_ = std::ldexp(high_, exponent_ - x.exponent);
      low_ = std::ldexp(low_, exponent_ - x.exponent);
      exponent_ = x.exponent;
    } else {
      x.value = std::ldexp(x.value, x.exponent - exponent_);
    }
  }

  double high_ = 0, low_ = 0;
  int exponent_ = 0;
};

// Counts |a - b| by magnitude, for the quantiles: 128 counters per octave. The lower end of a counter's interval is
// within 0.8 % of every number in it, and exact for integers up to 256 and for powers of two.
//
// MagnitudeCounts belongs to a state: it has the octaves that occur, in order. MagnitudeTally does the counting of a
// call: a dense table of the 64 octaves in which nearly all numbers of a tensor lie, emptied into the other at the end.
// Counts do not depend on what the table covers.

// The interval a positive double falls into: its exponent's bits and the first 7 of its fraction.
using MagnitudeBucket = uint32_t;
constexpr int kBucketsPerOctaveLog2 = 7;
constexpr size_t kBucketsPerOctave = size_t{1} << kBucketsPerOctaveLog2;

[[nodiscard]] MagnitudeBucket bucket_of(double magnitude);
[[nodiscard]] double lower_end(MagnitudeBucket bucket);

class MagnitudeCounts {
 public:
  void add(MagnitudeBucket bucket, uint64_t times);
  void add(const MagnitudeCounts& other);

  // The lower end of the bucket with the number of that rank, counted from 0; no value when there are not so many. The
  // numbers of bucket 0 (zero, and below 2^-1028) are not counted: they are `below` and come first.
  [[nodiscard]] std::optional<double> at_rank(uint64_t rank, uint64_t below) const;
  [[nodiscard]] uint64_t total() const;

  bool operator==(const MagnitudeCounts&) const = default;

 private:
  struct Octave {
    uint32_t number = 0;
    std::array<uint64_t, kBucketsPerOctave> counts{};

    bool operator==(const Octave&) const = default;
  };

  Octave& octave(uint32_t number);

  std::vector<Octave> octaves_;  // ascending
};

class MagnitudeTally {
 public:
  explicit MagnitudeTally(MagnitudeCounts& counts) : counts_(counts) {}
  ~MagnitudeTally() { empty(); }
  MagnitudeTally(const MagnitudeTally&) = delete;
  MagnitudeTally& operator=(const MagnitudeTally&) = delete;

  // Counts the positive ones; `zeros` is how many are zero, `max` the largest.
  void add(std::span<const double> magnitudes, uint64_t zeros, double max);

 private:
  static constexpr uint32_t kBuckets = 64U << kBucketsPerOctaveLog2;
  static constexpr uint64_t kMostCounted = 1U << 31;  // counters have 32 bits

  void cover(double max);
  [[nodiscard]] size_t count(std::span<const double> magnitudes);
  void empty();

  MagnitudeCounts& counts_;
  // Two for each bucket, used in turns: neighbours are often alike, and an addition would wait for the one before. The
  // first bucket of the table stays empty: its numbers are counted like those below the table.
  std::vector<uint32_t> counters_;
  MagnitudeBucket first_ = 0;
  uint64_t counted_ = 0;
};

// Writes the buckets of the magnitudes that lie above `first`, less `first`, and returns how many those are. Up to
// kBucketRoom places after them are overwritten.
constexpr size_t kBucketRoom = 16;
[[nodiscard]] size_t find_buckets(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets);

inline size_t find_buckets_plain(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  size_t found = 0;
  for (size_t at = 0; at < count; ++at) {
    const MagnitudeBucket bucket = bucket_of(magnitudes[at]);
    buckets[found] = bucket - first;
    found += bucket > first ? 1 : 0;
  }
  return found;
}

// What is known of a chunk of pairs, or of several that follow each other: plain sums, counts and extremes, from which
// finish (pair.h) makes the metrics.

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

// The metrics of two tensors, the candidate a and the reference b, in one pass over the pairs of their elements.
//
// Over the pairs where both sides are finite, n of them; d = |a - b|, as a double, rounded once (64-bit integers are
// subtracted exactly before that):
//
//     count          n                                        equal          pairs with a == b, -0 == +0
//     max_abs        max d                                    worst          index of the first pair that has max_abs
//     mean_abs       sum d / n                                max_rel        max d / |b|; infinite if b = 0, a != 0
//     mean_rel       mean of d / |b| over b != 0              rmse           sqrt(sum d^2 / n)
//     l2_distance    sqrt(sum d^2)                            relative_l2    sqrt(sum d^2 / sum b^2); 0 / 0 is 0
//     cosine         sum ab / sqrt(sum a^2 * sum b^2)         over_tolerance pairs with d > atol + rtol |b|
//     under_1e3      share of d / |b| < 0.001, 0 / 0 is 0     under_5e3      the same with 0.005
//     max_ulp        max of values of the dtype passed between a and b; of integers, max d
//     p50_abs, p99_abs   the d that half, 99 % of the pairs do not exceed; the lower end of an interval of 0.8 %
//     reference_zero pairs with b = 0 and a != 0         max_scaled     max d / (|b| + scale)
//
// Over one side's own finite values: mean_a, std_a (of the population), max_a, min_a; the same of b.
// Over all: nan_a, nan_b; nan_mismatch, pairs of which one is NaN; inf_mismatch, pairs without a NaN of which one is
// infinite and the other is something else, the other infinity too.
//
// Complex numbers: |a - b|, |a| and |b| are moduli, and the cosine is that of all parts as real numbers. They have no
// order, hence no max, min, mean, std and ulp. A number counts as NaN or infinite if one part is.
//
// Source of the definitions: golden.json of corpus/compare, computed with rational numbers.
//
// How it adds up: blocks of 1024 pairs from the start of a call; inside a block, pair i is added to the i mod 8th of
// eight sums, which are added up as a tree; sums of blocks are compensated (wide_sum.h). A standard deviation far below
// the mean uses distances to the mean of the block, and squares outside a double's range use scaled numbers. So the
// result depends only on where a tensor is cut into chunks, not on the CPU or threads.

struct PairRule {
  double rtol = 0, atol = 0;  // of over_tolerance; not negative
  double scale = 0;           // of max_scaled; not negative, finite
  bool ulp = true;            // false for tensors of two dtypes, of which one has been widened
  bool quantiles = true;
};

// Pairs are taken in blocks of this many.
constexpr int64_t kPairBlock = 1024;

// True for every dtype but the raw ones.
[[nodiscard]] bool can_pair(DType dtype);

// Adds the next pairs of a chunk, of elements that both are `dtype`; codes of less than a byte come unpacked, one per
// byte (widen.h). Any alignment. For a result that does not depend on slabs, all calls but the last of a chunk must
// have a multiple of kPairBlock pairs.
void pair_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                PairState& state);

// The definition, one pair at a time, for the same calls. The oracle of the tests; slow.
void pair_reference(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                    PairState& state);

// What is not defined (no pairs, the cosine of zeros, the max of complex numbers) has no value.
struct PairMetrics {
  uint64_t count = 0, equal = 0, over_tolerance = 0, reference_zero = 0;
  uint64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  std::optional<double> max_abs, max_rel, max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine;
  std::optional<double> std_a, std_b, mean_a, mean_b, max_a, max_b, min_a, min_b;
  std::optional<double> under_1e3, under_5e3, p50_abs, p99_abs;
  std::optional<uint64_t> max_ulp, worst;
};

[[nodiscard]] PairMetrics finish(const PairState& state);

// The Kullback-Leibler divergence of two tensors, as msaccucmp defines it but in double precision. A second pass: it
// needs the extremes of both sides, which the first one has found (pair.h).
//
//     1. each side becomes (x - min) / (max - min); one whose values are all alike stays as it is
//     2. floor at 1.1920929e-7 (2^-23), so that no logarithm is infinite
//     3. divide by the sum: two probability distributions p, of a, and q, of b
//     4. sum of p ln(p / q); below 2.2e-16 it is 0
//
// Over the pairs where both sides are finite. Not defined for complex numbers. The logarithm is our own: that of the C
// library differs in the last digit from one CPU to another.

struct KlRange {
  double max_a = 0, min_a = 0, max_b = 0, min_b = 0;
};

struct KlState {
  WideSum p, q, p_log_ratio;  // before the division by the sums
  uint64_t finite = 0;

  void merge(const KlState& next);

  bool operator==(const KlState&) const = default;
};

[[nodiscard]] bool can_kl(DType dtype);

// The next pairs of a chunk; elements as for pair_block.
void kl_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const KlRange& range, KlState& state);

// No value without pairs.
[[nodiscard]] std::optional<double> finish(const KlState& state);

// ln x of a positive, finite x within 1e-15 relative, the same bits everywhere.
[[nodiscard]] double natural_log(double x);

}  // namespace msdump::kernels
