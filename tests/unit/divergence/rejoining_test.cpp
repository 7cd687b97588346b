// Rejoining: what both sides write in two ways is no root, in dumps of msprobe.
#include <algorithm>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/made_calls.h"

namespace msdump {
namespace {

constexpr float kUp = 3, kScore = 7, kScaled = 21, kOut = 11, kWeight = 5;

// In a few calls everything may agree by chance.
void agrees_for_long(MadeCalls& calls) {
  for (int i = 0; i < 25; ++i) {
    const auto scale = static_cast<float>(100 + i);
    calls.ran(fmt::format("Functional.tanh.{}.backward", i), {some_values(scale)}, {some_values(2 * scale)});
  }
}

// The reference scales a query before its product, the candidate the product.
struct Scaled {
  float out = kOut;              // of the candidate, behind the two ways
  float of_weight = 13;          // the gradient of the weight of the product
  float of_query = 17;           // what the gradients of the query add up to
  bool fails_elsewhere = false;  // another operator computes something else
};

CallTrial::Build scaled(const Scaled& candidate) {
  return [=](MadeCalls& calls) {
    const bool bad = calls.bad();
    const auto value = [](float scale) { return some_values(scale); };
    calls.as_statistics();
    calls.ran("Functional.linear.0.forward", {value(1)}, {value(kUp)});
    calls.ran("Functional.relu.0.forward", {value(40)}, {value(bad && candidate.fails_elsewhere ? 60 : 50)});
    if (!bad) calls.ran("Tensor.mul.0.forward", {value(kUp)}, {value(2 * kUp)});
    calls.ran("Torch.matmul.0.forward", {value(bad ? kUp : 2 * kUp), value(kWeight)}, {value(bad ? kScore : kScaled)});
    if (bad) calls.ran("Tensor.mul.5.forward", {value(kScore)}, {value(kScaled)});
    calls.ran("Torch.softmax.0.forward", {value(kScaled)}, {value(bad ? candidate.out : kOut)});
    calls.ran("Functional.gelu.0.forward", {value(bad ? candidate.out : kOut)},
              {value(bad ? 2 * candidate.out : 2 * kOut)});
    calls.ran("Torch.matmul.0.backward", {value(bad ? 1.5F : 0.5F)},
              {value(bad ? 4.5F : 2.5F), value(bad ? candidate.of_weight : 13)});
    if (!bad) calls.ran("Tensor.mul.0.backward", {value(2.5F)}, {value(17)});
    calls.ran("Functional.linear.0.backward", {value(bad ? candidate.of_query : 17)},
              {value(bad ? candidate.of_query + 2 : 19)});
    agrees_for_long(calls);
  };
}

Texts roots(const Scaled& candidate) { return CallTrial(scaled(candidate)).roots(); }

}  // namespace

TEST_CASE("what is scaled elsewhere is no root where the values agree again, and so do the gradients") {
  CHECK(roots({}).empty());
  CHECK_FALSE(roots({.out = 12}).empty());        // the values differ to the end
  CHECK_FALSE(roots({.of_weight = 26}).empty());  // the optimizer reads another gradient
  CHECK_FALSE(roots({.of_query = 34}).empty());   // and so do the layers before
}

TEST_CASE("gradients behind other values may agree again with more noise than the forward pass") {
  constexpr float kNoise = 1 + 1e-5F, kMore = 1 + 4e-5F;
  CHECK(roots({.of_query = 17 * kNoise}).empty());
  CHECK_FALSE(roots({.of_query = 17 * kMore}).empty());
  CHECK_FALSE(roots({.out = kOut * kNoise}).empty());
}

TEST_CASE("if another operator is wrong, what agrees again remains a root beside it") {
  const Texts of_scaling = roots({.out = 12}), of_both = roots({.fails_elsewhere = true});
  REQUIRE(of_scaling.size() == 1);
  CHECK(std::count(of_both.begin(), of_both.end(), of_scaling.front()) == 1);
  CHECK(of_both.size() == 2);
}

TEST_CASE("what the optimizer alone does is never taken for another way to write it") {
  const auto roots = [](bool after_backward) {
    return CallTrial([=](MadeCalls& calls) {
             calls.as_statistics();
             calls.ran("Functional.linear.0.forward", {some_values(1)}, {some_values(kUp)});
             if (after_backward) calls.ran("Functional.linear.0.backward", {some_values(2)}, {some_values(4)});
             if (!calls.bad()) calls.ran("Tensor.mul.0.forward", {some_values(40)}, {some_values(80)});
             calls.ran("Tensor.add.0.forward", {some_values(calls.bad() ? 40.0F : 80.0F)},
                       {some_values(calls.bad() ? 41.0F : 81.0F)});
             calls.ran("Tensor.sin.0.forward", {some_values(6)}, {some_values(8)});
             agrees_for_long(calls);
           })
        .roots();
  };
  CHECK(roots(false).empty());
  CHECK_FALSE(roots(true).empty());
}

}  // namespace msdump
