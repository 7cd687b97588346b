// msdump info: what a file or a tree is.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frame/subcommand.h"
#include "frame/usage.h"
#include "info/info_run.h"
#include "io/dir_walk.h"
#include "shared/catalogue.h"
#include "tensor/shape.h"

namespace msdump::cli {
namespace {

const report::ObjectType& info_type() {
  static const report::ObjectType type{
      "InfoRow",
      "What a path is.",
      {{.key = "path", .type = "string", .text = "as typed", .title = "path"},
       {.key = "kind",
        .type = "string",
        .text = "tree, or the kind of a file: dump_file, npy, statistic, ir_text, dump_json, ..; unknown",
        .title = "kind"},
       {.key = "detail",
        .type = "object",
        .text =
            "facts about it, with the keys of its kind; bytes, the size of the file, is among those of all files"}}};
  return type;
}

// Objects with fixed keys become columns of their own; other objects one cell.
std::vector<report::Column> columns_for(const std::vector<InfoRow>& rows) {
  std::vector<report::Column> columns = info_type().columns({"path", "kind"});
  const auto add = [&](const std::string& key) {
    const auto same = [&](const report::Column& column) { return column.key == key; };
    if (std::none_of(columns.begin(), columns.end(), same)) columns.push_back({key, key});
  };
  for (const InfoRow& row : rows) {
    for (const report::Member& member : row.detail.members()) {
      const auto* identity = member.key == "identity" ? member.value.get<report::Object>() : nullptr;
      if (identity == nullptr) {
        add("detail." + member.key);
      } else {
        for (const report::Member& one : identity->members()) add("detail.identity." + one.key);
      }
    }
  }
  return columns;
}

report::Row report_row(InfoRow row) {
  report::Row object;
  object.add("path", std::move(row.path)).add("kind", std::move(row.kind)).add("detail", std::move(row.detail));
  return object;
}

std::string joined(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, "; ")); }

void add_once(std::vector<std::string>& texts, std::string_view text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.emplace_back(text);
}

// Prints each row as soon as it is known; CSV has to know all columns first.
class Printer {
 public:
  Printer(InfoTask& task, std::vector<std::string> paths) : task_(task), paths_(std::move(paths)) {
    if (is_nested(task.request.form)) sink_ = task.session.open_report(task.request.form, paths_, {});
  }

  // False if the reader has gone.
  bool print(InfoRow row) {
    if (sink_) return sink_->row(report_row(std::move(row))).has_value();
    if (!task_.for_people()) {
      waiting_.push_back(std::move(row));
      return true;
    }
    return task_.session.out.write((std::exchange(first_, false) ? "" : "\n") + row.text).has_value();
  }

  void finish() {
    if (task_.for_people()) return;
    if (!sink_) sink_ = task_.session.open_report(task_.request.form, paths_, columns_for(waiting_));
    for (InfoRow& row : waiting_) {
      if (!sink_->row(report_row(std::move(row)))) break;
    }
    (void)sink_->finish({dump_summary().row(task_.summary), std::move(task_.failures), {}});
  }

 private:
  InfoTask& task_;
  std::vector<std::string> paths_;
  std::unique_ptr<report::RowSink> sink_;
  std::vector<InfoRow> waiting_;
  bool first_ = true;
};

// An error only if the run must end.
Result<InfoRow> info_row(InfoTask& task, const std::string& path) {
  const bool folder = path_kind(path) == PathKind::kDirectory;
  auto index = DumpIndex::build({path}, {{}, &task.session.context.cancel, &task.session.context.pool});
  if (!index) return fail(std::move(index).error());
  return folder ? tree_row(task, path, *index) : file_row(task, path, *index);
}

ExitCode run_values(Session& session, const InfoRequest& request) {
  const Result<Catalogue> catalogue =
      open_catalogue(session.context, {request.dump, request.selection, {Headers::kAll}});
  if (!catalogue) return session.end_with(catalogue.error());
  const Selection all;
  InfoTask task{session, request, all};
  const CatalogueSummary listed = summary_of(*catalogue);
  static_cast<DumpSummary&>(task.summary) = static_cast<const DumpSummary&>(listed);
  Printer printer(task, catalogue->index.paths());
  const Status printed = print_values(task, *catalogue, [&](InfoRow row) { return printer.print(std::move(row)); });
  if (!printed) return ExitCode::kOk;  // the frame turns the signal into the code
  printer.finish();
  return worse(task.code, conclude_listing(session, *catalogue));
}

ExitCode run_info(Session& session, const InfoRequest& request) {
  auto resolved = resolve_existing(request.dump, session.context.cancel);
  if (!resolved) return session.end_with(resolved.error());
  const auto selection = Selection::compile(request.selection);
  if (!selection) return session.end_with(selection.error());
  InfoTask task{session, request, *selection};
  for (const Error& error : resolved->missing) task.fail(error);
  Printer printer(task, resolved->paths);
  for (const std::string& path : resolved->paths) {
    auto row = info_row(task, path);
    if (session.context.cancel.cancelled()) return ExitCode::kOk;  // the frame turns the signal into the code
    if (!row) {
      task.fail(row.error());
    } else if (!printer.print(std::move(*row))) {
      break;
    }
  }
  printer.finish();
  return task.code;
}

const CommandInfo& info_info() {
  static const CommandInfo info{
      .name = "info",
      .order = 25,
      .summary = "what a file or a dump tree is, and what is odd about it",
      .usage = "PATH... [--values [SLICE] [--op GLOB] [--io IO] [--slot N]] [OPTIONS]",
      .description =
          "Says what each PATH is. For a dump tree: who wrote it, its ranks, graphs, steps, dtypes and kinds of "
          "files, quickly, from names and sizes alone. For a file: its kind, and what its header says. PATH may be "
          "any file in or beside a dump; one that msdump does not read is named, with what reads it. In a tree, files "
          "of tensors are counted; msdump ls lists the tensors in them.",
      .examples = {{"msdump info dump", "a tree: what is there, and is it complete?"},
                   {"msdump info dump/rank_0/Net/0/0/*.npy --jsonl", "many files, one object a line for scripts"},
                   {"msdump info x.npy --values", "the elements too"},
                   {"msdump info x.npy --values 0,:,2:5", "a part of them, as numpy indexes it"},
                   {"msdump info -d dump --op '*MatMul-op20' --values", "the tensors of an operator"},
                   {"msdump info Conv2D.conv.1.2.1700000000000000 --values --io output --slot 0",
                    "one tensor of a dump file, in host format (NCHW)"}},
      .done = "done, even if something in a tree is odd",
      .no = "",
      .other_names = {{"tree describe inspect identify open meta metadata header"}}};
  return info;
}

class Info : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return info_info(); }

  void declare(OptionTable& options) override {
    options.add(dump_options(request_.dump));
    options.add(values_option(request_.values, "Print the elements too, in host format"));
    for (Option& option : selection_options(request_.selection)) {
      option.needs = {{"values", "it chooses tensors whose elements are printed; msdump ls lists tensors"}};
      option.is_common = option.is_common && option.names == "--op";
      options.add(std::move(option));
    }
    options.add(report_options(request_.form));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "info", .text = "What paths are.", .row = &info_type(), .summary = &dump_summary().type()}};
  }

  ExitCode run(Session& session) override {
    DumpOptions& dump = request_.dump;
    take_back_path(request_.values, dump.positionals, dump.options.empty() && dump.positionals.empty());
    return chooses_tensors(request_.selection) ? run_values(session, request_) : run_info(session, request_);
  }

 private:
  InfoRequest request_;
};

const Registration kInfoCommand{[] { return std::make_unique<Info>(); }};

}  // namespace

void InfoSummary::add_layout(std::string_view name) {
  add_once(layouts_, name);
  layout = joined(layouts_);
}

void InfoSummary::add_version(std::string_view version) {
  add_once(versions_, version);
  framework_version = joined(versions_);
}

void InfoTask::fail(const Error& error, const DumpIndex* index) {
  if (error.code == ErrorCode::kCancelled) return;
  session.messages.error(error);
  const bool missing = error.code == ErrorCode::kNotFound && index == nullptr;
  const bool refused = missing || error.code == ErrorCode::kUsage;
  code = worse(code, refused ? ExitCode::kUsage : ExitCode::kSomeFailed);
  if (error.code == ErrorCode::kUsage) return;  // the input is fine
  failures.push_back(index == nullptr ? report::failure_object(error) : relative_failure(*index, error));
}

}  // namespace msdump::cli
