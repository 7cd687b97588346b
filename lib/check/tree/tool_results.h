// Results of msprobe's tools that lie in the dump (info/results/result_file.h). Each row that failed is a finding, about the
// operator of the dump that the row names.
#pragma once

#include "check/rules/rule_context.h"
#include "dump/index/selection.h"
#include "dump/names/file_kind.h"

namespace msdump::check {

// True if rows of such files are findings. Rows of msprobe's compare are not: they are about two dumps.
[[nodiscard]] bool has_tool_results(FileKind kind);

// Reports at most a thousand rows of a file, then one finding that counts the others. A row about a whole operator is left
// out if the details of the same run say which output failed. Files and rows that cannot be read are failures.
void judge_tool_results(RuleContext& context, const Selection& selection);

}  // namespace msdump::check
