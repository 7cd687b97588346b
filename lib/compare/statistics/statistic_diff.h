// Two tensors of which one or both are known by their statistics only. What such a verdict is worth:
//
//   same     the bytes are the same (equal CRC-32, MD5 or SHA1 of the same dtype, and no statistic that says otherwise), or
//            the statistics leave nothing open: one element, or max equal to min, known exactly and alike
//   close    all statistics that both sides have agree. Elements may differ all the same: statistics do not see which
//            value stands where. "checksums differ" in the reason says that some do; equal xors, which many tensors share,
//            are no more than this
//   differ   a statistic is further off than elements within the tolerance can make it; or there are only checksums, and
//            they differ: then nothing tells by how much
//   nan      NaN or an infinity on one side only, by a statistic or a count
//   skipped  nothing in common, or only NaN on both sides
//
// Limits, with rtol and atol as for elements (tolerance.h) and the scale of b; so much elements within it can do:
//
//   max, min       atol + rtol |b|; three times that by default. An extreme is the one element of thousands that is furthest
//                  off, and floating-point noise on weights moves it more than any sum
//   mean           atol + rtol scale       (a mean near 0 is noise of the scale of the elements)
//   norm           rtol |b| + atol sqrt(n)
//   counts         of integers and bool: 0; of floats the counts of zeros and signs are no evidence
//
// and what each number is printed or computed with is added on top (StatisticNumber::slack).
#pragma once

#include "compare/pair/tensor_diff.h"
#include "compare/pair/tolerance.h"
#include "compare/statistics/statistic_values.h"

namespace msdump {

// `by_statistics` is set; of the metrics only max, min and mean of a and b and what TensorDiff::nan_counted says are there.
[[nodiscard]] TensorDiff diff_statistics(const StatisticValues& a, const StatisticValues& b,
                                         const Tolerance& tolerance);

}  // namespace msdump
