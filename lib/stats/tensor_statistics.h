// The statistics of one tensor: the chunks' results merged as a dialect merges them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/reduce/code_counts.h"
#include "kernels/reduce/reduce.h"
#include "stats/dialect.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::stats {

struct TensorStatistics {
  // What was analysed: dtype and shape of the framework's tensor, and the size that statistic.csv says.
  DType dtype = DType::kUndefined;
  Shape shape;
  uint64_t data_size = 0;
  uint64_t stored_bytes = 0;  // in the file
  std::string note;           // why the device format, padding and all, was analysed instead of the host tensor
  bool supported = true;      // false: a dtype without statistics; it may still have digests

  double max = 0, min = 0, avg = 0, l2norm = 0;
  bool nothing_finite = false;  // max, min and avg are printed as "null" (up to 2.3rc)
  uint64_t count = 0, negative = 0, positive = 0, zero = 0, nan = 0, negative_inf = 0, positive_inf = 0;
  std::string md5, sha1;  // lower-case hexadecimal; empty when not asked for
  // Only if asked for; no value for types without such codes (kernels/reduce/code_counts.h).
  std::optional<kernels::CodeCounts> codes;
  std::optional<double> mean_abs;  // of finite elements; not of signed integers
};

// Which host the statistics are made for: it decides the sign of a NaN that arises (inf - inf).
enum class HostArch : uint8_t { kX86, kAarch64 };

struct Wanted {
  bool sum = false, squares = false, extremes = false, counts = false, md5 = false, sha1 = false;
  // Values that no statistic.csv has.
  bool codes = false, mean_abs = false;
};
[[nodiscard]] Wanted wanted_for(std::span<const StatisticColumn> columns);

[[nodiscard]] kernels::ReduceRule reduce_rule(const Dialect& dialect, HostArch arch, const Wanted& wanted);

// `honest`: not what dialects print even where it is wrong (the mean of the first chunk only, a lost NaN), but the
// correct values, as exact as plain sums in double precision are: one sum of each slice, added with compensation. Uses
// the newest dialect.
struct MergeRule {
  const Dialect& dialect;
  HostArch arch = HostArch::kX86;
  bool honest = false;
};
// `merged` as in Chunks. Of chunks that were reduced with finite_only, the mean is that of the finite elements.
void merge_chunks(const MergeRule& rule, std::span<const kernels::ChunkStatistics> chunks, bool merged,
                  TensorStatistics& into);

// The sums of chunks, added with compensation, over what they are made of.
[[nodiscard]] double mean_of_chunks(HostArch arch, std::span<const kernels::ChunkStatistics> chunks);

// Elements that a dialect analyses of a tensor of `bytes` bytes and `count` elements: since 2.4 the division is done in
// single precision and may be off for large tensors.
[[nodiscard]] uint64_t analysed_count(const Dialect& dialect, DType dtype, uint64_t bytes, int64_t count);

}  // namespace msdump::stats
