#include "kernels/pair/pair.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "kernels/dispatch.h"
#include "kernels/pair/pair_block.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype.h"

namespace msdump::kernels {
namespace {

constexpr int kBucketShift = 52 - kBucketsPerOctaveLog2;
constexpr uint32_t kInOctave = kBucketsPerOctave - 1;
constexpr size_t kAtOnce = 256;

}  // namespace

MagnitudeBucket bucket_of(double magnitude) {
  return static_cast<MagnitudeBucket>(std::bit_cast<uint64_t>(magnitude) >> kBucketShift);
}

double lower_end(MagnitudeBucket bucket) {
  return std::bit_cast<double>(static_cast<uint64_t>(bucket) << kBucketShift);
}

MagnitudeCounts::Octave& MagnitudeCounts::octave(uint32_t number) {
  const auto at = std::lower_bound(octaves_.begin(), octaves_.end(), number,
                                   [](const Octave& octave, uint32_t wanted) { return octave.number < wanted; });
  if (at != octaves_.end() && at->number == number) return *at;
  return *octaves_.insert(at, Octave{number, {}});
}

void MagnitudeCounts::add(MagnitudeBucket bucket, uint64_t times) {
  if (bucket != 0 && times != 0) octave(bucket >> kBucketsPerOctaveLog2).counts[bucket & kInOctave] += times;
}

void MagnitudeCounts::add(const MagnitudeCounts& other) {
  for (const Octave& theirs : other.octaves_) {
    Octave& ours = octave(theirs.number);
    for (size_t i = 0; i < kBucketsPerOctave; ++i) ours.counts[i] += theirs.counts[i];
  }
}

std::optional<double> MagnitudeCounts::at_position(uint64_t position, uint64_t below) const {
  if (position < below) return 0;
  position -= below;
  for (const Octave& octave : octaves_) {
    for (uint32_t i = 0; i < kBucketsPerOctave; ++i) {
      if (position < octave.counts[i]) return lower_end((octave.number << kBucketsPerOctaveLog2) + i);
      position -= octave.counts[i];
    }
  }
  return std::nullopt;
}

uint64_t MagnitudeCounts::total() const {
  uint64_t total = 0;
  for (const Octave& octave : octaves_) total = std::accumulate(octave.counts.begin(), octave.counts.end(), total);
  return total;
}

void MagnitudeTally::add(std::span<const double> magnitudes, uint64_t zeros, double max) {
  if (zeros == magnitudes.size()) return;
  if (counters_.empty() || bucket_of(max) >= first_ + kBuckets) cover(max);
  if (counted_ + magnitudes.size() > kMostCounted) empty();
  counted_ += magnitudes.size();
  if (count(magnitudes) + zeros == magnitudes.size()) return;
  // Few numbers are below the table, at least 58 octaves below the largest.
  for (const double magnitude : magnitudes) {
    if (const MagnitudeBucket bucket = bucket_of(magnitude); bucket <= first_) counts_.add(bucket, 1);
  }
}

// Zeros have no counter; most pairs of similar tensors are equal.
size_t MagnitudeTally::count(std::span<const double> magnitudes) {
  uint32_t buckets[kAtOnce + kBucketRoom];
  uint32_t* const counters = counters_.data();
  size_t all = 0;
  while (!magnitudes.empty()) {
    const size_t number = std::min(kAtOnce, magnitudes.size());
    const size_t found = find_buckets(magnitudes.data(), number, first_, buckets);
    size_t at = 0;
    for (; at + 2 <= found; at += 2) {
      ++counters[2 * buckets[at]];
      ++counters[2 * buckets[at + 1] + 1];
    }
    if (at < found) ++counters[2 * buckets[at]];
    all += found;
    magnitudes = magnitudes.subspan(number);
  }
  return all;
}

// The table ends a few octaves above `max`, because the next blocks have similar values.
void MagnitudeTally::cover(double max) {
  constexpr MagnitudeBucket kRoom = 5U << kBucketsPerOctaveLog2;
  if (counters_.empty()) {
    counters_.resize(2 * kBuckets);
  } else {
    empty();
  }
  const MagnitudeBucket end = (bucket_of(max) & ~kInOctave) + kRoom;
  first_ = end > kBuckets ? end - kBuckets : 0;
}

void MagnitudeTally::empty() {
  if (counted_ == 0) return;
  counted_ = 0;
  constexpr size_t kCounters = 2 * kBucketsPerOctave;
  for (MagnitudeBucket octave = 0; octave < kBuckets; octave += kBucketsPerOctave) {
    uint32_t* const counters = &counters_[2 * octave];
    if (std::all_of(counters, counters + kCounters, [](uint32_t times) { return times == 0; })) continue;
    for (MagnitudeBucket i = 0; i < kBucketsPerOctave; ++i) {
      counts_.add(first_ + octave + i, uint64_t{counters[2 * i]} + counters[2 * i + 1]);
    }
    std::fill(counters, counters + kCounters, 0U);
  }
}

// Squares of two groups, each about its own mean, and of the distance between the means (Chan, Golub, LeVeque).
void Moments::take(uint64_t count, double mean, double half_rest, double max, double min) {
  const auto before = static_cast<double>(count_), added = static_cast<double>(count), all = before + added;
  max_ = std::max(max_, max);
  min_ = std::min(min_, min);
  count_ += count;
  if (before == 0) {
    mean_ = mean;
    half_rest_ = half_rest;
    return;
  }
  const double half = (0.5 * mean - 0.5 * mean_) + (half_rest - half_rest_);  // of the distance, which may be infinite
  if (half == 0) return;
  half_rest_ += half * (added / all);
  Scaled between = scaled_square(half);
  between.value *= 4 * (before * (added / all));
  if (std::abs(between.exponent) < 900) between = {std::ldexp(between.value, between.exponent), 0};
  squares_.add(between);
}

void Moments::add(const BlockMoments& block) {
  if (block.count == 0) return;
  take(block.count, block.mean, 0.5 * block.mean_rest, block.max, block.min);
  sum_.add(block.sum);
  squares_.add(block.squares);
}

void Moments::add(const Moments& next) {
  if (next.count_ == 0) return;
  take(next.count_, next.mean_, next.half_rest_, next.max_, next.min_);
  sum_.add(next.sum_);
  squares_.add(next.squares_);
}

std::optional<double> Moments::mean() const {
  if (count_ == 0) return std::nullopt;
  return squares_.total().value == 0 ? mean_ : sum_.over(static_cast<double>(count_));
}

std::optional<double> Moments::deviation() const {
  if (count_ == 0) return std::nullopt;
  Scaled variance = squares_.total();
  variance.value = std::max(0.0, variance.value / static_cast<double>(count_));
  return root_of(variance);
}

std::optional<double> Moments::max() const { return count_ == 0 ? std::nullopt : std::optional(max_); }
std::optional<double> Moments::min() const { return count_ == 0 ? std::nullopt : std::optional(min_); }

void PairState::add(const BlockFacts& block) {
  if (block.finite > 0 && (!worst || block.sums.max_abs > max_abs)) {
    worst = elements + static_cast<uint64_t>(block.worst);
    max_abs = block.sums.max_abs;
  }
  max_rel = std::max(max_rel, block.sums.max_rel);
  max_scaled = std::max(max_scaled, block.sums.max_scaled);
  if (block.max_ulp) max_ulp = std::max(max_ulp.value_or(0), *block.max_ulp);
  const auto count = [](uint64_t& total, int64_t more) { total += static_cast<uint64_t>(more); };
  count(elements, block.elements);
  count(finite, block.finite);
  count(equal, block.equal);
  count(reference_zero, block.reference_zero);
  count(reference_nonzero, block.reference_nonzero);
  count(under_1e3, block.sums.under_1e3);
  count(under_5e3, block.sums.under_5e3);
  count(over_tolerance, block.sums.over_tolerance);
  count(nan_a, block.specials.nan_a);
  count(nan_b, block.specials.nan_b);
  count(nan_mismatch, block.specials.nan_mismatch);
  count(inf_mismatch, block.specials.inf_mismatch);
  abs.add(block.sums.abs);
  relative.add(block.sums.relative);
  squares.add(block.sums.squares);
  squares_a.add(block.sums.squares_a);
  squares_b.add(block.sums.squares_b);
  products.add(block.sums.products);
  a.add(block.a);
  b.add(block.b);
}

void PairState::merge(const PairState& next) {
  if (next.worst && (!worst || next.max_abs > max_abs)) {
    worst = elements + *next.worst;
    max_abs = next.max_abs;
  }
  max_rel = std::max(max_rel, next.max_rel);
  max_scaled = std::max(max_scaled, next.max_scaled);
  if (next.max_ulp) max_ulp = std::max(max_ulp.value_or(0), *next.max_ulp);
  elements += next.elements;
  finite += next.finite;
  equal += next.equal;
  reference_zero += next.reference_zero;
  reference_nonzero += next.reference_nonzero;
  under_1e3 += next.under_1e3;
  under_5e3 += next.under_5e3;
  over_tolerance += next.over_tolerance;
  nan_a += next.nan_a;
  nan_b += next.nan_b;
  nan_mismatch += next.nan_mismatch;
  inf_mismatch += next.inf_mismatch;
  abs.add(next.abs);
  relative.add(next.relative);
  squares.add(next.squares);
  squares_a.add(next.squares_a);
  squares_b.add(next.squares_b);
  products.add(next.products);
  a.add(next.a);
  b.add(next.b);
  magnitudes.add(next.magnitudes);
  has_magnitudes |= next.has_magnitudes;
}

// The steps of pair_block.h in vectors, with a short cut for blocks with equal bits.

namespace {

struct Side {
  const std::byte* elements;
  const std::byte* finite;  // the elements, with zeros for those that are not finite
  int64_t count, finite_count;
  double max, min;  // of the finite elements

  [[nodiscard]] BlockMoments moments(DType stored, OwnSums plain) const {
    if (finite_count > 0 && !has_ordinary_squares(max, min)) return wide_moments(elements, count, max, min);
    return moments_of(stored, finite_count, plain, max, min, [this, stored](Shift shift) {
      return finite_count == count ? add_own(stored, elements, count, shift)
                                   : add_own_finite(stored, elements, count, shift);
    });
  }
};

class VectorBlocks {
 public:
  VectorBlocks(DType stored, const PairRule& rule)
      : stored_(stored), rule_(rule), infinity_(element::infinity_code(stored)) {}

  // Looks for the worst pair only if that of `state` is smaller.
  BlockFacts measure(const std::byte* a, const std::byte* b, int64_t count, const PairState& state,
                     Magnitudes& magnitudes) {
    const auto bytes = static_cast<size_t>(count * element::bytes(stored_));
    const bool same_bits = std::memcmp(a, b, bytes) == 0;
    if (same_bits) b = a;
    BlockFacts facts;
    facts.elements = count;
    CodeFacts codes = code_facts(stored_, a, b, count);
    const bool has_specials = infinity_ != 0 && (std::max(codes.max_a, codes.max_b) >= infinity_ ||
                                                 std::min(codes.min_a, codes.min_b) <= -infinity_);
    Side side_a{a, a, count, count, value(codes.max_a), value(codes.min_a)};
    Side side_b{b, b, count, count, value(codes.max_b), value(codes.min_b)};
    facts.finite = count;
    if (has_specials) {
      if (!cleaned_) cleaned_ = std::make_unique<Cleaned>();
      const SpecialFacts& found = facts.specials = clean_specials(stored_, a, b, count, *cleaned_);
      side_a = cleaned_side(a, cleaned_->own_a, count, found.finite_a, found.max_a, found.min_a);
      side_b = cleaned_side(b, cleaned_->own_b, count, found.finite_b, found.max_b, found.min_b);
      a = cleaned_->a;
      b = cleaned_->b;
      facts.finite = found.finite;
      codes = code_facts(stored_, a, b, count);
    }
    take_codes(codes, facts);
    const bool is_wide = stored_ == DType::kFloat64 && (!has_ordinary_squares(value(codes.max_a), value(codes.min_a)) ||
                                                        !has_ordinary_squares(value(codes.max_b), value(codes.min_b)));
    if (same_bits && !is_wide) {
      add_same(side_a, facts);
    } else {
      add_different(a, b, count, is_wide, has_specials, side_a, side_b, facts, magnitudes);
    }
    find_worst(state, side_a, side_b, magnitudes, facts);
    return facts;
  }

 private:
  [[nodiscard]] double value(int64_t code) const { return element::value_of_code(stored_, code); }

  // Extremes are undefined, and not needed, if there are no finite elements.
  [[nodiscard]] Side cleaned_side(const std::byte* elements, const std::byte* finite, int64_t count,
                                  int64_t finite_count, int64_t max, int64_t min) const {
    if (finite_count == 0) return {elements, finite, count, 0, 0, 0};
    return {elements, finite, count, finite_count, value(max), value(min)};
  }

  // Does not count the zeros that replace pairs that are not finite.
  void take_codes(const CodeFacts& codes, BlockFacts& facts) const {
    const int64_t cleaned = facts.elements - facts.finite;
    facts.equal = codes.equal - cleaned;
    facts.reference_zero = codes.zero_b - codes.zero_both;
    facts.reference_nonzero = facts.elements - codes.zero_b;
    if (rule_.ulp && stored_ != DType::kBool && facts.finite > 0) facts.max_ulp = codes.max_ulp;
  }

  // All pairs are equal, so the sums of one side suffice.
  void add_same(const Side& side, BlockFacts& facts) const {
    const OwnSums own = add_own(stored_, side.finite, side.count, {});
    facts.sums.squares_a.value = facts.sums.squares_b.value = facts.sums.products.value = own.squares;
    facts.sums.under_1e3 = facts.sums.under_5e3 = facts.finite;
    facts.a = facts.b = side.moments(stored_, own);
  }

  void add_different(const std::byte* a, const std::byte* b, int64_t count, bool is_wide, bool has_specials,
                     const Side& side_a, const Side& side_b, BlockFacts& facts, Magnitudes& magnitudes) const {
    OwnSums own_a, own_b;
    if (is_wide) {
      double rows_a[kPairBlock], rows_b[kPairBlock];
      const auto number = static_cast<size_t>(count);
      std::memcpy(rows_a, a, number * sizeof(double));
      std::memcpy(rows_b, b, number * sizeof(double));
      facts.sums = add_wide_pairs({rows_a, number}, {rows_b, number}, rule_, magnitudes);
    } else {
      const LaneSums lanes = add_pairs(stored_, a, b, count, rule_, magnitudes);
      facts.sums = block_sums(lanes);
      if (!has_ordinary_squares(facts.sums.max_abs)) {
        facts.sums.squares = add_wide_squares({magnitudes.values, static_cast<size_t>(count)});
      }
      own_a = {sum_of(lanes.sum_a), facts.sums.squares_a.value};
      own_b = {sum_of(lanes.sum_b), facts.sums.squares_b.value};
    }
    if (is_wide || has_specials) {
      own_a = add_own(stored_, side_a.finite, count, {});
      own_b = add_own(stored_, side_b.finite, count, {});
    }
    const int64_t others = count - facts.finite + facts.reference_zero;
    facts.sums.under_1e3 -= others;
    facts.sums.under_5e3 -= others;
    facts.a = side_a.moments(stored_, own_a);
    facts.b = side_b.moments(stored_, own_b);
  }

  void find_worst(const PairState& state, const Side& a, const Side& b, const Magnitudes& magnitudes,
                  BlockFacts& facts) const {
    if (facts.finite == 0 || (state.worst && facts.sums.max_abs <= state.max_abs)) return;
    if (facts.sums.max_abs > 0) {
      facts.worst = first_with({magnitudes.values, static_cast<size_t>(facts.elements)}, facts.sums.max_abs);
      return;
    }
    const int64_t bytes = element::bytes(stored_);
    const auto is_finite = [this, bytes](const Side& side, int64_t at) {
      return std::isfinite(element::as_double(stored_, side.elements + at * bytes));
    };
    while (!is_finite(a, facts.worst) || !is_finite(b, facts.worst)) ++facts.worst;
  }

  const DType stored_;
  const PairRule& rule_;
  const int64_t infinity_;
  std::unique_ptr<Cleaned> cleaned_;
};

bool is_complex(DType stored) { return kind_of(stored) == DTypeKind::kComplex; }
bool is_narrow(DType stored) { return needs_widening(stored) && stored != DType::kBfloat16; }

// Measures a block of two tensors. Elements whose dtype numpy lacks are widened, one block at a time.
class BlockMeasure {
 public:
  BlockMeasure(DType dtype, const PairRule& rule, const PairState& state, bool with_vectors)
      : stored_(element::stored_as(dtype)),
        plain_(is_narrow(stored_) ? info(stored_).npy_dtype : stored_),
        rule_(rule),
        state_(state) {
    if (with_vectors && !is_complex(plain_)) vectors_.emplace(plain_, rule);
    if (plain_ != stored_) wide_ = std::make_unique<Wide>();
  }

  BlockFacts measure(const std::byte* a, const std::byte* b, int64_t count, Magnitudes& magnitudes) {
    if (!wide_) return measure_plain(a, b, count, magnitudes);
    widen(stored_, a, count, wide_->a);
    widen(stored_, b, count, wide_->b);
    BlockFacts facts = measure_plain(wide_->a, wide_->b, count, magnitudes);
    facts.max_ulp.reset();
    if (rule_.ulp && stored_ != DType::kComplex32 && facts.finite > 0) {
      facts.max_ulp = max_ulp_of_codes(stored_, a, b, count);
    }
    return facts;
  }

 private:
  struct Wide {
    alignas(64) std::byte a[kPairBlock * 8];
    alignas(64) std::byte b[kPairBlock * 8];
  };

  BlockFacts measure_plain(const std::byte* a, const std::byte* b, int64_t count, Magnitudes& magnitudes) {
    if (is_complex(plain_)) return complex_block_facts(plain_, a, b, count, rule_, magnitudes);
    if (vectors_) return vectors_->measure(a, b, count, state_, magnitudes);
    return block_facts_reference(plain_, a, b, count, rule_, magnitudes);
  }

  const DType stored_, plain_;
  const PairRule& rule_;
  const PairState& state_;
  std::optional<VectorBlocks> vectors_;
  std::unique_ptr<Wide> wide_;
};

void pair_blocks(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                 PairState& state, bool with_vectors) {
  assert(can_pair(dtype));
  if (count == 0) return;
  BlockMeasure blocks(dtype, rule, state, with_vectors);
  const int64_t bytes = element::bytes(dtype);
  Magnitudes magnitudes;
  MagnitudeTally tally(state.magnitudes);
  state.has_magnitudes |= rule.quantiles;
  for (int64_t at = 0; at < count; at += kPairBlock) {
    const int64_t number = std::min(kPairBlock, count - at);
    const BlockFacts facts = blocks.measure(a + at * bytes, b + at * bytes, number, magnitudes);
    if (rule.quantiles && facts.sums.max_abs > 0) {
      const int64_t zeros = facts.equal + number - facts.finite;
      tally.add({magnitudes.values, static_cast<size_t>(number)}, static_cast<uint64_t>(zeros), facts.sums.max_abs);
    }
    state.add(facts);
  }
}

}  // namespace

bool can_pair(DType dtype) { return !is_raw(dtype) && dtype != DType::kUndefined; }

void pair_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                PairState& state) {
  pair_blocks(dtype, a, b, count, rule, state, !portable_forced() && has_pair_vectors());
}

void pair_reference(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                    PairState& state) {
  pair_blocks(dtype, a, b, count, rule, state, false);
}

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// sqrt(a / b); infinite if only b is 0.
double root_of_ratio(const WideSum& a, const WideSum& b) {
  const Scaled above = a.total(), below = b.total();
  if (above.value == 0) return 0;
  if (below.value == 0) return kInf;
  return root_of({above.value / below.value, above.exponent - below.exponent});
}

std::optional<double> cosine(const PairState& state) {
  const Scaled a = state.squares_a.total(), b = state.squares_b.total(), product = state.products.total();
  if (a.value == 0 || b.value == 0) return std::nullopt;
  if (state.equal == state.finite) return 1.0;  // the roots of equal sums may differ from it in the last digit
  const auto even = [](Scaled x) {
    return x.exponent % 2 == 0 ? x : Scaled{std::ldexp(x.value, x.exponent % 2), x.exponent - x.exponent % 2};
  };
  const Scaled x = even(a), y = even(b);
  const double ratio = product.value / (std::sqrt(x.value) * std::sqrt(y.value));
  return std::clamp(std::ldexp(ratio, product.exponent - x.exponent / 2 - y.exponent / 2), -1.0, 1.0);
}

std::optional<double> quantile(const PairState& state, uint64_t rank) {
  if (!state.has_magnitudes) return std::nullopt;
  return state.magnitudes.at_position(rank, state.finite - state.magnitudes.total());
}

}  // namespace

PairMetrics finish(const PairState& state) {
  PairMetrics metrics;
  metrics.count = state.finite;
  metrics.equal = state.equal;
  metrics.over_tolerance = state.over_tolerance;
  metrics.reference_zero = state.reference_zero;
  metrics.nan_a = state.nan_a;
  metrics.nan_b = state.nan_b;
  metrics.nan_mismatch = state.nan_mismatch;
  metrics.inf_mismatch = state.inf_mismatch;
  metrics.mean_a = state.a.mean();
  metrics.mean_b = state.b.mean();
  metrics.std_a = state.a.deviation();
  metrics.std_b = state.b.deviation();
  metrics.max_a = state.a.max();
  metrics.max_b = state.b.max();
  metrics.min_a = state.a.min();
  metrics.min_b = state.b.min();
  if (state.finite == 0) return metrics;

  const auto count = static_cast<double>(state.finite);
  Scaled mean_square = state.squares.total();
  mean_square.value /= count;
  metrics.max_abs = state.max_abs;
  metrics.max_rel = state.reference_zero > 0 ? kInf : state.max_rel;
  metrics.max_scaled = state.max_scaled;
  metrics.mean_abs = state.abs.over(count);
  if (state.reference_nonzero > 0) metrics.mean_rel = state.relative.over(static_cast<double>(state.reference_nonzero));
  metrics.rmse = root_of(mean_square);
  metrics.l2_distance = root_of(state.squares.total());
  metrics.relative_l2 = root_of_ratio(state.squares, state.squares_b);
  metrics.cosine = cosine(state);
  metrics.under_1e3 = static_cast<double>(state.under_1e3) / count;
  metrics.under_5e3 = static_cast<double>(state.under_5e3) / count;
  metrics.p50_abs = quantile(state, (state.finite - 1) / 2);
  metrics.p99_abs = quantile(state, state.finite - 1 - state.finite / 100);
  metrics.max_ulp = state.max_ulp;
  metrics.worst = state.worst;
  return metrics;
}

namespace {

constexpr double kFloor = 0x1p-23;      // FLT_EPSILON
constexpr double kZero = 2.220446e-16;  // msaccucmp's DBL_EPSILON

// Steps 1 and 2 of the divergence. Uses halves, because max - min may be infinite.
class Weight {
 public:
  Weight(double max, double min) : half_min_(0.5 * min), half_range_(0.5 * max - 0.5 * min) {}

  [[nodiscard]] double of(double x) const {
    const double weight = half_range_ > 0 ? (0.5 * x - half_min_) / half_range_ : x;
    return std::max(weight, kFloor);
  }

 private:
  double half_min_, half_range_;
};

}  // namespace

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| <= 0.172, as a series.
double natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), t = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * t;
  constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;  // high has 11 zeros at its end
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

void KlState::merge(const KlState& next) {
  p.add(next.p);
  q.add(next.q);
  p_log_ratio.add(next.p_log_ratio);
  finite += next.finite;
}

bool can_kl(DType dtype) {
  if (!can_pair(dtype)) return false;
  const DType becomes = info(dtype).npy_dtype;
  return becomes != DType::kComplex64 && becomes != DType::kComplex128;
}

void kl_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const KlRange& range,
              KlState& state) {
  assert(can_kl(dtype));
  const DType stored = element::stored_as(dtype);
  const int64_t bytes = element::bytes(dtype);
  const Weight weight_a(range.max_a, range.min_a), weight_b(range.max_b, range.min_b);
  for (int64_t at = 0; at < count; ++at, a += bytes, b += bytes) {
    const double x = element::as_double(stored, a), y = element::as_double(stored, b);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const double p = weight_a.of(x), q = weight_b.of(y);
    state.p.add(p);
    state.q.add(q);
    state.p_log_ratio.add(p * (natural_log(p) - natural_log(q)));
    ++state.finite;
  }
}

// The divergence is sum P ln(P / Q) / sum P + ln(sum Q / sum P) for p = P / sum P and q = Q / sum Q.
std::optional<double> finish(const KlState& state) {
  if (state.finite == 0) return std::nullopt;
  const double p = state.p.value(), q = state.q.value();
  if (!std::isfinite(p) || !std::isfinite(q)) return std::nullopt;
  const double divergence = state.p_log_ratio.value() / p + (natural_log(q) - natural_log(p));
  return std::abs(divergence) < kZero ? 0 : divergence;
}

}  // namespace msdump::kernels
