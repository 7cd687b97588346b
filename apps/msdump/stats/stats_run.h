// msdump stats after its options are parsed: a request becomes files or the bytes of one, rows, or a comparison.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frame/subcommand.h"
#include "frame/usage.h"
#include "report/row_sink.h"
#include "shared/catalogue.h"
#include "shared/options.h"
#include "shared/sharding.h"
#include "stats/compute.h"
#include "stats/tensor_numbers.h"

namespace msdump::cli {

struct StatsRequest {
  DumpOptions dump;
  SelectionOptions selection;
  std::optional<std::vector<StatisticColumn>> columns;
  std::optional<std::string> dialect;  // as typed
  std::string out;
  stats::HostArch arch = stats::HostArch::kX86;
  bool exact = false, in_place = false, force = false, verify = false, list_columns = false;
  bool fail_on_nan = false, fail_on_inf = false;
  uint32_t top = 0;
  ShardOptions sharding;
  std::string part;  // where --shard writes to
  report::Form form = report::Form::kTable;
};

[[nodiscard]] ExitCode run_stats(Session& session, const StatsRequest& request);

struct StatsTask {
  Session& session;
  const StatsRequest& request;
  Catalogue& catalogue;
  const stats::Dialect* dialect;
  std::vector<const stats::Dialect*> candidates;  // for --verify
  std::vector<StatisticColumn> columns;
};
[[nodiscard]] ExitCode write_statistic_files(StatsTask& task);
[[nodiscard]] ExitCode print_statistic_csv(StatsTask& task);
[[nodiscard]] ExitCode print_statistic_rows(StatsTask& task);
[[nodiscard]] ExitCode verify_statistics(StatsTask& task);
// Writes the part of --shard to --out.
[[nodiscard]] ExitCode write_statistics_part(StatsTask& task, PartRun& part);
// Prints the statistics in the tables of a dump without elements.
[[nodiscard]] ExitCode print_stored_statistics(Session& session, const StatsRequest& request,
                                               const Catalogue& catalogue);

// StatsOutcome: counts and reports failures, applies --fail-on, and chooses the exit code.
class StatsOutcome {
 public:
  explicit StatsOutcome(const StatsTask& task);
  // Returns the statistics, or null after reporting the failure.
  const TensorNumbers* take(const TensorRecord& tensor, const Result<TensorNumbers>& result);
  void fail(const Error& error);
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] int64_t computed() const { return computed_; }
  [[nodiscard]] int64_t failed() const { return static_cast<int64_t>(failures_.size()); }
  [[nodiscard]] std::vector<report::Object> failure_objects() const;
  [[nodiscard]] ExitCode conclude(std::string_view what);

 private:
  void warn(const TensorRecord& tensor, const std::string& text);

  const StatsTask& task_;
  std::set<std::pair<std::string, std::string>> listed_;  // path and tensor that the listing reported
  std::vector<Error> failures_;
  int64_t computed_ = 0, unsupported_ = 0, with_nan_ = 0, with_inf_ = 0;
  bool interrupted_ = false;
};

// The identity columns of a table of statistics: on a narrow terminal dtype and shape are dropped, and the statistics
// stay.
[[nodiscard]] std::vector<report::Column> tensor_columns(const DumpIndex& index);
[[nodiscard]] const report::ObjectType& statistics_type();
[[nodiscard]] const report::ObjectType& statistics_summary_type();
// Cells with six digits for people, or with all; machine output has all.
void add_statistic_columns(const std::vector<StatisticColumn>& columns, bool exact, std::vector<report::Column>& into);

// Asks for the results that the columns, --fail-on and --top need.
[[nodiscard]] stats::ComputeOptions options_of(const StatsTask& task);

}  // namespace msdump::cli
