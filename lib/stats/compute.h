// Computes the statistics of many tensors, several at a time.
//
// The unit is a stream: the elements of a tensor, or of some chunks of a large one, read slab by slab. A worker holds a few
// streams and advances them together, one slab each. So the kernels get chunks and digests of many tensors to process
// abreast. Memory is bounded by workers x streams x slab. Results come in the order of the tensors and do not depend on the
// number of workers.
#pragma once

#include <functional>
#include <span>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "parts/facts.h"
#include "stats/dialect.h"
#include "stats/tensor_numbers.h"

namespace msdump::stats {

struct ComputeOptions {
  const Dialect* dialect = &newest_dialect();
  HostArch arch = HostArch::kX86;
  bool exact = false;  // see MergeRule: the correct values, not those of the dialect
  Wanted wanted;
  bool finite_only = false;  // with `exact`: NaN and infinities are counted and enter no other number
};

struct ComputeItem {
  const TensorRecord* tensor = nullptr;
  std::optional<int64_t> first_elements = {};  // only these are computed
};

// A sampled dump ("sample_mode") has the statistics of the first elements, and their number as the shape of the row. Returns
// that number, or none if a row of this shape is about all elements.
[[nodiscard]] std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const Shape& of_row);

// Called for every item in order, one at a time; with kCancelled for items that an interruption left out.
using ComputeSink = std::function<void(size_t item, Result<TensorNumbers>&& statistics)>;

// Numbers that context.facts has are not computed; it keeps the others.
void compute(const DumpIndex& index, std::span<const ComputeItem> items, const ComputeOptions& options,
             const RunContext& context, const ComputeSink& sink);

}  // namespace msdump::stats

namespace msdump {

// The numbers in parts (parts/facts.h): another process computed them, or gets them.

namespace kernels {

void fields(auto& visit, FieldsOf<CodeCounts> auto& value) { MSDUMP_FIELDS(subnormal, positive_edge, negative_edge); }
void fields(auto& visit, FieldsOf<ChunkStatistics> auto& value) {
  MSDUMP_FIELDS(count, entered, negative, positive, zero, nan, negative_inf, positive_inf, max, min, sum, squares);
}

}  // namespace kernels

void fields(auto& visit, FieldsOf<StatisticNumber> auto& value) { MSDUMP_FIELDS(value_, slack); }
void fields(auto& visit, FieldsOf<Checksum> auto& value) { MSDUMP_FIELDS(kind, widened, text); }
// Leaves out the members that only rows of tables have.
void fields(auto& visit, FieldsOf<TensorNumbers> auto& value) {
  auto& [origin, dtype, shape, numbers, count, negative, positive, zero, nan, negative_inf, positive_inf, checksums,
         mean_abs, codes, data_size, stored_bytes, note, dialects, finite_only, nothing_finite, mean_of_first_chunk,
         bad_number] = value;
  auto& [max, min, mean, norm] = numbers;
  visit(dtype, shape, max, min, mean, norm, count, negative, positive, zero, nan, negative_inf, positive_inf, checksums,
        mean_abs, codes, data_size, stored_bytes, note, nothing_finite);
}

namespace stats {

// A run computes one kind of statistics, so the tensor is the key.
[[nodiscard]] FactKey statistics_key(const TensorRecord& tensor);

// Calls `sink` for all items in order: with the numbers in `facts`, or with those of `compute_rest`, which `facts` keeps.
using ComputeRest = std::function<void(std::span<const ComputeItem> items, const ComputeSink& sink)>;
void compute_unknown(FactStore& facts, std::span<const ComputeItem> items, const ComputeRest& compute_rest,
                     const ComputeSink& sink);

}  // namespace stats

}  // namespace msdump
