// msprobe's comparison of statistics: a difference and a percentage for each of the four, as texts.
//
//   equal as texts        "0" and "0"
//   numbers               a - b and |(a - b) / b * 100| with "%"; "inf" in its place when b is 0
//   with a NaN            "Nan"; with infinities "inf" or "-inf"; N/A stays "N/A"; other texts "Diff"
// The numbers are what pandas reads from the texts. pandas 3 reads exactly; pandas 2 takes 17 digits (leading zeros count)
// and one power of ten, so its last digits differ.
// Source: reference/compare-and-check.md 2.4, reference/verified-on-real-msprobe.md 5.
#pragma once

#include <string>
#include <string_view>

#include "compare/match/msprobe/msprobe_python.h"

namespace msdump {

struct StatisticDifference {
  std::string difference, relative;
};

[[nodiscard]] StatisticDifference msprobe_difference(const PythonValue& a, const PythonValue& b, bool pandas2);

// A decimal number as pandas 2 reads it; nothing for other texts.
[[nodiscard]] std::optional<double> pandas2_number(std::string_view text);

}  // namespace msdump
