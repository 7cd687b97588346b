// Statistics of a tensor's elements, as MindSpore computes them: in double precision, one element at a time and in
// order.
//
// MindSpore cuts a tensor into chunks and goes through each of them in order, so the order of additions inside a chunk
// is part of the result. Chunks are independent: several of them, of one tensor or of many, run side by side, one in
// each lane of a vector, and each gets its additions in its own order. The caller cuts and merges.
//
// The rules, by version (rule letters as in the statistics of the dump formats):
//
//     A  1.6 to 2.3rc2   finite_only, running_mean, finite_start; no squares
//     B  2.3.0, 2.3.1    running_mean, finite_start
//     C  2.4 and later   none of them: plain sums
//
// What happens to an element x (its value as a double; 64-bit integers are rounded to nearest; a bool is 0 or 1):
//
//     squares                 q += x * x
//     NaN                     counted as nan; max = min = x, so that the last NaN stays; enters the mean
//     infinity                counted as such, then as any other number (finite_only: neither infinity nor NaN goes on)
//     x < 0, x == 0, x > 0    counted as negative, zero, positive
//     extremes                max = max < x ? x : max, min = x < min ? x : min: of -0 and +0 the first stays
//     mean                    s += x, or with running_mean c += 1, s += (x - s) / c
//
// An operation on a NaN gives that NaN (on two, the left one); a NaN that arises (inf - inf) has the sign of the host
// the statistics are made for. The bits are the same on every host: NaNs in results have a sign but no payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tensor/dtype.h"

namespace msdump::kernels {

struct ReduceRule {
  bool finite_only = false;          // NaN and infinities are counted and enter nothing
  bool running_mean = false;         // `sum` is the mean so far instead
  bool finite_start = false;         // max and min start at -DBL_MAX and DBL_MAX instead of the infinities
  bool negative_default_nan = true;  // the sign of a NaN that arises: set on x86, not set on aarch64

  // What is wanted. Everything else stays as `start_statistics` made it, and costs nothing.
  bool sum = true;
  bool squares = true;
  bool extremes = true;
  bool counts = true;  // of negative, positive, ... elements; `count` and `entered` are always kept
};

// The running state of one chunk.
struct ChunkStatistics {
  uint64_t count = 0;    // elements so far
  uint64_t entered = 0;  // those of them that sum, squares and extremes are made of; less than count with finite_only
  uint64_t negative = 0, positive = 0, zero = 0;
  uint64_t nan = 0, negative_inf = 0, positive_inf = 0;
  double max = 0, min = 0;
  double sum = 0;  // or the mean, with running_mean
  double squares = 0;
};

[[nodiscard]] ChunkStatistics start_statistics(const ReduceRule& rule);

// The next elements of one chunk. Codes of less than a byte come unpacked, one per byte (widen.h). Any alignment.
struct ReduceLane {
  DType dtype = DType::kUndefined;
  const std::byte* data = nullptr;
  int64_t count = 0;
  ChunkStatistics* state = nullptr;  // each lane of a call has its own
};

// True for numbers that are not complex, bool included.
[[nodiscard]] bool can_reduce(DType dtype);

// Advances the state of every lane by its elements. Takes any number of lanes, of any dtypes for which can_reduce holds
// and of any lengths; fastest with 8 or more. Results do not depend on which lanes come together, nor on how the
// elements of a chunk are spread over calls.
void reduce(std::span<const ReduceLane> lanes, const ReduceRule& rule);

// The definition, one element at a time. The oracle of the tests; slow.
void reduce_reference(std::span<const ReduceLane> lanes, const ReduceRule& rule);

// How many elements lie in a range.

// Elements from `first` to `last`, both included; NaN is in no range. No value for a dtype that is not of real numbers.
[[nodiscard]] std::optional<uint64_t> count_range(DType dtype, const std::byte* elements, int64_t count, double first,
                                                  double last);

}  // namespace msdump::kernels
