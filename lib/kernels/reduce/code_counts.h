// Counts floating-point elements by their codes where values say too little: subnormal ones, which have lost digits on
// their way to zero, and those at the edge of the type, where saturating hardware puts what is too large.
//
//   subnormal       exponent bits all zero, and not zero: below 6.1e-5 of float16, 1.2e-38 of float32 and bfloat16
//   at the edge     exactly the largest finite value: 65504 of float16, 448 of float8_e4m3fn, 57344 of float8_e5m2
//
// Integers, types with exponents alone (float8_e8m0) and four-bit types, where every scale makes use of the edge, have
// neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace msdump::kernels {

// What to look for in elements of one type. All codes are without the sign, which is the highest bit.
struct CodeRule {
  uint32_t bytes = 4;           // of an element: 1, 2, 4 or 8
  uint64_t last_subnormal = 0;  // the first is 1
  uint64_t edge = 0;
};

// `original` is the dtype before the elements were stored as `stored`: a float32 at the edge of bfloat16 is at an edge.
// No value for dtypes that have neither.
[[nodiscard]] std::optional<CodeRule> code_rule(DType stored, DType original);

struct CodeCounts {
  uint64_t subnormal = 0, positive_edge = 0, negative_edge = 0;

  auto operator<=>(const CodeCounts&) const = default;
};

// Adds the counts of `count` elements. Any alignment.
void count_codes(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts);

// The definition, one element at a time. The oracle of the tests; slow.
void count_codes_reference(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts);

}  // namespace msdump::kernels
