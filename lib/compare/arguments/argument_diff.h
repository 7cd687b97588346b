// ArgumentDiff: an argument of paired operators (an epsilon, an axis, a flag) that is not compared as a pair of tensors. A
// device has as attributes what a network's dump has as small tensors.
//
//   two calls            the arguments that msprobe records of both calls (call_arguments.h)
//   a file and a graph   an input without a partner, against the attribute or constant of the other side's graph
//   two graphs           attributes and constants of one meaning that neither side has in a file
//
// The meaning of an argument comes from ge/operators/arguments.csv. If both graphs are MindSpore's, the position among the
// inputs decides, too. Left out are
//   * operators that are paired, or found in their graph, by a guess, and operators whose inputs differ in size
//   * arguments that may belong to another operator of a fusion
//   * values that may mean the same (argument_value.h)
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
  OperatorId op;
  TensorId tensor;  // index in Pairing::tensors of the one in a file; kNoId: both are in graphs
  bool differs = false;
  Verdict verdict = Verdict::kDiffer;  // of a call also kClose or kSkipped (call_arguments.h)
  std::optional<int64_t> step;         // of a call; no value: all steps
  std::string name;                    // "epsilon", "input 2"
  std::string in_graph;                // if one side has it in a file, the other: "attribute eps", "constant epsilon"
  std::string a, b;                    // the values as text; empty: None, or not given
  bool of_call = false;                // the argument of a call, not of a graph
};

// `chosen` are indices in Pairing::tensors; operators without a chosen tensor are skipped. An argument in a file is reported
// whether it differs or not, one in two graphs only if it differs. Ordered by operator. Returns early if cancelled.
[[nodiscard]] std::vector<ArgumentDiff> compare_arguments(const CompareSide& a, const CompareSide& b,
                                                          const Pairing& pairing, const std::vector<TensorId>& chosen,
                                                          const RunContext& context);

// The text of a row: "epsilon is 0.001 here, the attribute epsilon 1e-05 in the reference's graph".
[[nodiscard]] std::string reason_of(const ArgumentDiff& diff, const Pairing& pairing);

}  // namespace msdump
