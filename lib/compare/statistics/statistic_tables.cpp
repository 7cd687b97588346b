#include "compare/statistics/statistic_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compare/statistics/merged_statistics.h"
#include "dump/layouts/family.h"
#include "io/file.h"
#include "msprobe/dump_json.h"
#include "tables/monitor_csv.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

StatisticOrigin origin_of(const MsprobeTensor& tensor) {
  if (tensor.type.starts_with("torch")) return StatisticOrigin::kTorchJson;
  return tensor.type.starts_with("numpy") ? StatisticOrigin::kNumpyJson : StatisticOrigin::kMindSporeJson;
}

// The texts of a row, separated by commas, in the buffer `into`.
std::string_view joined(const std::vector<std::string_view>& values, std::string& into) {
  into.clear();
  for (const std::string_view value : values) {
    into += value;
    into += ',';
  }
  if (!into.empty()) into.pop_back();
  return into;
}

std::string_view joined(const MsprobeTensor& tensor, std::string& into) {
  into.clear();
  for (const auto* value : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm}) {
    if (*value) into += **value;
    into += ',';
  }
  if (tensor.md5) into += *tensor.md5;
  return into;
}

}  // namespace

StatisticTables::~StatisticTables() = default;

StatisticTables::StatisticTables(const DumpIndex& index) : index_(&index) {
  for (uint32_t file = 0; file < index.files().size(); ++file) {
    const Family* const family = index.files()[file].family;
    if (family != nullptr && !family->has_elements()) files_.push_back(file);
  }
  tables_ = std::make_unique<Table[]>(files_.size());
}

StatisticTables::Table& StatisticTables::table(uint32_t file) {
  const auto place = std::lower_bound(files_.begin(), files_.end(), file) - files_.begin();
  Table& found = tables_[static_cast<size_t>(place)];
  std::call_once(found.once, [&] {
    Status status = read(index_->files()[file], found);
    if (!status) found.problem = std::move(status).error();
  });
  return found;
}

const stats::DialectChoice& StatisticTables::dialects() {
  std::call_once(chosen_, [&] { dialects_ = stats::choose_dialect(*index_, stats::stored_style(*index_)); });
  return dialects_;
}

Status StatisticTables::read(const IndexedFile& file, Table& table) const {
  MSDUMP_TRY(const File opened, File::open(index_->path_of(file)));
  if (file.kind == FileKind::kStatistic) {
    MSDUMP_CHECK_OK(read_csv(opened, table));
  } else if (file.kind == FileKind::kMonitor) {
    MSDUMP_CHECK_OK(read_monitor(opened, file.shown_name(), table));
  } else {
    MSDUMP_CHECK_OK(read_json(opened, table));
  }
  const auto by_offset = [](const Row& a, const Row& b) { return a.offset < b.offset; };
  if (!std::is_sorted(table.rows.begin(), table.rows.end(), by_offset))
    std::sort(table.rows.begin(), table.rows.end(), by_offset);
  return opened.check_unchanged();
}

Status StatisticTables::read_csv(const File& file, Table& table) {
  MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
  std::string text;
  for (;;) {
    const auto row = reader.next();
    if (!row) continue;  // reported when the table was listed
    if (*row == nullptr) return {};
    if (table.columns.size() != reader.headers_read())
      table.columns.resize(reader.headers_read(), reader.header().columns);
    const StatisticOrigin origin = reader.header().msprobe ? StatisticOrigin::kDeviceCsv : StatisticOrigin::kCsv;
    const auto header = static_cast<uint32_t>(table.columns.size() - 1);
    table.rows.push_back({(*row)->offset, table.texts.keep(joined((*row)->values, text)), header, origin});
  }
}

Status StatisticTables::read_monitor(const File& file, std::string_view name, Table& table) {
  MSDUMP_TRY(MonitorReader reader, MonitorReader::open(file));
  const auto of_name = parse_monitor_name(name);
  const auto origin = of_name && of_name->second ? StatisticOrigin::kTorchJson : StatisticOrigin::kMonitorCsv;
  table.columns.push_back(reader.columns());
  std::string text;
  for (;;) {
    const auto row = reader.next();
    if (!row) continue;  // reported when the table was listed
    if (*row == nullptr) return {};
    table.rows.push_back({(*row)->offset, table.texts.keep(joined((*row)->values, text)), 0, origin});
  }
}

Status StatisticTables::read_json(const File& file, Table& table) {
  MSDUMP_TRY(const DumpJson json, read_dump_json(file));
  table.columns.emplace_back(json_columns().begin(), json_columns().end());
  table.rows.reserve(json.tensors.size());
  std::string text;
  for (const MsprobeTensor& tensor : json.tensors) {
    table.rows.push_back({tensor.offset, table.texts.keep(joined(tensor, text)), 0, origin_of(tensor)});
  }
  return {};
}

Result<StatisticValues> StatisticTables::values_of(const TensorRecord& tensor) {
  if (const TensorPieces* const pieces = tensor.pieces()) {
    std::vector<StatisticValues> of_pieces;
    for (const TensorRecord* const piece : pieces->records) {
      MSDUMP_TRY(StatisticValues values, values_of(*piece));
      of_pieces.push_back(std::move(values));
    }
    return merged_statistics(*pieces, of_pieces);
  }
  Table& found = table(tensor.table);
  if (found.problem) return fail(*found.problem);
  const auto is_it = [&](size_t row) { return row < found.rows.size() && found.rows[row].offset == tensor.row_offset; };
  size_t place = tensor.item;  // of a row without a file of its own
  if (!is_it(place)) {
    const auto row = std::lower_bound(found.rows.begin(), found.rows.end(), tensor.row_offset,
                                      [](const Row& one, uint64_t offset) { return one.offset < offset; });
    place = static_cast<size_t>(row - found.rows.begin());
  }
  if (!is_it(place)) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "the row is not there any more")
                    .with_path(index_->path_of(index_->files()[tensor.table]))
                    .with_offset(tensor.row_offset));
  }
  const Row* const row = &found.rows[place];
  StoredStatistics stored{row->origin, found.columns[row->header], row->values, nullptr};
  if (row->origin == StatisticOrigin::kCsv) stored.dialects = &dialects();
  std::optional<Shape> shape;
  if (tensor.shape != nullptr) shape = *tensor.shape;
  return stored_values(stored, tensor.name.dtype, shape);
}

}  // namespace msdump
