#include "compare/dumps/unpaired_tensors.h"

#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {
namespace {

using Tensors = std::vector<std::pair<uint32_t, uint32_t>>;

// Two products with weights, which the candidate has as `gate` and `up`; their outputs are made the same.
Tensors exchanged(const Values& gate, const Values& up) {
  const Trial trial([&](MadeNet& net) {
    const auto x = net.input("x");
    const Values first = some_values(3), second = some_values(5);
    const auto y = net.op("Mul", {x, net.weight("gate", net.bad() ? gate : first)});
    const auto z = net.op("Mul", {x, net.weight("up", net.bad() ? up : second)});
    net[y] = net[z] = first;
  });
  const auto found = exchanged_tensors(trial.compared().pairing(), trial.compared().diffs());
  return {found.begin(), found.end()};
}

// Tensors that differ, by their maxima in the candidate and in the reference; what else is known is the same.
Tensors exchanged(const std::vector<std::pair<double, double>>& maxima) {
  Pairing pairing;
  pairing.tensors.resize(maxima.size());
  std::vector<TensorDiff> diffs(maxima.size());
  for (size_t i = 0; i < maxima.size(); ++i) {
    diffs[i].verdict = Verdict::kDiffer;
    kernels::PairMetrics metrics;
    metrics.max_a = maxima[i].first;
    metrics.max_b = maxima[i].second;
    metrics.min_a = metrics.min_b = 0;
    metrics.mean_a = metrics.mean_b = 0.5;
    metrics.std_a = metrics.std_b = 1;
    diffs[i].metrics = metrics;
  }
  const auto found = exchanged_tensors(pairing, diffs);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("two weights that changed places are found") {
  const Values first = some_values(3), second = some_values(5);
  CHECK(exchanged(second, first) == Tensors{{1, 4}});
  CHECK(exchanged(first, second).empty());
  CHECK(exchanged(second, second).empty());
  CHECK(exchanged(second, some_values(4)).empty());
}

TEST_CASE("tensors that share their statistics with a third one are not exchanged") {
  CHECK(exchanged({{4, 3}, {1, 2}, {2, 1}, {3, 4}}) == Tensors{{0, 3}, {1, 2}});
  CHECK(exchanged({{1, 2}, {2, 1}, {2, 1}}).empty());
  CHECK(exchanged({{2, 1}, {1, 2}, {2, 1}}).empty());
  CHECK(exchanged({{1, 2}, {1, 2}, {2, 1}, {2, 1}}).empty());
  CHECK(exchanged({{1, 0}, {0, 1}}).empty());  // one value alone
}

}  // namespace msdump
