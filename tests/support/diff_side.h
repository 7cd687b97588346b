// A side of a comparison, opened as `msdump diff` opens it.
#pragma once

#include <filesystem>
#include <memory>

#include "divergence/dump_diff.h"

namespace msdump::test {

// The dump at `path`, with the graphs that lie in it.
[[nodiscard]] std::unique_ptr<DiffSide> open_diff_side(const std::filesystem::path& path, const RunContext& context,
                                                       const SelectionOptions& asked = {});

}  // namespace msdump::test
