// diff_statistics(): compares two tensors of which at least one is known by its statistics only. What the verdicts mean:
//
//   same     the bytes are the same (equal CRC-32, MD5 or SHA1, the same dtype, no statistic against it), or the statistics
//            determine all elements: one element, or max equal to min, known exactly and equal
//   close    all statistics that both sides have agree. Elements may differ all the same: statistics do not say which value
//            is where. "checksums differ" in the reason says that some do; equal xors, which many tensors share, prove no
//            more than this
//   differ   a statistic is further off than elements within the tolerance can make it; or there are only checksums, and
//            they differ
//   nan      NaN or an infinity on one side only, by a statistic or a count
//   skipped  nothing in common, or only NaN on both sides
//
// Limits say how far elements within the tolerance can move a statistic. rtol and atol are those for elements (tolerance.h),
// with the scale of b.
//
//   max, min       atol + rtol |b|; three times that by default: an extreme is the one element of thousands that is
//                  furthest off, and noise moves it more than a sum
//   mean           atol + rtol scale       (a mean near 0 is noise of the scale of the elements)
//   norm           rtol |b| + atol sqrt(n)
//   counts         0 for integers and bool, unless the tolerance is the user's; of floats, zeros and signs are not compared
//
// The rounding of each number (StatisticNumber::slack) is added.
//
// TensorDiff::relative_error has no value if statistics agree that prove nothing. These are the extremes of bool, and
// extremes beside a mean or norm that is infinite on both sides.
#pragma once

#include <optional>

#include "base/error.h"
#include "compare/pair/pair_reader.h"
#include "compare/pair/tensor_diff.h"
#include "compare/pair/tolerance.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/tensor_numbers.h"

namespace msdump {

// `any_shape`: as in PairOptions. Sets `by_statistics`. The only metrics are max, min, mean and, if counted, NaN of a and b.
[[nodiscard]] TensorDiff diff_statistics(const TensorNumbers& a, const TensorNumbers& b, const Tolerance& tolerance,
                                         bool any_shape = false);

// diff_records(): compares two records of two dumps by what both have.
//
//   elements on both sides      element by element (tensor_diff.h)
//   statistics on both sides    statistic_diff.h; also for elements that cannot be read, if a table has their statistics
//   elements and statistics     the statistics of the elements, computed as the other side's writer would have
//                               (computed_statistics.h), against those of the other side

// The dump of a record. Both sides may be the same dump and share its tables.
struct DumpSide {
  const DumpIndex& index;
  StatisticTables& tables;  // of that index
};

// An error if one side cannot be read. Thread-safe. `opened`, if given, has the tensors afterwards if both have elements: a
// second look at them need not open them again.
Result<TensorDiff> diff_records(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                                const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                                const PairOptions& options = {}, std::optional<HostPair>* opened = nullptr);

}  // namespace msdump
