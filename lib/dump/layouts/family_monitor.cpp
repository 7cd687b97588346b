// Tables of msprobe's monitor: statistics of a training, a row for each tensor and step. The operator is the tensor's
// name, its type what was monitored (grad_reduced, exp_avg, ..).
#include <string>

#include "base/text.h"
#include "dump/layouts/family.h"
#include "tables/monitor_csv.h"

namespace msdump {
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

TableRow table_row(const MonitorRow& row, const MonitorName& file, TextArena& arena) {
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
  // Chunks of a model that is cut into stages have the same names.
  const bool staged = row.vpp_stage > 0 && !file.second;
  facts.op_name = staged ? arena.keep(fmt::format("{}:{}", row.vpp_stage, facts.op_name)) : arena.keep(facts.op_name);
  facts.slot = arena.keep(facts.slot);
  facts.op_type = arena.keep(metric);
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

  Status list_rows(const File& file, TextArena& arena, TableSink& sink) const override {
    MSDUMP_TRY(MonitorReader reader, MonitorReader::open(file));
    const std::string_view path = file.path();
    const auto name = parse_monitor_name(path.substr(path.rfind('/') + 1));
    ProblemList problems;
    for (;;) {
      auto row = reader.next();
      if (!row) {
        problems.add(std::move(row).error());
      } else if (*row == nullptr) {
        sink.problems(problems);
        return {};
      } else {
        sink.row(table_row(**row, name.value_or(MonitorName{}), arena));
      }
    }
  }
};

}  // namespace

const Family& monitor_family() {
  static const MonitorFamily kFamily;
  return kFamily;
}

}  // namespace msdump
