// The definition of reduce, for one element. Internal to lib/kernels: reduce_reference is made of it, and the fast form
// uses it for what is rare.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/reduce/reduce.h"

namespace msdump::kernels::element {

inline double plain_nan(bool negative) {
  return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
}

// A NaN of a tensor as it appears in results: quiet, without payload.
inline double plain_nan_of(double nan) { return plain_nan(std::signbit(nan)); }

// The dtype of the stored elements: dtypes that are stored alike share one name (unpacked int4 codes are int8); what
// must be decoded keeps its own. `bytes`: of one element in a lane.
[[nodiscard]] DType stored_as(DType dtype);
[[nodiscard]] double as_double(DType stored, const std::byte* at);
[[nodiscard]] int64_t bytes(DType dtype);

// The result of an operation. NaN operands decide first: CPUs differ in which NaN they pass on.
inline double result_of(double a, double b, double result, const ReduceRule& rule) {
  if (std::isnan(a)) return plain_nan_of(a);
  if (std::isnan(b)) return plain_nan_of(b);
  return std::isnan(result) ? plain_nan(rule.negative_default_nan) : result;
}

inline double add(double a, double b, const ReduceRule& rule) { return result_of(a, b, a + b, rule); }
inline double subtract(double a, double b, const ReduceRule& rule) { return result_of(a, b, a - b, rule); }
inline double multiply(double a, double b, const ReduceRule& rule) { return result_of(a, b, a * b, rule); }
inline double divide(double a, double b, const ReduceRule& rule) { return result_of(a, b, a / b, rule); }

// `entered` includes x. (MindSpore counts in 32 bits, but its chunks are never that long.)
inline double next_sum(double sum, double x, uint64_t entered, const ReduceRule& rule) {
  if (!rule.running_mean) return add(sum, x, rule);
  return add(sum, divide(subtract(x, sum, rule), static_cast<double>(entered), rule), rule);
}

inline double next_squares(double squares, double x, const ReduceRule& rule) {
  return add(squares, multiply(x, x, rule), rule);
}

inline void count(ChunkStatistics& state, double x, const ReduceRule& rule) {
  if (std::isnan(x)) {
    ++state.nan;
    return;
  }
  if (std::isinf(x)) {
    ++(x < 0 ? state.negative_inf : state.positive_inf);
    if (rule.finite_only) return;
  }
  ++(x == 0 ? state.zero : x < 0 ? state.negative : state.positive);
}

inline void advance(ChunkStatistics& state, double x, const ReduceRule& rule) {
  ++state.count;
  if (rule.counts) count(state, x, rule);
  if (rule.finite_only && !std::isfinite(x)) return;
  ++state.entered;
  if (rule.squares) state.squares = next_squares(state.squares, x, rule);
  if (rule.sum) state.sum = next_sum(state.sum, x, state.entered, rule);
  if (!rule.extremes) return;
  if (std::isnan(x)) {
    state.max = state.min = plain_nan_of(x);
    return;
  }
  state.max = state.max < x ? x : state.max;
  state.min = x < state.min ? x : state.min;
}

}  // namespace msdump::kernels::element
