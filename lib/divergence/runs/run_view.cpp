#include "divergence/runs/run_view.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compare/limits.h"
#include "divergence/model/constants.h"
#include "divergence/runs/run_facts.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

class GroupNames {
 public:
  explicit GroupNames(const RunFacts& facts) : facts_(facts) {
    add_arguments(Side::kReference);
    add_arguments(Side::kCandidate);
  }

  // The group of an execution, by the IR, else by the arguments of its call. Empty if neither names it.
  [[nodiscard]] std::string of(ExecutionId run) const {
    std::string group = by_ir(run);
    const auto call = of_calls_.find({facts_.name(run), facts_.place(run).in_step()});
    if (group.empty() && call != of_calls_.end()) group = call->second;
    return group;
  }

 private:
  struct Call {  // of one rank
    std::string_view name;
    RunPlace::Step step;
    auto operator<=>(const Call&) const = default;
  };

  // Adds the groups that a side's calls name. A call that has one keeps it, so the reference goes first.
  void add_arguments(Side of) {
    const CompareSide& side = of == Side::kReference ? facts_.b() : facts_.a();
    if (side.arguments == nullptr) return;
    for (const CallArgument& argument : *side.arguments) {
      const bool ranks = argument.value.kind == CallValue::Kind::kGroup;
      if (!ranks && (argument.value.kind != CallValue::Kind::kText || argument.slot != "group")) continue;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
      std::string group = ranks ? group_of_ranks(argument.value.text, folder.rank) : std::string(argument.value.text);
      if (group.empty()) continue;
      const uint32_t dump = facts_.pairing().common_dump(of, folder.dump);
      of_calls_.try_emplace({argument.op_name, {folder.rank, folder.step, dump}}, std::move(group));
    }
  }

  [[nodiscard]] std::string by_ir(ExecutionId run) const {
    const auto by = [&](const CompareSide& side, const std::vector<SequencedOp>& operators, SequencedOpId op) {
      if (op == kNoId || operators[op].op == kNoId || side.graph == nullptr) return std::string();
      const OpId id = operators[op].op;
      return group_of(side.graph->ir(id).text(side.graph->node(id).attributes), facts_.place(run).rank);
    };
    const Pairing& pairing = facts_.pairing();
    std::string group = by(facts_.b(), pairing.b, facts_.pair(run).b);
    return group.empty() ? by(facts_.a(), pairing.a, facts_.pair(run).a) : group;
  }

  const RunFacts& facts_;
  std::map<Call, std::string> of_calls_;
};

}  // namespace

CollectiveRuns collective_runs(const RunFacts& facts) {
  const GroupNames groups(facts);
  CollectiveRuns found;
  using Key = std::tuple<std::string_view, std::optional<int64_t>, std::string>;  // name, step, group
  std::map<Key, CollectiveId> places;
  const auto place_of = [&](ExecutionId run, const std::string& group) {
    const CollectiveId next(places.size());
    const auto [place, is_new] = places.try_emplace({facts.name(run), facts.place(run).step, group}, next);
    if (is_new) {
      found.collectives.members.emplace_back();
      found.inputs.emplace_back();
    }
    return place->second;
  };
  std::unordered_map<std::string_view, bool> types;
  found.collectives.at.assign(facts.runs().size(), kNoId);
  for (ExecutionId run{0}; run < facts.runs().size(); ++run) {
    const auto [type, is_new] = types.try_emplace(facts.op(run).type, false);
    if (is_new) type->second = is_communication(type->first);
    if (!type->second) continue;
    const CollectiveId own = found.collectives.at[run] = place_of(run, groups.of(run));
    // A rank that does not name its group may be in any.
    for (const CollectiveId one : std::set<CollectiveId>{own, place_of(run, {})}) {
      found.collectives.members[one].push_back(run);
      for (const RunInput& input : facts.run(run).inputs) facts.add_to(found.inputs[one], input.tensor);
    }
  }
  return found;
}

namespace {

// The passes of a step. Updates of the weights follow the last backward call.
enum class PassOfStep : uint8_t { kForward, kBackward, kUpdate };

// Counts how many outputs differ among the executions after one. They show whether its output was right if no consumer is
// known. Executions are visited from the last to the first. The first of these that was compared counts:
//   1. for an update, the weights that the next step reads, then the forward pass of the next step
//   2. the outputs of the same step and pass
//   3. the forward pass of the next step
class LaterOutputs {
 public:
  void begin(std::optional<int64_t> step, PassOfStep pass) {
    if (step != step_) {
      next_ = passes_[0];
      next_weights_ = weights_;
      passes_ = {};
      weights_ = {};
    }
    step_ = step;
    pass_ = pass;
  }
  void add(bool compared, bool differs) { passes_[static_cast<size_t>(pass_)].add(compared, differs); }
  void add_weight(const Shape& shape, bool differs) {
    weights_.all.add(true, differs);
    weights_.by_shape[shape].add(true, differs);
  }
  [[nodiscard]] bool any() const { return shown().compared > 0; }
  [[nodiscard]] bool agree() const { return any() && !differ(); }
  [[nodiscard]] bool differ() const { return shown().many_differ(); }
  // Tells whether reduced gradients are right: by the weights that the next step reads, else like agree().
  [[nodiscard]] bool weights_agree() const {
    const bool weights = pass_ != PassOfStep::kForward && next_weights_.all.compared > 0;
    return weights ? !next_weights_.all.many_differ() : agree();
  }
  // True if the weights of this shape that the next step reads agree.
  [[nodiscard]] bool weights_agree(const Shape& shape) const {
    const auto found = next_weights_.by_shape.find(shape);
    return pass_ != PassOfStep::kForward && found != next_weights_.by_shape.end() && !found->second.many_differ();
  }

 private:
  struct Outputs {
    size_t compared = 0, differ = 0;

    void add(bool one_compared, bool one_differs) {
      compared += one_compared ? 1U : 0U;
      differ += one_differs ? 1U : 0U;
    }
    [[nodiscard]] bool many_differ() const {
      return static_cast<double>(differ) > kShareOfFew * static_cast<double>(compared);
    }
  };
  struct Weights {
    Outputs all;
    std::map<Shape, Outputs> by_shape;
  };
  [[nodiscard]] const Outputs& shown() const {
    const Outputs& own = passes_[static_cast<size_t>(pass_)];
    if (pass_ == PassOfStep::kUpdate && next_weights_.all.compared > 0) return next_weights_.all;
    return own.compared == 0 || (pass_ == PassOfStep::kUpdate && next_.compared > 0) ? next_ : own;
  }

  std::optional<int64_t> step_;
  PassOfStep pass_ = PassOfStep::kForward;
  std::array<Outputs, 3> passes_;
  Weights weights_;  // read by forward calls of the step
  Outputs next_;     // of the forward pass of the next step
  Weights next_weights_;
};

// Visits executions from the last to the first, so consumers come before their producer. A consumer whose outputs are
// right received what it needed, even if its input differs.
class ReaderSearch {
 public:
  explicit ReaderSearch(RunFacts& facts) : facts_(facts), read_(facts.tensors(), Read::kNever) {
    found_.right.resize(facts.tensors());
    found_.differs_after.resize(facts.runs().size());
    for (ExecutionId run{0}; run < facts.runs().size(); ++run) {
      if (!facts.is_backward(run)) continue;
      backward_.try_emplace(facts.place(run).step, run, run).first->second.second = run;
    }
    for (ExecutionId run{0}; run < facts.runs().size(); ++run) {
      const PassOfStep pass = pass_of(run);
      const bool reduces = pass == PassOfStep::kBackward && is_communication(facts.op(run).type);
      if (pass != PassOfStep::kUpdate && !reduces) continue;
      for (const TensorId output : facts.run(run).outputs) updated_.insert(facts.diff(output).shape);
    }
  }

  PassedOn search() && {
    for (ExecutionId run(facts_.runs().size()); run-- > 0;) {
      pass_ = pass_of(run);
      later_.begin(facts_.place(run).step, pass_);
      collective_ = is_communication(facts_.op(run).type);
      const Read outputs = see_outputs(run);
      see_inputs(run, outputs);
      found_.differs_after[run] = later_.differ();
    }
    forget_unread();
    return std::move(found_);
  }

 private:
  enum class Read : uint8_t { kNever, kRight, kWrong };  // what consumers received; the last that applies

  [[nodiscard]] PassOfStep pass_of(ExecutionId run) const {
    if (facts_.is_backward(run)) return PassOfStep::kBackward;
    const auto found = backward_.find(facts_.place(run).step);
    if (found == backward_.end() || run < found->second.first) return PassOfStep::kForward;
    return run < found->second.second ? PassOfStep::kBackward : PassOfStep::kUpdate;
  }

  // True if the candidate's replicas of it differ, so the cause is not a value that all ranks received.
  [[nodiscard]] bool is_uneven(TensorId tensor) const {
    return facts_.is_sharded() && facts_.placements()->uneven[tensor];
  }

  // True if the input looks like a weight: a forward call reads it, and nothing in the step wrote it. It has the shape of
  // a reduced gradient or of a tensor that an update wrote.
  [[nodiscard]] bool is_weight(ExecutionId run, const RunInput& input) const {
    if (pass_ != PassOfStep::kForward || !facts_.compared(input.tensor)) return false;
    const bool made_here = input.producer != kNoId && facts_.place(input.producer).step == facts_.place(run).step;
    return !made_here && updated_.contains(facts_.diff(input.tensor).shape);
  }

  // Judges the outputs, and returns what they show about the inputs.
  Read see_outputs(ExecutionId run) {
    Read shown = Read::kNever;
    const std::vector<TensorId>& outputs = facts_.run(run).outputs;
    for (const TensorId output : outputs) {
      const Read read = read_[output];
      found_.right[output] = read == Read::kRight && facts_.differs(output);
      // A collective may sum while the other side averages; then a later call divides.
      const bool doubtful =
          !facts_.layout_known(output) || (facts_.is_sharded() && collective_ && facts_.differs(output));
      const bool agree = collective_ ? later_.weights_agree() : later_.agree();
      const bool updates = collective_ && later_.weights_agree(facts_.diff(output).shape);
      // The last update is followed by nothing that shows whether it is right.
      const bool unseen = pass_ == PassOfStep::kUpdate && !collective_ && !later_.any();
      if (doubtful && (found_.right[output] || updates || (read == Read::kNever && (agree || unseen)))) {
        // A difference that a wrong placement explains, and that has no effect, is one of the placement alone.
        facts_.forget(output);
        harmless_.insert(facts_.name(run));
      } else if (facts_.compared(output)) {
        const Read own = !facts_.differs(output) ? Read::kRight : facts_.layout_known(output) ? Read::kWrong : read;
        shown = std::max(shown, found_.right[output] ? Read::kRight : own);
      }
    }
    // An output that nothing reads, with nothing after it, says nothing about the executions before it.
    const bool any_later = later_.any();
    for (const TensorId output : outputs) {
      if (facts_.differs(output) && collective_ && read_[output] == Read::kNever && !any_later) {
        unread_.push_back(run);
      } else {
        later_.add(facts_.compared(output), facts_.differs(output) && !found_.right[output]);
      }
    }
    return shown;
  }

  void see_inputs(ExecutionId run, Read outputs) {
    const bool heals = found_.heals(facts_, run);
    for (const RunInput& input : facts_.run(run).inputs) {
      if (is_weight(run, input))
        later_.add_weight(facts_.diff(input.tensor).shape, facts_.differs(input.tensor) && !is_uneven(input.tensor));
      if (!facts_.compared(input.tensor)) continue;
      see_input(input, heals, outputs);
      const bool unknown = facts_.differs(input.tensor) && !facts_.layout_known(input.tensor);
      if (unknown && (heals || (outputs <= Read::kRight && later_.agree()))) facts_.forget(input.tensor);
    }
  }

  // Notes what this consumer received of the output that its input came from.
  void see_input(const RunInput& input, bool heals, Read outputs) {
    const bool differs = facts_.differs(input.tensor);
    // The candidate's own producer wrote the value, and has another partner or none.
    if (!differs) note(input.other_produced, Read::kRight);
    if (input.produced == kNoId) return;
    const Read now = !differs || heals ? Read::kRight : facts_.layout_known(input.tensor) ? Read::kWrong : outputs;
    // If the candidate's value comes from another output, a difference is no evidence against this one.
    const bool of_other = input.other_produced != kNoId && input.other_produced != input.produced;
    if (now <= Read::kRight || !of_other) note(input.produced, now);
  }

  void note(TensorId tensor, Read read) {
    if (tensor != kNoId) read_[tensor] = std::max(read_[tensor], read);
  }

  // Forgets outputs that nothing after them judges, if those of the same operator had no effect elsewhere.
  void forget_unread() {
    for (const ExecutionId run : unread_) {
      if (!harmless_.contains(facts_.name(run))) continue;
      for (const TensorId output : facts_.run(run).outputs) {
        if (facts_.differs(output)) facts_.forget(output);
      }
    }
  }

  RunFacts& facts_;
  PassedOn found_;
  std::vector<Read> read_;  // by tensor
  LaterOutputs later_;
  std::map<std::optional<int64_t>, std::pair<ExecutionId, ExecutionId>> backward_;  // by step: the first, the last
  std::set<Shape> updated_;                 // of reduced gradients, and of tensors that updates wrote
  bool collective_ = false;                 // the execution that is visited is one
  PassOfStep pass_ = PassOfStep::kForward;  // its pass
  std::vector<ExecutionId> unread_;      // executions with outputs that differ, and nothing after them to judge them by
  std::set<std::string_view> harmless_;  // names of operators whose differing outputs had no effect
};

}  // namespace

bool PassedOn::heals(const RunFacts& facts, ExecutionId run) const {
  const std::vector<TensorId>& all = facts.run(run).outputs;
  return facts.is_sharded() && !all.empty() &&
         std::all_of(all.begin(), all.end(), [&](TensorId tensor) { return right[tensor]; });
}

PassedOn passed_on(RunFacts& facts) { return ReaderSearch(facts).search(); }

namespace {

// Tensors that were compared although they need not be equal, because the sides are sharded differently.

// Forgets integers and booleans that are local to a rank: numbers of rows, experts or positions, and masks. They are
// those that are read or computed together with a local tensor, and all if both sides are sharded. If nearly all elements
// agree, the others are wrong, and the tensor is kept.
void forget_local_numbers(RunFacts& facts) {
  const PlacementEvidence* const placements = facts.placements();
  if (placements == nullptr) return;
  const auto differs_as_number = [&](TensorId tensor) {
    return facts.compared(tensor) && facts.error(tensor) && facts.error(tensor)->discrete &&
           facts.error(tensor)->relative > 0 && !placements->alike[tensor];
  };
  const auto is_local = [&](TensorId tensor) {
    return tensor != kNoId && (placements->parts[tensor] || facts.is_forgotten(tensor));
  };
  const auto of_unknown_layout = [&](TensorId tensor) {
    return facts.compared(tensor) && facts.differs(tensor) && !facts.layout_known(tensor);
  };
  for (const OpRun& run : facts.runs()) {
    const auto locals = std::count_if(run.inputs.begin(), run.inputs.end(),
                                      [&](const RunInput& input) { return is_local(input.tensor); });
    for (const RunInput& input : run.inputs) {
      const bool local =
          placements->both_sharded || locals > (is_local(input.tensor) ? 1 : 0) || facts.is_forgotten(input.produced);
      if (local && input.tensor != kNoId && differs_as_number(input.tensor)) facts.forget(input.tensor);
    }
    // Elements picked by local numbers have an order of their own, unless a placement is found.
    const bool picked = std::any_of(run.inputs.begin(), run.inputs.end(),
                                    [&](const RunInput& input) { return facts.is_forgotten(input.tensor); });
    for (const TensorId output : run.outputs) {
      if (picked && of_unknown_layout(output)) facts.forget(output);
    }
  }
}

const std::vector<ExecutionId> kNone;

}  // namespace

RunView::RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs, const ModuleTree& modules, const PlacementEvidence* placements)
    : RunFacts(a, b, pairing, diffs, placements) {
  forget_local_numbers(*this);
  collectives_ = collective_runs(*this);
  passed_on_ = passed_on(*this);
  find_modules(modules);
}

void RunView::find_modules(const ModuleTree& modules) {
  if (modules.empty()) return;
  inside_.resize(runs().size());
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    std::string_view parent = modules.parent_of(name(index));
    for (size_t depth = 0; !parent.empty() && depth < kMostTried; ++depth) {
      for (const ExecutionId module : runs_named(parent, place(index))) inside_[module].push_back(index);
      parent = modules.parent_of(parent);
    }
  }
}

const std::vector<ExecutionId>& RunView::inside(ExecutionId at) const { return inside_.empty() ? kNone : inside_[at]; }

std::vector<TensorId> RunView::outputs(ExecutionId index) const {
  if (lacks_input(index)) return {};
  std::vector<TensorId> outputs(run(index).outputs.begin(), run(index).outputs.end());
  std::erase_if(outputs, [&](TensorId tensor) { return passed_on_.right[tensor]; });
  // The output of a collective shows whether it is right. A change after it is another operator's.
  if (is_sharded() && is_communication(op(index).type)) return outputs;
  const auto is_lost = [&](TensorId output) { return !compared(output); };
  for (const TensorId tensor : graph().stand_ins(index, is_lost)) {
    if (compared(tensor)) outputs.push_back(tensor);
  }
  return outputs;
}

bool RunView::all_agree(ExecutionId index) const {
  const std::vector<TensorId> all = outputs(index);
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](TensorId tensor) {
    return is(tensor, Verdict::kSame) || is(tensor, Verdict::kClose);
  });
}

}  // namespace msdump
