#include <limits>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/cut_diff.h"

namespace msdump {
namespace {

TEST_CASE("the call of the candidate alone that wrote a wrong input is named, and the rank that it is wrong on") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const float wrong = rank == 1 ? 1.2F : 1.0F;
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.__mul__.0.forward", {half_of(kCutUp, rank)}, {by_factor(half_of(kCutUp, rank), wrong)});
        calls.ran("Functional.gelu.0.forward", {by_factor(half_of(kCutUp, rank), wrong)},
                  {by_factor(half_of(kCutOut, rank), wrong)});
        calls.ran("Functional.tanh.0.forward", {by_factor(half_of(kCutOut, rank), wrong)},
                  {by_factor(half_of(kCutLast, rank), wrong)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 1"});
}

// Of both ranks: terms of a sum, which an all_reduce adds up; `got`: what comes out of it.
void adds_up(MadeCalls& calls, int rank, const Values& sum, const Values& got) {
  const Values other = test::numbers(32, 5);
  Values term = other;
  for (size_t i = 0; rank == 1 && i < term.size(); ++i) term[i] = sum[i] - other[i];
  calls.ran("Tensor.exp.0.forward", {kCutX}, {term});
  calls.ran("Distributed.all_reduce.0.forward", {term}, {got});
  calls.given("group", "torch.ProcessGroup", R"(null,"group_ranks":[0,1])");
}
Values with_one_off(Values all) {
  all[3] += 2;
  return all;
}

TEST_CASE(
    "a collective that does not give a rank what went in is the root, although nothing shows where its values go") {
  const auto run = [](bool bad) {
    return [bad](MadeCalls& calls, int rank) {
      const Values up = bad && rank == 1 ? with_one_off(kCutUp) : kCutUp;
      const float wrong = bad && rank == 1 ? 1.3F : 1.0F;
      adds_up(calls, rank, kCutUp, up);
      // What lies between is not dumped.
      calls.ran("Functional.gelu.0.forward", {by_factor(kCutUp, wrong)}, {by_factor(kCutOut, wrong)});
      calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, wrong)}, {by_factor(kCutLast, wrong)});
    };
  };
  const CutDiff bad(2, run(true), in_one_process);
  CHECK(bad.roots() == Texts{"Distributed.all_reduce.0.forward on 1"});
  CHECK(bad.root().reason.find("over ranks 0-1: ") != std::string::npos);
  CHECK(bad.root().chain.empty());
  CHECK(CutDiff(2, run(false), in_one_process).roots().empty());
}

TEST_CASE("a call of which no input was compared follows from an alarm before it, and is no root without one") {
  const auto run = [](float error) {
    return [error](MadeCalls& calls, int rank) {
      Values up = kCutUp;
      if (rank == 1) up[3] += error;
      adds_up(calls, rank, kCutUp, up);
      const Values own = test::numbers(32, 6);  // in a form that the reference does not have
      calls.ran("Tensor.log.0.forward", {kCutUp}, {own});
      calls.ran("Functional.gelu.0.forward", {own}, {by_factor(kCutOut, 1.3F)});
    };
  };
  const Ran whole = [](MadeCalls& calls, int) {
    calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
    calls.ran("Functional.gelu.0.forward", {}, {kCutOut});
  };
  CHECK(CutDiff(2, run(2), whole).roots() == Texts{"Distributed.all_reduce.0.forward on 1"});
  CHECK(CutDiff(2, run(0), whole).roots().empty());
}

TEST_CASE("a tensor of which one part cannot be read is not compared by the others, and blames nobody") {
  const Ran cut = [](MadeCalls& calls, int rank) {
    calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
    calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {half_of(kCutOut, rank)});
    calls.ran("Functional.tanh.0.forward", {half_of(kCutOut, rank)}, {half_of(kCutLast, rank)});
  };
  const CutDiff diff(2, {{cut, in_one_process}},
                     "cut/step0/rank1/dump_tensor_data/Functional.gelu.0.forward.output.0.npy");
  CHECK(diff.roots().empty());
  CHECK(diff.verdict("Functional.gelu.0.forward", "0", Io::kOutput) ==
        "skipped: the part of rank 1 of the candidate cannot be read");
  CHECK(diff.verdict("Functional.tanh.0.forward", "0", Io::kOutput) == "same: ");
}

TEST_CASE("a call that one of many ranks does not make is a difference, whose reason names the rank") {
  const auto before = [](MadeCalls& calls) {
    for (uint64_t i = 0; i < 9; ++i)
      calls.ran(fmt::format("Functional.relu.{}.forward", i), {test::numbers(8, i)}, {test::numbers(8, i + 20)});
  };
  const Ran cut = [&](MadeCalls& calls, int rank) {
    before(calls);
    calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
    const int half = rank % 2;
    if (rank != 2) calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, half)}, {half_of(kCutOut, half)});
    calls.ran("Functional.tanh.0.forward", {half_of(rank == 2 ? kCutUp : kCutOut, half)},
              {half_of(rank == 2 ? kCutX : kCutLast, half)});
  };
  const Ran whole = [&](MadeCalls& calls, int rank) {
    before(calls);
    in_one_process(calls, rank);
  };
  const CutDiff diff(4, cut, whole);
  CHECK(diff.verdict("Functional.gelu.0.forward", "0", Io::kOutput) ==
        "shape: rank 2 of the candidate does not have it");
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on "});
}

TEST_CASE("of copies the rank is named whose copy is off") {
  const CutDiff diff(
      3,
      [](MadeCalls& calls, int rank) {
        const float wrong = rank == 1 ? 1.02F : 1.0F;
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {by_factor(kCutOut, wrong)});
        calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, wrong)}, {by_factor(kCutLast, wrong)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 1"});
}

// gelu's output in an order of its own on each rank, as of tokens that go to experts: no layout makes it the reference's.
void reordered(MadeCalls& calls, int rank, float wrong) {
  Values shuffled = half_of(kCutOut, rank);
  for (size_t i = 0; i < shuffled.size(); ++i) std::swap(shuffled[i], shuffled[(i * 7 + 5) % shuffled.size()]);
  calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
  calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {shuffled});
  calls.ran("Functional.tanh.0.forward", {shuffled}, {by_factor(half_of(kCutLast, rank), wrong)});
}

TEST_CASE("a tensor that fits no layout is no divergence where what is made of it is right") {
  const CutDiff right(
      2, [](MadeCalls& calls, int rank) { reordered(calls, rank, 1); }, in_one_process);
  CHECK(right.roots().empty());
  const CutDiff wrong(
      2, [](MadeCalls& calls, int rank) { reordered(calls, rank, 1.2F); }, in_one_process);
  CHECK_FALSE(wrong.roots().empty());
}

// The finite elements of what follows are right.
TEST_CASE("of calls of the candidate alone that pass infinity on, the one that made it is named, with its rank") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const auto broken = [&](Values values) {
          if (rank == 1) values[3] = std::numeric_limits<float>::infinity();
          return values;
        };
        const Values up = half_of(kCutUp, rank), made = broken(up), turned = broken(by_factor(up, -1));
        calls.ran("Functional.linear.0.forward", {kCutX}, {up});
        calls.ran("Tensor.__truediv__.0.forward", {up}, {made});
        calls.ran("Tensor.__neg__.0.forward", {made}, {turned});
        calls.ran("Tensor.__neg__.1.forward", {turned}, {made});
        calls.ran("Functional.gelu.0.forward", {made}, {broken(half_of(kCutOut, rank))});
        calls.ran("Functional.tanh.0.forward", {broken(half_of(kCutOut, rank))}, {broken(half_of(kCutLast, rank))});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.__truediv__.0.forward on 1"});
}

TEST_CASE("a gradient that is not finite comes from a call of the candidate alone whose value is not, either") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Values loss = {0.5F}, gradient = {1};
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const float factor = rank == 1 ? infinity : 1;
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Functional.mean.0.forward", {half_of(kCutUp, rank)}, {loss});
        calls.ran("Tensor.__mul__.0.forward", {loss}, {by_factor(loss, factor)});
        calls.ran("Tensor.__mul__.0.backward", {gradient}, {by_factor(gradient, factor)});
        calls.ran("Functional.mean.0.backward", {by_factor(gradient, factor)},
                  {by_factor(half_of(kCutOut, rank), factor)});
        calls.ran("Functional.linear.0.backward", {by_factor(half_of(kCutOut, rank), factor)},
                  {by_factor(kCutLast, factor)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.mean.0.forward", {kCutUp}, {loss});
        calls.ran("Functional.mean.0.backward", {gradient}, {kCutOut});
        calls.ran("Functional.linear.0.backward", {kCutOut}, {kCutLast});
      });
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 1"});
}

// Of a weight that every rank has; `wrong` is rank 1's.
CutDiff::Step with_weight(uint64_t step, float wrong) {
  const Values x = test::numbers(32, 10 * step + 1), weight = test::numbers(32, 10 * step + 2),
               out = test::numbers(32, 10 * step + 3), last = test::numbers(32, 10 * step + 4);
  const auto ran = [=](MadeCalls& calls, const Values& of_rank, float factor) {
    calls.ran("Functional.tanh.0.forward", {last}, {x});
    calls.ran("Tensor.__mul__.0.forward", {x, of_rank}, {by_factor(out, factor)});
    calls.ran("Functional.gelu.0.forward", {by_factor(out, factor)}, {by_factor(last, factor)});
  };
  return {[=](MadeCalls& calls, int rank) {
            const float factor = rank == 1 ? wrong : 1.0F;
            ran(calls, by_factor(weight, factor), factor);
          },
          [=](MadeCalls& calls, int) { ran(calls, weight, 1.0F); }};
}

TEST_CASE("a weight that is off in a later step by more than the step before left is named where it is first read") {
  CHECK(CutDiff(2, {with_weight(0, 1), with_weight(1, 1.02F)}).roots() == Texts{"Tensor.__mul__.0.forward on 1"});
  // As far off as what the first step made; and by rounding.
  CHECK(CutDiff(2, {with_weight(0, 1.0005F), with_weight(1, 1.001F)}).roots() ==
        CutDiff(2, {with_weight(0, 1.0005F), with_weight(1, 1)}).roots());
  CHECK(CutDiff(2, {with_weight(0, 1), with_weight(1, 1.000001F)}).roots().empty());
}

TEST_CASE("gradients follow from an alarm of the forward pass, although no edge leads from it to them") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {by_factor(half_of(kCutOut, rank), 1.2F)});
        calls.ran("Functional.tanh.0.backward", {by_factor(half_of(kCutLast, rank), 1.1F)},
                  {by_factor(half_of(kCutX, rank), 1.1F)});
      },
      [](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.backward", {kCutLast}, {kCutX});
      });
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
}

// Two calls of the forward pass and their backward calls. From the first backward call on, gradients are `factor` times those
// of the reference, as where a stage sends them twice.
TEST_CASE("gradients that are too large by a factor from some call on are a divergence there") {
  const auto run = [](float factor) {
    return [factor](MadeCalls& calls, int rank) {
      in_one_process(calls, rank);
      for (int call = 3; call-- > 0;) {
        const float of_call = call < 2 ? factor : 1.0F;
        const Values in = test::numbers(32, static_cast<uint64_t>(20 + call)),
                     out = test::numbers(32, static_cast<uint64_t>(30 + call));
        calls.ran(fmt::format("Functional.tanh.{}.backward", call), {by_factor(half_of(in, rank), of_call)},
                  {by_factor(half_of(out, rank), of_call)});
      }
    };
  };
  const auto whole = [](MadeCalls& calls, int rank) {
    in_one_process(calls, rank);
    for (int call = 3; call-- > 0;) {
      calls.ran(fmt::format("Functional.tanh.{}.backward", call), {test::numbers(32, static_cast<uint64_t>(20 + call))},
                {test::numbers(32, static_cast<uint64_t>(30 + call))});
    }
  };
  CHECK(CutDiff(2, run(1), whole).roots().empty());
  CHECK(CutDiff(2, run(3), whole).roots() == Texts{"Functional.tanh.1.backward on 0-1"});
}

// Of statistics: after calls that agree, gelu reads something else in the candidate; what follows is `factor` times what it
// should be.
CutDiff of_statistics(float factor) {
  const auto run = [=](MadeCalls& calls, int rank, int ranks) {
    const auto own = [&](uint64_t seed, float times) {
      const Values all = by_factor(test::numbers(32, seed), ranks == 1 ? 1 : times);
      return ranks == 1 ? all : half_of(all, rank);
    };
    calls.as_statistics();
    for (uint64_t i = 0; i < 12; ++i) {
      calls.ran(fmt::format("Functional.relu.{}.forward", i), {own(20 + i, 1)}, {own(40 + i, 1)});
    }
    calls.ran("Functional.gelu.0.forward", {own(9, 3)}, {own(10, factor)});
    for (uint64_t i = 0; i < 4; ++i) {
      calls.ran(fmt::format("Functional.tanh.{}.forward", i), {own(60 + i, 1)}, {own(70 + i, factor)});
    }
  };
  return CutDiff(
      2, [=](MadeCalls& calls, int rank) { run(calls, rank, 2); },
      [=](MadeCalls& calls, int rank) { run(calls, rank, 1); });
}

TEST_CASE("of statistics an input that differs is blamed only where what follows it differs") {
  CHECK(of_statistics(1).roots().empty());
  const CutDiff differs = of_statistics(3);
  REQUIRE_FALSE(differs.roots().empty());
  CHECK(differs.roots().front().starts_with("Functional.gelu.0.forward"));
}

TEST_CASE(
    "an input that something changes in a later step is named, although weights of unknown error come before it") {
  const auto step = [](uint64_t number, float wrong) {
    const Values x = test::numbers(32, 10 * number + 1), weight = test::numbers(32, 10 * number + 2),
                 out = test::numbers(32, 10 * number + 3), last = test::numbers(32, 10 * number + 4);
    const auto ran = [=](MadeCalls& calls, const Values& of_rank, float factor) {
      calls.ran("Tensor.__mul__.0.forward", {x, of_rank}, {out});
      calls.ran("Functional.gelu.0.forward", {by_factor(out, factor)}, {by_factor(last, factor)});
    };
    return CutDiff::Step{[=](MadeCalls& calls, int rank) {
                           const float factor = rank == 1 ? wrong : 1.0F;
                           ran(calls, by_factor(weight, number == 0 ? 1 : 1.0000005F), factor);
                         },
                         [=](MadeCalls& calls, int) { ran(calls, weight, 1.0F); }};
  };
  const CutDiff changed(2, {step(0, 1), step(1, 1.01F)});
  CHECK(changed.roots() == Texts{"Functional.gelu.0.forward on 1"});
  CHECK(changed.root().reason.starts_with("its input 0 has more error than Tensor.__mul__.0.forward, which wrote it"));
  CHECK(CutDiff(2, {step(0, 1), step(1, 1)}).roots().empty());
}

// The candidate adds the bias in a call of its own and multiplies the sum, on rank 1 by `factor`.
CutDiff with_bias(float factor) {
  const Values weight = test::numbers(32, 40), bias = test::numbers(32, 41);
  return CutDiff(
      3,
      [=](MadeCalls& calls, int rank) {
        const float own = rank == 1 ? factor : 1.0F;
        Values partial = kCutUp;
        for (size_t i = 0; i < partial.size(); ++i) partial[i] -= bias[i];
        calls.ran("Functional.linear.0.forward", {kCutX, weight}, {partial});
        calls.ran("Tensor.__add__.0.forward", {partial, bias}, {kCutUp});
        calls.ran("Tensor.__mul__.0.forward", {kCutUp}, {by_factor(kCutUp, own)});
        calls.ran("Functional.gelu.0.forward", {by_factor(kCutUp, own)}, {by_factor(kCutOut, own)});
        calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, own)}, {by_factor(kCutLast, own)});
      },
      [=](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX, weight, bias}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
      });
}

TEST_CASE(
    "a call that lacks an input of the reference's is not to blame for what it leaves, but calls after it may be") {
  CHECK(with_bias(1).roots().empty());
  for (const float factor : {1.1F, 1.2F}) {
    const CutDiff diff = with_bias(factor);
    REQUIRE(diff.roots().size() == 1);
    CHECK(diff.roots().front().starts_with("Tensor.__mul__.0.forward"));
    CHECK(diff.chain() == Texts{"Tensor.__add__.0.forward"});
  }
}

// The candidate adds the bias to the sum over the ranks; `wrong`: to that over each rank alone.
CutDiff with_summed_bias(bool wrong) {
  const Values bias = test::numbers(32, 41), other = test::numbers(32, 42), first = test::numbers(32, 44);
  return CutDiff(
      2,
      [=](MadeCalls& calls, int rank) {
        const float factor = wrong ? 1.5F : 1;
        Values sum = kCutUp, term = other;
        for (size_t i = 0; i < sum.size(); ++i) {
          sum[i] -= bias[i];
          if (rank == 1) term[i] = sum[i] - other[i];
        }
        const Values reduced = wrong ? term : sum;
        Values got = reduced;
        for (size_t i = 0; i < got.size(); ++i) got[i] += bias[i];
        calls.ran("Functional.linear.0.forward", {kCutX, rank == 0 ? first : test::numbers(32, 45)}, {term});
        calls.ran("Distributed.all_reduce.0.forward", {term}, {reduced});
        calls.given("group", "torch.ProcessGroup",
                    wrong ? fmt::format(R"(null,"group_ranks":[{}])", rank) : R"(null,"group_ranks":[0,1])");
        calls.ran("Tensor.__add__.0.forward", {reduced, bias}, {got});
        calls.ran("Functional.gelu.0.forward", {got}, {by_factor(kCutOut, factor)});
        calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, factor)}, {by_factor(kCutLast, factor)});
      },
      [=](MadeCalls& calls, int) {
        Values weight = first;
        const Values second = test::numbers(32, 45);
        weight.insert(weight.end(), second.begin(), second.end());
        calls.ran("Functional.linear.0.forward", {kCutX, weight, bias}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
      });
}

TEST_CASE("a collective hands on what lacks a bias, and is not to blame for what it leaves, either") {
  CHECK(with_summed_bias(false).roots().empty());
  CHECK(with_summed_bias(true).roots() == Texts{"Tensor.__add__.0.forward on "});
}

TEST_CASE("runs over other ranks are of two networks if they have neither a call nor a value in common") {
  const auto calls_of = [](const std::string& api, const std::string& last, const Values& made) {
    return [=](MadeCalls& calls, int) {
      for (int i = 0; i < 10; ++i) calls.ran(fmt::format("Torch.{}.{}.forward", api, i), {by_factor(made, 2)}, {made});
      calls.ran("Torch." + last + ".0.forward", {by_factor(made, 3)}, {by_factor(made, 5)});
    };
  };
  const auto sin = calls_of("sin", "exp", kCutUp);
  const Values other = test::numbers(32, 9);
  CHECK(CutDiff(2, sin, calls_of("cos", "log", other)).two_networks());
  CHECK_FALSE(CutDiff(2, sin, calls_of("cos", "exp", other)).two_networks());
  CHECK_FALSE(CutDiff(2, sin, calls_of("cos", "log", kCutUp)).two_networks());
}

}  // namespace
}  // namespace msdump
