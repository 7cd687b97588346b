// What a comparison found, as the plan of the next dump sees it: each root, whether more dumping can tell more about it, and
// which operators that would be about.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "divergence/dump_diff.h"
#include "next/next_plan.h"

namespace msdump {

struct RootSuspect : Suspect {
  const Divergence* root = nullptr;  // null: by its error alone
  uint32_t op = 0;                   // in Pairing::operators
  std::vector<uint32_t> operators;   // the same: those to dump; the first is its own
};

// In the order of the roots.
[[nodiscard]] std::vector<RootSuspect> suspects_of(const DiffResult& run, DumpExtent extent);

// Where nothing is proved, and something differs by more than noise: the first operator whose statistics differ although no
// input of it does.
[[nodiscard]] std::optional<RootSuspect> first_after_equal_inputs(const DiffResult& run);

// Do both sides have the operator?
[[nodiscard]] bool on_both_sides(const DiffResult& run, uint32_t op);

}  // namespace msdump
