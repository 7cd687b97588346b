#include <sys/stat.h>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/subcommand.h"
#include "frame/terminal.h"
#include "frame/usage.h"
#include "io/dir_walk.h"
#include "shared/rows.h"
#include "stats/compute.h"
#include "stats/statistic_files.h"
#include "stats/stats_run.h"
#include "stats/verify.h"

namespace msdump::cli {

// msdump stats: a statistic.csv from the tensors, as a version of MindSpore writes it; or a check of the existing one.

namespace {

constexpr const char* kStatisticsGroup = "Statistics";

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
          "nothing"};
  return info;
}

std::vector<StatisticColumn> parse_columns(const std::string& typed) {
  std::vector<StatisticColumn> columns;
  for (const std::string_view word : split(typed, ',')) {
    const std::string_view name = trimmed(word);
    if (name.empty()) continue;
    const auto column = statistic_column_from_name(name);
    if (!column) {
      std::vector<std::string> known;
      for (const StatisticColumnInfo& one : all_statistic_columns()) known.emplace_back(one.category);
      throw UsageError(unknown_word("statistic", name, known), "accepted are " + join_words(known, "and"));
    }
    columns.push_back(*column);
  }
  if (columns.empty()) throw UsageError("--columns: no statistic is named", "--columns max,min,avg,l2norm");
  return columns;
}

class Stats : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return stats_info(); }

  void declare(CLI::App& app) override {
    add_dump_options(app, request_.dump);
    declare_statistics(app);
    add_selection_options(app, request_.selection);
    declare_output(app);
    add_shard_option(app, request_.sharding);
    add_part_resume(app, request_.sharding);
    add_report_options(app, request_.form);
  }

  ExitCode run(Session& session) override {
    if (request_.list_columns) return list_columns(session);
    if (request_.sharding.shard) {
      check_shard_options(session, {"verify"});
      request_.part = std::exchange(request_.out, {});
    }
    check_part_resume(request_.sharding);
    check_combination();
    return run_stats(session, request_);
  }

 private:
  void declare_statistics(CLI::App& app) {
    app.add_option_function<std::string>(
           "--columns", [this](const std::string& typed) { request_.columns = parse_columns(typed); },
           "Which statistics, in this order, as statistic_category of data_dump.json spells them; also hash (SHA1)")
        ->type_name("LIST")
        ->default_str("those of the dump, else max,min,l2norm")
        ->group(kStatisticsGroup);
    app.add_option_function<std::string>(
           "--dialect", [this](const std::string& typed) { request_.dialect = typed; },
           "Version of MindSpore whose statistic.csv is meant; auto reads it off the dump. With --csv rows are the "
           "bytes of that file, not a plain table")
        ->type_name("VERSION")
        ->default_str("auto")
        ->group(kStatisticsGroup);
    add_choice<stats::HostArch>(app, "--host-arch", request_.arch,
                                {{"x86_64", stats::HostArch::kX86}, {"aarch64", stats::HostArch::kAarch64}},
                                {"architecture", "Host the dump was written on; decides the sign of some NaN"})
        ->default_str("x86_64")
        ->group(kStatisticsGroup);
    app.add_flag("--exact", request_.exact, "Correct numbers in full precision instead of the dialect's")
        ->group(kStatisticsGroup);
    app.add_flag("--list-columns", request_.list_columns, "Print all statistics and how they are spelled")
        ->group(kStatisticsGroup);
  }

  void declare_output(CLI::App& app) {
    add_output_option(app, request_.out, "Mirror the tree there, one statistic.csv in each directory of tensors");
    app.add_flag("--in-place", request_.in_place, "Write each statistic.csv beside its tensors")->group(kOutputGroup);
    app.add_flag("--force", request_.force, "With --in-place: replace an existing statistic.csv")->group(kOutputGroup);
    app.add_flag("--verify", request_.verify, "Compare with the existing statistic.csv; rows show what differs")
        ->group(kOutputGroup);
    app.add_option_function<std::string>(
           "--fail-on", [this](const std::string& typed) { take_fail_on(typed); },
           "Exit code 1 if a tensor has a NaN or an infinity: nan, inf or nan,inf")
        ->type_name("LIST")
        ->group(kOutputGroup);
    add_number(app, "--top", request_.top, 1, 1'000'000'000,
               "Only the N worst tensors: most NaN, most infinities, largest absolute value")
        ->group(kOutputGroup);
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

  void check_combination() const {
    const bool writes = !request_.out.empty() || request_.in_place;
    if (!request_.out.empty() && request_.in_place) throw UsageError("--out and --in-place exclude each other");
    if (request_.verify && writes) throw UsageError("--verify compares and writes nothing; omit --out and --in-place");
    if (request_.verify && request_.exact)
      throw UsageError("--verify compares with the dialect's numbers, not --exact");
    if (request_.force && !request_.in_place) throw UsageError("--force goes with --in-place only");
    if (request_.top > 0 && (writes || request_.verify)) throw UsageError("--top is for rows on stdout");
    if (request_.top > 0 && request_.form == report::Form::kCsv && request_.dialect)
      throw UsageError("--top does not go with --csv --dialect, which is a whole statistic.csv", "omit --dialect");
    if (writes && request_.form != report::Form::kTable)
      throw UsageError("rows go to files with --out and --in-place", "omit --csv, --json and --jsonl");
  }

  ExitCode list_columns(Session& session) const {
    const auto sink = session.open_report(
        request_.form, {}, {{"category", "--columns"}, {"title", "title in statistic.csv"}, {"key", "key in JSON"}});
    for (const StatisticColumnInfo& one : all_statistic_columns()) {
      report::Row row;
      row.add("category", one.category).add("title", one.title).add("key", one.key);
      if (!sink->row(row)) break;
    }
    (void)sink->finish({});
    return ExitCode::kOk;
  }

  StatsRequest request_;
};

const Registration kStatsCommand{[] { return std::make_unique<Stats>(); }};

}  // namespace

// The forms of msdump stats that are a statistic.csv: files, or the bytes of one on stdout.

namespace {

constexpr std::string_view kName = "statistic.csv";

// Runs all tensors in the order of their directories; `visit(directory, tensor, result)` gets each result.
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
  stats::compute(task.catalogue.index, items, options_of(task), task.session.context,
                 [&](size_t item, Result<stats::TensorStatistics>&& result) {
                   visit(directory_of[item], *items[item].tensor, result);
                 });
}

std::string target_of(const StatsTask& task, const stats::StatisticDirectory& directory) {
  const std::string& base = task.request.in_place ? task.catalogue.index.paths()[directory.root] : task.request.out;
  return join_path(join_path(base, directory.relative), kName);
}

// Nothing is computed before it is certain that every file may be written.
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
  compute_by_directory(
      task, directories,
      [&](size_t directory, const TensorRecord& tensor, const Result<stats::TensorStatistics>& result) {
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
  compute_by_directory(task, directories,
                       [&](size_t, const TensorRecord& tensor, const Result<stats::TensorStatistics>& result) {
                         const stats::TensorStatistics* statistics = outcome.take(tensor, result);
                         if (!open || statistics == nullptr || !statistics->supported) return;
                         open = write(stats::row_line(style, task.catalogue.index, tensor, *statistics));
                         if (!open) task.session.cancel.cancel();  // the stream remembers why
                       });
  return outcome.conclude("");
}

// msdump stats --verify: the differences between a statistic.csv and its tensors.

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
