// --junit of msdump diff: the differences as test cases, one for each layer (graph/scope_name.h) and kind of tensor.
//
//   failure   where something differs that --fail-on is for, and where a root is. There is one if the exit code is 1, and none
//             if it is 0
//   error     where inputs failed (exit code 3), or nothing was compared (2)
// Differences that do not count are the case's output: explained or accepted ones.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"

namespace msdump::cli {

Status write_diff_junit(const DiffResult& run, const DiffOptions& options);

// The file of a run that compared nothing: the selection matches no tensor, or `errors` say why.
Status write_empty_junit(const std::string& path, const std::vector<Error>& errors);

}  // namespace msdump::cli
