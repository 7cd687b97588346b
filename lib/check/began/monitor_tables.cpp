#include "check/began/monitor_tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "tables/monitor_csv.h"

namespace msdump::check {
namespace {

std::optional<float> float_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return static_cast<float>(value);
  return std::nullopt;
}

// As the list of a monitor's rows names them (dump/layouts/family_tables.cpp).
StepTensor tensor_of(const MonitorRow& row, const MonitorName& file, std::optional<int64_t> rank) {
  StepTensor tensor;
  tensor.rank = rank;
  tensor.op_type = file.second && !row.scope.empty() ? row.scope : file.metric;
  tensor.slot = "0";
  std::string_view name = row.name;
  if (file.metric.starts_with("actv") || file.metric == "module") {
    tensor.io = Io::kOutput;
    if (const auto activation = parse_activation_name(name)) {
      name = activation->module.empty() ? "." : activation->module;
      tensor.io = activation->input ? Io::kInput : Io::kOutput;
      tensor.slot = activation->slot;
    }
  } else {
    if (file.second && name.ends_with("." + tensor.op_type)) name.remove_suffix(tensor.op_type.size() + 1);
    tensor.io = Io::kParameter;
  }
  const bool staged = row.vpp_stage > 0 && !file.second;
  tensor.op_name = staged ? fmt::format("{}:{}", row.vpp_stage, name) : std::string(name);
  return tensor;
}

StepStatistic statistic_of(const std::vector<StatisticColumn>& columns) {
  const auto has = [&](StatisticColumn column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  if (has(StatisticColumn::kL2Norm)) return StepStatistic::kNorm;
  return has(StatisticColumn::kMax) && has(StatisticColumn::kMin) ? StepStatistic::kLargest : StepStatistic::kMean;
}

// The rows of one rank and metric: they come in the same order in each step.
class Rows {
 public:
  Rows(StepHistory& history, std::string_view file_name, std::optional<int64_t> rank)
      : history_(history), resolution_(monitor_resolution(file_name)), rank_(rank) {
    const MonitorName name = parse_monitor_name(file_name).value_or(MonitorName{});
    metric_ = name.metric;
    second_ = name.second;
  }

  void take(const MonitorRow& row, const std::vector<StatisticColumn>& columns) {
    Name& name = find(row);
    if (name.step != row.step) {
      name.step = row.step;
      name.executions = 0;
    }
    if (name.executions == name.tensors.size()) {
      StepTensor tensor = tensor_of(row, {metric_, second_}, rank_);
      tensor.occurrence = static_cast<uint32_t>(name.executions);
      tensor.statistic = statistic_of(columns);
      tensor.resolution = resolution_;
      name.tensors.push_back(history_.add(std::move(tensor)));
    }
    const StepTensorId tensor = name.tensors[name.executions++];
    if (const auto number = number_of(row, columns)) history_.set(tensor, row.step, *number);
  }

 private:
  struct Name {
    std::string name, scope;
    int64_t stage = 0;
    int64_t step = std::numeric_limits<int64_t>::min();
    size_t executions = 0;              // in that step
    std::vector<StepTensorId> tensors;  // by execution
    size_t next = 0;                    // the name that came after it the last time
  };

  [[nodiscard]] bool is(const Name& name, const MonitorRow& row) const {
    return name.name == row.name && name.scope == row.scope && name.stage == row.vpp_stage;
  }

  Name& find(const MonitorRow& row) {
    const size_t guess = last_ < names_.size() ? names_[last_].next : 0;
    if (guess >= names_.size() || !is(names_[guess], row)) {
      key_.assign(row.name).append(1, '\n').append(row.scope).append(1, '\n').append(std::to_string(row.vpp_stage));
      const auto [found, is_new] = number_of_.try_emplace(key_, names_.size());
      if (is_new) {
        Name& added = names_.emplace_back();
        added.name = row.name;
        added.scope = row.scope;
        added.stage = row.vpp_stage;
      }
      if (last_ < names_.size()) names_[last_].next = found->second;
      last_ = found->second;
    } else {
      last_ = guess;
    }
    return names_[last_];
  }

  // NaN for a tensor with NaN or infinities; no value if it was not there.
  static std::optional<float> number_of(const MonitorRow& row, const std::vector<StatisticColumn>& columns) {
    std::optional<float> norm, max, min, mean;
    bool finite = true;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::optional<float> number = float_of(row.values[i]);
      if (columns[i] == StatisticColumn::kNan) {
        finite = finite && !(number && *number > 0);
        continue;
      }
      finite = finite && !(number && !std::isfinite(*number));
      if (columns[i] == StatisticColumn::kL2Norm) norm = number;
      if (columns[i] == StatisticColumn::kMax) max = number;
      if (columns[i] == StatisticColumn::kMin) min = number;
      if (columns[i] == StatisticColumn::kAvg) mean = number;
    }
    const std::optional<float> largest =
        max && min ? std::optional(std::max(std::abs(*max), std::abs(*min))) : std::nullopt;
    const std::optional<float> number = norm ? norm : largest ? largest : mean;
    return number && !finite ? std::optional(std::numeric_limits<float>::quiet_NaN()) : number;
  }

  StepHistory& history_;
  double resolution_;
  std::string metric_;
  bool second_ = false;
  std::optional<int64_t> rank_;
  std::deque<Name> names_;
  std::unordered_map<std::string, size_t> number_of_;
  std::string key_;
  size_t last_ = 0;
};

// "grad_reduced_100-199.csv": 100.
int64_t first_step_of(std::string_view name) {
  const size_t at = name.find_last_of("_p");
  int64_t step = 0;
  if (at != std::string_view::npos) std::from_chars(name.data() + at + 1, name.data() + name.size(), step);
  return step;
}

Status read_table(const File& file, Rows& rows, const RunContext& context, std::vector<Error>& failures) {
  MSDUMP_TRY(MonitorReader reader, MonitorReader::open(file));
  constexpr size_t kMostFailures = 10;  // of a file
  size_t failed = 0;
  uint64_t last = 0;
  for (size_t count = 0;; ++count) {
    auto row = reader.next();
    if (!row) {
      if (++failed <= kMostFailures) failures.push_back(std::move(row).error());
      continue;
    }
    if (*row == nullptr) return file.check_unchanged();
    rows.take(**row, reader.columns());
    if (count % 65536 == 0) {
      MSDUMP_CHECK_OK(context.cancel.check());
      if (context.progress != nullptr) context.progress->add_bytes((*row)->offset - last);
      last = (*row)->offset;
    }
  }
}

}  // namespace

double monitor_resolution(std::string_view file_name) {
  const auto name = parse_monitor_name(file_name);
  return name && !name->second ? 1e-6 : 0;  // the first monitor rounds to six decimals
}

bool is_monitor_output(const DumpIndex& index) {
  bool any = false;
  for (const IndexedFile& file : index.files()) {
    if (file.family == nullptr) continue;
    if (file.kind != FileKind::kMonitor) return false;
    any = true;
  }
  return any;
}

Status read_monitor_tables(const DumpIndex& index, const RunContext& context, StepHistory& history,
                           std::vector<Error>& failures) {
  std::vector<FileId> files;
  uint64_t bytes = 0;
  for (FileId file{0}; file < index.files().size(); ++file) {
    if (index.files()[file].kind != FileKind::kMonitor) continue;
    files.push_back(file);
    bytes += index.files()[file].size;
  }
  const auto order = [&](FileId id) {
    const IndexedFile& file = index.files()[id];
    return std::tuple(known_first(index.identity_of(file).rank), first_step_of(file.shown_name()));
  };
  std::stable_sort(files.begin(), files.end(), [&](FileId a, FileId b) { return order(a) < order(b); });
  std::map<std::tuple<std::pair<bool, int64_t>, bool, std::string>, Rows> rows_of;
  if (context.progress != nullptr) context.progress->start(files.size(), bytes);
  for (const FileId id : files) {
    const IndexedFile& file = index.files()[id];
    const auto name = parse_monitor_name(file.shown_name());
    if (!name) continue;
    const std::optional<int64_t> rank = index.identity_of(file).rank;
    Rows& rows =
        rows_of
            .try_emplace({known_first(rank), name->second, std::string(name->metric)}, history, file.shown_name(), rank)
            .first->second;
    const auto opened = File::open(index.path_of(file));
    const Status read = opened ? read_table(*opened, rows, context, failures) : fail(opened.error());
    MSDUMP_CHECK_OK(context.cancel.check());
    if (!read) failures.push_back(read.error());
    if (context.progress != nullptr) context.progress->unit_done(file.shown_name());
  }
  return {};
}

}  // namespace msdump::check
