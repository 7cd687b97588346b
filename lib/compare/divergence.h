// The first divergence: which operators compute something else from inputs that agree, most upstream first.
//
// An operator is a root when its outputs differ and its inputs do not; where an input was not dumped, the output it comes from
// stands for it, with less confidence. What does not count as an input: values that the operator updates in place (they
// hold the result), outputs that nothing reads (some kernels never write them). An operator whose inputs are equal bit for
// bit is a root whatever happened before; one whose inputs are merely close, behind another divergence, is not: the
// difference may have sunk below the tolerance on its way. A parameter or graph input that differs where it is first read,
// and is not updated there, is a root of its own: no operator is guilty.
// Without edges (no IR on either side) the order stands for the flow, and the confidence is lower.
// Source: corpus/diagnosis/README.md, what such dumps teach.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/pairing.h"
#include "compare/tensor_diff.h"

namespace msdump {

enum class DivergenceKind : uint8_t { kValue, kNan, kShape, kMissing, kParameter, kInput };
[[nodiscard]] std::string_view name_of(DivergenceKind kind);

struct Divergence {
  uint32_t op = 0;  // in Pairing::operators; of a parameter the operator that reads it first
  DivergenceKind kind = DivergenceKind::kValue;
  std::string parameter;  // kParameter, kInput: its name
  double confidence = 0;
  std::vector<uint32_t> inputs, outputs;  // in Pairing::tensors: the evidence
  uint64_t downstream = 0;                // diverging tensors that it explains, its own among them
  std::optional<double> amplification;    // relative error of the outputs over that of the inputs
};

// `diffs` by Pairing::tensors. Most upstream first; empty when nothing diverges.
[[nodiscard]] std::vector<Divergence> find_divergences(const CompareSide& a, const CompareSide& b,
                                                       const Pairing& pairing, const std::vector<TensorDiff>& diffs);

}  // namespace msdump
