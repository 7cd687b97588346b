#include <sys/stat.h>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/subcommand.h"
#include "frame/terminal.h"
#include "frame/usage.h"
#include "io/dir_walk.h"
#include "shared/rows.h"
#include "stats/compute.h"
#include "stats/dialect.h"
#include "stats/statistic_files.h"
#include "stats/stats_run.h"
#include "stats/verify.h"

namespace msdump::cli {

// msdump stats: a statistic.csv from the tensors, as a version of MindSpore writes it; or a check of the existing one.

namespace {

constexpr std::string_view kStatisticsGroup = "Statistics";

const CommandInfo& stats_info() {
  static const CommandInfo info{
      .name = "stats",
      .order = 20,
      .summary = "statistics of tensors, as MindSpore's statistic.csv has them",
      .usage = "-d DUMP [-out OUT | --in-place | --verify] [--columns LIST] [OPTIONS]",
      .description =
          "Computes max, min, mean, L2 norm, counts of zeros, NaN and infinities, and digests of every tensor below "
          "DUMP, in the arithmetic and to the byte of the statistic.csv that MindSpore of that version writes. Dump "
          "files in device format are converted to NCHW first.",
      .examples = {{"msdump stats -d dump", "a table of all tensors"},
                   {"msdump stats -d dump --top 10", "the ten that look worst: NaN, infinities, largest values"},
                   {"msdump stats -d dump --csv --dialect 2.7.1 --columns max,l2norm,md5 > statistic.csv",
                    "the file that MindSpore 2.7.1 would have written"},
                   {"msdump stats -d dump --csv > numbers.csv",
                    "a plain CSV for other programs, with rank and step; --exact for numbers in full"},
                   {"msdump stats -d dump --verify", "does the statistic.csv beside the tensors match them?"},
                   {"msdump stats -d dump --fail-on nan,inf -q >/dev/null", "exit code 1 if anything is not finite"}},
      .done = "done; --verify: all cells agree",
      .no =
          "done, and: --verify found cells that differ, --fail-on found a NaN or an infinity, or the selection matched "
          "nothing",
      .other_names = {{"statistics stat summary max min mean norm histogram distribution"}, {"csv table", "--csv"}}};
  return info;
}

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const StatisticColumnInfo& one : all_statistic_columns()) names.emplace_back(one.category);
  return names;
}

// Without blanks, at which a shell would divide them.
std::vector<std::string> suggested_columns() {
  std::vector<std::string> names = column_names();
  for (std::string& name : names) std::replace(name.begin(), name.end(), ' ', '_');
  return names;
}

// The first version of each dialect.
std::vector<std::string> suggested_dialects() {
  std::vector<std::string> versions = {"auto"};
  for (const stats::Dialect& one : stats::all_dialects()) versions.emplace_back(one.name.substr(0, one.name.find(' ')));
  return versions;
}

std::vector<StatisticColumn> parse_columns(const std::string& typed) {
  std::vector<StatisticColumn> columns;
  for (const std::string_view word : split(typed, ',')) {
    const std::string_view name = trimmed(word);
    if (name.empty()) continue;
    const auto column = statistic_column_from_name(name);
    if (!column) {
      const std::vector<std::string> known = column_names();
      throw UsageError(unknown_word("statistic", name, known), "accepted are " + join_words(known, "and"));
    }
    columns.push_back(*column);
  }
  if (columns.empty()) throw UsageError("--columns: no statistic is named", "--columns max,min,avg,l2norm");
  return columns;
}

const report::RowType<StatisticColumnInfo>& column_rows() {
  static const auto rows = report::RowType<StatisticColumnInfo>("StatisticColumn", "A statistic; --list-columns.")
                               .add({.key = "category",
                                     .type = "string",
                                     .text = "word of --columns and of statistic_category",
                                     .title = "--columns"},
                                    [](const StatisticColumnInfo& one) -> report::Value { return one.category; })
                               .add({.key = "title",
                                     .type = "string",
                                     .text = "head of its column in statistic.csv",
                                     .title = "title in statistic.csv"},
                                    [](const StatisticColumnInfo& one) -> report::Value { return one.title; })
                               .add({.key = "key", .type = "string", .text = "key of rows", .title = "key in JSON"},
                                    [](const StatisticColumnInfo& one) -> report::Value { return one.key; });
  return rows;
}

struct VerifyRow : TensorRow {
  report::Value column, stored, computed;
};

const report::RowType<VerifyRow>& verify_rows() {
  static const auto rows =
      report::RowType<VerifyRow>("VerifiedCell", "A cell that differs, or a row that one side has alone.")
          .include(tensor_rows())
          .add({.key = "column",
                .type = "string|null",
                .text = "head of the column; null for a whole row",
                .title = "column"},
               [](const VerifyRow& row) -> report::Value { return row.column; })
          .add({.key = "stored", .type = "string|null", .text = "text of the cell in statistic.csv", .title = "stored"},
               [](const VerifyRow& row) -> report::Value { return row.stored; })
          .add({.key = "computed", .type = "string|null", .text = "text that the tensor gives", .title = "computed"},
               [](const VerifyRow& row) -> report::Value { return row.computed; });
  return rows;
}

const report::ObjectType& verify_summary_type() {
  static const report::ObjectType type{
      "VerifySummary",
      "Counts of stats --verify.",
      {{.key = "tensors", .type = "integer", .text = "rows that were compared"},
       {.key = "cells", .type = "integer", .text = "cells that were compared"},
       {.key = "differing", .type = "integer", .text = "cells that differ"},
       {.key = "missing", .type = "integer", .text = "tensors without a row"},
       {.key = "extra", .type = "integer", .text = "rows without a tensor"},
       {.key = "unverifiable", .type = "integer", .text = "cells that the tensors cannot confirm"},
       {.key = "dialect", .type = "string", .text = "version of MindSpore whose arithmetic fits best"}}};
  return type;
}

std::vector<report::Column> verify_columns(const DumpIndex& index) {
  std::vector<report::Column> columns = verify_rows().columns();
  leave_out_dump(columns, index.dumps());
  report::hide(columns, {"graph", "op_type", "dtype", "format", "shape", "bytes"});
  return columns;
}

class Stats : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return stats_info(); }

  void declare(OptionTable& options) override {
    options.add(dump_options(request_.dump));
    options.add(statistics_options());
    options.add(selection_options(request_.selection));
    options.add(output_options());
    options.add({shard_option(request_.sharding), part_resume_option(request_.sharding)});
    options.add(report_options(request_.form));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "stats",
             .text = "Statistics of tensors.",
             .row = &statistics_type(),
             .summary = &statistics_summary_type()},
            {.name = "stats --verify",
             .text = "Cells of statistic.csv that differ from the tensors, and rows that one side has alone.",
             .row = &verify_rows().type(),
             .summary = &verify_summary_type()},
            {.name = "stats --list-columns", .text = "All statistics.", .row = &column_rows().type()}};
  }

  ExitCode run(Session& session) override {
    if (request_.list_columns) return print_list(session, request_.form, column_rows(), all_statistic_columns());
    if (request_.sharding.shard) {
      check_shard_options(session);
      request_.part = std::exchange(request_.out, {});
    }
    check_combination();
    return run_stats(session, request_);
  }

 private:
  std::vector<Option> statistics_options() {
    const auto take_columns = [this](const std::string& typed) { request_.columns = parse_columns(typed); };
    const auto take_dialect = [this](const std::string& typed) { request_.dialect = typed; };
    return {{.names = "--columns",
             .other_names = "statistics fields",
             .is_common = true,
             .value = OptionValue::text(take_columns, "LIST"),
             .suggestions = suggested_columns(),
             .group = kStatisticsGroup,
             .help = "Which statistics, in this order, as statistic_category of data_dump.json spells them; also hash "
                     "(SHA1)",
             .otherwise = "those of the dump, else max,min,l2norm"},
            {.names = "--dialect",
             .value = OptionValue::text(take_dialect, "VERSION"),
             .suggestions = suggested_dialects(),
             .group = kStatisticsGroup,
             .help = "Version of MindSpore whose statistic.csv is meant; auto reads it off the dump. With --csv rows "
                     "are the bytes of that file, not a plain table",
             .otherwise = "auto"},
            {.names = "--host-arch",
             .value = OptionValue::choice<stats::HostArch>(
                 request_.arch, {{"x86_64", stats::HostArch::kX86}, {"aarch64", stats::HostArch::kAarch64}},
                 {"architecture"}),
             .group = kStatisticsGroup,
             .help = "Host the dump was written on; decides the sign of some NaN",
             .otherwise = "x86_64"},
            {.names = "--exact",
             .value = OptionValue::flag(request_.exact),
             .group = kStatisticsGroup,
             .help = "Correct numbers in full precision instead of the dialect's"},
            {.names = "--list-columns",
             .value = OptionValue::flag(request_.list_columns),
             .group = kStatisticsGroup,
             .help = "Print all statistics and how they are spelled"}};
  }

  std::vector<Option> output_options() {
    const auto take_fail_levels = [this](const std::string& typed) { take_fail_on(typed); };
    return {output_option(request_.out, "Mirror the tree there, one statistic.csv in each directory of tensors"),
            {.names = "--in-place",
             .value = OptionValue::flag(request_.in_place),
             .group = kOutputGroup,
             .help = "Write each statistic.csv beside its tensors",
             .use = OptionUse::kOutput,
             .excludes = {{"out"}}},
            {.names = "--force",
             .value = OptionValue::flag(request_.force),
             .group = kOutputGroup,
             .help = "With --in-place: replace an existing statistic.csv",
             .use = OptionUse::kOutput,
             .needs = {{"in-place"}}},
            {.names = "--verify",
             .is_common = true,
             .value = OptionValue::flag(request_.verify),
             .group = kOutputGroup,
             .help = "Compare with the existing statistic.csv; rows show what differs",
             .use = OptionUse::kWholeRun,
             .excludes = {{"in-place", "--verify compares and writes nothing"},
                          {"exact", "--verify compares with the numbers of the dialect"}}},
            {.names = "--fail-on",
             .other_names = "fail-level exit-code",
             .is_common = true,
             .value = OptionValue::text(take_fail_levels, "LIST"),
             .suggestions = {"nan", "inf", "nan,inf"},
             .group = kOutputGroup,
             .help = "Exit code 1 if a tensor has a NaN or an infinity: nan, inf or nan,inf"},
            {.names = "--top",
             .other_names = "sort worst limit",
             .is_common = true,
             .value = OptionValue::number(request_.top, 1, 1'000'000'000),
             .group = kOutputGroup,
             .help = "Only the N worst tensors: most NaN, most infinities, largest absolute value",
             .excludes = {{"in-place", "--top is for rows on stdout"}, {"verify", "--top is for rows on stdout"}}}};
  }

  void take_fail_on(const std::string& typed) {
    for (const std::string_view word : split(typed, ',')) {
      const std::string lower = to_lower(word);
      if (lower == "nan") {
        request_.fail_on_nan = true;
      } else if (lower == "inf") {
        request_.fail_on_inf = true;
      } else {
        throw UsageError(fmt::format("--fail-on: '{}' is neither nan nor inf", word));
      }
    }
  }

  // --out writes the part with --shard.
  void check_combination() const {
    const bool writes = !request_.out.empty() || request_.in_place;
    if (request_.verify && writes) throw UsageError("--verify compares and writes nothing", "omit --out");
    if (request_.top > 0 && writes) throw UsageError("--top is for rows on stdout");
    if (request_.top > 0 && request_.form == report::Form::kCsv && request_.dialect)
      throw UsageError("--top does not go with --csv --dialect, which is a whole statistic.csv", "omit --dialect");
    if (writes && !is_for_people(request_.form))
      throw UsageError("rows go to files with --out and --in-place", "omit --csv, --json and --jsonl");
  }

  StatsRequest request_;
};

const Registration kStatsCommand{[] { return std::make_unique<Stats>(); }};

}  // namespace

// The forms of msdump stats that are a statistic.csv: files, or the bytes of one on stdout.

namespace {

constexpr std::string_view kName = "statistic.csv";

// Computes all tensors in the order of their directories; calls `visit(directory, tensor, result)` for each.
template <class Visit>
void compute_by_directory(StatsTask& task, const std::vector<stats::StatisticDirectory>& directories, Visit&& visit) {
  const std::vector<TensorRecord>& tensors = task.catalogue.list.tensors();
  std::vector<stats::ComputeItem> items;
  std::vector<size_t> directory_of;
  for (size_t d = 0; d < directories.size(); ++d) {
    for (const size_t tensor : directories[d].tensors) {
      items.push_back({&tensors[tensor]});
      directory_of.push_back(d);
    }
  }
  stats::compute(
      task.catalogue.index, items, options_of(task), task.session.context,
      [&](size_t item, Result<TensorNumbers>&& result) { visit(directory_of[item], *items[item].tensor, result); });
}

std::string target_of(const StatsTask& task, const stats::StatisticDirectory& directory) {
  const std::string& base = task.request.in_place ? task.catalogue.index.paths()[directory.root] : task.request.out;
  return join_path(join_path(base, directory.relative), kName);
}

// Returns an error if a file may not be written, before anything is computed.
Status check_targets(const StatsTask& task, const std::vector<stats::StatisticDirectory>& directories) {
  std::set<std::string> targets;
  for (const stats::StatisticDirectory& directory : directories) {
    const std::string target = target_of(task, directory);
    if (task.request.in_place && path_kind(task.catalogue.index.paths()[directory.root]) != PathKind::kDirectory) {
      return fail(make_error(ErrorCode::kUsage, "--in-place needs the directory of the tensors, not single files"));
    }
    if (!targets.insert(target).second) {
      return fail(make_error(ErrorCode::kUsage, "two of the dumps would write the same file")
                      .with_path(target)
                      .with_hint("write them to different OUT directories"));
    }
    if (task.request.in_place && !task.request.force && path_kind(target) != PathKind::kMissing) {
      return fail(make_error(ErrorCode::kUsage, "exists already")
                      .with_path(target)
                      .with_hint("--force replaces it; --verify compares with it"));
    }
  }
  return {};
}

stats::TextStyle style_of(const StatsTask& task) { return {task.dialect, task.columns, task.request.exact}; }

}  // namespace

ExitCode write_statistic_files(StatsTask& task) {
  const auto directories = stats::statistic_directories(task.catalogue.index, task.catalogue.list.tensors());
  if (Status allowed = check_targets(task, directories); !allowed) return task.session.end_with(allowed.error());
  StatsOutcome outcome(task);
  stats::StatisticFileWriter writer(task.catalogue.index, style_of(task), task.session.context.cancel);
  bool stopped = false;
  const auto stop_at = [&](const Status& status) {
    if (status) return;
    outcome.fail(status.error());
    stopped = true;
    task.session.cancel.cancel();
  };
  compute_by_directory(task, directories,
                       [&](size_t directory, const TensorRecord& tensor, const Result<TensorNumbers>& result) {
                         if (!stopped) outcome.take(tensor, result);
                         stop_at(writer.take(target_of(task, directories[directory]), tensor, result));
                       });
  stop_at(writer.finish());
  const ExitCode code = outcome.conclude(
      fmt::format("{} of {} written", plural(writer.rows(), "row"), plural(writer.files(), "statistic.csv")));
  return stopped ? ExitCode::kSomeFailed : code;
}

ExitCode print_statistic_csv(StatsTask& task) {
  const auto directories = stats::statistic_directories(task.catalogue.index, task.catalogue.list.tensors());
  const stats::TextStyle style = style_of(task);
  StatsOutcome outcome(task);
  const auto write = [&out = task.session.out](const std::string& line) {
    return (out.tty() ? out.write(lines_for_terminal(line)) : out.write(line)).has_value();
  };
  bool open = write(stats::header_line(style));
  compute_by_directory(task, directories, [&](size_t, const TensorRecord& tensor, const Result<TensorNumbers>& result) {
    const TensorNumbers* statistics = outcome.take(tensor, result);
    if (!open || statistics == nullptr || !statistics->count) return;
    open = write(stats::row_line(style, task.catalogue.index, tensor, *statistics));
    if (!open) task.session.cancel.cancel();  // the stream remembers why
  });
  return outcome.conclude("");
}

// msdump stats --verify: the differences between a statistic.csv and its tensors.

namespace {

class VerifyReport {
 public:
  VerifyReport(StatsTask& task, const stats::Verification& verification, size_t rows)
      : task_(task), verification_(verification), rows_(rows), outcome_(task) {}

  ExitCode print() {
    sink_ = task_.session.open_report(task_.request.form, task_.catalogue.index.paths(),
                                      verify_columns(task_.catalogue.index));
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
    const bool is_cell = !column.empty();  // an empty text is none, but for a cell
    VerifyRow row{{task_.catalogue.index, tensor},
                  report::text_or_null(column),
                  is_cell ? report::Value(stored) : report::text_or_null(stored),
                  is_cell ? report::Value(computed) : report::text_or_null(computed)};
    if (!sink_->row(verify_rows().row(row))) task_.session.cancel.cancel();
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
  // Uses the dialect that agrees best, of those with the style of the file; the newest of equal ones.
  const auto verification = stats::verify(task.catalogue.index, task.catalogue.list.tensors(), *rows, task.candidates,
                                          task.request.arch, task.session.context);
  if (!verification) return ExitCode::kOk;  // interrupted: the frame turns the signal into the code
  return VerifyReport(task, *verification, rows->size()).print();
}

}  // namespace msdump::cli
