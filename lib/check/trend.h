// The same tensor step by step: rows for plotting, and a sparkline for people.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checked_dump.h"

namespace msdump::check {

// One tensor of one operator, in the order of steps: by rank, graph, the place of the operator, io, slot, occurrence.
struct TrendSeries {
  std::vector<uint32_t> tensors;
};
// Those that have more than one step.
[[nodiscard]] std::vector<TrendSeries> series_by_step(const CheckedDump& dump);

// One character per number, its height between the smallest and the largest; '!' for what is not finite, a blank for
// what is unknown. If there are more than `most` numbers, each place shows the largest of some neighbours.
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> numbers, size_t most = 40);

}  // namespace msdump::check
