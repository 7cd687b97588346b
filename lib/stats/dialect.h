// Dialect: the statistic.csv that some versions of MindSpore write: columns, text and arithmetic.
//
//   1.6 to 2.2.13     20 fixed columns; only finite elements; "null" if no element is finite
//   2.2.14, 2.3rc     the same and MD5
//   2.3.0, 2.3.1      columns as statistic_category orders them; every row ends with a comma; the mean is a running mean
//   2.4               plain sums; a NaN is lost when chunks are merged
//   2.5 to 2.7.0      plain sums; NaN survives the merge
//   2.7.1 and later   slices of 20480 elements; SHA1; the shape in square brackets; repeated columns are dropped
//
// kernels/reduce/reduce.h has the arithmetic in a chunk, merge_chunks() that of a tensor. docs/formats/statistics.md
// describes the files. They were checked against the writers of 2.7.0 to 2.10.0 and the offline debuggers of 1.6.1 to 2.0.0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "kernels/reduce/reduce.h"
#include "stats/tensor_numbers.h"
#include "tables/statistic_csv.h"
#include "tensor/dtype.h"

namespace msdump::stats {

// Rules A, B and C of kernels/reduce/reduce.h.
enum class Rule : uint8_t { kFiniteOnly, kRunningMean, kSum };

struct Dialect {
  std::string_view name;  // "2.5.0 to 2.7.0"
  Version from, to;       // from <= version < to
  Rule rule = Rule::kSum;
  bool fixed_columns = false;  // not selectable, in one order
  bool with_md5 = false;       // of the fixed columns
  bool comma_at_end = true;    // of rows, never of the header
  bool square_brackets = false;
  bool drops_repeats = false;  // of columns
  bool nan_survives_merge = false;
  bool slices = false;            // of 20480 elements; else at most 32 chunks of at least 10000
  bool float_count = false;       // the number of elements is computed in single precision
  bool widened_bfloat16 = false;  // size and digest are those of a float32 copy
};

// The dialects, oldest first.
[[nodiscard]] std::span<const Dialect> all_dialects();
// The dialect of a version as people type it ("2.5.0", "2.3.0rc2"); later versions have the newest. Returns kUsage for text
// that is no version and for versions that wrote no statistic.csv.
Result<const Dialect*> dialect_from_text(std::string_view text);
[[nodiscard]] const Dialect* dialect_of(const Version& version);  // null before 1.6
[[nodiscard]] const Dialect& newest_dialect();

// The columns of a dialect if none are asked for.
[[nodiscard]] std::vector<StatisticColumn> default_columns(const Dialect& dialect);
// The columns that the writer makes of these: some versions drop repeated ones.
[[nodiscard]] std::vector<StatisticColumn> effective_columns(const Dialect& dialect,
                                                             std::vector<StatisticColumn> columns);

// The chunks that the writer cuts a tensor of `count` elements into; one chunk for an empty tensor.
struct Chunks {
  int64_t count = 1;  // chunks
  int64_t size = 0;   // elements of all but the last
  int64_t last = 0;
  bool merged = false;  // even a single chunk went through the code that merges chunks
  [[nodiscard]] int64_t begin(int64_t chunk) const { return chunk * size; }
  [[nodiscard]] int64_t elements(int64_t chunk) const { return chunk + 1 == count ? last : size; }
};
[[nodiscard]] Chunks chunks_of(const Dialect& dialect, int64_t count);

// The host of the statistics, which decides the sign of a NaN that arises (inf - inf).
enum class HostArch : uint8_t { kX86, kAarch64 };

// The results that a computation is for.
struct Wanted {
  bool sum = false, squares = false, extremes = false, counts = false, md5 = false, sha1 = false;
  // No statistic.csv has these.
  bool codes = false, mean_abs = false;
};
[[nodiscard]] Wanted wanted_for(std::span<const StatisticColumn> columns);

[[nodiscard]] kernels::ReduceRule reduce_rule(const Dialect& dialect, HostArch arch, const Wanted& wanted);

// `exact`: the correct values in float64, one sum for each slice and these added with compensation; uses the newest
// dialect. Else the values that the dialect prints, with its defects (the mean of the first chunk, a lost NaN).
struct MergeRule {
  const Dialect& dialect;
  HostArch arch = HostArch::kX86;
  bool exact = false;
};
// `merged` as in Chunks. If the chunks were reduced with finite_only, the mean is that of the finite elements.
void merge_chunks(const MergeRule& rule, std::span<const kernels::ChunkStatistics> chunks, bool merged,
                  TensorNumbers& into);

// The sums of chunks, added with compensation, divided by the number of elements in them.
[[nodiscard]] double mean_of_chunks(HostArch arch, std::span<const kernels::ChunkStatistics> chunks);

// The number of elements that a dialect analyses of a tensor of `bytes` bytes and `count` elements. Since 2.4 it is a
// quotient in single precision, which is inexact for large tensors.
[[nodiscard]] uint64_t analysed_count(const Dialect& dialect, DType dtype, uint64_t bytes, int64_t count);

// The style of a statistic.csv in a dump.
struct StoredStyle {
  std::string path;  // of the file that was examined
  std::vector<StatisticColumn> columns;
  bool has_rows = false, comma_at_end = false, square_brackets = false;
};
// The style of the first statistic.csv that MindSpore may have written.
[[nodiscard]] std::optional<StoredStyle> stored_style(const DumpIndex& index);

struct DialectChoice {
  std::vector<const Dialect*> candidates;  // possible by the evidence, oldest first; never empty
  std::string evidence;                    // "config.json says MindSpore 2.10.0"; may be empty
  bool too_old = false;                    // the evidence shows a version that wrote no statistic.csv yet

  [[nodiscard]] const Dialect& best() const { return *candidates.back(); }
};
[[nodiscard]] DialectChoice choose_dialect(const DumpIndex& index, const std::optional<StoredStyle>& stored);

// The columns of the stored statistic.csv, else of statistic_category in .dump_metadata/data_dump.json, else the dialect's.
[[nodiscard]] std::vector<StatisticColumn> choose_columns(const DumpIndex& index, const Dialect& dialect,
                                                          const std::optional<StoredStyle>& stored);

}  // namespace msdump::stats
