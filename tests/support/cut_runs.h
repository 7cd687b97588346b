// Runs over ranks for the tests, each rank with its calls, and two small nets: tensor-parallel on two ranks and whole.
#pragma once

#include <filesystem>
#include <functional>

#include "compare/match/op_sequence.h"
#include "support/graph_run.h"
#include "support/made_calls.h"
#include "support/scratch_dir.h"

namespace msdump::test::cut_runs {

// Ranks of a run, each with its calls.
class RankRun {
 public:
  using Rank = std::function<void(MadeCalls&, int)>;
  RankRun(int ranks, const Rank& rank, int first = 0)
      : dump_(join_dump(written(scratch_, ranks, rank, first), Headers::kAll)), side_(side_of(dump_)) {}
  [[nodiscard]] const CompareSide& side() const { return side_; }

 private:
  static std::filesystem::path written(const ScratchDir& scratch, int ranks, const Rank& rank, int first);

  const ScratchDir scratch_;
  const JoinedDump dump_;
  const CompareSide side_;
};

// Part `place` of so many of equal size.
[[nodiscard]] Values part(const Values& all, int place, int parts);
// a x `of_a` + b x `of_b`
[[nodiscard]] Values combined(const Values& a, float of_a, const Values& b, float of_b);

extern const Values kX, kUp, kDown, kTerm, kOut;

// A column-parallel layer, a row-parallel one and the all_reduce of its terms, which are of a mean; it may add them up.
void tensor_parallel(MadeCalls& calls, int rank, bool sum = false);
void whole_run(MadeCalls& calls, int rank);

}  // namespace msdump::test::cut_runs
