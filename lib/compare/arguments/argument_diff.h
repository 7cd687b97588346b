// Arguments of operators that are partners (an epsilon, an axis, a flag) which one side or both have in their graph and not in a
// file: a device has as attributes what a network's dump has as small tensors.
//
//   two calls            what msprobe records of the call (call_arguments.h)
//   a file and a graph   the tensor, which has no partner, is compared with the attribute or constant
//   two graphs           attributes and constants of one meaning are compared where no file has them
// Meanings are those of ge/operators/arguments.csv, and where both sides are of MindSpore the place among the inputs. What is
// uncertain is left out (argument_value.h), and so are operators that are paired or found in their graph by a guess or that
// have inputs of other sizes, and an argument that may belong to another operator of a fusion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "io/run_context.h"

namespace msdump {

struct ArgumentDiff {
  uint32_t op = 0;              // in Pairing::operators
  uint32_t tensor = kNoTensor;  // in Pairing::tensors: the one in a file; kNoTensor: both are in graphs
  bool differs = false;
  Verdict verdict = Verdict::kDiffer;  // of a call: also kClose, kSkipped (call_arguments.h)
  std::optional<int64_t> step;         // of a call; no value: in all steps
  std::string name;                    // "epsilon", "input 2"
  std::string in_graph;                // where one is in a file: what the other is: "attribute eps", "constant epsilon"
  std::string a, b;                    // the values, as text; empty: None, or not given
  bool of_call = false;                // and not of a graph
};

// `chosen`: in Pairing::tensors; operators with none of them are left out. Those of files are all that can be compared, those of
// two graphs only the ones that differ. By operator; ends early when cancelled.
[[nodiscard]] std::vector<ArgumentDiff> compare_arguments(const CompareSide& a, const CompareSide& b,
                                                          const Pairing& pairing, const std::vector<uint32_t>& chosen,
                                                          const RunContext& context);

// "epsilon is 0.001 here, the attribute epsilon 1e-05 in the reference's graph"; "equal to the attribute ..".
[[nodiscard]] std::string reason_of(const ArgumentDiff& diff, const Pairing& pairing);

}  // namespace msdump
