// The next dump: what to ask of both sides, so that the answer pins an operator or takes the search further up, how large it
// will be, and what each outcome would mean.
//
//   statistics alone blame an operator            its tensors and those of the calls before it, in that step, on that rank
//   calls that were not dumped may be to blame    the module or the calls around them, as tensors
//   operators that were not dumped                these
//   what went in differs already                  the calls before, four times as many with each round
//   a weight differs where the dump begins        statistics of the steps before
//
// Everything else is pinned: no dump can tell more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/write/dump_request.h"
#include "next/suspects.h"

namespace msdump {

inline constexpr size_t kMostSuspects = 4;  // that one dump asks about

// A dump of the case, compared.
struct ComparedRound {
  const DiffResult* run = nullptr;
  DumpExtent extent = DumpExtent::kAll;
};

enum class PlanState : uint8_t { kNothing, kPinned, kAsked };
[[nodiscard]] std::string_view name_of(PlanState state);  // "nothing", "pinned", "asked"

struct DumpSize {
  uint64_t tensors = 0, bytes = 0;  // of a step and rank, of one side
  uint64_t of_all = 0;              // the bytes of all tensors of the first dump, had they been dumped
  bool at_least = false;            // calls that no dump has shown yet come to it
};

struct NextPlan {
  PlanState state = PlanState::kNothing;
  // Of the last round, which they point into, pinned ones first; of the first where the last blames nothing.
  std::vector<Suspect> suspects;
  bool of_first = false;
  DumpRequest candidate, reference;
  DumpExtent extent = DumpExtent::kAll;  // of these
  DumpSize size;
  std::string question;
  std::vector<std::string> outcomes;
};

// `rounds` of one case, oldest first, at least one; only the first and the last are looked at, others may be null. kind, target and asynchronous are taken from `as_before`.
[[nodiscard]] NextPlan plan_next(const std::vector<ComparedRound>& rounds, const DumpRequest& as_before);

}  // namespace msdump
