#include "compare/dumps/exchanged_tensors.h"

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
  return exchanged_tensors(trial.compared().pairing(), trial.compared().diffs());
}

}  // namespace

TEST_CASE("two weights that changed places are found") {
  const Values first = some_values(3), second = some_values(5);
  CHECK(exchanged(second, first) == Tensors{{1, 4}});
  CHECK(exchanged(first, second).empty());
  CHECK(exchanged(second, second).empty());
  CHECK(exchanged(second, some_values(4)).empty());
}

}  // namespace msdump
