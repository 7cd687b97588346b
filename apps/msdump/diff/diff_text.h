// The text of msdump diff for people: the first divergence in five lines per root; one pair of tensors in full; the
// formulas.
#pragma once

#include <string>

#include "divergence/dump_diff.h"

namespace msdump::cli {

// The first roots and the number of further ones, or that no operator stands out.
[[nodiscard]] std::string divergence_text(const DiffResult& run);
// A line for each reason why tensors have no partner although nothing is wrong; empty when there are none.
[[nodiscard]] std::string expected_text(const DiffResult& run);
// All metrics of the only pair, one per line.
[[nodiscard]] std::string pair_text(const DiffResult& run);
// The worst elements and the axes, if requested.
[[nodiscard]] std::string closer_text(const DiffResult& run, uint32_t tensor);
[[nodiscard]] std::string metrics_text();

}  // namespace msdump::cli
