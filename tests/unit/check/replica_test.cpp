// Ranks that hold copies of the same tensors: honest runs of every cut are silent, and the first place where a rank leaves
// its siblings is named.
#include "check/ranks/replica_rules.h"

#include <cmath>
#include <functional>

#include "made_ranks.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

using Ranks = std::vector<int64_t>;

constexpr size_t kLayers = 4;

RuleSet only_replicas() { return only("replica_mismatch"); }

std::string layer(size_t number) { return fmt::format("Module.l{}.Linear.forward.0", number); }
std::string weight_of(size_t number) { return layer(number) + ".parameters.weight"; }
std::string function(size_t number) { return fmt::format("Functional.linear.{}.forward", number); }

// Data parallel training: ranks have the same weights and batches of their own. `shard_of`: which part of the weights a
// rank holds, `batch_of`: which batch it reads.
struct Cut {
  std::function<size_t(size_t)> shard_of = [](size_t) { return size_t{0}; };
  std::function<size_t(size_t)> batch_of = [](size_t rank) { return rank; };
};

MadeRun trained(size_t ranks, size_t steps, const Cut& cut = {}) {
  MadeRun run(ranks, steps);
  for (size_t step = 0; step < steps; ++step) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      Values x = seeded(1000 + 100 * step + cut.batch_of(rank));
      for (size_t number = 0; number < kLayers; ++number) {
        const Values weight = seeded(10 * number + cut.shard_of(rank) + 7 * step * 1000 + 1);
        Values y;
        for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * weight[i]);
        run.at(rank, step).call(function(number), {x, weight}, {y});
        run.at(rank, step).module(layer(number), x, y, {{"weight", weight}});
        x = y;
      }
    }
  }
  return run;
}

// What follows from a changed weight, too.
void retrain(MadeRun& run, size_t rank, size_t step, size_t from) {
  MadeRank& made = run.at(rank, step);
  Values x = made[function(from) + ".input.0"];
  for (size_t number = from; number < kLayers; ++number) {
    const Values& weight = made[weight_of(number)];
    Values y;
    for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * weight[i]);
    made[function(number) + ".input.0"] = made[layer(number) + ".input.0"] = x;
    made[function(number) + ".input.1"] = weight;
    made[function(number) + ".output.0"] = made[layer(number) + ".output.0"] = y;
    x = y;
  }
}

void change_weight(MadeRun& run, size_t rank, size_t step, size_t number, float by = 0.5F) {
  run.at(rank, step)[weight_of(number)][3] += by;
  retrain(run, rank, step, number);
}

Cut tensor_parallel() {
  return {[](size_t rank) { return rank % 2; }, [](size_t rank) { return rank / 2; }};
}

std::string op_of(const test::Checked& checked, const Finding& finding) {
  return checked.dump().operators()[finding.op].name;
}

}  // namespace

TEST_CASE("honest runs are silent: data parallel, tensor parallel, both, and experts") {
  CHECK(trained(2, 2).check(only_replicas()).findings().empty());
  CHECK(trained(4, 3).check(only_replicas()).findings().empty());
  CHECK(trained(4, 2, tensor_parallel()).check(only_replicas()).findings().empty());
  const Cut shards = {[](size_t rank) { return rank; }, [](size_t) { return size_t{0}; }};
  CHECK(trained(3, 2, shards).check(only_replicas()).findings().empty());
}

TEST_CASE("a weight that one of four ranks has otherwise later names that rank, the step and the weight") {
  MadeRun run = trained(4, 3);
  change_weight(run, 2, 1, 1);
  const test::Checked checked = run.check(only_replicas());
  const Finding finding = checked.only("replica_mismatch");
  CHECK(finding.ranks == Ranks{2});
  CHECK(finding.group == Ranks{0, 1, 2, 3});
  CHECK(finding.rank == 2);
  CHECK(finding.step == 1);
  CHECK(op_of(checked, finding) == layer(1));
  CHECK(finding.message.starts_with(
      "rank 2 has another value than ranks 0-1, 3; in the first step all had the same: 1 of "
      "8 elements differ, by up to 0.5"));
}

TEST_CASE("of two ranks nobody can tell which one left") {
  MadeRun run = trained(2, 2);
  change_weight(run, 1, 1, 2);
  const Finding finding = run.check(only_replicas()).only("replica_mismatch");
  CHECK(finding.ranks.empty());
  CHECK(finding.group == Ranks{0, 1});
  CHECK(finding.message.starts_with("ranks 0-1 have different values; in the first step all had the same"));
}

TEST_CASE("of a weight that ranks have otherwise in a later step, the call that first wrote it is named") {
  const auto trained_to = [](float by) {
    MadeRun run = trained(4, 3);
    for (size_t rank = 0; rank < 4; ++rank) {
      Values weight = run.at(rank, 2)[weight_of(1)];
      if (rank == 2) weight[3] += by;
      const Values gradient = seeded(50 + rank);
      run.at(rank, 0).call("Tensor.add_.0.forward", {seeded(5), gradient}, {seeded(60 + rank)});
      run.at(rank, 1).call("Tensor.add_.0.forward", {seeded(5), gradient}, {weight});
      run.at(rank, 1).call("Tensor.detach.0.forward", {weight}, {weight});
    }
    change_weight(run, 2, 2, 1);
    return run.check(only_replicas()).only("replica_mismatch").message;
  };
  CHECK(trained_to(0.5F).find("; Tensor.add_.0.forward wrote it in step 1; then ") != std::string::npos);
  // Not where it wrote something else on one of the ranks, nor what only one of them has.
  CHECK(trained_to(0.25F).find("wrote") == std::string::npos);
  CHECK(trained_to(0).find("wrote") == std::string::npos);
}

TEST_CASE("a rank that missed an update, or ranks that missed one, still have the weight of the first step") {
  const auto missed = [](const std::vector<size_t>& ranks) {
    MadeRun run = trained(4, 3);
    for (const size_t rank : ranks) {
      run.at(rank, 1)[weight_of(1)] = run.at(rank, 0)[weight_of(1)];
      retrain(run, rank, 1, 1);
    }
    return run.check(only_replicas()).only("replica_mismatch").message;
  };
  CHECK(missed({3}).find("; rank 3 still has that of the first step") != std::string::npos);
  CHECK(missed({0, 1, 2}).find("; ranks 0-2 still have that of the first step") != std::string::npos);
}

TEST_CASE("a weight that a rank has otherwise from the start is found beside those that it shares") {
  MadeRun run = trained(4, 1);
  change_weight(run, 3, 0, 1);
  const Finding finding = run.check(only_replicas()).only("replica_mismatch");
  CHECK(finding.ranks == Ranks{3});
  CHECK(finding.message.find("they have most other parameters in common") != std::string::npos);

  MadeRun loaded = trained(4, 1);  // all other values
  loaded.at(1)[weight_of(2)] = seeded(77);
  retrain(loaded, 1, 0, 2);
  CHECK(loaded.check(only_replicas()).only("replica_mismatch").ranks == Ranks{1});
}

TEST_CASE("of four ranks, two and two with the same weight, nobody can tell which left") {
  MadeRun run = trained(4, 1);
  for (const size_t rank : {2U, 3U}) change_weight(run, rank, 0, 1);
  const Finding finding = run.check(only_replicas()).only("replica_mismatch");
  CHECK(finding.ranks.empty());
  CHECK(finding.group == Ranks{0, 1, 2, 3});
}

TEST_CASE("where no two of three ranks have the same weight it is not a copy") {
  MadeRun run = trained(3, 1);
  change_weight(run, 1, 0, 1);
  change_weight(run, 2, 0, 1, 0.75F);
  CHECK(run.check(only_replicas()).findings().empty());
}

TEST_CASE("of two ranks a weight with few other elements was a copy, one with all other elements is an expert") {
  MadeRun run = trained(2, 1);
  change_weight(run, 1, 0, 1);
  CHECK(run.check(only_replicas()).findings().size() == 1);
  MadeRun expert = trained(2, 1);
  expert.at(1)[weight_of(1)] = seeded(77);
  retrain(expert, 1, 0, 1);
  CHECK(expert.check(only_replicas()).findings().empty());
}

TEST_CASE("of tensor and data parallel ranks those with the same shard are siblings") {
  MadeRun run = trained(4, 2, tensor_parallel());
  change_weight(run, 3, 1, 2);
  const Finding finding = run.check(only_replicas()).only("replica_mismatch");
  CHECK(finding.group == Ranks{1, 3});
}

TEST_CASE("an operator that makes something else of the same inputs is named") {
  const Cut same_batch = {[](size_t) { return size_t{0}; }, [](size_t) { return size_t{0}; }};
  for (const size_t step : {0U, 1U}) {
    MadeRun run = trained(3, 2, same_batch);
    MadeRank& made = run.at(1, step);
    made[function(1) + ".output.0"][2] += 0.25F;
    made[layer(1) + ".output.0"] = made[function(1) + ".output.0"];
    made[function(2) + ".input.0"] = made[function(1) + ".output.0"];
    retrain(run, 1, step, 2);
    const test::Checked checked = run.check(only_replicas());
    const Finding finding = checked.only("replica_mismatch");
    CHECK(op_of(checked, finding) == function(1));
    CHECK(finding.ranks == Ranks{1});
    CHECK(finding.step == static_cast<int64_t>(step));
    CHECK(finding.message.find("from the same inputs") != std::string::npos);
  }
}

TEST_CASE("operators that cut out the part of a rank make something else of the same") {
  for (const char* const api : {"Tensor.__getitem__.0.forward", "Functional.linear.9.forward"}) {
    MadeRun run = trained(4, 1);
    for (size_t rank = 0; rank < 4; ++rank) run.at(rank).call(api, {seeded(1)}, {seeded(rank == 3 ? 3 : 2)});
    CHECK(run.check(only_replicas()).findings().empty() == (std::string(api) == "Tensor.__getitem__.0.forward"));
  }
}

TEST_CASE("batches that happen to be the same in the first step are no replicas") {
  MadeRun run = trained(2, 1);
  MadeRun later(2, 2);
  for (size_t step = 0; step < 2; ++step) {
    for (size_t rank = 0; rank < 2; ++rank) {
      const Values x = seeded(step == 0 ? 5 : 60 + rank);
      later.at(rank, step).call("Functional.relu.0.forward", {x}, {seeded(step == 0 ? 6 : 80 + rank)});
    }
  }
  CHECK(later.check(only_replicas()).findings().empty());
}

TEST_CASE("zeros, ones and masks are equal by chance") {
  for (const Values& start : {Values(8, 0.0F), Values(8, 1.0F), Values{0, 1, 1, 0, 1, 0, 0, 1}}) {
    MadeRun run = trained(2, 2);
    for (size_t step = 0; step < 2; ++step) {
      for (size_t rank = 0; rank < 2; ++rank)
        run.at(rank, step)
            .module("Module.bias.Linear.forward.0", seeded(rank), seeded(rank + 5),
                    {{"bias", step == 0 ? start : seeded(rank + 20)}});
    }
    CHECK(run.check(only_replicas()).findings().empty());
  }
}

TEST_CASE("zeros among other values tell as much as these") {
  MadeRun run(3, 2);
  for (size_t step = 0; step < 2; ++step) {
    for (size_t rank = 0; rank < 3; ++rank) {
      Values weight = {0, 1, 2.5, 0, 3, 0, 4, 0.5};
      if (step == 1 && rank == 2) weight[4] += 0.5F;
      run.at(rank, step).module("Module.l0.Linear.forward.0", seeded(rank), seeded(rank + 5), {{"weight", weight}});
    }
  }
  CHECK(run.check(only_replicas()).only("replica_mismatch").ranks == Ranks{2});
}

// Two ranks in two steps that add to one value, which rank 1 has otherwise in step 1. `also`: what else a rank calls.
MadeRun adding(const std::function<void(MadeRank&, size_t, size_t)>& also) {
  MadeRun run(2, 2);
  for (size_t step = 0; step < 2; ++step) {
    for (size_t rank = 0; rank < 2; ++rank) {
      Values value = seeded(3);
      if (step == 1 && rank == 1) value[0] += 0.5F;
      run.at(rank, step).call("Tensor.add_.0.forward", {value}, {seeded(40 + rank)});
      also(run.at(rank, step), rank, step);
    }
  }
  return run;
}

TEST_CASE("calls of a step that has more of them are other calls") {
  for (const bool more : {false, true}) {
    const MadeRun run = adding([&](MadeRank& made, size_t rank, size_t step) {
      if (step == 1 && more) made.call("Tensor.add_.1.forward", {seeded(50 + rank)}, {seeded(60 + rank)});
    });
    CHECK(run.check(only_replicas()).findings().size() == (more ? 0 : 1));
  }
}

TEST_CASE("stages of a pipeline may give their layers the same names") {
  const Cut stages = {[](size_t rank) { return rank / 2; }, [](size_t rank) { return rank; }};
  CHECK(trained(4, 2, stages).check(only_replicas()).findings().empty());
}

TEST_CASE("a difference of a rounding is a note, and no first") {
  MadeRun run = trained(3, 2);
  float& value = run.at(2, 1)[weight_of(1)][0];
  value = std::nextafter(value, 10.0F);
  retrain(run, 2, 1, 1);
  const test::Checked checked = run.check(only_replicas());
  CHECK(checked.only("replica_mismatch").severity == Severity::kNote);
  CHECK(checked.only("replica_mismatch").message.ends_with("; no more than rounding"));
  CHECK_FALSE(checked.report().first_divergence);
}

TEST_CASE("a step without a rank, or without a tensor, is no difference") {
  MadeRun run = trained(3, 2);
  run.at(1, 1) = MadeRank();
  CHECK(run.check(only_replicas()).findings().empty());
}

TEST_CASE("the search for the first stops at the step where ranks left each other") {
  MadeRun run = trained(3, 6);
  for (const size_t step : {1U, 2U, 3U, 4U, 5U}) change_weight(run, 2, step, 1);
  const test::Checked checked = run.check(only_replicas(), true);
  REQUIRE(checked.report().first_divergence);
  const FirstDivergence& first = *checked.report().first_divergence;
  CHECK(first.kind == FirstDivergence::Kind::kParameter);
  CHECK(first.diverged == Ranks{2});
  CHECK(checked.dump().identity(first.tensor).step == 1);
  CHECK(checked.findings().size() == 1);
  CHECK(checked.facts().count_read() == checked.dump().tensors() / 2);  // steps 0 to 2
  CHECK_FALSE(trained(3, 2).check(only_replicas(), true).report().first_divergence);
}

TEST_CASE("statistics show a weight that a rank has otherwise") {
  for (const bool bad : {false, true}) {
    MadeRun run = trained(3, 2);
    run.write_statistics();
    if (bad) change_weight(run, 1, 1, 1, 8);
    const test::Checked checked = run.check(only_replicas());
    CHECK(checked.findings().size() == (bad ? 1 : 0));
    if (bad) CHECK(checked.findings().front().ranks == Ranks{1});
  }
}

TEST_CASE("an operator that has other settings on one of two ranks is named by what becomes of the parameters") {
  MadeRun run = trained(2, 2);
  for (size_t rank = 0; rank < 2; ++rank) {
    run.at(rank, 0).call("Tensor.mul_.0.forward", {seeded(10 + 1)}, {seeded(400)});
    run.at(rank, 1).call("Tensor.mul_.0.forward", {seeded(7010 + 1)}, {seeded(401)});
  }
  CHECK(run.check(only_replicas()).findings().empty());
  run.at(1, 0)["Tensor.mul_.0.forward.output.0"][0] += 0.125F;
  CHECK(run.check(only_replicas()).findings().empty());  // nobody can tell whether that is meant
  change_weight(run, 1, 1, 1);
  const test::Checked checked = run.check(only_replicas());
  const Finding finding = checked.only("replica_mismatch");
  CHECK(op_of(checked, finding) == "Tensor.mul_.0.forward");
  CHECK(finding.step == 0);
}

TEST_CASE("two ranks that left at two places are two findings") {
  MadeRun run = trained(5, 3);
  change_weight(run, 1, 1, 1);
  change_weight(run, 4, 2, 3);
  const test::Checked checked = run.check(only_replicas());
  REQUIRE(checked.findings().size() == 2);
  CHECK(checked.findings()[0].ranks == Ranks{1});
  CHECK(checked.findings()[1].ranks == Ranks{4});
  CHECK(checked.findings()[1].step == 2);
}

TEST_CASE("ranks that are not there leave nobody alone") {
  // Of four ranks, two and two with the same shards, rank 1 is lost: rank 3 is the only one with its shards.
  const auto lost = [](size_t steps, size_t step) {
    MadeRun run = trained(4, steps, tensor_parallel());
    for (size_t at = 0; at < steps; ++at) {
      for (size_t rank = 0; rank < 4; ++rank) {
        for (const size_t norm : {0U, 1U, 2U})
          run.at(rank, at).module(fmt::format("Module.n{}.Norm.forward.0", norm), seeded(90), seeded(91),
                                  {{"weight", seeded(60 + norm + 5 * at)}});
      }
    }
    run.at(1, step) = MadeRank();
    return run;
  };
  CHECK(lost(1, 0).check(only_replicas()).findings().empty());
  CHECK(lost(2, 0).check(only_replicas()).findings().empty());
  // A copy with a few other elements is one all the same.
  MadeRun run = trained(4, 1);
  run.at(1) = MadeRank();
  change_weight(run, 3, 0, 1);
  CHECK(run.check(only_replicas()).only("replica_mismatch").ranks == Ranks{3});
}

TEST_CASE("weights that have nothing but their mean in common are no copies") {
  MadeRun run = trained(2, 1);
  for (size_t rank = 0; rank < 2; ++rank) {
    Values& weight = run.at(rank)[weight_of(1)];
    weight = seeded(500 + rank);
    for (float& value : weight) value += 20;
    retrain(run, rank, 0, 1);
  }
  CHECK(run.check(only_replicas()).findings().empty());
}

TEST_CASE("an operator of a later step is no consequence of another one that differs in the first") {
  const Cut same = {[](size_t) { return size_t{0}; }, [](size_t) { return size_t{0}; }};
  MadeRun run = trained(2, 2, same);
  run.at(1, 0)[function(0) + ".output.0"][0] += 1;  // of two ranks nobody can tell whether that is meant
  run.at(1, 1)[function(2) + ".output.0"][0] += 1;
  const test::Checked checked = run.check(only_replicas());
  const Finding finding = checked.only("replica_mismatch");
  CHECK(op_of(checked, finding) == function(2));
  CHECK(finding.step == 1);
}

TEST_CASE("what follows is counted, from the first tensor on") {
  MadeRun run = trained(3, 2);
  run.at(2, 1)[weight_of(3)][0] += 0.5F;
  run.at(2, 1)[function(3) + ".input.1"] = run.at(2, 1)[weight_of(3)];
  CHECK(run.check(only_replicas()).only("replica_mismatch").message.ends_with("; then 1 tensor more"));
  MadeRun one = trained(3, 2);
  one.at(2, 1)[weight_of(3)][0] += 0.5F;
  CHECK(one.check(only_replicas()).only("replica_mismatch").message.ends_with("by up to 0.5"));
}

TEST_CASE("ranks may call an operator differently often, each as often in all steps") {
  const MadeRun run = adding([](MadeRank& made, size_t rank, size_t) {
    if (rank == 1) made.call("Tensor.add_.1.forward", {seeded(50)}, {seeded(60)});
  });
  CHECK(run.check(only_replicas()).findings().size() == 1);
}

TEST_CASE("a NaN of one rank is named there, with the collective that passes it on") {
  MadeRun run(3);
  for (size_t rank = 0; rank < 3; ++rank) {
    const bool bad = rank == 2;
    Values made = seeded(rank), reduced = seeded(9);
    if (bad) made[1] = kNan;
    reduced[1] = kNan;
    run.at(rank).call("Functional.linear.0.forward", {seeded(20 + rank)}, {seeded(30 + rank)});
    run.at(rank).call("Torch.log.0.forward", {seeded(30 + rank)}, {made});
    run.at(rank).call("Distributed.all_reduce.0.forward", {made}, {reduced}, R"("group":)" + group_json({0, 1, 2}));
    run.at(rank).call("Functional.relu.0.forward", {reduced}, {reduced});
  }
  const test::Checked checked = run.check(only("nan"), true);
  CHECK(checked.first_op() == "Torch.log.0.forward");
  CHECK(checked.dump().identity(checked.report().first->tensor).rank == 2);
  CHECK(checked.report().first->reason ==
        "its inputs are finite, its output is not; Distributed.all_reduce.0.forward passes it on to ranks 0-1");
}

TEST_CASE("a NaN that a collective has brought is followed to the rank that put it in") {
  MadeRun run(3);
  for (size_t rank = 0; rank < 3; ++rank) {
    Values put = seeded(rank), reduced = seeded(9);
    if (rank == 1) put[1] = kNan;
    reduced[1] = kNan;
    run.at(rank).call("Distributed.all_reduce.0.forward", {put}, {reduced}, R"("group":)" + group_json({0, 1, 2}));
  }
  const test::Checked checked = run.check(only("nan"), true);
  REQUIRE(checked.report().first);
  CHECK(checked.dump().identity(checked.report().first->tensor).rank == 1);
  CHECK(checked.report().first->kind == FirstNonfinite::Kind::kInput);
}

TEST_CASE("of several collectives the one that brought the NaN is followed") {
  for (const int bad : {0, 1, 2}) {
    MadeRun run(3);
    for (size_t rank = 0; rank < 3; ++rank) {
      for (int number = 0; number < 3; ++number) {
        Values put = seeded(10 * rank + static_cast<size_t>(number)),
               reduced = seeded(90 + static_cast<size_t>(number));
        if (rank == 1 && number == bad) put[1] = kNan;
        if (number == bad) reduced[1] = kNan;
        run.at(rank).call(fmt::format("Distributed.all_reduce.{}.forward", number), {put}, {reduced},
                          R"("group":)" + group_json({0, 1, 2}));
      }
    }
    const test::Checked checked = run.check(only("nan"), true);
    REQUIRE(checked.report().first);
    CHECK(checked.dump().identity(checked.report().first->tensor).rank == 1);
    CHECK(checked.first_op() == fmt::format("Distributed.all_reduce.{}.forward", bad));
  }
}

}  // namespace msdump::check
