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

// The next dump of two sides that were compared:
//
//   statistics alone blame an operator            its tensors and those of the calls before it, in that step, on that rank
//   calls that were not dumped may be to blame    the module or the calls around them, as tensors
//   operators that were not dumped                these
//   what went in differs already                  the calls before, four times as many with each round; where no dump has
//                                                 any, statistics of everything in that step
//   a weight differs where the dump begins        statistics of the steps before
//
// Everything else is pinned: no dump can tell more.

inline constexpr size_t kMostSuspects = 4;  // that one dump asks about

// A dump of the case, compared.
struct ComparedRound {
  const DiffResult* run = nullptr;
  DumpExtent extent = DumpExtent::kAll;
};

// `rounds` of one case, oldest first, at least one; only the last one and whole_round() are looked at, others may be null. What
// `as_before` says of the kind, the target and the mode is kept.
[[nodiscard]] NextPlan plan_next(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before);

}  // namespace msdump
