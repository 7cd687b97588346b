// Statistics of the elements of a tensor as MindSpore computes them: in double precision, one element at a time, in order.
//
// MindSpore divides a tensor into chunks, and the order of additions inside a chunk is part of the result. Chunks are
// independent: several of them, of one tensor or of many, run side by side, one in each lane of a vector. The caller divides
// and merges.
//
//     MindSpore 1.6 to 2.3rc2   finite_only, running_mean, finite_start; no squares
//     2.3.0, 2.3.1              running_mean, finite_start
//     2.4 and later             plain sums
//
// Effect of an element x (as a double; 64-bit integers are rounded to nearest; a bool is 0 or 1):
//
//     squares                 q += x * x
//     NaN                     counted as nan; max = min = x, so that the last NaN stays; included in the mean
//     infinity                counted as such, then as any other number (finite_only: neither infinity nor NaN is)
//     x < 0, x == 0, x > 0    counted as negative, zero, positive
//     extremes                max = max < x ? x : max, min = x < min ? x : min: of -0 and +0 the first stays
//     mean                    s += x, or with running_mean c += 1, s += (x - s) / c
//
// An operation on a NaN gives that NaN, on two NaNs the left one. A NaN that arises (inf - inf) has the sign of the host
// that the statistics are for. NaNs in results have a sign but no payload, so that the bits are the same on every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tensor/dtype.h"

namespace msdump::kernels {

struct ReduceRule {
  bool finite_only = false;          // NaN and infinities are only counted
  bool running_mean = false;         // `sum` is the mean so far instead
  bool finite_start = false;         // max and min start at -DBL_MAX and DBL_MAX instead of the infinities
  bool negative_default_nan = true;  // the sign of a NaN that arises: set on x86, not set on aarch64

  // Wanted results. Others keep their initial value and cost nothing.
  bool sum = true;
  bool squares = true;
  bool extremes = true;
  bool counts = true;  // of negative, positive, ... elements; `count` and `entered` are always kept
};

// The running state of one chunk.
struct ChunkStatistics {
  uint64_t count = 0;    // elements so far
  uint64_t entered = 0;  // elements in sum, squares and extremes; fewer than count with finite_only
  uint64_t negative = 0, positive = 0, zero = 0;
  uint64_t nan = 0, negative_inf = 0, positive_inf = 0;
  double max = 0, min = 0;
  double sum = 0;  // or the mean, with running_mean
  double squares = 0;
};

[[nodiscard]] ChunkStatistics start_statistics(const ReduceRule& rule);

// The next elements of one chunk. Types narrower than a byte are unpacked (widen.h). Any alignment.
struct ReduceLane {
  DType dtype = DType::kUndefined;
  const std::byte* data = nullptr;
  int64_t count = 0;
  ChunkStatistics* state = nullptr;  // each lane of a call has its own
};

// True for numbers that are not complex, bool included.
[[nodiscard]] bool can_reduce(DType dtype);

// Adds the elements of every lane to its state. Lanes may have different dtypes and lengths; fastest with 8 or more. Results
// depend neither on the other lanes of a call nor on the division of a chunk into calls.
void reduce(std::span<const ReduceLane> lanes, const ReduceRule& rule);

// The definition, one element at a time; for tests.
void reduce_reference(std::span<const ReduceLane> lanes, const ReduceRule& rule);

// The number of elements from `first` to `last`, both included. No value if the dtype is not one of real numbers.
[[nodiscard]] std::optional<uint64_t> count_range(DType dtype, const std::byte* elements, int64_t count, double first,
                                                  double last);

// Counts of two kinds of floats by their codes. Subnormals have lost digits on their way to zero. Elements at the edge of the
// type may be larger values that saturating hardware clipped.
//
//   subnormal       below 6.1e-5 of float16, 1.2e-38 of float32 and bfloat16, and not zero
//   at the edge     the largest finite value: 65504 of float16, 448 of float8_e4m3fn, 57344 of float8_e5m2
//
// Codes are without the sign, which is the highest bit.
struct CodeRule {
  uint32_t bytes = 4;           // of an element: 1, 2, 4 or 8
  uint64_t last_subnormal = 0;  // the first is 1
  uint64_t edge = 0;
};

// `original` is the dtype before the elements were stored as `stored`: the edge of a widened bfloat16 is its own. No value
// for dtypes without float_limits().
[[nodiscard]] std::optional<CodeRule> code_rule(DType stored, DType original);

struct CodeCounts {
  uint64_t subnormal = 0, positive_edge = 0, negative_edge = 0;

  auto operator<=>(const CodeCounts&) const = default;
};

// Adds the counts of `count` elements. Any alignment.
void count_codes(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts);

// The definition, one element at a time; for tests.
void count_codes_reference(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts);

}  // namespace msdump::kernels
