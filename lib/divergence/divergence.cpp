#include "divergence/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/numbers.h"
#include "divergence/cuts/made_not_finite.h"
#include "divergence/error_growth.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/one_sided_runs.h"
#include "divergence/root_list.h"
#include "divergence/root_reach.h"
#include "divergence/roots/one_sided_chain.h"
#include "divergence/roots/undumped.h"
#include "divergence/roots/unseen_calls.h"
#include "divergence/run_inputs.h"
#include "divergence/run_view.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class Finder {
 public:
  Finder(const RunView& view, const NoiseModel& model)
      : view_(view), model_(model), one_sided_(view), roots_(view, model, one_sided_, history_) {
    history_.states.resize(view.runs().size());
    history_.healthy.resize(view.tensors());
    for (uint32_t tensor = 0; tensor < view.tensors(); ++tensor) {
      if (const auto error = view.error(tensor)) history_.healthy[tensor] = error->relative;
    }
  }

  DivergenceReport run() {
    for (uint32_t run = 0; run < view_.runs().size(); ++run) judge(run);
    report_.roots = std::move(roots_).finish();
    if (report_.roots.empty() && view_.graph().flow() != FlowKind::kIr) report_.cut = GradientCuts(view_).first();
    return std::move(report_);
  }

  [[nodiscard]] const RunHistory& history() const { return history_; }

 private:
  // ---- one run

  void judge(uint32_t run) {
    begin_step(run);
    if (view_.one_sided(run)) {
      pass_on(run);
      return judge_exchange(run, roots_.size());
    }
    RunInputs inputs = inputs_of_run(view_, model_, history_, run);
    if (view_.graph().flow() == FlowKind::kOrder) inputs.downstream = inputs.elevated = any_before_;
    const bool follows = view_.of_cuts() && follows_alarm(run, inputs);
    if (follows) inputs.downstream = inputs.elevated = true;
    const std::vector<uint32_t> outputs = view_.outputs(run);
    RunState& state = history_.states[run];
    note_parameters(run, inputs);
    const size_t before = roots_.size();
    const bool draws = draws_differently(run, inputs, outputs);
    const bool passes = draws && judge_one_sided_draw(run, inputs, outputs);
    state.random = inputs.random || (draws && !passes);
    if (view_.of_cuts()) judge_entering_nan(run, inputs);
    if (!state.random && !passes && roots_.size() == before) {
      if (!inputs.entering.empty() && !view_.heals(run)) judge_entering(run, inputs);
      if (!inputs.carried.empty() && !alarmed_before_ && !any_before_ && roots_.size() == before)
        judge_carried(run, inputs, outputs);
      if (!inputs.constants.empty()) judge_constants(run, inputs, outputs);
      const bool known = !inputs.changed.empty() && (inputs.rescaled || matters(run, inputs, outputs)) &&
                         (follows || judge_changed(run, inputs));
      state.downstream = state.downstream || known;
      if (roots_.size() == before && !known) judge_shape(run, inputs, outputs);
      if (roots_.size() == before && !known) judge_outputs(run, inputs, outputs);
    }
    if (roots_.size() == before) judge_nan(run, inputs, outputs);
    judge_exchange(run, before);
    if (roots_.size() > before) note_alarm(run);
    state.downstream = state.downstream || inputs.downstream;
    state.downstream_of_nan = state.downstream_of_nan || inputs.downstream_of_nan;
    if (state.downstream) estimate_healthy(run);
    // Gradients of parameters may be listed before the backward call that makes them.
    if (view_.is_backward(run) && view_.run(run).inputs.empty()) return;
    for (const uint32_t tensor : outputs) {
      if (const auto& error = view_.error(tensor); error && !error->discrete && view_.layout_known(tensor))
        history_.largest_error = std::max(history_.largest_error, error->relative);
    }
  }

  void note_alarm(uint32_t run) {
    history_.states[run].alarmed = history_.states[run].downstream = true;
    any_before_ = alarmed_[backward_ ? 1 : 0] = true;
  }

  // A collective may show by itself that it is wrong, whatever the layouts and the other side are: also where the run has no
  // root, of those from `before` on.
  void judge_exchange(uint32_t run, size_t before) {
    const BrokenExchange* const broken = view_.broken(run);
    if (broken == nullptr || view_.all_agree(run)) return;
    if (roots_.size() == before) {
      backward_ = backward_ || view_.is_backward(run);
      (void)roots_.add(run, DivergenceKind::kValue, inputs_of_run(view_, model_, history_, run), view_.outputs(run));
      note_alarm(run);
    }
    roots_.last().divergence.ranks = broken->ranks;
    std::string& reason = roots_.last().divergence.reason;
    reason += (reason.empty() ? "" : "; ") + broken->reason;
  }

  // All gradients come from the loss, and so from the whole forward pass; a step is made of what the ones before leave.
  // Where the runs are cut differently edges do not show all of that, nor what calls of one side alone have read.
  [[nodiscard]] bool follows_alarm(uint32_t run, const RunInputs& inputs) {
    backward_ = backward_ || view_.is_backward(run);
    const bool unseen = !inputs.changed.empty() || inputs.evidence.empty();
    return alarmed_before_ || (backward_ && alarmed_[0]) || (any_before_ && unseen);
  }

  // A run without a partner has no outputs of its own to judge.
  void pass_on(uint32_t run) {
    RunState& state = history_.states[run];
    const auto inherit = [&](uint32_t producer) {
      const RunState& from = history_.states[producer];
      state.downstream = state.downstream || from.downstream;
      state.downstream_of_nan = state.downstream_of_nan || from.downstream_of_nan;
      state.random = state.random || from.random;
    };
    for (const RunInput& input : view_.run(run).inputs) {
      for (const uint32_t from : {input.made_by, input.updated_by}) {
        if (from != kNoRun) inherit(from);
      }
      for (const uint32_t before : view_.graph().before_gap(input)) inherit(before);
    }
  }

  // Every step has network inputs of its own; the weights of later steps are what the first has made of them.
  using ParameterKey = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string>;  // rank, step, name
  [[nodiscard]] ParameterKey key_of(uint32_t run, const RunInput& input) const {
    const RunPlace& place = view_.place(run);
    return {place.rank, input.is_weight ? std::nullopt : place.step, std::string(input.parameter)};
  }

  // Parameters that are what they should be.
  void note_parameters(uint32_t run, const RunInputs& inputs) {
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.from != From::kParameter || input.made_by != kNoRun || !view_.compared(input.tensor)) continue;
      const bool off = std::any_of(inputs.entering.begin(), inputs.entering.end(),
                                   [&](const RunInput* other) { return other == &input; });
      const ParameterKey key = key_of(run, input);
      if (!off && !reported_parameters_.contains(key)) agreed_parameters_.insert(key);
    }
  }

  void begin_step(uint32_t run) {
    const RunPlace& now = view_.place(run);
    if (run > 0 && now.rank == place_.rank && now.step == place_.step) return;
    const bool same_rank = run > 0 && now.rank == place_.rank;
    alarmed_before_ = same_rank && (alarmed_before_ || alarmed_[0] || alarmed_[1]);
    alarmed_ = {};
    any_before_ = backward_ = false;
    history_.error_before = same_rank ? std::max(history_.error_before, history_.largest_error) : 0;
    history_.largest_error = 0;
    first_of_step_ = run;
    place_ = now;
  }

  [[nodiscard]] bool draws_differently(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (model_.gain(run).rule != GainRule::kRandom || inputs.other_shape) return false;
    return view_.any_differs(outputs) &&
           !(passes_in(run, inputs, outputs, true) && passes_in(run, inputs, outputs, false));
  }

  // On one side, does an operator that may drop elements pass all of them on?
  [[nodiscard]] bool passes_in(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs,
                               bool candidate) const {
    if (inputs.evidence.empty() || outputs.empty() || view_.is_backward(run)) return false;
    const uint32_t in = inputs.evidence.front(), out = outputs.front();
    if (!view_.diff(in).metrics.max_a || !view_.diff(in).metrics.max_b) return false;
    return candidate ? view_.same_in_a(in, out) : view_.same_in_b(in, out);
  }

  // Only one side drops elements: the other passes its input on.
  bool judge_one_sided_draw(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const bool a_passes = passes_in(run, inputs, outputs, true), b_passes = passes_in(run, inputs, outputs, false);
    if (a_passes == b_passes) return false;
    Root& root = roots_.add(run, DivergenceKind::kValue, inputs, outputs);
    root.divergence.reason = fmt::format("only the {} draws random numbers here; the other passes its input on",
                                         a_passes ? "reference" : "candidate");
    return true;
  }

  // What the outputs would have without the alarms upstream.
  void estimate_healthy(uint32_t run) {
    const std::span<const ScoredOutput> outputs = model_.outputs(run);
    if (outputs.empty()) return;
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.tensor == kNoTensor || !view_.compared(input.made_as)) continue;
      history_.healthy[input.tensor] = std::min(history_.healthy[input.tensor], history_.healthy[input.made_as]);
    }
    std::vector<KnownInput> inputs = model_.inputs(run);
    for (KnownInput& input : inputs) input.error.relative = history_.healthy[input.tensor];
    for (const ScoredOutput& output : outputs) {
      double& healthy = history_.healthy[output.tensor];
      healthy = std::min(healthy, model_.expected_with(output, inputs) * std::exp(output.siblings.centre));
    }
  }

  // ---- values that come from outside

  // A parameter is reported where it is first read; an unknown source only if nothing before it may be the cause.
  void judge_entering(uint32_t run, const RunInputs& inputs) {
    for (const RunInput* const input : inputs.entering) {
      // It was right where it was read first: something has updated it, or this reads it in a coarser format.
      if (input->from == From::kParameter && agreed_parameters_.contains(key_of(run, *input))) {
        const TensorDiff& diff = view_.diff(input->tensor);
        if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b)) return add_cast(run, run, inputs, input->tensor);
        continue;
      }
      const uint32_t tensor = view_.compared(input->tensor) ? input->tensor : input->made_as;
      if (input->from == From::kParameter) {
        add_parameter(run, inputs, *input, tensor);
      } else if (!any_before_ && !inputs.downstream && !view_.all_agree(run)) {
        return judge_unknown_source(run, inputs, *input, tensor);  // where one comes from, others do
      }
    }
  }

  void add_parameter(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor) {
    history_.healthy[tensor] = 0;
    if (!reported_parameters_.insert(key_of(run, input)).second) {
      history_.states[run].downstream = true;  // of the root at its first reader
      return;
    }
    Root& root =
        roots_.add_entering(run, input.is_weight ? DivergenceKind::kParameter : DivergenceKind::kInput, inputs, tensor);
    root.divergence.parameter = input.parameter;
    root.divergence.reason = "its value differs already where it is first read";
  }

  // A parameter as the optimizer of the step before left it, whose calls were not dumped: rounding does not make it worse
  // than what it was made of. A copy that one rank alone updated otherwise is.
  void judge_carried(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (!view_.any_differs(outputs)) return;
    const uint32_t tensor = inputs.carried.front()->tensor;
    const std::string parameter = view_.parameter_like(tensor);
    Root& root = roots_.add_entering(run, parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter,
                                     inputs, tensor);
    root.divergence.parameter = parameter;
    root.lower(kUnknownSource);
    root.divergence.reason = fmt::format(
        "its input {} differs by more than anything before it in this step or in those before", view_.slot(tensor));
  }

  void judge_unknown_source(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor) {
    if (view_.other_framework()) return;
    const uint32_t other = view_.of_cuts() ? one_sided_maker(input) : one_sided_.between(first_of_step_, run);
    if (other != kNoRun) {
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
    root.uncertain_source = !view_.of_cuts();  // there values are followed across what one side alone has
    root.divergence.parameter = parameter;
    root.lower(parameter.empty() ? kUnknownSource : kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", view_.slot(tensor));
  }

  // Downstream of another root, constants differ because of it, and so do constants of gradients of the same line:
  // shapes, axes, factors.
  void judge_constants(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const bool all_same = !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return view_.is(tensor, Verdict::kSame);
    });
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

  // Does a change of the inputs show in the outputs? Where these were not compared it may.
  [[nodiscard]] bool matters(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) const {
    if (view_.heals(run)) return false;
    const std::span<const ScoredOutput> scored = model_.outputs(run);
    const bool any =
        std::any_of(scored.begin(), scored.end(), [](const ScoredOutput& output) { return output.judged; });
    if (!any) return !view_.all_agree(run) || outputs.empty() || is_another_value(*inputs.changed.front());
    return std::any_of(scored.begin(), scored.end(),
                       [&](const ScoredOutput& output) { return stands_out(output, inputs); });
  }

  // A choice may come out the same although it was made of something else.
  [[nodiscard]] bool is_another_value(const RunInput& input) const {
    const auto error = view_.error(input.tensor);
    return error && view_.one_sided(input.made_by) && error->relative > kMostError;
  }

  // An operator that only one side has lies between; or the reader turns to a coarser dtype; or something that was not
  // dumped changes the value.
  // Returns whether that explains the run.
  bool judge_changed(uint32_t run, const RunInputs& inputs) {
    if (view_.other_framework()) return false;
    const RunInput& input = *inputs.changed.front();
    const uint32_t first = view_.one_sided(input.made_by) ? input.made_by : input.made_by + 1;
    // Calls of one side alone are nothing new where the runs are cut differently.
    if (view_.of_cuts() && inputs.downstream) return false;
    if (const uint32_t other = one_sided_between(first, run, input); other != kNoRun) {
      if (one_sided_.turns_coarser(other)) {
        add_cast(other, run, inputs, input.tensor);
      } else {
        (void)roots_.add_one_sided(other, run, inputs);
      }
      return true;
    }
    const TensorDiff& diff = view_.diff(input.tensor);
    if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b)) {
      add_cast(run, run, inputs, input.tensor);
      return true;
    }
    if (alarmed_reader_writes(run, input)) return true;
    if (roots_.is_changed_after(input.made_by, run)) return true;
    if (inputs.downstream) return false;
    Root& root = roots_.add_changed(run, inputs, input);
    root.divergence.reason =
        fmt::format("its input {} has more error than {}, which wrote it: {} changes it", view_.slot(input.tensor),
                    view_.name(input.made_by), happened_between(first, run));
    if (!root.exchanges && one_sided_.first_of_candidate(first, run) == kNoRun) root.divergence.after = input.made_by;
    return true;
  }

  // Is another reader of it, which ran before, alarmed, and may have written what looks like its output?
  [[nodiscard]] bool alarmed_reader_writes(uint32_t run, const RunInput& input) const {
    // Of a value that thousands read, the last ones before the run: each of them asks.
    constexpr std::ptrdiff_t kMostReaders = 64;
    const std::vector<uint32_t>& readers = view_.run(input.made_by).readers;  // ascending
    const auto end = std::lower_bound(readers.begin(), readers.end(), run);
    const auto first = end - std::min(end - readers.begin(), kMostReaders);
    return std::any_of(
        first, end, [&](uint32_t reader) { return history_.states[reader].alarmed && reader_writes(reader, input); });
  }

  // In the reference, does a run write what it reads?
  [[nodiscard]] bool reader_writes(uint32_t reader, const RunInput& input) const {
    const auto& outputs = view_.run(reader).outputs;
    return view_.diff(input.tensor).metrics.max_b && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
             return view_.same_in_b(input.tensor, tensor);
           });
  }

  // Each way of cutting has operators of its own: the one that wrote the input.
  [[nodiscard]] uint32_t one_sided_between(uint32_t first, uint32_t end, const RunInput& input) const {
    return view_.of_cuts() ? one_sided_maker(input) : one_sided_.between(first, end);
  }

  [[nodiscard]] uint32_t one_sided_maker(const RunInput& input) const {
    for (const uint32_t maker : {input.also_made_by, input.made_by}) {
      if (maker != kNoRun && view_.one_sided(maker)) return maker;
    }
    return kNoRun;
  }

  // For the reason. A hook of the script in the middle of a backward pass is a forward call of its own.
  [[nodiscard]] std::string happened_between(uint32_t first, uint32_t end) const {
    const uint32_t run = one_sided_.first_of_candidate(first, end);
    if (run != kNoRun) return view_.name(run) + ", which only the candidate has,";
    return "something between them that was not dumped";
  }

  void add_cast(uint32_t cast, uint32_t reader, const RunInputs& inputs, uint32_t tensor) {
    if (view_.coarser_throughout() || !roots_.report_once(cast, reader)) return;
    Root& root = roots_.add(cast, DivergenceKind::kValue, inputs, {tensor});
    root.divergence.reader = reader;
    root.lower(kOfCast);
    root.uncertain_source = view_.is_gradient(cast);
    history_.states[reader].downstream = true;
    const TensorDiff& in = view_.diff(tensor);
    root.divergence.reason =
        cast == reader ? fmt::format("it reads {} where the reference has {}", msdump::name_of(in.dtype_a),
                                     msdump::name_of(in.dtype_b))
                       : fmt::format("only the candidate has this cast to a coarser dtype; {} reads what it leaves",
                                     view_.name(reader));
  }

  // ---- operators

  void judge_shape(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    std::vector<uint32_t> other;
    for (const uint32_t tensor : outputs) {
      if (view_.is(tensor, Verdict::kShape) || view_.is(tensor, Verdict::kDtype)) other.push_back(tensor);
    }
    if (other.empty() || inputs.other_shape || inputs.downstream || inputs.unknown) return;
    Root& root = roots_.add(run, DivergenceKind::kShape, inputs, other);
    root.divergence.reason = "its inputs have the same shapes, its outputs have not";
  }

  void judge_outputs(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (view_.run(run).inputs.empty() && view_.is_backward(run)) {
      // Gradients of parameters, made by a backward call that may not have been dumped.
      const std::vector<KnownInput> known = model_.inputs(run);
      if (std::all_of(known.begin(), known.end(), [](const KnownInput& input) { return input.of_forward; })) return;
    }
    // Elements that are finite on both sides come from others than those that are not.
    if (inputs.other_shape || inputs.gained_nan || inputs.gained_inf) return;
    std::vector<uint32_t> left;
    const ScoredOutput* most = nullptr;
    for (const ScoredOutput& output : model_.outputs(run)) {
      if (!stands_out(output, inputs)) continue;
      left.push_back(output.tensor);
      if (most == nullptr || output.score > most->score) most = &output;
    }
    if (left.empty()) add_discrete(inputs, outputs, left);
    if (left.empty()) return;
    Root& root = roots_.add(named_for(run), roots_.kind_of(left), inputs, left);
    root.uncertain_source = inputs.unknown_source;
    if (most != nullptr) roots_.set_score(root, *most);
    root.divergence.reason = inputs.evidence.empty() ? "its outputs differ; its inputs were not compared"
                             : inputs.all_same && !inputs.unknown
                                 ? "its inputs are equal bit for bit, its outputs differ"
                                 : "its outputs differ more than its inputs explain";
  }

  // Of a module the run inside of it that stands out most, where one does at all; of fused operators the likeliest.
  [[nodiscard]] uint32_t named_for(uint32_t run) const {
    uint32_t named = kNoRun;
    double most = kStandsOut;
    for (const uint32_t inner : view_.inside(run)) {
      for (const ScoredOutput& output : model_.outputs(inner)) {
        if (!output.judged || output.score <= most) continue;
        most = output.score;
        named = inner;
      }
    }
    if (named != kNoRun) return named;
    return view_.of_cuts() ? run
                           : model_.likeliest_within(run);  // there others may have made its inputs: see find_chains()
  }

  [[nodiscard]] bool stands_out(const ScoredOutput& output, const RunInputs& inputs) const {
    if (!output.judged) return false;
    if (inputs.downstream && !view_.layout_known(output.tensor)) return false;
    if (output.beyond_arithmetic && !inputs.downstream) return true;
    // What it is expected to have says nothing of the alarm that its input shows.
    if (inputs.elevated && output.past_operators && !inputs.all_same) return false;
    double score = output.score;
    if (inputs.elevated && !output.exact_inputs) {
      const double spread = output.siblings.spread;
      score *= spread / hypotenuse(spread, kSpreadOfFaults);
    }
    return score > model_.threshold();
  }

  // Indices and truth values do not round: with equal inputs they are equal.
  void add_discrete(const RunInputs& inputs, const std::vector<uint32_t>& outputs, std::vector<uint32_t>& left) const {
    if (!inputs.all_same || inputs.unknown || inputs.evidence.empty()) return;
    for (const uint32_t tensor : outputs) {
      const auto error = view_.error(tensor);
      if (error && error->discrete && error->relative > 0) left.push_back(tensor);
    }
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
    // An overflow of values that were too large before: because of a root, or of the scale of the loss that a root sets.
    const bool scaled = inputs.downstream && std::any_of(inputs.evidence.begin(), inputs.evidence.end(),
                                                         [&](uint32_t tensor) { return view_.is_scaled(tensor); });
    if (!makes_nan && (inputs.elevated || scaled)) return;
    Root& root = roots_.add(run, DivergenceKind::kNan, inputs, outputs);
    root.lower(kOfDownstream);
    root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference lacks"
                                       : "one side alone has infinities or NaN in its outputs, and not in its inputs";
  }

  // Where the runs are cut differently, NaN may come out of a call that the candidate alone has. All that is not finite
  // after the first such root may come of it: edges do not show all that a call of one side alone has read.
  void judge_entering_nan(uint32_t run, const RunInputs& inputs) {
    if (not_finite_before_ || inputs.downstream_of_nan) return;
    const uint32_t maker = maker_of_not_finite(view_, run);
    if (maker == kNoRun || !roots_.report_once(maker, run)) return;
    not_finite_before_ = true;
    std::vector<uint32_t> made = view_.run(maker).outputs;
    std::erase_if(made, [&](uint32_t output) { return view_.ranks_not_finite(output).empty(); });
    Root& root = roots_.add(maker, DivergenceKind::kNan, inputs, std::move(made));
    root.divergence.reader = run;
    root.lower(kOfDownstream);
    root.divergence.reason = "only the candidate has it: NaN or infinities come out of it, and none went in";
    history_.states[run].downstream_of_nan = true;
  }

  const RunView& view_;
  const NoiseModel& model_;
  const OneSidedRuns one_sided_;
  RunHistory history_;
  RootList roots_;
  DivergenceReport report_;
  std::set<ParameterKey> reported_parameters_, agreed_parameters_;
  RunPlace place_;
  uint32_t first_of_step_ = 0;
  bool any_before_ = false;         // a run of this rank and step is alarmed
  bool backward_ = false;           // a run of its backward pass was there
  std::array<bool, 2> alarmed_{};   // before the backward pass of this step, and since it began
  bool alarmed_before_ = false;     // in a step before
  bool not_finite_before_ = false;  // a call of the candidate alone has made what is not finite
};

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"value", "nan", "shape", "missing", "parameter", "input"};
  return kNames[static_cast<size_t>(kind)];
}

DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                  const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                  const DivergenceDetails& details) {
  const RunView view(a, b, pairing, diffs, modules, details.cuts);
  const NoiseModel model(view);
  Finder finder(view, model);
  DivergenceReport report = finder.run();
  report.flow = view.graph().flow();
  find_candidates(a, b, pairing, view, report.roots);
  find_chains(view, report.roots);
  find_unseen_calls(view, model, finder.history(), report.roots);
  report.scores.resize(diffs.size());
  for (const ScoredOutput& output : model.outputs()) {
    if (output.judged) report.scores[output.tensor] = TensorScore{output.measured, expected_of(output), output.score};
  }
  if (details.flow) {
    for (uint32_t tensor = 0; tensor < diffs.size(); ++tensor) report.runs.push_back(view.graph().run_of(tensor));
    report.edges = flow_edges(view.graph());
  }
  const RootReach reach(view, report.roots);
  report.explained = explain_tensors(view, model, finder.history(), reach, report.roots);
  report.loss_scale = view.loss_scale();
  report.growth = error_growth(view, model);
  account_for(view, model, finder.history(), reach, details.explain, report);
  return report;
}

}  // namespace msdump
