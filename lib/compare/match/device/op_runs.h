// The tensors of an operator, run by run and slot by slot.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compare/match/device/match_evidence.h"

namespace msdump {

struct RunKey {
  std::optional<int64_t> step;  // none where a single step is compared
  uint32_t occurrence = 0;
  auto operator<=>(const RunKey&) const = default;
};

struct RunTensors {
  std::vector<uint32_t> inputs, outputs;
  std::vector<std::pair<uint64_t, uint32_t>>
      output_at;  // by the number of the slot; an output without one is the first
};

using Runs = std::map<RunKey, RunTensors>;

[[nodiscard]] Runs runs_of(const MatchSide& side, uint32_t op, bool lone_step);
// kNoTensor: there is none.
[[nodiscard]] uint32_t output_of(const Runs& runs, const RunKey& key, uint64_t slot);
// The number in the slot of a tensor.
[[nodiscard]] std::optional<uint64_t> slot_of(const MatchSide& side, uint32_t tensor);

}  // namespace msdump
