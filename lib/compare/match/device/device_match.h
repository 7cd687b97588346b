// Matches the operators of a device dump with those of a dump of the same network on the host (CPU, GPU, or MindSpore's own
// names). A compiler has renamed, split, fused and inserted operators for the device.
//
//   1. Each device operator claims the operators that it stands for (operator_claims.h): those in its name, else one of its
//      own family. Numbers of operators are not compared: they count creations, and differ.
//   2. Splits and fusions that are known by their types (operator_rewrites.cpp) are matched within a scope.
//   3. Other claims are matched within their scope, in the order of the two dumps. If a scope has several operators of a
//      family, the order is a guess: shapes and values confirm or correct it.
//   4. If the output of a device operator is that of a later operator than its partner, it has absorbed that one: a bias, an
//      activation.
//   5. The rest is matched by values alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compare/match/device/match_evidence.h"

namespace msdump {

// An output of a device operator, and the output of the host that it stands for.
struct MatchedOutput {
  uint32_t device_output = 0;
  SequencedOpId host;  // host operator
  uint32_t host_output = 0;
};

// The host operators that a device operator stands for.
struct DeviceMatch {
  std::vector<SequencedOpId> hosts;    // in the order of the data flow; empty: none
  std::vector<MatchedOutput> outputs;  // known one by one;
  bool outputs_in_order = false;       // or: all are those of the last of `hosts`, slot by slot
  bool is_split = false;               // other device operators stand for one of `hosts`, too
  bool sure = false;                   // by names or types; false: by values alone
};

// Returns the matches by device operator.
[[nodiscard]] std::vector<DeviceMatch> match_device(MatchEvidence& evidence);

// Matches the inputs of host operators with those of the device operator that stands for them: the index in `device` for each
// input of the host, or no value. Both lists are tensors by ascending slot. Types are empty for the inputs of several
// operators. With `sure`, only values that agree make a pair, unless it is the only possible one: some inputs of a split
// operator are intermediate.
using InputMatch = std::vector<std::optional<uint32_t>>;
[[nodiscard]] InputMatch match_inputs(MatchEvidence& evidence, const std::vector<RecordId>& device,
                                      const std::vector<RecordId>& host, std::string_view device_type,
                                      std::string_view host_type, bool sure);

}  // namespace msdump
