// How a machine rounds: the dtype of its results, the order of its sums, the accuracy of its functions. Numbers are held as
// doubles; every result goes through one of these functions, so that a net computed in float16 has float16's errors.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace msdump::noisy {

using Numbers = std::vector<double>;

enum class Store : uint8_t { kFloat64, kFloat32, kFloat16, kBFloat16 };

// To so many explicit bits of the mantissa, ties to even; the range of a double.
[[nodiscard]] double with_mantissa(double x, int bits);
[[nodiscard]] double rounded(double x, Store store);

struct Arithmetic {
  enum class Order : uint8_t { kForward, kBackward, kLanes };  // kLanes: eight sums, then their sum

  std::string name = "fp32";
  Store store = Store::kFloat32;
  Order order = Order::kForward;
  bool wide_sums = false;          // added up as doubles
  int product_bits = 0;            // inputs of MatMul and Conv2D are rounded to these; 0: they are not
  int function_bits = 0;           // the same of results of exp, tanh, ...
  bool one_pass_variance = false;  // E[x^2] - E[x]^2
  bool tanh_gelu = false;          // instead of erf
  bool fast_exp = false;           // a polynomial
  bool mixed = false;              // norms, softmax and loss in float32 although the rest is not

  [[nodiscard]] double stored(double x) const { return rounded(x, store); }
  // Inside an operator: float32 where the results are of 32 bits or fewer.
  [[nodiscard]] double inner(double x) const {
    return store == Store::kFloat64 ? x : static_cast<double>(static_cast<float>(x));
  }
  [[nodiscard]] double function(double x) const {
    return function_bits == 0 ? inner(x) : with_mantissa(x, function_bits);
  }
  [[nodiscard]] double exp(double x) const;
  [[nodiscard]] double factor(double x) const { return product_bits == 0 ? x : with_mantissa(x, product_bits); }
  // The same machine, computing in float32: optimizers do.
  [[nodiscard]] Arithmetic in_float32() const;

  // The sum of term(0), ..., term(count - 1).
  template <class Term>
  [[nodiscard]] double sum(int64_t count, const Term& term) const {
    if (store == Store::kFloat64 || wide_sums) return add_up<double>(count, term);
    return add_up<float>(count, term);
  }

 private:
  template <class Float, class Term>
  [[nodiscard]] double add_up(int64_t count, const Term& term) const {
    Float total = 0;
    if (order == Order::kForward) {
      for (int64_t i = 0; i < count; ++i) total += static_cast<Float>(term(i));
    } else if (order == Order::kBackward) {
      for (int64_t i = count; i-- > 0;) total += static_cast<Float>(term(i));
    } else {
      Float lanes[8] = {};
      for (int64_t i = 0; i < count; ++i) lanes[i % 8] += static_cast<Float>(term(i));
      for (const Float lane : lanes) total += lane;
    }
    return total;
  }
};

// What the reference is computed in, for a seed: float32, sums in the order of the elements.
[[nodiscard]] Arithmetic reference_arithmetic(uint64_t seed);
// What the candidate of a seed is computed in: float32 in another order, HF32, float16 or bfloat16, mixed or not.
[[nodiscard]] Arithmetic candidate_arithmetic(uint64_t seed);
[[nodiscard]] Arithmetic exact_arithmetic();

}  // namespace msdump::noisy
