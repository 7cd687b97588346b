#include "divergence/root_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "divergence/downstream.h"
#include "divergence/model/constants.h"
#include "divergence/root_places.h"

namespace msdump {
namespace {

double sure_by(FlowKind kind) {
  switch (kind) {
    case FlowKind::kIr: return kSureByIr;
    case FlowKind::kValues: return kSureByValues;
    case FlowKind::kOrder: break;
  }
  return kSureByOrder;
}

}  // namespace

void Root::lower(double most) { divergence.confidence = std::min(divergence.confidence, most); }

Root& RootList::add(uint32_t run, DivergenceKind kind, const RunInputs& inputs, std::vector<uint32_t> outputs) {
  Root root;
  root.run = run;
  Divergence& divergence = root.divergence;
  divergence.op = view_.run(run).op;
  divergence.run = run;
  divergence.place = view_.place(run);
  divergence.kind = kind;
  divergence.inputs = inputs.evidence;
  divergence.outputs = std::move(outputs);
  divergence.confidence = sure_by(view_.graph().flow());
  if (inputs.bridged || inputs.unknown) root.lower(kNotAllKnown);
  if (inputs.downstream) root.lower(kOfDownstream);
  if (view_.pair(run).how != PairedBy::kNothing) divergence.confidence *= view_.pair(run).confidence;
  const double in = view_.largest_error(inputs.evidence), out = view_.largest_error(divergence.outputs);
  if (in > 0 && out > 0 && std::isfinite(out / in)) divergence.amplification = out / in;
  if (kind == DivergenceKind::kNan) {
    history_.states[run].downstream_of_nan = true;
    if (!divergence.outputs.empty()) divergence.ranks = view_.ranks_not_finite(divergence.outputs.front());
  }
  roots_.push_back(std::move(root));
  return roots_.back();
}

Root& RootList::add_entering(uint32_t run, DivergenceKind kind, const RunInputs& inputs, uint32_t tensor) {
  Root& root = add(run, kind, inputs, {});
  root.divergence.inputs = {tensor};
  return root;
}

Root& RootList::add_changed(uint32_t run, const RunInputs& inputs, const RunInput& input) {
  changed_after_.try_emplace(input.made_by, roots_.size());
  if (const auto line = view_.line(input.made_by))
    changed_after_line_.try_emplace({*line, view_.op(input.made_by).type}, roots_.size());
  Root& root = add(run, kind_of({input.tensor}), inputs, {input.tensor});
  root.lower(kNotAllKnown);
  root.changed_after = input.made_by;
  root.exchanges = inputs.changed.size() > 1;
  return root;
}

size_t RootList::first_changed_after(uint32_t producer) const {
  const auto by_run = changed_after_.find(producer);
  const size_t first = by_run == changed_after_.end() ? roots_.size() : by_run->second;
  if (changed_after_line_.empty()) return first;
  const auto line = view_.line(producer);
  const auto by_line = line ? changed_after_line_.find({*line, view_.op(producer).type}) : changed_after_line_.end();
  return by_line == changed_after_line_.end() ? first : std::min(first, by_line->second);
}

void RootList::set_score(Root& root, const ScoredOutput& output) {
  Divergence& divergence = root.divergence;
  divergence.measured_error = output.measured;
  divergence.expected_error = expected_of(output);
  divergence.score = output.score;
  divergence.siblings = output.siblings.siblings;
  divergence.sibling_median = sibling_median_of(output);
  divergence.sibling_spread = sibling_spread_of(output);
}

bool RootList::is_changed_after(uint32_t producer, uint32_t reader) {
  const size_t first = first_changed_after(producer);
  if (first == roots_.size()) return false;
  Root& root = roots_[first];
  // The same reader in another step says nothing more, nor does a module around it.
  const auto& around = view_.inside(reader);
  const bool other_reader = view_.run(root.run).op != view_.run(reader).op &&
                            std::find(around.begin(), around.end(), root.run) == around.end();
  if (!view_.of_cuts() && other_reader && !root.exchanges && root.run != root.changed_after) {
    root.run = root.changed_after;
    root.divergence.op = view_.run(root.run).op;
    root.divergence.reason =
        "what its readers take from it differs, although its outputs agree: they read something else of it";
  }
  return true;
}

bool RootList::report_once(uint32_t run, uint32_t reader) {
  return reported_.insert({view_.place(reader).rank, view_.run(run).op}).second;
}

// A gradient that is missing is missing from the first operator of the chain on: there it was cut.
uint32_t RootList::first_missing(uint32_t run) const {
  const bool of_a = view_.of_candidate_only(run);
  if (view_.graph().flow() != FlowKind::kIr && !of_a) {
    // Gradients that were added up on the way leave holes in the chain.
    const uint32_t first = one_sided_.first_backward(view_.place(run));
    return first == kNoRun ? run : std::min(first, run);
  }
  for (size_t hops = 0; hops < view_.runs().size(); ++hops) {
    const auto& inputs = view_.run(run).inputs;
    const auto before = std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.made_by != kNoRun && input.made_by < run && view_.is_surprise(input.made_by) &&
             view_.of_candidate_only(input.made_by) == of_a;
    });
    if (before == inputs.end()) break;
    run = before->made_by;
  }
  return run;
}

Root* RootList::add_one_sided(uint32_t run, uint32_t reader, const RunInputs& inputs) {
  if (view_.is_gradient(run) && !view_.of_cuts()) run = first_missing(run);
  if (!report_once(run, reader)) return nullptr;
  const bool of_a = view_.of_candidate_only(run);
  Root& root = add(run, of_a ? kind_of(inputs.evidence) : DivergenceKind::kMissing, inputs, {});
  root.divergence.reader = reader;
  root.lower(kNotAllKnown);
  root.uncertain_source = view_.is_gradient(run);
  root.divergence.reason = fmt::format("only the {} has it, and {}, which comes after it, reads something else",
                                       of_a ? "candidate" : "reference", view_.name(reader));
  return &root;
}

bool RootList::has_line_of(uint32_t run) {
  for (; with_lines_ < roots_.size(); ++with_lines_) {
    if (const auto line = view_.line(roots_[with_lines_].run)) lines_.insert(*line);
  }
  const auto line = view_.line(run);
  return line && lines_.count(*line) > 0;
}

std::vector<Divergence> RootList::finish() && {
  drop_explained();
  join_places(view_, roots_);
  find_cuts();
  std::vector<std::vector<uint32_t>> from;
  for (const Root& root : roots_) {
    from.push_back({root.run});
    for (const DivergencePlace& other : root.divergence.places) from.back().push_back(other.run);
  }
  const std::vector<uint64_t> downstream = count_downstream(view_, from);
  std::vector<Divergence> divergences;
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (downstream[i] == 0 && view_.broken(roots_[i].run) != nullptr) continue;  // nothing came of it
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
    divergence.cut = view_.one_sided(root.run) ? cuts.at(root.run, divergence.reader)
                     : root.uncertain_source   ? cuts.before(root.run)
                                               : std::nullopt;
    if (!divergence.cut) continue;
    if (view_.one_sided(root.run) && divergence.reader != kNoRun)
      divergence.reason = fmt::format("{}, which comes later, reads something else", view_.name(divergence.reader));
    std::set<uint32_t> operators(divergence.cut->operators.begin(), divergence.cut->operators.end());
    for (const DivergencePlace& other : divergence.places) {
      if (other.place.step != divergence.place.step || !view_.one_sided(other.run)) continue;
      if (const auto also = cuts.at(other.run, kNoRun))
        operators.insert(also->operators.begin(), also->operators.end());
    }
    divergence.cut->operators.assign(operators.begin(), operators.end());
  }
}

DivergenceKind RootList::kind_of(const std::vector<uint32_t>& tensors) const {
  const auto any = [&](Verdict verdict) {
    return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return view_.is(tensor, verdict); });
  };
  if (any(Verdict::kNan)) return DivergenceKind::kNan;
  return any(Verdict::kShape) || any(Verdict::kDtype) ? DivergenceKind::kShape : DivergenceKind::kValue;
}

void RootList::drop_explained() {
  drop_modules();
  drop_unproven();
  std::stable_sort(roots_.begin(), roots_.end(), [](const Root& left, const Root& right) {
    return std::pair(left.divergence.place.step, left.run) < std::pair(right.divergence.place.step, right.run);
  });
  const auto first =
      std::find_if(roots_.begin(), roots_.end(), [](const Root& root) { return !root.uncertain_source; });
  if (first == roots_.end()) {
    keep_first_uncertain();
  } else {
    // What an operator does in a later step explains nothing.
    const auto step = first->divergence.place.step;
    std::erase_if(roots_,
                  [&](const Root& root) { return root.uncertain_source && root.divergence.place.step >= step; });
  }
  drop_equal_constants();
}

// Modules of which a call inside is to blame. Where runs are cut differently each has calls of its own: if nothing else is
// left, the innermost module that is wrong ended first.
void RootList::drop_modules() {
  const auto first = std::stable_partition(roots_.begin(), roots_.end(),
                                           [&](const Root& root) { return !explained_by_inside(root.run); });
  const bool keeps_one = view_.of_cuts() && first == roots_.begin() && first != roots_.end();
  roots_.erase(keeps_one ? std::next(first) : first, roots_.end());
}

// A collective that is wrong by itself is certain; values that were put together under a layout that is not proven are not.
void RootList::drop_unproven() {
  const auto is_broken = [&](const Root& root) { return view_.broken(root.run) != nullptr; };
  if (std::none_of(roots_.begin(), roots_.end(), is_broken)) return;
  std::erase_if(roots_, [&](const Root& root) {
    const auto is_proven = [&](uint32_t tensor) { return view_.differs(tensor) && view_.layout_proven(tensor); };
    const Divergence& found = root.divergence;
    return !is_broken(root) && found.parameter.empty() &&
           std::none_of(found.outputs.begin(), found.outputs.end(), is_proven) &&
           std::none_of(found.inputs.begin(), found.inputs.end(), is_proven);
  });
}

// Several operators may have a constant of the script, even gradients in other graphs: the first that ran is named.
void RootList::drop_equal_constants() {
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

// If the flow is unknown the most probable root is what ran first, or the operator before it that only the reference
// has.
void RootList::keep_first_uncertain() {
  if (roots_.empty() || view_.graph().flow() != FlowKind::kIr) return;
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
    (void)add_one_sided(missing, reader, inputs_of_run(view_, model_, history_, reader));
  }
  if (!roots_.empty()) roots_.front().lower(kUnknownSource);
}

uint32_t RootList::missing_before(uint32_t reader) const {
  uint32_t missing = kNoRun;
  std::optional<uint64_t> latest;
  for (uint32_t run = 0; run < view_.runs().size(); ++run) {
    if (!view_.is_surprise(run) || view_.of_candidate_only(run) || view_.is_gradient(run)) continue;
    const auto time = view_.time(run);
    if (!time || time >= view_.time(reader) || time < latest) continue;
    latest = time;
    missing = run;
  }
  return missing;
}

bool RootList::explained_by_inside(uint32_t run) const {
  const auto& inside = view_.inside(run);
  return std::any_of(inside.begin(), inside.end(),
                     [&](uint32_t inner) { return history_.states[inner].downstream || view_.is_surprise(inner); });
}

}  // namespace msdump
