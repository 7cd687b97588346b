#include "divergence/alarms/blame_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "divergence/model/constants.h"

namespace msdump {

BlameState::BlameState(const RunView& compared, const NoiseModel& expected)
    : view(compared), model(expected), one_sided(compared), roots(compared, expected, one_sided, history) {
  history.states.resize(view.runs().size());
  history.healthy.resize(view.tensors());
  for (uint32_t tensor = 0; tensor < view.tensors(); ++tensor) {
    if (const auto error = view.error(tensor)) history.healthy[tensor] = error->relative;
  }
}

void BlameState::begin(uint32_t run) {
  begin_step(run);
  // What one side alone has may come from elsewhere in the step.
  if (!view.one_sided(run)) backward = backward || view.is_backward(run);
}

void BlameState::begin_step(uint32_t run) {
  const RunPlace& now = view.place(run);
  if (run > 0 && now.rank == place.rank && now.step == place.step) return;
  const bool same_rank = run > 0 && now.rank == place.rank;
  alarmed_before = same_rank && (alarmed_before || alarmed[0] || alarmed[1]);
  alarmed = {};
  any_before = backward = false;
  history.error_before = same_rank ? std::max(history.error_before, history.largest_error) : 0;
  history.largest_error = 0;
  first_of_step = run;
  place = now;
}

void BlameState::note_alarm(uint32_t run) {
  backward = backward || view.is_backward(run);
  history.states[run].alarmed = history.states[run].downstream = true;
  any_before = alarmed[backward ? 1 : 0] = true;
}

uint32_t BlameState::one_sided_maker(const RunInput& input) const {
  for (const uint32_t maker : {input.also_made_by, input.made_by}) {
    if (maker != kNoRun && view.one_sided(maker)) return maker;
  }
  return kNoRun;
}

void BlameState::add_cast(uint32_t cast, uint32_t reader, const RunInputs& inputs, uint32_t tensor) {
  if (view.coarser_throughout() || !roots.report_once(cast, reader)) return;
  Root& root = roots.add(cast, DivergenceKind::kValue, inputs, {tensor});
  root.divergence.reader = reader;
  root.lower(kOfCast);
  root.uncertain_source = view.is_gradient(cast);
  history.states[reader].downstream = true;
  const TensorDiff& in = view.diff(tensor);
  root.divergence.reason =
      cast == reader ? fmt::format("it reads {} where the reference has {}", msdump::name_of(in.dtype_a),
                                   msdump::name_of(in.dtype_b))
                     : fmt::format("only the candidate has this cast to a coarser dtype; {} reads what it leaves",
                                   view.name(reader));
}

}  // namespace msdump
