#include "divergence/asked.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/graph_match.h"
#include "divergence/asked_side.h"
#include "divergence/equal_maths.h"
#include "divergence/model/constants.h"
#include "ge/operators/operator_properties.h"
#include "graph/arguments/questions.h"

namespace msdump {
namespace {

using From = InputEdge::From;

// Operators in a row that the sides write otherwise.

// A place where the sides ask something else.
struct Suspect {
  OpId a, b;  // kNoId: that side does not have it
  // The first operators of both sides that read what an operator of one side leads to, with the slots that they read it in.
  AskedSide::JointReaders readers;
  bool counts = false;
};

class AskedSearch {
 public:
  // `same`: what earlier searches found to be the same.
  AskedSearch(const RunView& view, const NoiseModel& model, const ComputedOutputs& computed, const QuestionTerms& terms,
              const Sides<SameValues>& constants, AskedSide::SameSlots same, std::optional<EqualMaths>& maths)
      : view_(view),
        model_(model),
        computed_(computed),
        maths_(maths),
        same_(std::move(same)),
        a_(view.a(), view.pairing(), true, terms, constants.a, same_),
        b_(view.b(), view.pairing(), false, terms, constants.b, same_),
        runs_(view.pairing().operators.size()) {
    for (ExecutionId run{0}; run < view.runs().size(); ++run) runs_[view.run(run).op].push_back(run);
  }

  // With the rewritten operators that were found before.
  AskedRoots run(AskedRoots found) {
    std::map<OperatorId, Suspect> suspects;
    add_frontier(a_, b_, suspects);
    add_frontier(b_, a_, suspects);
    for (auto& [pair, suspect] : suspects) judge(pair, suspect, found);
    drop_rewritten(suspects, found);
    for (const auto& [pair, suspect] : suspects) note_inert(pair, suspect);
    std::vector<ExecutionId> asked;
    for (const auto& [run, root] : found.roots) asked.push_back(run);
    drop_readers(suspects, found);
    drop_gradients(suspects, found);
    join_replaced(suspects, found);
    join_lines(found);
    for (const ExecutionId run : asked) found.behind[run] = found.behind[run] || found.roots.count(run) == 0;
    find_exchanged(found);
    found.limits.insert(limits_.begin(), limits_.end());
    return found;
  }

  // With what this search found.
  [[nodiscard]] const AskedSide::SameSlots& same() const { return now_same_; }

 private:
  void add_frontier(const AskedSide& side, const AskedSide& other, std::map<OperatorId, Suspect>& suspects) {
    for (OpId op{0}; op < side.graph().size(); ++op) {
      const OperatorId pair = side.pair(op);
      if (pair == kNoId || !side.is_frontier(op, other)) continue;
      const OpPair& both = view_.pairing().operators[pair];
      // A compiler makes its own operators of those of the script.
      if (both.how == PairedBy::kCompiler) continue;
      if (!both.is_paired()) {
        add_one_sided(side, other, op, suspects);
      } else if (const OpId a = a_.op_of(pair), b = b_.op_of(pair); a != kNoId && b != kNoId) {
        suspects[pair] = {a, b, {}, false};
      }
    }
  }

  void add_one_sided(const AskedSide& side, const AskedSide& other, OpId op, std::map<OperatorId, Suspect>& suspects) {
    AskedSide::JointReaders readers = side.joint_readers(op, {}, limits_);
    if (const OpId inserted = inserted_before(side, other, readers); inserted != kNoId && inserted != op) {
      // The script has `op` only for the inserted operator, which reads its result.
      AskedSide::JointReaders behind = side.joint_readers(inserted, {}, limits_);
      if (std::includes(behind.begin(), behind.end(), readers.begin(), readers.end())) {
        op = inserted;
        readers = std::move(behind);
      }
    }
    Suspect& suspect = suspects[side.pair(op)];
    (&side == &a_ ? suspect.a : suspect.b) = op;
    suspect.readers = std::move(readers);
  }

  // The first operator before `readers` that only this side has, and that reads the value which the reader of the other side reads
  // directly. kNoId if there is none.
  [[nodiscard]] OpId inserted_before(const AskedSide& side, const AskedSide& other,
                                     const AskedSide::JointReaders& readers) {
    OpId first;
    std::set<OpId> seen;
    std::vector<std::pair<OpId, uint64_t>> next;  // an operator, and what the other side reads in place of its output
    const auto visit = [&](const InputEdge& edge, uint64_t value) {
      const OpId from = edge.from == From::kOperator ? edge.op : OpId();
      if (from == kNoId || side.pair(from) == kNoId || side.is_paired(from) || seen.count(from) > 0) return;
      if (seen.size() == kMostFollowed) {
        limits_.insert(kFollowedLimit);
        return;
      }
      seen.insert(from);
      next.emplace_back(from, value);
    };
    for (const auto& [reader, slots] : readers) {
      const OpId here = side.op_of(reader), there = other.op_of(reader);
      if (here == kNoId || there == kNoId) continue;
      std::map<uint32_t, uint64_t> values;
      for (const InputEdge& edge : inputs_of(other.graph(), there)) {
        if (edge.from != From::kConstant) values.emplace(edge.slot, other.source(there, edge));
      }
      for (const InputEdge& edge : inputs_of(side.graph(), here)) {
        if (const auto value = values.find(edge.slot); value != values.end() && slots.count(edge.slot) > 0)
          visit(edge, value->second);
      }
    }
    while (!next.empty()) {
      const auto [op, value] = next.back();
      next.pop_back();
      for (const InputEdge& edge : inputs_of(side.graph(), op)) {
        const bool reads = side.source(op, edge) == value && !side.questions().is_left_out(op);
        if (reads && (first == kNoId || op < first)) first = op;
        visit(edge, value);
      }
    }
    return first;
  }

  // Operands of commutative operators that changed places: their files hold each other's values.
  void find_exchanged(AskedRoots& found) const {
    const std::vector<OpPair>& pairs = view_.pairing().operators;
    for (OperatorId pair{0}; pair < pairs.size(); ++pair) {
      if (!pairs[pair].is_paired()) continue;
      const OpId a = a_.op_of(pair), b = b_.op_of(pair);
      if (a == kNoId || b == kNoId || !ge::has_property(b_.graph().op_type(b), ge::OperatorProperty::kCommutes))
        continue;
      std::vector<uint64_t> in_a, in_b;
      for (const InputEdge& edge : inputs_of(a_.graph(), a)) in_a.push_back(a_.source(a, edge));
      for (const InputEdge& edge : inputs_of(b_.graph(), b)) in_b.push_back(b_.source(b, edge));
      std::set<uint32_t> slots;
      for (uint32_t slot = 0; slot < std::min(in_a.size(), in_b.size()); ++slot) {
        if (in_a[slot] != in_b[slot]) slots.insert(slot);
      }
      std::sort(in_a.begin(), in_a.end());
      std::sort(in_b.begin(), in_b.end());
      if (slots.empty() || in_a != in_b) continue;
      for (const ExecutionId run : runs_[pair]) found.exchanged.emplace(run, slots);
    }
  }

  // Drops an operator of the reference whose place one of the candidate has taken: that one is named.
  void join_replaced(const std::map<OperatorId, Suspect>& suspects, AskedRoots& found) const {
    const auto reads = [](const AskedSide& side, OpId op) {
      std::set<uint64_t> values;
      for (const InputEdge& edge : inputs_of(side.graph(), op)) {
        if (edge.from != From::kConstant) values.insert(side.questions().of(op, edge));
      }
      return values;
    };
    std::set<OperatorId> of_candidate;
    std::set<uint64_t> read;
    for (const auto& [pair, suspect] : suspects) {
      if (!suspect.counts || suspect.b != kNoId) continue;
      for (const auto& [reader, slots] : suspect.readers) of_candidate.insert(reader);
      read.merge(reads(a_, suspect.a));
    }
    std::erase_if(found.roots, [&](const auto& root) {
      const Suspect& suspect = suspects.at(view_.run(root.first).op);
      if (suspect.a != kNoId || suspect.readers.empty()) return false;
      const std::set<uint64_t> values = reads(b_, suspect.b);
      return std::any_of(values.begin(), values.end(), [&](uint64_t value) { return read.count(value) > 0; }) &&
             std::all_of(suspect.readers.begin(), suspect.readers.end(),
                         [&](const auto& reader) { return of_candidate.count(reader.first) > 0; });
    });
  }

  void judge(OperatorId pair, Suspect& suspect, AskedRoots& found) {
    if (suspect.a != kNoId && suspect.b != kNoId) {
      const std::set<uint32_t> other = slots_that_differ(suspect.a, suspect.b);
      for (const ExecutionId run : runs_[pair]) {
        if (!shows_at(run, other) && !shows_behind(suspect.a, run, found)) continue;
        AskedRoot root;
        root.reason = text_of(suspect.a, suspect.b, other);
        root.of_constant = reads_constant(suspect.a, other);
        root.outputs = view_.outputs(run);
        for (const RunInput& input : view_.run(run).inputs) {
          if (other.count(input.slot) > 0 && view_.differs(input.tensor)) root.inputs.push_back(input.tensor);
        }
        suspect.counts = true;
        found.roots.emplace(run, std::move(root));
      }
      return;
    }
    judge_one_sided(pair, suspect, found);
  }

  // True, with the readers behind it, if what reads an operator of both sides leaves something else, where its own outputs do not
  // tell: they were not compared, or it moves values about, which statistics do not show.
  bool shows_behind(OpId of_candidate, ExecutionId run, AskedRoots& found) {
    const std::vector<TensorId> outputs = view_.outputs(run);
    const bool hidden =
        view_.any_compared(outputs) &&
        ge::has_property(a_.graph().op_type(of_candidate), ge::OperatorProperty::kCopiesOrFills) &&
        std::all_of(outputs.begin(), outputs.end(), [&](TensorId tensor) { return view_.diff(tensor).by_statistics; });
    if (!hidden && view_.any_compared(outputs)) return false;
    const double before = error_before(true, of_candidate, view_.place(run));
    bool shows = false;
    for (const auto& [reader, slots] : a_.joint_readers(of_candidate, {}, limits_)) {
      const std::set<uint32_t> other = slots_that_differ(a_.op_of(reader), b_.op_of(reader));
      for (const ExecutionId at : runs_[reader]) {
        if (view_.place(at) != view_.place(run) || !(hidden || reads_otherwise(at, slots, before)) ||
            !shows_at(at, other, before))
          continue;
        shows = found.behind[at] = true;
      }
    }
    return shows;
  }

  void judge_one_sided(OperatorId pair, Suspect& suspect, AskedRoots& found) {
    const bool of_candidate = suspect.a != kNoId;
    const AskedSide& side = of_candidate ? a_ : b_;
    const OpId op = of_candidate ? suspect.a : suspect.b;
    std::map<RunPlace, ExecutionId> runs;
    for (const ExecutionId run : runs_[pair]) runs.emplace(view_.place(run), run);
    std::map<ExecutionId, std::vector<ExecutionId>> affected;  // by execution of the operator: readers of another value
    for (const auto& [reader, slots] : suspect.readers) {
      const std::set<uint32_t> other = slots_that_differ(a_.op_of(reader), b_.op_of(reader));
      for (const ExecutionId at : runs_[reader]) {
        const auto run = runs.find(view_.place(at));
        if (run == runs.end()) continue;
        const double before = error_before(of_candidate, op, run->first);
        if (reads_otherwise(at, slots, before) && shows_at(at, other, before)) affected[run->second].push_back(at);
      }
    }
    if (suspect.readers.empty()) {
      for (const ExecutionId run : runs_[pair]) {
        if (auto readers = readers_of_update(side, op, run); !readers.empty())
          affected.emplace(run, std::move(readers));
      }
    }
    for (const auto& [run, readers] : affected) {
      suspect.counts = true;
      AskedRoot root;
      root.reader = *std::min_element(readers.begin(), readers.end());
      for (const RunInput& input : view_.run(root.reader).inputs) {
        if (view_.differs(input.tensor)) root.inputs.push_back(input.tensor);
      }
      root.reason = fmt::format("only the {} has it, and {}, which comes after it, reads something else",
                                of_candidate ? "candidate" : "reference", view_.name(root.reader));
      for (const ExecutionId reader : readers) found.behind[reader] = true;
      found.roots.emplace(run, std::move(root));
    }
  }

  // Drops operators where both sides do the same mathematics in two ways. One that is known lets others be recognized.
  void drop_rewritten(std::map<OperatorId, Suspect>& suspects, AskedRoots& found) {
    if (found.roots.empty()) return;
    if (!maths_) maths_.emplace(view_);
    maths_->set_asked(a_, b_);
    for (size_t before = 0; before != found.roots.size() && !found.roots.empty();) {
      before = found.roots.size();
      std::erase_if(found.roots, [&](const auto& root) {
        const auto rewriting =
            maths_->find(view_.run(root.first).op, view_.place(root.first), found.rewritten, limits_);
        if (rewriting) note_rewritten(*rewriting, view_.place(root.first), found);
        return rewriting.has_value();
      });
    }
    for (const OperatorId pair : found.rewritten) {
      if (const auto suspect = suspects.find(pair); suspect != suspects.end()) suspect->second.counts = false;
    }
  }

  void note_rewritten(const EqualMaths::Rewriting& rewriting, const RunPlace& place, AskedRoots& found) {
    found.rewritten.insert(rewriting.operators.begin(), rewriting.operators.end());
    found.of_rewriting.insert(rewriting.members.begin(), rewriting.members.end());
    const auto note = [&](OperatorId op) {
      for (const ExecutionId at : runs_[op]) {
        if (view_.place(at) == place) found.behind[at] = true;
      }
    };
    for (const auto& [reader, slots] : rewriting.readers) {
      note(reader);
      for (const uint32_t slot : slots) now_same_.emplace(reader, slot);
    }
  }

  // Records the inputs of joint readers that agree behind a suspect that does not count: the next search takes them for the same value.
  void note_inert(OperatorId pair, const Suspect& suspect) {
    if (suspect.counts) return;
    AskedSide::JointReaders readers = suspect.readers;
    if (suspect.a != kNoId && suspect.b != kNoId) {
      const bool known = std::any_of(runs_[pair].begin(), runs_[pair].end(),
                                     [&](ExecutionId run) { return view_.any_compared(view_.outputs(run)); });
      if (!known) return;
      readers = a_.joint_readers(suspect.a, {}, limits_);
    }
    for (const auto& [reader, slots] : readers) {
      for (const uint32_t slot : slots) {
        const auto agrees = [&](ExecutionId run) {
          const bool one_sided = suspect.a == kNoId || suspect.b == kNoId, of_candidate = suspect.b == kNoId;
          const double before =
              one_sided ? error_before(of_candidate, of_candidate ? suspect.a : suspect.b, view_.place(run)) : 0;
          const std::vector<RunInput>& inputs = view_.run(run).inputs;
          return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
            return input.slot == slot && view_.compared(input.tensor) && !is_off(input.tensor, before);
          });
        };
        if (!runs_[reader].empty() && std::all_of(runs_[reader].begin(), runs_[reader].end(), agrees))
          now_same_.emplace(reader, slot);
      }
    }
  }

  // The executions of later steps that read a parameter which the operator updates, and find another value.
  [[nodiscard]] std::vector<ExecutionId> readers_of_update(const AskedSide& side, OpId op, ExecutionId run) {
    std::vector<ExecutionId> readers;
    const IrGraph& ir = side.graph().ir(op);
    for (const InputEdge& edge : inputs_of(side.graph(), op)) {
      if (edge.from != From::kParameter || !updates_input(side.graph(), op, edge.slot)) continue;
      const std::string_view name = ir.text(ir.parameters[edge.parameter].name);
      for (const auto& [reader, tensor] : reads_of(name)) {
        if (reader > run && view_.place(reader).step != view_.place(run).step &&
            view_.place(reader).rank == view_.place(run).rank && is_off(tensor, 0))
          readers.push_back(reader);
      }
    }
    return readers;
  }

  // The executions that read a parameter, with what they read.
  [[nodiscard]] const std::vector<std::pair<ExecutionId, TensorId>>& reads_of(std::string_view parameter) {
    if (!reads_) {
      reads_.emplace();
      for (ExecutionId run{0}; run < view_.runs().size(); ++run) {
        for (const RunInput& input : view_.run(run).inputs) {
          if (!input.parameter.empty() && view_.compared(input.tensor))
            (*reads_)[input.parameter].emplace_back(run, input.tensor);
        }
      }
    }
    return (*reads_)[parameter];
  }

  // The inputs that read something else, by slot.
  [[nodiscard]] std::set<uint32_t> slots_that_differ(OpId a, OpId b) const {
    std::set<uint32_t> slots;
    if (a == kNoId || b == kNoId) return slots;
    std::map<uint32_t, uint64_t> in_a, in_b;
    for (const InputEdge& edge : inputs_of(a_.graph(), a)) in_a[edge.slot] = a_.questions().of(a, edge);
    for (const InputEdge& edge : inputs_of(b_.graph(), b)) in_b[edge.slot] = b_.questions().of(b, edge);
    const auto values = [](const std::map<uint32_t, uint64_t>& slots_of) {
      std::multiset<uint64_t> all;
      for (const auto& [slot, value] : slots_of) all.insert(value);
      return all;
    };
    if (ge::has_property(b_.graph().op_type(b), ge::OperatorProperty::kCommutes) && values(in_a) == values(in_b))
      return slots;
    for (const auto& [slot, value] : in_b) {
      const auto other = in_a.find(slot);
      if (other == in_a.end() || other->second != value) slots.insert(slot);
    }
    for (const auto& [slot, value] : in_a) {
      if (in_b.count(slot) == 0) slots.insert(slot);
    }
    return slots;
  }

  // True if an error is more than rounding adds to an error of `before`.
  [[nodiscard]] bool is_off(TensorId tensor, double before) const {
    return model_.is_off(tensor, before, kMostRoundings);
  }

  // The largest error of what both sides have and an operator of one side reads: what comes after it may have as much
  // without it.
  [[nodiscard]] double error_before(bool of_candidate, OpId op, const RunPlace& place) {
    const auto [known, is_new] = errors_before_.try_emplace({of_candidate, op, place}, 0);
    double& before = known->second;
    if (!is_new) return before;
    const AskedSide& side = of_candidate ? a_ : b_;
    std::set<OpId> seen = {op};
    for (std::vector<OpId> open = {op}; !open.empty();) {
      const OpId at = open.back();
      open.pop_back();
      for (const InputEdge& edge : inputs_of(side.graph(), at)) {
        if (edge.from != From::kOperator || !seen.insert(edge.op).second) continue;
        if (!side.is_paired(edge.op)) open.push_back(edge.op);
        if (side.pair(edge.op) == kNoId) continue;
        for (const ExecutionId run : runs_[side.pair(edge.op)]) {
          if (view_.place(run) == place) before = std::max(before, error_of_outputs(run));
        }
      }
    }
    return before;
  }
  [[nodiscard]] double error_of_outputs(ExecutionId run) const {
    double largest = 0;
    for (const TensorId output : view_.outputs(run)) {
      if (!view_.compared(output)) continue;
      if (const auto& error = view_.error(output); error && !error->discrete)
        largest = std::max(largest, error->relative);
    }
    return largest;
  }

  // True if an execution of both sides leaves other values than an error of `before` and its inputs from equal sources lead
  // to.
  [[nodiscard]] bool shows_at(ExecutionId run, const std::set<uint32_t>& other, double before = 0) const {
    const std::vector<TensorId> outputs = view_.outputs(run);
    if (other.empty()) {
      const auto is = [&](ComputedState state) {
        return [this, state](TensorId tensor) { return !view_.differs(tensor) || computed_.state(tensor) == state; };
      };
      if (std::any_of(outputs.begin(), outputs.end(),
                      [&](TensorId tensor) { return computed_.state(tensor) == ComputedState::kWrong; }))
        return true;
      if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), is(ComputedState::kRight))) return false;
    }
    std::vector<TensorId> read;  // from other sources
    for (const RunInput& input : view_.run(run).inputs) {
      const TensorId tensor = view_.compared(input.tensor) ? input.tensor : input.produced;
      if (!view_.compared(tensor)) continue;
      if (other.count(input.slot) > 0) {
        read.push_back(tensor);
      } else if (const auto& error = view_.error(tensor)) {
        before = std::max(before, error->relative);
      }
    }
    const auto differs = [&](TensorId tensor) { return view_.compared(tensor) && is_off(tensor, before); };
    if (view_.any_compared(outputs)) return std::any_of(outputs.begin(), outputs.end(), differs);
    return std::any_of(read.begin(), read.end(), differs);
  }

  // False if all that an execution reads in these slots was compared and agrees, but for an error of `before`.
  [[nodiscard]] bool reads_otherwise(ExecutionId run, const std::set<uint32_t>& slots, double before) const {
    const std::vector<RunInput>& inputs = view_.run(run).inputs;
    return std::any_of(slots.begin(), slots.end(), [&](uint32_t slot) {
      const auto input =
          std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& one) { return one.slot == slot; });
      return input == inputs.end() || !view_.compared(input->tensor) || is_off(input->tensor, before);
    });
  }

  // True if a constant of the script is all that the candidate's operator reads otherwise.
  [[nodiscard]] bool reads_constant(OpId op, const std::set<uint32_t>& slots) const {
    const std::vector<InputEdge> edges = inputs_of(a_.graph(), op);
    return slots.size() == 1 && std::any_of(edges.begin(), edges.end(), [&](const InputEdge& edge) {
             return edge.slot == *slots.begin() && edge.from == From::kConstant;
           });
  }

  [[nodiscard]] std::string text_of(OpId a, OpId b, const std::set<uint32_t>& other) const {
    const std::string_view type = a_.graph().op_type(a), type_b = b_.graph().op_type(b);
    if (type != type_b) return fmt::format("it is {} here, {} in the reference", type, type_b);
    std::string text;
    const auto edge_at = [](const std::vector<InputEdge>& edges, uint32_t slot) {
      const auto found =
          std::find_if(edges.begin(), edges.end(), [&](const InputEdge& edge) { return edge.slot == slot; });
      return found == edges.end() ? nullptr : &*found;
    };
    const std::vector<InputEdge> in_a = inputs_of(a_.graph(), a), in_b = inputs_of(b_.graph(), b);
    // An operand that the other side reads in another place is not named.
    std::multiset<uint64_t> values_a, values_b;
    const bool commutes = ge::has_property(type_b, ge::OperatorProperty::kCommutes);
    if (commutes) {
      for (const InputEdge& edge : in_a) values_a.insert(a_.questions().of(a, edge));
      for (const InputEdge& edge : in_b) values_b.insert(b_.questions().of(b, edge));
    }
    for (const uint32_t slot : other) {
      const InputEdge *one = edge_at(in_a, slot), *two = edge_at(in_b, slot);
      if (commutes) {
        const auto is_extra = [](uint64_t value, const auto& here, const auto& there) {
          return here.count(value) > there.count(value);
        };
        if (one != nullptr && !is_extra(a_.questions().of(a, *one), values_a, values_b)) one = nullptr;
        if (two != nullptr && !is_extra(b_.questions().of(b, *two), values_b, values_a)) two = nullptr;
        if (one == nullptr && two == nullptr) continue;
      }
      const std::string here = one == nullptr ? "absent" : a_.source_name(a, *one);
      const std::string there = two == nullptr ? "absent" : b_.source_name(b, *two);
      text += fmt::format("{}its input {} is ", text.empty() ? "" : "; ", slot);
      text += here == there ? fmt::format("another {} than in the reference", here)
                            : fmt::format("{}, {} in the reference", here, there);
    }
    return text.empty() ? "its arguments differ from those in the reference" : text;
  }

  // An operator that one side has explains what its readers read, unless it only moves values: then the reader asked for it.
  void drop_readers(const std::map<OperatorId, Suspect>& suspects, AskedRoots& found) const {
    std::set<OperatorId> dropped;
    for (const auto& [pair, suspect] : suspects) {
      if (!suspect.counts || (suspect.a != kNoId && suspect.b != kNoId)) continue;
      const AskedSide& side = suspect.a != kNoId ? a_ : b_;
      const std::string_view type = side.graph().op_type(suspect.a != kNoId ? suspect.a : suspect.b);
      const bool moves = ge::has_property(type, ge::OperatorProperty::kChangesShape) ||
                         ge::has_property(type, ge::OperatorProperty::kCopiesOrFills);
      const auto counts = [&](const auto& reader) {
        const auto other = suspects.find(reader.first);
        return other != suspects.end() && other->second.counts;
      };
      if (moves && std::any_of(suspect.readers.begin(), suspect.readers.end(), counts)) {
        dropped.insert(pair);
      } else {
        for (const auto& [reader, slots] : suspect.readers) dropped.insert(reader);
      }
    }
    std::erase_if(found.roots, [&](const auto& root) { return dropped.count(view_.run(root.first).op) > 0; });
  }

  // Keeps the first operator of each line of the script and of each constant: gradients and other lines have the same one.
  void join_lines(AskedRoots& found) const {
    std::map<SourceLine, OperatorId> lines;
    std::map<std::string, OperatorId> constants;
    std::erase_if(found.roots, [&](const auto& root) {
      const OperatorId op = view_.run(root.first).op;
      const auto line = view_.line(root.first);
      const bool new_line = !line || lines.emplace(*line, op).first->second == op;
      const bool new_constant =
          !root.second.of_constant || constants.emplace(root.second.reason, op).first->second == op;
      return !new_line || !new_constant;
    });
  }

  // Gradients follow from the forward pass: they count if nothing else does, first those that a gradient goes into.
  void drop_gradients(const std::map<OperatorId, Suspect>& suspects, AskedRoots& found) const {
    const auto rank_of = [&](ExecutionId run) {
      const Suspect& suspect = suspects.at(view_.run(run).op);
      const AskedSide& side = suspect.a != kNoId ? a_ : b_;
      const OpId op = suspect.a != kNoId ? suspect.a : suspect.b;
      if (side.is_backward(op)) return side.passes_gradient(op) ? 1 : 2;
      if (suspect.b != kNoId && b_.is_backward(suspect.b)) return 1;
      const bool for_gradients = !suspect.readers.empty() &&
                                 std::all_of(suspect.readers.begin(), suspect.readers.end(), [&](const auto& reader) {
                                   return b_.is_backward(b_.op_of(reader.first));
                                 });
      return for_gradients ? 3 : 0;
    };
    std::map<ExecutionId, int> ranks;
    int first = 3;
    for (const auto& [run, root] : found.roots) first = std::min(first, ranks[run] = rank_of(run));
    std::erase_if(found.roots, [&](const auto& root) { return ranks[root.first] > first; });
  }

  const RunView& view_;
  const NoiseModel& model_;
  const ComputedOutputs& computed_;
  std::optional<EqualMaths>& maths_;  // made when it is first needed
  const AskedSide::SameSlots same_;
  AskedSide::SameSlots now_same_ = same_;
  const AskedSide a_, b_;
  std::vector<std::vector<ExecutionId>> runs_;  // by Pairing::operators
  // By parameter; found when they are first needed.
  std::optional<std::unordered_map<std::string_view, std::vector<std::pair<ExecutionId, TensorId>>>> reads_;
  std::map<std::tuple<bool, OpId, RunPlace>, double> errors_before_;  // by side, operator and place
  ReachedLimits limits_;
};

}  // namespace

AskedRoots find_asked(const RunView& view, const NoiseModel& model, const ComputedOutputs& computed) {
  if (view.is_sharded() || view.other_framework() || !has_flow(view.a()) || !has_flow(view.b())) return {};
  if (!of_one_compiler(*view.a().graph, *view.b().graph)) return {};
  // Without a value that is another one, no operator of the frontier counts.
  bool anything_differs = false;
  for (TensorId tensor{0}; tensor < view.tensors() && !anything_differs; ++tensor)
    anything_differs = view.compared(tensor) && !view.is(tensor, Verdict::kSame);
  if (!anything_differs) return {};
  const QuestionTerms terms = common_terms(*view.a().graph, *view.b().graph);
  const Sides<SameValues> constants = unprinted_constants({view.a(), view.pairing().a}, {view.b(), view.pairing().b});
  AskedSide::SameSlots same;
  std::optional<EqualMaths> maths;
  AskedRoots found;
  found.behind.assign(view.runs().size(), false);
  // Behind operators that are written otherwise and lead to the same, further ones are looked for.
  for (size_t round = 0;; ++round) {
    AskedSearch search(view, model, computed, terms, constants, same, maths);
    AskedRoots known;
    std::tie(known.behind, known.rewritten, known.of_rewriting, known.limits) =
        std::tie(found.behind, found.rewritten, found.of_rewriting, found.limits);
    found = search.run(std::move(known));
    if (search.same().size() == same.size()) return found;
    if (round == kMostRounds) {
      found.limits.insert({"operators_written_otherwise", kMostRounds,
                           "behind more of these in a row, no operator was found to be asked something else"});
      return found;
    }
    same = search.same();
  }
}

}  // namespace msdump
