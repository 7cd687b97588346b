// --junit: the findings as test cases, one for each rule that is on and each group of operators.
#pragma once

#include "base/error.h"
#include "check/check_run.h"

namespace msdump::cli {

Status write_junit(const check::CheckRun& run, const std::string& path, check::Severity fail_level, bool only_first);

}  // namespace msdump::cli
