// Runs that are cut differently: the calls that may be to blame in the place of a root.
#include <fmt/format.h>

#include "support/catch.h"
#include "support/cut_diff.h"

namespace msdump {
namespace {

TEST_CASE(
    "calls of the candidate alone before a wrong input are its chain, the nearest first, back to what was compared") {
  const Values mask = test::numbers(32, 7);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const Values wrong = by_factor(half_of(kCutOut, rank), 1.3F), index = {1, 0};
        calls.ran("Tensor.ge.0.forward", {test::numbers(32, 8)}, {half_of(mask, rank)});
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.flip.0.forward", {index}, {index});
        calls.ran("Tensor.roll.0.forward", {by_factor(half_of(kCutUp, rank), 3)},
                  {by_factor(half_of(kCutUp, rank), 5)});
        calls.ran("Tensor.__mul__.0.forward", {by_factor(half_of(kCutUp, rank), 7)}, {wrong});
        calls.ran("Functional.tanh.0.forward", {wrong, half_of(mask, rank)},
                  {by_factor(half_of(kCutLast, rank), 1.2F)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.forward", {kCutOut, mask}, {kCutLast});
      });
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 0-1"});
  CHECK(diff.chain() == Texts{"Tensor.roll.0.forward", "Tensor.flip.0.forward"});
}

TEST_CASE(
    "where what both sides wrote is wrong when it is read, calls of the candidate alone since then are its chain") {
  const Values other = test::numbers(32, 7);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        calls.ran("Tensor.neg.0.forward", {other}, {by_factor(other, 2)});
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.roll.0.forward", {by_factor(other, 3)}, {by_factor(other, 5)});
        calls.ran("Functional.relu.0.forward", {other}, {by_factor(other, 19)});
        calls.ran("Tensor.flip.0.forward", {by_factor(other, 7)}, {by_factor(other, 11)});
        calls.ran("Functional.gelu.0.forward", {by_factor(half_of(kCutUp, rank), 1.3F)},
                  {by_factor(half_of(kCutOut, rank), 1.2F)});
        calls.ran("Functional.tanh.0.forward", {by_factor(half_of(kCutOut, rank), 1.2F)},
                  {by_factor(half_of(kCutLast, rank), 1.1F)});
        calls.ran("Tensor.exp.0.forward", {by_factor(other, 13)}, {by_factor(other, 17)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.relu.0.forward", {other}, {by_factor(other, 19)});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
      });
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
  CHECK(diff.chain() == Texts{"Tensor.flip.0.forward", "Tensor.roll.0.forward"});
}

TEST_CASE("the chain of a stage of the pipeline has no calls of the stages before it") {
  const Values sent = test::numbers(32, 9);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        if (rank == 0) {
          calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
          calls.ran("Tensor.neg.0.forward", {by_factor(kCutUp, 3)}, {by_factor(kCutUp, 5)});
        } else {
          calls.ran("Tensor.roll.0.forward", {by_factor(sent, 3)}, {by_factor(kCutUp, 1.3F)});
          calls.ran("Functional.gelu.0.forward", {by_factor(kCutUp, 1.3F)}, {by_factor(kCutOut, 1.2F)});
          calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, 1.2F)}, {by_factor(kCutLast, 1.1F)});
        }
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.roll.0.forward on 1"});
  CHECK(diff.chain().empty());
}

TEST_CASE("a call that has a partner by what it reads alone belongs to the chain") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const Values own = by_factor(half_of(kCutUp, rank), 5), wrong = by_factor(half_of(kCutOut, rank), 1.3F);
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.roll.0.forward", {half_of(kCutUp, rank)}, {own});
        calls.ran("Tensor.__mul__.0.forward", {own}, {wrong});
        calls.ran("Functional.tanh.0.forward", {wrong}, {by_factor(half_of(kCutLast, rank), 1.2F)});
      },
      [](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Tensor.roll.0.forward", {kCutUp}, {});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
      });
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 0-1"});
  CHECK(diff.chain() == Texts{"Tensor.roll.0.forward"});
}

TEST_CASE("between a root and the call that shows what it has made, calls of the candidate alone are its chain") {
  const Values other = test::numbers(32, 7);
  for (const bool any_between : {true, false}) {  // that both sides have
    const CutDiff diff(
        2,
        [&](MadeCalls& calls, int rank) {
          const Values wrong = by_factor(half_of(kCutOut, rank), 1.3F);
          calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
          calls.ran("Tensor.neg.0.forward", {by_factor(other, 3)}, {by_factor(other, 5)});
          calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {wrong});
          calls.ran("Tensor.roll.0.forward", {by_factor(other, 7)}, {by_factor(other, 11)});
          if (any_between) calls.ran("Functional.relu.0.forward", {other}, {by_factor(other, 2)});
          calls.ran("Tensor.flip.0.forward", {by_factor(other, 13)}, {by_factor(other, 17)});
          calls.ran("Functional.tanh.0.forward", {wrong}, {by_factor(half_of(kCutLast, rank), 1.2F)});
          calls.ran("Tensor.exp.0.forward", {by_factor(other, 19)}, {by_factor(other, 23)});
        },
        [&](MadeCalls& calls, int) {
          calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
          calls.ran("Functional.gelu.0.forward", {kCutUp}, {});
          if (any_between) calls.ran("Functional.relu.0.forward", {other}, {by_factor(other, 2)});
          calls.ran("Functional.tanh.0.forward", {kCutOut}, {});
        });
    CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
    CHECK(diff.chain() == Texts{"Tensor.flip.0.forward", "Tensor.roll.0.forward"});
  }
}

TEST_CASE("to a chain after a root belongs what made an input of the root that was not compared") {
  const Values other = test::numbers(32, 7), made = by_factor(other, 5);
  for (const bool compared : {true, false}) {
    const CutDiff diff(
        2,
        [&](MadeCalls& calls, int rank) {
          const Values wrong = by_factor(half_of(kCutOut, rank), 1.3F);
          calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
          calls.ran("Tensor.sin.0.forward", {by_factor(other, 3)}, {by_factor(other, 4)});
          calls.ran("Tensor.neg.0.forward", {by_factor(other, 4)}, {made});
          calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank), made}, {wrong});
          calls.ran("Functional.tanh.0.forward", {wrong}, {by_factor(half_of(kCutLast, rank), 1.2F)});
        },
        [&](MadeCalls& calls, int) {
          calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
          calls.ran("Functional.gelu.0.forward",
                    compared ? std::vector<Values>{kCutUp, made} : std::vector<Values>{kCutUp}, {});
          calls.ran("Functional.tanh.0.forward", {kCutOut}, {});
        });
    CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
    CHECK(diff.chain() == (compared ? Texts{} : Texts{"Tensor.neg.0.forward", "Tensor.sin.0.forward"}));
  }
}

TEST_CASE("a root that is shown by its own output has no chain, whatever ran before it") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const Values other = test::numbers(32, 7), wrong = by_factor(half_of(kCutOut, rank), 1.3F);
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.roll.0.forward", {by_factor(other, 3)}, {by_factor(other, 5)});
        calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {wrong});
        calls.ran("Functional.tanh.0.forward", {wrong}, {by_factor(half_of(kCutLast, rank), 1.2F)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
  CHECK(diff.chain().empty());
}

// gelu's first input is what linear wrote, its second is not what relu wrote.
TEST_CASE("calls after the writer of an input that agrees are not in the chain of one that does not") {
  const Values other = test::numbers(32, 7), second = test::numbers(32, 8);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.neg.0.forward", {by_factor(other, 3)}, {by_factor(other, 5)});
        calls.ran("Functional.relu.0.forward", {other}, {half_of(second, rank)});
        calls.ran("Tensor.roll.0.forward", {by_factor(other, 7)}, {by_factor(other, 11)});
        calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank), by_factor(half_of(second, rank), 1.3F)},
                  {by_factor(half_of(kCutOut, rank), 1.2F)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.relu.0.forward", {other}, {second});
        calls.ran("Functional.gelu.0.forward", {kCutUp, second}, {kCutOut});
      });
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
  CHECK(diff.chain() == Texts{"Tensor.roll.0.forward"});
}

TEST_CASE("what ran after the call of the candidate alone that made a wrong input is not in its chain") {
  const Values other = test::numbers(32, 7);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const Values wrong = by_factor(half_of(kCutUp, rank), 1.3F);
        calls.ran("Functional.relu.0.forward", {kCutX}, {half_of(other, rank)});
        calls.ran("Tensor.exp.0.forward", {half_of(other, rank)}, {wrong});
        calls.ran("Tensor.roll.0.forward", {by_factor(other, 3)}, {by_factor(other, 5)});
        calls.ran("Functional.gelu.0.forward", {wrong}, {by_factor(half_of(kCutOut, rank), 1.2F)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.relu.0.forward", {kCutX}, {other});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
      });
  CHECK(diff.roots() == Texts{"Tensor.exp.0.forward on 0-1"});
  CHECK(diff.chain().empty());
}

TEST_CASE("a chain does not reach back into the step before") {
  const auto step = [](uint64_t number, float wrong) {
    const Values x = test::numbers(32, 10 * number + 1), out = test::numbers(32, 10 * number + 2),
                 other = test::numbers(32, 7);
    return CutDiff::Step{[=](MadeCalls& calls, int rank) {
                           calls.ran("Tensor.roll.0.forward", {by_factor(other, 3)},
                                     {by_factor(half_of(x, rank), wrong)});
                           calls.ran("Functional.gelu.0.forward", {by_factor(half_of(x, rank), wrong)},
                                     {by_factor(half_of(out, rank), wrong)});
                           if (number == 0)
                             calls.ran("Tensor.neg.0.forward", {by_factor(other, 7)}, {by_factor(other, 11)});
                         },
                         [=](MadeCalls& calls, int) { calls.ran("Functional.gelu.0.forward", {x}, {out}); }};
  };
  const CutDiff diff(2, {step(0, 1), step(1, 1.3F)});
  CHECK(diff.roots() == Texts{"Tensor.roll.0.forward on 0-1"});
  CHECK(diff.chain().empty());
}

TEST_CASE("a chain follows values past calls that were compared, and may reach the first call of all") {
  const Values other = test::numbers(32, 7);
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const Values made = by_factor(other, 5), wrong = by_factor(half_of(kCutOut, rank), 1.3F);
        calls.ran("Tensor.roll.0.forward", {by_factor(other, 3)}, {by_factor(other, 2)});
        calls.ran("Tensor.exp.0.forward", {by_factor(other, 4)}, {made});
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.neg.0.forward", {made}, {wrong});
        calls.ran("Functional.tanh.0.forward", {wrong}, {by_factor(half_of(kCutLast, rank), 1.2F)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.neg.0.forward on 0-1"});
  CHECK(diff.chain() == Texts{"Tensor.exp.0.forward", "Tensor.roll.0.forward"});
}

TEST_CASE("each root has a chain of its own") {
  const auto numbers = [](uint64_t seed) { return test::numbers(32, seed); };
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const Values other = test::numbers(32, 7);
        for (uint64_t i = 0; i < 2; ++i) {
          const Values wrong = by_factor(half_of(numbers(10 * i + 2), rank), 1.2F);
          calls.ran(fmt::format("Functional.linear.{}.forward", i), {kCutX}, {half_of(numbers(10 * i + 1), rank)});
          calls.ran(fmt::format("Functional.gelu.{}.forward", i), {half_of(numbers(10 * i + 1), rank)}, {wrong});
          calls.ran(fmt::format("Tensor.roll.{}.forward", i), {by_factor(other, 3)}, {by_factor(other, 5)});
          calls.ran(fmt::format("Functional.tanh.{}.forward", i), {wrong},
                    {by_factor(half_of(numbers(10 * i + 3), rank), 1.2F)});
        }
      },
      [&](MadeCalls& calls, int) {
        for (uint64_t i = 0; i < 2; ++i) {
          calls.ran(fmt::format("Functional.linear.{}.forward", i), {kCutX}, {numbers(10 * i + 1)});
          calls.ran(fmt::format("Functional.gelu.{}.forward", i), {numbers(10 * i + 1)}, {});
          calls.ran(fmt::format("Functional.tanh.{}.forward", i), {numbers(10 * i + 2)}, {numbers(10 * i + 3)});
        }
      });
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1", "Functional.gelu.1.forward on 0-1"});
  CHECK(diff.chain(0) == Texts{"Tensor.roll.0.forward"});
  CHECK(diff.chain(1) == Texts{"Tensor.roll.1.forward"});
}

}  // namespace
}  // namespace msdump
