// The forms of msdump stats that are rows: a table for people, JSON for machines.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "shared/identity_row.h"
#include "stats/compute.h"
#include "stats/statistic_text.h"
#include "stats/stats_run.h"

namespace msdump::cli {
namespace {

using stats::TensorStatistics;

report::Value value_of(StatisticColumn column, const TensorStatistics& statistics) {
  using enum StatisticColumn;
  const auto finite = [&](double value) { return statistics.nothing_finite ? report::Value() : report::Value(value); };
  if (column == kMd5) return statistics.md5;
  if (column == kSha1) return statistics.sha1;
  if (!statistics.supported) return {};
  switch (column) {
    case kMax: return finite(statistics.max);
    case kMin: return finite(statistics.min);
    case kAvg: return finite(statistics.avg);
    case kL2Norm: return statistics.l2norm;
    case kCount: return statistics.count;
    case kNegativeZero: return statistics.negative;
    case kPositiveZero: return statistics.positive;
    case kNan: return statistics.nan;
    case kNegativeInf: return statistics.negative_inf;
    case kPositiveInf: return statistics.positive_inf;
    case kZero: return statistics.zero;
    default: return {};
  }
}

// Repeated columns of a dialect are one key.
std::vector<StatisticColumn> distinct(const std::vector<StatisticColumn>& columns) {
  std::vector<StatisticColumn> kept;
  for (const StatisticColumn column : columns) {
    if (std::find(kept.begin(), kept.end(), column) == kept.end()) kept.push_back(column);
  }
  return kept;
}

class Rows {
 public:
  explicit Rows(StatsTask& task) : task_(task), columns_(distinct(task.columns)) {
    const StatsRequest& request = task.request;
    if (request.top > 0) {
      // The columns of the order are always shown.
      using enum StatisticColumn;
      for (const StatisticColumn column : {kNan, kNegativeInf, kPositiveInf, kMax, kMin}) {
        if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) columns_.push_back(column);
      }
    }
  }

  [[nodiscard]] std::vector<report::Column> table_columns() const {
    std::vector<report::Column> result = tensor_columns();
    for (report::Column& column : result) {
      if (column.key == "shape") column.title.clear();
    }
    // People want the shape of the tensor, not that on the device.
    result.push_back({"host_shape", "shape", {}, report::kDropStep});
    add_statistic_columns(columns_, task_.request.exact, result);
    return result;
  }

  [[nodiscard]] report::Row row(const TensorRecord& tensor, const TensorStatistics& statistics) const {
    TensorRecord shown = tensor;
    // Files with a single tensor were opened here for the first time; a row of a table about such a tensor may be
    // wrong, or about a part of it.
    const bool opened_here = !task_.catalogue.index.files()[tensor.file].facts.slot.empty();
    if (statistics.dtype != DType::kUndefined) shown.name.dtype = statistics.dtype;
    if (opened_here || shown.shape == nullptr) shown.shape = &statistics.shape;
    if (opened_here || !shown.bytes) shown.bytes = statistics.stored_bytes;
    report::Row result = identity_object(task_.catalogue.index, shown);
    result.add("host_shape", report::list_of(statistics.shape));
    for (const StatisticColumn column : columns_) {
      result.add(info(column).key, value_of(column, statistics));
    }
    return result;
  }

 private:
  StatsTask& task_;
  std::vector<StatisticColumn> columns_;
};

// Worst first: NaN, infinities, the largest absolute value.
struct Badness {
  uint64_t nan = 0, inf = 0;
  double largest = 0;
  size_t item = 0;

  bool operator<(const Badness& other) const {
    if (nan != other.nan) return nan > other.nan;
    if (inf != other.inf) return inf > other.inf;
    if (largest != other.largest) return largest > other.largest;
    return item < other.item;
  }
};

Badness badness_of(const TensorStatistics& statistics, size_t item) {
  const auto magnitude = [](double value) { return std::isfinite(value) ? std::abs(value) : 0.0; };
  const double largest =
      statistics.nothing_finite ? 0.0 : std::max(magnitude(statistics.max), magnitude(statistics.min));
  return {statistics.nan, statistics.negative_inf + statistics.positive_inf, largest, item};
}

// Keeps the worst N.
class Worst {
 public:
  explicit Worst(size_t most) : most_(most) {}
  void add(size_t item, TensorStatistics statistics) {
    kept_.emplace_back(badness_of(statistics, item), std::move(statistics));
    std::push_heap(kept_.begin(), kept_.end(), less);
    if (kept_.size() <= most_) return;
    std::pop_heap(kept_.begin(), kept_.end(), less);
    kept_.pop_back();
  }
  std::vector<std::pair<Badness, TensorStatistics>> sorted() {
    std::sort_heap(kept_.begin(), kept_.end(), less);
    return std::move(kept_);
  }

 private:
  static bool less(const std::pair<Badness, TensorStatistics>& a, const std::pair<Badness, TensorStatistics>& b) {
    return a.first < b.first;
  }
  size_t most_;
  std::vector<std::pair<Badness, TensorStatistics>> kept_;  // a heap, the least bad one on top
};

std::vector<stats::ComputeItem> items_of(const StatsTask& task) {
  std::vector<stats::ComputeItem> items;
  for (const TensorRecord& tensor : task.catalogue.list.tensors()) {
    if (tensor.has_elements && !tensor.broken) items.push_back({&tensor});
  }
  return items;
}

}  // namespace

std::vector<report::Column> tensor_columns() {
  std::vector<report::Column> result = identity_columns();
  for (report::Column& column : result) {
    if (column.key == "format" || column.key == "bytes" || column.key == "op_type") column.title.clear();
    if (column.key == "dtype" || column.key == "shape") column.drop = report::kDropStep;
  }
  return result;
}

void add_statistic_columns(const std::vector<StatisticColumn>& columns, bool exact, std::vector<report::Column>& into) {
  for (const StatisticColumn column : columns) {
    const std::string key(info(column).key);
    const auto cell = [key, exact](const report::Row& row) -> std::string {
      const auto* const number = row.get<double>(key);
      if (number == nullptr) return row.text_or_number(key);
      return exact ? report::number_text(*number) : stats::six_digits(*number);
    };
    into.push_back({key, std::string(info(column).category), cell});
  }
}

ExitCode write_statistics_part(StatsTask& task, PartRun& part) {
  const std::vector<stats::ComputeItem> items = items_of(task);
  std::vector<uint64_t> bytes;
  for (const stats::ComputeItem& item : items)
    bytes.push_back(item.tensor->bytes.value_or(task.catalogue.index.files()[item.tensor->file].size));
  const std::vector<bool> is_own = part.take(bytes);
  std::vector<stats::ComputeItem> own;
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_own[i]) own.push_back(items[i]);
  }
  stats::compute(task.catalogue.index, own, options_of(task), part.context(),
                 [](size_t, Result<TensorStatistics>&&) {});  // the part keeps them
  return part.finish("tensor");
}

ExitCode print_statistic_rows(StatsTask& task) {
  const StatsRequest& request = task.request;
  const Rows rows(task);
  const auto sink = task.session.open_report(request.form, task.catalogue.index.paths(), rows.table_columns());
  const std::vector<stats::ComputeItem> items = items_of(task);
  const RunContext& context = task.session.context;
  StatsOutcome outcome(task);
  Worst worst(request.top);
  stats::compute(task.catalogue.index, items, options_of(task), context,
                 [&](size_t item, Result<TensorStatistics>&& result) {
                   const TensorRecord& tensor = *items[item].tensor;
                   const TensorStatistics* statistics = outcome.take(tensor, result);
                   if (statistics == nullptr) return;
                   if (request.top > 0) {
                     worst.add(item, std::move(*result));
                   } else if (!sink->row(rows.row(tensor, *statistics))) {
                     task.session.cancel.cancel();  // the stream remembers why
                   }
                 });
  if (request.top > 0) {
    for (const auto& [badness, statistics] : worst.sorted()) {
      if (!sink->row(rows.row(*items[badness.item].tensor, statistics))) break;
    }
  }
  report::Closing closing;
  closing.summary.add("tensors", outcome.computed())
      .add("failed", outcome.failed() + static_cast<int64_t>(task.catalogue.list.failures().size()));
  closing.summary.add("dialect", task.dialect->name);
  closing.failures = outcome.failure_objects();
  (void)sink->finish(std::move(closing));
  return outcome.conclude(
      request.form == report::Form::kTable ? plural(static_cast<uint64_t>(outcome.computed()), "tensor") : "");
}

}  // namespace msdump::cli
