// Any bytes as two dump.json, the second after the first 0xFF (without one: the same twice), compared as msprobe does
// it.
#include <algorithm>
#include <string>
#include <string_view>

#include "compare/match/msprobe/msprobe_items.h"
#include "fuzz_file.h"
#include "profiles/msprobe/result.h"

namespace {

using namespace msdump;
using fuzz::require;

// The fields of a line of CSV, whose quotes may hold line ends: the lines of a result together.
size_t rows_in(std::string_view csv, size_t fields) {
  size_t rows = 0, commas = 0;
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',') ++commas;
    if (c != '\n') continue;
    require(commas + 1 == fields, "each row has the fields of the header");
    commas = 0;
    ++rows;
  }
  require(!quoted && commas == 0, "the last row is whole");
  return rows;
}

void check_result(const File& target, const File& golden, const MsprobeCompareOptions& options) {
  static WorkerPool pool(1);
  const CancelToken cancel;
  std::string csv;
  const auto counts = write_msprobe_result(target.path(), golden.path(), options, {pool, cancel},
                                           [&](std::string_view lines) -> Status {
                                             csv += lines;
                                             return {};
                                           });
  if (!counts) return fuzz::require_good_error(counts.error());
  const std::string_view header = std::string_view(csv).substr(0, csv.find('\n'));
  const auto fields = static_cast<size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  require(rows_in(csv, fields) == static_cast<size_t>(counts->rows) + 1, "all rows are counted");
  require(counts->pass + counts->warning + counts->error == counts->rows, "each row has a verdict");
}

void check_items(const File& file, const MsprobeItemForm& form) {
  const auto items = read_msprobe_items(file, form);
  if (!items) return fuzz::require_good_error(items.error());
  for (const MsprobeItem& item : items->items) {
    require(item.entry < items->entries.size(), "an item belongs to an entry");
    require(!form.fuzzy || item.key == item.name, "fuzzy keys are names");
  }
  for (const Error& problem : items->problems) fuzz::require_good_error(problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = data + size;
  const uint8_t* const cut = std::find(data, end, uint8_t{0xFF});
  const fuzz::FuzzFile first(data, static_cast<size_t>(cut - data));
  const fuzz::FuzzFile second(cut == end ? data : cut + 1, cut == end ? size : static_cast<size_t>(end - cut) - 1);
  const File target = first.open(), golden = second.open();
  check_items(target, {});
  check_items(target, {.debug_json = true, .fuzzy = true});
  if (const auto stacks = read_stack_json(target)) {
    for (const StackJson::Op& op : stacks->ops)
      require(msprobe_stack_text(*stacks, op).starts_with('['), "a stack is printed as a list");
  } else {
    fuzz::require_good_error(stacks.error());
  }
  check_result(target, golden, {});
  check_result(target, golden, {.pandas2 = true});
  check_result(target, golden, {.fuzzy = true});
  return 0;
}
