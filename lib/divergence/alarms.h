// What the judges of the runs of a comparison share: what is compared, what is to be expected, what the runs before have led
// to, and the roots so far. The runs are judged in the order of the data flow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/containers.h"
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

// Alarms of values that no run has made: parameters, inputs of the network, constants, and what comes from an unknown
// source.

class EnteringValues {
 public:
  explicit EnteringValues(BlameState& state) : state_(state) {}

  // Parameters that are what they should be. Of every run, before it is judged.
  void note_parameters(uint32_t run, const RunInputs& inputs);
  // A parameter is reported where it is first read; an unknown source only if nothing before it may be the cause.
  void judge(uint32_t run, const RunInputs& inputs);
  // A parameter as the optimizer of the step before left it, whose calls were not dumped: rounding does not make it worse
  // than what it was made of. A copy that one rank alone updated otherwise is.
  void judge_carried(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

 private:
  using ParameterKey = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string>;  // rank, step, name
  [[nodiscard]] ParameterKey key_of(uint32_t run, const RunInput& input) const;
  void add_parameter(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor);
  Root& add_by_value(uint32_t run, const RunInputs& inputs, uint32_t tensor);
  void judge_unknown_source(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor);

  BlameState& state_;
  std::set<ParameterKey> reported_, agreed_;
};

// Downstream of another root, constants differ because of it, and so do constants of gradients of the same line: shapes,
// axes, factors.
void judge_constants(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

// Alarms of what an operator made of its inputs.

// Is an output worse than the inputs explain?
[[nodiscard]] bool stands_out(const BlameState& state, const ScoredOutput& output, const RunInputs& inputs);

void judge_shape(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);
void judge_outputs(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

// Does the run draw random numbers, and did it draw others?
[[nodiscard]] bool draws_differently(const BlameState& state, uint32_t run, const RunInputs& inputs,
                                     const std::vector<uint32_t>& outputs);
// Only one side drops elements: the other passes its input on. Returns whether that is so.
bool judge_one_sided_draw(BlameState& state, uint32_t run, const RunInputs& inputs,
                          const std::vector<uint32_t>& outputs);

// NaN has a flow of its own: an operator that produces it is a root even if other differences went in, unless it
// produces it from the NaN of a root before it.
void judge_nan(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);
// Where the runs are cut differently, NaN may come out of a call that the candidate alone has. All that is not finite
// after the first such root may come of it: edges do not show all that a call of one side alone has read.
void judge_entering_nan(BlameState& state, uint32_t run, const RunInputs& inputs);

// Alarms of values that changed between the run that wrote them and the one that reads them.

// Does a change of the inputs show in the outputs? Where these were not compared it may.
[[nodiscard]] bool matters(const BlameState& state, uint32_t run, const RunInputs& inputs,
                           const std::vector<uint32_t>& outputs);
// An operator that only one side has lies between; or the reader turns to a coarser dtype; or something that was not
// dumped changes the value. Returns whether that explains the run.
bool judge_changed(BlameState& state, uint32_t run, const RunInputs& inputs);

}  // namespace msdump
