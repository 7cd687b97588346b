// msdump diff --report: the rows, the roots and the data flow of a comparison as a page; --summary: the head of it for CI.
#pragma once

#include "base/error.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// --summary: the answer, the first causes and ten rows in Markdown. `code`: that of the run.
Status write_diff_summary(const DiffResult& run, const DiffOptions& options, ExitCode code);

// Reads the tensors of the evidence once more, for their pictures.
Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run);

}  // namespace msdump::cli
