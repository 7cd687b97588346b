// The forms of msdump stats that are a statistic.csv: files, or the bytes of one on stdout.
#include <set>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/terminal_lines.h"
#include "io/dir_walk.h"
#include "stats/compute.h"
#include "stats/statistic_files.h"
#include "stats/statistic_text.h"
#include "stats/stats_run.h"

namespace msdump::cli {
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

}  // namespace msdump::cli
