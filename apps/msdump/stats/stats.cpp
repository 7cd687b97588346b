// msdump stats: a statistic.csv from the tensors, as a version of MindSpore writes it; or a check of the existing one.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "stats/stats_run.h"

namespace msdump::cli {
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
}  // namespace msdump::cli
