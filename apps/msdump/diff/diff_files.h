// The files that msdump diff writes beside its rows: --write-baseline, --junit, --summary and --report.
#pragma once

#include <string>
#include <vector>

#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// --write-baseline: writes the differences of a run, and what they are of. If inputs could not be read, it warns and writes nothing: the
// baseline would accept less than before.
Status write_baseline(Session& session, const DiffOptions& options, const DiffResult& run);

// kUsage for a baseline that was made of something else, unless --baseline-stale use, which warns.
Status check_baseline(Session& session, const DiffOptions& options, const DiffResult& run, const DiffRules& rules);

// --junit: the differences as test cases, one for each layer (graph/scope_name.h) and kind of tensor.
//
//   failure   where something differs that --fail-on is for, and where a root is. There is one if the exit code is 1, and none
//             if it is 0
//   error     where inputs failed (exit code 3), or nothing was compared (2)
// Differences that do not count are the case's output: explained or accepted ones.
Status write_diff_junit(const DiffResult& run, const DiffOptions& options);

// The file of a run that compared nothing: the selection matches no tensor, or `errors` say why.
Status write_empty_junit(const std::string& path, const std::vector<Error>& errors);

// --summary: the answer, the first causes and ten rows in Markdown. `code`: that of the run.
Status write_diff_summary(const DiffResult& run, const DiffOptions& options, ExitCode code);

// --report: the rows, the roots and the data flow of a comparison as a page. Reads the tensors of the evidence once more, for
// their pictures.
Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run);

}  // namespace msdump::cli
