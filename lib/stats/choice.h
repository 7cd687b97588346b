// Which dialect and which columns to use: read off the dump unless the user names them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dump/index/dump_index.h"
#include "stats/dialect.h"

namespace msdump::stats {

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
