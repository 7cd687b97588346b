// Runs that are cut differently: gradients that are reduced over the ranks, the weights that they lead to, and what the
// candidate's ranks show by themselves.
#include <fmt/format.h>

#include "divergence/model/constants.h"
#include "support/catch.h"
#include "support/cut_diff.h"

namespace msdump {
namespace {

constexpr const char* kBoth = R"(null,"group_ranks":[0,1])";

// Two ranks. Gradients are summed over the ranks and divided by calls that are not dumped. Weights are off by these factors
// on the ranks from `first_off` on, and the last call of the forward pass by `last`.
CutDiff::Step trained(uint64_t step, const std::vector<float>& weights_off, float last, int first_off = 0) {
  const Values x = test::numbers(32, 100 * step + 1), out = test::numbers(32, 100 * step + 2),
               end = test::numbers(32, 100 * step + 3), up = test::numbers(32, 100 * step + 4);
  const auto weight = [=](uint64_t number) { return test::numbers(16, 100 * step + 10 + number); };
  const auto gradient = [=](uint64_t number) { return test::numbers(16, 100 * step + 20 + number); };
  // Of a rank, with rounding.
  const auto part_of = [=](uint64_t number, int rank) {
    Values part = by_factor(gradient(number), 1.000002F);
    const Values noise = test::numbers(16, 100 * step + 30 + number);
    for (size_t i = 0; i < part.size(); ++i) part[i] += rank == 0 ? noise[i] : -noise[i];
    return part;
  };
  const auto run = [=](MadeCalls& calls, int rank, bool cut) {
    const auto own = [&](const Values& all, float off = 1) { return cut ? by_factor(half_of(all, rank), off) : all; };
    for (uint64_t number = 0; number < weights_off.size(); ++number) {
      const float off = cut && rank >= first_off ? weights_off[number] : 1;
      calls.ran(fmt::format("Functional.linear.{}.forward", number), {own(x), by_factor(weight(number), off)},
                {own(test::numbers(32, 100 * step + 40 + number), off)});
    }
    calls.ran("Functional.gelu.0.forward", {own(out)}, {own(end, last)});
    for (uint64_t number = weights_off.size(); number-- > 0;) {
      calls.ran(fmt::format("Functional.linear.{}.backward", number), {own(up)},
                {cut ? part_of(number, rank) : gradient(number)});
    }
    for (uint64_t number = 0; cut && number < weights_off.size(); ++number) {
      calls.ran(fmt::format("Distributed.all_reduce.{}.forward", number), {part_of(number, rank)},
                {by_factor(gradient(number), 2.000004F)});
      calls.given("group", "torch.ProcessGroup", kBoth);
    }
  };
  return {[=](MadeCalls& calls, int rank) { run(calls, rank, true); },
          [=](MadeCalls& calls, int rank) { run(calls, rank, false); }};
}

TEST_CASE("a sum of gradients in place of their mean is judged by the weights of the next step") {
  const std::vector<float> right(6, 1.0F), wrong(6, 1.1F), one = {1.1F, 1, 1, 1, 1, 1};
  CHECK(CutDiff(2, {trained(0, right, 1), trained(1, right, 1)}).roots() == Texts());
  CHECK(CutDiff(2, {trained(0, right, 1), trained(1, right, 1.2F)}).roots() ==
        Texts{"Functional.gelu.0.forward on 0-1"});
  const Texts divided = CutDiff(2, {trained(0, right, 1), trained(1, wrong, 1)}).roots();
  CHECK(divided == Texts{"Distributed.all_reduce.0.forward on 0-1"});
  // One weight of many is wrong for another reason.
  const Texts of_one = CutDiff(2, {trained(0, right, 1), trained(1, one, 1)}).roots();
  for (const std::string& root : of_one) CHECK_FALSE(root.starts_with("Distributed."));
  // All weights of one rank are: all ranks were given the same.
  CHECK(CutDiff(2, {trained(0, right, 1), trained(1, wrong, 1, 1)}).roots() ==
        Texts{"Functional.linear.0.forward on 1"});
}

TEST_CASE("a collective is judged by what it gives, and not by a later call that makes less of its error") {
  const auto roots = [](float sum, float divided) {
    return CutDiff(
               2,
               [=](MadeCalls& calls, int rank) {
                 Values term = kCutUp;
                 const Values noise = test::numbers(32, 50);
                 for (size_t i = 0; i < term.size(); ++i) term[i] += rank == 0 ? noise[i] : -noise[i];
                 calls.ran("Functional.linear.0.forward", {half_of(kCutX, rank)}, {term});
                 calls.ran("Distributed.all_reduce.0.forward", {term}, {by_factor(kCutUp, sum)});
                 calls.given("group", "torch.ProcessGroup", kBoth);
                 calls.ran("Functional.gelu.0.forward", {by_factor(kCutUp, divided)}, {by_factor(kCutOut, divided)});
                 calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, divided)}, {by_factor(kCutLast, divided)});
               },
               in_one_process)
        .roots();
  };
  CHECK(roots(2, 1).empty());
  CHECK(roots(2, 2) == Texts{"Distributed.all_reduce.0.forward on 0-1"});
  for (const std::string& root : roots(2, 1.05F)) CHECK_FALSE(root.starts_with("Distributed."));
}

// A weight that the candidate's call reads without its bias, which a call of its own adds; rank 1 has it off by `wrong`.
CutDiff::Step with_stale_weight(uint64_t step, float wrong) {
  const Values x = test::numbers(32, 100 * step + 1), weight = test::numbers(16, 100 * step + 2),
               bias = test::numbers(32, 100 * step + 3), up = test::numbers(32, 100 * step + 4),
               out = test::numbers(32, 100 * step + 5);
  return {
      [=](MadeCalls& calls, int rank) {
        const float factor = rank == 1 ? wrong : 1.0F;
        Values without = by_factor(half_of(up, rank), factor);
        for (size_t i = 0; i < without.size(); ++i) without[i] -= half_of(bias, rank)[i];
        calls.ran("Functional.linear.0.forward", {half_of(x, rank), by_factor(weight, factor)}, {without});
        calls.ran("Tensor.__add__.0.forward", {without, half_of(bias, rank)}, {by_factor(half_of(up, rank), factor)});
        calls.ran("Functional.gelu.0.forward", {by_factor(half_of(up, rank), factor)},
                  {by_factor(half_of(out, rank), factor)});
      },
      [=](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {x, weight, bias}, {up});
        calls.ran("Functional.gelu.0.forward", {up}, {out});
      }};
}

TEST_CASE("a weight that is off in a later step is named where it is read, although the call lacks a bias") {
  CHECK(CutDiff(2, {with_stale_weight(0, 1), with_stale_weight(1, 1.02F)}).roots() ==
        Texts{"Functional.linear.0.forward on 1"});
  CHECK(CutDiff(2, {with_stale_weight(0, 1), with_stale_weight(1, 1)}).roots().empty());
}

TEST_CASE("a module is named where it is wrong and nothing inside it is, with the calls that it ends with") {
  const auto module_of = [](bool cut, float wrong) {
    return [=](MadeCalls& calls, int rank) {
      const auto own = [&](const Values& all, float off = 1) { return cut ? by_factor(half_of(all, rank), off) : all; };
      const char* const module = "Module.net.mixture.Mixture.forward.0";
      calls.ran("Functional.linear.0.forward", {own(kCutX)}, {own(kCutUp)}, module);
      if (cut) {
        calls.ran("Tensor.sort.0.forward", {own(kCutUp, 3)}, {own(kCutUp, 5)}, module);
        calls.ran("Tensor.index_add.0.forward", {own(kCutUp, 7)}, {own(kCutOut, wrong)}, module);
      }
      calls.ran(module, {own(kCutX)}, {own(kCutOut, wrong)});
      calls.ran("Functional.tanh.0.forward", {own(kCutOut, wrong)}, {own(kCutLast, wrong)});
    };
  };
  CHECK(CutDiff(2, module_of(true, 1), module_of(false, 1)).roots().empty());
  const CutDiff diff(2, module_of(true, 1.4F), module_of(false, 1));
  REQUIRE_FALSE(diff.roots().empty());
  CHECK(diff.roots().front() == "Module.net.mixture.Mixture.forward.0 on 0-1");
  CHECK(diff.chain() == Texts{"Tensor.index_add.0.forward", "Tensor.sort.0.forward"});
}

TEST_CASE("ranks whose copies of a weight leave each other are named where nothing else is wrong") {
  // As little as the tolerance allows, and more than rounding leaves.
  const auto step = [](uint64_t number, float off) {
    const Values x = test::numbers(32, 100 * number + 1), out = test::numbers(32, 100 * number + 2);
    const auto ran = [=](MadeCalls& calls, int rank, bool cut) {
      for (uint64_t layer = 0; layer < 4; ++layer) {
        const float factor = cut && rank == 1 && layer == 2 ? off : 1.0F;
        calls.ran(fmt::format("Functional.linear.{}.forward", layer),
                  {cut ? half_of(x, rank) : x, by_factor(test::numbers(16, 100 * number + 10 + layer), factor)},
                  {cut ? half_of(out, rank) : out});
      }
    };
    return CutDiff::Step{[=](MadeCalls& calls, int rank) { ran(calls, rank, true); },
                         [=](MadeCalls& calls, int rank) { ran(calls, rank, false); }};
  };
  CHECK(CutDiff(2, {step(0, 1), step(1, 1)}).roots().empty());
  const CutDiff diff(2, {step(0, 1), step(1, 1.0001F)});
  REQUIRE(diff.roots() == Texts{"Functional.linear.2.forward on 0-1"});
  CHECK(diff.root().confidence == kUnknownSource);
  CHECK(diff.root().reason.starts_with("ranks 0-1 have different values; in the first step all had the same"));
}

}  // namespace
}  // namespace msdump
