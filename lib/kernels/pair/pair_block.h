// One block of at most kPairBlock pairs, in each of its forms. Internal to lib/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pair/pair_facts.h"

namespace msdump::kernels {

// `stored` as element::stored_as has it, neither complex nor one that needs widening. `magnitudes` gets d of each pair,
// 0 for those that are not finite.
[[nodiscard]] BlockFacts block_facts_reference(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                               const PairRule& rule, Magnitudes& magnitudes);

// complex64 and complex128, element by element: there is no vector form.
[[nodiscard]] BlockFacts complex_block_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                             const PairRule& rule, Magnitudes& magnitudes);

// The largest distance between two codes of one byte or less among the finite pairs: in steps from one value of the
// dtype to the next.
[[nodiscard]] uint64_t max_ulp_of_codes(DType dtype, const std::byte* a, const std::byte* b, int64_t count);

}  // namespace msdump::kernels
