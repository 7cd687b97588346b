#include "stats/stats_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/framework.h"
#include "frame/usage.h"
#include "stats/choice.h"

namespace msdump::cli {
namespace {

// True if the output is the bytes of a statistic.csv, which a stated dialect asks for. No writer of statistic.csv prints
// exact numbers, so these are always rows of a plain CSV.
bool prints_statistic_csv(const StatsRequest& request) {
  return request.form == report::Form::kCsv && request.dialect && !request.exact;
}

// The requested dialect or the one that the dump shows, and the columns; reports a choice between several.
Status choose(StatsTask& task) {
  const DumpIndex& index = task.catalogue.index;
  const auto stored = stats::stored_style(index);
  if (task.request.dialect.value_or("auto") != "auto") {
    MSDUMP_TRY(task.dialect, stats::dialect_from_text(*task.request.dialect));
    task.candidates = {task.dialect};
  } else {
    stats::DialectChoice choice = stats::choose_dialect(index, stored);
    task.dialect = &choice.best();
    task.candidates = std::move(choice.candidates);
    const bool silent = task.request.verify || task.request.exact;  // reported later, or without meaning
    if (task.candidates.size() > 1 && !silent) {
      task.session.messages.note(
          fmt::format("dialect of MindSpore {}, the newest that fits {}; --dialect chooses another", task.dialect->name,
                      choice.evidence));
    } else if (choice.evidence.empty() && !silent) {
      const bool by_msprobe = framework_of(index).framework == "msprobe";
      task.session.messages.note(fmt::format("dialect of MindSpore {}: {}", task.dialect->name,
                                             by_msprobe ? "msprobe wrote the dump, and has none of its own"
                                                        : "nothing in the dump says which version wrote it"));
    } else if (choice.too_old && !silent) {
      task.session.messages.note(fmt::format("dialect of MindSpore {}, the first that wrote a statistic.csv: {}",
                                             task.dialect->name, choice.evidence));
    }
  }
  task.columns = task.request.columns ? *task.request.columns : stats::choose_columns(index, *task.dialect, stored);
  task.columns = stats::effective_columns(*task.dialect, std::move(task.columns));
  // A dump configured without statistics gets a statistic.csv without any, but rows without any are useless.
  const StatsRequest& request = task.request;
  const bool writes_csv =
      !request.sharding.shard && (!request.out.empty() || request.in_place || prints_statistic_csv(request));
  if (task.columns.empty() && !writes_csv) task.columns = stats::default_columns(*task.dialect);
  return {};
}

bool has_elements(const Catalogue& catalogue) {
  const auto& tensors = catalogue.list.tensors();
  return std::any_of(tensors.begin(), tensors.end(), [](const TensorRecord& one) { return one.has_elements; });
}

// What is wrong with the dump is said by the run that merges.
ExitCode run_shard(StatsTask& task) {
  PartRun part(task.session, task.request.sharding, task.request.part, {&task.catalogue.index});
  if (part.is_done()) return ExitCode::kOk;
  if (!has_elements(task.catalogue)) return part.finish("tensor");
  if (Status chosen = choose(task); !chosen) return task.session.end_with(chosen.error());
  return write_statistics_part(task, part);
}

}  // namespace

ExitCode run_stats(Session& session, const StatsRequest& request) {
  CatalogueRequest wanted{request.dump, request.selection, {Headers::kWhereNeeded}};
  if (request.verify) wanted.list.headers = Headers::kAll;
  if (!request.out.empty()) wanted.excluded = {request.out};
  Result<Catalogue> catalogue = open_catalogue(session.context, wanted);
  if (!catalogue) return session.end_with(catalogue.error());
  if (Status same = check_inputs(session, {&catalogue->index}); !same) return session.end_with(same.error());
  StatsTask task{session, request, *catalogue, nullptr, {}, {}};
  if (request.sharding.shard) return run_shard(task);
  if (!catalogue->list.tensors().empty() && !has_elements(*catalogue) && catalogue->list.failures().empty()) {
    const bool prints = request.out.empty() && !request.in_place && !request.verify && request.top == 0;
    if (prints) return print_stored_statistics(session, request, *catalogue);
    session.messages.error(ErrorCode::kUsage, "only statistics were dumped here, no tensors to compute any from",
                           "msdump stats without --out, --in-place, --verify and --top prints them");
    return ExitCode::kUsage;
  }
  if (catalogue->list.tensors().empty() && catalogue->list.failures().empty())
    return conclude_listing(session, *catalogue);
  if (Status chosen = choose(task); !chosen) return session.end_with(chosen.error());
  if (request.verify) return verify_statistics(task);
  if (!request.out.empty() || request.in_place) return write_statistic_files(task);
  return prints_statistic_csv(request) ? print_statistic_csv(task) : print_statistic_rows(task);
}

stats::ComputeOptions options_of(const StatsTask& task) {
  stats::Wanted wanted = stats::wanted_for(task.columns);
  const StatsRequest& request = task.request;
  wanted.counts = wanted.counts || request.fail_on_nan || request.fail_on_inf || request.top > 0;
  wanted.extremes = wanted.extremes || request.top > 0;
  return {task.dialect, request.arch, request.exact, wanted};
}

StatsOutcome::StatsOutcome(const StatsTask& task) : task_(task) {
  for (const Error& error : task.catalogue.list.failures()) listed_.emplace(error.path, error.tensor);
}

const stats::TensorStatistics* StatsOutcome::take(const TensorRecord& tensor,
                                                  const Result<stats::TensorStatistics>& result) {
  if (!result) {
    if (result.error().code == ErrorCode::kCancelled) {
      interrupted_ = true;
    } else {
      fail(result.error());
    }
    return nullptr;
  }
  ++computed_;
  if (!result->supported) {
    ++unsupported_;
    warn(tensor, fmt::format("there are no statistics of {}", name_of(result->dtype)));
  } else if (!result->note.empty()) {
    warn(tensor, result->note + "; statistics are of the device format");
  }
  with_nan_ += result->nan > 0 ? 1 : 0;
  with_inf_ += result->negative_inf + result->positive_inf > 0 ? 1 : 0;
  return &*result;
}

void StatsOutcome::warn(const TensorRecord& tensor, const std::string& text) {
  const DumpIndex& index = task_.catalogue.index;
  Error warning =
      make_error(ErrorCode::kUnsupportedDtype, "{}", text).with_path(index.path_of(index.files()[tensor.file]));
  const bool parameter = tensor.name.io == Io::kParameter;
  warning.tensor =
      parameter ? std::string(tensor.name.op_name) : fmt::format("{}:{}", name_of(tensor.name.io), tensor.name.slot);
  task_.session.messages.warning(warning);
}

void StatsOutcome::fail(const Error& error) {
  if (!error.tensor.empty() && listed_.contains({error.path, error.tensor})) return;
  task_.session.messages.error(error);
  failures_.push_back(error);
}

std::vector<report::Object> StatsOutcome::failure_objects() const {
  std::vector<report::Object> objects = cli::failure_objects(task_.catalogue);
  for (const Error& error : failures_) objects.push_back(relative_failure(task_.catalogue.index, error));
  return objects;
}

ExitCode StatsOutcome::conclude(std::string_view what) {
  Session& session = task_.session;
  session.context.progress->stop();
  report_failures(session, task_.catalogue);
  if (interrupted_) return ExitCode::kOk;  // the frame turns the signal into the code
  const StatsRequest& request = task_.request;
  const size_t lost = failures_.size() + task_.catalogue.list.failures().size();
  std::vector<std::string> parts;
  if (!what.empty()) parts.emplace_back(what);
  const bool asked = request.top > 0;
  if (with_nan_ > 0 && (request.fail_on_nan || asked)) parts.push_back(fmt::format("{} with NaN", with_nan_));
  if (with_inf_ > 0 && (request.fail_on_inf || asked)) parts.push_back(fmt::format("{} with infinities", with_inf_));
  if (unsupported_ > 0) parts.push_back(fmt::format("{} of a dtype without statistics", unsupported_));
  if (lost > 0) parts.push_back(fmt::format("{} failed", lost));
  if (!parts.empty()) session.messages.summary(fmt::format("{}", fmt::join(parts, ", ")));
  if (lost > 0) return ExitCode::kSomeFailed;
  const bool found = (request.fail_on_nan && with_nan_ > 0) || (request.fail_on_inf && with_inf_ > 0);
  return found ? ExitCode::kNo : ExitCode::kOk;
}

}  // namespace msdump::cli
