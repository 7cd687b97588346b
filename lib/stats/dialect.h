// Dialects of statistic.csv: what each version of MindSpore writes, and by which arithmetic.
//
//   1.6 to 2.2.13     20 fixed columns; rule A; "null" where nothing finite is
//   2.2.14, 2.3rc     the same and MD5
//   2.3.0, 2.3.1      columns as statistic_category orders them; every row ends with a comma; rule B
//   2.4               rule C, a NaN is lost when chunks are merged
//   2.5 to 2.7.0      rule C, NaN survives the merge
//   2.7.1 and later   slices of 20480 elements; SHA1; the shape in square brackets; repeated columns are dropped
//
// Rules: A, B, C of kernels/reduce/reduce.h. Source: reference/dump-layouts-and-statistics.md section 3, checked against the
// writers of 2.7.0 to 2.10.0 and the offline debuggers of 1.6.1 to 2.0.0 (verified-on-real-mindspore.md section 4).
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
#include "tables/statistic_csv.h"

namespace msdump::stats {

enum class Rule : uint8_t { kA, kB, kC };

struct Dialect {
  std::string_view name;  // "2.5.0 to 2.7.0"
  Version from, to;       // from <= version < to
  Rule rule = Rule::kC;
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

// Oldest first.
[[nodiscard]] std::span<const Dialect> all_dialects();
// The dialect of a version as people type it ("2.5.0", "2.3.0rc2"); the newest for a version later than all known ones.
// kUsage for text that is not a version and for versions that wrote no statistic.csv.
Result<const Dialect*> dialect_from_text(std::string_view text);
[[nodiscard]] const Dialect* dialect_of(const Version& version);  // null before 1.6
[[nodiscard]] const Dialect& newest_dialect();

// The columns of a dialect when none are asked for.
[[nodiscard]] std::vector<StatisticColumn> default_columns(const Dialect& dialect);
// As the writer would take them: repeats dropped where it drops them.
[[nodiscard]] std::vector<StatisticColumn> effective_columns(const Dialect& dialect,
                                                             std::vector<StatisticColumn> columns);

// Elements of each chunk of a tensor of `count` elements, in order; one chunk for an empty tensor.
struct Chunks {
  int64_t count = 1;  // chunks
  int64_t size = 0;   // elements of all but the last
  int64_t last = 0;
  bool merged = false;  // even a single chunk went through the code that merges chunks
  [[nodiscard]] int64_t begin(int64_t chunk) const { return chunk * size; }
  [[nodiscard]] int64_t elements(int64_t chunk) const { return chunk + 1 == count ? last : size; }
};
[[nodiscard]] Chunks chunks_of(const Dialect& dialect, int64_t count);

// Which dialect and which columns to use: read off the dump unless the user names them.

// What the statistic.csv files of a dump show apart from their numbers.
struct StoredStyle {
  std::string path;  // of the file that was examined
  std::vector<StatisticColumn> columns;
  bool has_rows = false, comma_at_end = false, square_brackets = false;
};
// The first statistic.csv that MindSpore may have written; none if there is none.
[[nodiscard]] std::optional<StoredStyle> stored_style(const DumpIndex& index);

struct DialectChoice {
  std::vector<const Dialect*> candidates;  // those the evidence leaves, oldest first; never empty
  std::string evidence;                    // "config.json says MindSpore 2.10.0"; empty: there is none
  bool too_old = false;                    // the evidence is of a version that wrote no statistic.csv yet

  // The newest that the evidence leaves.
  [[nodiscard]] const Dialect& best() const { return *candidates.back(); }
};
[[nodiscard]] DialectChoice choose_dialect(const DumpIndex& index, const std::optional<StoredStyle>& stored);

// Those of the statistic.csv there, else statistic_category of .dump_metadata/data_dump.json, else the dialect's own.
[[nodiscard]] std::vector<StatisticColumn> choose_columns(const DumpIndex& index, const Dialect& dialect,
                                                          const std::optional<StoredStyle>& stored);

}  // namespace msdump::stats
