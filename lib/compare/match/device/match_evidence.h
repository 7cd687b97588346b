// MatchEvidence: what a match with a device knows of the two dumps: the tensors of their operators, the data flow of the
// host, and which tensors have the same values. Operators (device_match.h) and tensors (device_pairing.h) share it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/reached_limits.h"
#include "compare/match/device/op_tensors.h"
#include "compare/match/device/value_probe.h"
#include "compare/match/sequence_flow.h"
#include "graph/join/dump_operators.h"

namespace msdump {

// One side of the match.
struct MatchSide {
  [[nodiscard]] const TensorRecord& tensor(uint32_t index) const { return (*dump.tensors)[index]; }

  const DumpWithGraph& dump;
  const std::vector<SequencedOp>& operators;
};

struct MatchEvidence {
  MatchEvidence(const MatchSide& of_device, const MatchSide& of_host)
      : device(of_device),
        host(of_host),
        device_tensors(device.dump, device.operators),
        host_tensors(host.dump, host.operators),
        host_flow(host.dump, host.operators),
        values(device.dump, host.dump),
        host_values(host.dump, host.dump),
        several_ranks(has_several_ranks(device.operators) || has_several_ranks(host.operators)) {}

  // A single rank on each side is compared whatever its number is.
  [[nodiscard]] std::optional<int64_t> rank_of(const SequencedOp& one) const {
    return several_ranks ? one.rank : std::nullopt;
  }

  const MatchSide device, host;
  const OpTensors device_tensors, host_tensors;
  const SequenceFlow host_flow;
  ValueProbe values;       // of the device with the host
  ValueProbe host_values;  // of the host with itself
  const bool several_ranks;
  ReachedLimits limits;

 private:
  static bool has_several_ranks(const std::vector<SequencedOp>& operators) {
    return std::any_of(operators.begin(), operators.end(),
                       [&](const SequencedOp& one) { return one.rank != operators.front().rank; });
  }
};

}  // namespace msdump
