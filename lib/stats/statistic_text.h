// The text of a statistic.csv, byte for byte as a dialect writes it: header, rows, cells. Fields are not escaped, because
// the writer does not.
// Source: reference/dump-layouts-and-statistics.md 3.1 to 3.5.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/dialect.h"
#include "stats/tensor_statistics.h"

namespace msdump::stats {

struct TextStyle {
  const Dialect* dialect = &newest_dialect();
  std::vector<StatisticColumn> columns;
  bool exact = false;  // numbers in full instead of six digits
};

[[nodiscard]] std::string header_line(const TextStyle& style);
[[nodiscard]] std::string row_line(const TextStyle& style, const DumpIndex& index, const TensorRecord& tensor,
                                   const TensorStatistics& statistics);

// One value as its column has it.
[[nodiscard]] std::string cell_text(const TextStyle& style, StatisticColumn column, const TensorStatistics& statistics);
[[nodiscard]] std::string shape_text(const Dialect& dialect, const Shape& shape);  // "(2,3)" or "[2,3]"

// A double as std::ostream prints it: "%g", with the sign of a NaN.
[[nodiscard]] std::string six_digits(double value);

}  // namespace msdump::stats
