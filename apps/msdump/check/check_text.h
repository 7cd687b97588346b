// Text that msdump check prints, and its JUnit file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/check.h"

namespace msdump::cli {

struct ShownFindings {
  std::vector<const check::Finding*> rows;
  size_t more = 0, inputs = 0;  // left out: beyond the number, or because another row says the same
};
struct ShownKinds {
  bool table = true;
  bool all = false;         // the table has every finding
  bool with_notes = false;  // the table has notes
};
[[nodiscard]] ShownFindings shown_findings(const check::CheckRun& run, const ShownKinds& kinds);

// Texts about the first operator with its line and ranges, and about the result.

// "input 0 float32", and its values: "-89.1 .. 93.2", "24 +inf of 96, the others 0 .. 3e+38"; empty if not known.
[[nodiscard]] std::string tensor_head(const check::CheckRun& run, TensorId tensor);
[[nodiscard]] std::string values_text(const check::CheckRun& run, TensorId tensor);
// "the first NaN". The report must have a first operator.
[[nodiscard]] std::string first_heading(const check::CheckRun& run);

// Empty if nothing is NaN or infinite and no overflow was recorded.
[[nodiscard]] std::string first_text(const check::CheckRun& run);
inline constexpr const char* kDivergenceHeading = "the first place where ranks differ";
// Empty if no rank diverged.
[[nodiscard]] std::string first_divergence_text(const check::CheckRun& run);
// The hints of all findings, each once; empty if there are none.
[[nodiscard]] std::string hints_text(const check::CheckRun& run);
// "30 of 42 calls of collectives judged; 8 may not have ended when dumped, 4 cut .."; empty if all were.
[[nodiscard]] std::string collectives_text(const check::CheckRun& run);
// "1144 of 1208 operators computed again, 1 wrong; 60 old_value, 4 no_kernel"; empty if nothing was.
[[nodiscard]] std::string recompute_text(const check::CheckRun& run);
// "golden of 3 of 5 outputs written, 2 of 3 outputs judged by cann:L0 pass; 1 no_input, 1 unknown_argument".
[[nodiscard]] std::string golden_text(const check::CheckRun& run);
// "2 of 3 calls overflowed (nan_check)"; empty if msprobe did not look for overflows.
[[nodiscard]] std::string overflowed_calls_text(const check::CheckRun& run);
// "1237 tensors: 8 errors (nan 6, inf 2), 1 warning (saturation 1), 12 notes"
[[nodiscard]] std::string check_summary_text(const check::CheckRun& run);

// --junit: the findings as test cases, one for each rule that was judged and each group of operators.
// A failure or an error is in it if the exit code is not 0.

// `checked`: false if nothing was selected.
Status write_junit(const check::CheckRun& run, const std::string& path, Severity fail_level, bool checked);

}  // namespace msdump::cli
