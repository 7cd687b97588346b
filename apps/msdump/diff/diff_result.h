// Opens both sides of msdump diff and compares them; the layouts of their tensors over ranks.
#pragma once

#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// The selection of one side: --a-rank stands for --rank.
[[nodiscard]] SelectionOptions selection_of(const DiffOptions& options, const std::string& rank,
                                            const std::string& step);

// Opens a path as the reference, with the selection that `options` have for it.
Result<std::unique_ptr<DiffSide>> open_reference(const RunContext& context, const DiffOptions& options,
                                                 const std::string& path);
Result<DiffResult> compute_diff(Session& session, const DiffOptions& options, DiffRules& rules);

// Compares a share of the pairs (--shard), and writes the part to `path`.
Result<ExitCode> write_diff_part(Session& session, const DiffOptions& options, const DiffRules& rules,
                                 const std::string& path);

// --write-layout: complete or not at all. A note if no tensor is sharded.
Status write_layouts(Session& session, const DiffResult& run, const std::string& path);

// The summary of two runs that are sharded differently: how many ranks each has, and how many of the paired tensors were
// assembled. Empty if both are sharded alike.
[[nodiscard]] std::string placements_text(const DiffResult& run);

}  // namespace msdump::cli
