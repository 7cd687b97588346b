#include "find_op/find_op_hints.h"

#include <fmt/format.h>

#include "base/text.h"
#include "graph/lines/nearest_operator.h"
#include "shared/graph_rows.h"

namespace msdump::cli {
namespace {

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

}  // namespace

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

report::List nearest_sources(const OpenedGraph& opened, const OperatorQuestion& question) {
  report::List list;
  for (const LineQuery& query : question.queries) {
    for (const SourceFrame* frame : nearest_lines(opened.graph(), query, kNearestShown))
      list.push_back(source_value(frame));
  }
  return list;
}

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

}  // namespace msdump::cli
