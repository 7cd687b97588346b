// Facts of what the tools of msprobe write: their verdicts, and the statistics of a training.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "dump/names/identity_value.h"
#include "info/fact_readers.h"
#include "info/results/result_csv.h"
#include "info/results/result_json.h"
#include "tables/monitor_csv.h"

namespace msdump {
namespace {

constexpr uint64_t kRowsToACheck = 4096;

report::Value value_of(const std::optional<ResultRow>& row) {
  if (!row) return {};
  report::Object object;
  object.add("op_name", row->op_name).add("io", report::text_or_null(row->io)).add("slot", slot_value(row->slot));
  object.add("rank", row->rank).add("step", row->step).add("value", row->value);
  object.add("message", report::text_or_null(row->message)).add("source", report::text_or_null(row->source));
  return object;
}

struct MonitorCount {
  int64_t rows = 0, without_values = 0, with_nan = 0;
  std::optional<int64_t> first_step, last_step;
  report::Value first_nan;
  ProblemList problems;

  void take(const MonitorRow& row) {
    ++rows;
    first_step = std::min(first_step.value_or(row.step), row.step);
    last_step = std::max(last_step.value_or(row.step), row.step);
    const auto is_empty = [](std::string_view value) { return value.empty(); };
    without_values += std::all_of(row.values.begin(), row.values.end(), is_empty) ? 1 : 0;
    if (std::find(row.values.begin(), row.values.end(), "nan") == row.values.end()) return;
    if (with_nan++ == 0) first_nan = report::Object().add("name", row.name).add("step", row.step);
  }
};

void count_monitor_rows(MonitorReader& reader, const CancelToken& cancel, MonitorCount& count) {
  for (uint64_t seen = 0; seen % kRowsToACheck != 0 || !cancel.cancelled(); ++seen) {
    auto row = reader.next();
    if (row && *row == nullptr) return;
    if (row) {
      count.take(**row);
    } else {
      count.problems.add(std::move(row).error());
    }
  }
}

}  // namespace

void add_result_facts(const FactSource& source, FileFacts& facts) {
  const bool json = facts.kind == FileKind::kAnomalies;
  if (!json) check_is_text(source, ErrorCode::kBadCsv, facts);
  if (!facts.problems.empty()) return;
  auto result = json ? read_result_json(source.file, {}) : read_result_csv(source.file, source.cancel, {});
  const ResultFile known = result ? std::move(*result) : ResultFile{};
  if (!result) facts.problems.push_back(std::move(result).error());
  if (!json) facts.detail.add("columns", report::list_of(known.columns));
  facts.detail.add("rows", known.rows).add("bad_rows", known.problems.count()).add("failed", known.failed);
  facts.detail.add("warnings", known.warnings).add("skipped", known.skipped);
  facts.detail.add("first_failed", value_of(known.first_failed));
  add_bad_rows(known.problems, facts);
}

void add_monitor_facts(const FactSource& source, FileFacts& facts) {
  MonitorCount count;
  report::Value columns;
  auto reader = MonitorReader::open(source.file);
  if (reader) {
    columns = report::list_of(reader->titles());
    count_monitor_rows(*reader, source.cancel, count);
  } else {
    facts.problems.push_back(std::move(reader).error());
  }
  facts.detail.add("columns", std::move(columns)).add("rows", count.rows).add("bad_rows", count.problems.count());
  facts.detail.add("first_step", count.first_step).add("last_step", count.last_step);
  facts.detail.add("without_values", count.without_values).add("with_nan", count.with_nan);
  facts.detail.add("first_nan", std::move(count.first_nan));
  add_bad_rows(count.problems, facts);
  facts.tensor_count = static_cast<uint64_t>(count.rows);
}

}  // namespace msdump
