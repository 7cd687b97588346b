// Gradients that only one side computes: the other side cuts them (stop_gradient, detach, no_grad).
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
  bool of_candidate = false;        // the side that computes them
  bool returned = false;            // backward calls of both sides return them on one side alone
  uint32_t at = 0;                  // in Pairing::operators: its line is where the gradient is cut
  std::vector<uint32_t> operators;  // in Pairing::operators, in order: those of the one side, or the backward calls
};

class GradientCuts {
 public:
  explicit GradientCuts(const RunView& view);

  // What the side of `run`, a run without a partner, computes of the gradient and the other side does not. With an IR these
  // are the operators connected with it; else all backward calls of the rank and step whose forward calls both sides
  // have. `reader`: a run that shows that they are missing; kNoRun if none does. None if the gradient is not cut, or nothing
  // proves it: `run` computes none, the reader gets what goes into the missing operators, or the other side has others in their place.
  [[nodiscard]] std::optional<GradientCut> at(uint32_t run, uint32_t reader) const;
  // The same of backward calls that return gradients of one side alone, the nearest of them before `run`.
  [[nodiscard]] std::optional<GradientCut> before(uint32_t run) const;
  // Of the first backward call that the candidate lacks; without an IR.
  [[nodiscard]] std::optional<GradientCut> first() const;

 private:
  struct OneSided {
    std::array<std::vector<uint32_t>, 2> runs;  // gradients of the reference alone, of the candidate alone; ascending
    std::array<std::vector<uint32_t>, 2> returned;  // runs of both sides with an output of one
  };
  [[nodiscard]] const OneSided* near(uint32_t run) const;

  const RunView& view_;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, OneSided> one_sided_;  // by rank and step
};

}  // namespace msdump
