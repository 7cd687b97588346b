#include "support/cut_runs.h"

#include <fmt/format.h>

#include "support/sharded_tensors.h"

namespace msdump::test::cut_runs {

std::filesystem::path RankRun::written(const ScratchDir& scratch, int ranks, const Rank& rank, int first) {
  for (int i = first; i < first + ranks; ++i) {
    MadeCalls calls(false);
    rank(calls, i);
    calls.write(scratch.path() / "dump", ranks == 1 ? "step0/proc7" : fmt::format("step0/rank{}", i));
  }
  return scratch.path() / "dump";
}

Values part(const Values& all, int place, int parts) {
  const auto size = static_cast<std::ptrdiff_t>(all.size()) / parts;
  return {all.begin() + place * size, all.begin() + (place + 1) * size};
}
Values combined(const Values& a, float of_a, const Values& b, float of_b) {
  Values all;
  for (size_t i = 0; i < a.size(); ++i) all.push_back(a[i] * of_a + b[i] * of_b);
  return all;
}

const Values kX = numbers(16, 1), kUp = numbers(16, 2), kDown = numbers(16, 3), kTerm = numbers(16, 4),
             kOut = numbers(16, 5);

void tensor_parallel(MadeCalls& calls, int rank, bool sum) {
  calls.ran("Module.up.Column.forward.0", {kX}, {part(kUp, rank, 2)});
  const Values rest = combined(kDown, 2, kTerm, -1), reduced = combined(kDown, sum ? 2 : 1, kDown, 0);
  const Values& term = rank == 0 ? kTerm : rest;
  calls.ran("Functional.linear.0.forward", {part(kUp, rank, 2)}, {term});
  calls.ran("Distributed.all_reduce.0.forward", {term}, {reduced});
  calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
}
void whole_run(MadeCalls& calls, int) {
  calls.ran("Module.up.Column.forward.0", {kX}, {kUp});
  calls.ran("Functional.linear.0.forward", {kUp}, {kDown});
  calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
}

}  // namespace msdump::test::cut_runs
