// --junit: the findings as test cases, one for each rule that is on and each group of operators it looked at.
#pragma once

#include "base/error.h"
#include "check_run.h"

namespace msdump::cli {

Status write_junit(const CheckRun& run, const std::string& path, check::Severity fail_level);

}  // namespace msdump::cli
