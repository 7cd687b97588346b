// How many differing tensors depend on what certain runs wrote: by the edges of the IR; without one, all from then on.
//
// Takes many runs at once: 64 of them go along the edges as one word, so that a thousand roots cost only a few passes
// over all runs.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

// By place in `from`, whose entries are runs that count together; their own tensors count, each once.
[[nodiscard]] std::vector<uint64_t> count_downstream(const RunView& view,
                                                     const std::vector<std::vector<uint32_t>>& from);

// The sum of `counts`, which are by run, over the runs that the readers of some runs lead to, these among them. Edges may
// lead back.
[[nodiscard]] std::vector<uint64_t> count_reached(const std::vector<OpRun>& runs, const Collectives& collectives,
                                                  const std::vector<uint32_t>& counts,
                                                  const std::vector<std::vector<uint32_t>>& from);

}  // namespace msdump
