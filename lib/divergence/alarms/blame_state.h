// What the judges of the runs of a comparison share: what is compared, what is to be expected, what the runs before have led
// to, and the roots so far. The runs are judged in the order of the data flow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/reached_limits.h"
#include "divergence/model/noise_model.h"
#include "divergence/root_list.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/one_sided_runs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Must not move: `roots` refers to the others.
struct BlameState {
  BlameState(const RunView& compared, const NoiseModel& expected);
  BlameState(const BlameState&) = delete;
  BlameState& operator=(const BlameState&) = delete;

  const RunView& view;
  const NoiseModel& model;
  const OneSidedRuns one_sided;
  RunHistory history;
  RootList roots;
  ReachedLimits limits;

  // ---- of the rank and step of the run that is judged

  RunPlace place;
  uint32_t first_of_step = 0;
  bool any_before = false;         // a run of them is alarmed
  bool backward = false;           // a run of their backward pass was there
  std::array<bool, 2> alarmed{};   // before the backward pass, and since it began
  bool alarmed_before = false;     // in a step before
  bool not_finite_before = false;  // a call of the candidate alone has made what is not finite, in any step

  void begin(uint32_t run);
  void note_alarm(uint32_t run);

  // The run of one side alone that made an input; kNoRun where it has a partner or is not known.
  [[nodiscard]] uint32_t one_sided_maker(const RunInput& input) const;
  // The root of a reader that gets a value in a coarser dtype: from `cast`, or because it reads it so itself.
  void add_cast(uint32_t cast, uint32_t reader, const RunInputs& inputs, uint32_t tensor);

 private:
  void begin_step(uint32_t run);
};

}  // namespace msdump
