#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/usage.h"
#include "graph/lines/source_lines.h"
#include "graph/opened_graph.h"
#include "report/value.h"
#include "shared/opened_graph.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

// What msdump find-op says when it found nothing, or an operator without files: the nearest names and lines, and why.

constexpr size_t kNearestShown = 5;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string file_hint(const OpenedGraph& opened, const std::string& typed) {
  const std::vector<std::string> files = script_files(opened.graph());
  if (files.empty()) return "the IR has no source lines at all (MindSpore 2.4 and later: COMPILE_DEBUG_MODE=release)";
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(base_name(file));
  if (const auto near = closest_match(base_name(typed), names)) return fmt::format("did you mean '{}'?", *near);
  std::string some;
  for (size_t i = 0; i < names.size() && i < kNearestShown; ++i) some += (some.empty() ? "" : ", ") + names[i];
  return fmt::format("operators come from {}{}", some, names.size() > kNearestShown ? ", ..." : "");
}

std::string line_hint(const OpenedGraph& opened, const LineQuery& query) {
  std::string text;
  for (const SourceFrame* frame : nearest_lines(opened.graph(), query, kNearestShown))
    text += (text.empty() ? "" : ", ") + source_text(frame);
  return text.empty() ? file_hint(opened, query.file) : "the nearest lines with operators: " + text;
}

std::string name_hint(const OpenedGraph& opened, const std::vector<std::string>& names,
                      const SelectionOptions& selection) {
  for (const std::string& name : names) {
    const auto line = parse_line_query(name);
    if (line && line->first > 0) return fmt::format("did you mean --line '{}'?", escape_for_terminal(name));
    const std::string near = nearest_operator(opened.graph(), name, OperatorText::kName);
    if (!near.empty()) return fmt::format("did you mean '{}'?", escape_for_terminal(near));
  }
  const std::string hint = selection_hint(opened, selection);
  return hint.empty() ? "msdump map-ir lists all operators" : hint;
}

// `unselected`: operators that --op, --rank and the like left out.
void explain_nothing(Session& session, const OpenedGraph& opened, const OperatorQuestion& question,
                     const SelectionOptions& selection, size_t unselected) {
  if (unselected > 0) {
    const std::string hint = selection_hint(opened, selection);
    session.messages.nothing_selected(
        fmt::format("{} found; the selection excludes all", plural(unselected, "operator")),
        hint.empty() ? "leave out --op, --op-type, --regex, --rank, --graph and --step to see them" : hint);
    return;
  }
  for (size_t i = 0; i < question.queries.size(); ++i) {
    session.messages.warning(fmt::format("no operator is from {}", question.lines[i]),
                             line_hint(opened, question.queries[i]));
  }
  for (const std::string& code : question.codes)
    session.messages.warning(fmt::format("no line with operators has the text '{}'", excerpt(code)));
  if (!question.queries.empty() || !question.codes.empty()) return;
  const std::string text = "no operator has such a name", hint = name_hint(opened, question.names, selection);
  if (question.names.empty()) {
    session.messages.nothing_selected(text, hint);
  } else {
    session.messages.warning(text, hint);
  }
}

// The nearest lines, as sources.
report::List nearest_sources(const OpenedGraph& opened, const OperatorQuestion& question) {
  report::List list;
  for (const LineQuery& query : question.queries) {
    for (const SourceFrame* frame : nearest_lines(opened.graph(), query, kNearestShown))
      list.push_back(source_value(frame));
  }
  return list;
}

// For an operator of which no tensor is shown.
void explain_missing_files(Session& session, const OpenedGraph& opened, OpId op) {
  const FileJoin& join = opened.joined->join;
  std::string why = join.reason(op);
  if (!join.pairs_of(op).empty()) {
    size_t tensors = 0;
    for (const JoinPair& pair : join.pairs_of(op)) tensors += join.groups()[pair.group].count;
    why = fmt::format("the selection excludes all of {}", plural(tensors, "tensor"));
  }
  const OpGraph& graph = opened.graph();
  std::string name = graph.full_name(op);
  if (name.empty()) name = fmt::format("{} {}", graph.op_type(op), graph.ir(op).node_name(graph.node(op)));
  session.messages.note(fmt::format("{} has no tensors here: {}", name, why));
}

}  // namespace

// msdump find-op: from a line of the script, or a name, to operators and their tensor files.

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
      .no = "no operator was found (-0: no file); the nearest lines that have operators are named",
      .answers = true};
  return info;
}

struct Answer {
  std::vector<LineHit> found;
  size_t unselected = 0;  // operators that match and are not selected
};

// What was printed, and what is told after it.
struct Printed {
  size_t tensors = 0, files = 0;
  std::vector<std::string> paths;  // of the first files
  std::vector<OpId> without_files;
  std::vector<bool> seen;  // by file of the catalogue

  explicit Printed(const OpenedGraph& opened) : seen(opened.catalogue ? opened.catalogue->index.files().size() : 0) {}
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
    const Answer answer = find(*opened);
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

  [[nodiscard]] Answer find(const OpenedGraph& opened) const {
    Answer answer;
    for (const LineHit& hit : find_operators(opened, asked_)) {
      if (opened.selects(hit.op)) {
        answer.found.push_back(hit);
      } else {
        ++answer.unselected;
      }
    }
    return answer;
  }

  // print(hit, files) for each operator, in order, until it returns false. Headers are read on all workers; few rows wait.
  Printed print_found(Session& session, OpenedGraph& opened, const std::vector<LineHit>& found,
                      const std::function<bool(const LineHit&, const OperatorFiles&)>& print) const {
    constexpr size_t kPiece = 16;
    constexpr int64_t kMostWaiting = 16;
    const Detail detail = paths_ ? Detail::kPaths : Detail::kHeaders;
    Printed printed(opened);
    bool closed = false;
    const auto read_piece = [&](int64_t piece) {
      std::vector<OperatorFiles> files;
      const size_t begin = static_cast<size_t>(piece) * kPiece;
      for (size_t i = begin; i < std::min(begin + kPiece, found.size()); ++i) {
        if (session.context.cancel.cancelled()) break;
        files.push_back(files_of(opened, found[i].op, detail));
      }
      return files;
    };
    const auto print_piece = [&](int64_t piece, std::vector<OperatorFiles>&& files) {
      for (size_t i = 0; i < files.size() && !closed && !session.context.cancel.cancelled(); ++i) {
        const LineHit& hit = found[static_cast<size_t>(piece) * kPiece + i];
        note_files(opened, hit, files[i], printed);
        closed = !print(hit, files[i]);
        opened.add_failures(std::move(files[i].failures));
      }
    };
    session.context.pool.ordered_for(static_cast<int64_t>((found.size() + kPiece - 1) / kPiece), read_piece,
                                     print_piece, kMostWaiting);
    return printed;
  }

  static void note_files(const OpenedGraph& opened, const LineHit& hit, const OperatorFiles& files, Printed& printed) {
    printed.tensors += files.tensors.size();
    if (files.tensors.empty()) printed.without_files.push_back(hit.op);
    for (const TensorRecord& tensor : files.tensors) {
      if (printed.seen[tensor.file]) continue;
      printed.seen[tensor.file] = true;
      if (printed.files++ >= kMostPathsShown) continue;
      printed.paths.push_back(opened.catalogue->index.path_of(opened.catalogue->index.files()[tensor.file]));
    }
  }

  ExitCode print_paths(Session& session, OpenedGraph& opened, const Answer& answer) const {
    std::vector<bool> seen(opened.catalogue->index.files().size());
    const auto print = [&](const LineHit&, const OperatorFiles& files) {
      for (const TensorRecord& tensor : files.tensors) {
        if (seen[tensor.file]) continue;
        seen[tensor.file] = true;
        const std::string path = opened.catalogue->index.path_of(opened.catalogue->index.files()[tensor.file]);
        if (!session.out.write(path + '\0')) return false;
      }
      return true;
    };
    const Printed printed = print_found(session, opened, answer.found, print);
    const bool failed = explain(session, opened, answer, printed);
    if (failed) return ExitCode::kSomeFailed;
    return printed.files == 0 ? ExitCode::kNo : ExitCode::kOk;
  }

  // Reports what the rows do not say; true if anything failed.
  bool explain(Session& session, const OpenedGraph& opened, const Answer& answer, const Printed& printed) const {
    const bool failed = report_graph_failures(session, opened);
    for (const OpId op : printed.without_files) {
      if (opened.joined) explain_missing_files(session, opened, op);
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

  [[nodiscard]] report::Object row_of(const OpenedGraph& opened, const LineHit& hit, const OperatorFiles& files) const {
    report::Object row = operator_object(opened, hit.op);
    const SourceFrame* const source = hit.frame != nullptr ? hit.frame : best_frame(opened.graph(), hit.op);
    row.add("relation", name_of(hit.relation));
    row.add("confidence", std::min(hit.confidence, files.confidence));
    row.add("one_of_several", hit.one_of_several);
    const bool shown = form_ != report::Form::kTable;
    row.add("source", source_value(source));
    row.add("stack", shown ? stack_value(stack_of(opened.graph(), hit.op)) : report::Value());
    add_place(row, opened, hit.op);
    row.add("files", files_value(opened, files, form_));
    add_originals(row, opened, hit.op, files);
    return row;
  }

  Printed print_report(Session& session, OpenedGraph& opened, const Answer& answer) const {
    const auto sink = session.open_report(form_, dumps_of(opened), columns(opened));
    Printed printed = print_found(session, opened, answer.found, [&](const LineHit& hit, const OperatorFiles& files) {
      return sink->row(row_of(opened, hit, files)).has_value();  // the stream remembers why not
    });
    report::Object summary;
    summary.add("operators", answer.found.size()).add("files", printed.tensors);
    report::Object further;
    if (answer.found.empty()) further.add("nearest", nearest_sources(opened, asked_));
    (void)sink->finish({std::move(summary), graph_failure_objects(opened), std::move(further)});
    return printed;
  }

  ExitCode print_rows(Session& session, OpenedGraph& opened, const Answer& answer) const {
    const Printed printed = print_report(session, opened, answer);
    if (form_ == report::Form::kTable) print_files(session, printed);
    const bool failed = explain(session, opened, answer, printed);
    if (failed) return ExitCode::kSomeFailed;
    return answer.found.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  // For people: the paths themselves, while they are few.
  static void print_files(Session& session, const Printed& printed) {
    if (printed.paths.empty()) return;
    std::string text = "\n";
    for (const std::string& path : printed.paths) text += escape_for_terminal(path) + "\n";
    if (printed.files > printed.paths.size())
      text += fmt::format("and {} more files; -0 prints them all\n", printed.files - printed.paths.size());
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
