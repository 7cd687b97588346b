// Pairs of complex numbers: moduli in place of magnitudes, otherwise as any pair.
#include <cmath>

#include "base/load.h"
#include "kernels/pair/pair_block.h"
#include "kernels/pair/pair_common.h"
#include "kernels/reduce/reduce_element.h"

namespace msdump::kernels {
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

// Not std::hypot, whose last digit is the C library's.
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
  // A quarter of each, so that no difference and no modulus becomes infinite.
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
    // In the units of the reference, where no modulus is rounded; infinite if the reference is nothing beside it.
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

}  // namespace msdump::kernels
