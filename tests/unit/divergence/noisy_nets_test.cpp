// The nets of support/noisy_net are real nets: their float32 agrees with double, their gradients with differences.
#include <cmath>

#include "support/catch.h"
#include "support/noisy_net/evaluate.h"
#include "support/noisy_net/faults.h"

namespace msdump::noisy {
namespace {

double loss_with(const Net& net, uint64_t seed, Ref parameter, const Numbers& values) {
  Run run{exact_arithmetic(), seed};
  run.parameters[parameter] = values;
  return evaluate(net, run)[0].values[net.loss].v[0];
}

// Along a direction of all elements, so that one evaluation checks all.
void check_gradient(const Net& net, uint64_t seed, Ref parameter, const Numbers& gradient) {
  const Numbers& at = net.values[parameter].initial;
  double expected = 0;
  Numbers ahead = at, back = at;
  const double step = 1e-5;
  for (size_t i = 0; i < at.size(); ++i) {
    const double along = std::sin(1.3 * static_cast<double>(i) + 0.4);
    expected += gradient[i] * along;
    ahead[i] += step * along;
    back[i] -= step * along;
  }
  const double slope = (loss_with(net, seed, parameter, ahead) - loss_with(net, seed, parameter, back)) / (2 * step);
  INFO("seed " << seed << ", " << net.values[parameter].name << ": " << slope << " against " << expected);
  CHECK(std::fabs(slope - expected) <= 1e-5 * (std::fabs(slope) + std::fabs(expected)) + 1e-9);
}

}  // namespace

TEST_CASE("the gradients of noisy nets are those of finite differences") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Net net = random_net({seed, true, true});
    const auto values = evaluate(net, {exact_arithmetic(), seed});
    size_t checked = 0;
    for (const NetNode& node : net.nodes) {
      const bool momentum = node.type == "ApplyMomentum";
      if (!momentum && node.type != "Adam") continue;
      check_gradient(net, seed, node.inputs[0], values[0].values[node.inputs[momentum ? 3 : 9]].v);
      ++checked;
    }
    CHECK(checked >= 2);
  }
}

TEST_CASE("noisy nets in float32 agree with double arithmetic") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Net net = random_net({seed});
    const auto exact = evaluate(net, {exact_arithmetic(), seed});
    const auto single = evaluate(net, {reference_arithmetic(seed), seed});
    for (const NetNode& node : net.nodes) {
      if (node.backward) break;  // behind a ReLU, one element that changes its sign changes a gradient
      const Ref output = node.outputs[0];
      INFO("seed " << seed << ", " << node.name);
      CHECK(relative_error(single[0].values[output].v, exact[0].values[output].v) < 1e-5);
    }
    CHECK(net.nodes.size() >= 9);
    CHECK(net.nodes.size() <= 450);
  }
}

TEST_CASE("a planted fault is as large as it says, and nothing before it changes") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const NoisyNet noisy(seed);
    const auto wrong = noisy.graded(20);
    if (!wrong) continue;
    const Planted& fault = wrong->faults.at(0);
    INFO("seed " << seed << ", " << fault.kind << " of " << fault.where);
    CHECK(fault.ratio() > 14);
    CHECK(fault.ratio() < 30);
    const Candidate healthy = noisy.clean();
    for (size_t i = 0; i < healthy.net.nodes.size(); ++i) {
      const NetNode& node = healthy.net.nodes[i];
      const Ref output = node.outputs[0];
      const bool same = wrong->values[0].values[output].v == healthy.values[0].values[output].v;
      if (!same) CHECK(fault.in_candidate.contains(node.name));
      if (!same) break;
    }
  }
}

}  // namespace msdump::noisy
