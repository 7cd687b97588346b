// RunView: the facts that the search for roots reads. It adds to RunFacts which executions are one collective, which lie
// inside a module, and whether consumers received an output as it was compared.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/module_tree.h"
#include "divergence/runs/run_facts.h"

namespace msdump {

// Collective operations. A value that goes into one of `members` reaches all of them.
using CollectiveId = Index<struct Collectives>;  // in Collectives::members

struct Collectives {
  std::vector<std::vector<ExecutionId>> members;  // executions of one operation on the ranks of its group
  std::vector<CollectiveId> at;                   // by run; kNoId if it is no collective
};

struct CollectiveRuns {
  Collectives collectives;
  std::vector<InputSummary> inputs;  // by index of Collectives::members
};

// Executions with one name and step are one operation if the IR, or msprobe's arguments, name the same group of ranks.
// One without a group has all of this name and step as members.
[[nodiscard]] CollectiveRuns collective_runs(const RunFacts& facts);

// Evidence of consumers about the outputs of an execution. One that differs was not passed on if they received equal
// values.

struct PassedOn {
  std::vector<bool> right;  // by tensor: it differs, but its consumers received equal values
  // Indexed by run: more than a fifth of the outputs from here on differ, in this pass or the next step (LaterOutputs).
  std::vector<bool> differs_after;

  // True if all outputs differ, but their consumers received equal values. False unless sharded.
  [[nodiscard]] bool heals(const RunFacts& facts, ExecutionId run) const;
};

// Forgets tensors that differ only by a wrong placement, as their consumers show. Linear in the executions and tensors.
[[nodiscard]] PassedOn passed_on(RunFacts& facts);

// Everything that find_divergences() reads of a comparison.

class RunView : public RunFacts {
 public:
  RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
          const ModuleTree& modules, const PlacementEvidence* placements = nullptr);

  [[nodiscard]] bool is_collective(ExecutionId index) const { return collectives().at[index] != kNoId; }
  [[nodiscard]] const Collectives& collectives() const { return collectives_.collectives; }
  // The inputs of a collective on all ranks of its group.
  [[nodiscard]] const InputSummary& inputs_of_group(ExecutionId index) const {
    return collectives_.inputs[collectives().at[index]];
  }
  // The executions inside a module on its rank and in its step, ascending. Empty for any other operator.
  [[nodiscard]] const std::vector<ExecutionId>& inside(ExecutionId index) const;

  // The outputs to judge. Left out are differing ones that consumers received equal. Inputs of
  // consumers stand in for outputs that were not compared. Empty if the execution lacks an input of the reference's.
  [[nodiscard]] std::vector<TensorId> outputs(ExecutionId index) const;
  [[nodiscard]] bool heals(ExecutionId index) const { return passed_on_.heals(*this, index); }
  // True if an input may differ only because its partner is wrong: statistics do not tell, and few outputs after it
  // differ.
  [[nodiscard]] bool doubtful(ExecutionId index, TensorId tensor) const {
    return diff(tensor).by_statistics && !layout_proven(tensor) && !passed_on_.differs_after[index];
  }
  // True if outputs were compared and all of them agree within the tolerance.
  [[nodiscard]] bool all_agree(ExecutionId index) const;

 private:
  void find_modules(const ModuleTree& modules);

  CollectiveRuns collectives_;
  PassedOn passed_on_;
  std::vector<std::vector<ExecutionId>> inside_;  // by module; empty if the dump has none
};

}  // namespace msdump
