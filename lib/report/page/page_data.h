// The rows of a report as columns, for the page of --report. Cells come from the rows of machine output, and become JSON
// of a size that a browser can read at once.
//
//   {"count":2,"columns":[{"key":"op_name","title":"op name","shown":true,"words":["","a","b"],"cells":[1,2]},
//                         {"key":"error","title":"error","shown":true,"numbers":[0.0012,"inf"]}]}
//
// A text is a place in the column's `words`, of which the first is for a cell without text. Numbers have five digits,
// because people read them; NaN and infinities are the texts of machine output; null is an absent number. The text of a
// column KEY_note stands beside the number of the column KEY. Texts are
// escaped as for a terminal, and end after kMostPageText bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
  bool shown = true;                            // in the table, else only if a row is shown in full
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

// The rows of a large run that its page holds. A page of all rows of a million tensors could not be sent or opened.
//
//   1. those that are marked: the evidence of what went wrong
//   2. of each two-thousandth of the run, for each kind of row, the ones with the largest and the smallest error: at the
//      width of a screen the chart looks the same
//   3. then those that differ, in order, as long as there is room

inline constexpr size_t kMostPageRows = 100'000;

struct PagePoint {
  double error = 0;  // NaN for none
  uint8_t kind = 0;  // a verdict
  bool marked = false, differs = false;
};

// Places in `points`, ascending: all of them if they are at most `most`.
[[nodiscard]] std::vector<size_t> page_sample(const std::vector<PagePoint>& points, size_t most = kMostPageRows);

// The data that the script of a page draws, as JSON; the page holds it packed (page.h).
//
//   {"kind":"diff","command":["msdump","diff","a","b"],"all":N,"rows":TABLE,"points":TABLE|null,
//    "classes":[{"key":"noise","style":"rounding","text":"noise","count":N}, ..],
//    "dumps":[{"role":"candidate","paths":["a"],"at":"a_at","several":["rank"]}, ..],
//    "flow":true,"edges":[run,run,row,gap, run,run,row,gap, ..],"causes":[{"rows":[row, ..]}, ..],
//    "pictures":[{"row":row,"histogram":..,"map":..,"worst":..,"axes":..}, ..],
//    "tokens":null|{"rows":[[first,last,count], ..],"columns":[[sequence,position,id,count,text], ..],
//              "cells":[error,null, ..],"first":[row,column]|null}}
//
// TABLE: see above. `points`: the points of the chart if these are not the rows. `all`: the number of rows in machine
// output. `classes`: the legend, with counts of all points, also of those that the page leaves out; the column
// `class` of a point has a key. `dumps`: the dumps that hold the elements of a point. Its column `at` is "=" if its
// own name and place find them, the list [rank, step, io, slot, op_name] if they do not, and empty if there are none.
// `several`: what the dump has more than one of, "rank" or "step". `flow`: false if no operator ran. An edge leads
// from an execution of an operator to one that reads its result. `row` shows that tensor (null: no row does).
// `tokens`: the largest error of some tokens, a column, in some outputs, a row; row by row, null if there is none.
// Executions are numbered as in the column `run` of the points, else of the rows. `gap` is 1 if an operator between
// them was not dumped.

struct PageClass {
  std::string key, style, text = {};  // style: one of those in page.css, which have a color and a shape
  uint64_t count = 0;
};

struct PageSide {
  std::string role;
  std::vector<std::string> paths;
  std::string at;
  bool several_ranks = false, several_steps = false;
};

struct PageEdge {
  uint32_t from = 0, to = 0;
  std::optional<size_t> row;
  bool gap = false;
};

struct PageData {
  std::string kind;
  std::vector<std::string> command;
  uint64_t all = 0;
  const PageTable* rows = nullptr;
  const PageTable* points = nullptr;
  std::vector<PageClass> classes;
  std::vector<PageSide> dumps;
  bool has_flow = true;
  std::vector<PageEdge> edges;
  List causes, pictures;
  Value tokens;
};

[[nodiscard]] std::string page_json(const PageData& data);

}  // namespace msdump::report
