// --write-baseline and --baseline of msdump diff: what a baseline is made of, and whether it still fits.
#pragma once

#include "compare/accept/baseline.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// Not written, with a warning, if inputs could not be read: it would accept less than before.
Status write_baseline(Session& session, const DiffOptions& options, const DiffResult& run);

// kUsage for a baseline that was made of something else, unless --baseline-stale use, which warns.
Status check_baseline(Session& session, const DiffOptions& options, const DiffResult& run, const DiffRules& rules);

}  // namespace msdump::cli
