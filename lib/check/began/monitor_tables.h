// The history of a training from the tables of msprobe's monitor, row by row: for tables that are larger than the list of their
// rows may be.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/began/step_history.h"
#include "dump/index/dump_index.h"
#include "io/run_context.h"

namespace msdump::check {

// True if tables of the monitor are all that holds tensors.
[[nodiscard]] bool is_monitor_output(const DumpIndex& index);

// SeriesScale::resolution of a table with this name.
[[nodiscard]] double monitor_resolution(std::string_view file_name);

// Adds all tables in the order of ranks and steps. Bad rows and files are left out, and are in `failures`. An error only when
// interrupted.
Status read_monitor_tables(const DumpIndex& index, const RunContext& context, StepHistory& history,
                           std::vector<Error>& failures);

}  // namespace msdump::check
