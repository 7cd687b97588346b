// Compares two records of two dumps by what both have:
//
//   elements on both sides      element by element (tensor_diff.h)
//   statistics on both sides    statistic_diff.h; also for elements that cannot be read, if a table has their statistics
//   elements and statistics     the statistics of the elements, computed as the other side's writer would have
//                               (computed_statistics.h), against those of the other side
#pragma once

#include "base/error.h"
#include "compare/pair/tensor_diff.h"
#include "compare/pair/tolerance.h"
#include "compare/statistics/computed_statistics.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"

namespace msdump {

// One side. Both sides may be the same dump and share its tables.
struct DumpSide {
  const DumpIndex& index;
  StatisticTables& tables;  // of that index
};

// An error when one side cannot be read. Thread-safe.
Result<TensorDiff> diff_records(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                                const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                                const PairOptions& options = {});

}  // namespace msdump
