#include "divergence/explanation.h"

#include <cmath>
#include <map>
#include <set>

#include "divergence/dump_diff.h"
#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {
namespace {

// A chain of eight operators whose candidate rounds to about a hundredth; number `wrong` has another result, if any.
void rounding_chain(MadeNet& net, int wrong) {
  auto x = net.input("x");
  for (int i = 0; i < 8; ++i) {
    x = net.op("Neg", {x});
    if (!net.bad()) continue;
    Values& values = net[x];
    for (size_t k = 0; k < values.size(); ++k) {
      const double noise = std::sin(static_cast<double>(k * k) * (1.3 + i));
      values[k] *= static_cast<float>(1 + 2e-3 * noise + (i == wrong ? 1 : 0));
    }
  }
}

// By "OPERATOR:io": what explains the tensors that differ.
std::map<std::string, std::string> explained(const test::ComparedDumps& compared) {
  std::map<std::string, std::string> found;
  for (TensorId i{0}; i < compared.pairing().tensors.size(); ++i) {
    if (!is_difference(compared.diffs()[i].verdict)) continue;
    const TensorPair& pair = compared.pairing().tensors[i];
    const NameFacts& name = (*compared.b().tensors)[pair.b].name;
    const std::string op(compared.pairing().op_name(pair.op));
    found[op.substr(op.rfind('-') + 1) + ":" + std::string(name_of(name.io))] =
        std::string(name_of(compared.report().explained[i]));
  }
  return found;
}

std::set<std::string> values_of(const std::map<std::string, std::string>& all) {
  std::set<std::string> values;
  for (const auto& [key, value] : all) values.insert(value);
  return values;
}

TEST_CASE("differences without a root are noise") {
  const Trial trial([](MadeNet& net) { rounding_chain(net, -1); });
  REQUIRE(trial.roots().empty());
  const auto found = explained(trial.compared());
  CHECK_FALSE(found.empty());
  CHECK(values_of(found) == std::set<std::string>{"noise"});
}

TEST_CASE("what comes before a root is noise, what comes after it is downstream, and nothing explains the root") {
  const Trial trial([](MadeNet& net) { rounding_chain(net, 4); });
  REQUIRE(trial.roots() == Texts{"value Default/Neg-op4"});
  const auto found = explained(trial.compared());
  REQUIRE(found.count("op4:output") == 1);
  CHECK(found.at("op4:output").empty());
  CHECK(found.at("op4:input") == "noise");
  CHECK(found.at("op5:input") == "downstream");
  CHECK(found.at("op5:output") == "downstream");
  CHECK(found.at("op7:output") == "downstream");
}

TEST_CASE("what comes after one of two roots is downstream") {
  const Trial trial(two_roots);
  REQUIRE(trial.roots() == Texts{"value Default/Exp-op0", "value Default/Cos-op0"});
  const test::ComparedDumps& compared = trial.compared();
  Texts unexplained;
  for (TensorId i{0}; i < compared.pairing().tensors.size(); ++i) {
    if (is_difference(compared.diffs()[i].verdict) && compared.report().explained[i] != Explanation::kDownstream)
      unexplained.emplace_back(compared.pairing().op_name(compared.pairing().tensors[i].op));
  }
  CHECK(unexplained == Texts{"Default/Exp-op0", "Default/Cos-op0"});
}

TEST_CASE("what comes after a root is downstream past operators that were not dumped") {
  const Trial trial([](MadeNet& net) {
    auto x = net.op("Neg", {net.input("x")});
    x = net.op("Mul", {x, net.constant(2)});
    if (net.bad()) net[x] = Values(net[x].size(), 0.25F);
    for (int i = 0; i < 2; ++i) {
      x = net.op("Sub", {x, x});
      net.hide_output(x);
      net.hide_input(x, 0);
      net.hide_input(x, 1);
    }
    net[x] = some_values(net.bad() ? 3 : 1);
    net.op("ReLU", {x});
  });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.compared().report().roots[0].downstream == 3);
  const auto found = explained(trial.compared());
  REQUIRE(found.count("op0:input") == 1);
  CHECK(found.at("op0:input") == "downstream");
}

TEST_CASE("what a collective operation hands to the other ranks of its group is downstream") {
  const Trial trial(
      [](MadeNet& net) {
        const auto y = net.op("Exp", {net.input("x")});
        if (net.bad() && net.rank() == 1) net[y][4] += 1;
        const auto sum = net.op("AllReduce", {y});
        net.set_attributes(sum, net.rank() < 2 ? "rank_list: (0, 1)" : "rank_list: (2, 3)");
        if (net.bad()) net[sum][4] += 1;
        net.op("Neg", {sum});
      },
      {.ranks = 4});
  CHECK(trial.roots() == Texts{"value Default/Exp-op0", "value Default/AllReduce-op0"});
  const test::ComparedDumps& compared = trial.compared();
  CHECK(compared.report().roots.at(0).downstream == 8);
  CHECK(compared.report().roots.at(1).downstream == 6);
  Texts outputs;
  for (TensorId i{0}; i < compared.pairing().tensors.size(); ++i) {
    const TensorPair& pair = compared.pairing().tensors[i];
    const Io io = (*compared.b().tensors)[pair.b].name.io;
    if (compared.pairing().op_name(pair.op) == "Default/AllReduce-op0" && io == Io::kOutput)
      outputs.emplace_back(name_of(compared.report().explained[i]));
  }
  CHECK(outputs == Texts{"downstream", "downstream", "", ""});
}

TEST_CASE("what comes after a random draw is random past an operator that was not dumped") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.op("Neg", {net.input("x")});
    const auto drawn = net.op("Dropout", {x});
    net[drawn] = some_values(net.bad() ? 2 : 1);
    const auto hidden = net.op("Sub", {drawn, x});
    net.hide_output(hidden);
    net.hide_input(hidden, 0);
    net.hide_input(hidden, 1);
    net[hidden] = some_values(net.bad() ? 5 : 1);
    net.op("ReLU", {hidden});
  });
  CHECK(trial.roots().empty());
  for (const auto& [tensor, explanation] : explained(trial.compared())) {
    INFO(tensor);
    CHECK(explanation == "random");
  }
}

TEST_CASE("the error grows along the operators") {
  const Trial trial([](MadeNet& net) { rounding_chain(net, -1); });
  const ErrorGrowth& growth = trial.compared().report().growth;
  REQUIRE(growth.medians.size() == 8);
  CHECK(growth.medians.back() > growth.medians.front());
  CHECK(growth.noise > 1e-4);
  CHECK(growth.noise < 6e-3);
}

TEST_CASE("faults in one line of the script are one root with places") {
  const auto fan = [](MadeNet& net, int second) {
    const auto x = net.input("x");
    for (int i = 0; i < 8; ++i) {
      net.on_line(i == 2 ? 40 : i == second ? 40 : 50 + i);
      const auto y = net.op("Neg", {x});
      if (!net.bad()) continue;
      for (float& value : net[y]) value *= i == 2 || i == 6 ? 1.2F : 1 + 1e-4F;
    }
  };
  const Trial same([&](MadeNet&net) { fan(net, 6); }), others([&](MadeNet&net) { fan(net, -1); });
  REQUIRE(same.roots() == Texts{"value Default/Neg-op2"});
  const Divergence& root = same.compared().report().roots.front();
  REQUIRE(root.places.size() == 1);
  CHECK(same.compared().pairing().op_name(root.places.front().op) == "Default/Neg-op6");
  CHECK(root.downstream == 2);
  CHECK(others.roots() == Texts{"value Default/Neg-op2", "value Default/Neg-op6"});
}

TEST_CASE("an operator is named by its name, the end of it or a glob, and only if it is the only one") {
  const Trial trial([](MadeNet& net) { rounding_chain(net, -1); });
  const Pairing& pairing = trial.compared().pairing();
  const auto name_of_only = [&](std::string_view wanted) {
    const auto found = operators_named(pairing, wanted);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    return pairing.op_name(found->front());
  };
  CHECK(name_of_only("Default/Neg-op3") == "Default/Neg-op3");
  CHECK(name_of_only("Neg-op3") == "Default/Neg-op3");
  CHECK(name_of_only("*op3") == "Default/Neg-op3");
  CHECK(name_of_only("Default/*op3") == "Default/Neg-op3");
  const auto none = operators_named(pairing, "Neg-op33"), several = operators_named(pairing, "Neg*");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kUsage);
  CHECK(none.error().hint == "did you mean 'Neg-op3'?");
  REQUIRE_FALSE(several);
  CHECK(several.error().message == "'Neg*' names 8 operators");
  CHECK(several.error().hint == "name one: Default/Neg-op0, Default/Neg-op1, Default/Neg-op2, ...");
}

}  // namespace
}  // namespace msdump
