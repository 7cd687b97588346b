#include "check/began/monitor_tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

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

// Where a row has the numbers that are used.
struct Columns {
  std::optional<size_t> norm, max, min, mean, nans;

  explicit Columns(const std::vector<StatisticColumn>& columns) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == StatisticColumn::kL2Norm) norm = i;
      if (columns[i] == StatisticColumn::kMax) max = i;
      if (columns[i] == StatisticColumn::kMin) min = i;
      if (columns[i] == StatisticColumn::kAvg) mean = i;
      if (columns[i] == StatisticColumn::kNan) nans = i;
    }
  }
  [[nodiscard]] StepStatistic statistic() const {
    return norm ? StepStatistic::kNorm : max && min ? StepStatistic::kLargest : StepStatistic::kMean;
  }
  // NaN for a tensor with NaN or infinities; no value if it was not there.
  [[nodiscard]] std::optional<float> value(const MonitorRow& row) const {
    if (nans && float_of(row.values[*nans]).value_or(0) > 0) return std::numeric_limits<float>::quiet_NaN();
    if (norm) return float_of(row.values[*norm]);
    if (!max || !min) return mean ? float_of(row.values[*mean]) : std::nullopt;
    const auto highest = float_of(row.values[*max]), lowest = float_of(row.values[*min]);
    if (!highest || !lowest) return std::nullopt;
    // std::max() drops NaN of its second argument.
    return std::isnan(*lowest) ? *lowest : std::max(std::abs(*highest), std::abs(*lowest));
  }
};

// The rows of one rank and metric: they come in the same order in each step.
class Rows {
 public:
  Rows(StepHistory& history, std::string_view file_name, std::optional<int64_t> rank)
      : history_(history), resolution_(monitor_resolution(file_name)), rank_(rank) {
    const MonitorName name = parse_monitor_name(file_name).value_or(MonitorName{});
    metric_ = name.metric;
    second_ = name.second;
  }

  void take(const MonitorRow& row, const Columns& columns) {
    Name& name = find(row);
    if (name.step != row.step) {
      name.step = row.step;
      name.executions = 0;
    }
    if (name.executions == name.tensors.size()) {
      StepTensor tensor = tensor_of(row, {metric_, second_}, rank_);
      tensor.occurrence = static_cast<uint32_t>(name.executions);
      tensor.statistic = columns.statistic();
      tensor.resolution = resolution_;
      name.tensors.push_back(history_.add(std::move(tensor)));
    }
    const StepTensorId tensor = name.tensors[name.executions++];
    if (const auto number = columns.value(row)) history_.set(tensor, row.step, *number);
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
  const Columns columns(reader.columns());
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
    rows.take(**row, columns);
    if (count % 65536 == 0) {
      MSDUMP_CHECK_OK(context.cancel.check());
      if (context.progress != nullptr) context.progress->add_bytes((*row)->offset - last);
      last = (*row)->offset;
    }
  }
}

// The tables of one rank and metric, by their first steps.
struct Group {
  std::optional<int64_t> rank;
  std::string metric;
  bool second = false;
  std::vector<FileId> files;
};

std::vector<Group> groups_of(const DumpIndex& index) {
  std::vector<Group> groups;
  for (FileId file{0}; file < index.files().size(); ++file) {
    if (index.files()[file].kind != FileKind::kMonitor) continue;
    const auto name = parse_monitor_name(index.files()[file].shown_name());
    if (!name) continue;
    const std::optional<int64_t> rank = index.identity_of(index.files()[file]).rank;
    const auto is_of = [&](const Group& group) {
      return group.rank == rank && group.metric == name->metric && group.second == name->second;
    };
    auto group = std::find_if(groups.begin(), groups.end(), is_of);
    if (group == groups.end()) group = groups.insert(group, Group{rank, std::string(name->metric), name->second, {}});
    group->files.push_back(file);
  }
  const auto first_step = [&](FileId file) { return first_step_of(index.files()[file].shown_name()); };
  for (Group& group : groups) {
    std::stable_sort(group.files.begin(), group.files.end(),
                     [&](FileId a, FileId b) { return first_step(a) < first_step(b); });
  }
  return groups;
}

struct GroupHistory {
  StepHistory history;
  std::vector<Error> failures;
};

GroupHistory read_group(const DumpIndex& index, const Group& group, size_t budget, const RunContext& context) {
  GroupHistory read{StepHistory(budget), {}};
  std::optional<Rows> rows;
  for (const FileId id : group.files) {
    const IndexedFile& file = index.files()[id];
    if (!rows) rows.emplace(read.history, file.shown_name(), group.rank);
    const auto opened = File::open(index.path_of(file));
    const Status done = opened ? read_table(*opened, *rows, context, read.failures) : fail(opened.error());
    if (context.cancel.cancelled()) break;
    if (!done) read.failures.push_back(done.error());
    if (context.progress != nullptr) context.progress->unit_done(file.shown_name());
  }
  return read;
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
  const std::vector<Group> groups = groups_of(index);
  uint64_t bytes = 0;
  size_t files = 0;
  for (const Group& group : groups) {
    files += group.files.size();
    for (const FileId file : group.files) bytes += index.files()[file].size;
  }
  if (context.progress != nullptr) context.progress->start(files, bytes);
  context.pool.ordered_for(
      static_cast<int64_t>(groups.size()),
      [&](int64_t group) {
        return read_group(index, groups[static_cast<size_t>(group)], StepHistory::kBudget / groups.size(), context);
      },
      [&](int64_t, GroupHistory&& read) {
        history.append(std::move(read.history));
        std::move(read.failures.begin(), read.failures.end(), std::back_inserter(failures));
      });
  return context.cancel.check();
}

}  // namespace msdump::check
