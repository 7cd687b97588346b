// What a comparison found, as the plan of the next dump sees it: each root, whether more dumping can tell more about it, and
// which operators that would be about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "divergence/dump_diff.h"

namespace msdump {

// What a dump was asked for, of the operators of a step: all; the calls of a range, none left out; or some, by name. What
// enters a part of a network need not enter the network.
enum class DumpExtent : uint8_t { kAll, kRange, kList };
[[nodiscard]] std::string_view name_of(DumpExtent extent);  // "all", ...

struct Suspect {
  enum class Open : uint8_t {
    kPinned,       // the values that were compared blame it, and nothing else may be to blame
    kHiddenCalls,  // of msprobe: calls inside the module or between two calls were not dumped
    kNotDumped,    // one of several operators that the dump does not have
    kStatistics,   // only statistics were compared
    kBefore,       // its inputs differ or were not dumped, and the dump does not have what made them
    kStepsBefore,  // a value of the network differs where the dump begins, and the run had steps before
  };
  const Divergence* root = nullptr;  // null: by its error alone
  uint32_t op = 0;                   // in Pairing::operators
  RunPlace place;
  std::string reason;
  Open open = Open::kPinned;
  std::vector<uint32_t> operators;  // in Pairing::operators: those to dump; the first is its own
};
[[nodiscard]] std::string_view name_of(Suspect::Open open);  // "pinned", "hidden_calls", ...

// Most upstream first, without roots that the baseline accepts.
[[nodiscard]] std::vector<Suspect> suspects_of(const DiffResult& run, DumpExtent extent);

}  // namespace msdump
