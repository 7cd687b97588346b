#include "stats/dialect.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace msdump::stats {
namespace {

constexpr int64_t kSlice = 20480, kLeastChunk = 10000, kMostChunks = 32;
constexpr Version kFirst{1, 6, 0}, kMd5{2, 2, 14}, kSelectable{2, 3, 0}, kPlainSum{2, 4, 0}, kNanStays{2, 5, 0},
    kSlices{2, 7, 1}, kNever{10000, 0, 0};

constexpr std::array<Dialect, 6> kDialects = {{
    {.name = "1.6.0 to 2.2.13",
     .from = kFirst,
     .to = kMd5,
     .rule = Rule::kA,
     .fixed_columns = true,
     .comma_at_end = false},
    {.name = "2.2.14 to 2.3.0rc",
     .from = kMd5,
     .to = kSelectable,
     .rule = Rule::kA,
     .fixed_columns = true,
     .with_md5 = true,
     .comma_at_end = false,
     .widened_bfloat16 = true},
    {.name = "2.3.0 to 2.3.1", .from = kSelectable, .to = kPlainSum, .rule = Rule::kB},
    {.name = "2.4", .from = kPlainSum, .to = kNanStays, .float_count = true},
    {.name = "2.5.0 to 2.7.0", .from = kNanStays, .to = kSlices, .nan_survives_merge = true, .float_count = true},
    {.name = "2.7.1 and later",
     .from = kSlices,
     .to = kNever,
     .square_brackets = true,
     .drops_repeats = true,
     .nan_survives_merge = true,
     .slices = true,
     .float_count = true},
}};

}  // namespace

std::span<const Dialect> all_dialects() { return kDialects; }
const Dialect& newest_dialect() { return kDialects.back(); }

const Dialect* dialect_of(const Version& version) {
  for (const Dialect& dialect : kDialects) {
    if (version >= dialect.from && version < dialect.to) return &dialect;
  }
  return nullptr;
}

Result<const Dialect*> dialect_from_text(std::string_view text) {
  const auto version = parse_version(text);
  const size_t dot = text.find('.');
  const bool has_minor = dot != std::string_view::npos && is_digits(text.substr(dot + 1, 1));
  if (!version || !has_minor) {
    return fail(make_error(ErrorCode::kUsage, "--dialect: '{}' is not a version of MindSpore", excerpt(text))
                    .with_hint("auto, or a version such as 2.5.0"));
  }
  // The release candidates of 2.3.0 still wrote what 2.2.14 does.
  if (version->major == 2 && version->minor == 3 && text.find("rc") != std::string_view::npos) return &kDialects[1];
  if (const Dialect* dialect = dialect_of(*version)) return dialect;
  return fail(make_error(ErrorCode::kUsage, "--dialect: MindSpore {} writes no statistic.csv", text)
                  .with_hint("statistic.csv came with 1.6.0"));
}

std::vector<StatisticColumn> default_columns(const Dialect& dialect) {
  using enum StatisticColumn;
  if (!dialect.fixed_columns) return {kMax, kMin, kL2Norm};
  std::vector<StatisticColumn> columns = {kMax,          kMin, kAvg,         kCount,       kNegativeZero,
                                          kPositiveZero, kNan, kNegativeInf, kPositiveInf, kZero};
  if (dialect.with_md5) columns.push_back(kMd5);
  return columns;
}

std::vector<StatisticColumn> effective_columns(const Dialect& dialect, std::vector<StatisticColumn> columns) {
  if (!dialect.drops_repeats) return columns;
  std::vector<StatisticColumn> kept;
  for (const StatisticColumn column : columns) {
    if (std::find(kept.begin(), kept.end(), column) == kept.end()) kept.push_back(column);
  }
  return kept;
}

Chunks chunks_of(const Dialect& dialect, int64_t count) {
  if (dialect.slices) {
    if (count <= kSlice) return {1, count, count, false};
    const int64_t slices = (count - 1) / kSlice + 1;
    return {slices, kSlice, count - kSlice * (slices - 1), true};
  }
  if (count <= kLeastChunk) return {1, count, count, false};
  const int64_t chunks = std::min(count / kLeastChunk, kMostChunks), size = count / chunks;
  return {chunks, size, count - size * (chunks - 1), true};
}

}  // namespace msdump::stats
