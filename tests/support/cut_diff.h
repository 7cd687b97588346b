// A run over ranks against one in a single process: a test says which calls ran on each rank, and asks for the roots.
//
//   const CutDiff diff(2, [](MadeCalls& calls, int rank) { .. }, [](MadeCalls& calls, int) { .. });
//   CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 1"});
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "divergence/dump_diff.h"
#include "support/catch.h"
#include "support/diff_side.h"
#include "support/made_calls.h"
#include "support/scratch_dir.h"
#include "support/sharded_tensors.h"

namespace msdump {

using Ran = std::function<void(MadeCalls&, int)>;  // on a rank

class CutDiff {
 public:
  struct Step {
    Ran cut, whole;
  };
  CutDiff(int ranks, const Ran& cut, const Ran& whole) : CutDiff(ranks, {{cut, whole}}) {}
  // `lost`: a file that is not there: "cut/step0/rank1/.." or "whole/step0/proc7/..". The other run may be cut, too.
  CutDiff(int ranks, const std::vector<Step>& steps, const std::string& lost = {}, int other_ranks = 1) {
    for (size_t step = 0; step < steps.size(); ++step) {
      for (int rank = 0; rank < ranks; ++rank)
        write(steps[step].cut, "cut", fmt::format("step{}/rank{}", step, rank), rank);
      for (int rank = 0; rank < other_ranks; ++rank) {
        const std::string process = other_ranks == 1 ? "proc7" : fmt::format("rank{}", rank);
        write(steps[step].whole, "whole", fmt::format("step{}/{}", step, process), rank);
      }
    }
    if (!lost.empty()) REQUIRE(std::filesystem::remove(scratch_.path() / lost));
    DiffRules rules;
    auto run = diff_dumps(open("cut"), open("whole"), nullptr, rules, {}, {pool_, never_});
    REQUIRE(run);
    run_ = std::make_unique<DiffResult>(std::move(*run));
    REQUIRE_FALSE(run_->placements.empty());
  }

  // "Functional.gelu.0.forward on 0,1": each root and the ranks that it names.
  [[nodiscard]] Texts roots() const {
    Texts texts;
    for (const Divergence& root : run_->divergence.roots)
      texts.push_back(fmt::format("{} on {}", run_->op_name(root.op), ranges_text(root.ranks)));
    return texts;
  }
  [[nodiscard]] const Divergence& root() const { return run_->divergence.roots.at(0); }
  // What may be to blame in the place of a root.
  [[nodiscard]] Texts chain(size_t root = 0) const {
    Texts texts;
    for (const OperatorId op : run_->divergence.roots.at(root).chain) texts.emplace_back(run_->op_name(op));
    return texts;
  }

  [[nodiscard]] bool two_networks() const { return run_->pairing.likeness.two_networks(); }

  // "skipped: REASON": of a tensor.
  [[nodiscard]] std::string verdict(std::string_view op, std::string_view slot, Io io) const {
    for (uint32_t i = 0; i < run_->pairing.tensors.size(); ++i) {
      const NameFacts& name = run_->record_of(run_->pairing.tensors[i]).name;
      if (name.op_name == op && name.slot == slot && name.io == io)
        return fmt::format("{}: {}", name_of(run_->diffs[i].verdict), *run_->diffs[i].reason);
    }
    return {};
  }

 private:
  void write(const Ran& ran, const std::string& side, const std::string& below, int rank) const {
    MadeCalls calls(false);
    ran(calls, rank);
    calls.write(scratch_.path() / side, below);
  }

  [[nodiscard]] std::unique_ptr<DiffSide> open(const std::string& side) const {
    return test::open_diff_side(scratch_.path() / side, {pool_, never_});
  }

  test::ScratchDir scratch_;
  mutable WorkerPool pool_{2};
  const CancelToken never_;
  std::unique_ptr<DiffResult> run_;
};

inline const Values kCutX = test::numbers(32, 1), kCutUp = test::numbers(32, 2), kCutOut = test::numbers(32, 3),
                    kCutLast = test::numbers(32, 4);

// Of two.
inline Values half_of(const Values& all, int rank) {
  const auto half = static_cast<std::ptrdiff_t>(all.size()) / 2;
  return {all.begin() + rank * half, all.begin() + (rank + 1) * half};
}
inline Values by_factor(Values all, float factor) {
  for (float& one : all) one *= factor;
  return all;
}

// The reference of many tests.
inline void in_one_process(MadeCalls& calls, int) {
  calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
  calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
  calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
}

}  // namespace msdump
