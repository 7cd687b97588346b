// The first divergence: the operators whose results differ more than the errors of their inputs and their own arithmetic
// explain, most upstream first. What to expect is taken from the pair itself: model/noise_model.h.
//
// An operator raises an alarm if
//   value      an output has more error than its siblings lead one to expect, also with inputs that differ; or one of
//              its constants (epsilon, axis, factor) differs by more than rounding; or an input has another error than
//              what wrote it: something in between was not dumped, or only one side has it
//   nan        it makes NaN, or an infinity, that the reference lacks, from inputs that have no more than the reference
//   shape      the same as value where the shape or the kind of dtype changes
//   missing    the other side has no such operator, and what reads its result differs
//   parameter, input   no operator is at fault: a value that enters the graph is off by more than rounding where it is
//              first read
// An alarm is a root unless alarms upstream explain it: downstream of one, with inputs that show it, only an excess far
// beyond what errors that are not random lead to counts. These are not roots either: a parameter in a step after one that
// diverged; a module if one of its operators is alarmed; what reads random numbers that were drawn differently. An
// operator is reported once, for the first step that it is alarmed in.
// A backward call of msprobe depends on what its forward call saw, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/containers.h"
#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "divergence/explanation.h"
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

// A further instance of a root: of the same line of the script, or of the same operator.
struct DivergencePlace {
  uint32_t op = 0;   // in Pairing::operators
  uint32_t run = 0;  // in RunGraph::runs
  RunPlace place;
  std::vector<uint32_t> outputs;  // in Pairing::tensors: the evidence
};

struct Divergence {
  uint32_t op = 0;   // in Pairing::operators; of a parameter the operator that reads it first
  uint32_t run = 0;  // in RunGraph::runs
  RunPlace place;
  uint32_t reader = kNoRun;             // of a run that only one side has, or a cast: the run that shows it
  std::vector<DivergencePlace> places;  // further ones
  DivergenceKind kind = DivergenceKind::kValue;
  std::string parameter;  // kParameter, kInput: its name, where it has one
  std::string reason;     // in words
  double confidence = 0;
  std::vector<uint32_t> inputs, outputs;    // in Pairing::tensors: the evidence
  std::vector<DivergedArgument> arguments;  // attributes and constants that a graph has
  std::vector<uint32_t> candidates;         // in Pairing::operators: not dumped, and one of them is to blame
  std::vector<uint32_t> chain;              // others of the candidate alone that may be
  std::optional<UnseenCalls> unseen;        // of msprobe: calls that were not dumped
  std::optional<uint32_t> after;            // the run that wrote an input; something changed it since
  std::optional<GradientCut> cut;           // of the gradient, that it shows
  std::vector<int64_t> ranks;               // of runs that are cut differently: where it is off; empty: not known
  uint64_t downstream = 0;                  // diverging tensors that it explains, its own among them
  std::optional<double> amplification;      // relative error of the outputs over that of the inputs
  // Of the output that stands out most, where the model scored it (model/noise_model.h).
  std::optional<double> measured_error, expected_error, score;
  uint32_t siblings = 0;  // runs of the same kind that it was compared with
  // Of the siblings' measured error over their own expected_error: the median, and a factor for one standard deviation.
  double sibling_median = 0, sibling_spread = 0;
};

// Does it blame a value that enters the graph, and not an operator?
[[nodiscard]] inline bool enters(const Divergence& root) {
  return root.kind == DivergenceKind::kParameter || root.kind == DivergenceKind::kInput;
}

// A run's output as the model sees it; `expected` as its siblings lead one to expect.
struct TensorScore {
  double measured = 0, expected = 0, score = 0;
};

// The error from the first operator to the last.
struct ErrorGrowth {
  std::vector<double> medians;  // of the outputs in each tenth of the operators, in order; empty: nothing known
  double noise = 0;             // what a typical operator adds
};

struct DivergenceReport {
  std::vector<Divergence> roots;  // most upstream first (DiffResult: most evidence); empty if nothing stands out
  std::vector<std::optional<TensorScore>> scores;  // by Pairing::tensors
  std::optional<GradientCut> cut;                  // where there is no root
  FlowKind flow = FlowKind::kOrder;                // what was followed
  std::vector<Explanation> explained;              // by Pairing::tensors
  std::vector<Unjudged> unjudged;                  // likewise: Explanations
  double loss_scale = 1;  // what the candidate's gradients are multiplied by, which is divided out
  ErrorGrowth growth;
  std::vector<uint32_t> runs;        // by Pairing::tensors: its run; kNoRun for none; only with the flow
  std::vector<FlowEdge> edges;       // between these runs; only with the flow
  std::vector<RunAccount> accounts;  // of `explain`
  uint64_t more_accounts = 0;        // that were left out
  ReachedLimits limits;
};

// What a report has for those who ask for it.
struct DivergenceDetails {
  std::span<const uint32_t> explain = {};  // in Pairing::operators: their runs are accounted for
  bool flow = false;                       // the data flow between the runs
  const CutEvidence* cuts = nullptr;       // of runs that are cut differently
};

// `diffs` by Pairing::tensors.
[[nodiscard]] DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                                const DivergenceDetails& details = {});

}  // namespace msdump
