// msdump stats --verify: what differs between a statistic.csv and its tensors.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "shared/identity_row.h"
#include "stats/compute.h"
#include "stats/stats_run.h"
#include "stats/verify.h"

namespace msdump::cli {
namespace {

using stats::RowComparison;
using stats::StoredRow;
using stats::TensorStatistics;

struct TensorVerdict {
  const TensorRecord* tensor = nullptr;
  RowComparison comparison;
};

// One dialect against everything that is stored.
struct Verification {
  const stats::Dialect* dialect = nullptr;
  std::vector<TensorVerdict> verdicts;
  std::vector<std::pair<const TensorRecord*, Error>> failures;
  size_t cells = 0, differing = 0, unverifiable = 0;
  bool interrupted = false;
};

stats::Wanted wanted_of_rows(const stats::StoredRows& rows) {
  std::set<StatisticColumn> columns;
  for (const auto& [tensor, row] : rows) columns.insert(row.columns.begin(), row.columns.end());
  return stats::wanted_for(std::vector<StatisticColumn>(columns.begin(), columns.end()));
}

Verification verify_with(StatsTask& task, const stats::Dialect& dialect, const stats::StoredRows& rows) {
  Verification verification;
  verification.dialect = &dialect;
  std::vector<stats::ComputeItem> items;
  std::vector<const StoredRow*> stored;
  for (const auto& [at, row] : rows) {
    const TensorRecord& tensor = task.catalogue.list.tensors()[at];
    items.push_back({&tensor, stats::sampled_elements(row, tensor)});
    stored.push_back(&row);
  }
  const stats::ComputeOptions options{&dialect, task.request.arch, false, wanted_of_rows(rows)};
  const stats::ComputeContext context{task.session.context.pool, task.session.context.cancel,
                                      &task.session.context.progress};
  const stats::TextStyle style{&dialect, {}, false};
  stats::compute(task.catalogue.index, items, options, context, [&](size_t item, Result<TensorStatistics>&& result) {
    if (!result) {
      verification.interrupted = verification.interrupted || result.error().code == ErrorCode::kCancelled;
      verification.failures.emplace_back(items[item].tensor, std::move(result).error());
      return;
    }
    RowComparison comparison = compare_row(*stored[item], style, *result);
    verification.cells += comparison.cells;
    verification.differing += comparison.differences.size();
    verification.unverifiable += comparison.unverifiable;
    if (!comparison.differences.empty()) verification.verdicts.push_back({items[item].tensor, std::move(comparison)});
  });
  task.session.context.progress.stop();  // the next dialect starts again
  return verification;
}

std::vector<report::Column> columns() {
  std::vector<report::Column> result = identity_columns();
  for (report::Column& column : result) {
    const bool shown = column.key == "op_name" || column.key == "io" || column.key == "slot" || column.key == "step" ||
                       column.key == "rank";
    if (!shown) column.title.clear();
  }
  result.push_back({"column", "column"});
  result.push_back({"stored", "stored"});
  result.push_back({"computed", "computed"});
  return result;
}

class VerifyReport {
 public:
  VerifyReport(StatsTask& task, Verification& verification, const stats::StoredRows& rows)
      : task_(task), verification_(verification), rows_(rows), outcome_(task) {}

  ExitCode print() {
    sink_ = task_.session.open_report(task_.request.form, task_.catalogue.index.paths(), columns());
    for (const TensorVerdict& verdict : verification_.verdicts) {
      for (const stats::CellDifference& difference : verdict.comparison.differences)
        add(*verdict.tensor, difference.column, difference.stored, difference.computed);
    }
    add_one_sided();
    for (const auto& [tensor, error] : verification_.failures) outcome_.fail(error);
    report::Closing closing;
    closing.summary.add("tensors", rows_.size()).add("cells", verification_.cells);
    closing.summary.add("differing", verification_.differing).add("missing", missing_).add("extra", extra_);
    closing.summary.add("unverifiable", verification_.unverifiable).add("dialect", verification_.dialect->name);
    closing.failures = outcome_.failure_objects();
    (void)sink_->finish(closing);
    const ExitCode code = outcome_.conclude(text());
    return verification_.differing + missing_ + extra_ > 0 ? worse(code, ExitCode::kNo) : code;
  }

 private:
  // Rows that only one side has: tensors without a row in a directory that has a table, rows without a tensor.
  void add_one_sided() {
    std::set<uint32_t> with_table;
    const DumpIndex& index = task_.catalogue.index;
    for (const IndexedFile& file : index.files()) {
      if (file.kind == FileKind::kStatistic) with_table.insert(file.folder);
    }
    for (const TensorRecord& tensor : task_.catalogue.list.tensors()) {
      const bool in_table = tensor.table != kNoTable && index.files()[tensor.table].kind == FileKind::kStatistic;
      if (!tensor.has_elements && in_table) {
        ++extra_;
        add(tensor, {}, "a row", {});
      } else if (tensor.has_elements && !in_table && with_table.contains(index.files()[tensor.file].folder)) {
        ++missing_;
        add(tensor, {}, {}, "a row");
      }
    }
  }

  void add(const TensorRecord& tensor, std::string_view column, std::string_view stored, std::string_view computed) {
    const auto text = [](std::string_view word) { return word.empty() ? report::Value() : report::Value(word); };
    report::Row row = identity_object(task_.catalogue.index, tensor);
    const bool one_sided = column.empty();
    row.add("column", text(column));
    row.add("stored", one_sided ? text(stored) : report::Value(stored));
    row.add("computed", one_sided ? text(computed) : report::Value(computed));
    if (!sink_->row(row)) task_.session.context.cancel.cancel();
  }

  [[nodiscard]] std::string text() const {
    std::string line =
        fmt::format("dialect of MindSpore {}: {} of {} compared, {} differ", verification_.dialect->name,
                    plural(verification_.cells, "cell"), plural(rows_.size(), "tensor"), verification_.differing);
    if (verification_.unverifiable > 0) line += fmt::format(", {} not verifiable", verification_.unverifiable);
    if (missing_ > 0) line += fmt::format(", {} without a row", plural(missing_, "tensor"));
    if (extra_ > 0) line += fmt::format(", {} without a tensor", plural(extra_, "row"));
    return line;
  }

  StatsTask& task_;
  Verification& verification_;
  const stats::StoredRows& rows_;
  StatsOutcome outcome_;
  std::unique_ptr<report::RowSink> sink_;
  size_t missing_ = 0, extra_ = 0;
};

}  // namespace

ExitCode verify_statistics(StatsTask& task) {
  const auto rows = stats::read_stored_rows(task.catalogue.index, task.catalogue.list.tensors());
  if (!rows) return task.session.end_with(rows.error());
  const auto& files = task.catalogue.index.files();
  const bool any_table = std::any_of(files.begin(), files.end(),
                                     [](const IndexedFile& file) { return file.kind == FileKind::kStatistic; });
  if (!any_table) {
    report_failures(task.session, task.catalogue);
    task.session.messages.error("there is no statistic.csv to compare with", "without --verify stats makes one");
    return task.catalogue.list.failures().empty() ? ExitCode::kUsage : ExitCode::kSomeFailed;
  }
  // Of the dialects that the look of the file leaves, the one that agrees best; of equal ones the newest.
  std::optional<Verification> best;
  for (const stats::Dialect* dialect : task.candidates) {
    Verification verification = verify_with(task, *dialect, *rows);
    if (verification.interrupted) return ExitCode::kOk;
    if (!best || verification.differing <= best->differing) best = std::move(verification);
  }
  return VerifyReport(task, *best, *rows).print();
}

}  // namespace msdump::cli
