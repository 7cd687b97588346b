// OpTensors: the tensors of each operator, in its first execution, that a match looks at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/containers.h"
#include "compare/match/op_sequence.h"
#include "compare/match/read_failures.h"
#include "graph/join/dump_operators.h"

namespace msdump {

class OpTensors {
 public:
  OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

  // The input or output with the most elements; the first of several. Parameters count as outputs.
  [[nodiscard]] std::optional<RecordId> largest(SequencedOpId op, Io io) const {
    const RecordId tensor = (io == Io::kOutput ? outputs_ : inputs_)[op];
    return tensor == kNoId ? std::nullopt : std::optional(tensor);
  }
  [[nodiscard]] uint32_t count(SequencedOpId op, Io io) const {
    return (io == Io::kOutput ? output_count_ : input_count_)[op];
  }
  // The number of inputs without those that a device may have as attributes: integers, booleans and single numbers.
  [[nodiscard]] uint32_t tensor_inputs(SequencedOpId op) const { return tensor_inputs_[op]; }

 private:
  std::vector<RecordId> inputs_, outputs_;  // by operator: the largest
  std::vector<uint32_t> input_count_, output_count_, tensor_inputs_;
};

// The number of elements on the host. No value if the shape is unknown, or padded for the device.
[[nodiscard]] std::optional<int64_t> host_elements(const TensorRecord& tensor);
// True unless the two are known to differ.
[[nodiscard]] bool same_elements(const TensorRecord& one, const TensorRecord& other);

// True if the input may be an attribute of an operator on a device.
[[nodiscard]] bool may_be_attribute(const TensorRecord& tensor);

// ValueProbe: whether two tensors hold the values of one computation, done twice. A few hundred elements decide. Two runs of
// a network correlate in spite of another precision or loss scale; other tensors of the same size do not.

class ValueProbe {
 public:
  ValueProbe(const DumpWithGraph& a, const DumpWithGraph& b) : a_(a), b_(b) {}

  // The similarity, from 0 (nothing in common) to 1. No value if a tensor has no elements or cannot be read, if only one is
  // constant, or if both are 0.
  [[nodiscard]] std::optional<double> similarity(RecordId a, RecordId b);
  // True if the values are the same, and not only similar. False if unknown.
  [[nodiscard]] bool is_same(RecordId a, RecordId b);
  [[nodiscard]] const ReadFailures& failures() const { return failures_; }

 private:
  struct Sample {
    int64_t count = 0;  // elements of the tensor, not only of the sample
    std::vector<double> values;
  };
  using Samples = std::unordered_map<RecordId, Sample>;
  // Empty for a tensor whose values cannot be used.
  const Sample& sample_of(const DumpWithGraph& side, Samples& samples, RecordId tensor);

  const DumpWithGraph a_, b_;  // handles: what they point to outlives this
  Samples samples_a_, samples_b_;
  ReadFailures failures_;
};

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
  ValueProbe values;       // of device and host
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
