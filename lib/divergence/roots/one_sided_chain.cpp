#include "divergence/roots/one_sided_chain.h"

#include <algorithm>
#include <set>

namespace msdump {
namespace {

using From = InputEdge::From;

class ChainSearch {
 public:
  explicit ChainSearch(const RunView& view) : view_(view) {}

  // Of operators, the nearest first.
  std::vector<uint32_t> before(uint32_t reader) {
    found_.clear();
    add_makers(reader);
    add_changes(reader);
    add_all_makers();
    return operators();
  }

  // Between a run and the reader of what it has made, and what made those of its inputs that were not compared. Of a module,
  // which is both: the calls that it ends with.
  std::vector<uint32_t> between(uint32_t run, uint32_t reader) {
    found_.clear();
    add_run_before(reader, run);
    add_run_after(run, reader);
    next_.clear();
    if (run != reader) add_unknown(run);
    add_all_makers();
    return operators();
  }

 private:
  [[nodiscard]] std::vector<uint32_t> operators() const {
    std::vector<uint32_t> operators;
    for (auto run = found_.rbegin(); run != found_.rend(); ++run) operators.push_back(view_.run(*run).op);
    return operators;
  }

  void add(uint32_t run) {
    const bool own = view_.of_candidate_only(run) || leaves_its_own(run);
    if (own && found_.insert(run).second) next_.push_back(run);
  }

  // Has it a partner by what it reads alone?
  [[nodiscard]] bool leaves_its_own(uint32_t run) const {
    const std::vector<uint32_t>& outputs = view_.run(run).outputs;
    return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
      return view_.is_of_candidate(tensor) && !view_.compared(tensor);
    });
  }

  void add_unknown(uint32_t run) {
    for (const RunInput& input : view_.run(run).inputs) {
      if (!view_.compared(input.tensor)) add_makers_of(input);
    }
  }

  void add_makers_of(const RunInput& input) {
    for (const uint32_t maker : {input.made_by, input.also_made_by}) {
      if (maker != kNoRun) add(maker);
    }
  }

  void add_all_makers() {
    while (!next_.empty()) {
      const uint32_t run = next_.back();
      next_.pop_back();
      add_makers(run);
    }
  }

  // Of what is wrong or was not compared.
  void add_makers(uint32_t run) {
    bool any_unknown = view_.run(run).inputs.empty();
    for (const RunInput& input : view_.run(run).inputs) {
      const bool agrees = view_.compared(input.tensor) && !view_.differs(input.tensor);
      if (agrees || input.from == From::kParameter || input.from == From::kConstant) continue;
      add_makers_of(input);
      any_unknown = any_unknown || (input.made_by == kNoRun && input.also_made_by == kNoRun);
    }
    if (any_unknown) add_run_before(run);
  }

  // What both sides have wrote an input, and it is wrong only since: what follows the writer, and what the reader follows.
  void add_changes(uint32_t reader) {
    for (const RunInput& input : view_.run(reader).inputs) {
      if (!view_.compared(input.tensor) || !view_.differs(input.tensor)) continue;
      if (input.made_by == kNoRun || view_.one_sided(input.made_by) || input.made_as == input.tensor) continue;
      if (!view_.same_program(input.made_by, reader)) continue;
      add_run_before(reader);
      add_run_after(input.made_by, reader);
    }
  }

  // Back to the last call of the program that was compared, which is near, or to `first`: calls of the chain are not looked
  // at again.
  void add_run_before(uint32_t run, uint32_t first = kNoRun) {
    uint32_t other = run;
    while (other > 0 && other - 1 != first && !found_.contains(other - 1) && goes_on(other - 1, run)) --other;
  }
  void add_run_after(uint32_t run, uint32_t end) {
    uint32_t other = run;
    while (other + 1 < end && !found_.contains(other + 1) && goes_on(other + 1, run)) ++other;
  }

  // Adds a call of the program of a run that was not compared. False: it was, or is of another step.
  bool goes_on(uint32_t other, uint32_t run) {
    const RunPlace &place = view_.place(other), &of_run = view_.place(run);
    if (place.rank != of_run.rank || place.step != of_run.step) return false;
    if (!view_.same_program(other, run)) return true;
    const auto& outputs = view_.run(other).outputs;
    if (std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) { return view_.compared(tensor); }))
      return false;
    add(other);
    return true;
  }

  const RunView& view_;
  std::set<uint32_t> found_;
  std::vector<uint32_t> next_;
};

// Does what a root reads come from what nothing is known of?
bool reads_unknown(const RunView& view, const Divergence& root) {
  return view.one_sided(root.run) || root.after || root.kind == DivergenceKind::kInput || root.inputs.empty();
}

// The run whose input shows what a root has made, where nothing of its own does; kNoRun: something does. Of a module itself.
uint32_t shown_by(const RunView& view, const Divergence& root) {
  if (!view.inside(root.run).empty()) return root.run;
  if (root.outputs.empty()) return kNoRun;
  const uint32_t run = view.graph().run_of(root.outputs.front());
  return run <= root.run ? kNoRun : run;
}

}  // namespace

void find_chains(const RunView& view, std::vector<Divergence>& roots) {
  if (!view.of_cuts()) return;
  ChainSearch search(view);
  for (Divergence& root : roots) {
    if (!root.parameter.empty() || view.broken(root.run) != nullptr) continue;
    if (reads_unknown(view, root)) {
      root.chain = search.before(root.reader == kNoRun ? root.run : root.reader);
    } else if (const uint32_t reader = shown_by(view, root); reader != kNoRun) {
      root.chain = search.between(root.run, reader);
    }
    std::erase(root.chain, root.op);
  }
}

}  // namespace msdump
