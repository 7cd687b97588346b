// One data row of a statistic.csv, taken apart from both ends; the grammar is in tables/statistic_csv.h.
#pragma once

#include <string>
#include <string_view>

#include "tables/statistic_csv.h"

namespace msdump {

// Fills everything of `row` except its place in the file, reusing its memory. False, with the reason in `why`, leaves
// `row` in no usable state.
[[nodiscard]] bool parse_statistic_row(std::string_view text, const StatisticHeader& header, StatisticRow& row,
                                       std::string& why);

}  // namespace msdump
