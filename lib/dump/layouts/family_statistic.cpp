// statistic.csv: rows of tensors, with or without the tensors beside it.
#include "base/text.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

TableRow table_row(const StatisticRow& row, TextArena& arena) {
  TableRow result;
  NameFacts& facts = result.facts;
  facts.op_type = arena.keep(row.op_type);
  facts.op_name = arena.keep(row.op_name);
  facts.timestamp = row.timestamp == "0" ? std::string_view() : arena.keep(row.timestamp);
  facts.slot = arena.keep(row.slot);
  facts.task_id = parse_i64(row.task_id);
  facts.stream_id = parse_i64(row.stream_id);
  facts.io = row.op_type == "Parameter" ? Io::kParameter : row.io == "input" ? Io::kInput : Io::kOutput;
  facts.dtype = dtype_from_name(row.dtype).value_or(DType::kUndefined);
  if (!row.format.empty()) facts.format = format_from_name(row.format);
  result.shape = row.shape;
  result.bytes = parse_u64(row.data_size);
  result.offset = row.offset;
  return result;
}

class StatisticFamily final : public Family {
 public:
  std::string_view name() const override { return "statistic.csv"; }
  FileKind kind() const override { return FileKind::kStatistic; }
  bool has_elements() const override { return false; }

  Claim claim(const FileContext& file, NameFacts& /*facts*/) const override {
    return kind_of_name(file.name) == FileKind::kStatistic ? Claim::kByName : Claim::kNo;
  }

  Status list_rows(const File& file, TextArena& arena, TableSink& sink) const override {
    MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
    for (;;) {
      auto row = reader.next();
      if (!row) {
        sink.problem(std::move(row).error());
      } else if (*row == nullptr) {
        return {};
      } else {
        sink.row(table_row(**row, arena));
      }
    }
  }
};

}  // namespace

const Family& statistic_family() {
  static const StatisticFamily kFamily;
  return kFamily;
}

}  // namespace msdump
