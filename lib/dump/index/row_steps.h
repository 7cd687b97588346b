// row_steps(): what a --step, of a selection that matches nothing, means in a dump whose folders have no steps: passes
// (list_order.h) and tables have them. near_miss() (catalogue.h) has the hint for those of folders.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "io/run_context.h"

namespace msdump {

struct RowSteps {
  bool has_asked = false;  // a row has a step that is asked for, so it is something else that matches nothing
  std::string hint;        // "there are steps 0-4,7"; empty if `has_asked` or no row has a step
};
// Lists the dump, if a step is asked for and no folder has one.
[[nodiscard]] RowSteps row_steps(const DumpIndex& index, const std::string& asked, const RunContext& context);

}  // namespace msdump
