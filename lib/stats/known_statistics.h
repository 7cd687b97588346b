// Statistics that another process computed, and those it is to be told (parts/fact_store.h).
#pragma once

#include <span>

#include "parts/fact_codec.h"
#include "parts/fact_store.h"
#include "stats/compute.h"

namespace msdump {
namespace kernels {

void fields(auto& visit, FieldsOf<CodeCounts> auto& value) { MSDUMP_FIELDS(subnormal, positive_edge, negative_edge); }
void fields(auto& visit, FieldsOf<ChunkStatistics> auto& value) {
  MSDUMP_FIELDS(count, entered, negative, positive, zero, nan, negative_inf, positive_inf, max, min, sum, squares);
}

}  // namespace kernels

namespace stats {

void fields(auto& visit, FieldsOf<TensorStatistics> auto& value) {
  MSDUMP_FIELDS(dtype, shape, data_size, stored_bytes, note, supported, max, min, avg, l2norm, nothing_finite, count,
                negative, positive, zero, nan, negative_inf, positive_inf, md5, sha1, codes, mean_abs);
}

// A run computes statistics of one kind, so that the tensor is all there is to ask for.
[[nodiscard]] FactKey statistics_key(const TensorRecord& tensor);

// Hands what `facts` has of the items to `sink`, in order, and what `compute_rest` finds of the others, which it keeps.
using ComputeRest = std::function<void(std::span<const ComputeItem> items, const ComputeSink& sink)>;
void compute_unknown(FactStore& facts, std::span<const ComputeItem> items, const ComputeRest& compute_rest,
                     const ComputeSink& sink);

}  // namespace stats
}  // namespace msdump
