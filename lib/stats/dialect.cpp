#include "stats/dialect.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "tables/statistic_csv.h"

namespace msdump::stats {
namespace {

constexpr int64_t kSlice = 20480, kLeastChunk = 10000, kMostChunks = 32;
constexpr Version kFirst{1, 6, 0}, kMd5{2, 2, 14}, kSelectable{2, 3, 0}, kPlainSum{2, 4, 0}, kNanStays{2, 5, 0},
    kSlices{2, 7, 1}, kNever{10000, 0, 0};

constexpr std::array<Dialect, 6> kDialects = {{
    {.name = "1.6.0 to 2.2.13",
     .from = kFirst,
     .to = kMd5,
     .rule = Rule::kFiniteOnly,
     .fixed_columns = true,
     .comma_at_end = false},
    {.name = "2.2.14 to 2.3.0rc",
     .from = kMd5,
     .to = kSelectable,
     .rule = Rule::kFiniteOnly,
     .fixed_columns = true,
     .with_md5 = true,
     .comma_at_end = false,
     .widened_bfloat16 = true},
    {.name = "2.3.0 to 2.3.1", .from = kSelectable, .to = kPlainSum, .rule = Rule::kRunningMean},
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
  // The release candidates of 2.3.0 write what 2.2.14 writes.
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

namespace {

constexpr uint64_t kMostConfigBytes = uint64_t{1} << 20;

using Candidates = std::vector<const Dialect*>;

Candidates candidates_of(const StoredStyle& stored) {
  Candidates candidates;
  for (const Dialect& dialect : all_dialects()) {
    const bool columns_fit = !dialect.fixed_columns || stored.columns == default_columns(dialect);
    const bool rows_fit = !stored.has_rows || (dialect.comma_at_end == stored.comma_at_end &&
                                               dialect.square_brackets == stored.square_brackets);
    if (columns_fit && rows_fit) candidates.push_back(&dialect);
  }
  return candidates;
}

// A version that wrote no statistic.csv yet gets the first dialect.
Candidates candidates_of(const FrameworkFacts& framework) {
  if (framework.version) {
    const auto dialect = dialect_from_text(framework.text);
    return {dialect ? *dialect : &all_dialects().front()};
  }
  Candidates candidates;
  if (!framework.from) return candidates;
  for (const Dialect& dialect : all_dialects()) {
    if (dialect.to > *framework.from && (!framework.to || dialect.from < *framework.to)) candidates.push_back(&dialect);
  }
  if (candidates.empty()) candidates.push_back(&all_dialects().front());
  return candidates;
}

Candidates common_to(const Candidates& a, const Candidates& b) {
  Candidates both;
  for (const Dialect* dialect : a) {
    if (std::find(b.begin(), b.end(), dialect) != b.end()) both.push_back(dialect);
  }
  return both;
}

// The columns in "statistic_category" of a data_dump.json.
std::optional<std::vector<StatisticColumn>> categories_in(const std::string& path) {
  const auto json = read_json(path, kMostConfigBytes);
  const JsonValue* common = json ? json->find("common_dump_settings") : nullptr;
  const JsonValue* list = common != nullptr ? common->find("statistic_category") : nullptr;
  if (list == nullptr || !list->is(JsonKind::kArray)) return std::nullopt;
  std::vector<StatisticColumn> columns;
  for (const JsonValue& item : list->items) {
    const auto column = statistic_column_from_category(item.text);
    if (!column) return std::nullopt;
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace

std::optional<StoredStyle> stored_style(const DumpIndex& index) {
  for (const IndexedFile& indexed : index.files()) {
    if (indexed.kind != FileKind::kStatistic) continue;
    const auto file = File::open(index.path_of(indexed));
    if (!file) continue;
    auto reader = StatisticReader::open(*file);
    if (!reader || reader->header().msprobe) continue;
    StoredStyle style;
    style.path = index.path_of(indexed);
    style.columns = reader->header().columns;
    if (const auto row = reader->next(); row && *row != nullptr) {
      style.has_rows = true;
      style.comma_at_end = (*row)->trailing_comma;
      style.square_brackets = (*row)->square_brackets;
    }
    return style;
  }
  return std::nullopt;
}

DialectChoice choose_dialect(const DumpIndex& index, const std::optional<StoredStyle>& stored) {
  DialectChoice choice;
  const FrameworkFacts framework = framework_of(index);
  const Candidates by_framework = candidates_of(framework);
  const Candidates by_file = stored ? candidates_of(*stored) : Candidates();
  choice.candidates = by_file.empty() ? by_framework : by_file;
  if (!by_file.empty()) choice.evidence = "the look of " + stored->path;
  const Candidates both = common_to(by_file, by_framework);
  if (!both.empty()) choice.candidates = both;
  if (!by_framework.empty() && (by_file.empty() || !both.empty())) {
    const std::string version = framework.version ? "config.json says MindSpore " + framework.text
                                                  : "file names of MindSpore " + framework.text;
    choice.evidence += (choice.evidence.empty() ? "" : ", ") + version;
  }
  if (choice.candidates.empty()) choice.candidates.push_back(&newest_dialect());
  const auto& until = framework.version ? framework.version : framework.to;
  choice.too_old = by_file.empty() && until && *until < all_dialects().front().from;
  return choice;
}

std::vector<StatisticColumn> choose_columns(const DumpIndex& index, const Dialect& dialect,
                                            const std::optional<StoredStyle>& stored) {
  if (stored) return stored->columns;
  for (const IndexedFile& file : index.files()) {
    if (file.name != "data_dump.json" || !index.folder_of(file).ends_with(".dump_metadata")) continue;
    if (dialect.fixed_columns) break;
    if (const auto columns = categories_in(index.path_of(file))) return effective_columns(dialect, *columns);
  }
  return default_columns(dialect);
}

namespace {

// Arithmetic with the same NaNs on every host. Of two NaNs the left one stays; a new one has the sign of the host that the
// statistics are made for.
class Arithmetic {
 public:
  explicit Arithmetic(HostArch arch)
      : fresh_nan_(std::copysign(std::numeric_limits<double>::quiet_NaN(), arch == HostArch::kX86 ? -1.0 : 1.0)) {}
  [[nodiscard]] double add(double a, double b) const { return settle(a, b, a + b); }
  [[nodiscard]] double subtract(double a, double b) const { return settle(a, b, a - b); }
  [[nodiscard]] double multiply(double a, double b) const { return settle(a, b, a * b); }
  [[nodiscard]] double divide(double a, double b) const { return settle(a, b, a / b); }
  [[nodiscard]] double root(double a) const { return settle(a, a, std::sqrt(a)); }

 private:
  [[nodiscard]] double settle(double a, double b, double result) const {
    if (!std::isnan(result)) return result;
    if (std::isnan(a)) return a;
    return std::isnan(b) ? b : fresh_nan_;
  }
  double fresh_nan_;
};

void add_counts(const kernels::ChunkStatistics& chunk, TensorNumbers& into) {
  const auto add = [](std::optional<uint64_t>& sum, uint64_t more) { sum = sum.value_or(0) + more; };
  add(into.count, chunk.count);
  add(into.negative, chunk.negative);
  add(into.positive, chunk.positive);
  add(into.zero, chunk.zero);
  add(into.nan, chunk.nan);
  add(into.negative_inf, chunk.negative_inf);
  add(into.positive_inf, chunk.positive_inf);
}

// A sum of 64-bit integers rounds each element.
double rounding_of(DType dtype, double value) {
  const bool rounds = dtype == DType::kInt64 || dtype == DType::kUint64;
  return rounds && std::abs(value) >= 0x1p53 ? 0x1p-53 * std::abs(value) : 0;
}

// std::max and std::min as MindSpore calls them: a NaN on the left stays, one on the right is lost.
double larger(double a, double b) { return a < b ? b : a; }
double smaller(double a, double b) { return b < a ? b : a; }

std::pair<double, double> merged_extremes(const Dialect& dialect, std::span<const kernels::ChunkStatistics> chunks) {
  const bool finite_start = dialect.rule != Rule::kSum;
  double max = finite_start ? -DBL_MAX : -HUGE_VAL, min = -max;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const bool take_nan = dialect.nan_survives_merge;
    max = take_nan && std::isnan(chunk.max) ? chunk.max : larger(max, chunk.max);
    min = take_nan && std::isnan(chunk.min) ? chunk.min : smaller(min, chunk.min);
  }
  return {max, min};
}

// MindSpore up to 2.3.1 divides two unsigned integers for the share of a chunk, which is 1 for the first chunk and 0 for all
// others. So the mean is that of the first chunk.
double merged_running_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double mean = 0;
  uint64_t total = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    total += chunk.count;
    const auto quotient = static_cast<double>(total == 0 ? 0 : chunk.count / total);
    mean = math.add(mean, math.multiply(math.subtract(chunk.sum, mean), quotient));
  }
  return mean;
}

double merged_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double total = 0;
  uint64_t count = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const auto elements = static_cast<double>(chunk.count);
    const double part = math.multiply(math.divide(chunk.sum, elements), elements);
    total = std::isnan(part) ? part : math.add(total, part);  // of several NaN the last
    count += chunk.count;
  }
  return math.divide(total, static_cast<double>(count));
}

// Neumaier's sum: the error of each addition is kept and added at the end.
double compensated_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double sum = 0, lost = 0;
  uint64_t count = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const double next = math.add(sum, chunk.sum);
    if (std::isfinite(next)) {
      lost += std::abs(sum) >= std::abs(chunk.sum) ? (sum - next) + chunk.sum : (chunk.sum - next) + sum;
    }
    sum = next;
    count += chunk.entered;
  }
  return math.divide(std::isfinite(sum) ? sum + lost : sum, static_cast<double>(count));
}

}  // namespace

Wanted wanted_for(std::span<const StatisticColumn> columns) {
  using enum StatisticColumn;
  Wanted wanted;
  for (const StatisticColumn column : columns) {
    switch (column) {
      case kMax:
      case kMin: wanted.extremes = true; break;
      case kAvg: wanted.sum = true; break;
      case kL2Norm: wanted.squares = true; break;
      case kMd5: wanted.md5 = true; break;
      case kSha1: wanted.sha1 = true; break;
      case kCount: break;  // always kept
      default: wanted.counts = true; break;
    }
  }
  return wanted;
}

kernels::ReduceRule reduce_rule(const Dialect& dialect, HostArch arch, const Wanted& wanted) {
  kernels::ReduceRule rule;
  rule.finite_only = dialect.rule == Rule::kFiniteOnly;
  rule.running_mean = rule.finite_start = dialect.rule != Rule::kSum;
  rule.negative_default_nan = arch == HostArch::kX86;
  rule.sum = wanted.sum;
  rule.squares = wanted.squares;
  rule.extremes = wanted.extremes;
  // "null" for max, min and avg depends on the number of finite elements.
  rule.counts = wanted.counts || (dialect.rule == Rule::kFiniteOnly && (wanted.sum || wanted.extremes));
  return rule;
}

void merge_chunks(const MergeRule& rule, std::span<const kernels::ChunkStatistics> chunks, bool merged,
                  TensorNumbers& into) {
  const Dialect& dialect = rule.dialect;
  const Arithmetic math(rule.arch);
  for (const kernels::ChunkStatistics& chunk : chunks) add_counts(chunk, into);
  const uint64_t without_value = *into.nan + *into.negative_inf + *into.positive_inf;
  into.nothing_finite = dialect.rule == Rule::kFiniteOnly && into.count == without_value;
  double squares = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) squares = math.add(squares, chunk.squares);
  const kernels::ChunkStatistics& only = chunks.front();
  const auto [max, min] = merged ? merged_extremes(dialect, chunks) : std::pair(only.max, only.min);
  double mean = only.sum;
  if (merged) {
    mean = rule.exact                   ? compensated_mean(math, chunks)
           : dialect.rule == Rule::kSum ? merged_mean(math, chunks)
                                        : merged_running_mean(math, chunks);
  } else if (dialect.rule == Rule::kSum) {
    mean = math.divide(only.sum, static_cast<double>(only.entered));
  }
  const auto number = [&](double value) { return StatisticNumber{value, rounding_of(into.dtype, value)}; };
  into.numbers = {number(max), number(min), number(mean), number(math.root(squares))};
}

double mean_of_chunks(HostArch arch, std::span<const kernels::ChunkStatistics> chunks) {
  return compensated_mean(Arithmetic(arch), chunks);
}

uint64_t analysed_count(const Dialect& dialect, DType dtype, uint64_t bytes, int64_t count) {
  // Dtypes narrower than a byte are unpacked, and their number is exact.
  const int bits = info(dtype).bits;
  if (!dialect.float_count || bits < 8) return static_cast<uint64_t>(count);
  return static_cast<uint64_t>(static_cast<float>(bytes) / static_cast<float>(bits / 8));
}

}  // namespace msdump::stats
