// What msdump check prints for people: the first operator with its line and ranges, and what to do.
#pragma once

#include <string>

#include "check/check_run.h"

namespace msdump::cli {

// Empty if nothing is NaN or infinite and no overflow was recorded.
[[nodiscard]] std::string first_text(const check::CheckRun& run);
// The hints of all findings, each once; empty if there are none.
[[nodiscard]] std::string hints_text(const check::CheckRun& run);
// "1237 tensors: 8 errors (nan 6, inf 2), 1 warning (saturation 1), 12 notes"
[[nodiscard]] std::string check_summary_text(const check::CheckRun& run);

}  // namespace msdump::cli
