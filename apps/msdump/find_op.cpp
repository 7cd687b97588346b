// msdump find-op: from a line of the script, or a name, to operators and their tensor files.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "graph/ir_files.h"
#include "graph/line_query.h"
#include "graph/op_name.h"
#include "graph/source_lines.h"
#include "graph_rows.h"
#include "graph_run.h"
#include "usage.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostPathsShown = 40;
constexpr size_t kNearestShown = 5;

const CommandInfo& find_op_info() {
  static const CommandInfo info{
      .name = "find-op",
      .order = 40,
      .summary = "which operators a line of the script became, and their tensors",
      .usage = "--line FILE:LINE | --code TEXT | NAME... [-d DUMP] [--ir PATH...] [OPTIONS]",
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

class FindOp : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return find_op_info(); }

  void declare(CLI::App& app) override {
    constexpr const char* kQuestion = "Question";
    app.add_option("--line", lines_, "Lines of a script, as they stand in IR, logs and traces; may be repeated")
        ->type_name("FILE:LINE[-LINE]")
        ->allow_extra_args(false)
        ->group(kQuestion);
    app.add_option("--code", codes_, "Text of a line; may be repeated")
        ->type_name("TEXT")
        ->allow_extra_args(false)
        ->group(kQuestion);
    add_positionals(app, "NAME", names_, "Names of operators, or globs");
    add_graph_options(app, options_);
    app.add_flag("-0,--print0", paths_, "Print the paths of the tensor files only, each once, ended by a NUL byte")
        ->group(kOutputGroup);
    add_report_options(app, form_);
    add_jobs_option(app, options_.jobs);
  }

  ExitCode run(Session& session) override {
    take_names_from_ir();
    check();
    for (const std::string& line : lines_) {
      auto query = parse_line_query(line);
      if (!query) return session.end_with(query.error());
      queries_.push_back(std::move(*query));
    }
    Result<OpenedGraph> opened = open_graph(session, options_, {only_line(), Headers::kWhereNeeded});
    if (!opened) return session.end_with(opened.error());
    const std::vector<Found> found = find(*opened);
    if (found.empty() && only_line() && !opened->catalogue) {
      // What is near has to be said.
      if (const Status read = read_other_lines(session, *opened); !read) return session.end_with(read.error());
    }
    if (opened->graph().size() == 0) return end_without_graph(session, *opened);
    return paths_ ? print_paths(session, *opened, found) : print_rows(session, *opened, found);
  }

 private:
  // `--ir a.ir 'Conv2D*'`: --ir takes several paths, but what is none is the name that is asked for.
  void take_names_from_ir() {
    if (!lines_.empty() || !codes_.empty() || !names_.empty()) return;
    while (options_.ir.size() > 1 && !names_a_path(options_.ir.back())) {
      names_.insert(names_.begin(), options_.ir.back());
      options_.ir.pop_back();
    }
  }

  void check() const {
    const bool by_selection =
        !options_.selection.op.empty() || !options_.selection.op_type.empty() || !options_.selection.regex.empty();
    if (lines_.empty() && codes_.empty() && names_.empty() && !by_selection)
      throw UsageError("what is to be found?", "--line FILE:LINE, --code TEXT, a name, or --op, --op-type, --regex");
    if (paths_ && form_ != report::Form::kTable) throw UsageError("-0 prints paths; it goes with no other form");
  }

  // One place alone: other operators need not be read where no dump is to be joined.
  [[nodiscard]] std::optional<LineQuery> only_line() const {
    if (queries_.size() != 1 || !codes_.empty() || !names_.empty()) return std::nullopt;
    return queries_[0];
  }

  [[nodiscard]] bool matches_name(const OpGraph& graph, OpId op) const {
    const std::string full = graph.full_name(op), flat = normalised_op_name(full);
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return glob_match(name, full) || glob_match(name, flat) || glob_match(name, graph.leaf(op));
    });
  }

  [[nodiscard]] std::vector<LineHit> hits_of(const OpenedGraph& opened) const {
    const OpGraph& graph = opened.graph();
    std::vector<LineHit> hits;
    const auto append = [&](const std::vector<LineHit>& more) { hits.insert(hits.end(), more.begin(), more.end()); };
    for (const LineQuery& query : queries_) append(find_line(graph, query));
    for (const std::string& code : codes_) append(find_code(graph, code));
    if (queries_.empty() && codes_.empty()) {
      for (OpId op = 0; op < graph.size(); ++op) {
        if (!graph.has_kernel(op) || graph.leaf(op).empty()) continue;
        if (names_.empty() || matches_name(graph, op)) hits.push_back({op, Relation::kDirect, nullptr, false, 1});
      }
    } else if (!names_.empty()) {
      std::erase_if(hits, [&](const LineHit& hit) { return !matches_name(graph, hit.op); });
    }
    return hits;
  }

  [[nodiscard]] std::vector<Found> find(const OpenedGraph& opened) const {
    std::vector<Found> found;
    std::set<OpId> seen;
    std::vector<LineHit> hits = hits_of(opened);
    std::stable_sort(hits.begin(), hits.end(), is_better);
    const Detail detail = paths_ ? Detail::kPaths : Detail::kHeaders;
    for (const LineHit& hit : hits) {
      if (!opened.selects(hit.op) || !seen.insert(hit.op).second) continue;
      found.push_back({hit, files_of(opened, hit.op, detail)});
    }
    return found;
  }

  ExitCode print_paths(Session& session, const OpenedGraph& opened, const std::vector<Found>& found) const {
    std::set<std::string> printed;
    for (const Found& one : found) {
      for (const TensorRecord& tensor : one.files.tensors) {
        const std::string path = opened.catalogue->index.path_of(opened.catalogue->index.files()[tensor.file]);
        if (printed.insert(path).second && !session.out.write(path + '\0')) break;
      }
    }
    if (report_graph_failures(session, opened)) return ExitCode::kSomeFailed;
    explain_missing_files(session, opened, found);
    if (found.empty()) explain_nothing(session, opened);
    return printed.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  static std::vector<report::Column> columns() {
    const auto number = [](const report::Row& row, const char* key) {
      const report::Value* value = row.find(key);
      return value == nullptr || value->is_null() ? std::string("-") : fmt::format("{:.2g}", value_as_double(*value));
    };
    return {{"relation", "relation"},
            {"rank", ""},
            {"graph", ""},
            {"op_type", "op type"},
            {"op_name", "op name"},
            {"confidence", "confidence", [number](const report::Row& row) { return number(row, "confidence"); }},
            {"one_of_several", "one of several", [](const report::Row& row) { return flag_text(row); }},
            {"source.file", ""},
            {"source.line", "line"},
            {"source.code", "code"},
            {"source.end_line", ""},
            {"stack", ""},
            {"ir_file", ""},
            {"ir_line", ""},
            {"node", ""},
            {"ir_graph", ""},
            {"files", "files", [](const report::Row& row) { return count_text(row); }}};
  }

  static double value_as_double(const report::Value& value) {
    const auto* number = std::get_if<double>(&value.storage());
    return number == nullptr ? 0 : *number;
  }
  static std::string flag_text(const report::Row& row) {
    const report::Value* value = row.find("one_of_several");
    const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(&value->storage());
    return flag != nullptr && *flag ? "yes" : "";
  }
  static std::string count_text(const report::Row& row) {
    const report::Value* value = row.find("files");
    const auto* list = value == nullptr ? nullptr : std::get_if<report::List>(&value->storage());
    return list == nullptr ? "-" : std::to_string(list->size());
  }

  static report::Object row_of(const OpenedGraph& opened, const Found& found) {
    report::Object row = operator_object(opened, found.hit.op);
    const SourceFrame* const source =
        found.hit.frame != nullptr ? found.hit.frame : best_frame(opened.graph(), found.hit.op);
    row.add("relation", name_of(found.hit.relation));
    row.add("confidence", std::min(found.hit.confidence, found.files.confidence));
    row.add("one_of_several", found.hit.one_of_several);
    row.add("source", source_value(source)).add("stack", stack_value(stack_of(opened.graph(), found.hit.op)));
    add_place(row, opened, found.hit.op);
    row.add("files", file_objects(opened, found.files));
    return row;
  }

  ExitCode print_rows(Session& session, const OpenedGraph& opened, const std::vector<Found>& found) const {
    const std::vector<std::string> dumps =
        opened.catalogue ? opened.catalogue->index.paths() : std::vector<std::string>();
    const auto sink = session.open_report(form_, dumps, columns());
    size_t files = 0;
    for (const Found& one : found) {
      files += one.files.tensors.size();
      if (!sink->row(row_of(opened, one))) break;  // the stream remembers why
    }
    report::Object summary;
    summary.add("operators", found.size()).add("files", files);
    report::Object further;
    if (found.empty()) further.add("nearest", nearest(opened));
    (void)sink->finish({std::move(summary), graph_failure_objects(opened), std::move(further)});
    if (form_ == report::Form::kTable) print_files(session, opened, found);
    const bool failed = report_graph_failures(session, opened);
    explain_missing_files(session, opened, found);
    if (found.empty()) explain_nothing(session, opened);
    if (failed) return ExitCode::kSomeFailed;
    return found.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  // For people: the paths themselves, while they are few.
  static void print_files(Session& session, const OpenedGraph& opened, const std::vector<Found>& found) {
    std::vector<std::string> paths;
    std::set<std::string> seen;
    for (const Found& one : found) {
      for (const TensorRecord& tensor : one.files.tensors) {
        std::string path = opened.catalogue->index.path_of(opened.catalogue->index.files()[tensor.file]);
        if (seen.insert(path).second) paths.push_back(std::move(path));
      }
    }
    if (paths.empty()) return;
    std::string text = "\n";
    for (size_t i = 0; i < paths.size() && i < kMostPathsShown; ++i) text += escape_for_terminal(paths[i]) + "\n";
    if (paths.size() > kMostPathsShown)
      text += fmt::format("and {} more files; -0 prints them all\n", paths.size() - kMostPathsShown);
    (void)session.out.write(text);
  }

  [[nodiscard]] report::List nearest(const OpenedGraph& opened) const {
    report::List list;
    for (const LineQuery& query : queries_) {
      for (const SourceFrame* frame : nearest_lines(opened.graph(), query, kNearestShown))
        list.push_back(source_value(frame));
    }
    return list;
  }

  // An operator that is there and its tensors are not: why.
  static void explain_missing_files(Session& session, const OpenedGraph& opened, const std::vector<Found>& found) {
    if (!opened.joined) return;
    for (const Found& one : found) {
      if (!opened.joined->join.pairs_of(one.hit.op).empty()) continue;
      session.messages.note(fmt::format("{} has no tensors here: {}",
                                        escape_for_terminal(opened.graph().full_name(one.hit.op)),
                                        opened.joined->join.reason(one.hit.op)));
    }
  }

  void explain_nothing(Session& session, const OpenedGraph& opened) const {
    for (size_t i = 0; i < queries_.size(); ++i) {
      const auto near = nearest_lines(opened.graph(), queries_[i], kNearestShown);
      if (!near.empty()) {
        std::string text;
        for (const SourceFrame* frame : near) text += fmt::format("{}{}", text.empty() ? "" : ", ", source_text(frame));
        session.messages.warning(fmt::format("no operator is from {}", lines_[i]),
                                 fmt::format("the nearest lines with operators: {}", text));
        continue;
      }
      session.messages.warning(fmt::format("no operator is from {}", lines_[i]), file_hint(opened, queries_[i].file));
    }
    for (const std::string& code : codes_)
      session.messages.warning(fmt::format("no line with operators has the text '{}'", excerpt(code)));
    if (queries_.empty() && codes_.empty()) session.messages.warning("no operator has such a name", name_hint(opened));
  }

  static std::string file_hint(const OpenedGraph& opened, const std::string& typed) {
    const std::vector<std::string> files = script_files(opened.graph());
    if (files.empty()) return "the IR has no source lines at all (MindSpore 2.4 and later: COMPILE_DEBUG_MODE=release)";
    std::vector<std::string> names;
    for (const std::string& file : files) names.push_back(file.substr(file.rfind('/') + 1));
    if (const auto near = closest_match(typed.substr(typed.rfind('/') + 1), names))
      return fmt::format("did you mean '{}'?", escape_for_terminal(*near));
    std::string some;
    for (size_t i = 0; i < names.size() && i < kNearestShown; ++i)
      some += (some.empty() ? "" : ", ") + escape_for_terminal(names[i]);
    return fmt::format("operators come from {}{}", some, names.size() > kNearestShown ? ", ..." : "");
  }

  [[nodiscard]] std::string name_hint(const OpenedGraph& opened) const {
    if (names_.empty()) return "msdump map-ir lists all operators";
    std::set<std::string> leaves;
    for (OpId op = 0; op < opened.graph().size(); ++op) leaves.emplace(opened.graph().leaf(op));
    const std::vector<std::string> candidates(leaves.begin(), leaves.end());
    const auto near = closest_match(names_[0].substr(names_[0].rfind('/') + 1), candidates);
    return near ? fmt::format("did you mean '{}'?", escape_for_terminal(*near)) : "msdump map-ir lists all operators";
  }

  GraphOptions options_;
  std::vector<std::string> lines_, codes_, names_;
  std::vector<LineQuery> queries_;
  bool paths_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kRegistration{[] { return std::make_unique<FindOp>(); }};

}  // namespace
}  // namespace msdump::cli
