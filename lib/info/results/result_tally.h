// Counts the verdicts of a file of results. Internal to lib/info/results.
#pragma once

#include <algorithm>

#include <string>
#include <string_view>

#include "info/results/result_file.h"

namespace msdump {

class ResultTally {
 public:
  ResultTally(ResultFile& file, const ResultVisitor& visit) : file_(file), visit_(visit) {}

  // One verdict of the current row.
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

}  // namespace msdump
