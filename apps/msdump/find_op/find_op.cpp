// msdump find-op: from a line of the script, or a name, to operators and their tensor files.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "find_op/find_op_hints.h"
#include "frame/usage.h"
#include "graph/lines/source_lines.h"
#include "shared/graph_rows.h"
#include "shared/identity_row.h"
#include "shared/opened_graph.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostPathsShown = 40;

const CommandInfo& find_op_info() {
  static const CommandInfo info{
      .name = "find-op",
      .order = 40,
      .summary = "which operators a line of the script became, and their tensors",
      .usage = "--line FILE:LINE | --code TEXT | NAME... [-d DUMP] [--ir PATH] [OPTIONS]",
      .description =
          "Looks up in the IR of a run (or in msprobe's stack.json) which operators came from a line of the script, "
          "and "
          "in the dump which files hold their tensors. Relations, best first: direct, the innermost statement of the "
          "script; via, a call that led there; range, a statement of several lines; gradient, the line is the forward "
          "operator's; fused, it is that of an operator fused in.",
      .examples = {{"msdump find-op --line alexnet.py:175 -d dump", "operators of a line, and their files"},
                   {"msdump find-op --line 'alexnet.py:175, 12~25' --ir graphs/*.ir", "as copied from an IR; no dump"},
                   {"msdump find-op --code 'self.conv3(x)' -d dump --io output -0 | xargs -0 msdump stats -d",
                    "statistics of what a statement computed"},
                   {"msdump find-op '*conv3*' -d dump --json", "by name, for scripts"}},
      .done = "an operator was found",
      .no = "no operator was found (-0: no file); the nearest lines that have operators are named"};
  return info;
}

// An operator that was found, by whatever was asked.
struct Found {
  LineHit hit;
  OperatorFiles files;
};

struct Answer {
  std::vector<Found> found;
  std::vector<Error> failures;  // of the headers that were read
  size_t unselected = 0;        // operators that match and are not selected
};

class FindOp : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return find_op_info(); }

  void declare(CLI::App& app) override {
    constexpr const char* kQuestion = "Question";
    app.add_option_function<std::vector<std::string>>(
           "--line", [this](const std::vector<std::string>& lines) { take_lines(lines); },
           "Lines of a script, as IR, logs and traces spell them; may be repeated")
        ->type_name("FILE:LINE[-LINE]")
        ->allow_extra_args(false)
        ->group(kQuestion);
    app.add_option("--code", asked_.codes, "Text of a line; may be repeated")
        ->type_name("TEXT")
        ->allow_extra_args(false)
        ->group(kQuestion);
    add_positionals(app, "NAME", asked_.names, "Names of operators, or globs");
    add_graph_options(app, options_);
    app.add_flag("-0,--print0", paths_, "Print the paths of the tensor files only, each once, ended by a NUL byte")
        ->group(kOutputGroup);
    add_report_options(app, form_);
  }

  ExitCode run(Session& session) override {
    check();
    Result<OpenedGraph> opened = open_graph(session.context, options_, {only_line(), Headers::kWhereNeeded});
    if (!opened) return session.end_with(opened.error());
    Answer answer = find(session, *opened);
    opened->add_failures(std::move(answer.failures));
    if (answer.found.empty() && only_line() && !opened->catalogue) {
      // The nearest lines have to be reported.
      if (const Status read = opened->read_other_lines(session.context); !read) return session.end_with(read.error());
    }
    if (opened->graph().size() == 0) {
      if (!paths_) print_report(session, *opened, answer);
      return end_without_graph(session, *opened);
    }
    return paths_ ? print_paths(session, *opened, answer) : print_rows(session, *opened, answer);
  }

 private:
  void take_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      auto query = parse_line_query(line);
      if (!query) throw UsageError("--line: " + query.error().message, query.error().hint);
      asked_.lines.push_back(line);
      asked_.queries.push_back(std::move(*query));
    }
  }

  void check() const {
    const bool by_selection =
        !options_.selection.op.empty() || !options_.selection.op_type.empty() || !options_.selection.regex.empty();
    if (asked_.lines.empty() && asked_.codes.empty() && asked_.names.empty() && !by_selection)
      throw UsageError("nothing to search for",
                       "use --line FILE:LINE, --code TEXT, a name, --op, --op-type or --regex");
    if (paths_ && form_ != report::Form::kTable) throw UsageError("-0 prints paths; it goes with no other form");
    if (paths_ && !has_dump(options_)) throw UsageError("-0 prints paths of tensors; name the dump with -d");
  }

  // With a single line, other operators need not be read unless a dump is joined.
  [[nodiscard]] std::optional<LineQuery> only_line() const {
    if (asked_.queries.size() != 1 || !asked_.codes.empty() || !asked_.names.empty()) return std::nullopt;
    return asked_.queries[0];
  }

  [[nodiscard]] Answer find(const Session& session, const OpenedGraph& opened) const {
    Answer answer;
    for (const LineHit& hit : find_operators(opened, asked_)) {
      if (session.context.cancel.cancelled()) break;
      if (!opened.selects(hit.op)) {
        ++answer.unselected;
        continue;
      }
      answer.found.push_back({hit, files_of(opened, hit.op, paths_ ? Detail::kPaths : Detail::kHeaders)});
      std::vector<Error>& failures = answer.found.back().files.failures;
      std::move(failures.begin(), failures.end(), std::back_inserter(answer.failures));
    }
    return answer;
  }

  ExitCode print_paths(Session& session, const OpenedGraph& opened, const Answer& answer) const {
    const std::vector<std::string> paths = paths_of(opened, answer.found);
    for (const std::string& path : paths) {
      if (!session.out.write(path + '\0')) break;
    }
    const bool failed = explain(session, opened, answer);
    if (failed) return ExitCode::kSomeFailed;
    return paths.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  // Reports what the rows do not say; true if anything failed.
  bool explain(Session& session, const OpenedGraph& opened, const Answer& answer) const {
    const bool failed = report_graph_failures(session, opened);
    for (const Found& one : answer.found) {
      if (opened.joined && one.files.tensors.empty()) explain_missing_files(session, opened, one.hit.op);
    }
    if (answer.found.empty()) explain_nothing(session, opened, asked_, options_.selection, answer.unselected);
    return failed;
  }

  // For people: relations only if a line was asked for, and files only if there is a dump.
  [[nodiscard]] std::vector<report::Column> columns(const OpenedGraph& opened) const {
    const bool of_dump = opened.catalogue.has_value();
    const auto number = [](const report::Row& row) {
      const auto* found = row.get<double>("confidence");
      return found == nullptr ? std::string("-") : fmt::format("{:.2g}", *found);
    };
    std::vector<report::Column> columns{{"relation", asked_.by_line() ? "relation" : "", relation_cell},
                                        op_type_column(),
                                        {"op_name", "op name"},
                                        {"confidence", "confidence", number},
                                        {"one_of_several", ""},
                                        {"source.file", "line", source_cell},
                                        {"source.line", ""},
                                        {"source.code", "code"},
                                        {"source.end_line", ""},
                                        {"stack", ""},
                                        {"ir_file", ""},
                                        {"ir_line", ""},
                                        {"node", ""},
                                        {"ir_graph", ""},
                                        {"files", of_dump ? "tensors" : ""},
                                        originals_column(opened)};
    const std::vector<report::Column> places = place_columns(opened);
    columns.insert(columns.begin() + 1, places.begin(), places.end());
    return columns;
  }

  static std::string relation_cell(const report::Row& row) {
    const auto* flag = row.get<bool>("one_of_several");
    const std::string relation = row.text_or_number("relation");
    return flag != nullptr && *flag ? relation + ", one of several calls" : relation;
  }

  [[nodiscard]] report::Object row_of(const OpenedGraph& opened, const Found& found) const {
    report::Object row = operator_object(opened, found.hit.op);
    const SourceFrame* const source =
        found.hit.frame != nullptr ? found.hit.frame : best_frame(opened.graph(), found.hit.op);
    row.add("relation", name_of(found.hit.relation));
    row.add("confidence", std::min(found.hit.confidence, found.files.confidence));
    row.add("one_of_several", found.hit.one_of_several);
    const bool shown = form_ != report::Form::kTable;
    row.add("source", source_value(source));
    row.add("stack", shown ? stack_value(stack_of(opened.graph(), found.hit.op)) : report::Value());
    add_place(row, opened, found.hit.op);
    row.add("files", files_value(opened, found.files, form_));
    add_originals(row, opened, found.hit.op, found.files);
    return row;
  }

  void print_report(Session& session, const OpenedGraph& opened, const Answer& answer) const {
    const auto sink = session.open_report(form_, dumps_of(opened), columns(opened));
    size_t files = 0;
    for (const Found& one : answer.found) {
      files += one.files.tensors.size();
      if (session.context.cancel.cancelled() || !sink->row(row_of(opened, one))) break;  // the stream remembers why
    }
    report::Object summary;
    summary.add("operators", answer.found.size()).add("files", files);
    report::Object further;
    if (answer.found.empty()) further.add("nearest", nearest_sources(opened, asked_));
    (void)sink->finish({std::move(summary), graph_failure_objects(opened), std::move(further)});
  }

  ExitCode print_rows(Session& session, const OpenedGraph& opened, const Answer& answer) const {
    print_report(session, opened, answer);
    if (form_ == report::Form::kTable) print_files(session, opened, answer.found);
    const bool failed = explain(session, opened, answer);
    if (failed) return ExitCode::kSomeFailed;
    return answer.found.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  // Of the tensor files, each once.
  static std::vector<std::string> paths_of(const OpenedGraph& opened, const std::vector<Found>& found) {
    std::vector<std::string> paths;
    std::set<std::string> seen;
    for (const Found& one : found) {
      for (const TensorRecord& tensor : one.files.tensors) {
        std::string path = opened.catalogue->index.path_of(opened.catalogue->index.files()[tensor.file]);
        if (seen.insert(path).second) paths.push_back(std::move(path));
      }
    }
    return paths;
  }

  // For people: the paths themselves, while they are few.
  static void print_files(Session& session, const OpenedGraph& opened, const std::vector<Found>& found) {
    const std::vector<std::string> paths = paths_of(opened, found);
    if (paths.empty()) return;
    std::string text = "\n";
    for (size_t i = 0; i < paths.size() && i < kMostPathsShown; ++i) text += escape_for_terminal(paths[i]) + "\n";
    if (paths.size() > kMostPathsShown)
      text += fmt::format("and {} more files; -0 prints them all\n", paths.size() - kMostPathsShown);
    (void)session.out.write(text);
  }

  GraphOptions options_;
  OperatorQuestion asked_;
  bool paths_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kFindOpCommand{[] { return std::make_unique<FindOp>(); }};

}  // namespace
}  // namespace msdump::cli
