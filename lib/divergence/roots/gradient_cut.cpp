#include "divergence/roots/gradient_cut.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "divergence/model/constants.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

std::vector<OperatorId> operators_of(const RunView& view, const std::set<ExecutionId>& runs) {
  std::set<OperatorId> operators;
  for (const ExecutionId run : runs) operators.insert(view.run(run).op);
  return {operators.begin(), operators.end()};
}

bool reads_gradient(const RunView& view, ExecutionId run) {
  const auto& inputs = view.run(run).inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const RunInput& one) { return one.producer != kNoId && view.is_gradient(one.producer); });
}

bool is_update(const RunView& view, ExecutionId run) {
  const auto& outputs = view.run(run).outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](TensorId tensor) { return view.graph().role(tensor) == TensorRole::kUpdated; });
}

// Executions of one side that are connected with `run` and compute gradients: by their names, or because they read one
// (Expand/_MatMulExt/MatMul-op14).
std::set<ExecutionId> connected(const RunView& view, ExecutionId run) {
  const RunPlace& place = view.place(run);
  const auto is_missing = [&](ExecutionId other) {
    return view.is_surprise(other) && view.of_candidate_only(other) == view.of_candidate_only(run) &&
           view.place(other).is_beside(place) && !is_update(view, other);
  };
  std::set<ExecutionId> runs;
  std::vector<ExecutionId> next = {run};
  while (!next.empty()) {
    const ExecutionId one = next.back();
    next.pop_back();
    if (!runs.insert(one).second) continue;
    for (const ExecutionId reader : view.run(one).readers) {
      if (is_missing(reader)) next.push_back(reader);
    }
    for (const RunInput& input : view.run(one).inputs) {
      const ExecutionId maker = input.producer;
      if (maker != kNoId && is_missing(maker) && (view.is_gradient(maker) || reads_gradient(view, maker)))
        next.push_back(maker);
    }
  }
  return runs;
}

// True if both sides have the forward call, or it was not dumped. Only without an IR.
bool has_forward_call(const RunView& view, ExecutionId run) {
  const auto forward = forward_entry_of(view.name(run));
  const auto calls = forward ? view.runs_named(*forward, view.place(run)) : std::span<const ExecutionId>();
  return calls.empty() || std::any_of(calls.begin(), calls.end(), [&](auto call) { return !view.one_sided(call); });
}

}  // namespace

GradientCuts::GradientCuts(const RunView& view) : view_(view) {
  if (view.other_framework()) return;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    const auto key = view.place(run).in_step();
    if (view.one_sided(run)) {
      if (!view.is_surprise(run)) continue;
      OneSided& all = one_sided_[key];
      if (view.is_gradient(run)) {
        all.runs[view.of_candidate_only(run) ? 1 : 0].push_back(run);
      } else {
        all.any_forward = all.any_forward || !view.comes_after_backward(run);
      }
      continue;
    }
    if (!view.is_backward(run)) continue;
    // With a view as the last node of autograd, a linear returns the gradient of the view alone.
    const std::vector<TensorId>& outputs = view.run(run).outputs;
    if (std::any_of(outputs.begin(), outputs.end(), [&](TensorId one) { return view.is(one, Verdict::kShape); }))
      continue;
    for (const TensorId tensor : outputs) {
      if (!view.is(tensor, Verdict::kUnmatched) || view.alone(tensor) != Alone::kUnknown) continue;
      std::vector<ExecutionId>& runs = one_sided_[key].returned[view.is_of_candidate(tensor) ? 1 : 0];
      if (runs.empty() || runs.back() != run) runs.push_back(run);
    }
  }
}

const GradientCuts::OneSided* GradientCuts::near(ExecutionId run) const {
  const auto found = one_sided_.find(view_.place(run).in_step());
  return found == one_sided_.end() ? nullptr : &found->second;
}

std::optional<GradientCut> GradientCuts::at(ExecutionId run) const {
  const OneSided* const all = near(run);
  if (all == nullptr || !view_.is_surprise(run)) return std::nullopt;
  const bool of_a = view_.of_candidate_only(run), by_ir = view_.graph().flow() == FlowKind::kIr;
  if (of_a && by_ir) return std::nullopt;  // the edges are the reference's, so the candidate's reader is not known
  const std::vector<ExecutionId>&own = all->runs[of_a ? 1 : 0], &others = all->runs[of_a ? 0 : 1];
  std::set<ExecutionId> missing;
  if (by_ir) {
    missing = connected(view_, run);
    const bool any = std::any_of(missing.begin(), missing.end(), [&](auto one) { return view_.is_gradient(one); });
    if (!any) return std::nullopt;
  } else {
    std::set<std::string_view> names;
    for (const ExecutionId other : others) names.insert(view_.name(other));
    for (const ExecutionId one : own) {
      if (has_forward_call(view_, one) && !names.contains(view_.name(one))) missing.insert(one);
    }
    if (!missing.contains(run)) return std::nullopt;
  }
  if (others.size() >= missing.size()) return std::nullopt;  // it computes the gradient in another way
  return GradientCut{of_a, false, view_.run(run).op, operators_of(view_, missing)};
}

std::optional<GradientCut> GradientCuts::before(ExecutionId run) const {
  const OneSided* const all = near(run);
  if (all == nullptr || !view_.is_backward(run)) return std::nullopt;
  std::optional<GradientCut> cut;
  ExecutionId nearest;
  for (const bool of_a : {false, true}) {
    const std::vector<ExecutionId>& runs = all->returned[of_a ? 1 : 0];
    const auto after = std::lower_bound(runs.begin(), runs.end(), run);
    if (after == runs.begin() || (cut && *(after - 1) < nearest)) continue;
    nearest = *(after - 1);
    cut = GradientCut{of_a, true, view_.run(nearest).op, operators_of(view_, {runs.begin(), runs.end()})};
  }
  return cut;
}

std::optional<GradientCut> GradientCuts::first() const {
  for (const auto& [place, all] : one_sided_) {
    for (const ExecutionId run : all.runs[0]) {
      if (auto cut = view_.is_backward(run) ? at(run) : std::nullopt) return cut;
    }
    const std::vector<ExecutionId>& runs = all.returned[0];
    if (!all.any_forward && runs.size() >= kSeveral && all.returned[1].empty())
      return GradientCut{false, true, view_.run(runs.front()).op, operators_of(view_, {runs.begin(), runs.end()})};
  }
  return std::nullopt;
}

}  // namespace msdump
