// The identity of a tensor as every report has it: the same keys in the same order for all commands.
#pragma once

#include <vector>

#include "dump/index/tensor_list.h"
#include "report/row_sink.h"
#include "report/value.h"

namespace msdump::cli {

// path, rank, graph, step, op_name, op_type, io, slot, occurrence, task_id, stream_id, timestamp, dtype, format, shape,
// bytes.
[[nodiscard]] report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor);
[[nodiscard]] std::vector<report::Column> identity_columns();

}  // namespace msdump::cli
