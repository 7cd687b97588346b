// What msdump find-op says when it found nothing, or an operator without files: the nearest names and lines, and why.
#pragma once

#include "graph/operator_search.h"
#include "report/value.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

// `unselected`: operators that --op, --rank and the like left out.
void explain_nothing(Session& session, const OpenedGraph& opened, const OperatorQuestion& question,
                     const SelectionOptions& selection, size_t unselected);
// The nearest lines, as sources.
[[nodiscard]] report::List nearest_sources(const OpenedGraph& opened, const OperatorQuestion& question);

// For an operator of which no tensor is shown.
void explain_missing_files(Session& session, const OpenedGraph& opened, OpId op);

}  // namespace msdump::cli
