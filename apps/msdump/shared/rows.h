// The identity of a tensor in reports: the same keys in the same order for all commands.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dump/index/tensor_list.h"
#include "graph/lines/source_lines.h"
#include "graph/opened_graph.h"
#include "io/worker_pool.h"
#include "report/row_sink.h"
#include "report/value.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

// path, rank, graph, step, op_name, op_type, io, slot, occurrence, task_id, stream_id, timestamp, dtype, format, shape,
// bytes.
[[nodiscard]] report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor);
[[nodiscard]] std::vector<report::Column> identity_columns();

// Columns for commands with rows of their own. `shown`: in the table, too.
[[nodiscard]] report::Column number_column(const std::string& key, bool shown = true);
[[nodiscard]] report::Column op_type_column();
// "output:0"; "-" for a row that is not about a tensor.
[[nodiscard]] std::string tensor_cell(const report::Row& row);

// Makes the rows of a report and their text on all workers, and writes them in order.

// row_of(i) for each i in [0, count), from several threads. Stops when a write fails; the stream keeps the error.
void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count,
                const std::function<report::Row(size_t)>& row_of);

// Rows about operators: their identity, source lines and tensor files, the same in find-op and map-ir.

// {"file","line","code"} and "end_line" of a range; null for none.
[[nodiscard]] report::Value source_value(const SourceFrame* frame);
// The innermost hundred frames.
[[nodiscard]] report::Value stack_value(const std::vector<const SourceFrame*>& stack);
// "alexnet.py:175", the file without its folders.
[[nodiscard]] std::string source_text(const SourceFrame* frame);
// "net.py:12  x = self.conv(x)", and whether it is that of one of several calls.
[[nodiscard]] std::string line_text(const OperatorLine& line);

// The same for a row, for a column with the key "source.file".
[[nodiscard]] std::string source_cell(const report::Row& row);

// A list of identities; only their number in a table.
[[nodiscard]] report::Value files_value(const OpenedGraph& opened, const OperatorFiles& files, report::Form form);

// rank, graph, step: for people only those that differ between operators.
[[nodiscard]] std::vector<report::Column> place_columns(const OpenedGraph& opened);
// rank, graph, step, op_name, op_type. The step is that of msprobe's stack.json; an IR is that of all steps.
[[nodiscard]] report::Object operator_object(const OpenedGraph& opened, OpId op);
// originals: the full names of the operators that a fused operator stands for, by the graph of GE or by its dump files.
void add_originals(report::Object& row, const OpenedGraph& opened, OpId op, const OperatorFiles& files);
// For people where a graph of GE is there.
[[nodiscard]] report::Column originals_column(const OpenedGraph& opened);
// ir_file, ir_line, node, ir_graph.
void add_place(report::Object& row, const OpenedGraph& opened, OpId op);

}  // namespace msdump::cli
