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
    while (!next_.empty()) {
      const uint32_t run = next_.back();
      next_.pop_back();
      add_makers(run);
    }
    std::vector<uint32_t> operators;
    for (auto run = found_.rbegin(); run != found_.rend(); ++run) operators.push_back(view_.run(*run).op);
    return operators;
  }

 private:
  void add(uint32_t run) {
    if (view_.of_candidate_only(run) && found_.insert(run).second) next_.push_back(run);
  }

  // Of what is wrong or was not compared.
  void add_makers(uint32_t run) {
    bool any_unknown = view_.run(run).inputs.empty();
    for (const RunInput& input : view_.run(run).inputs) {
      const bool agrees = view_.compared(input.tensor) && !view_.differs(input.tensor);
      if (agrees || input.from == From::kParameter || input.from == From::kConstant) continue;
      for (const uint32_t maker : {input.made_by, input.also_made_by}) {
        if (maker != kNoRun) add(maker);
      }
      any_unknown = any_unknown || (input.made_by == kNoRun && input.also_made_by == kNoRun);
    }
    if (any_unknown) add_run_before(run);
  }

  // Back to the last call of the program that was compared, which is near: calls of the chain are not looked at again.
  void add_run_before(uint32_t run) {
    const auto is_compared = [&](uint32_t other) {
      const auto& outputs = view_.run(other).outputs;
      return std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) { return view_.compared(tensor); });
    };
    for (uint32_t other = run; other-- > 0;) {
      const RunPlace &place = view_.place(other), &of_run = view_.place(run);
      if (place.rank != of_run.rank || place.step != of_run.step || found_.contains(other)) return;
      if (!view_.same_program(other, run)) continue;
      if (is_compared(other)) return;
      add(other);
    }
  }

  const RunView& view_;
  std::set<uint32_t> found_;
  std::vector<uint32_t> next_;
};

// Does what a root reads come from what nothing is known of?
bool reads_unknown(const RunView& view, const Divergence& root) {
  return view.one_sided(root.run) || root.after || root.kind == DivergenceKind::kInput || root.inputs.empty();
}

}  // namespace

void find_chains(const RunView& view, std::vector<Divergence>& roots) {
  if (!view.of_cuts()) return;
  ChainSearch search(view);
  for (Divergence& root : roots) {
    if (!root.parameter.empty() || !reads_unknown(view, root) || view.broken(root.run) != nullptr) continue;
    root.chain = search.before(root.reader == kNoRun ? root.run : root.reader);
    std::erase(root.chain, root.op);
  }
}

}  // namespace msdump
