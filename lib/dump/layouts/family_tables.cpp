#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "base/text.h"
#include "dump/layouts/dump_json_kinds.h"
#include "dump/layouts/family.h"
#include "dump/layouts/name_facts.h"
#include "dump/names/file_name.h"
#include "io/dir_walk.h"
#include "msprobe/dump_json.h"
#include "tables/monitor_csv.h"
#include "tables/statistic_csv.h"

namespace msdump {

// statistic.csv: rows about tensors, whose elements may lie beside it. CANN writes one for each operator, with the name of a
// dump file, and msprobe one for all ATB operators of a run.

namespace {

// Keeps a text of a row, unless it is that of the row before: rows of an operator follow each other.
std::string_view kept(std::string_view text, std::string_view before, TextPool& texts) {
  return text == before ? before : texts.share(text);
}

TableRow table_row(const StatisticRow& row, const NameFacts& before, TextPool& texts) {
  TableRow result;
  NameFacts& facts = result.facts;
  facts.op_type = kept(row.op_type, before.op_type, texts);
  facts.op_name = kept(row.op_name, before.op_name, texts);
  facts.timestamp = row.timestamp == "0"                ? std::string_view()
                    : row.timestamp == before.timestamp ? before.timestamp
                                                        : texts.keep(row.timestamp);
  facts.slot = kept(row.slot, before.slot, texts);
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

// "5_Prefill_layer/0_Attention", as in the folders of elements, from "Prefill_layer/Attention" and "5_0".
std::string atb_name(const StatisticRow& row) {
  const auto names = split(row.op_name, '/'), numbers = split(row.op_id, '_');
  if (names.size() != numbers.size()) return std::string(row.op_name);
  std::string name;
  for (size_t i = 0; i < names.size(); ++i)
    name.append(i == 0 ? "" : "/").append(numbers[i]).append("_").append(names[i]);
  return name;
}

// True if the file of the elements exists, which then lists the tensor. The path in the row is that of the machine that wrote
// it; only its end after the folder of the run is used.
bool has_elements_file(const StatisticRow& row, std::string_view folder) {
  const std::string run = "/" + std::string(row.device) + "/" + std::string(row.run) + "/";
  const size_t at = row.data_path.rfind(run);
  if (at == std::string_view::npos) return false;
  const std::string_view below = row.data_path.substr(at + run.size());
  std::error_code error;
  return below.find("..") == std::string_view::npos && std::filesystem::exists(join_path(folder, below), error);
}

// Calls take(row) for each row of a table; unreadable ones go to the sink, counted.
template <class Reader, class Take>
Status read_rows(Reader& reader, TableSink& sink, const Take& take) {
  ProblemList problems;
  for (;;) {
    auto row = reader.next();
    if (!row) {
      problems.add(std::move(row).error());
    } else if (*row == nullptr) {
      sink.problems(problems);
      return {};
    } else {
      take(**row);
    }
  }
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

  Status list_rows(const File& file, TextPool& texts, TableSink& sink) const override {
    MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
    const std::string folder = file.path().substr(0, file.path().rfind('/') + 1);
    NameFacts before;
    return read_rows(reader, sink, [&](const StatisticRow& row) {
      const bool is_atb = reader.header().form == StatisticForm::kAtb;
      if (is_atb && has_elements_file(row, folder.empty() ? "." : folder)) return;
      TableRow listed = table_row(row, before, texts);
      before = listed.facts;
      if (is_atb) listed.facts.op_name = texts.share(atb_name(row));
      sink.row(listed);
    });
  }
};

}  // namespace

const Family& statistic_family() {
  static const StatisticFamily kFamily;
  return kFamily;
}

// Tables of msprobe's monitor: statistics of a training, a row for each tensor and step. The tensor's name is the operator,
// and the metric (grad_reduced, exp_avg, ..) its type.

namespace {

void take_activation(std::string_view name, NameFacts& facts) {
  facts.op_name = name;
  facts.slot = "0";
  const auto activation = parse_activation_name(name);
  if (!activation) return;
  facts.op_name = activation->module.empty() ? "." : activation->module;
  facts.io = activation->input ? Io::kInput : Io::kOutput;
  facts.slot = activation->slot;
}

TableRow table_row(const MonitorRow& row, const MonitorName& file, TextPool& texts) {
  TableRow result;
  NameFacts& facts = result.facts;
  const std::string_view metric = file.second && !row.scope.empty() ? row.scope : file.metric;
  std::string_view name = row.name;
  const bool activation = file.metric.starts_with("actv") || file.metric == "module";
  if (activation) {
    take_activation(name, facts);
  } else {
    // The optimizer's states of monitor_v2 repeat the metric: weight.exp_avg.
    if (file.second && name.ends_with("." + std::string(metric))) name.remove_suffix(metric.size() + 1);
    facts.op_name = name;
    facts.io = Io::kParameter;
    facts.slot = "0";
  }
  // Chunks of a pipeline-parallel model have the same names.
  const bool staged = row.vpp_stage > 0 && !file.second;
  facts.op_name = staged ? texts.share(fmt::format("{}:{}", row.vpp_stage, facts.op_name)) : texts.share(facts.op_name);
  facts.slot = texts.share(facts.slot);
  facts.op_type = texts.share(metric);
  facts.dtype = row.dtype.value_or(DType::kUndefined);
  result.shape = row.shape;
  result.step = row.step;
  result.offset = row.offset;
  return result;
}

class MonitorFamily final : public Family {
 public:
  std::string_view name() const override { return "table of msprobe's monitor"; }
  FileKind kind() const override { return FileKind::kMonitor; }
  bool has_elements() const override { return false; }
  bool rows_have_steps() const override { return true; }

  Claim claim(const FileContext& file, NameFacts& /*facts*/) const override {
    return parse_monitor_name(file.name) ? Claim::kByName : Claim::kNo;
  }

  Status list_rows(const File& file, TextPool& texts, TableSink& sink) const override {
    MSDUMP_TRY(MonitorReader reader, MonitorReader::open(file));
    const std::string_view path = file.path();
    const auto name = parse_monitor_name(path.substr(path.rfind('/') + 1));
    return read_rows(reader, sink,
                     [&](const MonitorRow& row) { sink.row(table_row(row, name.value_or(MonitorName{}), texts)); });
  }
};

}  // namespace

const Family& monitor_family() {
  static const MonitorFamily kFamily;
  return kFamily;
}

// msprobe's dump.json and debug.json, ptdbg_ascend's dump.pkl, logs of PyTorch's DebugMode: every tensor of a run with its
// statistics. Elements, if they were dumped, lie in dump_tensor_data beside it, in dump beside a dump.pkl.

namespace {

TableRow table_row(const MsprobeTensor& tensor, TextPool& texts) {
  TableRow row;
  row.facts.op_name = texts.share(tensor.op_name);
  row.facts.op_type = texts.share(tensor.op_type);
  row.facts.slot = tensor.slot.empty() ? "0" : texts.share(tensor.slot);
  row.facts.io = io_of(tensor.io);
  row.facts.dtype = tensor.dtype.value_or(DType::kUndefined);
  row.shape = tensor.shape;
  if (tensor.shape && tensor.dtype) {
    if (const auto count = element_count(*tensor.shape)) row.bytes = bytes_of(*tensor.dtype, *count);
  }
  row.offset = tensor.offset;
  row.order = static_cast<uint32_t>(tensor.order);
  if (tensor.data_name) row.data_name = texts.keep(*tensor.data_name);
  return row;
}

CallValue call_value(const MsprobeArgument& argument, TextPool& texts) {
  using Kind = CallValue::Kind;
  const auto kind_of = [](MsprobeArgument::Kind kind) {
    switch (kind) {
      case MsprobeArgument::Kind::kNone: return Kind::kNone;
      case MsprobeArgument::Kind::kBool: return Kind::kBool;
      case MsprobeArgument::Kind::kNumber: return Kind::kNumber;
      case MsprobeArgument::Kind::kText: return Kind::kText;
      case MsprobeArgument::Kind::kList: return Kind::kList;
      case MsprobeArgument::Kind::kGroup: return Kind::kGroup;
    }
    return Kind::kNone;
  };
  return {kind_of(argument.kind), argument.is_dtype, texts.keep(argument.text)};
}

void add_arguments(const MsprobeCall& call, TextPool& texts, TableSink& sink) {
  const std::string_view op_name = texts.share(call.op_name);
  for (const MsprobeArgument& argument : call.arguments)
    sink.argument(op_name, texts.share(argument.slot), call_value(argument, texts));
}

class DumpJsonFamily final : public Family {
 public:
  DumpJsonFamily(std::string_view file_name, FileKind kind) : file_name_(file_name), kind_(kind) {}
  std::string_view name() const override { return file_name_; }
  FileKind kind() const override { return kind_; }
  bool has_elements() const override { return false; }

  Claim claim(const FileContext& file, NameFacts& /*facts*/) const override {
    return kind_of_name(file.name) == kind_ ? Claim::kByName : Claim::kNo;
  }

  Status list_rows(const File& file, TextPool& texts, TableSink& sink) const override {
    MSDUMP_TRY(const DumpJson json, read_like_dump_json(kind_, file));
    std::map<const std::string*, std::string_view> kept;
    for (const MsprobeTensor& tensor : json.tensors) {
      TableRow row = table_row(tensor, texts);
      if (tensor.distribution != nullptr) {
        const auto [text, is_new] = kept.try_emplace(tensor.distribution.get());
        if (is_new) text->second = texts.keep(*tensor.distribution);
        row.distribution = text->second;
      }
      sink.row(row);
    }
    for (const MsprobeCall& call : json.calls) add_arguments(call, texts, sink);
    for (const MsprobeOverflow& one : json.overflows) sink.overflow(texts.share(one.op_name), one.status, one.order);
    sink.problems(json.problems);
    return {};
  }

 private:
  std::string_view file_name_;
  FileKind kind_;
};

}  // namespace

const Family& dump_json_family() {
  static const DumpJsonFamily kFamily("dump.json", FileKind::kDumpJson);
  return kFamily;
}

const Family& debug_json_family() {
  static const DumpJsonFamily kFamily("debug.json", FileKind::kDebugJson);
  return kFamily;
}

const Family& dump_pkl_family() {
  static const DumpJsonFamily kFamily("dump.pkl", FileKind::kDumpPkl);
  return kFamily;
}

const Family& tensor_log_family() {
  static const DumpJsonFamily kFamily("log of tensor hashes", FileKind::kTensorLog);
  return kFamily;
}

}  // namespace msdump
