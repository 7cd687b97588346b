// Which runs of a comparison are one collective operation: those of a name and step on the ranks of a group, as the IR or
// msprobe's arguments name it; on all ranks where neither does.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/module_tree.h"
#include "divergence/runs/run_facts.h"

namespace msdump {

// What goes into one of `members` comes out of all of them.
struct Collectives {
  std::vector<std::vector<uint32_t>> members;  // runs of one operation on the ranks of its group
  std::vector<uint32_t> at;                    // by run: in `members`; kNoRun for any other operator
};

struct CollectiveRuns {
  Collectives collectives;
  std::vector<InputSummary> inputs;  // by place in Collectives::members
};

[[nodiscard]] CollectiveRuns collective_runs(const RunFacts& facts);

// What readers show of the outputs of a run: an output that differs although every run that reads it got what it needed is
// not what was passed on.

struct PassedOn {
  std::vector<bool> right;   // by tensor: it differs, and what was passed on does not
  std::vector<bool> mended;  // by tensor: what reads it got much less of the error
  // By run: more than a few outputs from it on, of its step and pass, differ; of an update, those of the next step.
  std::vector<bool> differs_after;

  // Of runs that are cut differently: does every output of the run differ, and did no reader get what differs?
  [[nodiscard]] bool heals(const RunFacts& facts, uint32_t run) const;
  // Of such runs, where each rank may compute with parts in its own way: do all outputs agree, or what was passed on?
  [[nodiscard]] bool evens_out(const RunFacts& facts, uint32_t run) const;
};

// Forgets what differs in its layout alone, as its readers show. Linear in the runs and their tensors.
[[nodiscard]] PassedOn passed_on(RunFacts& facts);

// All that divergence/divergence.h judges by: the facts about tensors and runs, which runs are one collective, what lies
// inside a module, and which outputs count.

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
  // See PassedOn.
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
