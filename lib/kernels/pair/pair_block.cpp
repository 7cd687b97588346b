#include "kernels/pair/pair_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/bytes.h"
#include "kernels/reduce/reduce_block.h"

namespace msdump::kernels {
namespace {

int exponent_of(double x) {
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  return exponent;
}

double largest(std::span<const double> values) {
  double max = 0;
  for (const double value : values) max = std::max(max, std::abs(value));
  return max;
}

double max_of(const Lanes& lanes) { return *std::max_element(std::begin(lanes), std::end(lanes)); }

// d of doubles whose difference may overflow. Then half of it is compared with half of a bound.
struct Difference {
  double half_a, half_b;
  double full;  // infinite if it overflows

  Difference(double a, double b) : half_a(0.5 * a), half_b(0.5 * b), full(std::abs(a - b)) {}

  [[nodiscard]] double half() const { return std::abs(half_a - half_b); }
  [[nodiscard]] double over(double reference) const {
    return std::isfinite(full) ? full / reference : half() / (0.5 * reference);
  }
  // d / (reference + scale)
  [[nodiscard]] double over(double reference, double scale) const {
    const double base = reference + scale;
    if (half() == 0) return 0;
    return std::isfinite(full) && std::isfinite(base) ? full / base : half() / (0.5 * reference + 0.5 * scale);
  }
  [[nodiscard]] bool exceeds(double rtol, double atol, double reference) const {
    return std::isfinite(full) ? full > atol + rtol * reference : half() > 0.5 * atol + rtol * (0.5 * reference);
  }
};

}  // namespace

BlockSums block_sums(const LaneSums& lanes) {
  BlockSums sums;
  sums.abs.value = sum_of(lanes.abs);
  sums.squares.value = sum_of(lanes.squares);
  sums.squares_a.value = sum_of(lanes.squares_a);
  sums.squares_b.value = sum_of(lanes.squares_b);
  sums.products.value = sum_of(lanes.products);
  sums.relative = sum_of(lanes.relative);
  sums.max_abs = max_of(lanes.max_abs);
  sums.max_rel = max_of(lanes.max_rel);
  sums.max_scaled = max_of(lanes.max_scaled);
  sums.under_1e3 = lanes.under_1e3;
  sums.under_5e3 = lanes.under_5e3;
  sums.over_tolerance = lanes.over_tolerance;
  return sums;
}

Scaled add_wide_squares(std::span<const double> magnitudes) {
  const int exponent = exponent_of(largest(magnitudes));
  Scaled squares{0, 2 * exponent};
  for (const double magnitude : magnitudes) {
    const double scaled = std::ldexp(magnitude, -exponent);
    squares.value += scaled * scaled;
  }
  return squares;
}

BlockSums add_wide_pairs(std::span<const double> a, std::span<const double> b, const PairRule& rule,
                         Magnitudes& magnitudes) {
  const int exponent_a = exponent_of(largest(a)), exponent_b = exponent_of(largest(b));
  BlockSums sums;
  sums.squares_a.exponent = 2 * exponent_a;
  sums.squares_b.exponent = 2 * exponent_b;
  sums.products.exponent = exponent_a + exponent_b;
  double halves[kPairBlock];  // of d
  for (size_t i = 0; i < a.size(); ++i) {
    const Difference d(a[i], b[i]);
    const double reference = std::abs(b[i]), ratio = reference != 0 ? d.over(reference) : 0;
    const double x = std::ldexp(a[i], -exponent_a), y = std::ldexp(b[i], -exponent_b);
    halves[i] = d.half();
    magnitudes.values[i] = d.full;
    sums.squares_a.value += x * x;
    sums.squares_b.value += y * y;
    sums.products.value += x * y;
    sums.relative += ratio;
    sums.max_abs = std::max(sums.max_abs, d.full);
    sums.max_rel = std::max(sums.max_rel, ratio);
    sums.max_scaled = std::max(sums.max_scaled, d.over(reference, rule.scale));
    sums.under_1e3 += ratio < 1e-3 ? 1 : 0;
    sums.under_5e3 += ratio < 5e-3 ? 1 : 0;
    sums.over_tolerance += d.exceeds(rule.rtol, rule.atol, reference) ? 1 : 0;
  }
  const bool too_large = !std::isfinite(sums.max_abs);
  const std::span<const double> differences(too_large ? halves : magnitudes.values, a.size());
  sums.squares = add_wide_squares(differences);
  sums.abs.exponent = sums.squares.exponent / 2;
  for (const double d : differences) sums.abs.value += std::ldexp(d, -sums.abs.exponent);
  if (too_large) {
    sums.squares.exponent += 2;
    sums.abs.exponent += 1;
  }
  return sums;
}

OwnSums add_own_finite(DType stored, const std::byte* from, int64_t count, Shift shift) {
  const int64_t bytes = element::bytes(stored);
  Lanes sums = {}, squares = {};
  for (int64_t at = 0; at < count; ++at, from += bytes) {
    double x = element::as_double(stored, from);
    if (!std::isfinite(x)) continue;
    if (element::has_exact_difference(stored)) {
      const int64_t code = element::code_of(stored, from);
      const auto distance = static_cast<double>(element::distance(stored, code, shift.integer));
      x = element::is_less(stored, code, shift.integer) ? -distance : distance;
    } else {
      x -= shift.value;
    }
    sums[at % static_cast<int64_t>(kLanes)] += x;
    squares[at % static_cast<int64_t>(kLanes)] += x * x;
  }
  return {sum_of(sums), sum_of(squares)};
}

Shift integer_at(DType stored, double value) {
  constexpr double kEnd = 0x1p63;
  Shift shift;
  if (stored == DType::kUint64) {
    const uint64_t integer = value >= 2 * kEnd ? ~uint64_t{0} : static_cast<uint64_t>(value);
    shift.integer = static_cast<int64_t>(integer);
    shift.value = static_cast<double>(integer);
  } else {
    shift.integer = value >= kEnd ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(value);
    shift.value = static_cast<double>(shift.integer);
  }
  return shift;
}

BlockMoments wide_moments(const std::byte* from, int64_t count, double max, double min) {
  const int exponent = exponent_of(std::max(std::abs(max), std::abs(min)));
  double scaled[kPairBlock];
  size_t number = 0;
  double sum = 0;
  for (int64_t at = 0; at < count; ++at) {
    const auto x = load<double>(from + at * 8);
    if (!std::isfinite(x)) continue;
    scaled[number] = std::ldexp(x, -exponent);
    sum += scaled[number++];
  }
  if (number == 0) return {};
  const auto n = static_cast<double>(number);
  const double mean = sum / n;
  double rest = 0, squares = 0;
  for (size_t i = 0; i < number; ++i) {
    rest += scaled[i] - mean;
    squares += (scaled[i] - mean) * (scaled[i] - mean);
  }
  squares = max == min ? 0 : std::max(0.0, squares - rest * (rest / n));
  return {.count = number,
          .sum = {sum, exponent},
          .mean = max == min ? max : std::ldexp(mean + rest / n, exponent),
          .mean_rest = 0,
          .squares = {squares, 2 * exponent},
          .max = max,
          .min = min};
}

int64_t first_with(std::span<const double> magnitudes, double max) {
  return std::find(magnitudes.begin(), magnitudes.end(), max) - magnitudes.begin();
}

namespace {

struct Complex {
  double re, im;

  [[nodiscard]] bool is_nan() const { return std::isnan(re) || std::isnan(im); }
  [[nodiscard]] bool is_finite() const { return std::isfinite(re) && std::isfinite(im); }
  [[nodiscard]] bool is_zero() const { return re == 0 && im == 0; }
  [[nodiscard]] double larger() const { return std::max(std::abs(re), std::abs(im)); }
  bool operator==(const Complex&) const = default;  // -0 is +0
};

Complex complex_at(DType stored, const std::byte* at) {
  if (stored == DType::kComplex64) {
    return {static_cast<double>(load<float>(at)), static_cast<double>(load<float>(at + 4))};
  }
  return {load<double>(at), load<double>(at + 8)};
}

// Not std::hypot(), whose last digit depends on the C library.
Scaled modulus(Complex x) {
  int exponent = 0;
  (void)std::frexp(x.larger(), &exponent);
  const double re = std::ldexp(x.re, -exponent), im = std::ldexp(x.im, -exponent);
  return {std::sqrt(re * re + im * im), exponent};
}

double value_of(Scaled x) { return std::ldexp(x.value, x.exponent); }

struct Sums {
  WideSum abs, squares, squares_a, squares_b, products;
};

void add_finite(Complex a, Complex b, const PairRule& rule, BlockFacts& facts, Sums& sums, double& magnitude) {
  // Quarters, so that no difference and no modulus becomes infinite.
  const Complex quarter{0.25 * a.re - 0.25 * b.re, 0.25 * a.im - 0.25 * b.im}, exact{a.re - b.re, a.im - b.im};
  const bool is_large = std::max(a.larger(), b.larger()) > 0x1p1000;
  Scaled d = modulus(is_large ? quarter : exact);
  if (is_large) d.exponent += 2;
  const Scaled reference = modulus(b), own = modulus(a);
  const double ratio = b.is_zero() ? 0 : std::ldexp(d.value / reference.value, d.exponent - reference.exponent);
  magnitude = value_of(d);

  ++facts.finite;
  facts.equal += a == b ? 1 : 0;
  facts.reference_zero += b.is_zero() && !a.is_zero() ? 1 : 0;
  facts.reference_nonzero += b.is_zero() ? 0 : 1;
  const bool no_ratio = b.is_zero() && !a.is_zero();
  facts.sums.under_1e3 += !no_ratio && ratio < 1e-3 ? 1 : 0;
  facts.sums.under_5e3 += !no_ratio && ratio < 5e-3 ? 1 : 0;
  facts.sums.over_tolerance += magnitude > rule.atol + rule.rtol * value_of(reference) ? 1 : 0;
  facts.sums.max_rel = std::max(facts.sums.max_rel, ratio);
  if (magnitude != 0) {
    // In units of the reference, in which no modulus is rounded; infinite if the reference is negligible beside it.
    const double scale = std::ldexp(rule.scale, -reference.exponent);
    const double scaled = std::isfinite(scale)
                              ? std::ldexp(d.value / (reference.value + scale), d.exponent - reference.exponent)
                              : magnitude / rule.scale;
    facts.sums.max_scaled = std::max(facts.sums.max_scaled, scaled);
  }
  facts.sums.relative += ratio;
  sums.abs.add(d);
  sums.squares.add(Scaled{d.value * d.value, 2 * d.exponent});
  sums.squares_a.add(Scaled{own.value * own.value, 2 * own.exponent});
  sums.squares_b.add(Scaled{reference.value * reference.value, 2 * reference.exponent});
  const auto part = [exponent = own.exponent + reference.exponent, &own, &reference](double x, double y) {
    return Scaled{std::ldexp(x, -own.exponent) * std::ldexp(y, -reference.exponent), exponent};
  };
  sums.products.add(part(a.re, b.re));
  sums.products.add(part(a.im, b.im));
}

void count_special(Complex a, Complex b, SpecialFacts& specials) {
  specials.nan_a += a.is_nan() ? 1 : 0;
  specials.nan_b += b.is_nan() ? 1 : 0;
  specials.nan_mismatch += a.is_nan() != b.is_nan() ? 1 : 0;
  specials.inf_mismatch += !a.is_nan() && !b.is_nan() && !(a == b) ? 1 : 0;
}

}  // namespace

BlockFacts complex_block_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                               const PairRule& rule, Magnitudes& magnitudes) {
  BlockFacts facts;
  facts.elements = count;
  Sums sums;
  const int64_t bytes = element::bytes(stored);
  for (int64_t at = 0; at < count; ++at, a += bytes, b += bytes) {
    const Complex x = complex_at(stored, a), y = complex_at(stored, b);
    double& magnitude = magnitudes.values[at] = 0;
    if (!x.is_finite() || !y.is_finite()) {
      count_special(x, y, facts.specials);
      continue;
    }
    const bool is_first = facts.finite == 0;
    add_finite(x, y, rule, facts, sums, magnitude);
    if (is_first || magnitude > facts.sums.max_abs) {
      facts.worst = at;
      facts.sums.max_abs = magnitude;
    }
  }
  facts.sums.abs = sums.abs.total();
  facts.sums.squares = sums.squares.total();
  facts.sums.squares_a = sums.squares_a.total();
  facts.sums.squares_b = sums.squares_b.total();
  facts.sums.products = sums.products.total();
  return facts;
}

// The position of each code of a dtype among its values; distances of positions are ULP.

namespace {

constexpr int kNone = -1;  // NaN and infinities

using Places = std::array<int, 256>;

Places make_places(const DTypeInfo& row) {
  const unsigned codes = 1U << row.bits;
  const CodeValues& values = *row.traits.values;
  std::vector<float> finite;
  for (unsigned code = 0; code < codes; ++code) {
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
  static const std::vector<Places> places = [] {
    std::vector<Places> all;
    for (const DTypeInfo& row : all_dtypes()) all.push_back(row.traits.values == nullptr ? Places() : make_places(row));
    return all;
  }();
  return places[static_cast<size_t>(dtype)];
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

// The definition, one element at a time. CPUs without vectors run it, too.

namespace {

struct Pair {
  double a, b, d;  // zeros unless both are finite
  int64_t code_a, code_b;
  bool finite_a, finite_b;

  [[nodiscard]] bool finite() const { return finite_a && finite_b; }
};

class ReferenceBlock {
 public:
  ReferenceBlock(DType stored, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule)
      : stored_(stored), a_(a), b_(b), count_(count), rule_(rule) {}

  BlockFacts measure(Magnitudes& magnitudes) {
    facts_.elements = count_;
    for (int64_t at = 0; at < count_; ++at) {
      const Pair pair = pair_at(at);
      rows_a_[at] = pair.a;
      rows_b_[at] = pair.b;
      magnitudes.values[at] = pair.d;
      if (pair.finite()) {
        ++facts_.finite;
        count(pair);
        add(pair, static_cast<size_t>(at) % kLanes);
      }
      take_own(pair, at);
    }
    facts_.sums = block_sums(lanes_);
    const auto number = static_cast<size_t>(count_);
    const auto has_wide = [number](const double* row) {
      double max = 0;
      for (size_t i = 0; i < number; ++i) max = std::max(max, std::abs(row[i]));
      return !has_ordinary_squares(max);
    };
    if (stored_ == DType::kFloat64 && (has_wide(rows_a_) || has_wide(rows_b_))) {
      facts_.sums = add_wide_pairs({rows_a_, number}, {rows_b_, number}, rule_, magnitudes);
      const int64_t others = count_ - facts_.finite + facts_.reference_zero;
      facts_.sums.under_1e3 -= others;
      facts_.sums.under_5e3 -= others;
    } else if (!has_ordinary_squares(facts_.sums.max_abs)) {
      facts_.sums.squares = add_wide_squares({magnitudes.values, number});
    }
    facts_.worst = worst(magnitudes);
    facts_.a = own_a_.moments(stored_, a_, count_);
    facts_.b = own_b_.moments(stored_, b_, count_);
    return facts_;
  }

 private:
  struct Own {
    int64_t finite = 0;
    double max = -std::numeric_limits<double>::infinity(), min = -max;

    void take(double x) {
      ++finite;
      max = std::max(max, x);
      min = std::min(min, x);
    }

    [[nodiscard]] BlockMoments moments(DType stored, const std::byte* from, int64_t count) const {
      if (finite > 0 && !has_ordinary_squares(max, min)) return wide_moments(from, count, max, min);
      const auto sums = [&](Shift shift) { return add_own_finite(stored, from, count, shift); };
      return moments_of(stored, finite, sums({}), max, min, sums);
    }
  };

  [[nodiscard]] Pair pair_at(int64_t at) const {
    const int64_t offset = at * element::bytes(stored_);
    Pair pair{element::as_double(stored_, a_ + offset),
              element::as_double(stored_, b_ + offset),
              0,
              element::code_of(stored_, a_ + offset),
              element::code_of(stored_, b_ + offset),
              true,
              true};
    pair.finite_a = std::isfinite(pair.a);
    pair.finite_b = std::isfinite(pair.b);
    if (!pair.finite()) {
      pair.a = pair.b = 0;
    } else if (element::has_exact_difference(stored_)) {
      pair.d = static_cast<double>(element::distance(stored_, pair.code_a, pair.code_b));
    } else {
      pair.d = std::abs(pair.a - pair.b);
    }
    return pair;
  }

  void count(const Pair& pair) {
    facts_.equal += pair.code_a == pair.code_b ? 1 : 0;
    facts_.reference_zero += pair.code_b == 0 && pair.code_a != 0 ? 1 : 0;
    facts_.reference_nonzero += pair.code_b != 0 ? 1 : 0;
    if (!rule_.ulp || stored_ == DType::kBool) return;
    const uint64_t ulp = element::distance(stored_, pair.code_a, pair.code_b);
    facts_.max_ulp = std::max(facts_.max_ulp.value_or(0), ulp);
  }

  void add(const Pair& pair, size_t lane) {
    const double reference = std::abs(pair.b), ratio = reference != 0 ? pair.d / reference : 0;
    lanes_.abs[lane] += pair.d;
    lanes_.squares[lane] += pair.d * pair.d;
    lanes_.relative[lane] += ratio;
    lanes_.squares_a[lane] += pair.a * pair.a;
    lanes_.squares_b[lane] += pair.b * pair.b;
    lanes_.products[lane] += pair.a * pair.b;
    lanes_.max_abs[lane] = std::max(lanes_.max_abs[lane], pair.d);
    lanes_.max_rel[lane] = std::max(lanes_.max_rel[lane], ratio);
    raise_to_quotient(lanes_.max_scaled[lane], pair.d, reference + rule_.scale);
    const bool no_ratio = pair.b == 0 && pair.d != 0;
    lanes_.under_1e3 += !no_ratio && ratio < 1e-3 ? 1 : 0;
    lanes_.under_5e3 += !no_ratio && ratio < 5e-3 ? 1 : 0;
    lanes_.over_tolerance += pair.d > rule_.atol + rule_.rtol * reference ? 1 : 0;
  }

  void take_own(const Pair& pair, int64_t at) {
    const int64_t offset = at * element::bytes(stored_);
    const double a = element::as_double(stored_, a_ + offset), b = element::as_double(stored_, b_ + offset);
    if (pair.finite_a) own_a_.take(a + 0.0);  // -0 is +0
    if (pair.finite_b) own_b_.take(b + 0.0);
    SpecialFacts& specials = facts_.specials;
    specials.nan_a += std::isnan(a) ? 1 : 0;
    specials.nan_b += std::isnan(b) ? 1 : 0;
    specials.nan_mismatch += std::isnan(a) != std::isnan(b) ? 1 : 0;
    const bool has_nan = std::isnan(a) || std::isnan(b), has_infinity = std::isinf(a) || std::isinf(b);
    specials.inf_mismatch += !has_nan && has_infinity && a != b ? 1 : 0;
  }

  [[nodiscard]] int64_t worst(const Magnitudes& magnitudes) const {
    for (int64_t at = 0; at < count_; ++at) {
      if (magnitudes.values[at] == facts_.sums.max_abs && pair_at(at).finite()) return at;
    }
    return 0;
  }

  const DType stored_;
  const std::byte* const a_;
  const std::byte* const b_;
  const int64_t count_;
  const PairRule& rule_;
  BlockFacts facts_;
  LaneSums lanes_;
  double rows_a_[kPairBlock], rows_b_[kPairBlock];
  Own own_a_, own_b_;
};

}  // namespace

BlockFacts block_facts_reference(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                 const PairRule& rule, Magnitudes& magnitudes) {
  return ReferenceBlock(stored, a, b, count, rule).measure(magnitudes);
}

}  // namespace msdump::kernels
