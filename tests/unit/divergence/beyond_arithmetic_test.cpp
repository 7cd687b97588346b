// Errors that no arithmetic leads to, and masked values, whose error says nothing about the others.
#include <cmath>

#include "divergence/model/constants.h"
#include "support/catch.h"
#include "support/made_calls.h"
#include "support/net_of_errors.h"

namespace msdump {
namespace {

// Is the error of a run, the sum of whose inputs has this one, beyond arithmetic?
bool beyond(const char* type, double of_inputs, double error, bool statistics = false) {
  NetOfErrors net([&](MadeNet& made) {
    made.op(type, {made.op("Exp", {made.input("x")}), made.op("Tanh", {made.input("y")})});
  });
  if (statistics) net.use_statistics();
  net.set_output("Default/Exp-op0", 0.75 * of_inputs);
  net.set_output("Default/Tanh-op0", 0.25 * of_inputs);
  net.set_output(numbered(type, 0), error);
  return ScoredNet(net)[numbered(type, 0)].beyond_arithmetic;
}

}  // namespace

TEST_CASE("no operator has three times what its inputs add up to, one that is not known not thirty times") {
  CHECK_FALSE(beyond("Mul", 0, 0.0039));
  CHECK(beyond("Mul", 0, 0.0041));
  CHECK_FALSE(beyond("MyOwnKernel", 0, 0.0039));
  CHECK(beyond("MyOwnKernel", 0, 0.0041));
  const double known = std::hypot(0.03, kMostNoise), unknown = std::hypot(0.3, kMostNoise);
  CHECK_FALSE(beyond("Mul", 0.01, 0.99 * known));
  CHECK(beyond("Mul", 0.01, 1.01 * known));
  CHECK_FALSE(beyond("MyOwnKernel", 0.01, 0.99 * unknown));
  CHECK(beyond("MyOwnKernel", 0.01, 1.01 * unknown));
}

TEST_CASE("statistics exaggerate: of an operator that is known three times as much as of one that is not") {
  const double known = 9 * std::hypot(0.006, kMostNoise), unknown = 3 * std::hypot(0.06, kMostNoise);
  CHECK_FALSE(beyond("Mul", 0.002, 0.99 * known, true));
  CHECK(beyond("Mul", 0.002, 1.01 * known, true));
  CHECK_FALSE(beyond("MyOwnKernel", 0.002, 0.99 * unknown, true));
  CHECK(beyond("MyOwnKernel", 0.002, 1.01 * unknown, true));
}

TEST_CASE("a norm or a mean exaggerates nothing, unless the input may hide more, or few elements cancel") {
  struct Run {
    double error;
    int64_t elements = 4096;
    const char* before = "Exp";
    const char* scope = "Default";
  };
  const auto beyond_certain = [](const Run& of) {
    NetOfErrors net([&](MadeNet& made) {
      const auto x = made.op(of.before, {made.input("x")}, of.scope);
      made.op("Mul", {x, made.op("Tanh", {made.input("y")}, of.scope)}, of.scope);
    });
    net.use_statistics();
    const std::string scope = of.scope;
    net.set_output(scope + "/" + of.before + "-op0", 0.75 * 0.002);
    net.set_output(scope + "/Tanh-op0", 0.25 * 0.002);
    net.set_certain(scope + "/Mul-op0", of.error, of.elements);
    return ScoredNet(net)[scope + "/Mul-op0"].beyond_arithmetic;
  };
  const double most = std::hypot(0.006, kMostNoise);
  CHECK_FALSE(beyond_certain({0.99 * most}));
  CHECK(beyond_certain({1.01 * most}));
  CHECK(beyond_certain({1.01 * most, 16}));
  CHECK_FALSE(beyond_certain({1.01 * most, 15}));
  CHECK_FALSE(beyond_certain({1.01 * most, 4096, "LayerNorm"}));
  CHECK_FALSE(beyond_certain({1.01 * most, 4096, "Exp", "Gradients/Default"}));
}

TEST_CASE("a module is beyond arithmetic only where no call inside it was dumped") {
  const std::string module = "Module.net.MyBlock.forward.0";
  const auto beyond_in_module = [&](const char* inside, const char* elsewhere) {
    const CallTrial trial([&](MadeCalls& calls) {
      const Values x = some_values(), y = some_values(2), z = some_values(3);
      Values wrong = z;
      if (calls.bad()) wrong[3] += 0.5F;
      if (*inside != '\0') calls.ran(inside, {x}, {y}, module);
      calls.ran(module, {x}, {wrong});
      if (*elsewhere != '\0') calls.ran(elsewhere, {x}, {y});
    });
    const RunView view = view_of(trial.compared());
    const NoiseModel model(view);
    for (const ScoredOutput& output : model.outputs()) {
      if (view.name(output.run) == module) return output.beyond_arithmetic;
    }
    FAIL("no module");
    return false;
  };
  CHECK(beyond_in_module("", ""));
  CHECK_FALSE(beyond_in_module("Functional.tanh.0.forward", ""));
  CHECK(beyond_in_module("", "Functional.tanh.0.forward"));
  CHECK(beyond_in_module("Module.net.fc.Linear.forward.0", ""));  // modules repeat nothing where no calls were dumped
}

TEST_CASE(
    "what all operators of a kind have is judged however large it is, where neither inputs nor rounding explain it") {
  const auto judged = [](double of_inputs, double error) {
    constexpr int kCount = 12;
    NetOfErrors net([](MadeNet& made) {
      for (int i = 0; i < kCount; ++i) {
        const std::string number = std::to_string(i);
        made.op("Mul", {made.op("Exp", {made.input("x" + number)}), made.op("Tanh", {made.input("y" + number)})});
      }
    });
    for (int i = 0; i < kCount; ++i) {
      net.set_output(numbered("Exp", i), of_inputs);
      net.set_output(numbered("Tanh", i), of_inputs);
      net.set_output(numbered("Mul", i), error);
    }
    const ScoredNet scored(net);
    CHECK(scored[numbered("Mul", 0)].expected > kMostError);
    return scored[numbered("Mul", 0)].judged();
  };
  CHECK(judged(0, 1));
  CHECK_FALSE(judged(0.25, 3));
  CHECK_FALSE(judged(0.12, 0.5));
}

}  // namespace msdump
