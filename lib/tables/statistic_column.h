// The statistics that statistic.csv can have, each with three spellings:
//   * the title of its column: "Max Value", "NaN Count", ... (also read: "Nan Count" of development snapshots of
//     MindSpore, "MD5 Value" of msprobe, "l2norm" of CANN),
//   * statistic_category of data_dump.json: "max", "nan count", "hash" and "hash:sha1" (SHA1), "hash:md5" (MD5), ...,
//   * the keys of msdump's own output: "max", "nan_count", "sha1", ...
// Source: reference/dump-layouts-and-statistics.md 3.1, 5 and 8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace msdump {

enum class StatisticColumn : uint8_t {
  kMax,
  kMin,
  kAvg,
  kCount,
  kNegativeZero,  // named after its title: elements below zero
  kPositiveZero,  // elements above zero
  kNan,
  kNegativeInf,
  kPositiveInf,
  kZero,  // zeros of either sign
  kL2Norm,
  kMd5,
  kSha1,
};

struct StatisticColumnInfo {
  StatisticColumn column;
  std::string_view title;     // as MindSpore writes it
  std::string_view category;  // in data_dump.json
  std::string_view key;       // in msdump's output
};

// Every column, in the order of the enum.
[[nodiscard]] std::span<const StatisticColumnInfo> all_statistic_columns();
[[nodiscard]] const StatisticColumnInfo& info(StatisticColumn column);

// All case-insensitive, because people type them and the writers do not agree.
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_title(std::string_view title);
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_category(std::string_view category);
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_key(std::string_view key);
// Any of the three spellings: what an option of the command line takes.
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_name(std::string_view name);

}  // namespace msdump
