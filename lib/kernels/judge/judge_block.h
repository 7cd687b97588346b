// Blocks of elements that are surely right: the inner loop of recompute/judge.cpp, which says what the figures mean.
//
// A block is added as a whole or not at all: then the caller looks at each element. What is added, and whether, is the same on every
// CPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace msdump::kernels {

inline constexpr size_t kJudgeLanes = 8;
// A multiple of kJudgeLanes; small, since a block with one new largest error is looked at again.
inline constexpr size_t kJudgeBlock = 256;

// Eight sums; element i of a block is added to lane i mod 8.
struct LaneSum {
  alignas(64) std::array<double, kJudgeLanes> lanes{};
  void add(size_t element, double value) { lanes[element % kJudgeLanes] += value; }
  [[nodiscard]] double total() const {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
};

inline constexpr size_t kMostBounds = 3;
struct JudgeSums {
  LaneSum squares, errors, products;        // of y, of the errors, of y and what was found
  std::array<LaneSum, kMostBounds> spread;  // by bound: of the squares of y and its rounding
};

// A block of whole lanes.
struct JudgedBlock {
  const double* found = nullptr;
  const double* expected = nullptr;
  const double* terms = nullptr;  // null: |expected|
  size_t count = 0;
};

// An element is right if its error is at most `most` (u |expected| + scale terms + step), for each of the bounds.
struct RoundingRule {
  struct OfBound {
    double scale = 0, step = 0, most = 0;
  };
  double u = 0;
  double largest = 0;  // magnitudes beyond it are not for this function
  size_t bounds = 0;
  std::array<OfBound, kMostBounds> of{};
};
// Adds the block if all of its elements are right and finite.
[[nodiscard]] bool add_if_rounded(const JudgedBlock& block, const RoundingRule& rule, JudgeSums& sums);

// The numbers of a dtype: least <= x < beyond; their lowest bits are 0, and those below the smallest are left to the caller.
struct StoredNumbers {
  double least = 0, beyond = 0;
  uint64_t zero_bits = 0;
  double smallest = 0;
  bool whole = false;
};
// Adds the block if all of its elements are equal numbers of the dtype.
[[nodiscard]] bool add_if_equal(const JudgedBlock& block, const StoredNumbers& numbers, JudgeSums& sums);

}  // namespace msdump::kernels
