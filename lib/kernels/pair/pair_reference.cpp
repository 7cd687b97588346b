// The definition of pair, one element at a time. CPUs without vectors run it too.

#include "kernels/pair/pair_block.h"
#include "kernels/pair/pair_common.h"
#include "kernels/pair/pair_element.h"

namespace msdump::kernels {
namespace {

// One pair, as the metrics see it.
struct Pair {
  double a, b, d;  // zeros unless both are finite
  int64_t code_a, code_b;
  bool finite_a, finite_b;

  [[nodiscard]] bool finite() const { return finite_a && finite_b; }
};

class Block {
 public:
  Block(DType stored, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule)
      : stored_(stored), a_(a), b_(b), count_(count), rule_(rule) {}

  BlockFacts look(Magnitudes& magnitudes) {
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
  return Block(stored, a, b, count, rule).look(magnitudes);
}

}  // namespace msdump::kernels
