#include "support/noisy_net/arithmetic.h"

#include <bit>
#include <limits>
#include <random>

namespace msdump::noisy {

double with_mantissa(double x, int bits) {
  if (!std::isfinite(x)) return x;
  const int dropped = 52 - bits;
  auto pattern = std::bit_cast<uint64_t>(x);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  const uint64_t odd = (pattern >> dropped) & 1;
  pattern += half - 1 + odd;
  pattern &= ~((uint64_t{1} << dropped) - 1);
  return std::bit_cast<double>(pattern);
}

double rounded(double x, Store store) {
  switch (store) {
    case Store::kFloat64: return x;
    case Store::kFloat32: return static_cast<float>(x);
    case Store::kBFloat16: return with_mantissa(static_cast<float>(x), 7);
    case Store::kFloat16: break;
  }
  const double size = std::fabs(x);
  if (!(size < 65520)) return std::isnan(x) ? x : std::copysign(std::numeric_limits<double>::infinity(), x);
  if (size < 0x1p-14) return std::nearbyint(x * 0x1p24) * 0x1p-24;
  return with_mantissa(x, 10);
}

double Arithmetic::exp(double x) const {
  if (!fast_exp) return function(std::exp(x));
  // 2^n times a polynomial of 2^f, good to 1e-7 in float32: not to the last bit, and the same way everywhere.
  const double scaled = x * 1.4426950408889634;
  const double whole = std::nearbyint(scaled);
  const double part = (scaled - whole) * 0.6931471805599453;
  double value = 1.0 / 120;
  for (const double next : {1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0}) value = inner(value * part + next);
  return function(std::ldexp(value, static_cast<int>(std::fmax(whole, -1000))));
}

Arithmetic Arithmetic::in_float32() const {
  Arithmetic result = *this;
  if (store == Store::kFloat16 || store == Store::kBFloat16) {
    result.store = Store::kFloat32;
    result.function_bits = 0;
  }
  return result;
}

Arithmetic reference_arithmetic(uint64_t seed) {
  Arithmetic how;
  how.wide_sums = seed % 3 == 0;
  return how;
}

Arithmetic candidate_arithmetic(uint64_t seed) {
  std::mt19937_64 random(seed * 977 + 5);
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  Arithmetic how;
  how.order = chance(2) ? Arithmetic::Order::kLanes : Arithmetic::Order::kBackward;
  how.wide_sums = chance(4);
  how.one_pass_variance = chance(3);
  how.fast_exp = chance(3);
  how.tanh_gelu = chance(4);
  how.mixed = chance(2);
  switch (seed / 2 % 6) {  // each half of the seeds, even and odd, has all of them
    case 0:
      how.wide_sums = false;  // or a net without long sums would have no error at all
      break;
    case 1:
      how.name = "hf32";
      how.product_bits = 10;
      how.function_bits = 13;
      break;
    case 2:
    case 3:
      how.name = how.mixed ? "fp16 mixed" : "fp16";
      how.store = Store::kFloat16;
      if (chance(2)) how.function_bits = 10;
      break;
    default:
      how.name = how.mixed ? "bf16 mixed" : "bf16";
      how.store = Store::kBFloat16;
      if (chance(2)) how.function_bits = 10;
  }
  return how;
}

Arithmetic exact_arithmetic() {
  Arithmetic how;
  how.name = "fp64";
  how.store = Store::kFloat64;
  how.wide_sums = true;
  return how;
}

}  // namespace msdump::noisy
