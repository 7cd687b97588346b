// msdump stats --verify: the differences between a statistic.csv and its tensors.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "shared/identity_row.h"
#include "stats/stats_run.h"
#include "stats/verify.h"

namespace msdump::cli {
namespace {

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
  VerifyReport(StatsTask& task, const stats::Verification& verification, size_t rows)
      : task_(task), verification_(verification), rows_(rows), outcome_(task) {}

  ExitCode print() {
    sink_ = task_.session.open_report(task_.request.form, task_.catalogue.index.paths(), columns());
    for (const auto& verdict : verification_.verdicts) {
      for (const stats::CellDifference& difference : verdict.comparison.differences)
        add(*verdict.tensor, difference.column, difference.stored, difference.computed);
    }
    for (const stats::OneSidedRow& row : stats::one_sided_rows(task_.catalogue.index, task_.catalogue.list.tensors())) {
      ++(row.is_stored ? extra_ : missing_);
      add(*row.tensor, {}, row.is_stored ? "a row" : "", row.is_stored ? "" : "a row");
    }
    for (const Error& error : verification_.failures) outcome_.fail(error);
    report::Closing closing;
    closing.summary.add("tensors", rows_).add("cells", verification_.cells);
    closing.summary.add("differing", verification_.differing).add("missing", missing_).add("extra", extra_);
    closing.summary.add("unverifiable", verification_.unverifiable).add("dialect", verification_.dialect->name);
    closing.failures = outcome_.failure_objects();
    (void)sink_->finish(std::move(closing));
    const ExitCode code = outcome_.conclude(text());
    return verification_.differing + missing_ + extra_ > 0 ? worse(code, ExitCode::kNo) : code;
  }

 private:
  void add(const TensorRecord& tensor, std::string_view column, std::string_view stored, std::string_view computed) {
    const auto text = [](std::string_view word) { return word.empty() ? report::Value() : report::Value(word); };
    report::Row row = identity_object(task_.catalogue.index, tensor);
    const bool one_sided = column.empty();
    row.add("column", text(column));
    row.add("stored", one_sided ? text(stored) : report::Value(stored));
    row.add("computed", one_sided ? text(computed) : report::Value(computed));
    if (!sink_->row(row)) task_.session.cancel.cancel();
  }

  [[nodiscard]] std::string text() const {
    std::string line =
        fmt::format("dialect of MindSpore {}: {} of {} compared, {} differ", verification_.dialect->name,
                    plural(verification_.cells, "cell"), plural(rows_, "tensor"), verification_.differing);
    if (verification_.unverifiable > 0) line += fmt::format(", {} not verifiable", verification_.unverifiable);
    if (missing_ > 0) line += fmt::format(", {} without a row", plural(missing_, "tensor"));
    if (extra_ > 0) line += fmt::format(", {} without a tensor", plural(extra_, "row"));
    return line;
  }

  StatsTask& task_;
  const stats::Verification& verification_;
  const size_t rows_;
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
    task.session.messages.error(ErrorCode::kNotFound, "there is no statistic.csv to compare with",
                                "without --verify stats makes one");
    return task.catalogue.list.failures().empty() ? ExitCode::kUsage : ExitCode::kSomeFailed;
  }
  // Of the dialects that the style of the file leaves, the one that agrees best; of equal ones the newest.
  const auto verification = stats::verify(task.catalogue.index, task.catalogue.list.tensors(), *rows, task.candidates,
                                          task.request.arch, task.session.context);
  if (!verification) return ExitCode::kOk;  // interrupted: the frame turns the signal into the code
  return VerifyReport(task, *verification, rows->size()).print();
}

}  // namespace msdump::cli
