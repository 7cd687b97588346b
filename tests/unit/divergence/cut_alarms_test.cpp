// Runs that are cut differently: which outputs and inputs are alarmed.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/cut_diff.h"

namespace msdump {
namespace {

// The candidate's tensors are cut in two, and off by factors.
struct Side {
  bool cut;
  int rank;
  [[nodiscard]] Values of(const Values& all, float off = 1) const {
    return cut ? by_factor(half_of(all, rank), off) : all;
  }
  [[nodiscard]] Values of(uint64_t seed, float off = 1) const { return of(test::numbers(32, seed), off); }
};

CutDiff cut_in_two(const std::function<void(MadeCalls&, const Side&)>& ran) {
  return {2,
          [&](MadeCalls& calls, int rank) {
            ran(calls, {true, rank});
          },
          [&](MadeCalls& calls, int) {
            ran(calls, {false, 0});
          }};
}

TEST_CASE("after an alarm an output is another root only where it cannot be of another layout") {
  const auto roots = [](float first, float second, float element = 0) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             Values end = own.of(6, second);
             if (own.cut && own.rank == 0) end[3] += element;
             calls.ran("Functional.linear.0.forward", {own.of(1)}, {own.of(2)});
             calls.ran("Functional.gelu.0.forward", {own.of(2)}, {own.of(3, first)});
             calls.ran("Functional.linear.1.forward", {own.of(4)}, {own.of(5)});
             calls.ran("Functional.tanh.0.forward", {own.of(5)}, {end});
           })
        .roots();
  };
  const std::string gelu = "Functional.gelu.0.forward on 0-1", tanh = "Functional.tanh.0.forward on 0-1";
  CHECK(roots(1.2F, 1.2F) == Texts{tanh, gelu});
  CHECK(roots(1.2F, 4) == Texts{gelu});
  CHECK(roots(1, 4) == Texts{tanh});
  CHECK(roots(1.2F, 1, 20) == Texts{"Functional.tanh.0.forward on 0", gelu});  // the other elements show the layout
}

TEST_CASE("the steps after an alarm follow from it, too") {
  const auto step = [](uint64_t number, float first, float second) {
    const auto ran = [=](MadeCalls& calls, const Side& own) {
      const uint64_t seed = 10 * number;
      calls.ran("Functional.linear.0.forward", {own.of(seed)}, {own.of(seed + 1)});
      calls.ran("Functional.gelu.0.forward", {own.of(seed + 1)}, {own.of(seed + 2, first)});
      calls.ran("Functional.linear.1.forward", {own.of(seed + 3)}, {own.of(seed + 4)});
      calls.ran("Functional.tanh.0.forward", {own.of(seed + 4)}, {own.of(seed + 5, second)});
    };
    return CutDiff::Step{[=](MadeCalls& calls, int rank) {
                           ran(calls, {true, rank});
                         },
                         [=](MadeCalls& calls, int) {
                           ran(calls, {false, 0});
                         }};
  };
  const std::string gelu = "Functional.gelu.0.forward on 0-1", tanh = "Functional.tanh.0.forward on 0-1";
  CHECK(CutDiff(2, {step(0, 1.2F, 1), step(1, 1, 4)}).roots() == Texts{gelu});
  CHECK(CutDiff(2, {step(0, 1, 1), step(1, 1, 4)}).roots() == Texts{tanh});
}

TEST_CASE("after an alarm a collective is not another root by what the reference has") {
  const auto roots = [](float first, float exchanged) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             calls.ran("Functional.linear.0.forward", {own.of(1)}, {own.of(2)});
             calls.ran("Functional.gelu.0.forward", {own.of(2)}, {own.of(3, first)});
             calls.ran("Functional.linear.1.forward", {own.of(4)}, {own.of(5)});
             if (own.cut) calls.ran("Distributed.all_to_all.0.forward", {own.of(5)}, {own.of(5, exchanged)});
             calls.ran("Functional.tanh.0.forward", {own.of(5, exchanged)}, {own.of(6, exchanged)});
           })
        .roots();
  };
  CHECK(roots(1, 1.2F) == Texts{"Distributed.all_to_all.0.forward on 0-1"});
  CHECK(roots(1.2F, 1.2F) == Texts{"Functional.gelu.0.forward on 0-1"});
}

TEST_CASE(
    "a collective of the candidate alone is to blame for what it leaves, although the model expects that of a reader") {
  // The reference's dump lacks what made gelu's input.
  const auto roots = [](float off) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             if (own.cut) {
               const Values sent = test::numbers(24, 60 + static_cast<uint64_t>(own.rank));
               calls.ran("Tensor.exp.0.forward", {own.of(1)}, {sent});
               calls.ran("Distributed.all_to_all.0.forward", {sent}, {own.of(2, off)});
             }
             calls.ran("Functional.gelu.0.forward", {own.of(2, off)}, {own.of(3, off)});
             calls.ran("Functional.tanh.0.forward", {own.of(3, off)}, {own.of(4, off)});
           })
        .roots();
  };
  CHECK(roots(1).empty());
  CHECK(roots(1.2F) == Texts{"Distributed.all_to_all.0.forward on 0-1"});
}

TEST_CASE("an input that changed on the way matters only where the output has more error than others of its kind") {
  // `alone`: by a call of the candidate alone, after which the reference's dump lacks what gelu reads.
  const auto roots = [](bool alone, float last) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             for (uint64_t i = 0; i < 8; ++i) {
               const bool changed = i == 7;
               const uint64_t read = changed && alone ? 160 : 120 + i;
               calls.ran(fmt::format("Functional.linear.{}.forward", i), {own.of(100 + i)}, {own.of(120 + i)});
               if (own.cut && changed && alone) calls.ran("Tensor.exp.0.forward", {own.of(127)}, {own.of(160, 1.05F)});
               calls.ran(fmt::format("Functional.gelu.{}.forward", i), {own.of(read, changed ? 1.05F : 1)},
                         {own.of(140 + i, changed ? last : 1.002F)});
             }
           })
        .roots();
  };
  CHECK(roots(false, 1.002F).empty());
  CHECK(roots(false, 1.05F) == Texts{"Functional.gelu.7.forward on 0-1"});
  CHECK(roots(true, 1.05F) == Texts{"Tensor.exp.0.forward on 0-1"});
}

// On all ranks alike: these show nothing by themselves.
TEST_CASE("a call of the candidate alone after one that lacks a bias is named for more error than the bias explains") {
  const auto roots = [](float off) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             const Values weight = test::numbers(32, 40), bias = test::numbers(32, 41);
             Values partial = kCutUp;
             for (size_t i = 0; i < partial.size(); ++i) partial[i] -= bias[i];
             if (own.cut) {
               calls.ran("Functional.linear.0.forward", {kCutX, weight}, {own.of(partial)});
               calls.ran("Tensor.__add__.0.forward", {own.of(partial), own.of(bias)}, {own.of(kCutUp)});
               calls.ran("Tensor.__mul__.0.forward", {own.of(kCutUp)}, {own.of(kCutUp, off)});
             } else {
               calls.ran("Functional.linear.0.forward", {kCutX, weight, bias}, {kCutUp});
             }
             calls.ran("Functional.gelu.0.forward", {own.of(kCutUp, off)}, {own.of(kCutOut, off)});
             calls.ran("Functional.tanh.0.forward", {own.of(kCutOut, off)}, {own.of(kCutLast, off)});
           })
        .roots();
  };
  CHECK(roots(1).empty());
  CHECK(roots(1.1F) == Texts{"Tensor.__mul__.0.forward on 0-1"});
}

// gelu adds the bias itself, and the reference's dump does not have what it reads.
TEST_CASE("the output of a call that lacks a bias says nothing of what its reader should have") {
  const auto roots = [](float off) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             const Values weight = test::numbers(32, 40), bias = test::numbers(32, 41);
             Values partial = kCutUp;
             for (size_t i = 0; i < partial.size(); ++i) partial[i] -= 0.2F * bias[i];
             if (own.cut) {
               calls.ran("Functional.linear.0.forward", {kCutX, weight}, {own.of(partial)});
               calls.ran("Functional.gelu.0.forward", {own.of(partial)}, {own.of(kCutOut, off)});
             } else {
               calls.ran("Functional.linear.0.forward", {kCutX, weight, bias}, {kCutUp});
               calls.ran("Functional.gelu.0.forward", {}, {kCutOut});
             }
             calls.ran("Functional.tanh.0.forward", {own.of(kCutOut, off)}, {own.of(kCutLast, off)});
           })
        .roots();
  };
  CHECK(roots(1).empty());
  CHECK(roots(1.15F) == Texts{"Functional.gelu.0.forward on 0-1"});
}

TEST_CASE("what is made of a value that lacks a bias is off by that too, and is not to blame for it") {
  const auto roots = [](float added) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             const Values weight = test::numbers(32, 40), bias = test::numbers(32, 41), up = by_factor(kCutUp, 2);
             Values partial = kCutUp;
             for (size_t i = 0; i < partial.size(); ++i) partial[i] -= 0.2F * bias[i];
             if (own.cut) {
               calls.ran("Functional.linear.0.forward", {kCutX, weight}, {own.of(partial)});
               calls.ran("Functional.relu.0.forward", {own.of(partial)}, {own.of(partial, 2)});
               calls.ran("Tensor.__add__.0.forward", {own.of(partial, 2), own.of(bias)}, {own.of(up, added)});
             } else {
               calls.ran("Functional.linear.0.forward", {kCutX, weight, bias}, {kCutUp});
               calls.ran("Functional.relu.0.forward", {kCutUp}, {up});
             }
             calls.ran("Functional.gelu.0.forward", {own.of(up, added)}, {own.of(kCutOut, added)});
             calls.ran("Functional.tanh.0.forward", {own.of(kCutOut, added)}, {own.of(kCutLast, added)});
           })
        .roots();
  };
  CHECK(roots(1).empty());
  for (const std::string& root : roots(1.3F)) CHECK_FALSE(root.starts_with("Functional.relu."));
}

TEST_CASE("of modules that are wrong although no call inside is the first is named, and none where another call is") {
  const auto roots = [](const std::vector<float>& modules, float other) {
    return cut_in_two([&](MadeCalls& calls, const Side& own) {
             for (uint64_t i = 0; i < modules.size(); ++i) {
               const std::string module = fmt::format("Module.net.{}.Block.forward.0", i);
               const Values in = test::numbers(32, 10 * i), out = test::numbers(32, 10 * i + 1);
               calls.ran(fmt::format("Functional.linear.{}.forward", i), {own.of(in)}, {own.of(10 * i + 2)}, module);
               if (own.cut)
                 calls.ran(fmt::format("Tensor.sort.{}.forward", i), {own.of(in, 3)}, {own.of(in, 5)}, module);
               calls.ran(module, {own.of(in)}, {own.of(out, modules[i])});
               calls.ran(fmt::format("Functional.tanh.{}.forward", i), {own.of(out, modules[i])},
                         {own.of(10 * i + 3, modules[i])});
             }
             calls.ran("Functional.relu.0.forward", {own.of(200)}, {own.of(201, other)});
           })
        .roots();
  };
  const std::vector<float> right(12, 1.000001F);  // rounding shows what the kind has
  std::vector<float> one(12, 1.0F), two = right;
  one[4] = two[4] = two[7] = 1.2F;
  CHECK(roots(right, 1).empty());
  CHECK(roots(one, 1) == Texts{"Module.net.4.Block.forward.0 on 0-1"});
  CHECK(roots(two, 1) == Texts{"Module.net.4.Block.forward.0 on 0-1"});
  CHECK(roots(one, 1.2F) == Texts{"Functional.relu.0.forward on 0-1"});
}

// The candidate's own call makes infinity; what lies between its reader and softmax, which makes NaN of infinity, is not
// dumped.
TEST_CASE("NaN that is made of the infinity of a call of the candidate alone is not a root of its own") {
  const auto roots = [](bool own_call, bool reads_infinity) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             const auto with = [&](Values all, float value) {
               if (own.cut && own.rank == 1) all[3] = value;
               return all;
             };
             const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
             calls.ran("Functional.linear.0.forward", {own.of(1)}, {own.of(2)});
             if (own.cut && own_call) {
               calls.ran("Tensor.__truediv__.0.forward", {own.of(2)}, {with(own.of(2), infinity)});
               calls.ran("Functional.gelu.0.forward", {with(own.of(2), infinity)}, {with(own.of(3), infinity)});
             } else {
               calls.ran("Functional.gelu.0.forward", {own.of(2)}, {own.of(3)});
             }
             calls.ran("Functional.softmax.0.forward", {reads_infinity ? with(own.of(4), infinity) : own.of(4)},
                       {with(own.of(5), nan)});
           })
        .roots();
  };
  const std::string divides = "Tensor.__truediv__.0.forward on 1", softmax = "Functional.softmax.0.forward on 1";
  CHECK(roots(true, true) == Texts{divides});
  CHECK(roots(false, true) == Texts{softmax});
  CHECK(roots(true, false) == Texts{divides, softmax});
}

TEST_CASE("a backward call is judged by the gradient that it reads, and not where only its forward call is known") {
  const auto roots = [](bool known) {
    return cut_in_two([=](MadeCalls& calls, const Side& own) {
             calls.ran("Functional.linear.0.forward", {own.of(1)}, {own.of(2)});
             calls.ran("Functional.gelu.0.forward", {own.of(2)}, {own.of(3)});
             calls.ran("Functional.gelu.0.backward",
                       known || own.cut ? std::vector<Values>{own.of(4)} : std::vector<Values>(), {own.of(5, 1.2F)});
             calls.ran("Functional.linear.0.backward", {own.of(5, 1.2F)}, {own.of(6, 1.2F)});
           })
        .roots();
  };
  CHECK(roots(true) == Texts{"Functional.gelu.0.backward on 0-1"});
  CHECK(roots(false) == Texts());
}

// An expert that is given nothing has an empty tensor, of which msprobe writes no file.
TEST_CASE("a call that has elements is not compared with one that has none") {
  const Values rows = test::numbers(16, 51);
  const auto run = [](const Values& given) {
    return [given](MadeCalls& calls, int) {
      calls.ran("Functional.gelu.0.forward", {kCutX}, {kCutUp});
      calls.ran("Tensor.index_add.0.backward", {kCutUp}, {kCutUp, given});
      calls.ran("Functional.gelu.0.backward", {kCutUp}, {kCutX});
    };
  };
  const CutDiff diff(2, {{run(rows), run({})}},
                     "whole/step0/proc7/dump_tensor_data/Tensor.index_add.0.backward.output.1.npy");
  CHECK(diff.roots() == Texts());
}

}  // namespace
}  // namespace msdump
