// msdump find-op: from a line of the script, or a name, to operators and their tensor files.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "divergence/dump_diff.h"
#include "frame/usage.h"
#include "graph/lines/source_lines.h"
#include "graph/op_name.h"
#include "graph/opened_graph.h"
#include "report/value.h"
#include "shared/opened_graph.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kNearestShown = 5, kMostPathsShown = 40;

// ---- Messages about operators or files that were not found: the nearest names and lines, and the reason.

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

const CommandInfo& find_op_info() {
  static const CommandInfo info{
      .name = "find-op",
      .order = 40,
      .summary = "which operators a line of the script became, and their tensors",
      .usage = "--line FILE:LINE | --code TEXT | NAME... [-d DUMP [--ref DUMP]] [OPTIONS]",
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
                   {"msdump find-op --line net.py:23 -d npu --ref cpu",
                    "tensors of a device dump without IR, paired as diff does"},
                   {"msdump find-op '*conv3*' -d dump --json", "by name, for scripts"}},
      .done = "an operator was found",
      .no = "no operator was found (-0: no file); the nearest lines that have operators are named",
      .answers = true,
      .other_names = {{"find search grep locate op operator source trace stack"}}};
  return info;
}

// The names and tensors that a dump has of the operators of a reference, as diff pairs them: a device dump has neither its numbers
// nor an IR.
class PairedFiles {
 public:
  explicit PairedFiles(const DiffResult& run) : run_(run) {
    const Pairing& pairing = run.pairing;
    for (OperatorId pair{0}; pair < pairing.operators.size(); ++pair) {
      const SequencedOpId place = pairing.operators[pair].b;
      if (place != kNoId && pairing.b[place].op != kNoId) pairs_.emplace(pairing.b[place].op, pair);
    }
    for (TensorId tensor{0}; tensor < pairing.tensors.size(); ++tensor) {
      if (pairing.tensors[tensor].a != kNoId) tensors_[pairing.tensors[tensor].op].push_back(tensor);
    }
  }

  [[nodiscard]] OperatorFiles of(OpId op) const {
    OperatorFiles files;
    const auto pair = pairs_.find(op);
    if (pair == pairs_.end()) return files;
    files.confidence = run_.pairing.operators[pair->second].confidence;
    const auto tensors = tensors_.find(pair->second);
    if (tensors == tensors_.end()) return files;
    for (const TensorId tensor : tensors->second) {
      const TensorRecord& record = (*run_.a->side.tensors)[run_.pairing.tensors[tensor].a];
      if (run_.a->opened.selects(record)) files.tensors.push_back(record);
    }
    return files;
  }

  // The operator of the dump that diff pairs with this one. Null if there is none.
  [[nodiscard]] const SequencedOp* in_dump(OpId op) const {
    const auto pair = pairs_.find(op);
    if (pair == pairs_.end()) return nullptr;
    const SequencedOpId place = run_.pairing.operators[pair->second].a;
    return place == kNoId ? nullptr : &run_.pairing.a[place];
  }

  // By its name in the dump.
  [[nodiscard]] bool selects(const OpenedGraph& reference, OpId op) const {
    const SequencedOp* const there = in_dump(op);
    if (there == nullptr || !reference.selects(reference.graph().origin(op))) return false;
    Identity identity;
    identity.name.op_name = there->name;
    identity.name.op_type = there->type;
    return reference.operators.matches_file(identity);
  }

  [[nodiscard]] bool is_named(OpId op, const std::vector<std::string>& names) const {
    const SequencedOp* const there = in_dump(op);
    return there != nullptr && matches_op_name(names, there->name);
  }

 private:
  const DiffResult& run_;
  std::map<OpId, OperatorId> pairs_;
  std::map<OperatorId, std::vector<TensorId>> tensors_;
};

struct Answer {
  std::vector<LineHit> found;
  size_t unselected = 0;  // operators that match and are not selected
};

// Counts of the printed rows, and the facts for the notes after them.
struct Printed {
  size_t tensors = 0, files = 0;
  std::vector<std::string> paths;  // of the first files
  std::vector<OpId> without_files;
  std::vector<bool> seen;  // by file of the catalogue

  explicit Printed(const OpenedGraph& opened) : seen(opened.catalogue ? opened.catalogue->index.files().size() : 0) {}
};

struct FoundRow : OperatorRow {
  const LineHit& hit;
  const OperatorFiles& files;
  const OpenedGraph& of_files;  // has their dump
  report::Form form;
};

std::string relation_cell(const report::Row& row, std::string_view key) {
  const auto* flag = row.get<bool>("one_of_several");
  const std::string relation = row.text_or_number(key);
  return flag != nullptr && *flag ? relation + ", one of several calls" : relation;
}

std::string confidence_cell(const report::Row& row, std::string_view key) {
  const auto* const found = row.get<double>(key);
  return found == nullptr ? std::string("-") : fmt::format("{:.2g}", *found);
}

const report::RowType<FoundRow>& found_rows() {
  static const auto rows =
      report::RowType<FoundRow>("FoundOperator", "An operator that a line or a name of the question stands for.")
          .include(operator_rows())
          .add({.key = "relation",
                .type = "string",
                .text =
                    "direct: the innermost statement of the script; via: a call that led there; range: a statement of "
                    "several lines; gradient: the line is that of the forward operator; fused: of an operator that was "
                    "fused; name",
                .title = "relation",
                .cell = relation_cell},
               [](const FoundRow& row) -> report::Value { return name_of(row.hit.relation); })
          .add({.key = "confidence",
                .type = "number",
                .unit = "0..1",
                .text = "of the relation and of the files",
                .title = "confidence",
                .cell = confidence_cell},
               [](const FoundRow& row) -> report::Value { return std::min(row.hit.confidence, row.files.confidence); })
          .add({.key = "one_of_several",
                .type = "boolean",
                .text = "the line is called several times, and nothing tells which call this operator is"},
               [](const FoundRow& row) -> report::Value { return row.hit.one_of_several; })
          .add(source_key(),
               [](const FoundRow& row) -> report::Value {
                 return source_value(row.hit.frame != nullptr ? row.hit.frame : best_frame(row.opened.graph(), row.op));
               })
          .add(stack_key(),
               [](const FoundRow& row) -> report::Value {
                 return is_for_people(row.form) ? report::Value() : stack_value(stack_of(row.opened.graph(), row.op));
               })
          .include(node_rows())
          .add(files_key(),
               [](const FoundRow& row) -> report::Value { return files_value(row.of_files, row.files, row.form); })
          .add(originals_key(),
               [](const FoundRow& row) -> report::Value { return originals_value(row.opened, row.op, row.files); });
  return rows;
}

const report::ObjectType& found_summary_type() {
  static const report::ObjectType type{"FoundSummary",
                                       "Counts of find-op.",
                                       {{.key = "operators", .type = "integer", .text = "operators that were found"},
                                        {.key = "files", .type = "integer", .text = "tensors of these operators"}}};
  return type;
}

class FindOp : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return find_op_info(); }

  void declare(OptionTable& options) override {
    constexpr std::string_view kQuestion = "Question";
    const auto take = [this](const Option&, const std::vector<std::string>& lines) { take_lines(lines); };
    options.add({{.names = "--line",
                  .is_common = true,
                  .value = OptionValue::texts(take, "FILE:LINE[-LINE]"),
                  .group = kQuestion,
                  .help = "Lines of a script, as IR, logs and traces spell them; may be repeated"},
                 {.names = "--code",
                  .other_names = "statement text",
                  .is_common = true,
                  .value = OptionValue::texts(asked_.codes, "TEXT"),
                  .group = kQuestion,
                  .help = "Text of a line; may be repeated"},
                 arguments_option("NAME", asked_.names, "Names of operators, or globs")});
    options.add(graph_options(options_));
    options.add(
        {.names = "--ref",
         .other_names = "reference golden good",
         .is_common = true,
         .value = OptionValue::text(ref_, "DUMP"),
         .group = kInputGroup,
         .help = "A dump of the same script with an IR: the operators are found in it, and those of --dump are paired "
                 "with them as diff does",
         .needs = {{"dump", "--ref is paired with it"}}});
    options.add({.names = "-0,--print0",
                 .other_names = "paths null",
                 .is_common = true,
                 .value = OptionValue::flag(paths_),
                 .group = kOutputGroup,
                 .help = "Print the paths of the tensor files only, each once, ended by a NUL byte",
                 .excludes = excluded_forms("-0 prints paths")});
    options.add(report_options(form_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "find-op",
             .text = "The operators that were found.",
             .row = &found_rows().type(),
             .summary = &found_summary_type(),
             .further = {{.key = "nearest",
                          .type = "object[]?",
                          .text = "if nothing was found: the nearest lines that have operators",
                          .of = source_type}}}};
  }

  ExitCode run(Session& session) override {
    check();
    if (!ref_.empty()) return run_paired(session);
    Result<OpenedGraph> opened = open_graph(session.context, options_, {only_line(), Headers::kWhereNeeded});
    if (!opened) return session.end_with(opened.error());
    Answer answer = find(*opened);
    if (answer.found.empty() && !opened->is_whole) {
      // The whole graph may show that an operator is likely from the line. If not, its lines are the nearest ones to report.
      if (const Status read = opened->read_other_lines(session.context); !read) return session.end_with(read.error());
      answer = find(*opened);
    }
    if (opened->graph().size() == 0) {
      if (!paths_) print_report(session, *opened, answer);
      return end_without_graph(session, *opened, has_dump(options_) ? ", or a dump that has one with --ref" : "");
    }
    return paths_ ? print_paths(session, *opened, answer) : print_rows(session, *opened, answer);
  }

 private:
  ExitCode run_paired(Session& session) {
    GraphOptions of_reference = options_;
    of_reference.dump = {{ref_}, {}};
    options_.ir.clear();
    const GraphNeeds needs{{}, Headers::kAll};
    Result<OpenedGraph> dump = open_graph(session.context, options_, needs);
    if (!dump) return session.end_with(dump.error());
    Result<OpenedGraph> reference = open_graph(session.context, of_reference, needs);
    if (!reference) return session.end_with(reference.error());
    if (reference->graph().size() == 0) return end_without_graph(session, *reference);
    Result<DiffResult> run = pair_dumps(std::make_unique<DiffSide>(std::move(*dump)),
                                        std::make_unique<DiffSide>(std::move(*reference)), nullptr, session.context);
    if (!run) return session.end_with(run.error());
    const PairedFiles files(*run);
    files_ = &files;
    of_files_ = &run->a->opened;
    OpenedGraph& graph = run->b->opened;
    const Answer answer = find(graph);
    const ExitCode code = paths_ ? print_paths(session, graph, answer) : print_rows(session, graph, answer);
    files_ = nullptr;
    of_files_ = nullptr;
    return code;
  }

  // The dump that has the files: with --ref that of --dump, else the one that the graph is of.
  [[nodiscard]] const OpenedGraph& with_files(const OpenedGraph& opened) const {
    return of_files_ == nullptr ? opened : *of_files_;
  }

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
    if (paths_ && !has_dump(options_)) throw UsageError("-0 prints paths of tensors; name the dump with -d");
  }

  // A single line needs no other operators unless a dump is joined.
  [[nodiscard]] std::optional<LineQuery> only_line() const {
    if (asked_.queries.size() != 1 || !asked_.codes.empty() || !asked_.names.empty()) return std::nullopt;
    return asked_.queries[0];
  }

  // Operators have the names of the reference's IR and those of the dump: either are accepted.
  [[nodiscard]] std::vector<LineHit> hits_of(OpenedGraph& opened) const {
    std::vector<LineHit> hits = find_operators(opened, asked_);
    if (files_ == nullptr || asked_.names.empty()) return hits;
    std::set<OpId> found;
    for (const LineHit& hit : hits) found.insert(hit.op);
    OperatorQuestion any_name = asked_;
    any_name.names.clear();
    for (const LineHit& hit : find_operators(opened, any_name)) {
      if (files_->is_named(hit.op, asked_.names) && found.insert(hit.op).second) hits.push_back(hit);
    }
    return hits;
  }

  [[nodiscard]] Answer find(OpenedGraph& opened) const {
    Answer answer;
    for (const LineHit& hit : hits_of(opened)) {
      if (opened.selects(hit.op) || (files_ != nullptr && files_->selects(opened, hit.op))) {
        answer.found.push_back(hit);
      } else {
        ++answer.unselected;
      }
    }
    return answer;
  }

  // Calls print(hit, files) for each operator, in order, until it returns false.
  Printed print_found(Session& session, OpenedGraph& opened, const std::vector<LineHit>& found,
                      const std::function<bool(const LineHit&, const OperatorFiles&)>& print) const {
    std::vector<OpId> ops;
    for (const LineHit& hit : found) ops.push_back(hit.op);
    Printed printed(with_files(opened));
    if (files_ != nullptr) {
      for (const LineHit& hit : found) {
        const OperatorFiles files = files_->of(hit.op);
        note_files(*of_files_, hit, files, printed);
        if (!print(hit, files)) break;
      }
      return printed;
    }
    for_each_operator_files(opened, ops, paths_ ? Detail::kPaths : Detail::kHeaders, session.context,
                            [&](size_t i, const OperatorFiles& files) {
                              note_files(opened, found[i], files, printed);
                              return print(found[i], files);
                            });
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
    const DumpIndex& index = with_files(opened).catalogue->index;
    std::vector<bool> seen(index.files().size());
    const auto print = [&](const LineHit&, const OperatorFiles& files) {
      for (const TensorRecord& tensor : files.tensors) {
        if (seen[tensor.file]) continue;
        seen[tensor.file] = true;
        if (!session.out.write(index.path_of(index.files()[tensor.file]) + '\0')) return false;
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
      if (files_ != nullptr) {
        session.messages.note(fmt::format("{} has no partner with tensors in the dump", opened.graph().full_name(op)));
      } else if (opened.joined) {
        explain_missing_files(session, opened, op);
      }
    }
    if (answer.found.empty()) explain_nothing(session, opened, asked_, options_.selection, answer.unselected);
    return failed;
  }

  // For people: relations only if a line was asked for, and files only if there is a dump.
  [[nodiscard]] std::vector<report::Column> columns(const OpenedGraph& opened) const {
    std::vector<report::Column> columns =
        found_rows().columns({"relation", "rank", "graph", "step", "op_type", "op_name", "confidence", "one_of_several",
                              "source.file", "source.line", "source.code", "source.end_line", "stack", "ir_file",
                              "ir_line", "node", "ir_graph", "files", "originals"});
    hide_common_places(columns, opened);
    if (!asked_.by_line()) report::hide(columns, {"relation"});
    if (!opened.catalogue) report::hide(columns, {"files"});
    if (!has_fused_operators(opened)) report::hide(columns, {"originals"});
    return columns;
  }

  Printed print_report(Session& session, OpenedGraph& opened, const Answer& answer) const {
    const auto sink = session.open_report(form_, dumps_of(with_files(opened)), columns(opened));
    Printed printed = print_found(session, opened, answer.found, [&](const LineHit& hit, const OperatorFiles& files) {
      const SequencedOp* const there = files_ == nullptr ? nullptr : files_->in_dump(hit.op);
      const std::string_view name = there == nullptr ? std::string_view() : std::string_view(there->name);
      return sink->row(found_rows().row({{opened, hit.op, name}, hit, files, with_files(opened), form_}))
          .has_value();  // the stream remembers why not
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
    if (is_for_people(form_)) print_files(session, printed);
    const bool failed = explain(session, opened, answer, printed);
    if (failed) return ExitCode::kSomeFailed;
    return answer.found.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  // For people: the paths themselves, while they are few.
  static void print_files(Session& session, const Printed& printed) {
    if (printed.paths.empty()) return;
    std::string text = "\nfiles\n";
    for (const std::string& path : printed.paths) text += escape_for_terminal(path) + "\n";
    if (printed.files > printed.paths.size())
      text += fmt::format("and {} more files; -0 prints them all\n", printed.files - printed.paths.size());
    (void)session.out.write(text);
  }

  GraphOptions options_;
  OperatorQuestion asked_;
  std::string ref_;
  const PairedFiles* files_ = nullptr;     // with --ref
  const OpenedGraph* of_files_ = nullptr;  // likewise: the dump
  bool paths_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kFindOpCommand{[] { return std::make_unique<FindOp>(); }};

}  // namespace

}  // namespace msdump::cli
