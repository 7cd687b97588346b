#include "divergence/run_view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "compare/pair/precision.h"
#include "divergence/model/constants.h"
#include "graph/flow/communication.h"
#include "graph/lines/source_lines.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr int kMostNested = 1000;  // modules

const std::vector<uint32_t> kNone;

const SourceFrame* frame_of(const CompareSide& side, const std::vector<SequencedOp>& operators, uint32_t op) {
  const bool in_graph = op != kNoOperator && operators[op].op != kNoIndex;
  return in_graph && side.graph != nullptr ? best_frame(*side.graph, operators[op].op) : nullptr;
}

// The outputs of the runs after one, of its step and pass: where no reader is known, these show whether what it made was
// right.
class LaterOutputs {
 public:
  void begin(std::optional<int64_t> step, bool backward) {
    if (step != step_) {
      next_ = passes_[0];
      passes_ = {};
    }
    step_ = step;
    pass_ = &passes_[backward ? 1 : 0];
  }
  void add(bool compared, bool differs) {
    pass_->compared += compared ? 1U : 0U;
    pass_->differ += differs ? 1U : 0U;
  }
  // Where nothing is left of the pass, the next step shows it.
  [[nodiscard]] bool agree() const {
    constexpr double kFewDiffer = 0.2;
    const Pass& shown = pass_->compared > 0 ? *pass_ : next_;
    return shown.compared > 0 && static_cast<double>(shown.differ) <= kFewDiffer * static_cast<double>(shown.compared);
  }
  [[nodiscard]] bool any() const { return pass_->compared > 0 || next_.compared > 0; }

 private:
  struct Pass {
    size_t compared = 0, differ = 0;
  };
  std::optional<int64_t> step_;
  std::array<Pass, 2> passes_;  // forward, backward
  Pass next_;                   // the forward pass of the step after
  Pass* pass_ = nullptr;
};

}  // namespace

std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing, uint32_t op) {
  const OpPair& pair = pairing.operators[op];
  const SourceFrame* found = frame_of(b, pairing.b, pair.b);
  if (found == nullptr) found = frame_of(a, pairing.a, pair.a);
  return found == nullptr ? std::nullopt : std::optional(SourceLine{found->file, found->line});
}

RunView::RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs, const ModuleTree& modules, const CutEvidence* cuts)
    : a_(a),
      b_(b),
      pairing_(pairing),
      diffs_(diffs),
      graph_(paired_runs(a, b, pairing, diffs, cuts)),
      cuts_(cuts),
      expected_(alone_for_known_reason(pairing)) {
  find_errors();
  for (const OpRun& run : runs()) first_steps_.try_emplace(run.place.rank, run.place.step);
  find_names();
  forget_local_numbers();
  forget_made_up();
  find_collectives();
  find_not_passed_on();
  find_modules(modules);
  coarser_throughout_ = msdump::coarser_throughout(a, b, pairing).has_value();
}

void RunView::find_errors() {
  loss_scale_ = msdump::loss_scale(diffs_);
  errors_.reserve(diffs_.size());
  verdicts_.reserve(diffs_.size());
  for (const TensorDiff& diff : diffs_) {
    errors_.push_back(error_of(diff, loss_scale_));
    const bool found = diff.verdict != Verdict::kUnmatched && diff.verdict != Verdict::kSkipped;
    const bool gained_nan = diff.nan_in_a_alone || diff.metrics.nan_a > diff.metrics.nan_b;
    verdicts_.push_back({diff.verdict, found && !diff.mislabelled, gained_nan});
  }
}

bool RunView::is_scaled(uint32_t tensor) const {
  return loss_scale_ != 1 && is_about_times(diffs_[tensor], loss_scale_);
}

void RunView::find_names() {
  names_ = HashSlots(runs().size());
  name_numbers_.reserve(runs().size());
  for (uint32_t index = 0; index < runs().size(); ++index) {
    const std::string& text = name(index);
    const uint32_t found = names_.find_or_add(text_hash(text), static_cast<uint32_t>(named_.size()),
                                              [&](uint32_t other) { return name(named_[other].front()) == text; });
    if (found == named_.size()) named_.emplace_back();
    named_[found].push_back(index);
    name_numbers_.push_back(found);
  }
}

// From the last run to the first: a reader that heals got what it needed, whatever its input looks like.
void RunView::find_not_passed_on() {
  enum class Read : uint8_t { kNever, kRight, kMended, kWrong };  // the last that applies counts
  std::vector<Read> read(diffs_.size(), Read::kNever);
  not_passed_on_.resize(diffs_.size());
  mended_.resize(diffs_.size());
  LaterOutputs later;
  std::vector<uint32_t> unread;  // doubtful, and nothing later shows whether they matter
  std::set<uint32_t> harmless;   // operators of which something else showed that they do not
  for (uint32_t index = static_cast<uint32_t>(runs().size()); index-- > 0;) {
    const OpRun& run = runs()[index];
    Read outputs = Read::kNever;
    later.begin(place(index).step, is_backward(index));
    for (const uint32_t output : run.outputs) {
      not_passed_on_[output] = read[output] == Read::kRight && differs(output);
      mended_[output] = read[output] == Read::kMended && differs(output);
      // Ranks may have a sum where others have the mean, which a later call takes.
      const bool doubtful = !layout_known(output) || (of_cuts() && is_communication(op(index).type) && differs(output));
      if (doubtful && (not_passed_on_[output] || (read[output] == Read::kNever && later.agree()))) {
        // What differs as values of another layout do, and does not matter, differs in its layout alone.
        forget(output);
        harmless.insert(run.op);
      } else if (compared(output)) {
        const Read own = !differs(output) ? Read::kRight : layout_known(output) ? Read::kWrong : read[output];
        outputs = std::max(outputs, not_passed_on_[output] ? Read::kRight : own);
      }
    }
    for (const uint32_t output : run.outputs) {
      const bool doubtful = compared(output) && differs(output) && is_communication(op(index).type);
      if (doubtful && read[output] == Read::kNever && !later.any()) unread.push_back(index);
    }
    for (const uint32_t output : run.outputs) later.add(compared(output), differs(output) && !not_passed_on_[output]);
    const bool heals = this->heals(index), even = evens_out(index);
    for (const RunInput& input : run.inputs) {
      if (!compared(input.tensor)) {
        // The other side computes this in another call: what came of it is right.
        if (even && input.made_as != kNoTensor) read[input.made_as] = std::max(read[input.made_as], Read::kRight);
        continue;
      }
      // A small error is made even by a collective alone, as the local maxima are by that of all: an update may be right
      // within its tolerance although the gradient is not.
      const auto& error = errors_[input.tensor];
      const bool small = error && error->relative < kMostError && !is_communication(op(index).type);
      const bool healed = heals || (even && !small);
      // Its own writer has the value, with another partner or none.
      if (input.also_made_as != kNoTensor && !differs(input.tensor))
        read[input.also_made_as] = std::max(read[input.also_made_as], Read::kRight);
      if (input.made_as != kNoTensor) {
        const Read wrong = is_mended(input.made_as, input.tensor) ? Read::kMended : Read::kWrong;
        const Read now = !differs(input.tensor) || healed ? Read::kRight : layout_known(input.tensor) ? wrong : outputs;
        // What another output holds in the candidate says nothing against this one.
        const bool of_other = input.also_made_as != kNoTensor && input.also_made_as != input.made_as;
        if (now <= Read::kMended || !of_other) read[input.made_as] = std::max(read[input.made_as], now);
      }
      const bool unknown = differs(input.tensor) && !layout_known(input.tensor);
      if (unknown && (healed || (outputs <= Read::kRight && later.agree()))) forget(input.tensor);
    }
  }
  // At the end of the last step: as in the steps before.
  for (const uint32_t index : unread) {
    for (const uint32_t output : run(index).outputs) {
      if (harmless.contains(run(index).op) && compared(output) && differs(output)) forget(output);
    }
  }
}

bool RunView::is_mended(uint32_t output, uint32_t input) const {
  const auto &left = errors_[output], &read = errors_[input];
  return of_cuts() && left && read && kChangedOnTheWay * read->relative < left->relative;
}

bool RunView::layout_known(uint32_t tensor) const {
  if (cuts_ == nullptr || cuts_->known[tensor]) return true;
  const auto& error = errors_[tensor];
  // Of two layouts at once, both may be wrong: the largest of each half of a row is near that of the row.
  const double most = cuts_->both_cut ? kMostError / kChangedOnTheWay : kMostError;
  return error && !error->discrete && error->relative < most;
}

void RunView::forget(uint32_t tensor) {
  verdicts_[tensor] = {Verdict::kSkipped, false, false};
  errors_[tensor].reset();
}

// Numbers of rows, experts and positions, and truth values about them, are those of a rank's own part: where it reads one,
// or follows from such numbers, and wherever both sides have parts of their own.
void RunView::forget_local_numbers() {
  if (cuts_ == nullptr) return;
  const auto differs_as_number = [&](uint32_t tensor) {
    return compared(tensor) && errors_[tensor] && errors_[tensor]->discrete && errors_[tensor]->relative > 0;
  };
  const auto is_local = [&](uint32_t tensor) {
    return tensor != kNoTensor && (cuts_->parts[tensor] || is_forgotten(tensor));
  };
  for (const OpRun& run : runs()) {
    const auto locals = std::count_if(run.inputs.begin(), run.inputs.end(),
                                      [&](const RunInput& input) { return is_local(input.tensor); });
    for (const RunInput& input : run.inputs) {
      const bool local = cuts_->both_cut || locals > (is_local(input.tensor) ? 1 : 0) || is_forgotten(input.made_as);
      if (local && input.tensor != kNoTensor && differs_as_number(input.tensor)) forget(input.tensor);
    }
    // What is picked by such numbers lies in an order of its own, unless a layout is found.
    const bool picked = std::any_of(run.inputs.begin(), run.inputs.end(),
                                    [&](const RunInput& input) { return is_forgotten(input.tensor); });
    for (const uint32_t output : run.outputs) {
      const bool local = locals > 0 || cuts_->both_cut;
      if (local && differs_as_number(output)) forget(output);
      if (compared(output) && picked && differs(output) && !layout_known(output)) forget(output);
    }
  }
}

// A call that the reference alone has is not the candidate's fault. One of the candidate alone was paired with what goes
// into it: where that is something else, so is what comes out.
void RunView::forget_made_up() {
  if (cuts_ == nullptr) return;
  for (uint32_t index = 0; index < runs().size(); ++index) {
    if (pair(index).how != PairedBy::kValues || !is_communication(op(index).type)) continue;
    const std::vector<RunInput>& inputs = run(index).inputs;
    const bool other = std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.made_by == kNoRun && compared(input.tensor) && differs(input.tensor) &&
             !(errors_[input.tensor] && errors_[input.tensor]->relative < kMostError);
    });
    for (const uint32_t output : run(index).outputs) {
      if (compared(output) && (other || cuts_->made_up[output]) && differs(output)) forget(output);
    }
    for (const RunInput& input : inputs) {
      if (other && compared(input.tensor)) forget(input.tensor);
    }
  }
}

void RunView::find_modules(const ModuleTree& modules) {
  if (modules.empty()) return;
  inside_.resize(runs().size());
  for (uint32_t index = 0; index < runs().size(); ++index) {
    std::string_view parent = modules.parent_of(name(index));
    for (int depth = 0; !parent.empty() && depth < kMostNested; ++depth) {
      for (const uint32_t module : runs_named(parent, place(index))) inside_[module].push_back(index);
      parent = modules.parent_of(parent);
    }
  }
}

bool RunView::any_differs(const std::vector<uint32_t>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return differs(tensor); });
}

const std::vector<int64_t>& RunView::ranks_not_finite(uint32_t tensor) const {
  static const std::vector<int64_t> kNowhere;
  if (cuts_ == nullptr) return kNowhere;
  const auto found = cuts_->not_finite.find(tensor);
  return found == cuts_->not_finite.end() ? kNowhere : found->second;
}

double RunView::largest_error(const std::vector<uint32_t>& tensors) const {
  double largest = 0;
  for (const uint32_t tensor : tensors) {
    if (const auto& error = errors_[tensor]) largest = std::max(largest, error->relative);
  }
  return largest;
}

bool RunView::same_in_a(uint32_t left, uint32_t right) const {
  const kernels::PairMetrics &x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_a == y.max_a && x.min_a == y.min_a && x.mean_a == y.mean_a;
}

bool RunView::same_in_b(uint32_t left, uint32_t right) const {
  const kernels::PairMetrics &x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_b == y.max_b && x.min_b == y.min_b && x.mean_b == y.mean_b && diffs_[left].scale == diffs_[right].scale;
}

bool RunView::is_attribute(uint32_t tensor) const {
  return tensor != kNoTensor && pairing_.tensors[tensor].alone == Alone::kAttribute;
}

std::string_view RunView::slot(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.b != kNoTensor ? (*b_.tensors)[both.b].name.slot : (*a_.tensors)[both.a].name.slot;
}

DType RunView::dtype(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.a != kNoTensor ? (*a_.tensors)[both.a].name.dtype : (*b_.tensors)[both.b].name.dtype;
}

DType RunView::expected_dtype(uint32_t tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  const DType a = both.a != kNoTensor ? (*a_.tensors)[both.a].name.dtype : DType::kUndefined;
  const DType b = both.b != kNoTensor ? (*b_.tensors)[both.b].name.dtype : DType::kUndefined;
  if (b == DType::kUndefined) return a;
  return coarser_throughout_ && unit_roundoff(a) > unit_roundoff(b) ? a : b;
}

double RunView::expected_rounding(uint32_t index) const {
  double largest = 0;
  const auto see = [&](uint32_t tensor) {
    if (tensor != kNoTensor) largest = std::max(largest, unit_roundoff(expected_dtype(tensor)));
  };
  for (const RunInput& input : run(index).inputs) see(input.tensor);
  for (const uint32_t tensor : run(index).outputs) see(tensor);
  return largest;
}

const SequencedOp& RunView::op(uint32_t index) const {
  const OpPair& both = pair(index);
  return both.b != kNoOperator ? pairing_.b[both.b] : pairing_.a[both.a];
}

bool RunView::one_sided(uint32_t index) const { return pair(index).a == kNoOperator || pair(index).b == kNoOperator; }

bool RunView::is_backward(uint32_t index) const { return forward_entry_of(name(index)).has_value(); }

std::span<const uint32_t> RunView::runs_named(std::string_view name, const RunPlace& place) const {
  const uint32_t found =
      names_.find(text_hash(name), [&](uint32_t other) { return this->name(named_[other].front()) == name; });
  if (found == HashSlots::kNone) return {};
  const auto key = [](const RunPlace& of) { return std::tie(of.rank, of.step); };
  const auto [begin, end] =
      std::equal_range(named_[found].begin(), named_[found].end(), kNoRun, [&](uint32_t left, uint32_t right) {
        return key(left == kNoRun ? place : this->place(left)) < key(right == kNoRun ? place : this->place(right));
      });
  return {begin, end};
}

std::vector<uint32_t> RunView::runs_at(const std::optional<std::string>& name, const RunPlace& place) const {
  std::vector<uint32_t> runs;
  if (!name) return runs;
  for (const uint32_t run : runs_named(*name, place)) {
    if (this->place(run) == place) runs.push_back(run);
  }
  return runs;
}

std::vector<uint32_t> RunView::backward_calls_of(uint32_t index) const {
  return runs_at(backward_entry_of(name(index)), place(index));
}

std::vector<uint32_t> RunView::forward_calls_of(uint32_t index) const {
  return runs_at(forward_entry_of(name(index)), place(index));
}

void RunView::add_to(InputSummary& summary, uint32_t tensor) const {
  if (!compared(tensor)) return;
  summary.differ = summary.differ || differs(tensor);
  summary.all_same = summary.all_same && is(tensor, Verdict::kSame);
  summary.gained_nan = summary.gained_nan || gained_nan(tensor);
  summary.gained_inf = summary.gained_inf || is(tensor, Verdict::kNan);
  if (const auto& error = errors_[tensor]) summary.largest_error = std::max(summary.largest_error, error->relative);
}

void RunView::find_collectives() {
  find_groups_of_calls(b_);
  find_groups_of_calls(a_);
  using Key = std::tuple<std::string_view, std::optional<int64_t>, std::string>;  // name, step, group
  std::map<Key, uint32_t> places;
  const auto place_of = [&](uint32_t index, const std::string& group) {
    const auto next = static_cast<uint32_t>(places.size());
    const auto [found, is_new] = places.try_emplace({name(index), place(index).step, group}, next);
    if (is_new) {
      collectives_.members.emplace_back();
      inputs_of_groups_.emplace_back();
    }
    return found->second;
  };
  std::unordered_map<std::string_view, bool> types;
  collectives_.at.assign(runs().size(), kNoRun);
  for (uint32_t index = 0; index < runs().size(); ++index) {
    const auto [type, is_new] = types.try_emplace(op(index).type, false);
    if (is_new) type->second = is_communication(type->first);
    if (!type->second) continue;
    std::string group = group_by_ir(index);
    const auto call = groups_of_calls_.find({name(index), place(index).rank, place(index).step});
    if (group.empty() && call != groups_of_calls_.end()) group = call->second;
    const uint32_t own = collectives_.at[index] = place_of(index, group);
    // A rank that does not name its group may be in any.
    for (const uint32_t one : std::set<uint32_t>{own, place_of(index, {})}) {
      collectives_.members[one].push_back(index);
      for (const RunInput& input : run(index).inputs) add_to(inputs_of_groups_[one], input.tensor);
    }
  }
}

std::string RunView::group_by_ir(uint32_t index) const {
  const auto by = [&](const CompareSide& side, const std::vector<SequencedOp>& operators, uint32_t op) {
    if (op == kNoOperator || operators[op].op == kNoIndex || side.graph == nullptr) return std::string();
    const OpId id = operators[op].op;
    return group_of(side.graph->ir(id).text(side.graph->node(id).attributes), place(index).rank);
  };
  std::string group = by(b_, pairing_.b, pair(index).b);
  return group.empty() ? by(a_, pairing_.a, pair(index).a) : group;
}

// Arguments of calls of one name as the reference spells it; the candidate's where that has none.
void RunView::find_groups_of_calls(const CompareSide& side) {
  if (side.arguments == nullptr) return;
  for (const CallArgument& argument : *side.arguments) {
    const bool ranks = argument.value.kind == CallValue::Kind::kGroup;
    if (!ranks && (argument.value.kind != CallValue::Kind::kText || argument.slot != "group")) continue;
    const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
    std::string group = ranks ? group_of_ranks(argument.value.text, folder.rank) : std::string(argument.value.text);
    if (!group.empty()) groups_of_calls_.try_emplace({argument.op_name, folder.rank, folder.step}, std::move(group));
  }
}

const std::vector<uint32_t>& RunView::inside(uint32_t index) const { return inside_.empty() ? kNone : inside_[index]; }

const BrokenExchange* RunView::broken(uint32_t index) const {
  if (cuts_ == nullptr || cuts_->broken.empty()) return nullptr;
  for (const uint32_t output : run(index).outputs) {
    const auto found = cuts_->broken.find(output);
    if (found != cuts_->broken.end()) return &found->second;
  }
  return nullptr;
}

std::vector<uint32_t> RunView::outputs(uint32_t index) const {
  std::vector<uint32_t> outputs = run(index).outputs;
  std::erase_if(outputs, [&](uint32_t tensor) { return not_passed_on_[tensor] || mended_[tensor]; });
  const auto is_lost = [&](uint32_t output) { return !compared(output) || mended_[output]; };
  for (const uint32_t tensor : graph_.stand_ins(index, is_lost)) {
    if (compared(tensor)) outputs.push_back(tensor);
  }
  return outputs;
}

bool RunView::evens_out(uint32_t index) const {
  const std::vector<uint32_t>& all = run(index).outputs;
  return pairing_.of_cuts && !all.empty() && std::all_of(all.begin(), all.end(), [&](uint32_t tensor) {
           return not_passed_on_[tensor] || (compared(tensor) && !differs(tensor));
         });
}

bool RunView::heals(uint32_t index) const {
  const std::vector<uint32_t>& all = run(index).outputs;
  return pairing_.of_cuts && !all.empty() &&
         std::all_of(all.begin(), all.end(), [&](uint32_t tensor) { return not_passed_on_[tensor]; });
}

bool RunView::all_agree(uint32_t index) const {
  const std::vector<uint32_t> all = outputs(index);
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](uint32_t tensor) {
    return is(tensor, Verdict::kSame) || is(tensor, Verdict::kClose);
  });
}

std::string RunView::parameter_like(uint32_t tensor) const {
  const auto hash = [&](uint32_t i) {
    uint64_t result = 0;
    const auto& metrics = diffs_[i].metrics;
    for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b})
      result = mix_hash(result, std::bit_cast<uint64_t>(value.value_or(0) + 0.0));  // -0 is 0
    return result;
  };
  const auto same_as = [&](uint32_t i) { return [this, i](uint32_t other) { return same_in_b(i, other); }; };
  if (!diffs_[tensor].metrics.max_b) return {};
  if (!parameters_) {
    parameters_.emplace();
    for (uint32_t i = 0; i < pairing_.tensors.size(); ++i) {
      const uint32_t of_b = pairing_.tensors[i].b;
      if (of_b == kNoTensor || (*b_.tensors)[of_b].name.io != Io::kParameter) continue;
      (void)parameters_->find_or_add(hash(i), i, same_as(i));
    }
  }
  const uint32_t found = parameters_->find(hash(tensor), same_as(tensor));
  if (found == HashSlots::kNone) return {};
  const NameFacts& name = (*b_.tensors)[pairing_.tensors[found].b].name;
  return fmt::format("{}:{}", name.op_name, name.slot);
}

bool RunView::is_gradient(uint32_t index) const {
  const std::string_view full = name(index);
  return full.starts_with("Gradients/") || full.starts_with("Gradients_") || is_backward(index);
}

std::optional<uint64_t> RunView::time(uint32_t index) const {
  std::optional<uint64_t> first;
  const auto see = [&](uint32_t tensor) {
    if (tensor == kNoTensor) return;
    const TensorPair& both = pairing_.tensors[tensor];
    const TensorRecord& record = both.b != kNoTensor ? (*b_.tensors)[both.b] : (*a_.tensors)[both.a];
    const auto time = time_of(record.name);
    if (time && (!first || *time < *first)) first = time;
  };
  for (const RunInput& input : run(index).inputs) see(input.tensor);
  for (const uint32_t output : run(index).outputs) see(output);
  return first;
}

}  // namespace msdump
