// All that divergence/divergence.h judges by: the facts about tensors and runs, which runs are one collective, what lies
// inside a module, and which outputs count.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/module_tree.h"
#include "divergence/runs/collective_runs.h"
#include "divergence/runs/passed_on.h"
#include "divergence/runs/run_facts.h"

namespace msdump {

class RunView : public RunFacts {
 public:
  // As TensorFacts.
  RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
          const ModuleTree& modules, const CutEvidence* cuts = nullptr);

  // Does the operator exchange values between ranks?
  [[nodiscard]] bool is_collective(uint32_t index) const { return collectives().at[index] != kNoRun; }
  [[nodiscard]] const Collectives& collectives() const { return collectives_.collectives; }
  // The inputs of the collective operation of this name in the step of a run, on the ranks of its group: all ranks where
  // the dump does not name the group.
  [[nodiscard]] const InputSummary& inputs_of_group(uint32_t index) const {
    return collectives_.inputs[collectives().at[index]];
  }
  // The runs inside a module, of its rank and step, ascending; empty for any other operator.
  [[nodiscard]] const std::vector<uint32_t>& inside(uint32_t index) const;

  // The outputs that count. A differing output does not count if every run that reads it got an equal input: the dump
  // does not show what was passed on. The inputs of readers stand in for outputs that were not dumped.
  [[nodiscard]] std::vector<uint32_t> outputs(uint32_t index) const;
  // passed_on.h
  [[nodiscard]] bool heals(uint32_t index) const { return passed_on_.heals(*this, index); }
  [[nodiscard]] bool evens_out(uint32_t index) const { return passed_on_.evens_out(*this, index); }
  // Of runs that are cut differently: statistics alone do not tell a wrong input of a run from a right one that was given the
  // wrong partner. What follows it does.
  [[nodiscard]] bool doubtful(uint32_t index, uint32_t tensor) const {
    return diff(tensor).by_statistics && !layout_proven(tensor) && !passed_on_.differs_after[index];
  }
  // Were outputs compared, and does none of them differ?
  [[nodiscard]] bool all_agree(uint32_t index) const;

 private:
  void find_modules(const ModuleTree& modules);

  CollectiveRuns collectives_;
  PassedOn passed_on_;
  std::vector<std::vector<uint32_t>> inside_;  // by module; empty where there are none
};

}  // namespace msdump
