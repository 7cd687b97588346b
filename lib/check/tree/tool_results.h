// What the tools of msprobe found, where their files lie in the dump (info/results/result_file.h): each row that failed is a
// finding, about the operator of the dump that it names if there is one.
#pragma once

#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "dump/index/selection.h"
#include "dump/names/file_kind.h"
#include "io/run_context.h"

namespace msdump::check {

// Are rows of such files findings? Those of compare are not: they are about two dumps.
[[nodiscard]] bool has_tool_results(FileKind kind);

// At most a thousand rows of a file, then one finding that counts the others. A row about a whole operator is left out
// if the details of the same run say which of its outputs failed. Files and rows that cannot be read are in `failures`.
void judge_tool_results(const CheckedDump& dump, const Selection& selection, const RuleSet& rules,
                        const CancelToken& cancel, std::vector<Finding>& findings, std::vector<Error>& failures);

}  // namespace msdump::check
