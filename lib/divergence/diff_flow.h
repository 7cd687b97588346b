// What flows where among the tensors of a comparison: runs of operators with the tensors that went in and came out, and
// for each input the tensor that it was made as. Where differences come from is read off this (divergence/divergence.h).
//
// A run is one operator in one step, one occurrence of it. Where edges come from, the first that knows any:
//   1. the IR of the reference, else of the candidate (graph/flow/data_flow.h)
//   2. the values of the reference: an input that is equal to an output before it, as far as its extremes, mean and
//      deviation or its checksum tell, was made there. Tensors of one value (zeros, ones, scalars) prove nothing
// An input that an operator updates in place holds the result: it is an output here. So says the IR, so say the bytes
// where an input of the reference is not what its producer wrote (graph/flow/in_place.h, corpus/diagnosis/README.md 2).
// Outputs that nothing reads beside others that are read may never have been written (README.md 4); so may all outputs of
// an operator that updates its inputs in place. They are in no run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "graph/flow/data_flow.h"

namespace msdump {

inline constexpr uint32_t kNoRun = UINT32_MAX;

// Rank and step of a run's tensors, of the reference where it has them.
struct RunPlace {
  std::optional<int64_t> rank, step;
  uint32_t occurrence = 0;
  auto operator<=>(const RunPlace&) const = default;
};

struct FlowInput {
  uint32_t tensor = kNoTensor;   // in Pairing::tensors; kNoTensor: neither side has it
  uint32_t made_as = kNoTensor;  // the output that it was; kNoTensor: not known, or neither side has it
  uint32_t made_by = kNoRun;     // whose output it was
  InputEdge::From from = InputEdge::From::kUnknown;
  std::string parameter;   // From::kParameter: its name
  bool is_weight = false;  // of such: one that the network keeps, no input of the graph
};

struct FlowRun {
  uint32_t op = 0;  // in Pairing::operators
  RunPlace place;
  std::vector<FlowInput> inputs;
  std::vector<uint32_t> outputs;  // in Pairing::tensors
  std::vector<uint32_t> readers;  // runs
};

enum class FlowKind : uint8_t { kIr, kValues, kOrder };

struct DiffFlow {
  std::vector<uint32_t> unwritten;  // in Pairing::tensors: outputs that may never have been written
  FlowKind kind = FlowKind::kOrder;
  std::vector<FlowRun> runs;  // by rank and step, then in the order of Pairing::operators
};

[[nodiscard]] DiffFlow flow_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                               const std::vector<TensorDiff>& diffs);

}  // namespace msdump
