// Rows that several commands have: tensors, operators of a graph, lines of the script; and writing rows on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/index/tensor_list.h"
#include "graph/lines/operator_lines.h"
#include "graph/opened_graph.h"
#include "io/worker_pool.h"
#include "report/row_type.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

// A tensor of a dump: the same keys in the same order in all commands.
struct TensorRow {
  TensorRow(const DumpIndex& dump, const TensorRecord& of) : index(dump), tensor(of), identity(identity_of(dump, of)) {}

  const DumpIndex& index;
  const TensorRecord& tensor;
  Identity identity;
};
[[nodiscard]] const report::RowType<TensorRow>& tensor_rows();
[[nodiscard]] const report::ObjectType& tensor_type();
[[nodiscard]] report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor);
// `dumps`: DumpIndex::dumps().
[[nodiscard]] std::vector<report::Column> identity_columns(const std::vector<std::string>& dumps = {});

// The name of one of several dumps below a path (DumpIndex::dumps()): its key in rows, and its text, "run1/".
[[nodiscard]] report::Key dump_key();
[[nodiscard]] std::string dump_text(std::string_view name);
// ", run1/, rank 0, step 1", without unknown parts.
[[nodiscard]] std::string place_text(std::string_view dump, std::optional<int64_t> rank, std::optional<int64_t> step);
// Removes its column unless there are several.
void leave_out_dump(std::vector<report::Column>& columns, const std::vector<std::string>& dumps);

// Columns for commands with rows of their own. `shown`: in the table, too.
[[nodiscard]] report::Column number_column(const std::string& key, bool shown = true);
[[nodiscard]] report::Column op_type_column();
// "output:0"; "-" for a row that is not about a tensor.
[[nodiscard]] std::string tensor_cell(const report::Row& row);

// Writes the first `count` rows, in order. Stops when a write fails; the stream keeps the error.
void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count, const report::RowSource& rows);

// Prints what a command knows (--list-formats), a row each.
template <class Source, class Items>
ExitCode print_list(const Session& session, report::Form form, const report::RowType<Source>& rows,
                    const Items& items) {
  const auto sink = session.open_report(form, {}, rows.columns());
  for (const Source& one : items) {
    if (!sink->row(rows.row(one))) break;  // the stream remembers why, the frame says it
  }
  (void)sink->finish({});
  return ExitCode::kOk;
}

// A list of what `value_of` makes of each item.
template <class Range, class ValueOf>
[[nodiscard]] report::List list_of(const Range& range, const ValueOf& value_of) {
  report::List list;
  for (const auto& item : range) list.emplace_back(value_of(item));
  return list;
}

// A line of the script: file, line, code, end_line.
[[nodiscard]] const report::ObjectType& source_type();
// Null for no line.
[[nodiscard]] report::Value source_value(const SourceFrame* frame);
// The innermost hundred frames.
[[nodiscard]] report::Value stack_value(const std::vector<const SourceFrame*>& stack);
// "alexnet.py:175", the file without its folders.
[[nodiscard]] std::string source_text(const SourceFrame* frame);
// " (alexnet.py:175)"; empty for no line.
[[nodiscard]] std::string source_note(const SourceFrame* frame);
// "net.py:12  x = self.conv(x)", and whether it is that of one of several calls.
[[nodiscard]] std::string line_text(const OperatorLine& line);
// The same for a row, for a column with the key "source.file".
[[nodiscard]] std::string source_cell(const report::Row& row);

// An operator of a graph: rank, graph, step, op_name, op_type. The step is that of msprobe's stack.json; an IR has none.
struct OperatorRow {
  const OpenedGraph& opened;
  OpId op;
  std::string_view name_in_dump = {};  // find-op --ref: the name of the partner, which replaces that in the graph
};
[[nodiscard]] const report::RowType<OperatorRow>& operator_rows();
// The declarations of keys that rows of operators have further; their values come from the functions below.
[[nodiscard]] report::Key source_key();
[[nodiscard]] report::Key stack_key();
[[nodiscard]] report::Key files_key();
[[nodiscard]] report::Key originals_key();

// Takes rank, graph and step out of the table if all operators have the same.
void hide_common_places(std::vector<report::Column>& columns, const OpenedGraph& opened);
// A list of tensors; only their number in a table.
[[nodiscard]] report::Value files_value(const OpenedGraph& opened, const OperatorFiles& files, report::Form form);
// The full names of the operators that a fused operator stands for, by the graph of GE or by its dump files.
[[nodiscard]] report::List originals_value(const OpenedGraph& opened, OpId op, const OperatorFiles& files);
// True if a graph of GE is there, the only one that fuses.
[[nodiscard]] bool has_fused_operators(const OpenedGraph& opened);

// The place of an operator in an IR: ir_file, ir_line, node, ir_graph.
[[nodiscard]] const report::RowType<OperatorRow>& node_rows();

}  // namespace msdump::cli
