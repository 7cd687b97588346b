// What one file is and what it says about itself, whatever its kind. Memory is bounded for files of any size, and no
// file is trusted. A damaged file keeps the facts that could still be read, and has a problem.
//
// `detail` by kind, besides `bytes`, the size of the file, which all have (a key is there, null when unknown):
//   npy                dtype, original_dtype, npy_descr, readable_by_numpy, shape, elements, fortran_order, big_endian,
//                      data_offset, data_bytes, format, identity
//   raw                dtype, format, shape, elements, data_bytes (what shape and dtype need), identity
//   dump_file          header (binary, classic, nano), op_name, dump_time_us, attributes [{name, value}], identity, tensors
//   npz                tensors, each with its op_name
//   pt                 other_values, other_classes (of objects that are not read), identity, tensors; each tensor that
//                      is a parameter has its op_name
//   atb_tensor         same_as (the key of the file that has its elements), identity, tensors
//   checkpoint         other_values (texts, hash tables), tensors, each with its op_name
//   safetensors        metadata, tensors, each with its op_name
//     tensors          [{io, slot, dtype, format, sub_format, shape, original_shape, original_format, offset, bytes,
//                      problem, note}]; format and shape as on the device; `problem`: why its elements cannot be had,
//                      `note`: why they cannot leave the device format
//   opdebug            record: the overflow record, with the keys that msaccucmp's JSON has
//   statistic          dialects (who writes such rows), columns, rows, bad_rows, runs (headers in the file)
//   mapping            rows, bad_rows
//   execution_order    lists (operators or steps), rows, first, last
//   free_benchmark, acc_check, precision_compare, compare_result, anomalies
//                      columns (of tables), rows, bad_rows; rows by their worst verdict: failed, warnings, skipped;
//                      first_failed {op_name, io, slot, rank, step, value, message, source}
//   monitor            columns, rows, bad_rows, first_step, last_step, without_values (rows of tensors that were not
//                      there), with_nan, first_nan {name, step}
//   ir_text            entry, subgraphs, parameters
//   ir_protobuf        none
//   ge_graph           form (ge_proto, ge_onnx, ge_json), stage, graphs, operators, edges, originals (names of operators before
//                      GE fused or cut them), fused (operators with several)
//   dump_json,         framework, level, task, entries, tensors, in_files (tensors whose elements were dumped too), other_values,
//   debug_json         bad_entries, distributed (tensors that are parts of larger ones); counts are null for a file too large to be counted
//   stack_json, construct_json         entries
//   kernel_args        op_type, op_name, arguments
//   checkpoint_index   files, parameters, total_size (as it says), parameter_bytes (as the files have; null if one cannot
//                      be read), note (if the two differ)
//   config             tool (whose configuration), version, keys
//   unknown, and kinds that are named but not read      why, first_bytes
// A file that cannot be opened has `why` and no more.
// `identity` is what name and folders say: rank, graph, step, op_name, op_type, io, slot, task_id, stream_id, timestamp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/names/file_kind.h"
#include "io/run_context.h"
#include "report/value.h"

namespace msdump {

struct FileFacts {
  FileKind kind = FileKind::kUnknown;
  report::Object detail;
  std::vector<Error> problems;
  // Tensors with elements, in the order of `detail`; without optional inputs that were not given to an operator.
  std::vector<StoredTensor> tensors;
  uint64_t tensor_count = 0;  // also of tables, whose tensors are rows
  uint64_t tensor_bytes = 0;
  const Family* family = nullptr;  // that reads the tensors; null when there are none
  uint64_t size = 0;               // of the file when it was read, as the next
  int64_t mtime_ns = 0;
};

// Never fails: errors are in `problems`. After an interruption the facts are incomplete and must not be shown.
[[nodiscard]] FileFacts read_file_facts(const DumpIndex& index, const IndexedFile& file, const CancelToken& cancel);

// The file once more, with one of `facts.tensors`, for its elements. Its header is not read again.
[[nodiscard]] Result<OpenedFile> open_again(const DumpIndex& index, const IndexedFile& file, const FileFacts& facts,
                                            size_t item);

}  // namespace msdump
