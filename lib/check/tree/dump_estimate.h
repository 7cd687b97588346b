// Estimates what a dump will write in a step, from the operators of an IR and a data_dump.json.
//
//   1. each operator with a kernel once, with the inputs and outputs that the IR gives types for
//   2. dump_mode and kernels choose operators, input_output their tensors, saved_data tensors or rows of statistic.csv
//   3. trans_flag chooses between the types on the host and on the device; sample_mode 1 cuts each tensor
//   4. an .npy file has a header of 128 bytes; bfloat16 takes 4 bytes in it
//   5. parameters are written once a step with the outputs, except on Ascend from 2.3 on, and never with dump_mode 1
//   6. tuples of numbers (a shape, axes) are not tensors
//   7. op_debug_mode 4 (2.3 and later) leaves only parameters unless the device is Ascend
//
// The IR does not tell how often a loop runs (an operator counts once), nor how many operators fail in a debug mode
// (all count). Some small inputs that kernels do not read are left out by MindSpore. Checked against dumps of real
// runs: within 6 % of the files and 2 % of the bytes, half of them to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/data_dump.h"
#include "graph/op_graph.h"

namespace msdump {

struct DumpEstimateRow {
  std::optional<int64_t> rank, graph;
  uint64_t operators = 0;   // with at least one tensor
  uint64_t tensors = 0;     // files
  uint64_t statistics = 0;  // rows of statistic.csv
  uint64_t bytes = 0;       // of the files; a row of statistic.csv counts kStatisticRowBytes
  uint64_t unsized = 0;     // tensors among them whose size the IR does not say
};

struct DumpEstimate {
  static constexpr uint64_t kStatisticRowBytes = 160;

  std::vector<DumpEstimateRow> rows;  // of one step, one a graph; graphs of which nothing is written are left out
  bool all_steps = true;
  std::optional<uint64_t> steps;               // how many are selected; absent if all are, or too many to count
  std::vector<std::string> unmatched_kernels;  // items of `kernels` that match no operator of the IR, as written
  // Names of the IR that were probably meant, for the first kMostNearest of unmatched_kernels; may be empty.
  static constexpr size_t kMostNearest = 10;
  std::vector<std::string> nearest;
  bool at_most = false;  // a debug mode writes a part of it

  [[nodiscard]] uint64_t tensors() const;
  [[nodiscard]] uint64_t bytes() const;
};

[[nodiscard]] DumpEstimate estimate_dump(const OpGraph& graph, const DataDump& dump, const Setup& setup);

}  // namespace msdump
