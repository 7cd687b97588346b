// The rows of a report as columns, for the page of --report: cells are taken out of the rows of machine output, and
// become JSON of a size that a browser can read at once.
//
//   {"count":2,"columns":[{"key":"op_name","title":"op name","shown":true,"words":["","a","b"],"cells":[1,2]},
//                         {"key":"error","title":"error","shown":true,"numbers":[0.0012,"inf"]}]}
//
// A text is a place in the column's `words`, of which the first is for a cell without text. Numbers have five digits,
// because people read them; NaN and infinities are the texts of machine output; null is an absent number. The text of a
// column KEY_note stands beside the number of the column KEY. Texts are
// escaped as for a terminal, and end after kMostPageText bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/value.h"

namespace msdump::report {

inline constexpr size_t kMostPageText = 1000;

struct PageColumn {
  enum class Kind : uint8_t { kText, kNumber };

  std::string key, title;
  Kind kind = Kind::kText;
  bool shown = true;                            // in the table, else only where one row is shown in full
  std::function<Value(const Row&)> value = {};  // of a row; by default what it has at `key`, a dotted path
};

class PageTable {
 public:
  using Cells = std::vector<std::string>;  // by column: texts, and numbers as JSON

  explicit PageTable(std::vector<PageColumn> columns);

  // The cells of a row: several threads may make them.
  [[nodiscard]] Cells cells_of(const Row& row) const;
  void add(const Cells& cells);

  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] const std::vector<PageColumn>& columns() const { return columns_; }
  // A cell as people read it; empty for none.
  [[nodiscard]] std::string text(size_t row, size_t column) const;
  void append_json(std::string& into) const;

 private:
  struct Content {
    std::vector<std::string> words = {""};
    std::unordered_map<std::string, uint32_t> places;  // of `words`, by the text before it was escaped
    std::vector<uint32_t> cells;
    std::string numbers;  // as JSON, with commas between them
    std::vector<size_t> ends;
  };

  std::vector<PageColumn> columns_;
  std::vector<Content> contents_;  // by column
  size_t rows_ = 0;
};

// A number with five digits, as JSON; "null" for anything else.
[[nodiscard]] std::string short_number(const Value& value);

}  // namespace msdump::report
