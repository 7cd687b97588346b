// Two trainings of several steps: where their histories diverge.
#pragma once

#include "base/error.h"
#include "check/began/began.h"
#include "io/run_context.h"

namespace msdump {

struct DiffResult;

// The report has no first mover if the dumps have few steps in common, or if they do not diverge. An error only
// when interrupted: what cannot be read was reported when it was compared.
Result<check::BeganReport> diverged_histories(const DiffResult& run, const RunContext& context);

}  // namespace msdump
