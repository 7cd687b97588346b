// Runs that are cut differently: gradients that are reduced over the ranks, the weights that they lead to, and what the
// candidate's ranks show by themselves.
#include <fmt/format.h>

#include "divergence/model/constants.h"
#include "support/catch.h"
#include "support/cut_diff.h"

namespace msdump {
namespace {

constexpr const char* kBoth = R"(null,"group_ranks":[0,1])";

// A step on two ranks. Gradients are summed over the ranks and divided by calls that are not dumped.
struct Trained {
  std::vector<float> weights_off;  // by weight: the factor that it is off by
  int first_off = 0;               // on the ranks from this one on
  float last = 1;                  // what the last call of the forward pass is off by
  float between = 1;               // what values of the shape of a weight are off by that calls of the step hand on
  bool short_last = false;         // the last weight has a shape of its own
  bool overlapped = false;         // gradients are summed before the backward pass ends
  bool reordered = false;          // what an update leaves lies in an order of its own on each rank
};

CutDiff::Step trained(uint64_t step, const Trained& made) {
  const auto seed = [=](uint64_t number) { return 100 * step + number; };
  const Values x = test::numbers(32, seed(1)), out = test::numbers(32, seed(2)), end = test::numbers(32, seed(3)),
               up = test::numbers(32, seed(4));
  const uint64_t count = made.weights_off.size();
  const auto of_weight = [=](uint64_t number, uint64_t first_seed) {
    return test::numbers(made.short_last && number + 1 == count ? 8 : 16, seed(first_seed + number));
  };
  const auto gradient = [=](uint64_t number) { return of_weight(number, 20); };
  // Of a rank, with rounding.
  const auto part_of = [=](uint64_t number, int rank) {
    Values part = by_factor(gradient(number), 1.000002F);
    const Values noise = of_weight(number, 30);
    for (size_t i = 0; i < part.size(); ++i) part[i] += rank == 0 ? noise[i] : -noise[i];
    return part;
  };
  const auto run = [=](MadeCalls& calls, int rank, bool cut) {
    const auto own = [&](const Values& all, float off = 1) { return cut ? by_factor(half_of(all, rank), off) : all; };
    for (uint64_t number = 0; number < count; ++number) {
      const float off = cut && rank >= made.first_off ? made.weights_off[number] : 1;
      calls.ran(fmt::format("Functional.linear.{}.forward", number), {own(x), by_factor(of_weight(number, 10), off)},
                {own(test::numbers(32, seed(40 + number)), off)});
    }
    for (uint64_t i = 0; i < 12; ++i) {
      const float off = cut ? made.between : 1;
      calls.ran(fmt::format("Functional.relu.{}.forward", i),
                {by_factor(test::numbers(16, seed(60 + i)), i == 0 ? 1 : off)},
                {by_factor(test::numbers(16, seed(61 + i)), off)});
    }
    calls.ran("Functional.gelu.0.forward", {own(out)}, {own(end, made.last)});
    const auto sum = [&](uint64_t number) {
      if (!cut) return;
      calls.ran(fmt::format("Distributed.all_reduce.{}.forward", number), {part_of(number, rank)},
                {by_factor(gradient(number), 2.000004F)});
      calls.given("group", "torch.ProcessGroup", kBoth);
    };
    for (uint64_t number = count; number-- > 0;) {
      calls.ran(fmt::format("Functional.linear.{}.backward", number), {own(up)},
                {cut ? part_of(number, rank) : gradient(number)});
      if (made.overlapped) sum(number);
    }
    if (made.overlapped) calls.ran("Functional.embedding.0.backward", {own(up)}, {own(test::numbers(32, seed(5)))});
    for (uint64_t number = count; !made.overlapped && number-- > 0;) sum(number);
    if (made.reordered) {
      Values left = own(test::numbers(32, seed(6)));
      for (size_t i = 0; cut && i < left.size(); ++i) std::swap(left[i], left[(i * 7 + 5) % left.size()]);
      calls.ran("Functional.step.0.forward", {own(test::numbers(32, seed(7)))}, {left});
    }
  };
  return {[=](MadeCalls& calls, int rank) { run(calls, rank, true); },
          [=](MadeCalls& calls, int rank) { run(calls, rank, false); }};
}

// The roots of two steps, of which the first is right.
Texts roots_after_update(Trained second) {
  Trained first = second;
  first.weights_off.assign(second.weights_off.size(), 1.0F);
  first.last = first.between = 1;
  second.reordered = false;
  return CutDiff(2, {trained(0, first), trained(1, second)}).roots();
}

TEST_CASE("a sum of gradients in place of their mean is judged by the weights of the next step") {
  const std::vector<float> right(6, 1.0F), wrong(6, 1.1F), one = {1.1F, 1, 1, 1, 1, 1};
  const std::string first_sum = "Distributed.all_reduce.5.forward on 0-1";
  CHECK(roots_after_update({.weights_off = right}) == Texts());
  CHECK(roots_after_update({.weights_off = right, .last = 1.2F}) == Texts{"Functional.gelu.0.forward on 0-1"});
  CHECK(roots_after_update({.weights_off = wrong}) == Texts{first_sum});
  // One weight of many is wrong for another reason.
  for (const std::string& root : roots_after_update({.weights_off = one}))
    CHECK_FALSE(root.starts_with("Distributed."));
  // All weights of one rank are: all ranks were given the same.
  CHECK(roots_after_update({.weights_off = wrong, .first_off = 1}) == Texts{"Functional.linear.0.forward on 1"});
  // While the backward pass goes on.
  CHECK(roots_after_update({.weights_off = right, .overlapped = true}) == Texts());
  CHECK(roots_after_update({.weights_off = wrong, .overlapped = true}) == Texts{first_sum});
}

TEST_CASE("weights of the shape of a gradient say that its sum is right, whatever others have") {
  const std::vector<float> others = {1.1F, 1.1F, 1.1F, 1.1F, 1.1F, 1};
  for (const bool overlapped : {false, true}) {
    CHECK(roots_after_update({.weights_off = others, .short_last = true, .overlapped = overlapped}) ==
          Texts{"Distributed.all_reduce.4.forward on 0-1"});
  }
}

TEST_CASE("what a call of the step made is not a weight, although it has the shape of one") {
  CHECK(roots_after_update({.weights_off = std::vector<float>(6, 1.0F), .between = 1.2F}) ==
        Texts{"Functional.relu.0.forward on 0-1"});
}

TEST_CASE("an update that fits no layout is judged by weights, whatever else the next step makes") {
  const std::vector<float> right(6, 1.0F);
  CHECK(roots_after_update({.weights_off = right, .reordered = true}) == Texts());
  CHECK(roots_after_update({.weights_off = right, .between = 1.2F, .reordered = true}) ==
        Texts{"Functional.relu.0.forward on 0-1"});
}

// Gradients of all weights are reduced at once, divided by calls that are not dumped, and each weight is updated by itself.
// Values of the network's input have the shape of others that are summed in the forward pass, and computed again in the
// backward pass.
CutDiff::Step with_bucket(uint64_t step, float weights_off, float input_off) {
  const auto numbers = [=](uint64_t seed, int64_t count = 32) { return test::numbers(count, 100 * step + seed); };
  const auto run = [=](MadeCalls& calls, int rank, bool cut) {
    const auto own = [&](const Values& all, float off = 1) { return cut ? by_factor(half_of(all, rank), off) : all; };
    // Two terms, with rounding, and what comes out of their sum.
    const auto part_of = [&](const Values& sum, float factor) {
      Values part = by_factor(sum, 0.5F * factor);
      const Values noise = numbers(8, static_cast<int64_t>(sum.size()));
      for (size_t i = 0; i < part.size(); ++i) part[i] += rank == 0 ? noise[i] : -noise[i];
      return cut ? part : sum;
    };
    const auto add_up = [&](int number, const Values& sum, float factor) {
      if (!cut) return;
      calls.ran(fmt::format("Distributed.all_reduce.{}.forward", number), {part_of(sum, factor)},
                {by_factor(sum, factor)});
      calls.given("group", "torch.ProcessGroup", kBoth);
    };
    const Values bucket = numbers(5, 64), summed = numbers(9);
    for (uint64_t i = 0; i < 4; ++i) {
      calls.ran(fmt::format("Functional.linear.{}.forward", i),
                {own(numbers(1), input_off), by_factor(numbers(10 + i, 16), cut ? weights_off : 1)},
                {own(numbers(20 + i), weights_off * input_off)});
    }
    calls.ran("Functional.linear.4.forward", {own(numbers(24))}, {part_of(summed, 1)});
    add_up(0, summed, 1);
    calls.ran("Functional.linear.0.backward", {own(numbers(50))}, {own(numbers(51))});
    calls.ran("Functional.gelu.1.forward", {own(numbers(52))}, {own(numbers(53))});
    calls.ran("Functional.linear.1.backward", {own(numbers(54))}, {own(numbers(55))});
    calls.ran("Tensor.cat.0.forward", {own(numbers(56))}, {part_of(bucket, 2)});
    add_up(1, bucket, 2);
    for (uint64_t i = 0; i < 4; ++i)
      calls.ran(fmt::format("Functional.adamw.{}.forward", i), {numbers(30 + i, 16)}, {numbers(40 + i, 16)});
  };
  return {[=](MadeCalls& calls, int rank) { run(calls, rank, true); },
          [=](MadeCalls& calls, int rank) { run(calls, rank, false); }};
}

TEST_CASE("a sum of many gradients is judged by what updates leave, and by nothing else that the next step reads") {
  const auto roots = [](float weights_off, float input_off) {
    return CutDiff(2, {with_bucket(0, 1, 1), with_bucket(1, weights_off, input_off)}).roots();
  };
  CHECK(roots(1, 1) == Texts());
  CHECK(roots(1.1F, 1) == Texts{"Distributed.all_reduce.1.forward on 0-1"});
  CHECK(roots(1, 1.1F) == Texts{"Functional.linear.0.forward on 0-1"});
}

TEST_CASE("a sum in place of a mean is right where a later call divides it") {
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
}

TEST_CASE("in the last step an update that fits no layout says nothing of the sums before it") {
  const std::vector<float> right(6, 1.0F);
  CHECK(
      CutDiff(2, {trained(0, {.weights_off = right}), trained(1, {.weights_off = right, .reordered = true})}).roots() ==
      Texts());
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
  // As little as the tolerance allows, and more than rounding leaves. A module has its weight, a call reads it.
  const auto step = [](uint64_t number, float off, bool modules) {
    const Values x = test::numbers(32, 100 * number + 1), out = test::numbers(32, 100 * number + 2);
    const auto ran = [=](MadeCalls& calls, int rank, bool cut) {
      const auto own = [&](const Values& all) { return cut ? half_of(all, rank) : all; };
      for (uint64_t layer = 0; layer < 4; ++layer) {
        const float factor = cut && rank == 1 && layer == 2 ? off : 1.0F;
        const Values weight = by_factor(test::numbers(16, 100 * number + 10 + layer), factor);
        if (modules) {
          calls.ran(fmt::format("Module.{}.Linear.forward.0", layer), {own(x)}, {own(out)});
          calls.has("weight", weight);
        } else {
          calls.ran(fmt::format("Functional.linear.{}.forward", layer), {own(x), weight}, {own(out)});
        }
      }
    };
    return CutDiff::Step{[=](MadeCalls& calls, int rank) { ran(calls, rank, true); },
                         [=](MadeCalls& calls, int rank) { ran(calls, rank, false); }};
  };
  for (const bool modules : {false, true}) {
    CHECK(CutDiff(2, {step(0, 1, modules), step(1, 1, modules)}).roots().empty());
    const CutDiff diff(2, {step(0, 1, modules), step(1, 1.0001F, modules)});
    REQUIRE(diff.roots() == Texts{modules ? "Module.2.Linear.forward.0 on 0-1" : "Functional.linear.2.forward on 0-1"});
    CHECK((diff.root().kind == DivergenceKind::kParameter) == modules);
    CHECK(diff.root().rule == RootRule::kCollective);
    CHECK(diff.root().reason.starts_with("ranks 0-1 have different values; in the first step all had the same"));
  }
}

TEST_CASE("ranks that leave each other are nobody's fault where those of the reference do, too") {
  const auto step = [](uint64_t number, float off, float reference_off) {
    const auto ran = [=](MadeCalls& calls, int rank, int ranks, float factor) {
      const auto part_of = [&](const Values& all) {
        const auto size = static_cast<std::ptrdiff_t>(all.size()) / ranks;
        return Values(all.begin() + rank * size, all.begin() + (rank + 1) * size);
      };
      for (uint64_t layer = 0; layer < 4; ++layer) {
        calls.ran(fmt::format("Functional.linear.{}.forward", layer),
                  {part_of(test::numbers(32, 100 * number + layer)),
                   by_factor(test::numbers(16, 100 * number + 10 + layer), rank == 1 && layer == 2 ? factor : 1)},
                  {part_of(test::numbers(32, 100 * number + 20 + layer))});
      }
    };
    return CutDiff::Step{[=](MadeCalls& calls, int rank) { ran(calls, rank, 4, off); },
                         [=](MadeCalls& calls, int rank) { ran(calls, rank, 2, reference_off); }};
  };
  const auto roots = [&](float off, float reference_off) {
    return CutDiff(4, {step(0, 1, 1), step(1, off, reference_off)}, {}, 2).roots();
  };
  CHECK(roots(1, 1).empty());
  CHECK(roots(1.0001F, 1) == Texts{"Functional.linear.2.forward on 1"});
  CHECK(roots(1.0001F, 1.0001F).empty());
}

}  // namespace
}  // namespace msdump
