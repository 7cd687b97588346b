// msdump diff --report: the rows, the roots and the data flow of a comparison as a page.
#pragma once

#include "base/error.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"

namespace msdump::cli {

// Reads the tensors of the evidence once more, for their pictures.
Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run);

}  // namespace msdump::cli
