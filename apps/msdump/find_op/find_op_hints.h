// What msdump find-op says when it found nothing, or an operator without files: what is near, and why.
#pragma once

#include <string>
#include <vector>

#include "graph/lines/line_search.h"
#include "report/value.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

// What was asked, as typed; `queries` are the lines, understood.
struct FindQuestion {
  std::vector<std::string> lines, codes, names;
  std::vector<LineQuery> queries;
};

// `unselected`: operators that --op, --rank and the like left out.
void explain_nothing(Session& session, const OpenedGraph& opened, const FindQuestion& question,
                     const SelectionOptions& selection, size_t unselected);
// The lines nearest to those asked for, as sources.
[[nodiscard]] report::List nearest_sources(const OpenedGraph& opened, const FindQuestion& question);

// Of an operator of which no tensor is shown.
void explain_missing_files(Session& session, const OpenedGraph& opened, OpId op);

}  // namespace msdump::cli
