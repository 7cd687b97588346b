// Internal to lib/kernels: the definition of reduce for one element, which the vector form uses for rare cases; the vector
// parts of reduce.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/reduce/reduce.h"
#include "tensor/dtype.h"

namespace msdump::kernels::element {

inline double plain_nan(bool negative) {
  return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
}

// A NaN of a tensor for results: quiet, without payload.
inline double plain_nan_of(double nan) { return plain_nan(std::signbit(nan)); }

// The dtype of elements in memory: the npy_dtype (int8 for unpacked int4), or the dtype itself if it needs widening.
[[nodiscard]] DType stored_as(DType dtype);
[[nodiscard]] double as_double(DType stored, const std::byte* at);
[[nodiscard]] int64_t bytes(DType dtype);  // of one element in memory

// The result of an operation. NaN operands are handled first, because CPUs differ in the NaN that they return.
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

namespace msdump::kernels {

// Blocks of doubles, one for each chunk that runs.
//
//     block 0   x0 x1 x2 ... x255     a row is a slab of one chunk, in order
//     block 1   x0 x1 x2 ... x255     fill_block() makes a row and classifies its numbers
//     ...                             add_columns() adds all rows at once, column by column
//     block 7   x0 x1 x2 ... x255

constexpr size_t kChunksAbreast = 8;     // as many as AVX-512 has lanes; narrower vectors come in pairs or fours
constexpr int64_t kBlockElements = 256;  // all blocks together fill half of a first-level cache
constexpr int64_t kBlockStride = kBlockElements + 8;  // rows with a stride of a power of two would share cache sets

struct Blocks {
  alignas(
      64) double elements[kChunksAbreast * static_cast<size_t>(kBlockStride)] = {};  // rows without a chunk are read

  [[nodiscard]] double* row(size_t index) { return elements + index * static_cast<size_t>(kBlockStride); }
};

enum class Wanted : uint8_t { kNothing, kSpecials, kExtremes, kCounts };  // each includes those before it

// The wanted facts of a row.
struct RowClasses {
  int64_t filled = 0;        // elements that the other members cover
  bool has_special = false;  // NaN or infinity
  double max = 0, min = 0;   // undefined with a NaN; the sign of a zero is arbitrary
  int64_t below_zero = 0, zero = 0;
};

// Fills as many elements of a row as fill whole vectors, and classifies them. These are none if the CPU has no vectors, if
// "scalar" is forced, or if the dtype is neither numpy's nor bfloat16.
[[nodiscard]] RowClasses fill_block(DType dtype, const std::byte* src, int64_t count, Wanted wanted, double* row);

struct Specials {
  int64_t nan = 0, negative_inf = 0, positive_inf = 0;
};

// Counts in the first elements of a row and returns the number of these elements.
[[nodiscard]] int64_t count_specials_fast(const double* row, int64_t count, Specials& found);

// The sums of the running chunks, one place for each.
struct SumsAbreast {
  alignas(64) double sum[kChunksAbreast] = {};
  alignas(64) double squares[kChunksAbreast] = {};
  alignas(64) double entered[kChunksAbreast] = {};  // with a running mean only
};

enum class SumKind : uint8_t { kNone, kPlain, kRunningMean };

struct WantedSums {
  SumKind sum = SumKind::kPlain;
  bool squares = true;
};

// Adds `count` elements of each of the first `rows` rows to the sums, in order. The sign of a sum that becomes NaN is the
// CPU's. False, and nothing is done, if the CPU has no vectors or "scalar" is forced.
[[nodiscard]] bool add_columns(const Blocks& blocks, int64_t count, size_t rows, WantedSums wanted, SumsAbreast& sums);

// Sums of integers of one byte (reduce_bytes.cpp). They are exact in any order, so a chunk needs no other lanes.
struct ByteTotals {
  int64_t sum = 0, squares = 0;
  int64_t below_zero = 0, zero = 0;
  int max = 0, min = 0;  // of one element at least
};

// int8, uint8 and bool (of which any non-zero byte is 1); count > 0.
[[nodiscard]] bool has_byte_totals(DType stored);
[[nodiscard]] ByteTotals byte_totals(DType stored, const std::byte* src, int64_t count);

}  // namespace msdump::kernels
