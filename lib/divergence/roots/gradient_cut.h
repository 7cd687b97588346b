// GradientCuts: gradients that only one side computes, because the other one cuts them (stop_gradient, detach, no_grad).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

struct GradientCut {
  bool of_candidate = false;          // the side that computes them
  bool returned = false;              // backward calls of both sides return them, but on one side only
  OperatorId at;                      // its line is where the gradient is cut
  std::vector<OperatorId> operators;  // in order: the one-sided ones, or the backward calls
};

class GradientCuts {
 public:
  explicit GradientCuts(const RunView& view);

  // The cut of the gradient that only the side of `run` computes; `run` has no partner. With an IR, its operators are
  // those that are connected with `run`. Else they are all backward calls of the rank and step whose forward calls both
  // sides have. None if nothing proves a cut:
  //   * `run` computes no gradient
  //   * the other side has as many gradient operators of its own
  [[nodiscard]] std::optional<GradientCut> at(ExecutionId run) const;
  // The same for backward calls of both sides that return gradients on one side only: the nearest before `run`.
  [[nodiscard]] std::optional<GradientCut> before(ExecutionId run) const;
  // The cut at the first backward call that the candidate lacks; or, where both sides make the same forward calls, at the first of several
  // that return a gradient in the reference alone. Not for an IR.
  [[nodiscard]] std::optional<GradientCut> first() const;

 private:
  struct OneSided {
    std::array<std::vector<ExecutionId>, 2> runs;      // gradients of the reference, of the candidate alone; ascending
    std::array<std::vector<ExecutionId>, 2> returned;  // executions of both sides with an output of one
    bool any_forward = false;                          // one side alone has a forward call
  };
  [[nodiscard]] const OneSided* near(ExecutionId run) const;

  const RunView& view_;
  std::map<RunPlace::Step, OneSided> one_sided_;
};

}  // namespace msdump
