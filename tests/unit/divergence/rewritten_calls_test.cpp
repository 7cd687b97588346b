// What both sides write in two ways is no root, in dumps of msprobe whose edges are the values.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/diffed_dumps.h"
#include "support/made_calls.h"

namespace msdump {
namespace {

void run_alone(MadeCalls& calls) {
  if (calls.bad()) calls.ran("Tensor.exp.0.forward", {some_values(1)}, {some_values(2)});
}

// What follows a call: of 2 steps with so many calls, the first few of each that differ.
struct Behind {
  int calls = 30, differing = 1, differing_later = 1;
  float noise = 0;
  bool later_call_reads_exact = false;  // what runs before the call has no noise in the second step
  void (*call)(MadeCalls&) = run_alone;
};

Texts roots_before(const Behind& behind) {
  const DiffedDumps dumps;
  for (const bool bad : {false, true}) {
    for (const int step : {0, 1}) {
      MadeCalls calls(bad);
      const auto value = [&](int number, float off = 0) {
        const auto size = static_cast<float>(number) + off;
        return some_values(bad ? size * (1 + behind.noise * static_cast<float>(1 + number % 3)) : size);
      };
      const bool exact = behind.later_call_reads_exact && step == 1;
      const auto before = [&](int number) { return exact ? some_values(static_cast<float>(number)) : value(number); };
      for (int i = 0; i < (exact ? 12 : 3); ++i)
        calls.ran(fmt::format("Torch.tanh.{}.forward", i), {before(i + 500)}, {before(i + 600)});
      behind.call(calls);
      for (int i = 0; i < behind.calls; ++i) {
        const float off = bad && i < (step == 0 ? behind.differing : behind.differing_later) ? 100 : 0;
        calls.ran(fmt::format("Functional.relu.{}.forward", i), {value(10 * i + 5, off)}, {value(10 * i + 7, off)});
      }
      calls.write(dumps.side(bad), fmt::format("step{}/rank0", step));
    }
  }
  return reasons_of_roots(dumps.diff());
}

}  // namespace

TEST_CASE("a call of one side behind which the values agree again is no root") {
  const Texts by_reader = {
      "Tensor.exp.0.forward: only the candidate has it, and Functional.relu.0.forward, which comes after it, reads "
      "something else"};
  CHECK(roots_before({}).empty());
  CHECK(roots_before({.calls = 10}) == by_reader);  // too few to tell
  CHECK(roots_before({.differing = 15, .differing_later = 15}).empty());
  CHECK(roots_before({.differing = 30, .differing_later = 30}) == by_reader);
  CHECK(roots_before({.differing_later = 30}) == by_reader);  // what it leaves shows in the next step
}

TEST_CASE(
    "a call that reads another tensor, behind which the values agree again, is no root, but one that reads another "
    "scalar is") {
  const auto reads_another = [](MadeCalls& calls) {
    calls.ran("Tensor.mul.0.forward", {some_values(calls.bad() ? 3000.0F : 900.0F)},
              {some_values(calls.bad() ? 2500.0F : 2000.0F)});
  };
  const auto reads_scalar = [](MadeCalls& calls) {
    calls.ran("Tensor.mul.0.forward", {some_values(900), Values{calls.bad() ? 7.0F : 3.0F}},
              {some_values(calls.bad() ? 2500.0F : 2000.0F)});
  };
  CHECK(roots_before({.differing = 0, .differing_later = 0, .call = reads_another}).empty());
  CHECK_FALSE(roots_before({.differing = 0, .differing_later = 0, .call = reads_scalar}).empty());
}

TEST_CASE("what reads a gradient that agrees need not agree itself") {
  const auto products = [](MadeCalls& calls) {
    const bool bad = calls.bad();
    const auto gradient = some_values(bad ? 77.00001F : 77.0F);
    calls.as_statistics();
    const auto product = some_values(bad ? 2500.0F : 2000.0F);
    calls.ran("Torch.matmul.0.forward", {some_values(bad ? 3000.0F : 900.0F)}, {product});
    calls.ran("Torch.sigmoid.0.forward", {product}, {some_values(55)});
    calls.ran("Torch.matmul.0.backward", {some_values(5)}, {some_values(bad ? 310.0F : 30.0F), gradient});
    // It chooses, so that no model judges it.
    calls.ran("Torch.topk.0.forward", {gradient}, {some_values(bad ? 12.0F : 11.0F)});
  };
  CHECK(roots_before({.differing = 0, .differing_later = 0, .call = products}).empty());
}

TEST_CASE("a call with another argument is a root although the values agree again, unless the loss does") {
  const auto asks_otherwise = [](MadeCalls& calls) {
    calls.ran("Tensor.mul.0.forward", {some_values(900)}, {some_values(calls.bad() ? 4000.0F : 2000.0F)});
    calls.given("float", calls.bad() ? "4.0" : "2.0");
  };
  CHECK(roots_before({.differing = 0, .differing_later = 0, .call = asks_otherwise}).size() == 1);
}

TEST_CASE("a value that changed on the way, behind which the values agree again, is no root") {
  const auto changes = [](MadeCalls& calls) {
    calls.ran("Tensor.neg.0.forward", {some_values(900)}, {some_values(800)});
    calls.ran("Tensor.sin.0.forward", {some_values(calls.bad() ? 50.0F : 800.0F)},
              {some_values(calls.bad() ? 51.0F : 801.0F)});
  };
  const Texts changed = {
      "Tensor.sin.0.forward: its input 0 has more error than Tensor.neg.0.forward, which wrote it: something between "
      "them "
      "that was not dumped changes it"};
  CHECK(roots_before({.differing = 0, .differing_later = 0, .call = changes}).empty());
  CHECK(roots_before({.differing = 30, .differing_later = 30, .call = changes}) == changed);
}

TEST_CASE("a call that reads another value of unknown source is downstream of the first one that does") {
  const DiffedDumps dumps;
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    const auto value = [&](float candidate, float reference) { return some_values(bad ? candidate : reference); };
    calls.ran("Functional.relu.0.forward", {value(1.01F, 1)}, {value(10.1F, 10)});
    calls.ran("Functional.relu.1.forward", {value(4, 3)}, {value(31, 30)});
    calls.ran("Functional.relu.2.forward", {value(60, 30)}, {value(70, 50)});  // not what relu.1 wrote
    calls.write(dumps.side(bad));
  }
  CHECK(reasons_of_roots(dumps.diff()) ==
        Texts{"Functional.relu.0.forward: its input 0 differs, and nothing before it does"});
}

TEST_CASE("values agree behind a call of one side if they differ by the noise of these runs") {
  CHECK(roots_before({.noise = 1e-3F}).empty());
  CHECK_FALSE(roots_before({.differing = 30, .differing_later = 30, .noise = 1e-3F}).empty());
  // What is written in two ways in the first step is so in the second.
  CHECK(roots_before({.noise = 1e-3F, .later_call_reads_exact = true}).empty());
}

TEST_CASE(
    "a call with another argument is asked something else, unless it reads something else: then it is another call") {
  const auto roots = [](bool reads_otherwise) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      calls.ran("Functional.relu.0.forward", {some_values(1)}, {some_values(2)});
      const Values read = bad && reads_otherwise ? some_values(90) : some_values(3);
      calls.ran("Tensor.mul.0.forward", {read}, {some_values(bad ? 20.0F : 30.0F)});
      calls.given("float", bad ? "2.0" : "-0.5");
      calls.ran("Functional.relu.1.forward", {some_values(4)}, {some_values(5)});
      calls.write(dumps.side(bad));
    }
    const DiffResult run = dumps.diff();
    Texts texts;
    for (const Divergence& root : run.divergence.roots)
      texts.push_back(fmt::format("{} {}", name_of(root.rule), run.op_name(root.op)));
    return texts;
  };
  CHECK(roots(false) == Texts{"argument Tensor.mul.0.forward"});
  CHECK(roots(true).empty());
}

TEST_CASE(
    "a fault that begins in a later step is named although the weights there carry the error of the step before") {
  const auto roots = [](float factor) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      for (int step = 0; step < 2; ++step) {
        MadeCalls calls(bad);
        for (int i = 0; i < 8; ++i) {
          const auto noisy = [&](float size) {
            return bad ? size * (1 + 1e-4F * static_cast<float>(1 + i % 3)) : size;
          };
          const float weight = static_cast<float>(1 + i + 10 * step), wrong = bad && step == 1 && i == 4 ? factor : 1;
          calls.ran(fmt::format("Functional.relu.{}.forward", i), {some_values(step == 0 ? weight : noisy(weight))},
                    {some_values(wrong * noisy(weight + 100))});
        }
        calls.write(dumps.side(bad), fmt::format("step{}/rank0", step));
      }
    }
    const DiffResult run = dumps.diff();
    Texts texts;
    for (const Divergence& root : run.divergence.roots)
      texts.push_back(fmt::format("{} {} {} in step {}", name_of(root.kind), name_of(root.rule), run.op_name(root.op),
                                  root.place.step.value_or(-1)));
    return texts;
  };
  CHECK(roots(1).empty());
  CHECK(roots(2) == Texts{"value excess Functional.relu.4.forward in step 1"});
  CHECK(roots(std::numeric_limits<float>::quiet_NaN()) == Texts{"nan nan Functional.relu.4.forward in step 1"});
}

TEST_CASE("what reads gradients that one side alone lists is not judged by what else it reads") {
  const auto roots = [](bool both_list) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      calls.as_statistics();
      const bool lists = both_list || !bad;
      calls.ran("Module.fc.Linear.forward.0", {some_values(1)}, {some_values(2)});
      if (lists) calls.ran("Module.fc.Linear.backward.0", {some_values(3)}, {some_values(4)});
      if (lists) calls.ran("Module.fc.Linear.parameters_grad.0", {}, {some_values(5)});
      calls.ran("Tensor.addcmul_.0.forward",
                lists ? std::vector<Values>{some_values(6), some_values(5)} : std::vector<Values>{some_values(6)},
                {some_values(bad ? 8.0F : 7.0F)});
      calls.write(dumps.side(bad));
    }
    return reasons_of_roots(dumps.diff());
  };
  CHECK(roots(true) == Texts{"Tensor.addcmul_.0.forward: its outputs differ more than its inputs explain"});
  const Texts of_one_side = roots(false);
  REQUIRE(of_one_side.size() == 1);
  CHECK(of_one_side.front().starts_with("Module.fc.Linear.backward.0: the gradient is cut"));
}

TEST_CASE("a loss whose terms are weighted and divided otherwise, and that both sides return, is written in two ways") {
  const auto roots = [](float wrong_loss, float gradient, bool common = false) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      // Of a common number nothing shows what read it.
      const float first = common ? 1.0F : 1.1944058F, other_term = 2.0005269F;
      const Values part = {first}, other = {other_term}, whole = {other_term + first / 2};
      const Values returned = {whole.front() / 2 * (bad ? wrong_loss : 1)};
      for (int i = 0; i < 3; ++i)
        calls.ran(fmt::format("Torch.tanh.{}.forward", i), {some_values(static_cast<float>(i + 1))},
                  {some_values(static_cast<float>(i + 2))});
      calls.ran("Tensor.sum.0.forward", {some_values(4)}, {part});
      calls.ran("Tensor.sum.1.forward", {some_values(5)}, {other});
      // The reference divides the sum by two, the candidate the first term, and weights the other one by half.
      const Values term = {first / (bad ? 4 : 2)}, divided = {other_term / 2};
      calls.ran("Tensor.mul.0.forward", {part}, {term});
      calls.given("float", bad ? "0.25" : "0.5");
      if (bad) calls.ran("Tensor.div.0.forward", {other}, {divided});
      calls.ran("Tensor.add.0.forward", {bad ? divided : other, term}, {bad ? returned : whole});
      if (!bad) calls.ran("Tensor.div.1.forward", {whole}, {returned});
      if (!bad) calls.ran("Tensor.div.1.backward", {{1}}, {{0.5F}});
      const Values inner = {bad ? 1.0F : 0.5F};
      calls.ran("Tensor.add.0.backward", {inner}, {inner, inner});
      if (bad) calls.ran("Tensor.div.0.backward", {{1}}, {{0.5F}});
      calls.ran("Tensor.mul.0.backward", {inner}, {{0.25F}});
      calls.ran("Tensor.sum.1.backward", {{0.5F}}, {some_values(bad ? gradient : 50.0F)});
      calls.ran("Tensor.sum.0.backward", {{0.25F}}, {some_values(60)});
      for (int i = 0; i < 25; ++i)
        calls.ran(fmt::format("Functional.gelu.{}.backward", i), {some_values(static_cast<float>(i + 100))},
                  {some_values(static_cast<float>(i + 101))});
      calls.write(dumps.side(bad));
    }
    return reasons_of_roots(dumps.diff());
  };
  CHECK(roots(1, 50) == Texts{});
  CHECK(roots(1, 50, true) == Texts{});
  CHECK_FALSE(roots(1.001F, 50).empty());
  CHECK_FALSE(roots(1, 60).empty());
}

TEST_CASE("another argument explains the output of its call; what wrote a mask that it reads is not named") {
  const DiffedDumps dumps;
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    calls.as_statistics();
    const Values scores = some_values();
    calls.ran("Torch.softmax.0.forward", {some_values(2)}, {scores});
    calls.ran("Tensor.ne.0.forward", {some_values(3)}, {});
    calls.wrote_mask(scores.size());
    calls.ran("Tensor.masked_fill.0.forward", {scores}, {some_values(bad ? 1.0F : 1e4F)});
    calls.read_mask(scores.size());
    calls.given("float", bad ? "0.0" : "-10000.0");
    calls.write(dumps.side(bad));
  }
  const Texts reasons = reasons_of_roots(dumps.diff());
  REQUIRE(reasons.size() == 1);
  CHECK(reasons.front().starts_with("Tensor.masked_fill.0.forward: "));
}

}  // namespace msdump
