// Which faults an operator, a parameter or a script can have.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/noisy_net/faults.h"

namespace msdump::noisy {

// Of a kernel; `full`: also those that have no smaller form.
[[nodiscard]] std::vector<std::string> kinds_of_fault(const Net& net, const NetNode& node, bool full);
// For `fault.node`: as strong as that kind usually is.
void fault_of_kind(const Net& net, const std::string& kind, std::mt19937_64& random, KernelFault& fault);
// Of kind "epsilon" and "mantissa": strengths from 0, nothing, to 40.
void set_notch(Twist& twist, const std::string& kind, int notch);

[[nodiscard]] Numbers wrong_values(const NetValue& parameter, std::mt19937_64& random);

struct ScriptFault {
  Change change;
  std::string kind;
  uint32_t node = kAbsent;  // of the reference
};
// Nothing if the operator that was drawn does not lend itself.
[[nodiscard]] std::optional<ScriptFault> random_change(const Net& net, std::mt19937_64& random);
// The operator, its gradient where that has the same constant, what one side has alone; for an operator that is missing
// or added also its neighbours.
[[nodiscard]] Planted answers_to(const Net& reference, const Net& wrong, const Net& healthy, const ScriptFault& fault);

}  // namespace msdump::noisy
