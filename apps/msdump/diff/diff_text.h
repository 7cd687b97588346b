// What msdump diff says to people: where it began, in five lines a root; one pair of tensors in full; the formulas.
#pragma once

#include <string>

#include "diff/diff_result.h"

namespace msdump::cli {

// The first roots; how many more there are. When something differs and nothing stands out, that.
[[nodiscard]] std::string divergence_text(const DiffResult& run);
// All metrics of the one pair, one a line.
[[nodiscard]] std::string pair_text(const DiffResult& run);
// The worst elements and the axes, where they were asked for.
[[nodiscard]] std::string closer_text(const DiffResult& run, uint32_t tensor);
[[nodiscard]] std::string metrics_text();

}  // namespace msdump::cli
