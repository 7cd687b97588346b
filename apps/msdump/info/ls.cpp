// msdump ls: the tensors of a dump as rows.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "info/file_facts.h"
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
      .no = "done, but the selection matched nothing",
      .other_names = {{"list dir tensors inventory files operators ops shapes names weights parameters"}}};
  return info;
}

constexpr uint8_t kDropFile = report::kDropOpType + 1;

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

// The global tensor that a local one is a shard of (msprobe/dump_json.h).
const report::ObjectType& distribution_type() {
  static const report::ObjectType type{
      "Distribution",
      "How a global tensor is sharded, as the framework recorded it; null for what it does not say.",
      {{.key = "device_mesh", .type = "any", .text = "DTensor: ranks of the mesh"},
       {.key = "placements", .type = "any", .text = "DTensor: a placement for each dimension of the mesh"},
       {.key = "mesh_dim_names", .type = "any", .text = "DTensor: names of the dimensions of the mesh"},
       {.key = "global_shape", .type = "any", .text = "DTensor: shape of the global tensor"},
       {.key = "device_matrix", .type = "any", .text = "MindSpore: dimensions of the mesh"},
       {.key = "alias_name", .type = "any", .text = "MindSpore: names of the dimensions of the mesh"},
       {.key = "tensor_map", .type = "any", .text = "MindSpore: for each dimension of the tensor that of the mesh"},
       {.key = "rank_list", .type = "any", .text = "MindSpore: ranks of the mesh"},
       {.key = "partial", .type = "any", .text = "MindSpore: dimensions over which the tensors are partial sums"},
       {.key = "interleaved", .type = "any", .text = "MindSpore: if shards are interleaved"},
       {.key = "hsdp_shard_size", .type = "any", .text = "MindSpore: ranks that share an optimizer state"},
       {.key = "dims",
        .type = "any",
        .text = "SGLang's dumper: axes of the tensor, and the parallel axes that shard them"},
       {.key = "parallel",
        .type = "any",
        .text = "SGLang's dumper: rank and size of the process in its parallel axes"}}};
  return type;
}

report::Value distribution_value(const TensorRow& row) {
  if (row.tensor.distribution == nullptr) return {};
  const report::Value read = json_value(*row.tensor.distribution).value_or(report::Value());
  const auto* const recorded = read.get<report::Object>();
  report::Object object;
  for (const report::Key& key : distribution_type().keys) {
    const report::Value* const value = recorded == nullptr ? nullptr : recorded->find(key.key);
    object.add(key.key, value == nullptr ? report::Value() : *value);
  }
  return object;
}

report::Value originals_of(const TensorRow& row) {
  report::List originals;
  if (row.tensor.original != nullptr) originals.emplace_back(row.tensor.original->op);
  return originals;
}

const report::RowType<TensorRow>& ls_rows() {
  static const auto rows =
      report::RowType<TensorRow>("ListedTensor", "A tensor of a dump, with what its operator and its file say of it.")
          .include(tensor_rows())
          .add(originals_key(), originals_of)
          .add({.key = "distribution",
                .type = "object|null",
                .text = "how the global tensor is sharded that this one is a part of",
                .of = distribution_type},
               distribution_value);
  return rows;
}

// "Shard(0), Replicate"; of MindSpore its tensor map, of SGLang's dumper its dims.
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
  } else {
    text = row.text("distribution.dims");
  }
  return text.empty() ? "-" : text;
}

class Ls : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return ls_info(); }

  void declare(OptionTable& options) override {
    options.add(dump_options(dump_));
    options.add(selection_options(selection_));
    options.add({{.names = "--no-shape",
                  .is_common = true,
                  .value = OptionValue::flag(no_shape_),
                  .group = kOutputGroup,
                  .help = "Judge by names and sizes, open no tensor file; shapes stay unknown"},
                 {.names = "-0,--print0",
                  .other_names = "paths null",
                  .is_common = true,
                  .value = OptionValue::flag(paths_),
                  .group = kOutputGroup,
                  .help = "Print the paths of the files only, each once, ended by a NUL byte",
                  .excludes = excluded_forms("-0 prints paths")}});
    options.add(report_options(form_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "ls",
             .text = "The tensors of a dump.",
             .row = &ls_rows().type(),
             .summary = &catalogue_summary().type()}};
  }

  ExitCode run(Session& session) override {
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
    std::vector<report::Column> columns = ls_rows().columns();
    report::hide(columns, {"originals"});
    leave_out_dump(columns, catalogue.index.dumps());
    const bool distributed = std::any_of(tensors.begin(), tensors.end(),
                                         [](const TensorRecord& one) { return one.distribution != nullptr; });
    if (distributed && is_for_people(form_)) columns.push_back({"distribution", "part of", distribution_cell});
    std::optional<StoredStatistics> statistics;
    if (is_for_people(form_) && StoredStatistics::are_all(catalogue)) {
      statistics.emplace(catalogue);
      StoredStatistics::add_columns(columns);
    }
    if (is_for_people(form_)) columns.push_back({"path", "file", {}, kDropFile});
    const auto sink = session.open_report(form_, catalogue.index.paths(), columns);
    const auto row_of = [&](size_t i) {
      report::Row row = ls_rows().row({catalogue.index, tensors[i]});
      if (statistics) statistics->add_cells(tensors[i], row);
      return row;
    };
    const auto json_of = [&](size_t i, report::JsonObject& row) { ls_rows().fill({catalogue.index, tensors[i]}, row); };
    write_rows(*sink, session.context.pool, tensors.size(), {row_of, json_of});
    (void)sink->finish({catalogue_summary().row(summary_of(catalogue)), failure_objects(catalogue), {}});
    return conclude(session, catalogue);
  }

  [[nodiscard]] ExitCode conclude(Session& session, const Catalogue& catalogue) const {
    report_failures(session, catalogue);
    warn_of_missing_shards(session, catalogue.index);
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
