#include "divergence/roots/unseen_calls.h"

#include <algorithm>
#include <optional>

#include "divergence/divergence.h"
#include "divergence/model/noise_model.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr std::string_view kMix = "mix";

class UnseenSearch {
 public:
  UnseenSearch(const RunView& view, const NoiseModel& model, const RunHistory& history)
      : view_(view), model_(model), history_(history) {
    for (ExecutionId run{0}; run < view.runs().size(); ++run) {
      const auto kind = kind_of(run);
      modules_ = modules_ || kind == MsprobeEntryKind::kModule;
      calls_ = calls_ || kind == MsprobeEntryKind::kCall;
    }
  }

  [[nodiscard]] bool any() const { return modules_ || calls_; }

  [[nodiscard]] std::optional<UnseenCalls> of(const Divergence& root) const {
    const auto kind = kind_of(root.run);
    if (!kind || kind == MsprobeEntryKind::kDebug || !root.parameter.empty() || view_.one_sided(root.run)) return {};
    if (root.after) {
      const bool moved = view_.run(*root.after).op == root.op;  // named instead of its reader
      if (moved || kind_of(*root.after) == MsprobeEntryKind::kParameterGradients) return {};
      return UnseenCalls{view_.run(*root.after).op, view_.run(root.run).op, modules_ ? kMix : "L1"};
    }
    if (root.kind == DivergenceKind::kInput) {
      const ExecutionId good = last_good_before(root.run);
      if (good == kNoId) return {};
      return UnseenCalls{view_.run(good).op, view_.run(root.run).op, modules_ ? kMix : "L1"};
    }
    const bool is_one_operator = model_.gain(root.run).noise != NoiseClass::kUnknown;
    if (calls_ || is_one_operator || root.outputs.empty()) return {};
    return UnseenCalls{kNoId, view_.run(root.run).op, kMix};
  }

 private:
  [[nodiscard]] std::optional<MsprobeEntryKind> kind_of(ExecutionId run) const {
    const auto entry = parse_msprobe_entry(view_.name(run));
    return entry ? std::optional(entry->kind) : std::nullopt;
  }

  // The last call or module before `run`, on its rank and in its step, that is not inside it, one-sided or downstream.
  [[nodiscard]] ExecutionId last_good_before(ExecutionId run) const {
    const std::vector<ExecutionId>& inside = view_.inside(run);
    for (ExecutionId other = run; other-- > 0;) {
      const RunPlace &place = view_.place(other), &of_run = view_.place(run);
      if (!place.is_beside(of_run)) break;
      const auto kind = kind_of(other);
      const bool has_scope = kind == MsprobeEntryKind::kModule || kind == MsprobeEntryKind::kCall;
      if (!has_scope || view_.one_sided(other) || history_.states[other].downstream) continue;
      if (!std::binary_search(inside.begin(), inside.end(), other)) return other;
    }
    return kNoId;
  }

  const RunView& view_;
  const NoiseModel& model_;
  const RunHistory& history_;
  bool modules_ = false, calls_ = false;
};

}  // namespace

void find_unseen_calls(const RunView& view, const NoiseModel& model, const RunHistory& history,
                       std::vector<Divergence>& roots) {
  if (roots.empty() || view.graph().flow() == FlowKind::kIr) return;
  const UnseenSearch search(view, model, history);
  if (!search.any()) return;
  for (Divergence& root : roots) {
    if (!root.cut) root.unseen = search.of(root);
  }
}

MsprobeSettings settings_for(const UnseenCalls& calls, const Pairing& pairing, const CompareSide& side,
                             bool of_candidate) {
  const std::vector<SequencedOp>& operators = of_candidate ? pairing.a : pairing.b;
  const auto operator_at = [&](OperatorId op) -> const SequencedOp& {
    return operators[of_candidate ? pairing.operators[op].a : pairing.operators[op].b];
  };
  // A backward call writes the gradients of parameters.
  const auto name_of = [](const SequencedOp& op) { return backward_entry_of(op.name).value_or(std::string(op.name)); };
  const SequencedOp& last = operator_at(calls.before);
  const bool elements = std::any_of(last.tensors.begin(), last.tensors.end(),
                                    [&](RecordId tensor) { return (*side.tensors)[tensor].has_elements; });
  MsprobeSettings settings;
  settings.task = elements ? "tensor" : "statistics";
  settings.level = calls.level;
  if (calls.after == kNoId) {
    settings.list = {name_of(last)};
  } else {
    settings.scope = {operator_at(calls.after).name, name_of(last)};
  }
  settings.all_risks = is_pytorch(operators);
  return settings;
}

}  // namespace msdump
