#include "divergence/missed_update.h"

#include <cstdint>
#include <map>
#include <tuple>

#include "divergence/model/constants.h"

namespace msdump {
namespace {

class UpdateSearch {
 public:
  UpdateSearch(const RunView& view, const NoiseModel& model) : view_(view), model_(model) {
    for (ExecutionId run{0}; run < view.runs().size(); ++run) {
      if (!view.one_sided(run)) continue;
      const bool of_candidate = view.of_candidate_only(run);
      for (const TensorId output : view.run(run).outputs) {
        const uint64_t contents = contents_of(output, of_candidate);
        if (contents != 0) writers_[{view.place(run).in_step(), of_candidate, contents}] = run;
      }
    }
  }

  std::optional<MissedUpdate> first() const {
    std::optional<MissedUpdate> first;
    for (ExecutionId run{0}; run < view_.runs().size() && !writers_.empty(); ++run) {
      if (!is_reader(run)) continue;
      for (const RunInput& input : view_.run(run).inputs) {
        const std::optional<MissedUpdate> found = missed_by(run, input);
        if (!found) continue;
        if (!first || view_.place(run).step < view_.place(first->reader).step) {
          first = found;
        } else if (view_.place(run).is_beside(view_.place(first->reader))) {
          ++first->values;
        }
      }
    }
    return first;
  }

 private:
  // Gradients, and what an optimizer reads, differ as soon as anything does.
  [[nodiscard]] bool is_reader(ExecutionId run) const {
    return view_.is_later_step(run) && !view_.one_sided(run) && !view_.is_backward(run) &&
           !view_.comes_after_backward(run);
  }

  [[nodiscard]] std::optional<MissedUpdate> missed_by(ExecutionId run, const RunInput& input) const {
    if (input.producer != kNoId || !is_off(input.tensor)) return {};
    const ExecutionId last = view_.in_step_before(run);
    if (last == kNoId) return {};
    for (const RunInput& other : view_.run(last).inputs) {
      if (other.tensor == kNoId || view_.slot(other.tensor) != view_.slot(input.tensor)) continue;
      if (!view_.compared(other.tensor) || is_off(other.tensor)) return {};
      const bool of_candidate = stays(other.tensor, input.tensor, true);
      if (of_candidate == stays(other.tensor, input.tensor, false)) return {};
      const auto writer =
          writers_.find({view_.place(last).in_step(), !of_candidate, contents_of(input.tensor, !of_candidate)});
      if (writer == writers_.end()) return {};
      return MissedUpdate{writer->second, run, input.tensor, of_candidate, 1};
    }
    return {};
  }

  [[nodiscard]] bool is_off(TensorId tensor) const {
    return view_.compared(tensor) && model_.is_off(tensor, 0, kRounding);
  }

  [[nodiscard]] bool stays(TensorId before, TensorId now, bool of_candidate) const {
    return contents_of(before, of_candidate) != 0 &&
           contents_of(before, of_candidate) == contents_of(now, of_candidate);
  }

  [[nodiscard]] uint64_t contents_of(TensorId tensor, bool of_candidate) const {
    const auto& hashes = view_.diff(tensor).hashes;
    return of_candidate ? hashes->written_a : hashes->written_b;
  }

  const RunView& view_;
  const NoiseModel& model_;
  // Calls of one side alone, by step, side (true: the candidate) and the contents of an output.
  std::map<std::tuple<RunPlace::Step, bool, uint64_t>, ExecutionId> writers_;
};

}  // namespace

std::optional<MissedUpdate> first_missed_update(const RunView& view, const NoiseModel& model) {
  if (view.is_sharded()) return {};
  return UpdateSearch(view, model).first();
}

}  // namespace msdump
