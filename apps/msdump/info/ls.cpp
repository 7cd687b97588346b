// msdump ls: the tensors of a dump as rows.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "info/json_value.h"
#include "report/json.h"
#include "shared/catalogue.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

const CommandInfo& ls_info() {
  static const CommandInfo info{
      .name = "ls",
      .order = 30,
      .summary = "the tensors of a dump, one row each",
      .usage = "-d DUMP [--no-shape] [-0] [OPTIONS]",
      .description =
          "Lists every tensor below DUMP: its operator, dtype, format, shape and file. Rows of statistic.csv and "
          "dump.json whose tensors were not dumped are listed, too; the table of a dump of statistics shows the "
          "statistics. Headers are read, data is not.",
      .examples = {{"msdump ls -d dump --op '*conv1*' --step 0", "the tensors of some operators in one step"},
                   {"msdump ls -d dump --csv", "the inventory as a table for scripts"},
                   {"msdump ls -d dump --op-type MatMul --io output -0 | xargs -0 cp -t there",
                    "the files themselves, for other programs"}},
      .done = "done",
      .no = "done, but the selection matched nothing"};
  return info;
}

// The statistics that a dump has instead of tensors, for people: scripts use stats.
class StoredStatistics {
 public:
  explicit StoredStatistics(const Catalogue& catalogue) : tables_(catalogue.index) {}

  static bool are_all(const Catalogue& catalogue) {
    const auto& tensors = catalogue.list.tensors();
    return std::none_of(tensors.begin(), tensors.end(), [](const TensorRecord& one) { return one.has_elements; });
  }
  static void add_columns(std::vector<report::Column>& columns) {
    for (const auto& [column, which] : kShown)
      columns.push_back({std::string(info(column).key), std::string(info(column).category)});
  }
  void add_cells(const TensorRecord& tensor, report::Row& row) {
    const auto values = tables_.values_of(tensor);
    for (const auto& [column, which] : kShown) {
      const auto number = values ? values->number(which) : std::nullopt;
      row.add(info(column).key, number ? report::Value(number->value) : report::Value());
    }
  }

 private:
  static constexpr std::pair<StatisticColumn, Extremum> kShown[] = {{StatisticColumn::kMax, Extremum::kMax},
                                                                    {StatisticColumn::kMin, Extremum::kMin},
                                                                    {StatisticColumn::kAvg, Extremum::kMean},
                                                                    {StatisticColumn::kL2Norm, Extremum::kNorm}};
  StatisticTables tables_;
};

// What a tensor may say of the larger one that it is a part of (msprobe/dump_json.h).
constexpr std::array kDistribution = {"device_mesh", "placements", "device_matrix", "alias_name",     "tensor_map",
                                      "rank_list",   "partial",    "interleaved",   "hsdp_shard_size"};

report::Value distribution_value(const TensorRecord& tensor) {
  if (tensor.distribution == nullptr) return {};
  const report::Value read = json_value(*tensor.distribution).value_or(report::Value());
  const auto* const said = read.get<report::Object>();
  report::Object object;
  for (const char* const key : kDistribution) {
    const report::Value* const value = said == nullptr ? nullptr : said->find(key);
    object.add(key, value == nullptr ? report::Value() : *value);
  }
  return object;
}

// "Shard(0), Replicate"; of MindSpore its tensor map.
std::string distribution_cell(const report::Row& row) {
  const auto* const placements = row.get<report::List>("distribution.placements");
  const auto* const map = row.get<report::List>("distribution.tensor_map");
  std::string text;
  if (placements != nullptr) {
    for (const report::Value& one : *placements) {
      const auto* const word = one.get<std::string>();
      text += (text.empty() ? "" : ", ") + (word == nullptr ? "?" : *word);
    }
  } else if (map != nullptr) {
    text = "tensor map ";
    report::append_json(text, *map);
  }
  return text.empty() ? "-" : text;
}

class Ls : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return ls_info(); }

  void declare(CLI::App& app) override {
    add_dump_options(app, dump_);
    add_selection_options(app, selection_);
    app.add_flag("--no-shape", no_shape_, "Judge by names and sizes, open no tensor file; shapes stay unknown")
        ->group(kOutputGroup);
    app.add_flag("-0,--print0", paths_, "Print the paths of the files only, each once, ended by a NUL byte")
        ->group(kOutputGroup);
    add_report_options(app, form_);
  }

  ExitCode run(Session& session) override {
    if (paths_ && form_ != report::Form::kTable) throw UsageError("-0 prints paths; it goes with no other form");
    Result<Catalogue> catalogue =
        open_catalogue(session.context, {dump_, selection_, {no_shape_ || paths_ ? Headers::kNone : Headers::kAll}});
    if (!catalogue) return session.end_with(catalogue.error());
    return paths_ ? print_paths(session, *catalogue) : print_rows(session, *catalogue);
  }

 private:
  ExitCode print_paths(Session& session, const Catalogue& catalogue) const {
    std::set<uint32_t> printed;
    for (const TensorRecord& tensor : catalogue.list.tensors()) {
      if (!printed.insert(tensor.file).second) continue;
      const std::string path = catalogue.index.path_of(catalogue.index.files()[tensor.file]);
      if (!session.out.write(path + '\0')) break;
    }
    return conclude(session, catalogue);
  }

  ExitCode print_rows(Session& session, const Catalogue& catalogue) const {
    const auto& tensors = catalogue.list.tensors();
    std::vector<report::Column> columns = identity_columns();
    columns.push_back({"originals", ""});
    const bool distributed = std::any_of(tensors.begin(), tensors.end(),
                                         [](const TensorRecord& one) { return one.distribution != nullptr; });
    for (const char* const key : kDistribution) columns.push_back({std::string("distribution.") + key, ""});
    if (distributed && form_ == report::Form::kTable) columns.push_back({"distribution", "part of", distribution_cell});
    std::optional<StoredStatistics> statistics;
    if (form_ == report::Form::kTable && StoredStatistics::are_all(catalogue)) {
      statistics.emplace(catalogue);
      StoredStatistics::add_columns(columns);
    }
    const auto sink = session.open_report(form_, catalogue.index.paths(), columns);
    write_rows(*sink, session.context.pool, tensors.size(), [&](size_t i) {
      report::Row row = identity_object(catalogue.index, tensors[i]);
      report::List originals;
      if (tensors[i].original != nullptr) originals.emplace_back(tensors[i].original->op);
      row.add("originals", std::move(originals));
      row.add("distribution", distribution_value(tensors[i]));
      if (statistics) statistics->add_cells(tensors[i], row);
      return row;
    });
    (void)sink->finish({catalogue_summary(catalogue), failure_objects(catalogue), {}});
    return conclude(session, catalogue);
  }

  [[nodiscard]] ExitCode conclude(Session& session, const Catalogue& catalogue) const {
    report_failures(session, catalogue);
    return conclude_listing(session, catalogue);
  }

  DumpOptions dump_;
  SelectionOptions selection_;
  bool no_shape_ = false, paths_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kLsCommand{[] { return std::make_unique<Ls>(); }};

}  // namespace
}  // namespace msdump::cli
