#include "stats/stats_run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "frame/usage.h"
#include "shared/rows.h"
#include "stats/compute.h"
#include "stats/dialect.h"
#include "stats/statistic_files.h"

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

// The merge reports the problems of the dump.
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

const TensorNumbers* StatsOutcome::take(const TensorRecord& tensor, const Result<TensorNumbers>& result) {
  if (!result) {
    if (result.error().code == ErrorCode::kCancelled) {
      interrupted_ = true;
    } else {
      fail(result.error());
    }
    return nullptr;
  }
  ++computed_;
  if (!result->count) {
    ++unsupported_;
    warn(tensor, fmt::format("there are no statistics of {}", name_of(result->dtype)));
  } else if (!result->note.empty()) {
    warn(tensor, result->note + "; statistics are of the device format");
  }
  with_nan_ += result->nan > 0U ? 1 : 0;
  with_inf_ += result->count_infinite() > 0 ? 1 : 0;
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
  warn_of_missing_shards(session, task_.catalogue.index);
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

// The forms of msdump stats that are rows: a table for people, JSON for machines.

namespace {

// Repeated columns of a dialect are one key.
std::vector<StatisticColumn> distinct(const std::vector<StatisticColumn>& columns) {
  std::vector<StatisticColumn> kept;
  for (const StatisticColumn column : columns) {
    if (std::find(kept.begin(), kept.end(), column) == kept.end()) kept.push_back(column);
  }
  return kept;
}

class Rows {
 public:
  explicit Rows(StatsTask& task) : task_(task), columns_(distinct(task.columns)) {
    const StatsRequest& request = task.request;
    if (request.top > 0) {
      // The columns of the order are always shown.
      using enum StatisticColumn;
      for (const StatisticColumn column : {kNan, kNegativeInf, kPositiveInf, kMax, kMin}) {
        if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) columns_.push_back(column);
      }
    }
  }

  [[nodiscard]] std::vector<report::Column> table_columns() const {
    std::vector<report::Column> result = tensor_columns(task_.catalogue.index);
    report::hide(result, {"shape"});
    result.push_back(statistics_type().columns({"host_shape"}).front());
    add_statistic_columns(columns_, task_.request.exact, result);
    return result;
  }

  [[nodiscard]] report::Row row(const TensorRecord& tensor, const TensorNumbers& numbers) const {
    TensorRecord shown = tensor;
    // The numbers come from the file, which was opened here; a row about it may be wrong, or about a sample.
    const bool opened_here = !task_.catalogue.index.files()[tensor.file].facts.slot.empty();
    const Shape shape = numbers.shape.value_or(Shape());
    if (numbers.dtype != DType::kUndefined) shown.name.dtype = numbers.dtype;
    if (opened_here || shown.shape == nullptr) shown.shape = &shape;
    if (opened_here || !shown.bytes) shown.bytes = numbers.stored_bytes;
    report::Row result = identity_object(task_.catalogue.index, shown);
    result.add("host_shape", report::list_of(shape));
    for (const StatisticColumn column : columns_)
      result.add(info(column).key, is_null(numbers, column) ? report::Value() : value_of(numbers, column));
    return result;
  }

 private:
  StatsTask& task_;
  std::vector<StatisticColumn> columns_;
};

// The order of --top: most NaN, most infinities, largest absolute value.
struct Badness {
  uint64_t nan = 0, inf = 0;
  double largest = 0;
  size_t item = 0;

  bool operator<(const Badness& other) const {
    if (nan != other.nan) return nan > other.nan;
    if (inf != other.inf) return inf > other.inf;
    if (largest != other.largest) return largest > other.largest;
    return item < other.item;
  }
};

Badness badness_of(const TensorNumbers& numbers, size_t item) {
  const auto magnitude = [&](Extremum which) {
    const double value = numbers.value(which);
    return std::isfinite(value) ? std::abs(value) : 0.0;
  };
  const double largest = numbers.nothing_finite ? 0.0 : std::max(magnitude(Extremum::kMax), magnitude(Extremum::kMin));
  return {numbers.nan.value_or(0), numbers.count_infinite(), largest, item};
}

// Keeps the worst N.
class Worst {
 public:
  explicit Worst(size_t most) : most_(most) {}
  void add(size_t item, TensorNumbers statistics) {
    kept_.emplace_back(badness_of(statistics, item), std::move(statistics));
    std::push_heap(kept_.begin(), kept_.end(), less);
    if (kept_.size() <= most_) return;
    std::pop_heap(kept_.begin(), kept_.end(), less);
    kept_.pop_back();
  }
  std::vector<std::pair<Badness, TensorNumbers>> sorted() {
    std::sort_heap(kept_.begin(), kept_.end(), less);
    return std::move(kept_);
  }

 private:
  static bool less(const std::pair<Badness, TensorNumbers>& a, const std::pair<Badness, TensorNumbers>& b) {
    return a.first < b.first;
  }
  size_t most_;
  std::vector<std::pair<Badness, TensorNumbers>> kept_;  // a heap, the least bad one on top
};

std::vector<stats::ComputeItem> items_of(const StatsTask& task) {
  std::vector<stats::ComputeItem> items;
  for (const TensorRecord& tensor : task.catalogue.list.tensors()) {
    if (tensor.has_elements && !tensor.broken) items.push_back({&tensor});
  }
  return items;
}

}  // namespace

std::vector<report::Column> tensor_columns(const DumpIndex& index) {
  std::vector<report::Column> result = identity_columns(index.dumps());
  report::hide(result, {"format", "bytes", "op_type"});
  for (report::Column& column : result) {
    if (column.key == "dtype" || column.key == "shape") column.drop = report::kDropStep;
  }
  return result;
}

namespace {

report::Key host_shape_key() {
  return {.key = "host_shape",
          .type = "integer[]?",
          .text = "dimensions in host format, of which the statistics are; missing if only a table has them",
          .title = "shape",
          .drop = report::kDropStep};
}

std::string_view text_of(StatisticColumn column) {
  using enum StatisticColumn;
  switch (column) {
    case kMax: return "largest finite element; null without one";
    case kMin: return "smallest finite element; null without one";
    case kAvg: return "mean, as the dialect computes it";
    case kL2Norm: return "square root of the sum of squares, as the dialect computes it";
    case kCount: return "elements, as the dialect counts them";
    case kNegativeZero: return "elements below zero";
    case kPositiveZero: return "elements above zero";
    case kNan: return "NaN";
    case kNegativeInf: return "negative infinities";
    case kPositiveInf: return "positive infinities";
    case kZero: return "elements that are zero";
    case kMd5: return "MD5 of the bytes, in hexadecimal digits";
    case kSha1: return "SHA-1 of the bytes, in hexadecimal digits";
  }
  return "";
}

}  // namespace

const report::ObjectType& statistics_type() {
  static const report::ObjectType type = [] {
    std::vector<report::Key> keys = {host_shape_key()};
    for (const StatisticColumnInfo& one : all_statistic_columns()) {
      using enum StatisticColumn;
      const StatisticColumn column = one.column;
      const bool is_digest = column == kMd5 || column == kSha1;
      const bool is_number = column == kMax || column == kMin || column == kAvg || column == kL2Norm;
      keys.push_back({.key = one.key,
                      .type = is_digest   ? "string|null?"
                              : is_number ? "number|null?"
                                          : "integer|number|null?",
                      .text = text_of(column)});
    }
    return tensor_type().with(
        "TensorStatistics", "A tensor with the statistics that --columns names, null for types without numbers.", keys);
  }();
  return type;
}

const report::ObjectType& statistics_summary_type() {
  static const report::ObjectType type{
      "StatisticsSummary",
      "Counts of a run of stats.",
      {{.key = "tensors", .type = "integer", .text = "tensors with a row"},
       {.key = "failed", .type = "integer", .text = "tensors and files that could not be read"},
       {.key = "dialect",
        .type = "string|null",
        .text = "version of MindSpore whose arithmetic was used; null for statistics that a table has"}}};
  return type;
}

void add_statistic_columns(const std::vector<StatisticColumn>& columns, bool exact, std::vector<report::Column>& into) {
  for (const StatisticColumn column : columns) {
    const std::string key(info(column).key);
    const auto cell = [key, exact](const report::Row& row) -> std::string {
      const auto* const number = row.get<double>(key);
      if (number == nullptr) return row.text_or_number(key);
      return exact ? report::number_text(*number) : stats::six_digits(*number);
    };
    into.push_back({key, std::string(info(column).category), cell});
  }
}

ExitCode write_statistics_part(StatsTask& task, PartRun& part) {
  const std::vector<stats::ComputeItem> items = items_of(task);
  std::vector<uint64_t> bytes;
  for (const stats::ComputeItem& item : items)
    bytes.push_back(item.tensor->bytes.value_or(task.catalogue.index.files()[item.tensor->file].size));
  const std::vector<bool> is_own = part.take(bytes);
  std::vector<stats::ComputeItem> own;
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_own[i]) own.push_back(items[i]);
  }
  stats::compute(task.catalogue.index, own, options_of(task), part.context(),
                 [](size_t, Result<TensorNumbers>&&) {});  // the part keeps them
  return part.finish("tensor");
}

ExitCode print_statistic_rows(StatsTask& task) {
  const StatsRequest& request = task.request;
  const Rows rows(task);
  const auto sink = task.session.open_report(request.form, task.catalogue.index.paths(), rows.table_columns());
  const std::vector<stats::ComputeItem> items = items_of(task);
  const RunContext& context = task.session.context;
  StatsOutcome outcome(task);
  Worst worst(request.top);
  stats::compute(task.catalogue.index, items, options_of(task), context,
                 [&](size_t item, Result<TensorNumbers>&& result) {
                   const TensorRecord& tensor = *items[item].tensor;
                   const TensorNumbers* statistics = outcome.take(tensor, result);
                   if (statistics == nullptr) return;
                   if (request.top > 0) {
                     worst.add(item, std::move(*result));
                   } else if (!sink->row(rows.row(tensor, *statistics))) {
                     task.session.cancel.cancel();  // the stream remembers why
                   }
                 });
  if (request.top > 0) {
    for (const auto& [badness, statistics] : worst.sorted()) {
      if (!sink->row(rows.row(*items[badness.item].tensor, statistics))) break;
    }
  }
  report::Closing closing;
  closing.summary.add("tensors", outcome.computed())
      .add("failed", outcome.failed() + static_cast<int64_t>(task.catalogue.list.failures().size()));
  closing.summary.add("dialect", task.dialect->name);
  closing.failures = outcome.failure_objects();
  (void)sink->finish(std::move(closing));
  return outcome.conclude(is_for_people(request.form) ? plural(static_cast<uint64_t>(outcome.computed()), "tensor")
                                                      : "");
}

// msdump stats of a dump that holds statistics but no tensors: rows from statistic.csv and dump.json.

namespace {

std::vector<report::Column> table_columns(const DumpIndex& index, const std::vector<StatisticColumn>& columns,
                                          bool exact) {
  std::vector<report::Column> result = tensor_columns(index);
  add_statistic_columns(columns, exact, result);
  return result;
}

}  // namespace

ExitCode print_stored_statistics(Session& session, const StatsRequest& request, const Catalogue& catalogue) {
  using enum StatisticColumn;
  const std::vector<StatisticColumn> columns =
      request.columns.value_or(std::vector<StatisticColumn>{kMax, kMin, kAvg, kL2Norm});
  const auto sink = session.open_report(request.form, catalogue.index.paths(),
                                        table_columns(catalogue.index, columns, request.exact));
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
    for (const StatisticColumn column : columns) row.add(info(column).key, value_of(*values, column));
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
