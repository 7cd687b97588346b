#include "divergence/divergence.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "divergence/error_origin.h"
#include "divergence/error_size.h"
#include "divergence/one_sided_runs.h"
#include "divergence/root_list.h"
#include "divergence/run_inputs.h"
#include "divergence/run_view.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class Finder {
 public:
  explicit Finder(const RunView& view)
      : view_(view), one_sided_(view), states_(view.runs().size()), roots_(view, states_) {}

  DivergenceReport run() {
    for (uint32_t run = 0; run < view_.runs().size(); ++run) judge(run);
    report_.roots = std::move(roots_).finish();
    count_suspicious();
    return std::move(report_);
  }

 private:
  // ---- one run

  void judge(uint32_t run) {
    begin_step(run);
    if (view_.one_sided(run)) return;
    RunInputs inputs = inputs_of_run(view_, states_, run);
    if (view_.graph().flow() == FlowKind::kOrder) inputs.downstream = any_before_;
    const std::vector<uint32_t> outputs = view_.outputs(run);
    const bool diverges = view_.any_differs(outputs);
    const size_t before = roots_.size();
    if (!inputs.entering.empty()) judge_entering(run, inputs);
    if (!inputs.constants.empty()) judge_constants(run, inputs, outputs);
    const bool harmless = !outputs.empty() && !diverges;  // what differs does not matter to it
    if (!inputs.changed.empty() && !inputs.differ && !harmless) judge_changed(run, inputs);
    if (!diverges || inputs.agree()) judge_precision(run, inputs);
    if (inputs.agree() && diverges && roots_.size() == before) judge_outputs(run, inputs, outputs);
    if (inputs.agree() && !diverges && roots_.size() == before) judge_close(run, inputs, outputs);
    if (diverges && roots_.size() == before) judge_nan(run, inputs, outputs);
    RunState& state = states_[run];
    state.diverges = diverges || roots_.size() > before;
    state.downstream =
        state.downstream || inputs.downstream || state.diverges || inputs.differ || !inputs.entering.empty();
    state.downstream_of_nan = state.downstream_of_nan || inputs.downstream_of_nan;
    any_before_ = any_before_ || state.diverges;
  }

  void begin_step(uint32_t run) {
    const RunPlace& now = view_.place(run);
    if (run > 0 && now.rank == place_.rank && now.step == place_.step) return;
    earlier_step_ = now.rank == place_.rank && (earlier_step_ || any_before_);
    any_before_ = false;
    first_of_step_ = run;
    place_ = now;
  }

  // ---- values that come from outside

  // A parameter is reported where it is first read; an unknown source only if nothing before it may be the cause.
  void judge_entering(uint32_t run, const RunInputs& inputs) {
    for (const RunInput* const input : inputs.entering) {
      if (earlier_step_) return;
      const uint32_t tensor = view_.compared(input->tensor) ? input->tensor : input->made_as;
      if (input->from == From::kParameter) {
        add_parameter(run, inputs, *input, tensor);
      } else if (!any_before_ && !inputs.downstream && !view_.all_agree(run)) {
        judge_unknown_source(run, inputs, tensor);
      }
    }
  }

  void add_parameter(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor) {
    if (!reported_parameters_.emplace(view_.place(run).rank, input.parameter).second) return;
    Root& root =
        roots_.add_entering(run, input.is_weight ? DivergenceKind::kParameter : DivergenceKind::kInput, inputs, tensor);
    root.divergence.parameter = input.parameter;
    root.divergence.reason = "its value differs already where it is first read";
  }

  void judge_unknown_source(uint32_t run, const RunInputs& inputs, uint32_t tensor) {
    if (view_.other_framework()) return;
    if (const uint32_t other = one_sided_between(first_of_step_, run); other != kNoRun) {
      (void)roots_.add_one_sided(other, run, inputs);
      return;
    }
    if (view_.is(tensor, Verdict::kShape)) {
      Root& root = roots_.add(run, DivergenceKind::kShape, inputs, {tensor});
      root.lower(kNotAllKnown);
      root.divergence.reason = fmt::format("its input {} has another shape ({}), and nothing before it has",
                                           view_.slot(tensor), view_.diff(tensor).reason);
      return;
    }
    const std::string parameter = view_.parameter_like(tensor);
    Root& root = roots_.add_entering(run, parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter,
                                     inputs, tensor);
    root.uncertain_source = true;
    root.divergence.parameter = parameter;
    root.lower(parameter.empty() ? kUnknownSource : kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", view_.slot(tensor));
  }

  // Downstream of another root, constants differ because of it, and so do constants of gradients of the same line:
  // shapes, axes, factors.
  void judge_constants(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const bool all_same =
        std::all_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) { return view_.is(tensor, Verdict::kSame); });
    const uint32_t tensor = inputs.constants.front();
    const bool of_value = view_.is(tensor, Verdict::kDiffer) || view_.is(tensor, Verdict::kClose);
    if (inputs.downstream || all_same || (!of_value && !view_.any_differs(outputs))) return;
    if (roots_.has_line_of(run)) return;
    Root& root = roots_.add(run, DivergenceKind::kValue, inputs, outputs);
    root.uncertain_source = view_.is_gradient(run);
    root.constant = tensor;
    const auto& metrics = view_.diff(tensor).metrics;
    root.divergence.reason = fmt::format("its constant input {} differs", view_.slot(tensor));
    if (metrics.count == 1 && metrics.max_a && metrics.max_b)
      root.divergence.reason += fmt::format(": {:g} against {:g}", *metrics.max_a, *metrics.max_b);
  }

  // ---- values that changed on the way

  // An operator that only one side has lies between; or the producer is off by as much, which its own, coarser dtype
  // hid; or something that was not dumped changes the value.
  void judge_changed(uint32_t run, const RunInputs& inputs) {
    if (view_.other_framework()) return;
    const RunInput& input = *inputs.changed.front();
    const uint32_t first = view_.one_sided(input.made_by) ? input.made_by : input.made_by + 1;
    if (const uint32_t other = one_sided_between(first, run); other != kNoRun) {
      (void)roots_.add_one_sided(other, run, inputs);
      return;
    }
    if (inputs.downstream) return;
    if (inherits(view_, input)) {
      const bool coarser =
          rounding_of(view_.diff(input.made_as).dtype_a) > rounding_of(view_.diff(input.tensor).dtype_b);
      if (coarser && !view_.coarser_throughout()) add_coarser(origin_of_error(view_, input.made_by), run);
      return;
    }
    Root& root = roots_.add(run, roots_.kind_of({input.tensor}), inputs, {input.tensor});
    root.lower(kNotAllKnown);
    root.divergence.reason =
        fmt::format("its input {} differs although {}, which wrote it, agrees: {} changes it", view_.slot(input.tensor),
                    view_.name(input.made_by), happened_between(first, run));
  }

  // Frameworks have operators of their own.
  [[nodiscard]] uint32_t one_sided_between(uint32_t first, uint32_t end) const {
    return view_.other_framework() ? kNoRun : one_sided_.between(first, end);
  }

  // For the reason. A hook of the script in the middle of a backward pass is a forward call of its own.
  [[nodiscard]] std::string happened_between(uint32_t first, uint32_t end) const {
    const uint32_t run = one_sided_.first_of_candidate(first, end);
    if (run != kNoRun) return view_.name(run) + ", which only the candidate has,";
    return "something between them that was not dumped";
  }

  void add_coarser(uint32_t run, uint32_t reader) {
    if (!roots_.report_once(run, run)) return;
    const auto& outputs = view_.run(run).outputs;
    Root& root = roots_.add(run, DivergenceKind::kValue, inputs_of_run(view_, states_, run), outputs);
    root.lower(kNotAllKnown);
    const DType dtype = outputs.empty() ? DType::kUndefined : view_.diff(outputs.front()).dtype_a;
    root.divergence.reason = fmt::format("what it computes in {} is off by more than {}, which reads it, can take",
                                         msdump::name_of(dtype), view_.name(reader));
  }

  // ---- operators

  // An input that has lost precision that its producer still has: a cast in between, by this operator or another,
  // unless the candidate is coarser throughout. It may be within the tolerance.
  void judge_precision(uint32_t run, const RunInputs& inputs) {
    if (view_.coarser_throughout() || inputs.downstream) return;
    for (const RunInput& input : view_.run(run).inputs) {
      if (!view_.is(input.tensor, Verdict::kClose)) continue;
      const TensorDiff& in = view_.diff(input.tensor);
      if (error_size(in).l2 <= rounding_of(in.dtype_b) || inherits(view_, input)) continue;
      const bool reads_coarser = view_.compared(input.made_as) && rounding_of(in.dtype_a) > rounding_of(in.dtype_b);
      const uint32_t other = one_sided_between(input.made_by == kNoRun ? first_of_step_ : input.made_by, run);
      const bool of_cast = other != kNoRun && one_sided_.turns_coarser(other);
      if (!of_cast && !reads_coarser) continue;
      add_cast(of_cast ? other : run, run, inputs, input.tensor);
      return;
    }
  }

  void add_cast(uint32_t cast, uint32_t reader, const RunInputs& inputs, uint32_t tensor) {
    if (!roots_.report_once(cast, reader)) return;
    Root& root = roots_.add(cast, DivergenceKind::kValue, inputs, {tensor});
    root.lower(kWithinTolerance);
    root.uncertain_source = view_.is_gradient(cast);
    states_[reader].downstream = true;
    const TensorDiff& in = view_.diff(tensor);
    root.divergence.reason =
        cast == reader ? fmt::format("it reads {} where the reference has {}", msdump::name_of(in.dtype_a),
                                     msdump::name_of(in.dtype_b))
                       : fmt::format("only the candidate has this cast to a coarser dtype; {} reads what it leaves",
                                     view_.name(reader));
  }

  void judge_outputs(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (view_.run(run).inputs.empty() && view_.is_backward(run)) return;  // gradients of parameters, made by another
    const std::vector<uint32_t> left = unexplained(run, inputs, outputs);
    const bool surely_equal = inputs.all_same && !inputs.unknown && !inputs.evidence.empty();
    if (left.empty() || (inputs.downstream && !surely_equal)) return;
    Root& root = roots_.add(run, roots_.kind_of(left), inputs, left);
    root.uncertain_source = inputs.unknown_source;
    root.divergence.reason = inputs.evidence.empty() ? "its outputs differ; its inputs were not compared"
                             : inputs.all_same       ? "its inputs are equal bit for bit, its outputs differ"
                                                     : "its inputs agree, its outputs differ";
  }

  // Outputs that differ by more than the error of the inputs, or rounding under cancellation, explains.
  std::vector<uint32_t> unexplained(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const ErrorSize in = view_.largest_error(inputs.evidence);
    std::vector<uint32_t> left;
    for (const uint32_t tensor : outputs) {
      if (!view_.differs(tensor)) continue;
      const TensorDiff& diff = view_.diff(tensor);
      if (diff.verdict == Verdict::kDiffer) {
        if (!inputs.all_same && (may_jump(view_.op(run).type) || explains(in, error_size(diff)))) continue;
        if (is_noise(run, inputs, diff)) continue;
      }
      left.push_back(tensor);
    }
    return left;
  }

  [[nodiscard]] bool is_noise(uint32_t run, const RunInputs& inputs, const TensorDiff& output) const {
    if (!may_cancel(view_.op(run).type) && !view_.is_backward(run)) return false;
    CancellationCase one;
    one.output = &output;
    for (const uint32_t tensor : inputs.evidence) one.inputs.push_back(&view_.diff(tensor));
    return is_cancellation_noise(one);
  }

  // Equal inputs, and an output within the tolerance but not within rounding.
  void judge_close(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (inputs.evidence.empty() || inputs.unknown || inputs.bridged || inputs.downstream || !inputs.all_same) return;
    std::vector<uint32_t> suspicious;
    for (const uint32_t tensor : outputs) {
      if (!view_.is(tensor, Verdict::kClose)) continue;
      const TensorDiff& diff = view_.diff(tensor);
      if (diff.dtype_a == diff.dtype_b && exceeds_rounding(diff) && !is_noise(run, inputs, diff))
        suspicious.push_back(tensor);
    }
    if (suspicious.empty()) return;
    Root& root = roots_.add(run, DivergenceKind::kValue, inputs, suspicious);
    root.lower(kWithinTolerance);
    root.divergence.reason =
        "its inputs are equal bit for bit; its outputs are within the tolerance, but further apart than rounding "
        "leaves";
    report_.suspicious.insert(report_.suspicious.end(), suspicious.begin(), suspicious.end());
  }

  static bool exceeds_rounding(const TensorDiff& diff) {
    constexpr double kLargestOverMean = 10;
    const ErrorSize error = error_size(diff);
    return std::max(error.l2, error.max / kLargestOverMean) > rounding_of(diff.dtype_b);
  }

  // NaN has a flow of its own: an operator that produces it is a root even if other differences went in, unless it
  // produces it from the NaN of a root before it.
  void judge_nan(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (inputs.unknown || inputs.downstream_of_nan) return;
    const bool makes_nan = !inputs.gained_nan && std::any_of(outputs.begin(), outputs.end(),
                                                             [&](uint32_t tensor) { return view_.gained_nan(tensor); });
    const bool makes_inf = !inputs.gained_inf && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return view_.is(tensor, Verdict::kNan);
    });
    if (!makes_nan && !makes_inf) return;
    Root& root = roots_.add(run, DivergenceKind::kNan, inputs, outputs);
    root.lower(kDownstream);
    root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference lacks"
                                       : "one side alone has infinities or NaN in its outputs, and not in its inputs";
  }

  // A root explains its own outputs, also those that are reported because of it alone.
  void count_suspicious() {
    const std::set<uint32_t> suspicious(report_.suspicious.begin(), report_.suspicious.end());
    for (Divergence& root : report_.roots) {
      for (const uint32_t tensor : root.outputs) root.downstream += suspicious.count(tensor);
    }
  }

  const RunView& view_;
  const OneSidedRuns one_sided_;
  std::vector<RunState> states_;  // by run
  RootList roots_;
  DivergenceReport report_;
  std::set<std::pair<std::optional<int64_t>, std::string>> reported_parameters_;
  RunPlace place_;
  uint32_t first_of_step_ = 0;
  bool any_before_ = false;    // a run of this rank and step diverges
  bool earlier_step_ = false;  // one of an earlier step of this rank does
};

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"value", "nan", "shape", "missing", "parameter", "input"};
  return kNames[static_cast<size_t>(kind)];
}

DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                  const std::vector<TensorDiff>& diffs, const ModuleTree& modules) {
  const RunView view(a, b, pairing, diffs, modules);
  DivergenceReport report = Finder(view).run();
  report.flow = view.graph().flow();
  for (uint32_t tensor = 0; tensor < diffs.size(); ++tensor) {
    if (view.graph().role(tensor) == TensorRole::kUnwritten) report.unwritten.push_back(tensor);
  }
  return report;
}

}  // namespace msdump
