// Results of msprobe's tools: a row for each operator or tensor that they judged, whichever file has it.
//
//   accuracy_checking_result_TIME.csv       acc_check: API name, Forward Test Success, Backward Test Success, Message
//   accuracy_checking_details_TIME.csv      API Name (with .forward.output.0), .., Status, Message
//   api_precision_compare_result_TIME.csv   as acc_check's, of two details; .._details_TIME.csv has 比对结果 for Status
//   compare_result_TIME.csv                 compare: NPU Name, Bench Name, .., Result, Err_message; before 2026
//                                           Accuracy Reached or Not (Yes, No)
//   free_benchmark.csv                      before 2026: rank, pert_mode or pert_type, stage, step, api_name, max_rel,
//                                           dtype, shape, output_index; each row is an output that changed too much
//   anomaly_analyze_TIME.json               overflow_check: {"rank_3": [{"op_name", "data_info", "construct_info",
//                                           "stack_info": ["File a.py, line 3, in f, \n CODE", ..]}, ..]}
//   diff_analyze_TIME.json                  the same of compare (which operator differs first)
//   anomaly.json, anomaly_analyse.json      monitor: {KEY: {"rank", "step", "micro_step", .., "tag_name", "message"}}
//                                           tag_name: STAGE:NAME[:MICRO_STEP]/rankR/METRIC
// A verdict is pass, warning, error, SKIP in any case, or blank. A row may lack its last fields; fields hold line ends.
// Columns are found by their titles, so that other columns do not matter.
//
// Sources:
//   msprobe 26.2.0  pytorch/api_accuracy_checker/compare/{compare,compare_utils,api_precision_compare}.py,
//                   mindspore/api_accuracy_checker/data_manager.py, overflow_check/{analyzer,graph}.py,
//                   core/compare/find_first/analyzer.py, core/monitor/anomaly_processor.py
//   mstt            pytorch/free_benchmark/common/params.py
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "io/file.h"
#include "io/run_context.h"

namespace msdump {

enum class ResultVerdict : uint8_t { kPassed, kSkipped, kWarning, kError };

struct ResultRow {
  ResultVerdict verdict = ResultVerdict::kPassed;
  std::string op_name;   // "Torch.sqrt.0.forward"; of monitor as its tables have it, "layers.0"
  std::string op_type;   // of monitor: what was monitored, "actv_grad"; else empty
  std::string io, slot;  // "output", "0"; empty: the operator itself
  std::optional<int64_t> rank, step;
  std::optional<double> value;  // free_benchmark: how much the output changed
  std::string message;          // one line; may be empty
  std::string source;           // "a.py:3  CODE", of the innermost frame that was recorded
  uint64_t offset = 0;          // of the row in the file
};

// Called for each verdict, in the order of the file: a row of results by operator has one of each direction.
using ResultVisitor = std::function<void(const ResultRow&)>;

struct ResultFile {
  std::vector<std::string> columns;  // of a table
  int64_t rows = 0;
  int64_t failed = 0, warnings = 0, skipped = 0;  // rows, by their worst verdict
  std::optional<ResultRow> first_failed;          // an error, else a warning
  ProblemList problems;                           // of bad rows
};

// Counts the verdicts of a file of results. Internal to lib/info/results.

class ResultTally {
 public:
  ResultTally(ResultFile& file, const ResultVisitor& visit) : file_(file), visit_(visit) {}

  // Counts a verdict of the current row.
  void take(const ResultRow& row) {
    worst_ = std::max(worst_, row.verdict);
    const bool better = row.verdict == ResultVerdict::kError && file_.first_failed &&
                        file_.first_failed->verdict == ResultVerdict::kWarning;
    if (row.verdict >= ResultVerdict::kWarning && (!file_.first_failed || better)) file_.first_failed = row;
    if (visit_) visit_(row);
  }

  void end_row() {
    ++file_.rows;
    file_.failed += worst_ == ResultVerdict::kError ? 1 : 0;
    file_.warnings += worst_ == ResultVerdict::kWarning ? 1 : 0;
    file_.skipped += worst_ == ResultVerdict::kSkipped ? 1 : 0;
    worst_ = ResultVerdict::kPassed;
  }

 private:
  ResultFile& file_;
  const ResultVisitor& visit_;
  ResultVerdict worst_ = ResultVerdict::kPassed;
};

// A message of any length as one line of at most 400 bytes.
[[nodiscard]] std::string one_line(std::string_view text);

// Tables of results (info/results/result_file.h).

// bad_csv if the columns are not those of such a table, too_large beyond 1 GiB. After an interruption the result is
// incomplete.
Result<ResultFile> read_result_csv(const File& file, const CancelToken& cancel, const ResultVisitor& visit);

// Results in JSON (info/results/result_file.h).

// bad_json; too_large beyond 1 GiB, and a problem for a member of more than 64 MiB.
Result<ResultFile> read_result_json(const File& file, const ResultVisitor& visit);

}  // namespace msdump
