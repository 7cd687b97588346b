// Two trainings of several steps: where their histories diverge.
#pragma once

#include "base/error.h"
#include "check/began/began.h"
#include "divergence/dump_diff.h"
#include "io/run_context.h"

namespace msdump::cli {

// The report has no first mover if the dumps have few steps in common, or if they do not diverge. An error only
// when interrupted: what cannot be read was reported when it was compared.
Result<check::BeganReport> parting_of(const DiffResult& run, const RunContext& context);

}  // namespace msdump::cli
