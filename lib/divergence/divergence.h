// find_divergences(): the operators whose outputs differ more than the errors of their inputs and their own rounding
// explain, most upstream first. The expected error is learned from the pair of dumps itself (model/noise_model.h).
//
// An operator raises an alarm of one of these kinds:
//   value      an output has more error than its siblings lead one to expect; or a constant (epsilon, axis, factor) differs
//              by more than rounding; or an input has more error than its producer's output, because something between
//              them was not dumped or exists on one side only
//   nan        it produces NaN or infinities that one side lacks, and its inputs do not have them
//   shape      as value, but the shape or the kind of dtype changes
//   missing    the candidate has no such operator, and a consumer of its output differs
//   parameter, input   no operator is at fault: a value that enters the graph is off by more than rounding at its first
//              reader
// An alarm is a root unless one upstream, or in a step before, explains it: only exact evidence, and inputs that are equal bit for bit, make
// a root behind another. These are no roots either:
//   * a parameter in a step after one in which it diverged
//   * a module with an alarmed operator inside
//   * an operator that reads random numbers that were drawn differently
// An operator is reported once, for the first step in which it is alarmed. A backward call of msprobe also depends on
// everything that its forward call read and wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/containers.h"
#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/computed_outputs.h"
#include "divergence/explanation.h"
#include "divergence/root_rule.h"
#include "divergence/roots/gradient_cut.h"
#include "divergence/roots/unseen_calls.h"
#include "divergence/run_account.h"
#include "divergence/runs/run_facts.h"
#include "graph/flow/run_graph.h"

namespace msdump {

enum class DivergenceKind : uint8_t { kValue, kNan, kShape, kMissing, kParameter, kInput };
[[nodiscard]] std::string_view name_of(DivergenceKind kind);

// An argument of the operator that differs, as text.
struct DivergedArgument {
  std::string name, a, b;
};

// A further place of a root: the same line of the script, or the same operator elsewhere.
struct DivergencePlace {
  OperatorId op;
  ExecutionId run;
  RunPlace place;
  std::vector<TensorId> outputs;  // the evidence
};

struct Divergence {
  OperatorId op;  // of a parameter, its first reader
  ExecutionId run;
  RunPlace place;
  ExecutionId reader;                   // of a one-sided operator or a cast: the execution that shows it
  std::vector<DivergencePlace> places;  // further ones
  DivergenceKind kind = DivergenceKind::kValue;
  std::string parameter;  // kParameter, kInput: its name, if it has one
  std::string reason;     // in words
  RootRule rule = RootRule::kExcess;
  std::vector<TensorId> inputs, outputs;    // the evidence
  std::vector<DivergedArgument> arguments;  // attributes and constants that a graph has
  std::vector<OperatorId> candidates;       // not dumped: one of them is to blame
  std::vector<OperatorId> chain;            // further calls of the candidate alone that may be to blame
  std::optional<UnseenCalls> unseen;        // msprobe: calls that were not dumped
  std::optional<ExecutionId> after;         // the producer of an input; something changed it since
  TensorId written;                // RootRule::kHandedOn: the producer's output that the first of `outputs` should be
  std::optional<GradientCut> cut;  // the cut of the gradient that it shows
  std::vector<int64_t> ranks;      // sharded: the candidate's ranks that diverged; empty if unknown
  uint64_t downstream = 0;         // diverged tensors that it explains, with its own
  std::optional<double> amplification;  // relative error of the outputs over that of the inputs
  std::optional<OutputScore> score;     // of the output that stands out most, if the model scored it
};

// True if a value that enters the graph is to blame, and not an operator.
[[nodiscard]] inline bool enters(const Divergence& root) {
  return root.kind == DivergenceKind::kParameter || root.kind == DivergenceKind::kInput;
}

// The growth of the error from the first operator to the last.
struct ErrorGrowth {
  std::vector<double> medians;  // of the outputs in each tenth of the operators, in order; empty: nothing known
  double noise = 0;             // what a typical operator adds
};

struct DivergenceReport {
  std::vector<Divergence> roots;       // most upstream first (DiffResult: most evidence); empty if nothing stands out
  std::vector<OutputScore> scores;     // of the outputs that were judged, by tensor
  std::optional<GradientCut> cut;      // if there is no root
  std::set<OperatorId> rewritten;      // of one side, or with a wrong partner: other operators for the same values
  std::set<OperatorId> other_calls;    // pairs that are not the same call: asked otherwise, of other values
  FlowKind flow = FlowKind::kOrder;    // the source of the edges
  std::vector<Explanation> explained;  // by Pairing::tensors
  std::vector<Unjudged> unjudged;      // likewise: Explanations
  double loss_scale = 1;               // factor of the candidate's gradients; it is divided out
  double error_at_start = 0;           // that steps before the first dumped one have left (RunFacts::error_at_start)
  ErrorGrowth growth;
  std::vector<ExecutionId> runs;     // by Pairing::tensors: its execution, or kNoId; only with the flow
  std::vector<FlowEdge> edges;       // between these executions; only with the flow
  std::vector<RunAccount> accounts;  // of `explain`
  uint64_t more_accounts = 0;        // those that were left out
  ReachedLimits limits;

  // Null for a tensor that was not judged.
  [[nodiscard]] const OutputScore* score_of(TensorId tensor) const;
};

// The relative error of a tensor of the candidate against one of the reference, which need not be partners; none if they cannot be
// compared.
using ErrorOfRecords = std::function<std::optional<double>(RecordId a, RecordId b)>;

// Optional parts of a report.
struct DivergenceDetails {
  std::span<const OperatorId> explain = {};       // whose executions are accounted for
  bool flow = false;                              // the data flow between executions
  const PlacementEvidence* placements = nullptr;  // null unless the sides are sharded differently
  recompute::Extent recompute = recompute::Extent::kIfCheap;
  const ComputedOutputs* computed = nullptr;  // null: nothing was computed again
  ErrorOfRecords error_of_records = {};       // for tensors that are no partners; none: they are not compared
  std::set<OperatorId> asked_otherwise = {};  // calls with an argument that differs
  const std::vector<bool>* accepted =
      nullptr;  // by pair: differences that make no root and explain none; null: there are none
};

// `diffs` is by Pairing::tensors.
[[nodiscard]] DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                                const DivergenceDetails& details = {});

}  // namespace msdump
