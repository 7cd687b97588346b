// ComparedScope: the dumps, ranks and steps of two sides that are compared with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "compare/match/op_sequence.h"
#include "compare/sides.h"

namespace msdump {

struct Pairing;

// The ranks, steps and dumps by which operators are told apart. A rank or step counts only if it distinguishes operators.
struct ComparedPlaces {
  bool ranks = true, steps = true;

  using Place = std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t>;
  [[nodiscard]] Place of(const SequencedOp& one) const {
    return {ranks ? one.rank : std::nullopt, steps ? one.step : std::nullopt, one.dump};
  }
  [[nodiscard]] uint64_t hash_of(const SequencedOp& one, uint64_t hash) const;
};

struct ComparedScope {
  ComparedPlaces places;
  bool lone_step = false;            // a single step on each side, which are compared whatever their numbers are
  Sides<std::vector<bool>> outside;  // by operator, true for one of a rank or step that the other side lacks
};

// Relates the dumps, ranks and steps of two sides. Sets dumps, dump_numbers, dumps_alone and steps_alone of the pairing, and the
// dump of each of its operators to the common number.
[[nodiscard]] ComparedScope compared_scope(const CompareSide& a, const CompareSide& b, Pairing& pairing);

}  // namespace msdump
