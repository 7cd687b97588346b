// msdump stats of a dump that holds statistics but no tensors: rows from statistic.csv and dump.json.
#include <fmt/format.h>

#include "base/text.h"
#include "compare/statistics/statistic_tables.h"
#include "shared/identity_row.h"
#include "stats/stats_run.h"

namespace msdump::cli {
namespace {

report::Value checksum_of(const StatisticValues& values, ChecksumKind kind) {
  const Checksum* checksum = values.find(kind);
  return checksum == nullptr ? report::Value() : report::Value(checksum->text);
}

report::Value value_of(StatisticColumn column, const StatisticValues& values) {
  using enum StatisticColumn;
  const auto number = [&](Extremum which) {
    const auto& held = values.number(which);
    return held ? report::Value(held->value) : report::Value();
  };
  switch (column) {
    case kMax: return number(Extremum::kMax);
    case kMin: return number(Extremum::kMin);
    case kAvg: return number(Extremum::kMean);
    case kL2Norm: return number(Extremum::kNorm);
    case kCount: return values.count;
    case kNegativeZero: return values.negative;
    case kPositiveZero: return values.positive;
    case kNan: return values.nan;
    case kNegativeInf: return values.negative_inf;
    case kPositiveInf: return values.positive_inf;
    case kZero: return values.zero;
    case kMd5: return checksum_of(values, ChecksumKind::kMd5);
    case kSha1: return checksum_of(values, ChecksumKind::kSha1);
  }
  return {};
}

std::vector<report::Column> table_columns(const std::vector<StatisticColumn>& columns, bool exact) {
  std::vector<report::Column> result = tensor_columns();
  add_statistic_columns(columns, exact, result);
  return result;
}

}  // namespace

ExitCode print_stored_statistics(Session& session, const StatsRequest& request, const Catalogue& catalogue) {
  using enum StatisticColumn;
  const std::vector<StatisticColumn> columns =
      request.columns.value_or(std::vector<StatisticColumn>{kMax, kMin, kAvg, kL2Norm});
  const auto sink = session.open_report(request.form, catalogue.index.paths(), table_columns(columns, request.exact));
  StatisticTables tables(catalogue.index);
  std::vector<report::Object> failures = failure_objects(catalogue);
  size_t read = 0;
  bool found = false;
  for (const TensorRecord& tensor : catalogue.list.tensors()) {
    const auto values = tables.values_of(tensor);
    if (!values) {
      session.messages.error(values.error());
      failures.push_back(relative_failure(catalogue.index, values.error()));
      continue;
    }
    ++read;
    const bool inf =
        values->has(Special::kPositiveInf).value_or(false) || values->has(Special::kNegativeInf).value_or(false);
    found =
        found || (request.fail_on_nan && values->has(Special::kNan).value_or(false)) || (request.fail_on_inf && inf);
    report::Row row = identity_object(catalogue.index, tensor);
    for (const StatisticColumn column : columns) row.add(info(column).key, value_of(column, *values));
    if (!sink->row(row)) break;
  }
  const bool failed = !failures.empty();
  report::Closing closing;
  closing.summary.add("tensors", read).add("failed", failures.size()).add("dialect", nullptr);
  closing.failures = std::move(failures);
  (void)sink->finish(std::move(closing));
  report_failures(session, catalogue);
  session.messages.summary(
      fmt::format("{} as their tables have them; no elements were dumped", plural(read, "tensor")));
  if (failed) return ExitCode::kSomeFailed;
  return found ? ExitCode::kNo : ExitCode::kOk;
}

}  // namespace msdump::cli
