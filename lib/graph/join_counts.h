// How much of what is selected found a partner, and the files that did not.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/opened_graph.h"

namespace msdump {

struct JoinCounts {
  uint64_t matched_operators = 0, unmatched_operators = 0, matched_files = 0, unmatched_files = 0;
  std::vector<uint32_t> unmatched_groups;

  [[nodiscard]] bool complete() const { return unmatched_operators + unmatched_files == 0; }
  // Neither an operator nor a file.
  [[nodiscard]] bool nothing_selected() const { return complete() && matched_operators + matched_files == 0; }
};
// All 0 if there is no dump.
[[nodiscard]] JoinCounts count_joined(const OpenedGraph& opened);

}  // namespace msdump
