// Computes the statistics of many tensors, several at a time.
//
// The unit is a stream: the elements of a tensor, or of some chunks of a large one, read slab by slab. A worker holds a
// few streams and advances all of them by one slab together, so that the kernels get many chunks (and digests of many
// tensors) to process abreast. Memory is bounded by workers x streams x slab. Results come in the order of the tensors
// whatever finishes first, and do not depend on the number of workers.
#pragma once

#include <functional>
#include <span>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "parts/facts.h"
#include "stats/tensor_statistics.h"

namespace msdump::stats {

struct ComputeOptions {
  const Dialect* dialect = &newest_dialect();
  HostArch arch = HostArch::kX86;
  bool honest = false;  // MergeRule: whatever the dialect, all elements count, and NaN propagates
  Wanted wanted;
  bool finite = false;  // with `honest`: NaN and infinities are counted, but excluded from all else
};

// One tensor to compute; `first_elements` limits it to that many (what a sampled dump looked at).
struct ComputeItem {
  const TensorRecord* tensor = nullptr;
  std::optional<int64_t> first_elements = {};
};

// Called for every item in order, one at a time. kCancelled for items that an interruption left out.
using ComputeSink = std::function<void(size_t item, Result<TensorStatistics>&& statistics)>;

// With context.facts, those that are known there are not computed, and the others are kept there.
void compute(const DumpIndex& index, std::span<const ComputeItem> items, const ComputeOptions& options,
             const RunContext& context, const ComputeSink& sink);

}  // namespace msdump::stats

namespace msdump {

// Statistics that another process computed, and those it is to be told (parts/fact_store.h).

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
