#include "divergence/alarms/changed_values.h"

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include "compare/pair/precision.h"
#include "divergence/alarms/operator_outputs.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// A choice may come out the same although it was made of something else.
bool is_another_value(const BlameState& state, const RunInput& input) {
  const auto error = state.view.error(input.tensor);
  return error && state.view.one_sided(input.made_by) && error->relative > kMostError;
}

// In the reference, does a run write what it reads?
bool reader_writes(const BlameState& state, uint32_t reader, const RunInput& input) {
  const auto& outputs = state.view.run(reader).outputs;
  return state.view.diff(input.tensor).metrics.max_b &&
         std::any_of(outputs.begin(), outputs.end(),
                     [&](uint32_t tensor) { return state.view.same_in_b(input.tensor, tensor); });
}

// Is another reader of it, which ran before, alarmed, and may have written what looks like its output?
bool alarmed_reader_writes(BlameState& state, uint32_t run, const RunInput& input) {
  // Of a value that thousands read, the last ones before the run: each of them asks.
  constexpr std::ptrdiff_t kMostReaders = 64;
  const std::vector<uint32_t>& readers = state.view.run(input.made_by).readers;  // ascending
  const auto end = std::lower_bound(readers.begin(), readers.end(), run);
  const auto first = end - std::min(end - readers.begin(), kMostReaders);
  if (first != readers.begin())
    state.limits.insert(
        {"readers_of_a_value", kMostReaders, "of a value with more readers, the last ones are looked at"});
  return std::any_of(first, end, [&](uint32_t reader) {
    return state.history.states[reader].alarmed && reader_writes(state, reader, input);
  });
}

// Each way of cutting has operators of its own: the one that wrote the input.
uint32_t one_sided_between(const BlameState& state, uint32_t first, uint32_t end, const RunInput& input) {
  return state.view.of_cuts() ? state.one_sided_maker(input) : state.one_sided.between(first, end);
}

// For the reason. A hook of the script in the middle of a backward pass is a forward call of its own.
std::string happened_between(const BlameState& state, uint32_t first, uint32_t end) {
  const uint32_t run = state.one_sided.first_of_candidate(first, end);
  if (run != kNoRun) return state.view.name(run) + ", which only the candidate has,";
  return "something between them that was not dumped";
}

}  // namespace

bool matters(const BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  if (state.view.heals(run)) return false;
  // The model counts what these leave as the error of the input, so that no output stands out by it.
  const uint32_t maker = inputs.changed.front()->made_by;
  const bool of_ranks = state.view.of_cuts() && state.view.one_sided(maker) && !state.view.is_surprise(maker);
  if (of_ranks || state.view.lacks_input(maker)) return !state.view.all_agree(run);
  const std::span<const ScoredOutput> scored = state.model.outputs(run);
  const bool any =
      std::any_of(scored.begin(), scored.end(), [](const ScoredOutput& output) { return output.judged(); });
  if (!any) return !state.view.all_agree(run) || outputs.empty() || is_another_value(state, *inputs.changed.front());
  return std::any_of(scored.begin(), scored.end(),
                     [&](const ScoredOutput& output) { return stands_out(state, output, inputs); });
}

bool judge_changed(BlameState& state, uint32_t run, const RunInputs& inputs) {
  if (state.view.other_framework()) return false;
  const RunInput& input = *inputs.changed.front();
  const uint32_t first = state.view.one_sided(input.made_by) ? input.made_by : input.made_by + 1;
  // Calls of one side alone are nothing new where the runs are cut differently.
  if (state.view.of_cuts() && inputs.downstream && state.view.one_sided(input.made_by)) return false;
  if (const uint32_t other = one_sided_between(state, first, run, input); other != kNoRun) {
    if (state.one_sided.turns_coarser(other)) {
      state.add_cast(other, run, inputs, input.tensor);
    } else {
      (void)state.roots.add_one_sided(other, run, inputs);
    }
    return true;
  }
  const TensorDiff& diff = state.view.diff(input.tensor);
  if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b)) {
    state.add_cast(run, run, inputs, input.tensor);
    return true;
  }
  if (alarmed_reader_writes(state, run, input)) return true;
  if (state.roots.is_changed_after(input.made_by, run)) return true;
  if (inputs.downstream && !state.view.of_cuts()) return false;
  Root& root = state.roots.add_changed(run, inputs, input);
  root.divergence.reason =
      fmt::format("its input {} has more error than {}, which wrote it: {} changes it", state.view.slot(input.tensor),
                  state.view.name(input.made_by), happened_between(state, first, run));
  const bool known = !state.view.of_cuts() && state.one_sided.first_of_candidate(first, run) != kNoRun;
  if (!root.exchanges && !known) root.divergence.after = input.made_by;
  return true;
}

}  // namespace msdump
