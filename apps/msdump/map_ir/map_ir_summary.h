// What msdump map-ir says about the join as a whole: how much of what is selected found a partner, and the files that
// did not.
#pragma once

#include <string>
#include <vector>

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
  [[nodiscard]] bool complete() const { return unmatched_operators_ + unmatched_files_ == 0; }
  // Neither an operator nor a file.
  [[nodiscard]] bool nothing_selected() const { return complete() && matched_operators_ + matched_files_ == 0; }

  void name_unmatched_files(Session& session) const;

 private:
  [[nodiscard]] std::vector<bool> selected_groups() const;
  [[nodiscard]] size_t files_in(const TensorGroup& group) const;

  const OpenedGraph& opened_;
  uint64_t matched_operators_ = 0, unmatched_operators_ = 0, matched_files_ = 0, unmatched_files_ = 0;
  std::vector<uint32_t> unmatched_groups_;
};

}  // namespace msdump::cli
