#include "shared/rows.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "dump/names/identity.h"

namespace msdump::cli {
namespace {

std::string source_file_cell(const report::Row& row, std::string_view) { return source_cell(row); }

std::string originals_cell(const report::Row& row, std::string_view key) {
  constexpr size_t kShown = 3;
  const auto* list = row.get<report::List>(key);
  std::string text;
  for (size_t i = 0; list != nullptr && i < list->size() && i < kShown; ++i) {
    const std::string& name = *(*list)[i].get<std::string>();
    text += (i > 0 ? " + " : "") + name.substr(name.rfind('/') + 1);
  }
  if (list != nullptr && list->size() > kShown) text += fmt::format(" + {} more", list->size() - kShown);
  return text.empty() ? std::string("-") : text;
}

const report::RowType<SourceFrame>& source_rows() {
  static const auto rows =
      report::RowType<SourceFrame>("Source", "A line of the script.")
          .add({.key = "file",
                .type = "string",
                .text = "path of the script, as the framework recorded it",
                .title = "line",
                .cell = source_file_cell},
               [](const SourceFrame& frame) -> report::Value { return frame.file; })
          .add({.key = "line", .type = "integer", .text = "line, from 1; the first line of a range"},
               [](const SourceFrame& frame) -> report::Value { return frame.line; })
          .add({.key = "code",
                .type = "string|null",
                .text = "text of the line; null if the IR does not have it",
                .title = "code"},
               [](const SourceFrame& frame) -> report::Value { return report::text_or_null(frame.code); })
          .add({.key = "end_line", .type = "integer?", .text = "last line, if the statement has several"},
               [](const SourceFrame& frame) -> report::Value {
                 return frame.end_line > frame.line ? report::Value(frame.end_line) : report::Value();
               });
  return rows;
}

}  // namespace

report::Key dump_key() {
  return {.key = "dump",
          .type = "string?",
          .text = "part of the path that tells it from the other dumps below one path; absent if there is one",
          .title = "dump",
          .cell = [](const report::Row& row, std::string_view key) { return dump_text(row.text(key)); }};
}

std::string dump_text(std::string_view name) { return name.empty() ? std::string("-") : fmt::format("{}/", name); }

std::string place_text(std::string_view dump, std::optional<int64_t> rank, std::optional<int64_t> step) {
  std::string text;
  if (!dump.empty()) text += ", " + dump_text(dump);
  if (rank) text += fmt::format(", rank {}", *rank);
  if (step) text += fmt::format(", step {}", *step);
  return text;
}

const report::RowType<TensorRow>& tensor_rows() {
  using report::whole_cell;
  static const auto rows =
      report::RowType<TensorRow>("Tensor", "A tensor of a dump.")
          .add({.key = "path",
                .type = "string",
                .text = "file of the elements, or the table with the tensor's row; relative to the dump"},
               [](const TensorRow& row) -> report::Value {
                 return row.index.relative_path_of(row.index.files()[row.tensor.file]);
               })
          .add({.key = "rank",
                .type = "integer|null",
                .text = "process of a distributed run",
                .title = "rank",
                .cell = whole_cell,
                .drop = report::kDropRank},
               [](const TensorRow& row) -> report::Value { return row.identity.rank; })
          .add({.key = "graph",
                .type = "integer|null",
                .text = "id of the graph that MindSpore compiled",
                .title = "graph",
                .cell = whole_cell,
                .drop = report::kDropGraph},
               [](const TensorRow& row) -> report::Value { return row.identity.graph; })
          .add({.key = "step",
                .type = "integer|null",
                .text = "iteration of the training run",
                .title = "step",
                .cell = whole_cell,
                .drop = report::kDropStep},
               [](const TensorRow& row) -> report::Value { return row.identity.step; })
          .add(dump_key(),
               [](const TensorRow& row) -> report::Value { return report::text_or_null(row.identity.dump); })
          .add({.key = "op_name",
                .type = "string",
                .text = "full scope name of the operator if it is known, else the name that the file has",
                .title = "op name"},
               [](const TensorRow& row) -> report::Value { return row.tensor.name.op_name; })
          .add({.key = "op_type",
                .type = "string|null",
                .text = "type of the operator",
                .title = "op type",
                .drop = report::kDropOpType},
               [](const TensorRow& row) -> report::Value { return report::text_or_null(row.tensor.name.op_type); })
          .add(
              {.key = "io",
               .type = "string|null",
               .text = "input, output, parameter (parameters, constants, gradients of parameters) or debug; null for a "
                       "file of several tensors whose header was not read",
               .title = "io"},
              [](const TensorRow& row) -> report::Value {
                const NameFacts& name = row.tensor.name;
                return name.slot.empty() ? report::Value() : report::Value(name_of(name.io));
              })
          .add({.key = "slot",
                .type = "integer|string|null",
                .text = "which input or output: a number, or msprobe's keyword or nested index (\"weight\", \"0.1\")",
                .title = "slot"},
               [](const TensorRow& row) -> report::Value { return slot_value(row.tensor.name.slot); })
          .add({.key = "occurrence",
                .type = "integer",
                .text = "executions of the operator in the same step before this one"},
               [](const TensorRow& row) -> report::Value { return row.tensor.occurrence; })
          .add({.key = "task_id", .type = "integer|null", .text = "task of the device"},
               [](const TensorRow& row) -> report::Value { return row.tensor.name.task_id.plain(); })
          .add({.key = "stream_id", .type = "integer|null", .text = "stream of the device"},
               [](const TensorRow& row) -> report::Value { return row.tensor.name.stream_id.plain(); })
          .add({.key = "timestamp", .type = "string|null", .text = "digits as the name of the file has them"},
               [](const TensorRow& row) -> report::Value { return report::text_or_null(row.tensor.name.timestamp); })
          .add({.key = "dtype",
                .type = "string|null",
                .text = "element type in MindSpore's lower-case name: float16, bfloat16, int4, float8_e4m3fn",
                .title = "dtype"},
               [](const TensorRow& row) -> report::Value {
                 const DType dtype = row.tensor.name.dtype;
                 return dtype == DType::kUndefined ? report::Value() : report::Value(name_of(dtype));
               })
          .add({.key = "format",
                .type = "string|null",
                .text = "order of the dimensions: NCHW, NC1HWC0, FRACTAL_Z",
                .title = "format",
                .drop = report::kDropStep},
               [](const TensorRow& row) -> report::Value {
                 const std::optional<Format>& format = row.tensor.name.format;
                 return format ? report::Value(name_of(*format)) : report::Value();
               })
          .add({.key = "shape", .type = "integer[]|null", .text = "dimensions in that format", .title = "shape"},
               [](const TensorRow& row) -> report::Value {
                 if (row.tensor.shape == nullptr) return {};
                 report::List shape;
                 shape.reserve(row.tensor.shape->size());
                 shape.assign(row.tensor.shape->begin(), row.tensor.shape->end());
                 return shape;
               })
          .add({.key = "bytes",
                .type = "integer|null",
                .unit = "bytes",
                .text = "size of the elements",
                .title = "bytes"},
               [](const TensorRow& row) -> report::Value { return row.tensor.bytes.plain(); });
  return rows;
}

const report::ObjectType& tensor_type() { return tensor_rows().type(); }

report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor) {
  return tensor_rows().row({index, tensor});
}

std::vector<report::Column> identity_columns(const std::vector<std::string>& dumps) {
  std::vector<report::Column> columns = tensor_rows().columns();
  leave_out_dump(columns, dumps);
  return columns;
}

void leave_out_dump(std::vector<report::Column>& columns, const std::vector<std::string>& dumps) {
  if (dumps.empty()) std::erase_if(columns, [](const report::Column& column) { return column.key == "dump"; });
}

report::Column number_column(const std::string& key, bool shown) {
  report::Column column = tensor_rows().columns({key}).front();
  if (!shown) column.title.clear();
  return column;
}

report::Column op_type_column() { return tensor_rows().columns({"op_type"}).front(); }

std::string tensor_cell(const report::Row& row) {
  const std::string io = row.text_or_number("io"), slot = row.text_or_number("slot");
  return slot == "-" ? io : io + ":" + slot;
}

void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count, const report::RowSource& rows) {
  constexpr size_t kChunk = 256;
  constexpr int64_t kMostWaiting = 64;  // chunks
  size_t first = 0;
  // The first row may define the columns. A table has no formatter.
  const auto write_one = [&] { return sink.row(rows.row(first++)).has_value(); };
  if (count > 0 && !write_one()) return;
  if (!sink.formatter()) {
    while (first < count && write_one()) {
    }
    return;
  }
  std::atomic<bool> stopped = false;
  const auto make_chunk = [&](int64_t chunk) {
    std::string text;
    const size_t begin = first + static_cast<size_t>(chunk) * kChunk;
    const auto formatter = sink.formatter();
    for (size_t i = begin; i < std::min(begin + kChunk, count) && !stopped; ++i) {
      formatter->append_row(rows, i, text);
      if (i == begin) text.reserve(text.size() * (kChunk + kChunk / 4));  // rows are about equally long
    }
    return text;
  };
  const auto write_chunk = [&](int64_t, std::string&& text) {
    if (!stopped && !sink.write_formatted(text)) stopped = true;
  };
  pool.ordered_for(static_cast<int64_t>((count - first + kChunk - 1) / kChunk), make_chunk, write_chunk, kMostWaiting);
}

const report::ObjectType& source_type() { return source_rows().type(); }

report::Value source_value(const SourceFrame* frame) {
  return frame == nullptr ? report::Value() : report::Value(source_rows().row(*frame));
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

std::string source_note(const SourceFrame* frame) {
  return frame == nullptr ? std::string() : fmt::format(" ({})", source_text(frame));
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

const report::RowType<OperatorRow>& operator_rows() {
  static const auto origin = [](const OperatorRow& row) -> const Origin& { return row.opened.graph().origin(row.op); };
  static const auto rows =
      report::RowType<OperatorRow>("Operator", "An operator of a graph.")
          .add(*tensor_type().find("rank"), [](const OperatorRow& row) -> report::Value { return origin(row).rank; })
          .add(*tensor_type().find("graph"),
               [](const OperatorRow& row) -> report::Value { return origin(row).graph_id; })
          .add(*tensor_type().find("step"), [](const OperatorRow& row) -> report::Value { return origin(row).step; })
          .add({.key = "op_name",
                .type = "string|null",
                .text = "full scope name as the IR spells it, which MindSpore 2.7 and later number otherwise than the "
                        "files; of find-op --ref the name of the partner in the dump, if there is one",
                .title = "op name"},
               [](const OperatorRow& row) -> report::Value {
                 if (!row.name_in_dump.empty()) return row.name_in_dump;
                 return report::text_or_null(row.opened.graph().full_name(row.op));
               })
          .add(*tensor_type().find("op_type"), [](const OperatorRow& row) -> report::Value {
            return report::text_or_null(row.opened.graph().op_type(row.op));
          });
  return rows;
}

const report::RowType<OperatorRow>& node_rows() {
  static const auto rows =
      report::RowType<OperatorRow>("Node", "Where an operator stands in an IR.")
          .add({.key = "ir_file", .type = "string", .text = "file of the graph, relative to the dump if it is in it"},
               [](const OperatorRow& row) -> report::Value {
                 return shown_path(row.opened, row.opened.graph().origin(row.op).path);
               })
          .add({.key = "ir_line", .type = "integer|null", .text = "line of the node in a file of text"},
               [](const OperatorRow& row) -> report::Value {
                 const int64_t line = row.opened.graph().node(row.op).line;
                 return line > 0 ? report::Value(line) : report::Value();
               })
          .add({.key = "node", .type = "string|null", .text = "name of the node: %12; null for msprobe's stack.json"},
               [](const OperatorRow& row) -> report::Value {
                 const OpGraph& graph = row.opened.graph();
                 const bool in_ir = graph.origin(row.op).kind != OriginKind::kStackJson;
                 return in_ir ? report::Value(graph.ir(row.op).node_name(graph.node(row.op))) : report::Value();
               })
          .add({.key = "ir_graph", .type = "string|null", .text = "subgraph of the node"},
               [](const OperatorRow& row) -> report::Value {
                 const OpGraph& graph = row.opened.graph();
                 return report::text_or_null(graph.ir(row.op).graph_name(graph.node(row.op)));
               });
  return rows;
}

report::Key source_key() {
  return {
      .key = "source", .type = "object|null", .text = "line of the script that made the operator", .of = source_type};
}

report::Key stack_key() {
  return {.key = "stack",
          .type = "object[]",
          .text = "the innermost hundred lines of the call stack, innermost first",
          .of = source_type};
}

report::Key files_key() {
  return {.key = "files",
          .type = "object[]",
          .text = "tensors of the operator in the dump",
          .of = tensor_type,
          .title = "tensors"};
}

report::Key originals_key() {
  return {.key = "originals",
          .type = "string[]",
          .text = "full names of the operators that a fused operator of the device stands for",
          .title = "originals",
          .cell = originals_cell};
}

void hide_common_places(std::vector<report::Column>& columns, const OpenedGraph& opened) {
  std::set<std::optional<int64_t>> ranks, graphs, steps;
  for (const Origin& origin : opened.graph().origins()) {
    ranks.insert(origin.rank);
    graphs.insert(origin.graph_id);
    steps.insert(origin.step);
  }
  if (ranks.size() < 2) report::hide(columns, {"rank"});
  if (graphs.size() < 2) report::hide(columns, {"graph"});
  if (steps.size() < 2) report::hide(columns, {"step"});
}

report::Value files_value(const OpenedGraph& opened, const OperatorFiles& files, report::Form form) {
  if (is_for_people(form)) return files.tensors.size();
  report::List list;
  for (const TensorRecord& tensor : files.tensors) list.push_back(identity_object(opened.catalogue->index, tensor));
  return list;
}

report::List originals_value(const OpenedGraph& opened, OpId op, const OperatorFiles& files) {
  const IrGraph& ir = opened.graph().ir(op);
  report::List list;
  if (const auto originals = ir.originals(opened.graph().node(op))) {
    for (const uint32_t name : *originals) list.emplace_back(ir.text(Text{name}));
    return list;
  }
  std::set<std::string_view> names;
  for (const TensorRecord& tensor : files.tensors) {
    if (tensor.original != nullptr && names.insert(tensor.original->op).second) list.emplace_back(tensor.original->op);
  }
  return list;
}

bool has_fused_operators(const OpenedGraph& opened) {
  const auto& origins = opened.graph().origins();
  return std::any_of(origins.begin(), origins.end(),
                     [](const Origin& origin) { return origin.kind == OriginKind::kGeGraph; });
}

}  // namespace msdump::cli
