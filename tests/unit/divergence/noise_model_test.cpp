#include "divergence/model/noise_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "divergence/model/constants.h"
#include "support/catch.h"
#include "support/made_net.h"
#include "support/net_of_errors.h"

namespace msdump {
namespace {

// Operators of a type side by side, all of which read equal inputs.
Trial::Build side_by_side(const char* type, int count) {
  return [=](MadeNet& net) {
    const auto x = net.input("x");
    for (int i = 0; i < count; ++i) net.op(type, {x});
  };
}

}  // namespace

TEST_CASE("what one of many siblings has is its error, what all have is their arithmetic") {
  const auto set = [](NetOfErrors& net, double usual, double of_one) {
    for (int i = 0; i < 12; ++i) net.set_output(numbered("Exp", i), i == 5 ? of_one : usual * (1 + 0.05 * i));
  };
  NetOfErrors with_fault(side_by_side("Exp", 12)), without(side_by_side("Exp", 12));
  set(with_fault, 1e-6, 1e-3);
  set(without, 1e-3, 1e-3);
  const ScoredNet fault(with_fault), arithmetic(without);
  for (int i = 0; i < 12; ++i) {
    INFO(i);
    CHECK(fault.alarmed(numbered("Exp", i)) == (i == 5));
    CHECK_FALSE(arithmetic.alarmed(numbered("Exp", i)));
  }
  const ScoredOutput& one = fault["Default/Exp-op5"];
  CHECK(one.siblings.siblings == 11);
  CHECK(one.measured == Approx(1e-3));
  CHECK(one.propagated == 0);
  CHECK(one.exact_inputs);
  CHECK(one.expected < 1e-5);
  CHECK(one.score > 2 * fault.model.threshold());
}

TEST_CASE("an error that the inputs lead to is expected, one beyond it is not") {
  const Trial::Build build = [](MadeNet& net) { net.op("Mul", {net.op("Exp", {net.input("x")}), net.constant(2)}); };
  NetOfErrors net(build);
  net.set_output("Default/Exp-op0", 1e-2);
  net.set_output("Default/Mul-op0", 1.1e-2);
  {
    const ScoredNet scored(net);
    const ScoredOutput& output = scored["Default/Mul-op0"];
    CHECK(output.propagated == Approx(1e-2));
    CHECK(output.expected == Approx(1e-2).epsilon(0.01));
    CHECK(output.residual == Approx(std::log(1.1)).epsilon(0.05));
    CHECK_FALSE(output.exact_inputs);
    CHECK_FALSE(scored.alarmed("Default/Mul-op0"));
  }
  net.set_output("Default/Mul-op0", 0.25);
  CHECK(ScoredNet(net).alarmed("Default/Mul-op0"));
}

TEST_CASE("an input counts with the error that it was written with") {
  NetOfErrors net([](MadeNet& made) { made.op("Neg", {made.op("Exp", {made.input("x")})}); });
  net.set_output("Default/Exp-op0", 1e-4);
  net.set_input("Default/Neg-op0", 0, 1e-2);
  CHECK(ScoredNet(net)["Default/Neg-op0"].propagated == Approx(1e-4));
}

TEST_CASE("operators of which neither inputs nor outputs are known are looked through") {
  NetOfErrors net([](MadeNet& made) {
    const auto w = made.weight("w");
    const auto y = made.op("Exp", {made.input("x")});
    const auto z = made.op("Softmax", {y, w});
    const auto negative = made.op("Neg", {z, w});
    for (const auto hidden : {z, negative}) {
      made.hide_input(hidden, 0);
      made.hide_output(hidden);
    }
    made.hide_input(made.op("Mul", {negative, made.constant(2)}), 0);
  });
  net.set_output("Default/Exp-op0", 1e-3);
  net.set_output("Default/Mul-op0", 1e-3);
  const ScoredNet scored(net);
  const ExecutionId mul = scored.run("Default/Mul-op0");
  CHECK(scored["Default/Mul-op0"].judged());
  CHECK(scored["Default/Mul-op0"].propagated == Approx(1e-3));
  CHECK_FALSE(scored["Default/Mul-op0"].exact_inputs);
  CHECK(scored.model.within(mul) == std::vector{scored.run("Default/Softmax-op0"), scored.run("Default/Neg-op0"), mul});
  // Of the three the one that adds most noise.
  CHECK(scored.model.likeliest_within(mul) == scored.run("Default/Softmax-op0"));
  const ExecutionId exp = scored.run("Default/Exp-op0");
  CHECK(scored.model.within(exp) == std::vector{exp});
  CHECK(scored.model.likeliest_within(exp) == exp);
}

TEST_CASE("of the operators that an output stands for the first that adds most noise is the likeliest, else the last") {
  const auto likeliest = [](const char* first, const char* second) {
    const NetOfErrors net([=](MadeNet& made) {
      const auto w = made.weight("w");
      const auto y = made.op(first, {made.op("Exp", {made.input("x")}), w});
      const auto z = made.op(second, {y, w});
      for (const auto hidden : {y, z}) {
        made.hide_input(hidden, 0);
        made.hide_output(hidden);
      }
      made.hide_input(made.op("Mul", {z, made.constant(2)}), 0);
    });
    const ScoredNet scored(net);
    return std::string(scored.view.name(scored.model.likeliest_within(scored.run("Default/Mul-op0"))));
  };
  CHECK(likeliest("Softmax", "Tanh") == "Default/Softmax-op0");
  CHECK(likeliest("Neg", "Tanh") == "Default/Tanh-op0");
  CHECK(likeliest("Softmax", "Neg") == "Default/Softmax-op0");
  CHECK(likeliest("Sub", "Abs") == "Default/Mul-op0");  // each adds as much
}

TEST_CASE("inputs are exact only if all of them are known to be equal") {
  const auto exact = [](const std::function<void(MadeNet&, MadeNet::Tensor)>& change) {
    const NetOfErrors net([&](MadeNet& made) {
      change(made, made.op("Add", {made.input("x"), made.weight("w"), made.constant(2)}));
    });
    const ScoredNet scored(net);
    CHECK(scored["Default/Add-op0"].judged());
    return scored["Default/Add-op0"].exact_inputs;
  };
  CHECK(exact([](MadeNet&, auto) {}));
  CHECK(exact([](MadeNet& net, auto y) { net.hide_input(y, 2); }));  // a constant
  CHECK_FALSE(exact([](MadeNet& net, auto y) { net.hide_input(y, 1); }));
}

TEST_CASE("nothing is judged that draws or chooses, or of whose inputs too much or too little is known") {
  NetOfErrors net([](MadeNet& made) {
    const auto x = made.input("x");
    made.op("Dropout", {x});
    made.op("Sign", {x});
    made.op("Neg", {x});
    made.op("Exp", {x});
    made.hide_input(made.op("Tanh", {made.input("y")}), 0);
    made.op("Adam", {x});
  });
  for (const char* const type : {"Dropout", "Sign", "Neg", "Exp", "Tanh", "Adam"})
    net.set_output(numbered(type, 0), 0.9);
  net.set_input("Default/Neg-op0", 0, 1.1 * kMostError);
  net.set_input("Default/Exp-op0", 0, 0.9 * kMostError);
  const ScoredNet scored(net);
  // An optimizer moves a parameter as far for an element that is next to nothing as for a large one.
  for (const char* const type : {"Dropout", "Sign", "Neg", "Tanh", "Adam"}) {
    INFO(type);
    CHECK_FALSE(scored[numbered(type, 0)].judged());
  }
  CHECK(scored["Default/Exp-op0"].judged());
}

TEST_CASE("what is left of terms that cancel is not judged") {
  NetOfErrors net([](MadeNet& made) {
    const auto x = made.op("Exp", {made.input("x")});
    const auto difference = made.op("Sub", {x, made.op("Neg", {made.op("Tanh", {x})})});
    for (float& value : made[difference]) value *= 1e-6F;
    made.op("Abs", {difference});
  });
  net.set_output("Default/Exp-op0", 1e-5);
  net.set_output("Default/Tanh-op0", 1e-5);
  net.set_output("Default/Neg-op0", 1e-5);
  net.set_output("Default/Sub-op0", 2);
  const ScoredNet scored(net);
  CHECK(scored["Default/Sub-op0"].expected > kMostError);
  CHECK_FALSE(scored["Default/Sub-op0"].judged());
}

TEST_CASE("the threshold grows with the number of outputs, as for chance alone") {
  const auto threshold = [](int count) {
    NetOfErrors net(side_by_side("Exp", count));
    for (int i = 0; i < count; ++i) net.set_output(numbered("Exp", i), 1e-3);
    return ScoredNet(net).model.threshold();
  };
  // What a standard normal variable exceeds with a probability of 1e-3, 1e-4 and 1e-5.
  CHECK(threshold(1) == Approx(3.0902).epsilon(1e-3));
  CHECK(threshold(10) == Approx(3.7190).epsilon(1e-3));
  CHECK(threshold(100) == Approx(4.2649).epsilon(1e-3));
  // Where nothing went in and nothing came out there is nothing to take for an error.
  CHECK(ScoredNet(NetOfErrors(side_by_side("Exp", 3))).model.threshold() == 0);
}

TEST_CASE("a gradient is not a sibling of its forward operator, nor is another output") {
  NetOfErrors net([](MadeNet& made) {
    const auto x = made.input("x");
    for (int i = 0; i < 3; ++i) made.op("Mul", {x, x});
    for (int i = 0; i < 5; ++i) made.op("Mul", {x, x}, "Gradients/Default");
  });
  for (int i = 0; i < 3; ++i) net.set_output(numbered("Mul", i), 1e-6);
  for (int i = 0; i < 5; ++i) net.set_output("Gradients/" + numbered("Mul", i), 1e-5);
  const ScoredNet scored(net);
  CHECK(scored["Default/Mul-op0"].siblings.siblings == 2);
  CHECK(scored["Gradients/Default/Mul-op0"].siblings.siblings == 4);
}

TEST_CASE("an operator that runs in several steps is one of its own siblings in none of them") {
  NetOfErrors net([](MadeNet& made) { made.op("Neg", {made.op("Exp", {made.input("x")})}); }, {.steps = 4});
  net.set_output("Default/Exp-op0", 1e-3);
  net.set_output("Default/Neg-op0", 1e-3);
  CHECK(ScoredNet(net)["Default/Exp-op0"].siblings.siblings == 0);
}

TEST_CASE("the error of a few elements may be chance") {
  NetOfErrors net(side_by_side("Exp", 12));
  for (int i = 0; i < 12; ++i) net.set_output(numbered("Exp", i), 1e-6);
  net.set_elements("Default/Exp-op4", 2);
  net.set_output("Default/Exp-op4", 1e-5);
  net.set_output("Default/Exp-op5", 1e-5);
  const ScoredNet scored(net);
  CHECK(scored["Default/Exp-op4"].score < scored["Default/Exp-op5"].score);
  CHECK(scored["Default/Exp-op4"].score > 0);
}

TEST_CASE("statistics that agree by chance pass an error on, equal elements do not") {
  const auto propagated = [](bool statistics) {
    NetOfErrors net([](MadeNet& made) { made.op("Tanh", {made.op("Neg", {made.op("Exp", {made.input("x")})})}); });
    if (statistics) net.use_statistics();
    net.set_output("Default/Exp-op0", 1e-2);
    net.set_output("Default/Neg-op0", 0);
    net.set_output("Default/Tanh-op0", 1e-2);
    return ScoredNet(net)["Default/Tanh-op0"].propagated;
  };
  CHECK(propagated(false) == 0);
  CHECK(propagated(true) > 1e-3);
  CHECK(propagated(true) < 1e-2);
}

TEST_CASE("statistics show less than elements: the same excess has a lower score") {
  const auto score = [](bool statistics) {
    NetOfErrors net(side_by_side("Exp", 12));
    if (statistics) net.use_statistics();
    for (int i = 0; i < 12; ++i) net.set_output(numbered("Exp", i), i == 5 ? 1e-4 : 1e-6);
    return ScoredNet(net)["Default/Exp-op5"].score;
  };
  CHECK(score(true) > 0);
  CHECK(score(true) < score(false));
}

TEST_CASE("the format that a device stores values in shows in what enters") {
  const auto rounding = [](int off, double error) {
    NetOfErrors net([](MadeNet& made) {
      for (int i = 0; i < 6; ++i) made.op("Exp", {made.weight("w" + std::to_string(i))});
    });
    for (int i = 0; i < off; ++i) net.set_input(numbered("Exp", i), 0, error);
    return ScoredNet(net).model.storage_rounding();
  };
  CHECK(rounding(0, 0) == unit_roundoff(DType::kFloat32));
  CHECK(rounding(6, 2e-4) > 2e-4);
  CHECK(rounding(6, 2e-4) < 2e-3);
  CHECK(rounding(1, 2e-4) == unit_roundoff(DType::kFloat32));  // a parameter that differs
  CHECK(rounding(6, 0.5) == unit_roundoff(DType::kFloat32));   // no format is so coarse
}

TEST_CASE("rounding of terms that cancel shows in what is left, also of equal inputs") {
  NetOfErrors net([](MadeNet& made) {
    Values values = some_values();
    for (size_t i = 0; i < values.size(); ++i) values[i] = (i % 2 == 0 ? 1.0F : -1.0F) + 1e-3F;
    made.op("ReduceSum", {made.input("x", values)});
  });
  net.set_output("Default/ReduceSum-op0", 1e-5);
  const ScoredNet scored(net);
  const ScoredOutput& output = scored["Default/ReduceSum-op0"];
  CHECK(output.exact_inputs);
  CHECK(output.amplification > 10);
  CHECK(output.expected == Approx(output.noise * output.amplification));
}

TEST_CASE("how many gradients may flip does not depend on their unit") {
  const auto chance = [](float unit) {
    NetOfErrors net([=](MadeNet& made) {
      made.op("ReluGrad", {made.input("g", some_values(unit)), made.op("Exp", {made.input("x")})});
    });
    net.set_output("Default/Exp-op0", 1e-2);
    return ScoredNet(net)["Default/ReluGrad-op0"].chance;
  };
  CHECK(chance(1) > 0);
  CHECK(chance(100) == Approx(chance(1)));
}

TEST_CASE("an operator without siblings may have the noise that kinds of the pair have") {
  static constexpr const char* kTypes[] = {"Exp", "Tanh", "Sigmoid", "Erf"};
  const auto build = [](MadeNet& made) {
    const auto x = made.input("x");
    for (const char* const type : kTypes) {
      for (int i = 0; i < 3; ++i) made.op(type, {x});
    }
    made.op("Sin", {x});
  };
  const auto set = [](NetOfErrors& net, const std::vector<double>& errors) {
    for (size_t type = 0; type < errors.size(); ++type) {
      for (int i = 0; i < 3; ++i) net.set_output(numbered(kTypes[type], i), errors[type]);
    }
    net.set_output("Default/Sin-op0", 1e-4);
  };
  NetOfErrors of_one_noise(build), of_several(build);
  set(of_one_noise, {1e-6, 1e-6, 1e-6, 1e-6});
  set(of_several, {1e-7, 1e-6, 1e-5, 1e-4});
  const ScoredNet alike(of_one_noise), apart(of_several);
  CHECK(alike.alarmed("Default/Sin-op0"));
  CHECK_FALSE(apart.alarmed("Default/Sin-op0"));
  CHECK(alike["Default/Sin-op0"].noise_above < 5 * alike["Default/Sin-op0"].noise);
  CHECK(apart["Default/Sin-op0"].noise_above > 10 * apart["Default/Sin-op0"].noise);
  // Siblings say what their kind has.
  CHECK(apart["Default/Exp-op0"].noise_above < apart["Default/Sin-op0"].noise_above);
}

TEST_CASE("a GELU or convolution without siblings may have the error of another algorithm") {
  const auto alarmed = [](const char* type, int count) {
    NetOfErrors net([=](MadeNet& made) {
      const auto x = made.input("x");
      for (int i = 0; i < 12; ++i) made.op("Exp", {x});
      for (int i = 0; i < count; ++i) made.op(type, {x});
    });
    for (int i = 0; i < 12; ++i) net.set_output(numbered("Exp", i), 1e-6);
    for (int i = 0; i < count; ++i) net.set_output(numbered(type, i), i == 0 ? 4e-4 : 1e-6);
    return ScoredNet(net).alarmed(numbered(type, 0));
  };
  for (const char* const type : {"GeLU", "Conv2D"}) {
    INFO(type);
    CHECK_FALSE(alarmed(type, 1));
    CHECK(alarmed(type, 6));  // the others do not use it
  }
  CHECK(alarmed("Tanh", 1));
}

TEST_CASE("what an operator has is not a bound of the noise of others if it is exact, or one of few") {
  const auto noise = [](int count, double of_first) {
    NetOfErrors net(side_by_side("Exp", count));
    for (int i = 0; i < count; ++i) net.set_output(numbered("Exp", i), i == 0 ? of_first : 1e-4);
    return ScoredNet(net)[numbered("Exp", count - 1)].noise;
  };
  CHECK(noise(4, 0) > 3e-7);
  CHECK(noise(4, 1e-7) <= 1e-7);
  CHECK(noise(20, 1e-7) > 1e-5);
  CHECK(noise(20, 1e-4) > 1e-5);
}

TEST_CASE("statistics that agree after an error that they may hide show that an operator adds no noise") {
  NetOfErrors net([](MadeNet& made) {
    const auto x = made.input("x");
    for (int i = 0; i < 5; ++i) made.op("Tanh", {x});
    const auto y = made.op("Exp", {x});
    for (int i = 0; i < 5; ++i) made.op("Mul", {y, made.constant(2)});
  });
  net.use_statistics();
  for (int i = 0; i < 5; ++i) net.set_output(numbered("Tanh", i), 1e-2);
  net.set_output("Default/Exp-op0", 3e-6);
  CHECK(ScoredNet(net)["Default/Mul-op0"].noise < 1e-5);
}

TEST_CASE("values that are all the same say nothing about rounding") {
  NetOfErrors net([](MadeNet& made) {
    const auto x = made.input("x");
    for (int i = 0; i < 9; ++i) {
      const auto y = made.op("Exp", {x});
      if (i >= 3) made[y].assign(made[y].size(), 0);
    }
  });
  for (int i = 0; i < 3; ++i) net.set_output(numbered("Exp", i), 1e-4);
  CHECK(ScoredNet(net)["Default/Exp-op0"].noise > 1e-6);
}

TEST_CASE("a large error of a normalisation's gradient is one of several that are as large") {
  const auto beyond = [](const char* type, int count, bool statistics = false) {
    NetOfErrors net([=](MadeNet& made) {
      const auto x = made.input("x");
      for (int i = 0; i < 12; ++i) made.op("LayerNorm", {x});
      for (int i = 0; i < count; ++i) made.op(type, {x, x}, "Gradients/Default");
    });
    if (statistics) net.use_statistics();
    for (int i = 0; i < 12; ++i) net.set_output(numbered("LayerNorm", i), 0.05);
    for (int i = 0; i < count; ++i) net.set_output("Gradients/" + numbered(type, i), 0.05);
    return ScoredNet(net)["Gradients/" + numbered(type, 0)].beyond_arithmetic;
  };
  CHECK_FALSE(beyond("LayerNormGrad", 12));
  CHECK(beyond("LayerNormGrad", 3));
  CHECK(beyond("Mul", 12));
  CHECK_FALSE(beyond("Mul", 12, true));  // a few statistics exaggerate
}

TEST_CASE("a single rounding of the result is not a fault, however small the others' errors are") {
  NetOfErrors net(side_by_side("Exp", 12), {.half_candidate = true});
  for (int i = 0; i < 12; ++i) {
    net.set_input(numbered("Exp", i), 0, 0);
    net.set_output(numbered("Exp", i), i == 5 ? 4.8e-4 : i == 6 ? 5e-3 : 1e-5);
  }
  const ScoredNet scored(net);
  REQUIRE(scored.model.storage_rounding() < 1e-6);
  CHECK(scored["Default/Exp-op5"].residual > 1);
  CHECK(scored["Default/Exp-op5"].score == 0);
  CHECK(scored["Default/Exp-op6"].score > 2);
}

TEST_CASE("the usual noise is what most operators add, whatever others have") {
  const auto usual = [](double of_exp, double of_tanh) {
    NetOfErrors net([](MadeNet& made) {
      const auto x = made.input("x");
      for (int i = 0; i < 9; ++i) made.op("Exp", {x});
      for (int i = 0; i < 4; ++i) made.op("Tanh", {x});
    });
    for (int i = 0; i < 9; ++i) net.set_output(numbered("Exp", i), of_exp);
    for (int i = 0; i < 4; ++i) net.set_output(numbered("Tanh", i), of_tanh);
    return ScoredNet(net).model.usual_noise();
  };
  CHECK(usual(1e-6, 1e-6) > 1e-7);
  CHECK(usual(1e-6, 1e-3) < 2e-6);
  CHECK(usual(1e-3, 1e-6) > 1e-5);
}

}  // namespace msdump
