#include "stats/choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/file.h"
#include "io/json.h"
#include "io/read_text.h"
#include "tables/statistic_csv.h"

namespace msdump::stats {
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

// "statistic_category" of a data_dump.json; anything else says nothing.
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

}  // namespace msdump::stats
