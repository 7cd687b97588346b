// How many differing tensors depend on what certain runs wrote: by the edges of the IR; without one, all from then on.
//
// Takes many runs at once: 64 of them go along the edges as one word, so that a thousand roots cost only a few passes
// over all runs.
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

// By place in `from`, whose entries are runs that count together; their own tensors count, each once.
[[nodiscard]] std::vector<uint64_t> count_downstream(const RunView& view,
                                                     const std::vector<std::vector<uint32_t>>& from);

// The sum of `counts`, which are by run, over the runs that the readers of some runs lead to, these among them. Edges may
// lead back.
[[nodiscard]] std::vector<uint64_t> count_reached(const std::vector<OpRun>& runs, const Collectives& collectives,
                                                  const std::vector<uint32_t>& counts,
                                                  const std::vector<std::vector<uint32_t>>& from);

// The roots that were found so far, and which of them remain once all runs have been judged.

struct Root {
  uint32_t run = 0;
  bool uncertain_source = false;    // where the value comes from is not known
  uint32_t constant = kNoTensor;    // that differs
  uint32_t changed_after = kNoRun;  // an input changed after this run wrote it
  bool exchanges = false;           // several inputs changed: it reads its operands in another order
  Divergence divergence;

  void lower(double most);  // the confidence
};

class RootList {
 public:
  RootList(const RunView& view, const NoiseModel& model, const OneSidedRuns& one_sided, RunHistory& history)
      : view_(view), model_(model), one_sided_(one_sided), history_(history) {}

  // With the evidence of `inputs`. References stay valid until the next one is added.
  Root& add(uint32_t run, DivergenceKind kind, const RunInputs& inputs, std::vector<uint32_t> outputs);
  // Its only evidence is the value.
  Root& add_entering(uint32_t run, DivergenceKind kind, const RunInputs& inputs, uint32_t tensor);
  // An input changed after its producer wrote it.
  Root& add_changed(uint32_t run, const RunInputs& inputs, const RunInput& input);
  // A run that only one side has, by the inputs of its reader. Null if it was reported already.
  Root* add_one_sided(uint32_t run, uint32_t reader, const RunInputs& inputs);
  // The figures of the output that stands out most.
  static void set_score(Root& root, const ScoredOutput& output);
  // Has a root an input that changed after this run, or another of the same line and type, wrote it? Then the run is
  // named instead: what is read of it is not what the other side reads.
  bool is_changed_after(uint32_t producer, uint32_t reader);
  // False if the operator was reported already, on this rank.
  bool report_once(uint32_t run, uint32_t reader);

  [[nodiscard]] size_t size() const { return roots_.size(); }
  [[nodiscard]] Root& last() { return roots_.back(); }
  [[nodiscard]] bool has_line_of(uint32_t run);  // a root from the same line of the script

  // Drops what others explain: modules in which an operator stands out, values of unknown origin if an operator is at
  // fault in their step or before it. Joins instances of one operator or line. Most upstream first.
  [[nodiscard]] std::vector<Divergence> finish() &&;

  // kNan, kShape or kValue, by what happened to the tensors.
  [[nodiscard]] DivergenceKind kind_of(const std::vector<uint32_t>& tensors) const;

 private:
  void drop_explained();
  void drop_modules();
  void drop_unproven();
  void drop_equal_constants();
  void find_cuts();
  void keep_first_uncertain();
  // In `roots_`; their number where there is none.
  [[nodiscard]] size_t first_changed_after(uint32_t producer) const;
  [[nodiscard]] uint32_t first_missing(uint32_t run) const;
  [[nodiscard]] uint32_t missing_before(uint32_t reader) const;
  [[nodiscard]] bool explained_by_inside(uint32_t run) const;

  const RunView& view_;
  const NoiseModel& model_;
  const OneSidedRuns& one_sided_;
  RunHistory& history_;
  std::vector<Root> roots_;
  std::set<std::pair<std::optional<int64_t>, uint32_t>> reported_;  // rank and operator
  std::set<SourceLine> lines_;                                      // of the first `with_lines_` roots
  size_t with_lines_ = 0;
  // In `roots_`: the first whose input changed after a run, or after one of a line and type.
  std::map<uint32_t, size_t> changed_after_;
  std::map<std::pair<SourceLine, std::string_view>, size_t> changed_after_line_;
};

}  // namespace msdump
