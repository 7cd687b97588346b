// The identity of a tensor in reports: the same keys in the same order for all commands.
#pragma once

#include <string>
#include <vector>

#include "dump/index/tensor_list.h"
#include "report/row_sink.h"
#include "report/value.h"

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

}  // namespace msdump::cli
