// What the script of a page draws from, as JSON; the page holds it packed (page.h).
//
//   {"kind":"diff","command":["msdump","diff","a","b"],"all":N,"rows":TABLE,"points":TABLE|null,
//    "edges":[run,run,row,gap, run,run,row,gap, ..],"causes":[{"rows":[row, ..]}, ..],
//    "pictures":[{"row":row,"histogram":..,"map":..,"worst":..,"axes":..}, ..]}
//
// TABLE: page_table.h. `points`: what the chart shows where that is not the rows. `all`: how many rows machine output
// has. An edge leads from one run of an operator to one that reads its result, which the row shows (null: no row does);
// runs are numbered as in the column `run` of the points, else of the rows. `gap` is 1 where an operator between them was
// not dumped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/page/page_table.h"
#include "report/value.h"

namespace msdump::report {

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
  std::vector<PageEdge> edges;
  List causes, pictures;
};

[[nodiscard]] std::string page_json(const PageData& data);

}  // namespace msdump::report
