// Which runs of a comparison are one collective operation: those of a name and step on the ranks of a group, as the IR or
// msprobe's arguments name it; on all ranks where neither does.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/runs/run_facts.h"

namespace msdump {

// What goes into one of `members` comes out of all of them.
struct Collectives {
  std::vector<std::vector<uint32_t>> members;  // runs of one operation on the ranks of its group
  std::vector<uint32_t> at;                    // by run: in `members`; kNoRun for any other operator
};

struct CollectiveRuns {
  Collectives collectives;
  std::vector<InputSummary> inputs;  // by place in Collectives::members
};

[[nodiscard]] CollectiveRuns collective_runs(const RunFacts& facts);

}  // namespace msdump
