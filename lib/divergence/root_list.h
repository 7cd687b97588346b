// RootList: the roots that were found so far, and which of them remain at the end. count_downstream(): how many differing
// tensors depend on certain executions, by the edges of the IR; without an IR, all from then on. Up to 64 roots go along
// the edges as one word, so a thousand roots cost only a few passes over the executions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "divergence/divergence.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/one_sided_runs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Counts by index of `from`. The executions of an entry count together, and their own tensors count, each once.
[[nodiscard]] std::vector<uint64_t> count_downstream(const RunView& view,
                                                     const std::vector<std::vector<ExecutionId>>& from);

// The sum of `counts`, by run, over the executions that an entry of `from` reaches, with its own. Edges may lead back.
[[nodiscard]] std::vector<uint64_t> count_reached(const std::vector<OpRun>& runs, const Collectives& collectives,
                                                  const std::vector<uint32_t>& counts,
                                                  const std::vector<std::vector<ExecutionId>>& from);

// The roots so far, and those that remain once all executions are judged.

struct Root {
  ExecutionId run;
  bool uncertain_source = false;  // the source of the value is not known
  bool exchanges = false;         // several inputs changed: it reads its operands in another order
  Divergence divergence;
};

class RootList {
 public:
  RootList(const RunView& view, const OneSidedRuns& one_sided, RunHistory& history)
      : view_(view), one_sided_(one_sided), history_(history) {}

  // Adds a root with the evidence of `inputs`. The reference stays valid until the next one is added.
  Root& add(ExecutionId run, RootRule rule, DivergenceKind kind, const RunInputs& inputs,
            std::vector<TensorId> outputs);
  // Adds a root whose only evidence is the value.
  Root& add_entering(ExecutionId run, RootRule rule, DivergenceKind kind, const RunInputs& inputs, TensorId tensor);
  // Adds a root for an input that changed after its producer wrote it.
  Root& add_changed(ExecutionId run, const RunInputs& inputs, const RunInput& input);
  // Adds an execution that only one side has, by the inputs of its reader. Null if it was reported already.
  Root* add_one_sided(ExecutionId run, ExecutionId reader, const RunInputs& inputs);
  // True if a root has an input that changed after this producer.
  [[nodiscard]] bool is_changed_after(ExecutionId producer) const { return changed_after_.contains(producer); }
  // False if the operator was reported already on the rank of `reader`.
  bool report_once(ExecutionId run, ExecutionId reader);

  [[nodiscard]] size_t size() const { return roots_.size(); }
  [[nodiscard]] Root& last() { return roots_.back(); }

  // The roots that remain, most upstream first. Dropped are modules in which an operator stands out, and values of
  // unknown source if an operator is at fault by then. The places of one fault are joined.
  [[nodiscard]] std::vector<Divergence> finish() &&;

  // kNan, kShape or kValue, by the verdicts of the tensors.
  [[nodiscard]] DivergenceKind kind_of(const std::vector<TensorId>& tensors) const;

 private:
  void drop_explained();
  void drop_modules();
  void find_cuts();
  [[nodiscard]] ExecutionId first_missing(ExecutionId run) const;
  [[nodiscard]] bool explained_by_inside(ExecutionId run) const;

  const RunView& view_;
  const OneSidedRuns& one_sided_;
  RunHistory& history_;
  std::vector<Root> roots_;
  std::set<std::pair<std::optional<int64_t>, OperatorId>> reported_;  // rank and operator
  std::set<ExecutionId> changed_after_;  // producers after which the input of a root changed
};

}  // namespace msdump
