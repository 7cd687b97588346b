// msdump diff --explain: the account of one operator, run by run.
#pragma once

#include <string>

#include "divergence/dump_diff.h"
#include "report/value.h"

namespace msdump::cli {

[[nodiscard]] std::string explain_text(const DiffResult& run);
[[nodiscard]] report::List explain_value(const DiffResult& run);

}  // namespace msdump::cli
