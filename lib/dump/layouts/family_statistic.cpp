// statistic.csv: rows of tensors, with or without the tensors beside it. CANN writes one for each operator, named like a
// dump file; msprobe one for all ATB operators of a run.
#include <filesystem>
#include <string>
#include <system_error>

#include "base/text.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "io/dir_walk.h"
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

// "5_Prefill_layer/0_Attention" of "Prefill_layer/Attention" and "5_0", as the folders of the elements have it.
std::string atb_name(const StatisticRow& row) {
  const auto names = split(row.op_name, '/'), numbers = split(row.op_id, '_');
  if (names.size() != numbers.size()) return std::string(row.op_name);
  std::string name;
  for (size_t i = 0; i < names.size(); ++i)
    name.append(i == 0 ? "" : "/").append(numbers[i]).append("_").append(names[i]);
  return name;
}

// Are the elements that the row names there? Then their own file lists the tensor. The path is that of the machine that
// wrote it: what follows the folder of the run still holds.
bool has_elements_file(const StatisticRow& row, std::string_view folder) {
  const std::string run = "/" + std::string(row.device) + "/" + std::string(row.run) + "/";
  const size_t at = row.data_path.rfind(run);
  if (at == std::string_view::npos) return false;
  const std::string_view below = row.data_path.substr(at + run.size());
  std::error_code error;
  return below.find("..") == std::string_view::npos && std::filesystem::exists(join_path(folder, below), error);
}

class StatisticFamily final : public Family {
 public:
  std::string_view name() const override { return "statistic.csv"; }
  FileKind kind() const override { return FileKind::kStatistic; }
  bool has_elements() const override { return false; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    constexpr std::string_view kSuffix = ".csv";
    if (!has_suffix(file.name, kSuffix)) return Claim::kNo;
    if (kind_of_name(file.name) == FileKind::kStatistic) return Claim::kByName;
    const auto op = parse_dump_file_name(file.name.substr(0, file.name.size() - kSuffix.size()));
    if (!op) return Claim::kNo;
    facts.op_type = op->op_type;
    facts.op_name = op->op_name;
    facts.task_id = op->task_id;
    facts.stream_id = op->stream_id;
    facts.timestamp = op->timestamp;
    return Claim::kByName;
  }

  Status list_rows(const File& file, TextArena& arena, TableSink& sink) const override {
    MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
    const std::string folder = file.path().substr(0, file.path().rfind('/') + 1);
    ProblemList problems;
    for (;;) {
      auto row = reader.next();
      if (!row) {
        problems.add(std::move(row).error());
      } else if (*row == nullptr) {
        sink.problems(problems);
        return {};
      } else if (reader.header().form != StatisticForm::kAtb) {
        sink.row(table_row(**row, arena));
      } else if (!has_elements_file(**row, folder.empty() ? "." : folder)) {
        TableRow listed = table_row(**row, arena);
        listed.facts.op_name = arena.keep(atb_name(**row));
        sink.row(listed);
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
