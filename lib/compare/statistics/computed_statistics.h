// The statistics of a tensor's elements, computed as the writer of the other side would have computed them:
//
//   statistic.csv   in the dialect of its version (stats/dialect.h), including means of first chunks and lost NaNs; with
//                   MD5 and SHA1 if the other side has them
//   dump.json       exact, a NaN makes all of them NaN; for complex numbers those of the moduli; CRC-32 and xor of the
//                   bytes, or of a float32 copy where MindSpore dumped bfloat16
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "stats/dialect.h"
#include "stats/tensor_numbers.h"

namespace msdump {

// The dialects that may have written `other`, the likeliest first. Of those that compute alike, only one is kept. A single
// null if `other` is not from a statistic.csv of MindSpore.
[[nodiscard]] std::vector<const stats::Dialect*> dialects_of(const TensorNumbers& other);

// The number of elements of a sampled dump ("sample_mode"). Its statistics are those of a tensor's first elements, and its
// shape is their number.
[[nodiscard]] std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const TensorNumbers& other);

// `dialect` is one of dialects_of(other).
Result<TensorNumbers> computed_values(const DumpIndex& index, const TensorRecord& tensor, const TensorNumbers& other,
                                      const stats::Dialect* dialect, const RunContext& context);

}  // namespace msdump
