#include "compare/divergence.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compare/downstream.h"
#include "compare/error_size.h"
#include "compare/one_sided_runs.h"
#include "compare/run_inputs.h"
#include "compare/run_view.h"

namespace msdump {
namespace {

constexpr double kSureByIr = 0.95, kSureByValues = 0.9, kSureByOrder = 0.6;
constexpr double kNotAllKnown = 0.7, kBehindAnother = 0.7, kWithinTolerance = 0.6, kUnknownSource = 0.5;
constexpr int kMostHops = 1000;

using From = InputEdge::From;

struct Root {
  uint32_t run = 0;
  bool uncertain_source = false;  // where the value comes from is not known
  uint32_t constant = kNoTensor;  // that differs
  Divergence divergence;
};

class Finder {
 public:
  explicit Finder(const RunView& view) : view_(view), one_sided_(view), states_(view.runs().size()) {}

  DivergenceReport run() {
    for (uint32_t run = 0; run < view_.runs().size(); ++run) look_at(run);
    drop_explained();
    pass_noise_on();
    std::vector<uint32_t> from;
    for (const Root& root : roots_) from.push_back(root.run);
    const std::vector<uint64_t> downstream = count_downstream(view_, from);
    for (size_t i = 0; i < roots_.size(); ++i) {
      roots_[i].divergence.downstream = downstream[i];
      report_.roots.push_back(std::move(roots_[i].divergence));
    }
    return std::move(report_);
  }

 private:
  // ---- one run

  void look_at(uint32_t run) {
    begin_step(run);
    if (view_.one_sided(run)) return;
    RunInputs inputs = inputs_of_run(view_, states_, run);
    if (view_.flow().kind == FlowKind::kOrder) inputs.behind = any_before_;
    const std::vector<uint32_t> outputs = view_.outputs(run);
    const bool diverges = view_.any_differs(outputs);
    const size_t before = roots_.size();
    if (!inputs.entering.empty()) look_at_entering(run, inputs);
    if (!inputs.constants.empty()) look_at_constants(run, inputs, outputs);
    if (!inputs.changed.empty() && !inputs.differ) look_at_changed(run, inputs);
    if (!diverges || inputs.agree()) look_at_precision(run, inputs);
    if (inputs.agree() && diverges && roots_.size() == before) look_at_outputs(run, inputs, outputs);
    if (inputs.agree() && !diverges && roots_.size() == before) look_at_close(run, inputs, outputs);
    if (diverges && roots_.size() == before) look_at_nan(run, inputs, outputs);
    RunState& state = states_[run];
    state.diverges = diverges || roots_.size() > before;
    state.behind = state.behind || inputs.behind || state.diverges || inputs.differ || !inputs.entering.empty();
    state.behind_nan = state.behind_nan || inputs.behind_nan;
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

  // Of a parameter it is told where it is first read; of an unknown source nothing before it may be the cause.
  void look_at_entering(uint32_t run, const RunInputs& inputs) {
    for (const FlowInput* const input : inputs.entering) {
      if (earlier_step_) return;
      const uint32_t tensor = view_.compared(input->tensor) ? input->tensor : input->made_as;
      if (input->from == From::kParameter) {
        add_parameter(run, inputs, input->parameter, tensor);
      } else if (!any_before_ && !inputs.behind) {
        look_at_unknown_source(run, inputs, tensor);
      }
    }
  }

  void add_parameter(uint32_t run, const RunInputs& inputs, const std::string& parameter, uint32_t tensor) {
    if (!told_parameters_.insert({view_.place(run).rank, parameter}).second) return;
    const bool trained = parameter.find('.') != std::string::npos;
    Root& root = add(run, trained ? DivergenceKind::kParameter : DivergenceKind::kInput, inputs, {tensor});
    root.divergence.parameter = parameter;
    root.divergence.reason = "its value differs already where it is first read";
  }

  void look_at_unknown_source(uint32_t run, const RunInputs& inputs, uint32_t tensor) {
    if (const uint32_t other = one_sided_.between(first_of_step_, run); other != kNoRun) {
      add_one_sided(other, run, inputs);
      return;
    }
    if (view_.is(tensor, Verdict::kShape)) {
      Root& root = add(run, DivergenceKind::kShape, inputs, {tensor});
      lower(root, kNotAllKnown);
      root.divergence.reason = fmt::format("its input {} has another shape ({}), and nothing before it has",
                                           view_.slot(tensor), view_.diff(tensor).reason);
      return;
    }
    const std::string parameter = view_.parameter_like(tensor);
    Root& root = add(run, parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter, inputs, {tensor});
    root.uncertain_source = true;
    root.divergence.parameter = parameter;
    lower(root, parameter.empty() ? kUnknownSource : kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", view_.slot(tensor));
  }

  // Behind another root constants differ because of it, and so do those of gradients of the same line: shapes, axes,
  // factors.
  void look_at_constants(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const bool all_same =
        std::all_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) { return view_.is(tensor, Verdict::kSame); });
    if (inputs.behind || all_same) return;
    if (is_line_of_root(run)) return;
    const uint32_t tensor = inputs.constants.front();
    Root& root = add(run, DivergenceKind::kValue, inputs, outputs);
    root.uncertain_source = view_.is_gradient(run);
    root.constant = tensor;
    const auto& metrics = view_.diff(tensor).metrics;
    root.divergence.reason = fmt::format("its constant input {} differs", view_.slot(tensor));
    if (metrics.count == 1 && metrics.max_a && metrics.max_b)
      root.divergence.reason += fmt::format(": {:g} against {:g}", *metrics.max_a, *metrics.max_b);
  }

  [[nodiscard]] bool is_line_of_root(uint32_t run) {
    for (; roots_with_lines_ < roots_.size(); ++roots_with_lines_) {
      if (const auto line = view_.line(roots_[roots_with_lines_].run)) root_lines_.insert(*line);
    }
    const auto line = view_.line(run);
    return line && root_lines_.count(*line) > 0;
  }

  // ---- values that changed on the way

  // An operator that only one side has stands between; or what wrote it is off by as much, which its own, coarser dtype
  // hid; or something that was not dumped at all changes it.
  void look_at_changed(uint32_t run, const RunInputs& inputs) {
    const FlowInput& input = *inputs.changed.front();
    const uint32_t first = view_.one_sided(input.made_by) ? input.made_by : input.made_by + 1;
    if (const uint32_t other = one_sided_.between(first, run); other != kNoRun) {
      add_one_sided(other, run, inputs);
      return;
    }
    if (inputs.behind) return;
    if (inherits(input) && view_.coarser_throughout()) return;
    if (inherits(input)) {
      add_coarser(origin_of(input.made_by), run);
      return;
    }
    Root& root = add(run, kind_of({input.tensor}), inputs, {input.tensor});
    lower(root, kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} differs although {}, which wrote it, agrees: {} changes it",
                                         view_.slot(input.tensor), view_.name(input.made_by), between(first, run));
  }

  // What a hook of the script does in the middle of a backward pass is a forward call of its own.
  [[nodiscard]] std::string between(uint32_t first, uint32_t end) const {
    const uint32_t run = one_sided_.first_of_candidate(first, end);
    if (run != kNoRun) return view_.name(run) + ", which only the candidate has,";
    return "something between them that was not dumped";
  }

  // Is an input no more wrong than the output that it was?
  [[nodiscard]] bool inherits(const FlowInput& input) const {
    constexpr double kAsMuch = 3;
    if (input.made_by == kNoRun || !view_.is(input.made_as, Verdict::kClose)) return false;
    return error_size(view_.diff(input.tensor)).l2 <= kAsMuch * error_size(view_.diff(input.made_as)).l2;
  }
  // The run where an error began that is within the tolerance of a coarser dtype.
  [[nodiscard]] uint32_t origin_of(uint32_t run) const {
    for (int hops = 0; hops < kMostHops; ++hops) {
      const auto& inputs = view_.run(run).inputs;
      const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const FlowInput& input) {
        return view_.is(input.tensor, Verdict::kClose) && inherits(input);
      });
      if (found == inputs.end()) return run;
      run = found->made_by;
    }
    return run;
  }
  void add_coarser(uint32_t run, uint32_t reader) {
    if (!told_.insert({view_.place(run).rank, view_.run(run).op}).second) return;
    const auto& outputs = view_.run(run).outputs;
    Root& root = add(run, DivergenceKind::kValue, inputs_of_run(view_, states_, run), outputs);
    lower(root, kNotAllKnown);
    const DType dtype = outputs.empty() ? DType::kUndefined : view_.diff(outputs.front()).dtype_a;
    root.divergence.reason = fmt::format("what it computes in {} is off by more than {}, which reads it, can take",
                                         msdump::name_of(dtype), view_.name(reader));
  }

  void add_one_sided(uint32_t run, uint32_t reader, const RunInputs& inputs) {
    if (!told_.insert({view_.place(reader).rank, view_.run(run).op}).second) return;
    const bool of_a = view_.of_candidate_only(run);
    Root& root = add(run, of_a ? kind_of(inputs.evidence) : DivergenceKind::kMissing, inputs, {});
    lower(root, kNotAllKnown);
    root.uncertain_source = view_.is_gradient(run);
    root.divergence.reason = fmt::format("only the {} has it, and {}, which comes after it, reads something else",
                                         of_a ? "candidate" : "reference", view_.name(reader));
  }

  // ---- operators

  // An input that has lost what its producer still has: a cast in between, of this operator or of its own, unless the
  // candidate is coarser throughout. Within the tolerance, perhaps.
  void look_at_precision(uint32_t run, const RunInputs& inputs) {
    if (view_.coarser_throughout() || inputs.behind) return;
    for (const FlowInput& input : view_.run(run).inputs) {
      if (!view_.is(input.tensor, Verdict::kClose)) continue;
      const TensorDiff& in = view_.diff(input.tensor);
      if (error_size(in).l2 <= rounding_of(in.dtype_b) || inherits(input)) continue;
      const bool reads_coarser = view_.compared(input.made_as) && rounding_of(in.dtype_a) > rounding_of(in.dtype_b);
      const uint32_t other = one_sided_.between(input.made_by == kNoRun ? first_of_step_ : input.made_by, run);
      const bool of_cast = other != kNoRun && one_sided_.turns_coarser(other);
      if (!of_cast && !reads_coarser) continue;
      add_cast(of_cast ? other : run, run, inputs, input.tensor);
      return;
    }
  }

  void add_cast(uint32_t cast, uint32_t reader, const RunInputs& inputs, uint32_t tensor) {
    if (!told_.insert({view_.place(reader).rank, view_.run(cast).op}).second) return;
    Root& root = add(cast, DivergenceKind::kValue, inputs, {tensor});
    lower(root, kWithinTolerance);
    root.uncertain_source = view_.is_gradient(cast);
    states_[reader].behind = true;
    const TensorDiff& in = view_.diff(tensor);
    root.divergence.reason =
        cast == reader ? fmt::format("it reads {} where the reference has {}", msdump::name_of(in.dtype_a),
                                     msdump::name_of(in.dtype_b))
                       : fmt::format("only the candidate has this cast to a coarser dtype; {} reads what it leaves",
                                     view_.name(reader));
  }

  void look_at_outputs(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (view_.run(run).inputs.empty() && view_.is_backward(run)) return;  // gradients of parameters, made by another
    const std::vector<uint32_t> left = unexplained(run, inputs, outputs);
    const bool surely_equal = inputs.all_same && !inputs.unknown && !inputs.evidence.empty();
    if (left.empty() || (inputs.behind && !surely_equal)) return;
    Root& root = add(run, kind_of(left), inputs, left);
    root.uncertain_source = inputs.unknown_source;
    root.divergence.reason = inputs.evidence.empty() ? "its outputs differ; its inputs were not dumped"
                             : inputs.all_same       ? "its inputs are equal bit for bit, its outputs differ"
                                                     : "its inputs agree, its outputs differ";
  }

  // Outputs that differ by more than the error of the inputs, or rounding where terms cancel, accounts for.
  std::vector<uint32_t> unexplained(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    const ErrorSize in = view_.largest_error(inputs.evidence);
    std::vector<uint32_t> left;
    for (const uint32_t tensor : outputs) {
      if (!view_.differs(tensor)) continue;
      const TensorDiff& diff = view_.diff(tensor);
      if (diff.verdict == Verdict::kDiffer) {
        if (!inputs.all_same && (may_jump(view_.op(run).type) || explains(in, error_size(diff)))) continue;
        if (is_noise(run, inputs, diff)) {
          report_.noise.push_back(tensor);
          continue;
        }
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
  void look_at_close(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (inputs.evidence.empty() || inputs.unknown || inputs.bridged || inputs.behind || !inputs.all_same) return;
    std::vector<uint32_t> suspicious;
    for (const uint32_t tensor : outputs) {
      if (!view_.is(tensor, Verdict::kClose)) continue;
      const TensorDiff& diff = view_.diff(tensor);
      if (diff.dtype_a == diff.dtype_b && exceeds_rounding(diff) && !is_noise(run, inputs, diff))
        suspicious.push_back(tensor);
    }
    if (suspicious.empty()) return;
    Root& root = add(run, DivergenceKind::kValue, inputs, suspicious);
    lower(root, kWithinTolerance);
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

  // NaN has a flow of its own: an operator that makes it is a root although other differences went in, unless it makes
  // it of what a root before it made.
  void look_at_nan(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
    if (inputs.unknown || inputs.behind_nan) return;
    const bool makes_nan = !inputs.gained_nan && std::any_of(outputs.begin(), outputs.end(),
                                                             [&](uint32_t tensor) { return view_.gained_nan(tensor); });
    const bool makes_inf = !inputs.gained_inf && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return view_.is(tensor, Verdict::kNan);
    });
    if (!makes_nan && !makes_inf) return;
    Root& root = add(run, DivergenceKind::kNan, inputs, outputs);
    lower(root, kBehindAnother);
    root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference has not"
                                       : "an infinity comes out of it, and none went in that the reference has not";
  }

  // What reads noise shows the same.
  void pass_noise_on() {
    const std::set<uint32_t> noise(report_.noise.begin(), report_.noise.end());
    if (noise.empty()) return;
    for (const FlowRun& run : view_.runs()) {
      for (const FlowInput& input : run.inputs) {
        if (input.made_as != kNoTensor && noise.count(input.made_as) > 0 && view_.is(input.tensor, Verdict::kDiffer))
          report_.noise.push_back(input.tensor);
      }
    }
  }

  // ---- roots

  static void lower(Root& root, double most) {
    root.divergence.confidence = std::min(root.divergence.confidence, most);
  }

  Root& add(uint32_t run, DivergenceKind kind, const RunInputs& inputs, std::vector<uint32_t> outputs) {
    Root root;
    root.run = run;
    Divergence& divergence = root.divergence;
    divergence.op = view_.run(run).op;
    divergence.place = view_.place(run);
    divergence.kind = kind;
    divergence.inputs = inputs.evidence;
    divergence.outputs = std::move(outputs);
    divergence.confidence = sure();
    if (inputs.bridged || inputs.unknown) lower(root, kNotAllKnown);
    if (inputs.behind) lower(root, kBehindAnother);
    if (view_.pair(run).how != PairedBy::kNothing) divergence.confidence *= view_.pair(run).confidence;
    const double in = view_.largest_error(inputs.evidence).l2, out = view_.largest_error(divergence.outputs).l2;
    if (in > 0 && out > 0) divergence.amplification = out / in;
    if (kind == DivergenceKind::kNan) states_[run].behind_nan = true;
    roots_.push_back(std::move(root));
    return roots_.back();
  }

  [[nodiscard]] double sure() const {
    switch (view_.flow().kind) {
      case FlowKind::kIr: return kSureByIr;
      case FlowKind::kValues: return kSureByValues;
      case FlowKind::kOrder: break;
    }
    return kSureByOrder;
  }

  [[nodiscard]] DivergenceKind kind_of(const std::vector<uint32_t>& tensors) const {
    const auto any = [&](Verdict verdict) {
      return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return view_.is(tensor, verdict); });
    };
    if (any(Verdict::kNan)) return DivergenceKind::kNan;
    return any(Verdict::kShape) || any(Verdict::kDtype) ? DivergenceKind::kShape : DivergenceKind::kValue;
  }

  // Roots that the whole picture explains: modules in which an operator stands out, the same operator in a later step,
  // values of unknown origin when an operator is guilty somewhere.
  void drop_explained() {
    std::set<std::pair<std::optional<int64_t>, uint32_t>> told;
    const bool guilty =
        std::any_of(roots_.begin(), roots_.end(), [](const Root& root) { return !root.uncertain_source; });
    if (!guilty) keep_first_uncertain();
    drop_equal_constants();
    std::erase_if(roots_, [&](const Root& root) {
      if ((root.uncertain_source && guilty) || explained_by_inside(root.run)) return true;
      const bool enters =
          root.divergence.kind == DivergenceKind::kParameter || root.divergence.kind == DivergenceKind::kInput;
      return !enters && !told.insert({root.divergence.place.rank, root.divergence.op}).second;
    });
    std::stable_sort(roots_.begin(), roots_.end(), [](const Root& left, const Root& right) {
      return std::pair(left.divergence.place.step, left.run) < std::pair(right.divergence.place.step, right.run);
    });
  }

  // A constant of the script may be that of several operators, of gradients in other graphs too: the first that ran is
  // named.
  void drop_equal_constants() {
    std::map<std::tuple<std::string_view, std::optional<double>, std::optional<double>>, std::optional<uint64_t>> first;
    const auto key = [&](const Root& root) {
      const auto& metrics = view_.diff(root.constant).metrics;
      return std::tuple(view_.op(root.run).type, metrics.max_a, metrics.max_b);
    };
    for (const Root& root : roots_) {
      if (root.constant == kNoTensor) continue;
      const auto time = view_.time(root.run);
      const auto [at, added] = first.try_emplace(key(root), time);
      if (!added) at->second = std::min(at->second, time);
    }
    std::erase_if(roots_, [&](const Root& root) {
      const auto found = root.constant == kNoTensor ? first.end() : first.find(key(root));
      return found != first.end() && found->second < view_.time(root.run);
    });
  }

  // Where it is not known what flows where, what ran first is the most probable, or the operator before it that only
  // the reference has.
  void keep_first_uncertain() {
    if (roots_.empty() || view_.flow().kind != FlowKind::kIr) return;
    const auto first = std::min_element(roots_.begin(), roots_.end(), [&](const Root& left, const Root& right) {
      return std::pair(left.divergence.place.step, view_.time(left.run).value_or(0)) <
             std::pair(right.divergence.place.step, view_.time(right.run).value_or(0));
    });
    const uint32_t reader = first->run, missing = missing_before(reader);
    Root kept = std::move(*first);
    roots_.clear();
    if (missing == kNoRun) {
      roots_.push_back(std::move(kept));
    } else {
      add_one_sided(missing, reader, inputs_of_run(view_, states_, reader));
    }
    if (!roots_.empty()) lower(roots_.front(), kUnknownSource);
  }

  [[nodiscard]] uint32_t missing_before(uint32_t reader) const {
    uint32_t missing = kNoRun;
    std::optional<uint64_t> latest;
    for (uint32_t run = 0; run < view_.runs().size(); ++run) {
      if (!view_.one_sided(run) || view_.of_candidate_only(run) || view_.is_gradient(run)) continue;
      const auto time = view_.time(run);
      if (!time || time >= view_.time(reader) || time < latest) continue;
      latest = time;
      missing = run;
    }
    return missing;
  }

  [[nodiscard]] bool explained_by_inside(uint32_t run) const {
    const auto& inside = view_.inside(run);
    return std::any_of(inside.begin(), inside.end(), [&](uint32_t inner) {
      return states_[inner].diverges || view_.one_sided(inner) || view_.any_differs(view_.outputs(inner));
    });
  }

  const RunView& view_;
  const OneSidedRuns one_sided_;
  std::vector<RunState> states_;  // by run
  std::vector<Root> roots_;
  DivergenceReport report_;
  std::set<std::pair<std::optional<int64_t>, std::string>> told_parameters_;
  std::set<std::pair<std::optional<int64_t>, uint32_t>> told_;
  std::set<SourceLine> root_lines_;
  size_t roots_with_lines_ = 0;  // so many of the roots are in it
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
  report.flow = view.flow().kind;
  return report;
}

}  // namespace msdump
