// All rules of the user on how much tensors may differ.
#pragma once

#include <optional>
#include <vector>

#include "compare/accept/baseline.h"
#include "compare/accept/metric_limit.h"
#include "compare/accept/tolerance_file.h"
#include "compare/pair/tolerance.h"

namespace msdump {

struct DiffRules {
  Tolerance tolerance;
  std::vector<MetricLimit> limits;
  std::optional<ToleranceRules> by_tensor;  // replaces the two above for tensors that a rule matches
  std::optional<Baseline> baseline;
  bool kl = false;  // costs a second pass
};

}  // namespace msdump
