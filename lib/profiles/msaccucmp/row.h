// A row of msaccucmp's result CSV, and the rows of an operator.
//
//   Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,<ten algorithms>,CompareFailReason
//
// The tool uses Python's csv module: lines end in \r\n, a field with a comma, a quote or a line end is quoted. A side with
// arrays (.npy) has no Address, not even in the header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/op_sequence.h"
#include "dump/index/selection.h"
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

// Which sides have an Address.
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
  // With the metrics, or why there are none. An error only when interrupted.
  Status add(MsaccucmpRow row, Result<MsaccucmpMetrics>&& metrics);
};

}  // namespace msdump
