// Matches the operators of a device dump, which a compiler has renamed, split, fused and inserted, with those of a dump of
// the same network on the host (CPU, GPU, or MindSpore's own names).
//
//   1. Every device operator claims the operators that it stands for (operator_claims.h): those in its name, else one of
//      its own family. Numbers of operators are not compared: they count creations, and differ.
//   2. Splits and fusions that are known by their types (operator_rewrites.h), in one scope.
//   3. Other claims are met in their scope, in the order of the two dumps. Where a scope has several operators of a family
//      the order is a guess: shapes and values confirm or correct it.
//   4. An operator whose output on the device is that of an operator after its partner has taken that one in: a bias, an
//      activation.
//   5. What is left is matched by values alone.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/device/match_evidence.h"

namespace msdump {

// An output of a device operator and the output of the host that it is.
struct MatchedOutput {
  uint32_t device_output = 0;
  uint32_t host = 0;  // operator
  uint32_t host_output = 0;
};

// What a device operator stands for.
struct DeviceMatch {
  std::vector<uint32_t> hosts;         // in the order of the data flow; empty: nothing of the host
  std::vector<MatchedOutput> outputs;  // that are known one by one;
  bool outputs_in_order = false;       // or: those of the last of `hosts`, slot by slot
  bool is_split = false;               // other device operators stand for one of `hosts`, too
  bool sure = false;                   // names or types say so; false: values alone
};

// By device operator.
[[nodiscard]] std::vector<DeviceMatch> match_device(MatchEvidence& evidence);

}  // namespace msdump
