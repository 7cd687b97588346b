#include "shared/graph_rows.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "dump/layouts/family.h"
#include "shared/identity_row.h"

namespace msdump::cli {
namespace {

// Opens each file once and completes its records.
class Completer {
 public:
  Completer(const DumpIndex& index, OperatorFiles& files) : index_(index), files_(files) {}

  void add(TensorRecord record, Detail detail) {
    const bool lacks_header = record.shape == nullptr && record.has_elements && !record.broken;
    if (detail == Detail::kHeaders && lacks_header) complete(record);
    files_.tensors.push_back(record);
  }

  // Records point into `shapes`, which has grown.
  void settle() {
    for (const auto& [tensor, shape] : own_shapes_) files_.tensors[tensor].shape = &files_.shapes[shape];
  }

 private:
  void complete(TensorRecord& record) {
    const auto opened = index_.open_tensor(index_.files()[record.file], record.item);
    if (!opened) return files_.failures.push_back(opened.error());
    const StoredTensor& stored = opened->tensors.front();
    record.name.dtype = stored.original_dtype.value_or(stored.request.dtype.value_or(DType::kUndefined));
    record.bytes = stored.bytes;
    if (!stored.request.shape) return;
    own_shapes_.emplace_back(files_.tensors.size(), files_.shapes.size());
    files_.shapes.push_back(*stored.request.shape);
  }

  const DumpIndex& index_;
  OperatorFiles& files_;
  std::vector<std::pair<size_t, size_t>> own_shapes_;
};

}  // namespace

report::Value source_value(const SourceFrame* frame) {
  if (frame == nullptr) return {};
  report::Object object;
  object.add("file", frame->file).add("line", frame->line).add("code", report::text_or_null(frame->code));
  if (frame->end_line > frame->line) object.add("end_line", frame->end_line);
  return object;
}

report::Value stack_value(const std::vector<const SourceFrame*>& stack) {
  // A made-up stack of thousands of frames would stand in each of thousands of rows.
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

std::string source_cell(const report::Row& row) {
  const std::string_view path = row.text("source.file");
  const auto line = row.number("source.line"), end = row.number("source.end_line");
  if (path.empty() || !line) return "-";
  const std::string text = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), *line);
  return end ? fmt::format("{}-{}", text, *end) : text;
}

OperatorFiles files_of(const OpenedGraph& opened, OpId op, Detail detail) {
  if (!opened.joined) return {};
  const FileJoin& join = opened.joined->join;
  std::vector<uint32_t> groups;
  for (const JoinPair& pair : join.pairs_of(op)) groups.push_back(pair.group);
  OperatorFiles files = files_of_groups(opened, groups, detail);
  if (!join.pairs_of(op).empty()) {
    files.confidence = join.pairs_of(op).front().confidence;
    files.rule = join.pairs_of(op).front().rule;
  }
  return files;
}

OperatorFiles files_of_groups(const OpenedGraph& opened, const std::vector<uint32_t>& groups, Detail detail) {
  OperatorFiles files;
  const FileJoin& join = opened.joined->join;
  const Catalogue& catalogue = *opened.catalogue;
  std::vector<uint32_t> places;
  for (const uint32_t group : groups) {
    for (const uint32_t place : join.tensors_of(join.groups()[group])) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  Completer completer(catalogue.index, files);
  for (const uint32_t place : places) {
    const TensorRecord& tensor = catalogue.list.tensors()[place];
    if (opened.selects(tensor)) completer.add(tensor, detail);
  }
  completer.settle();
  return files;
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
