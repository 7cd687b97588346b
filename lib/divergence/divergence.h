// The first divergence: the operators whose results differ although their inputs agree, most upstream first.
//
// An operator is a root if its outputs differ more than its inputs explain:
//   value      its inputs agree and its outputs do not; or one of its constants (epsilon, axis, factor) differs; or its
//              inputs are equal bit for bit and its outputs are further apart than rounding leaves, tolerance or not; or
//              an input differs although what wrote it agrees: something in between was not dumped
//   nan        it makes NaN, or an infinity, that the reference lacks, from inputs that have no more than the reference
//   shape      the same as value where the shape or the kind of dtype changes
//   missing    the other side has no such operator, and what reads its result differs
//   parameter, input   no operator is at fault: a value that enters the graph differs where it is first read
// These are not roots: outputs whose error is at most 30 times that of the inputs (error_size.h), or the remainder of
// terms that cancel; an operator downstream of a root whose inputs are merely close, because a difference may sink
// below the tolerance and come up again (an operator whose inputs are equal bit for bit is a root wherever it is); a
// parameter in a step after one that diverged; a module if one of its operators diverges; in a collective operation the
// ranks whose own inputs agree. An operator is reported once, for the first step that it diverges in.
// A backward call of msprobe depends on what its forward call saw, too.
// Confidence: 0.95 with edges of the IR, 0.9 with edges by values, 0.6 by order alone; less if an input is unknown, if
// the operators were not paired by name, and downstream of another root.
// Source: corpus/diagnosis/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/paired_runs.h"

namespace msdump {

enum class DivergenceKind : uint8_t { kValue, kNan, kShape, kMissing, kParameter, kInput };
[[nodiscard]] std::string_view name_of(DivergenceKind kind);

// An argument of the operator that differs, as text.
struct DivergedArgument {
  std::string name, a, b;
};

struct Divergence {
  uint32_t op = 0;  // in Pairing::operators; of a parameter the operator that reads it first
  RunPlace place;
  DivergenceKind kind = DivergenceKind::kValue;
  std::string parameter;  // kParameter, kInput: its name, where it has one
  std::string reason;     // in words
  double confidence = 0;
  std::vector<uint32_t> inputs, outputs;    // in Pairing::tensors: the evidence
  std::vector<DivergedArgument> arguments;  // attributes and constants that a graph has
  uint64_t downstream = 0;                  // diverging tensors that it explains, its own among them
  std::optional<double> amplification;      // relative error of the outputs over that of the inputs
};

struct DivergenceReport {
  std::vector<Divergence> roots;     // most upstream first; empty if nothing diverges or nothing stands out
  std::vector<uint32_t> suspicious;  // in Pairing::tensors: close, although the inputs are equal bit for bit
  std::vector<uint32_t> unwritten;   // outputs that hold whatever the memory held (graph/flow/run_graph.h)
  FlowKind flow = FlowKind::kOrder;  // what was followed
};

// `diffs` by Pairing::tensors.
[[nodiscard]] DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                const std::vector<TensorDiff>& diffs, const ModuleTree& modules);

}  // namespace msdump
