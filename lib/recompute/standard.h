// CANN's precision standards for operators: judges an output (y) by what is expected in double precision (g), and by the output of
// another device (r) for the same inputs.
//
//   cann      |y - g| <= a + a |g| for 99 % of the elements; the largest |y - g| is at most the floor, or 32 ULP of g there
//   cann:L0   MARE(y) <= 10 MARE(r), MERE(y) <= 2 MERE(r), RMSE(y) <= 2 RMSE(r)   of elements with |g| >= T
//   cann:L1              5                 1.5               1.5
//   cann:L2              2                 1.2               1.2
//   all of L  ErrorCount(y) <= 2 max(ErrorCount(r), 1)                            of elements with |g| < T
//
// MARE and MERE are the largest and the mean |y - g| / (|g| + 1e-7), RMSE is the root of the mean (y - g)^2, ErrorCount the elements
// with |y - g| > e. With a level, NaN and infinities of y have to be those of r, or of g rounded to the dtype; elements where r alone
// is not finite are left out; integers and outputs of moves have to be equal to g. `cann` has no rule for these two.
// a, floor, T and e depend on the dtype (standard.cpp).
//
// Sources: repository cann/opbase (gitcode.com/cann/opbase), docs/zh/ops_precision_standard:
//   cann      mixed_tolerance_standard.md, commit a5e8e716 (2026); earlier texts have other limits
//   cann:L    commercial_standard.md, commits 60496434 to 56922c3e (April 2026); removed since
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recompute/array.h"

namespace msdump::recompute {

enum class Standard : uint8_t { kOpen, kL0, kL1, kL2 };
[[nodiscard]] constexpr Standard last_of(Standard) { return Standard::kL2; }
[[nodiscard]] std::string_view name_of(Standard standard);

// Errors of one output against what is expected.
struct OutputErrors {
  double mare = 0, mere = 0, rmse = 0;
  int64_t small_errors = 0;
};

struct StandardVerdict {
  bool passes = false;
  std::string reason;                // if it does not pass: "MARE 12 times that of the reference (limit 10)"
  std::optional<OutputErrors> y, r;  // of the levels, where elements are floats that are computed
  std::optional<double> matched, largest, largest_limit;  // of kOpen: the share of elements, and the largest error
};

// `g`: of as many elements, not rounded. `moves`: it copies elements. `r`: null for kOpen. None: the standard has no rule.
[[nodiscard]] std::optional<StandardVerdict> judge_by(Standard standard, const Array& y, const Array& g, bool moves,
                                                      const Array* r);

// The number of this dtype nearest to `value`, ties to even; an infinity beyond its range. NaN where an integer type does not hold
// it, or a double does not tell it from its neighbours. None for dtypes of other kinds, and floats of less than 16 bits.
[[nodiscard]] std::optional<double> round_to(DType dtype, double value);

}  // namespace msdump::recompute
