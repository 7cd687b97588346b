// The summary of msdump map-ir about the join.
#pragma once

#include <string>

#include "graph/join_counts.h"
#include "report/value.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

class JoinSummary {
 public:
  explicit JoinSummary(const OpenedGraph& opened);

  // parsed, nodes, matched_operators, unmatched_operators, matched_files, unmatched_files.
  [[nodiscard]] report::Object counts() const;
  // numbering, unmatched_files. Files that cannot be read become failures of `opened`.
  [[nodiscard]] report::Object further(const RunContext& context, OpenedGraph& opened) const;
  // "parsed 8 of 8; 6 of 7 operators have files, 6 of 6 files have an operator".
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool complete() const { return counts_.complete(); }
  [[nodiscard]] bool nothing_selected() const { return counts_.nothing_selected(); }

  void name_unmatched_files(Session& session) const;

 private:
  const OpenedGraph& opened_;
  JoinCounts counts_;
};

}  // namespace msdump::cli
