#include "divergence/run_inputs.h"

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

  void add_producer(uint32_t producer) {
    inputs_.downstream = inputs_.downstream || states_[producer].downstream;
    inputs_.downstream_of_nan = inputs_.downstream_of_nan || states_[producer].downstream_of_nan;
  }

  void add(const RunInput& input) {
    if (input.made_by != kNoRun) add_producer(input.made_by);
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
    } else if (view_.is_surprise(input.made_by) ||
               (tensor == input.tensor && view_.compared(input.made_as) && !view_.differs(input.made_as))) {
      inputs_.changed.push_back(&input);
    } else {
      inputs_.differ = true;
    }
  }

  void add_hidden(const InputSummary& hidden) {
    inputs_.differ = inputs_.differ || hidden.differ;
    inputs_.all_same = inputs_.all_same && hidden.all_same;
    inputs_.gained_nan = inputs_.gained_nan || hidden.gained_nan;
    inputs_.gained_inf = inputs_.gained_inf || hidden.gained_inf;
  }

  void add_forward() {
    const auto forward = forward_entry_of(view_.name(run_));
    if (!forward) return;
    for (const uint32_t other : view_.runs_named(*forward, view_.place(run_))) {
      if (view_.place(other) != view_.place(run_)) continue;
      add_producer(other);
      inputs_.differ = inputs_.differ || states_[other].diverges;
      InputSummary hidden;
      for (const RunInput& input : view_.run(other).inputs) view_.add_to(hidden, input.tensor);
      for (const uint32_t output : view_.run(other).outputs) view_.add_to(hidden, output);
      add_hidden(hidden);
    }
  }

  void add_other_ranks() {
    add_hidden(view_.inputs_of_all_ranks(run_));
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
