// Opens both sides of msdump diff and compares them.
#pragma once

#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// One side's share of the selection: --a-rank stands for --rank.
[[nodiscard]] SelectionOptions selection_of(const DiffOptions& options, const std::string& rank,
                                            const std::string& step);

Result<DiffResult> compute_diff(Session& session, const DiffOptions& options, DiffRules& rules);

// With --shard: compares a share of the pairs, and writes the part to `path`.
[[nodiscard]] ExitCode write_diff_part(Session& session, const DiffOptions& options, const DiffRules& rules,
                                       const std::string& path);

}  // namespace msdump::cli
