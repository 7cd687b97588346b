// OpTensors: the tensors of each operator, in its first execution, that a match looks at.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/containers.h"
#include "compare/match/op_sequence.h"
#include "compare/sample/tensor_samples.h"
#include "graph/join/dump_operators.h"

namespace msdump {

// Operators of two places are never partners. A single rank on each side is compared whatever its number is.
struct OperatorPlace {
  std::optional<int64_t> rank;  // none: a single one
  uint32_t dump = 0;            // in Pairing::dumps
  auto operator<=>(const OperatorPlace&) const = default;
};
[[nodiscard]] inline uint64_t hash_of(const OperatorPlace& place) {
  return mix_hash(static_cast<uint64_t>(place.rank.value_or(-1)), place.dump);
}

class OpTensors {
 public:
  OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

  // The input or output with the most elements; the first of several. Parameters count as outputs.
  [[nodiscard]] std::optional<RecordId> largest(SequencedOpId op, Io io) const {
    const RecordId tensor = of(op, io).largest;
    return tensor == kNoId ? std::nullopt : std::optional(tensor);
  }
  [[nodiscard]] uint32_t count(SequencedOpId op, Io io) const { return of(op, io).count; }
  // The number of inputs without those that a device may have as attributes: integers, booleans and single numbers.
  [[nodiscard]] uint32_t tensor_inputs(SequencedOpId op) const { return inputs_[op].no_attributes; }

 private:
  struct Tensors {
    RecordId largest;
    uint32_t count = 0, no_attributes = 0;
  };
  [[nodiscard]] const Tensors& of(SequencedOpId op, Io io) const {
    return (io == Io::kOutput ? outputs_ : inputs_)[op];
  }

  std::vector<Tensors> inputs_, outputs_;  // by operator
};

// The number of elements on the host. No value if the shape is unknown, or padded for the device.
[[nodiscard]] std::optional<int64_t> host_elements(const TensorRecord& tensor);
// True unless the two are known to differ.
[[nodiscard]] bool same_elements(const TensorRecord& one, const TensorRecord& other);

// True if the input may be an attribute of an operator on a device.
[[nodiscard]] bool may_be_attribute(const TensorRecord& tensor);

// MatchEvidence: the tensors of the operators of two dumps, the data flow of the host, and the similarity of tensors. The
// matching of operators (device_match.h) and of tensors (device_pairing.h) share it.

struct MatchSide {
  [[nodiscard]] const TensorRecord& tensor(RecordId index) const { return (*dump.tensors)[index]; }

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
        device_samples(*device.dump.index, *device.dump.tensors),
        host_samples(*host.dump.index, *host.dump.tensors),
        several_ranks(has_several_ranks(device.operators) || has_several_ranks(host.operators)) {}

  // The likeness of a tensor of the device and one of the host.
  [[nodiscard]] std::optional<double> likeness_of(RecordId of_device, RecordId of_host);
  // True if two tensors of the host have the same values.
  [[nodiscard]] bool is_same(RecordId one, RecordId other);

  [[nodiscard]] OperatorPlace place_of(const SequencedOp& one) const {
    return {several_ranks ? one.rank : std::nullopt, one.dump};
  }

  const MatchSide device, host;
  const OpTensors device_tensors, host_tensors;
  const SequenceFlow host_flow;
  TensorSamples device_samples, host_samples;
  const bool several_ranks;
  ReachedLimits limits;

 private:
  static bool has_several_ranks(const std::vector<SequencedOp>& operators) {
    return std::any_of(operators.begin(), operators.end(),
                       [&](const SequencedOp& one) { return one.rank != operators.front().rank; });
  }
};

}  // namespace msdump
