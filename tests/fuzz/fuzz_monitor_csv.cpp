// Any bytes as a table of msprobe's monitor, and as the name of one.
#include <string_view>

#include "fuzz_file.h"
#include "tables/monitor_csv.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_names(std::string_view text) {
  const auto name = parse_monitor_name(text);
  require(!name || text.starts_with(name->metric), "the metric is the beginning of the name");
  const auto activation = parse_activation_name(text);
  require(!activation || text.starts_with(activation->module), "the module is the beginning of the name");
  require(!activation || !activation->slot.empty(), "an activation has a slot");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_names({reinterpret_cast<const char*>(data), size});
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  auto reader = MonitorReader::open(file);
  if (!reader) {
    fuzz::require_good_error(reader.error());
    return 0;
  }
  for (size_t calls = 0;; ++calls) {
    require(calls <= size, "reading ends");
    const auto row = reader->next();
    if (!row) {
      fuzz::require_good_error(row.error());
      continue;
    }
    if (*row == nullptr) return 0;
    require((*row)->values.size() == reader->columns().size(), "one value a column");
    require((*row)->step >= 0 && !(*row)->name.empty(), "a row has a step and a name");
    require(!(*row)->shape || (*row)->shape->size() <= kMaxRank, "the rank is limited");
    require((*row)->offset < size, "the offset is inside the file");
  }
}
