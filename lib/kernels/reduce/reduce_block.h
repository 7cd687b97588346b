// The SIMD parts of reduce: blocks of doubles, one for each chunk that runs. Internal to lib/kernels.
//
//     block 0   x0 x1 x2 ... x255     a row is a piece of one chunk, in order;
//     block 1   x0 x1 x2 ... x255     fill_block makes a row and looks at its numbers on the way,
//     ...                             add_columns goes down the columns, all rows at once, from left to right
//     block 7   x0 x1 x2 ... x255
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace msdump::kernels {

constexpr size_t kChunksAbreast = 8;     // as many as AVX-512 has lanes; narrower vectors come in pairs or fours
constexpr int64_t kBlockElements = 256;  // all blocks together fill half of a first-level cache
constexpr int64_t kBlockStride = kBlockElements + 8;  // rows a power of two apart would share cache sets

struct Blocks {
  alignas(
      64) double elements[kChunksAbreast * static_cast<size_t>(kBlockStride)] = {};  // rows without a chunk are read

  [[nodiscard]] double* row(size_t index) { return elements + index * static_cast<size_t>(kBlockStride); }
};

enum class Wanted : uint8_t { kNothing, kSpecials, kExtremes, kCounts };  // each with the ones before it

// What is in a row, as far as it is wanted.
struct RowClasses {
  int64_t filled = 0;        // elements of the row that the rest is about
  bool has_special = false;  // NaN or infinity
  double max = 0, min = 0;   // of -0 and +0, any. Not to be used when there is a NaN
  int64_t below_zero = 0, zero = 0;
};

// Fills the first elements of a row and returns its classes for as many as fill whole vectors: none if the CPU has no
// vectors or "scalar" is forced, or if the dtype is neither one of numpy's nor bfloat16.
[[nodiscard]] RowClasses fill_block(DType dtype, const std::byte* src, int64_t count, Wanted wanted, double* row);

struct Specials {
  int64_t nan = 0, negative_inf = 0, positive_inf = 0;
};

// Counts in a row that has some: the first elements, and returns how many those are.
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

// Adds `count` elements of each of the first `rows` rows to the sums, in their order. A sum that becomes NaN is NaN,
// but its sign is the CPU's. False, and nothing done, where the CPU has no vectors or "scalar" is forced.
[[nodiscard]] bool add_columns(const Blocks& blocks, int64_t count, size_t rows, WantedSums wanted, SumsAbreast& sums);

}  // namespace msdump::kernels
