// Two texts of another tool's result: equal numbers may have other digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/msprobe/msprobe_python.h"

namespace msdump::test {

inline constexpr double kSameNumber = 1e-6;  // relative

// "1.5", " inf", "12.5%".
inline std::optional<double> number_in_cell(std::string_view text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (text.ends_with('%')) text.remove_suffix(1);
  return decimal_value(text);
}

// True if both are the same text, or numbers that differ by at most 1e-6 relative or one unit of the last decimal printed.
inline bool same_cell(std::string_view ours, std::string_view theirs, double last_decimal = 1e-12) {
  if (ours == theirs) return true;
  const auto x = number_in_cell(ours), y = number_in_cell(theirs);
  if (!x || !y) return false;
  return std::fabs(*x - *y) <= kSameNumber * std::max(std::fabs(*x), std::fabs(*y)) + 1.5 * last_decimal;
}

// The cells of a CSV, line by line; quotes protect commas and line ends.
inline std::vector<std::vector<std::string>> csv_cells(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line;
  std::string cell;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      line.push_back(std::move(cell));
      cell.clear();
      if (c == '\n') lines.push_back(std::move(line));
      if (c == '\n') line.clear();
    } else {
      cell += c;
    }
  }
  return lines;
}

}  // namespace msdump::test
