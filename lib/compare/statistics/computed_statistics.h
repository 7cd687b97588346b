// The statistics of a tensor's elements, as whoever wrote the other side would have computed them:
//
//   statistic.csv   in the dialect of its version (stats/dialect.h), up to the means of first chunks and lost NaNs; with MD5
//                   and SHA1 if the other side has them
//   dump.json       the exact ones, NaN in everything; of complex numbers those of the moduli; CRC-32 and xor of the bytes,
//                   which are those of a float32 copy where MindSpore has dumped bfloat16
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "compare/statistics/statistic_values.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"
#include "io/worker_pool.h"

namespace msdump {

struct RecordContext {
  WorkerPool& pool;
  const CancelToken& cancel;
};

// The dialects that may have written `other`, the likeliest first and of those that compute alike one; a null alone for
// what is no statistic.csv of MindSpore's.
[[nodiscard]] std::vector<const stats::Dialect*> dialects_of(const StatisticValues& other);

// What a sampled dump ("sample_mode") looked at of a tensor: its first elements, with their number as the shape.
[[nodiscard]] std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const StatisticValues& other);

// `dialect` is one of dialects_of(other).
Result<StatisticValues> computed_values(const DumpIndex& index, const TensorRecord& tensor,
                                        const StatisticValues& other, const stats::Dialect* dialect,
                                        const RecordContext& context);

}  // namespace msdump
