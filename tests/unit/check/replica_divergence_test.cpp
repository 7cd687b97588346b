#include <cmath>
#include <functional>

#include "check/ranks/replica_rules.h"
#include "made_ranks.h"
#include "small_dump.h"

namespace msdump::check {

// What makes ranks that hold copies leave each other, and what only looks like it: the rules of replica_rules.h one by one.

namespace {

using Ranks = std::vector<int64_t>;
using Change = std::function<void(Values&)>;

// Ranks that have three weights in common, and read nothing with them.
MadeRun with_weights(size_t ranks, size_t steps = 1) {
  MadeRun run(ranks, steps);
  for (size_t step = 0; step < steps; ++step) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      for (const size_t number : {0U, 1U, 2U}) {
        run.at(rank, step)
            .module(fmt::format("Module.l{}.Linear.forward.0", number), seeded(50 + rank), seeded(60 + rank),
                    {{"weight", seeded(10 + number + 100 * step)}});
      }
    }
  }
  return run;
}
const char* const kWeight = "Module.l1.Linear.forward.0.parameters.weight";

std::vector<Finding> found(const MadeRun& run) { return run.check(only("replica_mismatch")).findings(); }

// Of the same distribution, with this correlation.
Values correlated(const Values& with, double correlation) {
  const Values other = seeded(900, with.size());
  Values made;
  for (size_t i = 0; i < with.size(); ++i) {
    made.push_back(static_cast<float>(correlation) * with[i] +
                   static_cast<float>(std::sqrt(1 - correlation * correlation)) * other[i]);
  }
  return made;
}

}  // namespace

TEST_CASE("a module's weight that two ranks had in common is found in a later step, whatever one of them has then") {
  MadeRun run = with_weights(2, 2);
  CHECK(found(run).empty());
  run.at(1, 1)[kWeight] = seeded(77);
  CHECK(found(run).size() == 1);
}

TEST_CASE(
    "from the start, of two ranks a weight that is much like the other one is a copy; an input is one if few differ") {
  const auto findings = [](bool weight, const Change& change) {
    MadeRun run = with_weights(2);
    for (size_t rank = 0; rank < 2; ++rank) {
      Values input = seeded(70, 1000), parameter = seeded(71, 1000);
      if (rank == 1) change(weight ? parameter : input);
      run.at(rank).call("Torch.add.0.forward", {input}, {seeded(80 + rank)});
      run.at(rank).module("Module.l9.Linear.forward.0", seeded(90 + rank), seeded(95 + rank), {{"weight", parameter}});
    }
    return found(run).size();
  };
  const Change few = [](Values& values) { values[3] += 0.5F; };
  const Change alike = [](Values& values) { values = correlated(values, 0.97); };
  const Change less_alike = [](Values& values) { values = correlated(values, 0.8); };
  CHECK(findings(true, few) == 1);
  CHECK(findings(true, alike) == 1);
  CHECK(findings(true, less_alike) == 0);
  CHECK(findings(false, few) == 1);
  CHECK(findings(false, alike) == 0);
}

TEST_CASE("what an operator may make otherwise on a rank does not make its reader a root") {
  MadeRun run = with_weights(3, 2);
  for (size_t step = 0; step < 2; ++step) {
    for (size_t rank = 0; rank < 3; ++rank) {
      const Values part = seeded(step == 1 && rank == 2 ? 81 : 80);
      run.at(rank, step).call("Tensor.__getitem__.0.forward", {seeded(70)}, {part});
      run.at(rank, step).call("Torch.exp.0.forward", {part}, {part});
    }
  }
  CHECK(found(run).empty());
}

TEST_CASE("a mask that is another one on one of three ranks is not a fault; other values are") {
  const auto findings = [](Values usual, Values odd) {
    MadeRun run = with_weights(3);
    for (size_t rank = 0; rank < 3; ++rank)
      run.at(rank).call("Torch.exp.0.forward", {seeded(70)}, {rank == 2 ? odd : usual});
    return found(run).size();
  };
  CHECK(findings({0, 1, 1, 0, 1, 0, 0, 1}, {1, 1, 1, 0, 1, 0, 0, 1}) == 0);
  CHECK(findings(seeded(71), seeded(72)) == 1);
}

TEST_CASE("the cause of another weight is an operator that read a parameter, and made something else of the same") {
  const auto op_of_finding = [](const Values& read, bool same_output) {
    MadeRun run = with_weights(2, 2);
    for (size_t rank = 0; rank < 2; ++rank) {
      run.at(rank, 0).call("Tensor.mul_.0.forward", {read}, {seeded(same_output ? 90 : 90 + rank)});
      run.at(rank, 0).call("Tensor.add_.0.forward", {seeded(92 + rank)}, {seeded(94 + rank)});
    }
    run.at(1, 1)[kWeight][3] += 0.5F;
    const test::Checked checked = run.check(only("replica_mismatch"));
    return checked.dump().operators()[checked.only("replica_mismatch").op].name;
  };
  CHECK(op_of_finding(seeded(11), false) == "Tensor.mul_.0.forward");
  CHECK(op_of_finding(seeded(11), true) == "Module.l1.Linear.forward.0");
  CHECK(op_of_finding(Values(8, 0.0F), false) == "Module.l1.Linear.forward.0");
}

TEST_CASE("of two ranks that leave in one step the one whose operator ran first comes first") {
  for (const bool last_is_first : {false, true}) {
    MadeRun run = with_weights(5, 2);
    run.at(1, 1)[kWeight][3] += 0.5F;
    run.at(4, 1)[fmt::format("Module.l{}.Linear.forward.0.parameters.weight", last_is_first ? 0 : 2)][3] += 0.5F;
    const test::Checked checked = run.check(only("replica_mismatch"));
    CHECK(checked.findings().size() == 2);
    REQUIRE(checked.report().first_divergence);
    CHECK(checked.report().first_divergence->diverged == (last_is_first ? Ranks{4} : Ranks{1}));
  }
}

}  // namespace msdump::check
