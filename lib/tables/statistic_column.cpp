#include "tables/statistic_column.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/enum_table.h"

namespace msdump {
namespace {

using enum StatisticColumn;

constexpr std::array kInfo = {
    StatisticColumnInfo{kMax, "Max Value", "max", "max"},
    StatisticColumnInfo{kMin, "Min Value", "min", "min"},
    StatisticColumnInfo{kAvg, "Avg Value", "avg", "avg"},
    StatisticColumnInfo{kCount, "Count", "count", "count"},
    StatisticColumnInfo{kNegativeZero, "Negative Zero Count", "negative zero count", "negative_zero_count"},
    StatisticColumnInfo{kPositiveZero, "Positive Zero Count", "positive zero count", "positive_zero_count"},
    StatisticColumnInfo{kNan, "NaN Count", "nan count", "nan_count"},
    StatisticColumnInfo{kNegativeInf, "Negative Inf Count", "negative inf count", "negative_inf_count"},
    StatisticColumnInfo{kPositiveInf, "Positive Inf Count", "positive inf count", "positive_inf_count"},
    StatisticColumnInfo{kZero, "Zero Count", "zero count", "zero_count"},
    StatisticColumnInfo{kL2Norm, "L2Norm Value", "l2norm", "l2norm"},
    StatisticColumnInfo{kMd5, "MD5", "md5", "md5"},
    StatisticColumnInfo{kSha1, "SHA1", "hash:sha1", "sha1"},
};

constexpr bool in_enum_order() {
  for (size_t index = 0; index < kInfo.size(); ++index) {
    if (static_cast<size_t>(kInfo[index].column) != index) return false;
  }
  return true;
}
static_assert(in_enum_order() && !is_enumerator<static_cast<StatisticColumn>(kInfo.size())>());

struct Alias {
  std::string_view name;
  StatisticColumn column;
};

constexpr std::array kTitleAliases = {Alias{"MD5 Value", kMd5}, Alias{"l2norm", kL2Norm}};
constexpr std::array kCategoryAliases = {Alias{"hash", kSha1}, Alias{"hash:md5", kMd5}};

constexpr char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return folded(x) == folded(y); });
}

std::optional<StatisticColumn> find(std::string_view name, std::string_view StatisticColumnInfo::*spelling,
                                    std::span<const Alias> aliases) {
  for (const auto& entry : kInfo) {
    if (same_word(entry.*spelling, name)) return entry.column;
  }
  for (const auto& alias : aliases) {
    if (same_word(alias.name, name)) return alias.column;
  }
  return std::nullopt;
}

}  // namespace

std::span<const StatisticColumnInfo> all_statistic_columns() { return kInfo; }

const StatisticColumnInfo& info(StatisticColumn column) {
  const auto index = static_cast<size_t>(column);
  assert(index < kInfo.size());
  return kInfo[index];
}

std::optional<StatisticColumn> statistic_column_from_title(std::string_view title) {
  return find(title, &StatisticColumnInfo::title, kTitleAliases);
}

std::optional<StatisticColumn> statistic_column_from_category(std::string_view category) {
  return find(category, &StatisticColumnInfo::category, kCategoryAliases);
}

std::optional<StatisticColumn> statistic_column_from_key(std::string_view key) {
  return find(key, &StatisticColumnInfo::key, {});
}

std::optional<StatisticColumn> statistic_column_from_name(std::string_view name) {
  if (const auto column = statistic_column_from_key(name)) return column;
  if (const auto column = statistic_column_from_category(name)) return column;
  return statistic_column_from_title(name);
}

}  // namespace msdump
