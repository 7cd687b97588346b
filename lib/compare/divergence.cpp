#include "compare/divergence.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/error_size.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr double kSureByIr = 0.95, kSureByValues = 0.9, kSureByOrder = 0.6;
constexpr double kNotAllKnown = 0.7, kBehindAnother = 0.7, kWithinTolerance = 0.6, kUnknownSource = 0.5;

using From = InputEdge::From;

bool is_collective(std::string_view op_type) {
  static constexpr std::array<std::string_view, 8> kParts = {"allreduce", "allgather", "reducescatter", "alltoall",
                                                             "broadcast", "receive",   "recv",          "barrier"};
  std::string plain;
  for (const char c : to_lower(op_type)) {
    if (c != '_') plain += c;
  }
  if (plain == "broadcastto") return false;
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return plain.find(part) != std::string::npos; });
}

// What the diffs of tensors say, one at a time and together.
class Facts {
 public:
  explicit Facts(const std::vector<TensorDiff>& diffs) : diffs_(diffs) {}

  [[nodiscard]] const TensorDiff& of(uint32_t tensor) const { return diffs_[tensor]; }
  [[nodiscard]] bool compared(uint32_t tensor) const {
    return tensor != kNoTensor && diffs_[tensor].verdict != Verdict::kUnmatched &&
           diffs_[tensor].verdict != Verdict::kSkipped;
  }
  // A tensor that only one side has says nothing about values.
  [[nodiscard]] bool differs(uint32_t tensor) const {
    return compared(tensor) && is_difference(diffs_[tensor].verdict);
  }
  [[nodiscard]] bool any_differs(const std::vector<uint32_t>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return differs(tensor); });
  }
  [[nodiscard]] bool is(uint32_t tensor, Verdict verdict) const {
    return tensor != kNoTensor && diffs_[tensor].verdict == verdict;
  }
  [[nodiscard]] bool gained_nan(uint32_t tensor) const {
    return tensor != kNoTensor && diffs_[tensor].metrics.nan_a > diffs_[tensor].metrics.nan_b;
  }
  [[nodiscard]] ErrorSize largest_error(const std::vector<uint32_t>& tensors) const {
    ErrorSize largest;
    for (const uint32_t tensor : tensors) {
      if (compared(tensor)) largest.raise(error_size(diffs_[tensor]));
    }
    return largest;
  }

 private:
  const std::vector<TensorDiff>& diffs_;
};

// What is known of what went into a run.
struct Inputs {
  std::vector<uint32_t> evidence;
  bool differ = false;   // values that were computed here do
  bool all_same = true;  // bit for bit, those in `evidence`
  bool unknown = false;  // one was not dumped
  bool bridged = false;  // the producer's output stands for one
  bool behind = false;   // a run before it diverges, or is behind one that does
  bool gained_nan = false, gained_inf = false;
  std::vector<uint32_t> constants;         // that differ
  std::vector<const FlowInput*> entering;  // differ, and come from outside or from what is not known
  std::vector<const FlowInput*> changed;   // differ, although what wrote them agrees or has no partner
};

class Finder {
 public:
  Finder(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
         const ModuleTree& modules)
      : a_(a), b_(b), pairing_(pairing), facts_(diffs), modules_(modules) {
    report_.flow = flow_of(a, b, pairing, diffs);
    states_.resize(runs().size());
    find_misleading();
    for (uint32_t run = 0; run < runs().size(); ++run) runs_of_name_[name(run)].push_back(run);
    find_containers();
  }

  DivergenceReport run() {
    for (uint32_t run = 0; run < runs().size(); ++run) look_at(run);
    drop_explained();
    for (Root& root : roots_) {
      root.divergence.downstream = count_downstream(root.run);
      report_.roots.push_back(std::move(root.divergence));
    }
    return std::move(report_);
  }

 private:
  struct State {
    bool behind = false;  // it diverges, or something that it is made of does
    bool diverges = false;
    bool container = false;  // a module that others ran inside
  };
  struct Root {
    uint32_t run = 0;
    bool uncertain_source = false;  // where the value comes from is not known
    Divergence divergence;
  };

  [[nodiscard]] const std::vector<FlowRun>& runs() const { return report_.flow.runs; }
  [[nodiscard]] const OpPair& pair(uint32_t run) const { return pairing_.operators[runs()[run].op]; }
  [[nodiscard]] const SequencedOp& op(uint32_t run) const {
    return pair(run).b != kNoOperator ? pairing_.b[pair(run).b] : pairing_.a[pair(run).a];
  }
  [[nodiscard]] const std::string& name(uint32_t run) const { return op(run).name; }
  [[nodiscard]] bool one_sided(uint32_t run) const { return pair(run).a == kNoOperator || pair(run).b == kNoOperator; }
  [[nodiscard]] RunPlace place(uint32_t run) const {
    const FlowRun& one = runs()[run];
    const uint32_t tensor = !one.outputs.empty()  ? one.outputs.front()
                            : !one.inputs.empty() ? one.inputs.front().tensor
                                                  : kNoTensor;
    return tensor == kNoTensor ? RunPlace() : place_of(a_, b_, pairing_.tensors[tensor]);
  }
  // The slot of a tensor, for people.
  [[nodiscard]] std::string_view slot(uint32_t tensor) const {
    const TensorPair& both = pairing_.tensors[tensor];
    return both.b != kNoTensor ? (*b_.tensors)[both.b].name.slot : (*a_.tensors)[both.a].name.slot;
  }

  // Outputs that differ although every run that reads them got what it should: what was written there is not what
  // flowed on.
  void find_misleading() {
    std::map<uint32_t, bool> any_reader_differs;
    for (const FlowRun& run : runs()) {
      for (const FlowInput& input : run.inputs) {
        if (input.made_as == kNoTensor || !facts_.compared(input.tensor)) continue;
        bool& differs = any_reader_differs[input.made_as];
        differs = differs || facts_.differs(input.tensor);
      }
    }
    for (const auto& [tensor, differs] : any_reader_differs) {
      if (!differs && facts_.differs(tensor)) misleading_.insert(tensor);
    }
  }

  // Outputs that count.
  [[nodiscard]] std::vector<uint32_t> outputs_of(uint32_t run) const {
    std::vector<uint32_t> outputs = runs()[run].outputs;
    std::erase_if(outputs, [&](uint32_t tensor) { return misleading_.count(tensor) > 0; });
    return outputs;
  }

  void find_containers() {
    if (modules_.empty()) return;
    for (uint32_t run = 0; run < runs().size(); ++run) {
      std::string_view parent = modules_.parent_of(name(run));
      for (int depth = 0; !parent.empty() && depth < 1000; ++depth) {
        const auto found = runs_of_name_.find(parent);
        if (found != runs_of_name_.end()) {
          for (const uint32_t module : found->second) {
            states_[module].container = true;
            inside_[module].push_back(run);
          }
        }
        parent = modules_.parent_of(parent);
      }
    }
  }

  // ---- what went in

  void take(uint32_t tensor, Inputs& inputs) const {
    inputs.evidence.push_back(tensor);
    inputs.all_same = inputs.all_same && facts_.is(tensor, Verdict::kSame);
    inputs.gained_nan = inputs.gained_nan || facts_.gained_nan(tensor);
    inputs.gained_inf = inputs.gained_inf || facts_.is(tensor, Verdict::kNan);
  }

  void take_input(const FlowInput& input, Inputs& inputs) const {
    if (input.made_by != kNoRun) {
      inputs.behind = inputs.behind || states_[input.made_by].behind;
    }
    uint32_t tensor = input.tensor;
    if (!facts_.compared(tensor)) {
      tensor = input.made_as;
      inputs.bridged = inputs.bridged || facts_.compared(tensor);
    }
    if (!facts_.compared(tensor)) {
      inputs.unknown = inputs.unknown || (input.from != From::kConstant && input.from != From::kParameter);
      return;
    }
    take(tensor, inputs);
    if (!facts_.differs(tensor)) return;
    if (input.from == From::kConstant) {
      inputs.constants.push_back(tensor);
    } else if (input.made_by == kNoRun) {
      inputs.entering.push_back(&input);
    } else if (one_sided(input.made_by) ||
               (tensor == input.tensor && facts_.compared(input.made_as) && !facts_.differs(input.made_as))) {
      inputs.changed.push_back(&input);
    } else {
      inputs.differ = true;
    }
  }

  // What a backward call works with besides gradients: all that its forward call saw and made.
  void take_forward(uint32_t run, Inputs& inputs) const {
    const auto forward = forward_entry_of(name(run));
    if (!forward) return;
    const auto found = runs_of_name_.find(*forward);
    if (found == runs_of_name_.end()) return;
    for (const uint32_t other : found->second) {
      if (place(other) != place(run)) continue;
      inputs.behind = inputs.behind || states_[other].behind;
      inputs.differ = inputs.differ || states_[other].diverges;
      for (const FlowInput& input : runs()[other].inputs) take_hidden(input.tensor, inputs);
      for (const uint32_t output : runs()[other].outputs) take_hidden(output, inputs);
    }
  }
  void take_hidden(uint32_t tensor, Inputs& inputs) const {
    if (!facts_.compared(tensor)) return;
    inputs.differ = inputs.differ || facts_.differs(tensor);
    inputs.all_same = inputs.all_same && facts_.is(tensor, Verdict::kSame);
    inputs.gained_nan = inputs.gained_nan || facts_.gained_nan(tensor);
    inputs.gained_inf = inputs.gained_inf || facts_.is(tensor, Verdict::kNan);
  }

  // The other ranks' share of a collective operation.
  void take_other_ranks(uint32_t run, Inputs& inputs) const {
    const auto found = runs_of_name_.find(name(run));
    for (const uint32_t other : found->second) {
      if (place(other).step != place(run).step) continue;
      for (const FlowInput& input : runs()[other].inputs) take_hidden(input.tensor, inputs);
    }
    inputs.unknown = true;
  }

  [[nodiscard]] Inputs inputs_of_run(uint32_t run) const {
    Inputs inputs;
    for (const FlowInput& input : runs()[run].inputs) take_input(input, inputs);
    if (report_.flow.kind != FlowKind::kIr) {
      take_forward(run, inputs);
      inputs.unknown = inputs.unknown || runs()[run].inputs.empty();
    }
    if (report_.flow.kind == FlowKind::kOrder) inputs.behind = any_before_;
    if (is_collective(op(run).type)) take_other_ranks(run, inputs);
    return inputs;
  }

  // ---- one run

  void look_at(uint32_t run) {
    begin_step(run);
    if (one_sided(run)) return;
    const Inputs inputs = inputs_of_run(run);
    const std::vector<uint32_t> outputs = outputs_of(run);
    const bool diverges = facts_.any_differs(outputs);
    const size_t before = roots_.size();
    if (!inputs.entering.empty()) look_at_entering(run, inputs);
    // Behind another root constants differ because of it: the shapes, axes and factors of gradients.
    if (!inputs.constants.empty() && diverges && !inputs.behind) add_constant(run, inputs);
    if (!inputs.changed.empty() && !inputs.differ) look_at_changed(run, inputs);
    const bool agree = !inputs.differ && inputs.entering.empty() && inputs.changed.empty() && inputs.constants.empty();
    if (agree && diverges) look_at_outputs(run, inputs);
    if (agree && !diverges) look_at_close(run, inputs);
    if (!agree && diverges) look_at_nan(run, inputs);
    const bool found = roots_.size() > before;
    states_[run].diverges = diverges || found;
    states_[run].behind = inputs.behind || states_[run].diverges || inputs.differ || !inputs.entering.empty();
    any_before_ = any_before_ || diverges || found;
  }

  void begin_step(uint32_t run) {
    const RunPlace now = place(run);
    if (run > 0 && now.rank == place_.rank && now.step == place_.step) return;
    earlier_step_ = now.rank == place_.rank && (earlier_step_ || any_before_);
    if (now.rank != place_.rank) earlier_step_ = false;
    any_before_ = false;
    first_of_step_ = run;
    place_ = now;
  }

  // A value from outside: of a parameter it is told where it is first read; of unknown origin nothing before it may be
  // the cause.
  void look_at_entering(uint32_t run, const Inputs& inputs) {
    for (const FlowInput* const input : inputs.entering) {
      if (earlier_step_) return;
      const uint32_t tensor = facts_.compared(input->tensor) ? input->tensor : input->made_as;
      if (input->from == From::kParameter) {
        if (!told_parameters_.insert({place(run).rank, input->parameter}).second) continue;
        const bool trained = input->parameter.find('.') != std::string::npos;
        Root& root = add(run, trained ? DivergenceKind::kParameter : DivergenceKind::kInput, inputs, {tensor});
        root.divergence.parameter = input->parameter;
        root.divergence.reason = "its value differs already where it is first read";
      } else if (!any_before_ && !inputs.behind) {
        look_at_unknown_source(run, inputs, tensor);
      }
    }
  }

  void look_at_unknown_source(uint32_t run, const Inputs& inputs, uint32_t tensor) {
    if (const uint32_t other = one_sided_between(first_of_step_, run); other != kNoRun) {
      add_one_sided(other, run, inputs);
      return;
    }
    if (facts_.is(tensor, Verdict::kShape)) {
      Root& root = add(run, DivergenceKind::kShape, inputs, {tensor});
      root.divergence.confidence = std::min(root.divergence.confidence, kNotAllKnown);
      root.divergence.reason = fmt::format("its input {} has another shape ({}), and nothing before it has",
                                           slot(tensor), facts_.of(tensor).reason);
      return;
    }
    const std::string parameter = parameter_like(tensor);
    Root& root = add(run, parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter, inputs, {tensor});
    root.uncertain_source = true;
    root.divergence.parameter = parameter;
    root.divergence.confidence =
        std::min(root.divergence.confidence, parameter.empty() ? kUnknownSource : kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", slot(tensor));
  }

  // The module's parameter that holds the same values as a tensor, if any does.
  [[nodiscard]] std::string parameter_like(uint32_t tensor) const {
    const auto& wanted = facts_.of(tensor).metrics;
    if (!wanted.max_b) return {};
    for (uint32_t i = 0; i < pairing_.tensors.size(); ++i) {
      const TensorPair& both = pairing_.tensors[i];
      if (both.b == kNoTensor || (*b_.tensors)[both.b].name.io != Io::kParameter) continue;
      const auto& metrics = facts_.of(i).metrics;
      if (metrics.max_b == wanted.max_b && metrics.min_b == wanted.min_b && metrics.mean_b == wanted.mean_b)
        return fmt::format("{}:{}", (*b_.tensors)[both.b].name.op_name, (*b_.tensors)[both.b].name.slot);
    }
    return {};
  }

  void add_constant(uint32_t run, const Inputs& inputs) {
    const uint32_t tensor = inputs.constants.front();
    Root& root = add(run, DivergenceKind::kValue, inputs, runs()[run].outputs);
    const auto& metrics = facts_.of(tensor).metrics;
    root.divergence.reason = fmt::format("its constant input {} differs", slot(tensor));
    if (metrics.count == 1 && metrics.max_a && metrics.max_b)
      root.divergence.reason += fmt::format(": {:g} against {:g}", *metrics.max_a, *metrics.max_b);
  }

  // An operator that only one side has stands between; or what wrote it is off by as much, which its own, coarser dtype
  // hid; or something that was not dumped at all changes it.
  void look_at_changed(uint32_t run, const Inputs& inputs) {
    const FlowInput& input = *inputs.changed.front();
    const uint32_t first = one_sided(input.made_by) ? input.made_by : input.made_by + 1;
    if (const uint32_t other = one_sided_between(first, run); other != kNoRun) {
      add_one_sided(other, run, inputs);
      return;
    }
    if (inputs.behind) return;
    if (inherits(input)) {
      add_coarser(origin_of(input.made_by), run);
      return;
    }
    Root& root = add(run, kind_of({input.tensor}), inputs, {input.tensor});
    root.divergence.confidence = std::min(root.divergence.confidence, kNotAllKnown);
    root.divergence.reason = fmt::format(
        "its input {} differs although {}, which wrote it, agrees: something between them that was not "
        "dumped changes it",
        slot(input.tensor), name(input.made_by));
  }

  // Is an input no more wrong than the output that it was?
  [[nodiscard]] bool inherits(const FlowInput& input) const {
    if (input.made_by == kNoRun || !facts_.is(input.made_as, Verdict::kClose)) return false;
    constexpr double kAsMuch = 3;
    return error_size(facts_.of(input.tensor)).l2 <= kAsMuch * error_size(facts_.of(input.made_as)).l2;
  }
  // The run where an error began that is within the tolerance of a coarser dtype.
  [[nodiscard]] uint32_t origin_of(uint32_t run) const {
    for (int hops = 0; hops < 1000; ++hops) {
      const auto& inputs = runs()[run].inputs;
      const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const FlowInput& input) {
        return facts_.is(input.tensor, Verdict::kClose) && inherits(input);
      });
      if (found == inputs.end()) return run;
      run = found->made_by;
    }
    return run;
  }
  void add_coarser(uint32_t run, uint32_t reader) {
    if (!told_.insert({place(run).rank, runs()[run].op}).second) return;
    Root& root = add(run, DivergenceKind::kValue, inputs_of_run(run), runs()[run].outputs);
    root.divergence.confidence = std::min(root.divergence.confidence, kNotAllKnown);
    const auto& outputs = runs()[run].outputs;
    const DType dtype = outputs.empty() ? DType::kUndefined : facts_.of(outputs.front()).dtype_a;
    root.divergence.reason = fmt::format("what it computes in {} is off by more than {}, which reads it, can take",
                                         msdump::name_of(dtype), name(reader));
  }

  // Of the runs in [first, end) that one side alone has, the one to name: the candidate's that turns to a coarser dtype,
  // else its last, else the reference's last. A module whose operators have partners does not count.
  [[nodiscard]] uint32_t one_sided_between(uint32_t first, uint32_t end) const {
    uint32_t of_a = kNoRun, of_b = kNoRun;
    for (uint32_t run = first; run < end; ++run) {
      if (!one_sided(run) || has_paired_inside(run) || is_backward(run) != is_backward(end)) continue;
      (pair(run).b == kNoOperator ? of_a : of_b) = run;
      if (of_a == run && turns_coarser(run)) return run;
    }
    return of_a != kNoRun ? of_a : of_b;
  }
  [[nodiscard]] bool is_backward(uint32_t run) const { return forward_entry_of(name(run)).has_value(); }
  [[nodiscard]] bool has_paired_inside(uint32_t run) const {
    const auto found = inside_.find(run);
    return found != inside_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](uint32_t inner) { return !one_sided(inner); });
  }
  [[nodiscard]] bool turns_coarser(uint32_t run) const {
    double in = 0, out = 0;
    for (const FlowInput& input : runs()[run].inputs) {
      if (input.tensor != kNoTensor) in = std::max(in, rounding_of(dtype_of(input.tensor)));
    }
    for (const uint32_t tensor : runs()[run].outputs) out = std::max(out, rounding_of(dtype_of(tensor)));
    return in > 0 && out > in;
  }
  [[nodiscard]] DType dtype_of(uint32_t tensor) const {
    const TensorPair& both = pairing_.tensors[tensor];
    return both.a != kNoTensor ? (*a_.tensors)[both.a].name.dtype : (*b_.tensors)[both.b].name.dtype;
  }

  void add_one_sided(uint32_t one_sided_run, uint32_t reader, const Inputs& inputs) {
    if (!told_.insert({place(reader).rank, runs()[one_sided_run].op}).second) return;
    Root& root = add(one_sided_run, DivergenceKind::kMissing, {}, {});
    root.divergence.inputs = inputs.evidence;
    root.divergence.confidence = std::min(root.divergence.confidence, kNotAllKnown);
    const bool of_a = pair(one_sided_run).b == kNoOperator;
    if (of_a) root.divergence.kind = kind_of(inputs.evidence);
    root.divergence.reason = fmt::format("only the {} has it, and {}, which comes after it, reads something else",
                                         of_a ? "candidate" : "reference", name(reader));
  }

  void look_at_outputs(uint32_t run, const Inputs& inputs) {
    const std::vector<uint32_t> outputs = unexplained(run, inputs);
    if (outputs.empty()) return;
    const bool surely_equal = inputs.all_same && !inputs.unknown && !inputs.evidence.empty();
    if (inputs.behind && !surely_equal) return;
    Root& root = add(run, kind_of(outputs), inputs, outputs);
    root.divergence.reason = inputs.evidence.empty() ? "its outputs differ; its inputs were not dumped"
                             : inputs.all_same       ? "its inputs are equal bit for bit, its outputs differ"
                                                     : "its inputs agree, its outputs differ";
  }

  // Outputs that differ by more than the error of the inputs, or rounding where terms cancel, accounts for.
  std::vector<uint32_t> unexplained(uint32_t run, const Inputs& inputs) {
    const ErrorSize in = facts_.largest_error(inputs.evidence);
    std::vector<uint32_t> left;
    for (const uint32_t tensor : outputs_of(run)) {
      if (!facts_.differs(tensor)) continue;
      const TensorDiff& diff = facts_.of(tensor);
      if (diff.verdict != Verdict::kDiffer) {
        left.push_back(tensor);
        continue;
      }
      if (!inputs.all_same && explains(in, error_size(diff))) continue;
      if (is_noise(run, inputs, diff)) {
        report_.noise.push_back(tensor);
        continue;
      }
      left.push_back(tensor);
    }
    return left;
  }

  [[nodiscard]] bool is_noise(uint32_t run, const Inputs& inputs, const TensorDiff& output) const {
    if (!may_cancel(op(run).type) && forward_entry_of(name(run)) == std::nullopt) return false;
    CancellationCase one;
    one.output = &output;
    for (const uint32_t tensor : inputs.evidence) one.inputs.push_back(&facts_.of(tensor));
    return is_cancellation_noise(one);
  }

  // Equal inputs, and an output within the tolerance but not within rounding.
  void look_at_close(uint32_t run, const Inputs& inputs) {
    if (inputs.evidence.empty() || inputs.unknown || inputs.bridged || inputs.behind || !inputs.all_same) return;
    std::vector<uint32_t> outputs;
    for (const uint32_t tensor : runs()[run].outputs) {
      if (!facts_.is(tensor, Verdict::kClose)) continue;
      const TensorDiff& diff = facts_.of(tensor);
      const ErrorSize error = error_size(diff);
      if (diff.dtype_a != diff.dtype_b || std::max(error.l2, error.max / 10) <= rounding_of(diff.dtype_b)) continue;
      if (!is_noise(run, inputs, diff)) outputs.push_back(tensor);
    }
    if (outputs.empty()) return;
    Root& root = add(run, DivergenceKind::kValue, inputs, outputs);
    root.divergence.confidence = std::min(root.divergence.confidence, kWithinTolerance);
    root.divergence.reason =
        "its inputs are equal bit for bit; its outputs are within the tolerance, but further apart than rounding "
        "leaves";
    report_.suspicious.insert(report_.suspicious.end(), outputs.begin(), outputs.end());
  }

  // NaN has a flow of its own: an operator that makes it is a root although other differences went in.
  void look_at_nan(uint32_t run, const Inputs& inputs) {
    const std::vector<uint32_t> outputs = outputs_of(run);
    const bool makes_nan = !inputs.gained_nan && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return facts_.gained_nan(tensor);
    });
    const bool makes_inf = !inputs.gained_inf && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return facts_.is(tensor, Verdict::kNan);
    });
    if ((!makes_nan && !makes_inf) || inputs.unknown) return;
    Root& root = add(run, DivergenceKind::kNan, inputs, outputs);
    root.divergence.confidence = std::min(root.divergence.confidence, kBehindAnother);
    root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference has not"
                                       : "an infinity comes out of it, and none went in that the reference has not";
  }

  // A module in which an operator stands out, or that some operator of the other side is not in.
  [[nodiscard]] bool explained_by_inside(uint32_t run) const {
    const auto found = inside_.find(run);
    if (found == inside_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](uint32_t inner) {
      return states_[inner].diverges || one_sided(inner) || facts_.any_differs(outputs_of(inner));
    });
  }

  // ---- roots

  Root& add(uint32_t run, DivergenceKind kind, const Inputs& inputs, std::vector<uint32_t> outputs) {
    Root root;
    root.run = run;
    Divergence& divergence = root.divergence;
    divergence.op = runs()[run].op;
    divergence.place = place(run);
    divergence.kind = kind;
    divergence.inputs = inputs.evidence;
    divergence.outputs = std::move(outputs);
    divergence.confidence = sure();
    if (inputs.bridged || inputs.unknown) divergence.confidence = std::min(divergence.confidence, kNotAllKnown);
    if (inputs.behind) divergence.confidence = std::min(divergence.confidence, kBehindAnother);
    if (pair(run).how != PairedBy::kNothing) divergence.confidence *= pair(run).confidence;
    const double in = facts_.largest_error(inputs.evidence).l2, out = facts_.largest_error(divergence.outputs).l2;
    if (in > 0 && out > 0) divergence.amplification = out / in;
    roots_.push_back(std::move(root));
    return roots_.back();
  }

  [[nodiscard]] double sure() const {
    switch (report_.flow.kind) {
      case FlowKind::kIr: return kSureByIr;
      case FlowKind::kValues: return kSureByValues;
      case FlowKind::kOrder: return kSureByOrder;
    }
    return kSureByOrder;
  }

  [[nodiscard]] DivergenceKind kind_of(const std::vector<uint32_t>& tensors) const {
    const auto any = [&](Verdict verdict) {
      return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return facts_.is(tensor, verdict); });
    };
    if (any(Verdict::kNan)) return DivergenceKind::kNan;
    return any(Verdict::kShape) || any(Verdict::kDtype) ? DivergenceKind::kShape : DivergenceKind::kValue;
  }

  // Roots that the whole picture explains: the same operator in a later step, values of unknown origin on a rank when an
  // operator of another rank is guilty.
  void drop_explained() {
    std::set<std::pair<std::optional<int64_t>, uint32_t>> told;
    const bool guilty =
        std::any_of(roots_.begin(), roots_.end(), [](const Root& root) { return !root.uncertain_source; });
    std::erase_if(roots_, [&](const Root& root) {
      if ((root.uncertain_source && guilty) || explained_by_inside(root.run)) return true;
      const bool parameter =
          root.divergence.kind == DivergenceKind::kParameter || root.divergence.kind == DivergenceKind::kInput;
      return !parameter && !told.insert({root.divergence.place.rank, root.divergence.op}).second;
    });
    std::stable_sort(roots_.begin(), roots_.end(), [&](const Root& left, const Root& right) {
      const auto key = [](const Root& root) { return std::pair(root.divergence.place.step, root.run); };
      return key(left) < key(right);
    });
  }

  [[nodiscard]] uint64_t count_downstream(uint32_t from) const {
    std::set<uint32_t> reached = {from};
    if (report_.flow.kind == FlowKind::kIr) {
      std::vector<uint32_t> work = {from};
      while (!work.empty()) {
        const uint32_t run = work.back();
        work.pop_back();
        for (const uint32_t reader : runs()[run].readers) {
          if (reached.insert(reader).second) work.push_back(reader);
        }
      }
    } else {
      for (uint32_t run = from; run < runs().size(); ++run) reached.insert(run);
    }
    std::set<uint32_t> tensors;
    for (const uint32_t run : reached) {
      for (const FlowInput& input : runs()[run].inputs) tensors.insert(input.tensor);
      tensors.insert(runs()[run].outputs.begin(), runs()[run].outputs.end());
    }
    return static_cast<uint64_t>(
        std::count_if(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return facts_.differs(tensor); }));
  }

  const CompareSide &a_, &b_;
  const Pairing& pairing_;
  const Facts facts_;
  const ModuleTree& modules_;
  DivergenceReport report_;
  std::vector<State> states_;  // by run
  std::map<std::string, std::vector<uint32_t>, std::less<>> runs_of_name_;
  std::map<uint32_t, std::vector<uint32_t>> inside_;  // by module: the runs inside it
  std::vector<Root> roots_;
  std::set<uint32_t> misleading_;  // outputs
  std::set<std::pair<std::optional<int64_t>, std::string>> told_parameters_;
  std::set<std::pair<std::optional<int64_t>, uint32_t>> told_;
  RunPlace place_;
  bool any_before_ = false;    // a run of this rank and step diverges
  bool earlier_step_ = false;  // one of an earlier step of this rank does
  uint32_t first_of_step_ = 0;
};

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"value", "nan", "shape", "missing", "parameter", "input"};
  return kNames[static_cast<size_t>(kind)];
}

DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                  const std::vector<TensorDiff>& diffs, const ModuleTree& modules) {
  return Finder(a, b, pairing, diffs, modules).run();
}

}  // namespace msdump
