// The exchanges between the ranks of a run that did not give them what went in (collective_rules.h), for whoever asks of a
// run nothing but this.
#pragma once

#include <vector>

#include "base/error.h"
#include "check/rules/finding.h"
#include "graph/flow/run_graph.h"
#include "io/run_context.h"

namespace msdump::check {

// The errors among the findings: not what rounding explains. Reads the tensors of all calls of collectives, once each; one
// that cannot be read leaves its exchange unknown. An error only when interrupted.
Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& context);

}  // namespace msdump::check
