// Which operator of the other side one without a partner may have been: the one with the nearest name (edit_distance of
// base/text.h) near its place in the pairing. '/', '\', '.' and blanks count as '_'.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/pairing.h"
#include "io/worker_pool.h"

namespace msdump {

// How many operators before and after a place are compared with it.
inline constexpr uint32_t kNamesAround = 100;
// The most operators without a partner, per side, that are looked up: with more, the two dumps are not runs of one
// network, and a near name means nothing.
inline constexpr uint32_t kNamesAsked = 200;

// For each of Pairing::operators that has no partner, but has tensors: the operator of the other side with the nearest
// name, if no more than a third of the name differs, the first of equally near ones. kNoOperator for all others.
[[nodiscard]] std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool);

}  // namespace msdump
