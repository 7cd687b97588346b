// Metrics of two tensors, the candidate a and the reference b, in one pass over the pairs of their elements.
//
// Over the n pairs of finite elements, with d = |a - b| as a double, rounded once (64-bit integers are subtracted exactly):
//
//     count          n                                        equal          pairs with a == b, -0 == +0
//     max_abs        max d                                    worst          index of the first pair that has max_abs
//     mean_abs       sum d / n                                max_rel        max d / |b|; infinite if b = 0, a != 0
//     mean_rel       mean of d / |b| over b != 0              rmse           sqrt(sum d^2 / n)
//     l2_distance    sqrt(sum d^2)                            relative_l2    sqrt(sum d^2 / sum b^2); 0 / 0 is 0
//     cosine         sum ab / sqrt(sum a^2 * sum b^2)         over_tolerance pairs with d > atol + rtol |b|
//     under_1e3      share of d / |b| < 0.001, 0 / 0 is 0     under_5e3      the same with 0.005
//     max_ulp        values of the dtype between a and b; of integers, max d
//     p50_abs, p99_abs   50 % and 99 % quantile of d, rounded down by at most 0.8 %
//     reference_zero pairs with b = 0 and a != 0              max_scaled     max d / (|b| + scale)
//
// Over the finite elements of one side: mean_a, std_a (of the population), max_a, min_a; the same of b.
// Over all pairs: nan_a, nan_b; nan_mismatch, pairs with one NaN; inf_mismatch, pairs of an infinity and another number.
//
// Complex numbers: |a - b|, |a| and |b| are moduli, and the cosine is that of all parts as real numbers. Max, min, mean, std
// and ulp are not defined. A number is NaN or infinite if one part is.
//
// Order of additions: a call is divided into blocks of 1024 pairs, and pair i of a block is added to sum i mod 8. The eight
// sums are added as a tree, those of blocks with compensation (WideSum). So a result depends on the chunks of a tensor, but
// not on CPU or threads. A deviation far below the mean is computed from distances to the mean of the block. Squares beyond
// the range of a double use scaled numbers.
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

// value * 2^exponent
struct Scaled {
  double value = 0;
  int exponent = 0;

  bool operator==(const Scaled&) const = default;
};

// The square root as a double; infinite if it is too large.
inline double root_of(Scaled x) {
  const int rest = x.exponent % 2;
  return std::ldexp(std::sqrt(rest != 0 ? std::ldexp(x.value, rest) : x.value), (x.exponent - rest) / 2);
}

// The square of a double, which need not be in the range of a double.
inline Scaled scaled_square(double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  return {fraction * fraction, 2 * exponent};
}

// A compensated sum of doubles and their squares. Each addition keeps its rounding error (Knuth's TwoSum), so that the error
// does not grow with the number of terms. An exponent of its own leaves room for (1e300)^2 and (1e-300)^2.
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
  // Keeps the larger exponent. The other term loses digits far below the last one of the sum.
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

// Counts of |a - b| by magnitude, for quantiles: 128 buckets an octave. The lower end of a bucket is within 0.8 % of all its
// numbers, and exact for integers up to 256 and powers of two.
//
// Bucket of a positive double: the bits of its exponent and the first 7 of its fraction.
using MagnitudeBucket = uint32_t;
constexpr int kBucketsPerOctaveLog2 = 7;
constexpr size_t kBucketsPerOctave = size_t{1} << kBucketsPerOctaveLog2;

[[nodiscard]] MagnitudeBucket bucket_of(double magnitude);
[[nodiscard]] double lower_end(MagnitudeBucket bucket);

// The counts of a state: the octaves that occur, in order.
class MagnitudeCounts {
 public:
  void add(MagnitudeBucket bucket, uint64_t times);
  void add(const MagnitudeCounts& other);

  // The lower end of the bucket that holds the number at `position` (from 0) in ascending order. No value if there are not
  // that many. Numbers of bucket 0 (zero, and below 2^-1028) are not counted: `below` of them come first.
  [[nodiscard]] std::optional<double> at_position(uint64_t position, uint64_t below) const;
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

// Counts the pairs of one call in a dense table of 64 octaves, which holds nearly all numbers of a tensor. The destructor
// adds the counts to those of the state. They do not depend on the octaves of the table.
class MagnitudeTally {
 public:
  explicit MagnitudeTally(MagnitudeCounts& counts) : counts_(counts) {}
  ~MagnitudeTally() { empty(); }
  MagnitudeTally(const MagnitudeTally&) = delete;
  MagnitudeTally& operator=(const MagnitudeTally&) = delete;

  // Counts the positive ones. `zeros` of them are zero, and `max` is the largest.
  void add(std::span<const double> magnitudes, uint64_t zeros, double max);

 private:
  static constexpr uint32_t kBuckets = 64U << kBucketsPerOctaveLog2;
  static constexpr uint64_t kMostCounted = 1U << 31;  // counters have 32 bits

  void cover(double max);
  [[nodiscard]] size_t count(std::span<const double> magnitudes);
  void empty();

  MagnitudeCounts& counts_;
  // Two counters a bucket, used in turns: neighbours are often alike, and an addition would wait for the one before. The
  // first bucket of the table stays empty, because its numbers are counted like those below the table.
  std::vector<uint32_t> counters_;
  MagnitudeBucket first_ = 0;
  uint64_t counted_ = 0;
};

// Writes (bucket - first) of each magnitude above bucket `first` and returns the number of them. Overwrites up to
// kBucketRoom elements after them.
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

// The finite elements of one side of a block.
struct BlockMoments {
  uint64_t count = 0;
  Scaled sum;
  double mean = 0;
  double mean_rest = 0;  // of 64-bit integers: the part of the mean below the last digit of a double
  Scaled squares;        // of the distances from the mean
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();

  bool operator==(const BlockMoments&) const = default;
};

// The finite elements of one side.
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
  double half_rest_ = 0;  // half of the distance from there to the mean of all; 0 if all values are equal
  double max_ = -std::numeric_limits<double>::infinity();
  double min_ = std::numeric_limits<double>::infinity();
};

struct BlockFacts;

// The pairs of a chunk, or of several consecutive chunks: sums, counts and extremes, from which finish() computes the
// metrics.
struct PairState {
  uint64_t elements = 0;  // pairs
  uint64_t finite = 0;    // pairs of finite elements
  uint64_t equal = 0, reference_zero = 0, reference_nonzero = 0;
  uint64_t under_1e3 = 0, under_5e3 = 0, over_tolerance = 0;
  uint64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  double max_abs = 0, max_rel = 0;  // max_rel: of references other than 0
  double max_scaled = 0;
  std::optional<uint64_t> worst;    // none if `finite` is 0
  std::optional<uint64_t> max_ulp;  // none if the dtype has none
  WideSum abs, relative;            // of d, of d / |b|
  WideSum squares;                  // of d
  WideSum squares_a, squares_b, products;
  Moments a, b;
  MagnitudeCounts magnitudes;  // of d
  bool has_magnitudes = false;

  // Appends a block.
  void add(const BlockFacts& block);

  // Appends a chunk. The last bits of sums may differ from those of adding its blocks.
  void merge(const PairState& next);

  bool operator==(const PairState&) const = default;
};

struct PairRule {
  double rtol = 0, atol = 0;  // of over_tolerance; not negative
  double scale = 0;           // of max_scaled; not negative, finite
  bool ulp = true;            // false if one tensor was widened from another dtype
  bool quantiles = true;
};

constexpr int64_t kPairBlock = 1024;

// True for every dtype but the raw ones.
[[nodiscard]] bool can_pair(DType dtype);

// Adds the next pairs of a chunk. Both elements are `dtype`; types narrower than a byte are unpacked (widen.h). Any
// alignment. For results that do not depend on slabs, all calls of a chunk but the last have a multiple of kPairBlock
// pairs.
void pair_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                PairState& state);

// The definition, one pair at a time; for tests.
void pair_reference(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                    PairState& state);

// An undefined metric (no pairs, the cosine of zeros, the max of complex numbers) has no value.
struct PairMetrics {
  uint64_t count = 0, equal = 0, over_tolerance = 0, reference_zero = 0;
  uint64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  std::optional<double> max_abs, max_rel, max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine;
  std::optional<double> std_a, std_b, mean_a, mean_b, max_a, max_b, min_a, min_b;
  std::optional<double> under_1e3, under_5e3, p50_abs, p99_abs;
  std::optional<uint64_t> max_ulp, worst;
};

// visit(count, equal, ..) with all members, in the order of declaration: the one list of them besides the struct. A member
// that is missing here does not compile.
void visit_members(auto& visit, auto& metrics) {
  auto& [count, equal, over_tolerance, reference_zero, nan_a, nan_b, nan_mismatch, inf_mismatch, max_abs, max_rel,
         max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine, std_a, std_b, mean_a, mean_b, max_a,
         max_b, min_a, min_b, under_1e3, under_5e3, p50_abs, p99_abs, max_ulp, worst] = metrics;
  visit(count, equal, over_tolerance, reference_zero, nan_a, nan_b, nan_mismatch, inf_mismatch, max_abs, max_rel,
        max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine, std_a, std_b, mean_a, mean_b, max_a,
        max_b, min_a, min_b, under_1e3, under_5e3, p50_abs, p99_abs, max_ulp, worst);
}

[[nodiscard]] PairMetrics finish(const PairState& state);

// The Kullback-Leibler divergence as msaccucmp defines it, but in double precision, over the pairs of finite real numbers. A
// second pass, because it needs the extremes of both sides.
//
//     1. each side becomes (x - min) / (max - min); a constant side stays as it is
//     2. floor at 1.1920929e-7 (2^-23), so that no logarithm is infinite
//     3. divide by the sum: two probability distributions p, of a, and q, of b
//     4. sum of p ln(p / q); below 2.2e-16 it is 0
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

// Adds the next pairs of a chunk; elements as for pair_block().
void kl_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const KlRange& range, KlState& state);

// No value without pairs.
[[nodiscard]] std::optional<double> finish(const KlState& state);

// ln x of a positive, finite x within 1e-15 relative. The same bits on every CPU, unlike that of the C library.
[[nodiscard]] double natural_log(double x);

}  // namespace msdump::kernels
