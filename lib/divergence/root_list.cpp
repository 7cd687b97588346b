#include "divergence/root_list.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "divergence/model/constants.h"

namespace msdump {
namespace {

// The number of differing tensors of each execution. A tensor belongs to one execution.
std::vector<uint32_t> differing_tensors(const RunView& view) {
  std::vector<uint32_t> counts(view.runs().size());
  std::vector<TensorId> tensors;
  for (ExecutionId run{0}; run < counts.size(); ++run) {
    tensors = view.run(run).outputs;
    for (const RunInput& input : view.run(run).inputs) tensors.push_back(input.tensor);
    std::erase_if(tensors, [&](TensorId tensor) { return !view.differs(tensor); });
    std::sort(tensors.begin(), tensors.end());
    counts[run] = static_cast<uint32_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
  }
  return counts;
}

// Finds which of 64 roots reach each execution, as bits of a word.
class Reach {
 public:
  Reach(const std::vector<OpRun>& runs, const Collectives& collectives)
      : runs_(runs), collectives_(collectives), reached_(runs.size()), exchanged_(collectives.members.size()) {}

  // The bits of each execution. Most come after the executions that they read, so one pass forward is enough, with
  // another one that finds nothing to do. Passes backward follow edges that lead back.
  const std::vector<uint64_t>& from(std::span<const std::vector<ExecutionId>> roots) {
    std::fill(reached_.begin(), reached_.end(), 0);
    std::fill(exchanged_.begin(), exchanged_.end(), 0);
    for (size_t root = 0; root < roots.size(); ++root) {
      for (const ExecutionId run : roots[root]) reached_[run] |= uint64_t{1} << root;
    }
    const auto count = static_cast<uint32_t>(reached_.size());
    for (bool forward = true, changed = true; changed; forward = !forward) {
      changed = false;
      for (uint32_t i = 0; i < count; ++i)
        changed = pass_on(ExecutionId(forward ? i : count - 1 - i), forward) || changed;
    }
    return reached_;
  }

 private:
  // True if the bits of an execution changed that this pass has already visited.
  bool pass_on(ExecutionId run, bool forward) {
    bool visited = false;
    if (reached_[run] == 0) return visited;
    const auto pass_to = [&](ExecutionId reader) {
      const uint64_t news = reached_[run] & ~reached_[reader];
      reached_[reader] |= news;
      visited = visited || (news != 0 && (reader < run) == forward);
    };
    for (const auto* const readers : {&runs_[run].readers, &runs_[run].later}) {
      for (const ExecutionId reader : *readers) {
        pass_to(reader);
        const CollectiveId group = collectives_.at[reader];
        if (group == kNoId || (reached_[run] & ~exchanged_[group]) == 0) continue;
        exchanged_[group] |= reached_[run];
        for (const ExecutionId member : collectives_.members[group]) pass_to(member);
      }
    }
    return visited;
  }

  const std::vector<OpRun>& runs_;
  const Collectives& collectives_;
  std::vector<uint64_t> reached_;    // by run
  std::vector<uint64_t> exchanged_;  // by collective: the bits that have reached all members
};

}  // namespace

std::vector<uint64_t> count_downstream(const RunView& view, const std::vector<std::vector<ExecutionId>>& from) {
  if (from.empty()) return {};
  const std::vector<uint32_t> counts = differing_tensors(view);
  if (view.graph().flow() == FlowKind::kIr) return count_reached(view.runs(), view.collectives(), counts, from);
  std::vector<uint64_t> later(counts.begin(), counts.end());
  std::partial_sum(later.rbegin(), later.rend(), later.rbegin());
  std::vector<uint64_t> result;
  for (const auto& runs : from) result.push_back(later[*std::min_element(runs.begin(), runs.end())]);
  return result;
}

std::vector<uint64_t> count_reached(const std::vector<OpRun>& runs, const Collectives& collectives,
                                    const std::vector<uint32_t>& counts,
                                    const std::vector<std::vector<ExecutionId>>& from) {
  constexpr size_t kAtOnce = std::numeric_limits<uint64_t>::digits;
  std::vector<uint64_t> result(from.size(), 0);
  Reach reach(runs, collectives);
  for (size_t first = 0; first < from.size(); first += kAtOnce) {
    const size_t end = std::min(first + kAtOnce, from.size());
    const std::vector<uint64_t>& reached = reach.from({from.data() + first, end - first});
    for (size_t run = 0; run < counts.size(); ++run) {
      if (counts[run] == 0) continue;
      for (uint64_t bits = reached[run]; bits != 0; bits &= bits - 1)
        result[first + static_cast<size_t>(std::countr_zero(bits))] += counts[run];
    }
  }
  return result;
}

namespace {

// Joins instances of one fault: the same class in every block, every step and every rank.

// The properties that instances of one fault share.
using Alarm = std::tuple<SourceLine, std::string_view, DivergenceKind, bool, std::set<std::string_view>>;

Alarm alarm_of(const RunView& view, const Root& root, const SourceLine& line) {
  const Divergence& divergence = root.divergence;
  std::set<std::string_view> slots;
  for (const TensorId output : divergence.outputs) slots.insert(view.slot(output));
  return {line, view.op(root.run).type, divergence.kind, divergence.score.has_value(), std::move(slots)};
}

// Joins a root with the first one before it that has the same operator, or the same Alarm: it becomes a place of that
// root. `roots` are in the order of reports. Values that enter the graph are not joined.
void join_places(const RunView& view, std::vector<Root>& roots) {
  std::map<Alarm, size_t> by_line;
  std::map<uint32_t, size_t> by_name;  // the same operator on other ranks and in other steps
  std::vector<Root> joined;
  for (Root& root : roots) {
    if (enters(root.divergence)) {
      joined.push_back(std::move(root));
      continue;
    }
    const uint32_t name = view.name_number(root.run);
    size_t first = by_name.try_emplace(name, joined.size()).first->second;
    if (const auto line = view.line(root.run)) {
      const size_t of_line = by_line.try_emplace(alarm_of(view, root, *line), first).first->second;
      if (first == joined.size()) by_name[name] = first = of_line;
    }
    if (first == joined.size()) {
      joined.push_back(std::move(root));
    } else {
      Divergence& one = root.divergence;
      joined[first].divergence.places.push_back({one.op, one.run, one.place, std::move(one.outputs)});
    }
  }
  roots = std::move(joined);
}

}  // namespace

Root& RootList::add(ExecutionId run, RootRule rule, DivergenceKind kind, const RunInputs& inputs,
                    std::vector<TensorId> outputs) {
  Root root;
  root.run = run;
  Divergence& divergence = root.divergence;
  divergence.op = view_.run(run).op;
  divergence.run = run;
  divergence.place = view_.place(run);
  divergence.kind = kind;
  divergence.inputs = inputs.evidence;
  divergence.outputs = std::move(outputs);
  divergence.rule = rule;
  const double in = view_.largest_error(inputs.evidence), out = view_.largest_error(divergence.outputs);
  if (in > 0 && out > 0 && std::isfinite(out / in)) divergence.amplification = out / in;
  if (kind == DivergenceKind::kNan) {
    history_.states[run].downstream_of_nan = true;
    if (!divergence.outputs.empty()) divergence.ranks = view_.ranks_not_finite(divergence.outputs.front());
  }
  roots_.push_back(std::move(root));
  return roots_.back();
}

Root& RootList::add_entering(ExecutionId run, RootRule rule, DivergenceKind kind, const RunInputs& inputs,
                             TensorId tensor) {
  Root& root = add(run, rule, kind, inputs, {});
  root.divergence.inputs = {tensor};
  return root;
}

Root& RootList::add_changed(ExecutionId run, const RunInputs& inputs, const RunInput& input) {
  changed_after_.insert(input.producer);
  Root& root = add(run, RootRule::kChanged, kind_of({input.tensor}), inputs, {input.tensor});
  root.exchanges = inputs.changed.size() > 1;
  return root;
}

bool RootList::report_once(ExecutionId run, ExecutionId reader) {
  return reported_.insert({view_.place(reader).rank, view_.run(run).op}).second;
}

// The first missing operator of a chain of gradients: there the gradient was cut.
ExecutionId RootList::first_missing(ExecutionId run) const {
  const bool of_a = view_.of_candidate_only(run);
  if (view_.graph().flow() != FlowKind::kIr && !of_a) {
    // Gradients that were added up on the way leave gaps in the chain.
    const ExecutionId first = one_sided_.first_backward(view_.place(run));
    return first == kNoId ? run : std::min(first, run);
  }
  for (size_t hops = 0; hops < view_.runs().size(); ++hops) {
    const auto& inputs = view_.run(run).inputs;
    const auto before = std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.producer != kNoId && input.producer < run && view_.is_surprise(input.producer) &&
             view_.of_candidate_only(input.producer) == of_a;
    });
    if (before == inputs.end()) break;
    run = before->producer;
  }
  return run;
}

Root* RootList::add_one_sided(ExecutionId run, ExecutionId reader, const RunInputs& inputs) {
  if (view_.is_gradient(run)) run = first_missing(run);
  if (!report_once(run, reader)) return nullptr;
  const bool of_a = view_.of_candidate_only(run);
  Root& root = of_a ? add(run, RootRule::kExtra, kind_of(inputs.evidence), inputs, {})
                    : add(run, RootRule::kMissing, DivergenceKind::kMissing, inputs, {});
  root.divergence.reader = reader;
  root.uncertain_source = view_.is_gradient(run);
  root.divergence.reason = fmt::format("only the {} has it, and {}, which comes after it, reads something else",
                                       of_a ? "candidate" : "reference", view_.name(reader));
  return &root;
}

std::vector<Divergence> RootList::finish() && {
  drop_explained();
  join_places(view_, roots_);
  find_cuts();
  std::vector<std::vector<ExecutionId>> from;
  for (const Root& root : roots_) {
    from.push_back({root.run});
    for (const DivergencePlace& other : root.divergence.places) from.back().push_back(other.run);
  }
  const std::vector<uint64_t> downstream = count_downstream(view_, from);
  std::vector<Divergence> divergences;
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (downstream[i] == 0 && view_.broken(roots_[i].run) != nullptr) continue;  // no difference follows from it
    roots_[i].divergence.downstream = downstream[i];
    divergences.push_back(std::move(roots_[i].divergence));
  }
  return divergences;
}

void RootList::find_cuts() {
  if (roots_.empty()) return;
  const GradientCuts cuts(view_);
  for (Root& root : roots_) {
    Divergence& divergence = root.divergence;
    if (decided_by(divergence.rule) == DecidedBy::kAsked && !view_.is_gradient(root.run)) continue;
    divergence.cut = view_.one_sided(root.run) ? cuts.at(root.run)
                     : root.uncertain_source   ? cuts.before(root.run)
                                               : std::nullopt;
    if (!divergence.cut) continue;
    if (view_.one_sided(root.run) && divergence.reader != kNoId)
      divergence.reason = fmt::format("{}, which comes later, reads something else", view_.name(divergence.reader));
    std::set<OperatorId> operators(divergence.cut->operators.begin(), divergence.cut->operators.end());
    for (const DivergencePlace& other : divergence.places) {
      if (other.place.step != divergence.place.step || !view_.one_sided(other.run)) continue;
      if (const auto also = cuts.at(other.run)) operators.insert(also->operators.begin(), also->operators.end());
    }
    divergence.cut->operators.assign(operators.begin(), operators.end());
  }
}

DivergenceKind RootList::kind_of(const std::vector<TensorId>& tensors) const {
  const auto any = [&](Verdict verdict) {
    return std::any_of(tensors.begin(), tensors.end(), [&](TensorId tensor) { return view_.is(tensor, verdict); });
  };
  if (any(Verdict::kNan)) return DivergenceKind::kNan;
  return any(Verdict::kShape) || any(Verdict::kDtype) ? DivergenceKind::kShape : DivergenceKind::kValue;
}

void RootList::drop_explained() {
  drop_modules();
  std::stable_sort(roots_.begin(), roots_.end(), [](const Root& left, const Root& right) {
    return std::pair(left.divergence.place.step, left.run) < std::pair(right.divergence.place.step, right.run);
  });
  const auto first =
      std::find_if(roots_.begin(), roots_.end(), [](const Root& root) { return !root.uncertain_source; });
  if (first != roots_.end()) {
    // An operator in a later step explains nothing.
    const auto step = first->divergence.place.step;
    std::erase_if(roots_,
                  [&](const Root& root) { return root.uncertain_source && root.divergence.place.step >= step; });
  }
}

// Drops modules with a faulty call inside. If the sides are sharded differently and nothing else is left, keeps the
// first: of several modules that are wrong, the innermost ends first.
void RootList::drop_modules() {
  const auto first = std::stable_partition(roots_.begin(), roots_.end(),
                                           [&](const Root& root) { return !explained_by_inside(root.run); });
  const bool keeps_one = view_.is_sharded() && first == roots_.begin() && first != roots_.end();
  roots_.erase(keeps_one ? std::next(first) : first, roots_.end());
}

bool RootList::explained_by_inside(ExecutionId run) const {
  const auto& inside = view_.inside(run);
  return std::any_of(inside.begin(), inside.end(),
                     [&](ExecutionId inner) { return history_.states[inner].downstream || view_.is_surprise(inner); });
}

}  // namespace msdump
