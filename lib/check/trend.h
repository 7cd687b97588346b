// The same tensor step by step: rows for plotting, and a sparkline for people.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checked_dump.h"

namespace msdump::check {

// A tensor of an operator in all steps, in their order.
struct TrendSeries {
  std::vector<TensorId> tensors;
};
// Series with more than one step: by rank, graph, place of the operator, io, slot, occurrence.
[[nodiscard]] std::vector<TrendSeries> series_by_step(const CheckedDump& dump);

// A character for each number: its height is between the smallest and the largest, '!' is a non-finite number, a blank
// an unknown one. If there are more than `most` numbers, each character is the largest of some neighbours.
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> numbers, size_t most = 40);

}  // namespace msdump::check
