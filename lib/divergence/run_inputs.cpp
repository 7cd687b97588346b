#include "divergence/run_inputs.h"

#include <algorithm>
#include <utility>

#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class Gatherer {
 public:
  Gatherer(const RunView& view, const std::vector<RunState>& states, uint32_t run)
      : view_(view), states_(states), run_(run) {}

  RunInputs gather() {
    for (const RunInput& input : view_.run(run_).inputs) add(input);
    if (view_.graph().flow() != FlowKind::kIr) {
      add_forward();
      if (view_.run(run_).inputs.empty()) inputs_.unknown = inputs_.unknown_source = true;
    }
    if (is_communication(view_.op(run_).type)) add_other_ranks();
    return std::move(inputs_);
  }

 private:
  void see(uint32_t tensor) {
    inputs_.all_same = inputs_.all_same && view_.is(tensor, Verdict::kSame);
    inputs_.gained_nan = inputs_.gained_nan || view_.gained_nan(tensor);
    inputs_.gained_inf = inputs_.gained_inf || view_.is(tensor, Verdict::kNan);
  }

  void be_behind(uint32_t producer) {
    inputs_.behind = inputs_.behind || states_[producer].behind;
    inputs_.behind_nan = inputs_.behind_nan || states_[producer].behind_nan;
  }

  void add(const RunInput& input) {
    if (input.made_by != kNoRun) be_behind(input.made_by);
    uint32_t tensor = input.tensor;
    if (!view_.compared(tensor)) {
      tensor = input.made_as;
      inputs_.bridged = inputs_.bridged || view_.compared(tensor);
    }
    if (!view_.compared(tensor)) {
      inputs_.unknown = inputs_.unknown || input.from != From::kConstant;
      inputs_.unknown_source = inputs_.unknown_source || (input.from != From::kConstant && input.made_by == kNoRun);
      return;
    }
    inputs_.evidence.push_back(tensor);
    see(tensor);
    if (input.from == From::kConstant) {
      if (view_.constant_differs(tensor)) inputs_.constants.push_back(tensor);
    } else if (view_.differs(tensor)) {
      add_difference(input, tensor);
    }
  }

  void add_difference(const RunInput& input, uint32_t tensor) {
    if (input.made_by == kNoRun) {
      inputs_.entering.push_back(&input);
    } else if (view_.one_sided(input.made_by) ||
               (tensor == input.tensor && view_.compared(input.made_as) && !view_.differs(input.made_as))) {
      inputs_.changed.push_back(&input);
    } else {
      inputs_.differ = true;
    }
  }

  void add_hidden(uint32_t tensor) {
    if (!view_.compared(tensor)) return;
    inputs_.differ = inputs_.differ || view_.differs(tensor);
    see(tensor);
  }

  void add_forward() {
    const auto forward = forward_entry_of(view_.name(run_));
    if (!forward) return;
    // By rank and step, as all runs.
    const auto& named = view_.runs_named(*forward);
    const auto where = [&](uint32_t run) { return std::pair(view_.place(run).rank, view_.place(run).step); };
    const auto begin = std::lower_bound(named.begin(), named.end(), run_,
                                        [&](uint32_t one, uint32_t run) { return where(one) < where(run); });
    for (auto at = begin; at != named.end() && where(*at) == where(run_); ++at) {
      const uint32_t other = *at;
      if (view_.place(other) != view_.place(run_)) continue;
      be_behind(other);
      inputs_.differ = inputs_.differ || states_[other].diverges;
      for (const RunInput& input : view_.run(other).inputs) add_hidden(input.tensor);
      for (const uint32_t output : view_.run(other).outputs) add_hidden(output);
    }
  }

  void add_other_ranks() {
    for (const uint32_t other : view_.runs_named(view_.name(run_))) {
      if (view_.place(other).step != view_.place(run_).step) continue;
      for (const RunInput& input : view_.run(other).inputs) add_hidden(input.tensor);
    }
    inputs_.unknown = true;
  }

  const RunView& view_;
  const std::vector<RunState>& states_;
  const uint32_t run_;
  RunInputs inputs_;
};

}  // namespace

RunInputs inputs_of_run(const RunView& view, const std::vector<RunState>& states, uint32_t run) {
  return Gatherer(view, states, run).gather();
}

}  // namespace msdump
