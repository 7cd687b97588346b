#include "divergence/run_inputs.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "divergence/model/constants.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class Gatherer {
 public:
  Gatherer(const RunView& view, const NoiseModel& model, const RunHistory& history, ExecutionId run)
      : view_(view), model_(model), history_(history), run_(run) {}

  RunInputs gather() {
    for (const RunInput& input : view_.run(run_).inputs) add(input);
    if (view_.graph().flow() != FlowKind::kIr) {
      add_forward();
      if (view_.run(run_).inputs.empty()) inputs_.unknown = inputs_.unknown_source = true;
    }
    if (view_.is_collective(run_)) add_hidden(view_.inputs_of_group(run_));
    return std::move(inputs_);
  }

 private:
  void add_producer(ExecutionId producer) {
    const RunState& state = history_.states[producer];
    inputs_.downstream = inputs_.downstream || state.downstream;
    inputs_.downstream_of_nan = inputs_.downstream_of_nan || state.downstream_of_nan;
    inputs_.random = inputs_.random || state.random;
    inputs_.chosen = inputs_.chosen || state.chosen;
  }

  void add(const RunInput& input) {
    if (input.producer != kNoId) add_producer(input.producer);
    for (const ExecutionId before : view_.graph().before_gap(input)) add_producer(before);
    TensorId tensor = input.tensor;
    if (!view_.compared(tensor)) tensor = input.produced;
    if (!view_.compared(tensor)) {
      if (input.from == From::kConstant || view_.is_attribute(input.tensor)) return;
      inputs_.unknown = true;
      inputs_.unknown_source = inputs_.unknown_source || input.producer == kNoId;
      return;
    }
    inputs_.evidence.push_back(tensor);
    inputs_.all_same = inputs_.all_same && view_.is(tensor, Verdict::kSame);
    inputs_.gained_nan = inputs_.gained_nan || view_.gained_nan(tensor);
    inputs_.gained_inf = inputs_.gained_inf || view_.is(tensor, Verdict::kNan);
    inputs_.other_shape = inputs_.other_shape || view_.is(tensor, Verdict::kShape) || view_.is(tensor, Verdict::kDtype);
    if (input.from == From::kConstant) {
      if (is_off(tensor, 0)) inputs_.constants.push_back(tensor);
    } else {
      see_error(input, tensor);
    }
  }

  // True if the error of a tensor is more than rounding adds to an error of `before`.
  [[nodiscard]] bool is_off(TensorId tensor, double before) const { return model_.is_off(tensor, before, kRounding); }

  // The largest error of an output that was judged on this rank so far.
  [[nodiscard]] double error_so_far() const { return std::max(history_.error_before, history_.largest_error); }

  // True if a value from outside of this step may have its error from earlier steps: it is off, and so is something in
  // them, or other values that steps before the dump have left.
  [[nodiscard]] bool may_be_carried_over(TensorId tensor) const {
    const bool begins_late = view_.error_at_start(view_.place(run_)) > 0;
    return is_off(tensor, 0) && (begins_late || !(history_.error_before <= kRounding * model_.storage_rounding()));
  }

  void see_error(const RunInput& input, TensorId tensor) {
    const auto error = view_.error(tensor);
    const bool doubtful = view_.doubtful(run_, tensor);
    // Its producer is unknown, or was forgotten.
    const bool of_unknown = input.producer == kNoId || view_.is_forgotten(input.produced);
    if (of_unknown && history_.any_chosen && may_be_chosen(input, tensor)) {
      inputs_.chosen = true;
      return;
    }
    if (of_unknown) {
      // A value that the network keeps between steps carries the error of the step before.
      const bool of_network = input.from == From::kParameter && !input.is_weight;
      const bool is_unlike = view_.is_first_step(run_) && error && error->relative > kMostError;
      if (view_.is_later_step(run_) && !of_network && !is_unlike && may_be_carried_over(tensor)) {
        inputs_.downstream = true;
        const bool grew = is_off(tensor, error_so_far());
        if (!grew) inputs_.inherited.push_back(&input);
        if (view_.is_sharded() && error && grew) inputs_.carried.push_back(&input);
        return;
      }
      if (!doubtful && (input.from == From::kParameter ? is_off(tensor, 0) : is_off_after_unknown(tensor)))
        inputs_.entering.push_back(&input);
      return;
    }
    const bool made = view_.compared(input.produced) && view_.error(input.produced);
    if (!doubtful && (view_.is_surprise(input.producer) || (view_.is_sharded() && view_.one_sided(input.producer)))) {
      if (begins_scale(tensor, input.producer)) inputs_.rescaled = true;
      if (inputs_.rescaled || is_off_after_one_side(tensor, input.producer)) inputs_.changed.push_back(&input);
    } else if (!doubtful && made && tensor != input.produced) {
      const bool shown =
          view_.changed_in_candidate(tensor, input.produced) && view_.is_candidate_edge(tensor, input.produced);
      if (shown && inputs_.handed_on == nullptr) inputs_.handed_on = &input;
      if (shown || is_off(tensor, error_of_made(input))) inputs_.changed.push_back(&input);
    }
  }

  // True if a value whose producer is unknown may follow from another choice: indices, masks, as many elements as were chosen, or
  // what statistics do not tell. What has the noise of the same choice does not.
  [[nodiscard]] bool may_be_chosen(const RunInput& input, TensorId tensor) const {
    if (input.from == From::kParameter) return false;
    const auto error = view_.error(tensor);
    if (view_.is(tensor, Verdict::kShape)) return true;
    if (!error || error->discrete) return error && error->relative > 0;
    return error->by_statistics && !error->exact && (has_same_ends(tensor) || is_off_after_unknown(tensor));
  }

  // True if no noise shows, as of masks and counts.
  [[nodiscard]] bool has_same_ends(TensorId tensor) const {
    const kernels::PairMetrics metrics = view_.diff(tensor).metrics;
    return metrics.max_a == metrics.max_b && metrics.min_a == metrics.min_b;
  }

  // The error of the producer's output. If the producer lacks an input of the reference's, its output is another value,
  // and the error of its inputs counts instead.
  [[nodiscard]] double error_of_made(const RunInput& input) const {
    const ExecutionId lacking = view_.lacking(input.producer);
    const bool other = lacking != kNoId && !view_.same_in_a(input.tensor, input.produced);
    return other ? error_before(lacking) : view_.error(input.produced)->relative;
  }

  // True if an input of unknown source is off by more than the errors of this step so far: undumped operators add what
  // others do. A gradient that is zero but for rounding is measured by the size of others, of a list or of calls of an optimizer.
  [[nodiscard]] bool is_off_after_unknown(TensorId tensor) const {
    double before = std::min(kMostError, history_.largest_error);  // infinite if a reference is all zeros
    if (view_.is_backward(run_)) before = std::max(before, error_of_flips(before) / kChangedOnTheWay);
    if (!is_off(tensor, before)) return false;
    const auto error = view_.error(tensor);
    if (!error || error->discrete || !std::isfinite(error->relative)) return true;
    double rms = view_.largest_scale_beside(run_);
    for (const RunInput& other : view_.run(run_).inputs) {
      const auto one = other.tensor == kNoId || other.producer != kNoId ? std::nullopt : view_.error(other.tensor);
      if (one && !one->discrete) rms = std::max(rms, one->rms);
    }
    const double noise = std::max(kRounding * model_.storage_rounding(), kChangedOnTheWay * model_.usual_noise());
    return error->relative * error->rms > noise * rms;
  }

  // True if an input has more error than the inputs of its producer, which only one side has. msprobe lists no inputs of the
  // gradients of parameters.
  [[nodiscard]] bool is_off_after_one_side(TensorId tensor, ExecutionId producer) const {
    if (view_.is_backward(producer) && view_.run(producer).inputs.empty()) return is_off_after_unknown(tensor);
    return is_off(tensor, error_before(producer));
  }

  // True if the loss scale begins at a producer that only the side with the smaller gradients has. It takes the scale
  // away, and the other side, which scales the loss, lacks it.
  [[nodiscard]] bool begins_scale(TensorId tensor, ExecutionId producer) const {
    if (!view_.is_scaled(tensor) || (view_.loss_scale() > 1) == view_.of_candidate_only(producer)) return false;
    const std::vector<KnownInput> before = model_.inputs(producer);
    return std::none_of(before.begin(), before.end(),
                        [&](const KnownInput& input) { return view_.is_scaled(input.tensor); });
  }

  // The largest error of the inputs of an execution that has no outputs to compare.
  [[nodiscard]] double error_before(ExecutionId run) const {
    double largest = 0;
    for (const KnownInput& input : model_.inputs(run)) largest = std::max(largest, input.error.relative);
    return largest;
  }

  void add_hidden(const InputSummary& hidden) {
    inputs_.all_same = inputs_.all_same && hidden.all_same;
    inputs_.gained_nan = inputs_.gained_nan || hidden.gained_nan;
    inputs_.gained_inf = inputs_.gained_inf || hidden.gained_inf;
  }

  void add_forward() {
    for (const ExecutionId backward : view_.backward_calls_of(run_)) add_producer(backward);
    for (const ExecutionId summand : view_.summands_of(run_)) add_producer(summand);
    for (const ExecutionId other : view_.forward_calls_of(run_)) {
      add_producer(other);
      InputSummary hidden;
      for (const RunInput& input : view_.run(other).inputs) {
        view_.add_to(hidden, input.tensor);
        // A gradient has the shape of what the forward call read.
        inputs_.other_shape = inputs_.other_shape || view_.is(input.tensor, Verdict::kShape);
      }
      for (const TensorId output : view_.run(other).outputs) view_.add_to(hidden, output);
      add_hidden(hidden);
    }
  }

  const RunView& view_;
  const NoiseModel& model_;
  const RunHistory& history_;
  const ExecutionId run_;
  RunInputs inputs_;
};

}  // namespace

RunInputs inputs_of_run(const RunView& view, const NoiseModel& model, const RunHistory& history, ExecutionId run) {
  return Gatherer(view, model, history, run).gather();
}

}  // namespace msdump
