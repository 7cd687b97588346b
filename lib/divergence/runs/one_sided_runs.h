// OneSidedRuns: executions that only one side has, for no known reason, in order. If an input changed between its
// producer and its consumer, the search for roots blames one of these between them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

class OneSidedRuns {
 public:
  explicit OneSidedRuns(const RunView& view);

  // The execution to blame of those in [first, end) that only one side has; kNoId if there is none. The first of these:
  //   1. the candidate's first whose outputs have a coarser dtype than its inputs
  //   2. the candidate's last, then the reference's last; one just before it, if it only moves values
  //   3. the first backward execution that the candidate lacks, if `end` is not in the backward pass
  // 1 and 2 come from the pass of `end`.
  [[nodiscard]] ExecutionId between(ExecutionId first, ExecutionId end) const;
  // The first in [first, end) that only the candidate has, in any pass.
  [[nodiscard]] ExecutionId first_of_candidate(ExecutionId first, ExecutionId end) const;
  // The first backward execution, on this rank and in this step, that the candidate lacks.
  [[nodiscard]] ExecutionId first_backward(const RunPlace& place) const;
  // True if the outputs have a coarser dtype than the inputs.
  [[nodiscard]] bool turns_coarser(ExecutionId run) const;

 private:
  struct Pass {                                    // forward or backward
    std::vector<ExecutionId> coarser, of_a, of_b;  // ascending
  };
  [[nodiscard]] ExecutionId last_that_computes(const std::vector<ExecutionId>& runs, ExecutionId first,
                                               ExecutionId last) const;

  const RunView& view_;
  std::array<Pass, 2> passes_;  // forward, backward
  std::vector<ExecutionId> all_of_a_;
  std::map<RunPlace::Step, ExecutionId> first_backward_;
};

}  // namespace msdump
