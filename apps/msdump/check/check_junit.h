// --junit: the findings as test cases, one for each rule that was judged and each group of operators.
// There is a failure or an error wherever the exit code is not 0.
#pragma once

#include "base/error.h"
#include "check/check_run.h"

namespace msdump::cli {

// `checked`: false if nothing was selected.
Status write_junit(const check::CheckRun& run, const std::string& path, check::Severity fail_level, bool checked);

}  // namespace msdump::cli
