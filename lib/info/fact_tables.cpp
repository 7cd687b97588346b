#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "dump/names/identity.h"
#include "info/fact_readers.h"
#include "info/results/result_file.h"
#include "tables/csv_records.h"
#include "tables/mapping_csv.h"
#include "tables/monitor_csv.h"
#include "tables/statistic_csv.h"

namespace msdump {

// Facts of tables: statistic.csv and the small ones that are read line by line.

namespace {

// Rows between two checks for an interruption.
constexpr uint64_t kRowsBetweenChecks = 4096;

// Who writes such rows, by the rules of tables/statistic_csv.h.
std::string_view dialect_text(const StatisticHeader& header, const StatisticRow& row) {
  const auto has = [&](StatisticColumn column) {
    return std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end();
  };
  if (header.form == StatisticForm::kOneOperator) return "CANN";
  if (header.msprobe) return "msprobe";
  if (row.square_brackets || has(StatisticColumn::kSha1)) return "MindSpore 2.7.1 and later";
  if (row.trailing_comma) return "MindSpore 2.3.0 to 2.7.0";
  return has(StatisticColumn::kMd5) ? "MindSpore 2.2.14 to 2.3.0rc" : "MindSpore 1.6.0 to 2.2.13";
}

struct StatisticCount {
  std::set<std::string_view> dialects;
  uint64_t rows = 0, runs = 0, bytes = 0;
  ProblemList bad_rows;
};

void count_rows(StatisticReader& reader, const FactSource& source, StatisticCount& count) {
  for (uint64_t seen = 0;; ++seen) {
    if (seen % kRowsBetweenChecks == 0 && source.cancel.cancelled()) return;
    auto row = reader.next();
    if (!row) {
      count.bad_rows.add(std::move(row).error());
      continue;
    }
    if (*row == nullptr) return;
    ++count.rows;
    count.bytes += parse_u64((*row)->data_size).value_or(0);
    count.dialects.insert(dialect_text(reader.header(), **row));
  }
}

struct LineCount {
  uint64_t rows = 0;
  ProblemList bad_rows;
  std::string first, last;
};

bool is_good_row(FileKind kind, std::string_view text) {
  if (kind != FileKind::kMapping) return true;
  const size_t comma = text.find(',');
  return comma != std::string_view::npos && comma > 0 && comma + 1 < text.size();
}

// The lines that are not empty; the first is separate if the table has a header.
LineCount count_lines(const FactSource& source, bool has_header, FileKind kind) {
  LineCount count;
  LineReader lines(source.file);
  for (uint64_t seen = 0;; ++seen) {
    if (seen % kRowsBetweenChecks == 0 && source.cancel.cancelled()) return count;
    auto line = lines.next();
    if (!line) {
      count.bad_rows.add(std::move(line).error());
      continue;
    }
    if (!*line) return count;
    const std::string_view text = (*line)->text;
    if (text.empty()) continue;
    if (has_header && (*line)->number == 1) continue;
    if (!is_good_row(kind, text)) {
      count.bad_rows.add(
          make_error(ErrorCode::kBadCsv, "line {}: not MAPPED,ORIGINAL", (*line)->number).with_offset((*line)->offset));
    } else {
      if (count.rows++ == 0) count.first = text;
      count.last = text;
    }
  }
}

// Counts nothing in a file that every reader would reject.
LineCount counted_lines(const FactSource& source, bool has_header, FileFacts& facts) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  if (source.file.size() <= kMostBytes && facts.problems.empty()) return count_lines(source, has_header, facts.kind);
  if (facts.problems.empty())
    facts.problems.push_back(make_error(ErrorCode::kTooLarge, "a table of {}; the lines of at most {} are counted",
                                        human_bytes(source.file.size()), human_bytes(kMostBytes)));
  return {};
}

}  // namespace

void add_bad_rows(const ProblemList& rows, FileFacts& facts) {
  constexpr size_t kNamedRows = 3;
  for (Error& problem : errors_of(rows, kNamedRows)) facts.problems.push_back(std::move(problem));
}

std::string_view head_text(const FactSource& source) {
  return {reinterpret_cast<const char*>(source.file.head().data()), source.file.head().size()};
}

void check_is_text(const FactSource& source, ErrorCode code, FileFacts& facts) {
  const auto is_binary = [](char c) { return static_cast<unsigned char>(c) < 0x09; };
  const std::string_view head = head_text(source);
  if (std::none_of(head.begin(), head.end(), is_binary)) return;
  facts.problems.push_back(make_error(code, "binary, not the text that its name promises"));
}

void add_statistic_facts(const FactSource& source, FileFacts& facts) {
  StatisticCount count;
  report::Value columns;
  auto reader = StatisticReader::open(source.file);
  if (reader) {
    report::List list;
    for (const StatisticColumn column : reader->header().columns) list.emplace_back(info(column).key);
    columns = std::move(list);
    count_rows(*reader, source, count);
    count.runs = reader->headers_read();
    add_bad_rows(count.bad_rows, facts);
  } else {
    facts.problems.push_back(std::move(reader).error());
  }
  facts.add("dialects", report::list_of(count.dialects)).add("columns", std::move(columns));
  facts.add("rows", count.rows).add_count("bad_rows", count.bad_rows.count()).add_count("runs", count.runs, 2);
  facts.tensor_count = count.rows;
  facts.tensor_bytes = count.bytes;
}

void add_line_facts(const FactSource& source, FileFacts& facts) {
  if (facts.kind == FileKind::kMapping && source.file.size() > kMostMappingBytes) {
    facts.problems.push_back(make_error(ErrorCode::kTooLarge, "a mapping.csv of {} bytes", source.file.size()));
    facts.add("rows", report::Value()).add_count("bad_rows", report::Value());
    return;
  }
  constexpr std::string_view kOperatorsTitle = "NodeExecutionOrder-FullNameWithScope";
  const bool operators = head_text(source).starts_with(kOperatorsTitle);
  check_is_text(source, ErrorCode::kBadCsv, facts);
  const LineCount count = counted_lines(source, operators, facts);
  add_bad_rows(count.bad_rows, facts);
  if (facts.kind == FileKind::kExecutionOrder) facts.add("lists", operators ? "operators" : "steps");
  facts.add("rows", count.rows);
  if (facts.kind == FileKind::kMapping) facts.add_count("bad_rows", count.bad_rows.count());
  if (facts.kind != FileKind::kExecutionOrder) return;
  facts.add("first", report::text_or_null(count.first)).add("last", report::text_or_null(count.last));
}

// Facts of what the tools of msprobe write: their verdicts, and the statistics of a training.

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
  if (!json) facts.add("columns", report::list_of(known.columns));
  facts.add("rows", known.rows).add_count("bad_rows", known.problems.count()).add("failed", known.failed);
  facts.add("warnings", known.warnings).add_count("skipped", known.skipped);
  facts.add("first_failed", value_of(known.first_failed));
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
  facts.add("columns", std::move(columns)).add("rows", count.rows).add_count("bad_rows", count.problems.count());
  facts.add("first_step", count.first_step).add("last_step", count.last_step);
  facts.add_count("without_values", count.without_values).add_count("with_nan", count.with_nan);
  facts.add("first_nan", std::move(count.first_nan));
  add_bad_rows(count.problems, facts);
  facts.tensor_count = static_cast<uint64_t>(count.rows);
}

}  // namespace msdump
