#include "stats/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"
#include "tables/statistic_csv.h"

namespace msdump::stats {
namespace {

StoredRow copy_of(const StatisticRow& row, std::shared_ptr<const StatisticHeader> header) {
  StoredRow copy;
  copy.data_size = row.data_size;
  copy.dtype = row.dtype;
  copy.shape_text = row.shape_text;
  copy.shape = row.shape;
  copy.header = std::move(header);
  for (const std::string_view value : row.values) copy.values.emplace_back(value);
  return copy;
}

// Texts that only statistics computed on the device contain; up to 2.3rc the host wrote "null", too.
bool is_device_text(std::string_view value) { return value == "True" || value == "False" || value == "null"; }

bool is_of_device(const StoredRow& row, const Dialect& dialect) {
  const auto& values = row.values;
  return row.header->msprobe ||
         (dialect.rule != Rule::kFiniteOnly && std::any_of(values.begin(), values.end(), is_device_text));
}

// The precision of the dtype, and of the six digits that are printed.
double relative_tolerance(DType dtype) {
  if (dtype == DType::kFloat16) return 0x1p-10;
  return dtype == DType::kBfloat16 ? 0x1p-7 : 1e-5;
}

std::optional<double> number_in(const std::string& text) {
  if (text == "True") return 1.0;
  if (text == "False") return 0.0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

// A mean of numbers that cancel is only as exact as the largest of them.
bool agrees_with_device(double stored, Extremum which, const TensorNumbers& numbers) {
  const double computed = numbers.value(which);
  if (stored == computed || (std::isnan(stored) && std::isnan(computed))) return true;
  if (!std::isfinite(computed)) return false;  // an infinite scale would allow any number
  double scale = std::abs(computed);
  if (which == Extremum::kMean)
    scale = std::max({scale, std::abs(numbers.value(Extremum::kMax)), std::abs(numbers.value(Extremum::kMin))});
  return std::abs(stored - computed) <= relative_tolerance(numbers.dtype) * scale;
}

class RowComparer {
 public:
  RowComparer(const StoredRow& row, const TextStyle& style, const TensorNumbers& numbers)
      : row_(row), style_(style), numbers_(numbers), of_device_(is_of_device(row, *style.dialect)) {}

  RowComparison run() {
    const bool padded = of_device_ && parse_u64(row_.data_size).value_or(0) > numbers_.data_size;
    take("data_size", padded, row_.data_size, std::to_string(numbers_.data_size));
    const std::string dtype(name_of(numbers_.dtype));
    const bool same_dtype = row_.header->msprobe && dtype_from_name(row_.dtype) == numbers_.dtype;
    take("dtype", false, row_.dtype, same_dtype ? row_.dtype : dtype);
    const Shape shape = numbers_.shape.value_or(Shape());
    const bool same_shape = row_.header->msprobe && row_.shape == shape;
    take("shape", false, row_.shape_text, same_shape ? row_.shape_text : shape_text(*style_.dialect, shape));
    const std::vector<StatisticColumn>& columns = row_.header->columns;
    for (size_t i = 0; i < std::min(columns.size(), row_.values.size()); ++i) take_value(columns[i], row_.values[i]);
    return std::move(comparison_);
  }

 private:
  void take(std::string_view column, bool unverifiable, const std::string& stored, const std::string& computed) {
    ++comparison_.cells;
    if (unverifiable) {
      ++comparison_.unverifiable;
    } else if (stored != computed) {
      comparison_.differences.push_back({std::string(column), stored, computed});
    }
  }

  void take_value(StatisticColumn column, const std::string& stored) {
    std::string computed = cell_text(style_, column, numbers_);
    bool unverifiable = false;
    if (of_device_) {
      const auto number = number_in(stored);
      const StatisticMember member = member_of(column);
      const auto* const which = std::get_if<Extremum>(&member);
      unverifiable = stored == "null";
      if (number && which != nullptr && agrees_with_device(*number, *which, numbers_)) computed = stored;
    }
    take(info(column).key, unverifiable, stored, computed);
  }

  const StoredRow& row_;
  const TextStyle& style_;
  const TensorNumbers& numbers_;
  const bool of_device_;
  RowComparison comparison_;
};

Wanted wanted_of(const StoredRows& rows) {
  std::set<StatisticColumn> columns;
  for (const auto& [tensor, row] : rows) columns.insert(row.header->columns.begin(), row.header->columns.end());
  return wanted_for(std::vector<StatisticColumn>(columns.begin(), columns.end()));
}

Result<Verification> verify_with(const DumpIndex& index, const std::vector<TensorRecord>& tensors,
                                 const StoredRows& rows, const Dialect& dialect, HostArch arch,
                                 const RunContext& context) {
  Verification verification;
  verification.dialect = &dialect;
  std::vector<ComputeItem> items;
  std::vector<const StoredRow*> stored;
  for (const auto& [at, row] : rows) {
    items.push_back({&tensors[at], sampled_elements(tensors[at], row.shape)});
    stored.push_back(&row);
  }
  const TextStyle style{&dialect, {}, false};
  compute(index, items, {&dialect, arch, false, wanted_of(rows)}, context,
          [&](size_t item, Result<TensorNumbers>&& result) {
            if (!result) {
              verification.failures.push_back(std::move(result).error());
              return;
            }
            RowComparison comparison = compare_row(*stored[item], style, *result);
            verification.cells += comparison.cells;
            verification.differing += comparison.differences.size();
            verification.unverifiable += comparison.unverifiable;
            if (!comparison.differences.empty())
              verification.verdicts.push_back({items[item].tensor, std::move(comparison)});
          });
  if (context.progress != nullptr) context.progress->stop();  // the next dialect starts again
  MSDUMP_CHECK_OK(context.cancel.check());
  return verification;
}

}  // namespace

Result<StoredRows> read_stored_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors) {
  // Sorted by table and place in it, so that each table is read once.
  std::map<uint32_t, std::map<uint64_t, size_t>> wanted;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorRecord& tensor = tensors[i];
    if (!tensor.has_elements || tensor.broken || tensor.table == kNoId) continue;
    if (index.files()[tensor.table].kind == FileKind::kStatistic) wanted[tensor.table][tensor.row_offset] = i;
  }
  StoredRows rows;
  for (const auto& [table, places] : wanted) {
    MSDUMP_TRY(const File file, File::open(index.path_of(index.files()[table])));
    MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
    std::shared_ptr<const StatisticHeader> header;
    for (size_t headers = 0;;) {
      const auto row = reader.next();
      if (!row) continue;  // reported when the table was listed
      if (*row == nullptr) break;
      const auto place = places.find((*row)->offset);
      if (std::exchange(headers, reader.headers_read()) != reader.headers_read())
        header = std::make_shared<const StatisticHeader>(reader.header());
      if (place != places.end()) rows.emplace(place->second, copy_of(**row, header));
    }
  }
  return rows;
}

RowComparison compare_row(const StoredRow& row, const TextStyle& style, const TensorNumbers& numbers) {
  return RowComparer(row, style, numbers).run();
}

Result<Verification> verify(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const StoredRows& rows,
                            const std::vector<const Dialect*>& dialects, HostArch arch, const RunContext& context) {
  Verification best;
  for (const Dialect* const dialect : dialects) {
    MSDUMP_TRY(Verification verification, verify_with(index, tensors, rows, *dialect, arch, context));
    if (best.dialect == nullptr || verification.differing <= best.differing) best = std::move(verification);
  }
  return best;
}

std::vector<OneSidedRow> one_sided_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors) {
  std::set<uint32_t> with_table;
  for (const IndexedFile& file : index.files()) {
    if (file.kind == FileKind::kStatistic) with_table.insert(file.folder);
  }
  std::vector<OneSidedRow> found;
  for (const TensorRecord& tensor : tensors) {
    const bool in_table = tensor.table != kNoId && index.files()[tensor.table].kind == FileKind::kStatistic;
    const bool beside_table = with_table.contains(index.files()[tensor.file].folder);
    if (tensor.has_elements ? !in_table && beside_table : in_table) found.push_back({&tensor, in_table});
  }
  return found;
}

}  // namespace msdump::stats
