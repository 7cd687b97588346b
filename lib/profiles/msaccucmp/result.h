// msdump diff --profile msaccucmp: the result CSV of msaccucmp's `compare` (msprobe 26.2.0). Columns, rows and messages are
// the tool's; the numbers come from msdump's own metrics (metrics.h).
//
//   Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,<ten algorithms>,CompareFailReason
//
// Lines end in \r\n; a field with a comma, a quote or a line end is quoted. A side with arrays (.npy) has no Address, not
// even in the header. Tensors in several folders, or only statistics, are kUsage: the tool compares the files of one folder
// with another's.
//
// Not done:
//   * the time stamp in the file's name, the columns OverFlow and OpSequence, the advisor
//   * fusion and quantisation rules (-f, -q, -cf), hence operators that were fused; joined FFTS+ slices of one tensor
//   * -alg, -a, -c, -max, -range, -select, -op, -map
// All elements are compared; the tool cuts some off if it confuses the order of host axes. Operators with the same time
// stamp are sorted by name. (The tool takes the order of the file system.) Names that its check for formulas rejects are
// written.
// Memory: per worker, the rows of a few operators ahead of the output, and two slabs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/op_sequence.h"
#include "compare/match/pairing.h"
#include "dump/index/selection.h"
#include "dump/layouts/stored_tensor.h"
#include "profiles/msaccucmp/metrics.h"
#include "profiles/result_writer.h"
#include "tensor/shape.h"

namespace msdump {

struct MsaccucmpRow {
  std::string op_type{kMsaccucmpNaN};
  std::string npu_dump = "*", ground_truth = "*";  // names of the operator
  std::string dtype_a{kMsaccucmpNaN}, dtype_b{kMsaccucmpNaN};
  std::string address_a{kMsaccucmpNaN}, address_b{kMsaccucmpNaN};
  std::string tensor_index{kMsaccucmpNaN}, shape{kMsaccucmpNaN};
  MsaccucmpMetrics metrics;
};

// The sides that have an Address.
struct MsaccucmpColumns {
  bool address_a = true, address_b = true;
};

[[nodiscard]] std::string msaccucmp_header(const MsaccucmpColumns& columns);
// `index` is the operator's, from 0.
[[nodiscard]] std::string msaccucmp_line(const MsaccucmpColumns& columns, size_t index, const MsaccucmpRow& row);

[[nodiscard]] std::string msaccucmp_shape(const Shape& shape);      // "[2,3]"
[[nodiscard]] std::string msaccucmp_tuple(const Shape& shape);      // "(2, 3)"
[[nodiscard]] std::string msaccucmp_path(const std::string& path);  // with its folder's real path
[[nodiscard]] std::string msaccucmp_address(uint64_t address);      // "NaN" for 0

struct MsaccucmpSide {
  CompareSide side;
  const Selection* selection = nullptr;  // that chose the tensors; null: all
};

struct MsaccucmpCounts {
  int64_t rows = 0;
  int64_t unmatched = 0;     // rows of tensors that only one side has
  int64_t not_compared = 0;  // rows of pairs without metrics
  int64_t left_out = 0;      // tensors without a row, which is one of the tool's faults
  int64_t beyond = 0;        // rows with metrics that are not within_limits()
  ProfileFailures failures;  // of files

  MsaccucmpCounts& operator+=(MsaccucmpCounts&& more);
};

// The rows of one operator.
struct MsaccucmpOpRows {
  std::vector<MsaccucmpRow> rows;
  MsaccucmpCounts counts;

  void add_unmatched(MsaccucmpRow row, std::string reason);
  void add_not_compared(MsaccucmpRow row, std::string reason);
  // Adds the metrics, or the reason why there are none. An error only when interrupted.
  Status add(MsaccucmpRow row, Result<MsaccucmpMetrics>&& metrics);
};

// Dump files against dump files ("NPU vs NPU"), as msaccucmp compares them without a fusion rule.
//
//   operators     by the exact name in the file name: operators numbered by another process do not match. First those of
//                 the candidate by time stamp, then those that only the reference has
//   files         the last one of an operator by time stamp; two single files are a pair whatever their names
//   tensors       inputs with inputs, outputs with outputs, by position. If their number or a device shape differs, none
//                 of them has a row; if that holds for inputs and outputs, one row says why
//   elements      in host format if the file has the host's shape and the tool a conversion (is_restored); else as they
//                 lie on the device, with padding
//   OpType        "NaN" for an operator without a partner and for a file with a hashed name
//   Shape, scalar those of the device
//
// A row of NaN with the reason replaces an exception of the tool, which it throws for two reasons. Host shapes differ
// although device shapes do not, or a file of the reference cannot be read. dtypes that the tool does not know are compared.
// BOOL is 0 and 1.

struct MsaccucmpFilePair {
  FileId a, b;  // in the sides' DumpIndex::files(); at least one is set
};

// For sides with dump files only, each in one folder.
[[nodiscard]] std::vector<MsaccucmpFilePair> pair_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b);

// An error only when interrupted.
Result<MsaccucmpOpRows> compare_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                           const MsaccucmpFilePair& pair, const CancelToken& cancel);

// True if the tool converts such a tensor to host format.
[[nodiscard]] bool is_restored(const PlanRequest& tensor);

// Any two dumps in msaccucmp's form, at least one of which holds arrays. The tool itself compares dump files with
// arrays of the original network through a fusion rule file, and rejects the rest. Here operators and tensors are
// paired as in msdump diff, and rows are those that the tool writes for 1:1 operators:
//
//   operators     those of the candidate in their order, then those that only the reference has
//   NPUDump       the candidate's name; GroundTruth: the reference's
//   Shape, scalar those of the candidate in host format; arrays with equally many elements are compared
//   DataType      numpy's, after widening: bfloat16 is float32. Two bool tensors stay bool
//   no partner    a tensor of the candidate has a row of NaN; an operator that only the reference has, one

struct MsaccucmpTensorPairs {
  Pairing pairing;
  std::vector<std::vector<TensorId>> operators;  // by operator in the order of rows
};

[[nodiscard]] MsaccucmpTensorPairs pair_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b);

// An error only when interrupted.
Result<MsaccucmpOpRows> compare_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                        const MsaccucmpTensorPairs& pairs, const std::vector<TensorId>& tensors,
                                        const CancelToken& cancel);

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const RunContext& context, const ProfileSink& sink);

}  // namespace msdump
