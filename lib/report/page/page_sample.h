// Which rows of a large run its page holds. A page of all rows of a million tensors could not be sent or opened.
//
//   1. those that are marked: the evidence of what went wrong
//   2. of each two-thousandth of the run, for each kind of row, the ones with the largest and the smallest error: at the
//      width of a screen the chart looks the same
//   3. then those that differ, in order, as long as there is room
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msdump::report {

inline constexpr size_t kMostPageRows = 100'000;

struct PagePoint {
  double error = 0;  // NaN where there is none
  uint8_t kind = 0;  // a verdict
  bool marked = false, differs = false;
};

// Places in `points`, ascending: all of them if they are at most `most`.
[[nodiscard]] std::vector<size_t> page_sample(const std::vector<PagePoint>& points, size_t most = kMostPageRows);

}  // namespace msdump::report
