#include "stats/verify.h"

#include <algorithm>

#include "base/text.h"
#include "tables/statistic_csv.h"

namespace msdump::stats {
namespace {

StoredRow copy_of(const StatisticRow& row, const StatisticHeader& header) {
  StoredRow copy;
  copy.data_size = row.data_size;
  copy.dtype = row.dtype;
  copy.shape_text = row.shape_text;
  copy.shape = row.shape;
  copy.square_brackets = row.square_brackets;
  copy.columns = header.columns;
  for (const std::string_view value : row.values) copy.values.emplace_back(value);
  return copy;
}

// Texts that only statistics computed on the device contain.
bool is_device_text(std::string_view value) { return value == "True" || value == "False" || value == "null"; }

}  // namespace

Result<StoredRows> read_stored_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors) {
  // By table, then by place in it: each table is read once.
  std::map<uint32_t, std::map<uint64_t, size_t>> wanted;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorRecord& tensor = tensors[i];
    if (!tensor.has_elements || tensor.broken || tensor.table == kNoTable) continue;
    if (index.files()[tensor.table].kind == FileKind::kStatistic) wanted[tensor.table][tensor.row_offset] = i;
  }
  StoredRows rows;
  for (const auto& [table, places] : wanted) {
    MSDUMP_TRY(const File file, File::open(index.path_of(index.files()[table])));
    MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
    for (;;) {
      const auto row = reader.next();
      if (!row) continue;  // told when the table was listed
      if (*row == nullptr) break;
      const auto place = places.find((*row)->offset);
      if (place != places.end()) rows.emplace(place->second, copy_of(**row, reader.header()));
    }
  }
  return rows;
}

std::optional<int64_t> sampled_elements(const StoredRow& row, const TensorRecord& tensor) {
  if (row.shape.size() != 1 || tensor.shape == nullptr) return std::nullopt;
  const auto there = element_count(*tensor.shape);
  if (!there || row.shape[0] >= *there || row.shape[0] < 1) return std::nullopt;
  return row.shape[0];
}

RowComparison compare_row(const StoredRow& row, const TextStyle& style, const TensorStatistics& statistics) {
  RowComparison comparison;
  const auto compare = [&](std::string_view column, const std::string& stored, const std::string& computed) {
    ++comparison.cells;
    if (stored != computed) comparison.differences.push_back({std::string(column), stored, computed});
  };
  compare("data_size", row.data_size, std::to_string(statistics.data_size));
  compare("dtype", row.dtype, std::string(name_of(statistics.dtype)));
  compare("shape", row.shape_text, shape_text(*style.dialect, statistics.shape));
  for (size_t i = 0; i < std::min(row.columns.size(), row.values.size()); ++i) {
    if (style.dialect->rule != Rule::kA && is_device_text(row.values[i])) {
      ++comparison.cells;
      ++comparison.unverifiable;
      continue;
    }
    compare(info(row.columns[i]).key, row.values[i], cell_text(style, row.columns[i], statistics));
  }
  return comparison;
}

}  // namespace msdump::stats
