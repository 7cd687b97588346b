#include "shared/graph_rows.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "shared/identity_row.h"

namespace msdump::cli {
report::Value source_value(const SourceFrame* frame) {
  if (frame == nullptr) return {};
  report::Object object;
  object.add("file", frame->file).add("line", frame->line).add("code", report::text_or_null(frame->code));
  if (frame->end_line > frame->line) object.add("end_line", frame->end_line);
  return object;
}

report::Value stack_value(const std::vector<const SourceFrame*>& stack) {
  // Otherwise a crafted stack of thousands of frames would be in each of thousands of rows.
  constexpr size_t kMostFrames = 100;
  report::List list;
  for (size_t i = 0; i < stack.size() && i < kMostFrames; ++i) list.push_back(source_value(stack[i]));
  return list;
}

std::string source_text(const SourceFrame* frame) {
  if (frame == nullptr) return "-";
  const std::string_view name = frame->file.substr(frame->file.rfind('/') + 1);
  if (frame->end_line > frame->line) return fmt::format("{}:{}-{}", name, frame->line, frame->end_line);
  return fmt::format("{}:{}", name, frame->line);
}

std::string line_text(const OperatorLine& line) {
  return fmt::format("{}  {}{}", source_text(line.frame), line.frame->code,
                     line.one_of_several ? "  (one of several calls)" : "");
}

std::string source_cell(const report::Row& row) {
  const std::string_view path = row.text("source.file");
  const auto line = row.number("source.line"), end = row.number("source.end_line");
  if (path.empty() || !line) return "-";
  const std::string text = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), *line);
  return end ? fmt::format("{}-{}", text, *end) : text;
}

report::Value files_value(const OpenedGraph& opened, const OperatorFiles& files, report::Form form) {
  if (form == report::Form::kTable) return files.tensors.size();
  report::List list;
  for (const TensorRecord& tensor : files.tensors) list.push_back(identity_object(opened.catalogue->index, tensor));
  return list;
}

std::vector<report::Column> place_columns(const OpenedGraph& opened) {
  std::set<std::optional<int64_t>> ranks, graphs, steps;
  for (const Origin& origin : opened.graph().origins()) {
    ranks.insert(origin.rank);
    graphs.insert(origin.graph_id);
    steps.insert(origin.step);
  }
  return {number_column("rank", ranks.size() > 1), number_column("graph", graphs.size() > 1),
          number_column("step", steps.size() > 1)};
}

report::Object operator_object(const OpenedGraph& opened, OpId op) {
  const OpGraph& graph = opened.graph();
  const Origin& origin = graph.origin(op);
  report::Object row;
  row.add("rank", origin.rank).add("graph", origin.graph_id).add("step", origin.step);
  row.add("op_name", report::text_or_null(graph.full_name(op))).add("op_type", report::text_or_null(graph.op_type(op)));
  return row;
}

void add_originals(report::Object& row, const OpenedGraph& opened, OpId op, const OperatorFiles& files) {
  const IrGraph& ir = opened.graph().ir(op);
  report::List list;
  if (const auto originals = ir.originals(opened.graph().node(op))) {
    for (const uint32_t name : *originals) list.emplace_back(ir.text(Text{name}));
  } else {
    std::set<std::string_view> names;
    for (const TensorRecord& tensor : files.tensors) {
      if (tensor.original != nullptr && names.insert(tensor.original->op).second)
        list.emplace_back(tensor.original->op);
    }
  }
  row.add("originals", std::move(list));
}

report::Column originals_column(const OpenedGraph& opened) {
  constexpr size_t kShown = 3;
  const auto& origins = opened.graph().origins();
  const bool of_ge = std::any_of(origins.begin(), origins.end(),
                                 [](const Origin& origin) { return origin.kind == OriginKind::kGeGraph; });
  const auto cell = [](const report::Row& row) {
    const auto* list = row.get<report::List>("originals");
    std::string text;
    for (size_t i = 0; list != nullptr && i < list->size() && i < kShown; ++i) {
      const std::string& name = *(*list)[i].get<std::string>();
      text += (i > 0 ? " + " : "") + name.substr(name.rfind('/') + 1);
    }
    if (list != nullptr && list->size() > kShown) text += fmt::format(" + {} more", list->size() - kShown);
    return text.empty() ? std::string("-") : text;
  };
  return {"originals", of_ge ? "originals" : "", cell};
}

void add_place(report::Object& row, const OpenedGraph& opened, OpId op) {
  const OpGraph& graph = opened.graph();
  const IrNode& node = graph.node(op);
  const bool in_ir = graph.origin(op).kind != OriginKind::kStackJson;
  row.add("ir_file", shown_path(opened, graph.origin(op).path));
  row.add("ir_line", node.line > 0 ? report::Value(node.line) : report::Value());
  row.add("node", in_ir ? report::Value(graph.ir(op).node_name(node)) : report::Value());
  row.add("ir_graph", report::text_or_null(graph.ir(op).graph_name(node)));
}

}  // namespace msdump::cli
