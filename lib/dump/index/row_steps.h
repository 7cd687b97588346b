// row_steps_hint(): a hint for a --step that matches nothing in a dump whose folders have no steps: passes (list_order.h) and
// tables have them. near_miss() (catalogue.h) has the hint for those of folders.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "io/run_context.h"

namespace msdump {

// "there are steps 0-4,7". Empty if no row has a step. If one has a step that is asked for, clears `asked.step`: something else
// matches nothing. Lists the dump, if a step is asked for and no folder has one.
[[nodiscard]] std::string row_steps_hint(const DumpIndex& index, SelectionOptions& asked, const RunContext& context);

}  // namespace msdump
