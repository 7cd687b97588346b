// The runs of a comparison (graph/flow/run_graph.h): of both dumps together, so that a run has the tensors of either
// side. Operators and tensors are those of the Pairing; rank and step are the reference's if it has the tensor. The
// data flow is that of the reference's IR, else of the candidate's, else of the reference's values.
#pragma once

#include <vector>

#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/cuts/cut_evidence.h"
#include "graph/flow/run_graph.h"

namespace msdump {

// `diffs` by Pairing::tensors; `cuts` of runs that are cut differently, else null.
[[nodiscard]] RunGraph paired_runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const std::vector<TensorDiff>& diffs, const CutEvidence* cuts = nullptr);

}  // namespace msdump
