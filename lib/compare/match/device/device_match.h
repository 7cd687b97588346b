// Which operators of a network's dump (the host side: CPU, GPU, or MindSpore's own names) the operators of a device dump
// are, where a compiler for the device has renamed, split, fused and inserted operators.
//
//   1. Every device operator claims the operators that it stands for: those in its name (device_name.h), else one of its
//      own family (ge/operators/operator_table.h). Claims are met in their scope, in the order of the two dumps.
//      Numbers of operators are not compared: they count creations, and differ.
//   2. Splits and fusions that are known by their types (ge/operators/rewrites.txt), in one scope.
//   3. Where a scope has several operators of a family the order is a guess: shapes and values (value_probe.h) confirm
//      or correct it.
//   4. An operator whose device output is not the output of its partner but that of the operator after it has taken that
//      one in (a bias, an activation).
//   5. What is left is paired by values alone.
// Source: reference/ge-operators.md; corpus/device-pairs/README.md.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/device/match_evidence.h"

namespace msdump {

// An output of a device operator and the host's that it is.
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
