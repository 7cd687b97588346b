// What diff says of the layouts of runs that are cut differently over their ranks, beside the rows.
#pragma once

#include <string>

#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// --write-layout: complete or not at all. A note where the runs are not cut differently.
Status write_layouts(Session& session, const DiffResult& run, const std::string& path);

// "candidate: 8 ranks, reference: 1; 190 of 194 tensors put together"; empty where the runs are not cut differently.
[[nodiscard]] std::string cuts_text(const DiffResult& run);

}  // namespace msdump::cli
