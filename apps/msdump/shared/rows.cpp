#include "shared/rows.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "dump/names/identity.h"

namespace msdump::cli {

report::Column number_column(const std::string& key, bool shown) {
  const uint8_t drop = key == "rank" ? report::kDropRank : key == "graph" ? report::kDropGraph : report::kDropStep;
  // The table omits "null": most numbers are unknown in most dumps.
  return {key, shown ? key : "", [key](const report::Row& row) { return row.text_or_number(key); }, drop};
}

report::Column op_type_column() { return {"op_type", "op type", {}, report::kDropOpType}; }

std::string tensor_cell(const report::Row& row) {
  const std::string io = row.text_or_number("io"), slot = row.text_or_number("slot");
  return slot == "-" ? io : io + ":" + slot;
}

report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor) {
  const Identity identity = identity_of(index, tensor);
  const NameFacts& name = tensor.name;
  report::Object object;
  object.add("path", index.relative_path_of(index.files()[tensor.file]));
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  object.add("op_name", name.op_name).add("op_type", report::text_or_null(name.op_type));
  object.add("io", name.slot.empty() ? report::Value() : report::Value(name_of(name.io)));
  object.add("slot", slot_value(name.slot)).add("occurrence", tensor.occurrence);
  object.add("task_id", name.task_id).add("stream_id", name.stream_id);
  object.add("timestamp", report::text_or_null(name.timestamp));
  object.add("dtype", name.dtype == DType::kUndefined ? report::Value() : report::Value(name_of(name.dtype)));
  object.add("format", name.format ? report::Value(name_of(*name.format)) : report::Value());
  object.add("shape", tensor.shape == nullptr ? report::Value() : report::Value(report::list_of(*tensor.shape)));
  object.add("bytes", tensor.bytes);
  return object;
}

std::vector<report::Column> identity_columns() {
  return {{"path", ""},           number_column("rank"),
          number_column("graph"), number_column("step"),
          {"op_name", "op name"}, op_type_column(),
          {"io", "io"},           {"slot", "slot"},
          {"occurrence", ""},     {"task_id", ""},
          {"stream_id", ""},      {"timestamp", ""},
          {"dtype", "dtype"},     {"format", "format", {}, report::kDropStep},
          {"shape", "shape"},     {"bytes", "bytes"}};
}

void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count,
                const std::function<report::Row(size_t)>& row_of) {
  constexpr size_t kChunk = 256;
  constexpr int64_t kMostWaiting = 64;  // chunks
  size_t first = 0;
  // The first row may define the columns. A table has no formatter.
  const auto write_one = [&] { return sink.row(row_of(first++)).has_value(); };
  if (count > 0 && !write_one()) return;
  if (count <= kChunk || pool.jobs() == 1 || !sink.formatter()) {
    while (first < count && write_one()) {
    }
    return;
  }
  std::atomic<bool> stopped = false;
  const auto make_chunk = [&](int64_t chunk) {
    std::string text;
    const size_t begin = first + static_cast<size_t>(chunk) * kChunk;
    const auto formatter = sink.formatter();
    for (size_t i = begin; i < std::min(begin + kChunk, count) && !stopped; ++i) formatter->append(row_of(i), text);
    return text;
  };
  const auto write_chunk = [&](int64_t, std::string&& text) {
    if (!stopped && !sink.write_formatted(text)) stopped = true;
  };
  pool.ordered_for(static_cast<int64_t>((count - first + kChunk - 1) / kChunk), make_chunk, write_chunk, kMostWaiting);
}

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
