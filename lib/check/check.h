// Everything that msdump check finds in one dump, in the order of reports.
#pragma once

#include "base/error.h"
#include "check/check_run.h"
#include "check/values/facts_reader.h"
#include "dump/index/selection.h"

namespace msdump::check {

// Both fill `run.report`; `places` has the requested ranks, graphs and steps. An error only when interrupted.

// Reads every tensor.
Status check_all(CheckRun& run, const Selection& places, const RunContext& context);
// Reads only what is needed to find the first; the findings are about that operator.
Status check_first(CheckRun& run, const Selection& places, const RunContext& context);

}  // namespace msdump::check
