#include "divergence/roots/call_chain.h"

#include <algorithm>
#include <set>

#include "base/containers.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class ChainSearch {
 public:
  explicit ChainSearch(const RunView& view) : view_(view) {}

  // The chain before a reader, as operators, the nearest first.
  std::vector<OperatorId> before(ExecutionId reader) {
    found_.clear();
    add_makers(reader);
    add_changes(reader);
    add_all_makers();
    return operators();
  }

  // The chain between an execution and the reader of its output, with the producers of inputs that were not compared. For
  // a module, which is both, the calls at its end.
  std::vector<OperatorId> between(ExecutionId run, ExecutionId reader) {
    found_.clear();
    add_run_before(reader, run);
    add_run_after(run, reader);
    next_.clear();
    if (run != reader) add_unknown(run);
    add_all_makers();
    return operators();
  }

 private:
  [[nodiscard]] std::vector<OperatorId> operators() const {
    std::vector<OperatorId> operators;
    for (auto run = found_.rbegin(); run != found_.rend(); ++run) operators.push_back(view_.run(*run).op);
    return operators;
  }

  void add(ExecutionId run) {
    const bool own = view_.of_candidate_only(run) || leaves_its_own(run);
    if (own && found_.insert(run).second) next_.push_back(run);
  }

  // True if none of its outputs was compared: it was paired by its inputs alone.
  [[nodiscard]] bool leaves_its_own(ExecutionId run) const {
    const std::vector<TensorId>& outputs = view_.run(run).outputs;
    return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
      return view_.is_of_candidate(tensor) && !view_.compared(tensor);
    });
  }

  void add_unknown(ExecutionId run) {
    for (const RunInput& input : view_.run(run).inputs) {
      if (!view_.compared(input.tensor)) add_makers_of(input);
    }
  }

  void add_makers_of(const RunInput& input) {
    for (const ExecutionId maker : {input.producer, input.other_producer}) {
      if (maker != kNoId) add(maker);
    }
  }

  void add_all_makers() {
    while (!next_.empty()) {
      const ExecutionId run = next_.back();
      next_.pop_back();
      add_makers(run);
    }
  }

  // Adds the producers of inputs that differ or were not compared.
  void add_makers(ExecutionId run) {
    bool any_unknown = view_.run(run).inputs.empty();
    for (const RunInput& input : view_.run(run).inputs) {
      const bool agrees = view_.compared(input.tensor) && !view_.differs(input.tensor);
      if (agrees || input.from == From::kParameter || input.from == From::kConstant) continue;
      add_makers_of(input);
      any_unknown = any_unknown || (input.producer == kNoId && input.other_producer == kNoId);
    }
    if (any_unknown) add_run_before(run);
  }

  // For an input that differs although both sides have its producer: adds the calls after that and before the reader.
  void add_changes(ExecutionId reader) {
    for (const RunInput& input : view_.run(reader).inputs) {
      if (!view_.compared(input.tensor) || !view_.differs(input.tensor)) continue;
      if (input.producer == kNoId || view_.one_sided(input.producer) || input.produced == input.tensor) continue;
      if (!view_.same_program(input.producer, reader)) continue;
      add_run_before(reader);
      add_run_after(input.producer, reader);
    }
  }

  // Goes back to `first`, a call that was found already, or the nearest call of the program that was compared.
  void add_run_before(ExecutionId run, ExecutionId first = kNoId) {
    for (ExecutionId other = run; other-- > 0 && other != first && !found_.contains(other);)
      if (!goes_on(other, run)) return;
  }
  void add_run_after(ExecutionId run, ExecutionId end) {
    for (ExecutionId other = run; ++other < end && !found_.contains(other);)
      if (!goes_on(other, run)) return;
  }

  // Adds a call of the program of `run`. False, without adding it, if it was compared or is of another rank or step.
  bool goes_on(ExecutionId other, ExecutionId run) {
    const RunPlace &place = view_.place(other), &of_run = view_.place(run);
    if (!place.is_beside(of_run)) return false;
    if (!view_.same_program(other, run)) return true;
    const auto& outputs = view_.run(other).outputs;
    if (std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) { return view_.compared(tensor); }))
      return false;
    add(other);
    return true;
  }

  const RunView& view_;
  std::set<ExecutionId> found_;
  std::vector<ExecutionId> next_;
};

// True if nothing is known of the source of the values that a root reads.
bool reads_unknown(const RunView& view, const Divergence& root) {
  return view.one_sided(root.run) || root.after || root.kind == DivergenceKind::kInput || root.inputs.empty();
}

// The execution whose input shows the output of a root, or a module itself. kNoId if the root's own output was compared.
ExecutionId shown_by(const RunView& view, const Divergence& root) {
  if (!view.inside(root.run).empty()) return root.run;
  if (root.outputs.empty()) return kNoId;
  const ExecutionId run = view.graph().run_of(root.outputs.front());
  return run <= root.run ? kNoId : run;
}

}  // namespace

void find_chains(const RunView& view, std::vector<Divergence>& roots) {
  if (!view.is_sharded()) return;
  ChainSearch search(view);
  for (Divergence& root : roots) {
    if (!root.parameter.empty() || view.broken(root.run) != nullptr) continue;
    if (reads_unknown(view, root)) {
      root.chain = search.before(root.reader == kNoId ? root.run : root.reader);
    } else if (const ExecutionId reader = shown_by(view, root); reader != kNoId) {
      root.chain = search.between(root.run, reader);
    }
    std::erase(root.chain, root.op);
  }
}

}  // namespace msdump
