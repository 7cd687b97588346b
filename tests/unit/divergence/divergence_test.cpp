// What is a root, of which kind, with which words: dumps with an IR.
#include "divergence/divergence.h"

#include <cmath>

#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {
TEST_CASE("equal dumps have no root") {
  const Trial trial([](MadeNet& net) { made_chain(net); });
  CHECK(trial.roots().empty());
  CHECK(trial.compared().count(Verdict::kSame) == trial.compared().diffs().size());
  CHECK(trial.compared().report().flow == FlowKind::kIr);
}

TEST_CASE("value: inputs agree and outputs do not") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Mul", {x, net.constant(2)});
    if (net.bad()) net[y][5] += 0.25F;
    net.op("ReLU", {y});
  });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().rule == RootRule::kEqualInputs);
  CHECK(trial.root().reason == "its inputs are equal bit for bit, its outputs differ");
  CHECK_FALSE(trial.root().amplification);
  CHECK(trial.root().inputs.size() == 2);
  CHECK(trial.root().outputs.size() == 1);
}

TEST_CASE("what a root explains are the tensors that differ downstream of it, its own among them") {
  const Trial trial([](MadeNet& net) { made_chain(net, net.bad() ? 3.0F : 2.0F); });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().downstream == trial.compared().count(Verdict::kDiffer));
  CHECK(trial.root().downstream == 6);
}

TEST_CASE("value: a constant differs, and is named with both values") {
  const Trial trial([](MadeNet& net) { made_chain(net, net.bad() ? 1.5F : 2.0F); });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().reason == "its input 1 is 1.5, 2 in the reference");
  CHECK(decided_by(trial.root().rule) == DecidedBy::kAsked);
}

TEST_CASE("a constant that changes nothing is not a root") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Add", {net.input("x"), net.constant(1)});
    if (net.bad()) net.show_input(y, 1, {7});
  });
  CHECK(trial.roots().empty());
}

TEST_CASE("value: equal inputs, and outputs within the tolerance but beyond rounding") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) {
      for (float& value : net[y]) value *= 1.0004F;
    }
    net.op("ReLU", {y});
  });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.compared().verdict("Default/Mul-op0", "output:0") == Verdict::kClose);
  CHECK(trial.root().downstream == 0);  // nothing is beyond the tolerance
}

TEST_CASE("rounding of equal inputs is not a root") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) {
      for (float& value : net[y]) value *= 1.0000002F;
    }
  });
  CHECK(trial.roots().empty());
}

TEST_CASE("value: an input differs although what wrote it agrees") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    auto changed = net[y];
    const auto z = net.op("ReLU", {y});
    if (net.bad()) {
      for (float& value : changed) value *= 1.5F;
      net.show_input(z, 0, changed);
      for (float& value : net[z]) value *= 1.5F;
    }
  });
  REQUIRE(trial.roots() == Texts{"value Default/ReLU-op0"});
  CHECK(decided_by(trial.root().rule) == DecidedBy::kHandedOn);
  CHECK(trial.root().reason == "its input 0 is not what Default/Mul-op0 wrote");
}

TEST_CASE("a gradient is cut if the candidate lacks its operators") {
  enum class Fault : uint8_t { kCut, kZero };
  const auto cut = [](Fault fault) {
    const Trial trial([=](MadeNet& net) {
      const auto gradient = net.op("Sub", {net.input("x"), net.constant(0.5F)}, "Gradients/Default/Grad_Loss");
      const bool whole = !net.bad();
      if (fault == Fault::kCut) {  // one of two addends is missing, with the sum
        const auto part = whole ? net.op("Mul", {gradient, net.constant(3)}, "Gradients/Default/Grad_Mul") : gradient;
        net.op("Neg", {whole ? net.op("Add", {gradient, part}, "Gradients/Default") : gradient});
      } else {
        const auto zero = net.op("Sub", {gradient, gradient}, "Default");
        net.op("Neg", {whole ? net.op("Mul", {gradient, net.constant(3)}, "Gradients/Default/Grad_Mul") : zero});
      }
    });
    REQUIRE(trial.roots().size() == 1);
    return trial.root().cut ? trial.root().cut->operators.size() : 0;
  };
  CHECK(cut(Fault::kCut) == 2);
  CHECK(cut(Fault::kZero) == 1);
}

TEST_CASE("nan: an operator that makes it of finite inputs") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    auto positive = net[x];
    for (float& value : positive) value = std::abs(value);
    const auto y = net.op("Sub", {net.input("y", positive), net.constant(net.bad() ? 0.5F : 0.0F)});
    net.op("Neg", {net.op("Log", {y})});
  });
  // The logarithm of what is below 0 follows from the constant.
  CHECK(trial.roots() == Texts{"value Default/Sub-op0"});
}

TEST_CASE("nan: what a root makes of agreeing inputs is of that kind, and what reads it is not a root") {
  const Trial trial([](MadeNet& net) {
    const MadeChain made = made_chain(net);
    if (net.bad()) net[made.product][3] = NAN;
    net.op("Neg", {net.op("Add", {made.product, made.w})});
  });
  REQUIRE(trial.roots() == Texts{"nan Default/Mul-op0"});
}

TEST_CASE("nan: made of an infinity downstream of a root that makes infinities it is not a root") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Mul", {x, net.constant(2)});
    if (net.bad()) net[y][3] = INFINITY;
    net.op("Sub", {y, y});  // inf - inf
  });
  CHECK(trial.roots() == Texts{"nan Default/Mul-op0"});
}

TEST_CASE("shape: another shape comes out of what agrees") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) net[y].resize(8);
    net.op("ReLU", {y});
  });
  CHECK(trial.roots() == Texts{"shape Default/Mul-op0"});
}

TEST_CASE("missing: only the reference has an operator, and what reads its result differs") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    auto y = net.op("Mul", {x, net.constant(2)});
    if (!net.bad()) y = net.op("Add", {y, net.weight("w")});
    net.op("Neg", {net.op("ReLU", {y})});
  });
  REQUIRE(trial.roots() == Texts{"missing Default/Add-op0"});
  CHECK(decided_by(trial.root().rule) == DecidedBy::kAsked);
  CHECK(trial.compared().partner_of("Default/ReLU-op0") == "Default/ReLU-op0");
}

TEST_CASE("value: only the candidate has an operator, and what reads its result differs") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) y = net.op("Exp", {net.op("Neg", {y})});
    net.op("Neg", {net.op("ReLU", {y})});
  });
  REQUIRE(trial.roots().size() == 1);
  CHECK(trial.roots().front() == "value Default/Neg-op0");
  CHECK(trial.root().reason.find("only the candidate has it") == 0);
}

TEST_CASE("a block that was replaced: what it gives is read by the same operator") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    y = net.bad() ? net.op("Tanh", {net.op("Sub", {y, net.weight("w")})}) : net.op("Exp", {net.op("Div", {y, y})});
    net.op("Neg", {net.op("ReLU", {y})});
  });
  REQUIRE(trial.roots().size() == 1);
  CHECK(trial.roots().front() == "value Default/Sub-op0");
}

TEST_CASE("parameter: a weight differs where it is first read, no operator is guilty") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto w = net.weight("w", some_values(net.bad() ? 0.6F : 0.5F));
    const auto y = net.op("Add", {net.op("Mul", {x, w}), w});
    net.op("ReLU", {y});
  });
  REQUIRE(trial.roots() == Texts{"parameter w"});
  CHECK(trial.compared().pairing().b[trial.compared().pairing().operators[trial.root().op].b].name ==
        "Default/Mul-op0");
  CHECK(trial.root().outputs.empty());
  CHECK_FALSE(trial.root().amplification);  // of no output
  CHECK(trial.root().inputs.size() == 1);
}

TEST_CASE("input: what enters the graph differs, no operator is guilty") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x", some_values(net.bad() ? 1.5F : 1.0F));
    net.op("ReLU", {net.op("Mul", {x, net.constant(2)})});
  });
  CHECK(trial.roots() == Texts{"input x"});
}

TEST_CASE("a parameter in a step after one that diverged is not a root") {
  const Trial trial(
      [](MadeNet& net) {
        // The wrong factor of step 0 has changed the weight of step 1.
        const auto x = net.input("x");
        const auto w = net.weight("w", some_values(net.bad() && net.step() == 1 ? 0.6F : 0.5F));
        net.op("Add", {net.op("Mul", {x, net.constant(net.bad() ? 3.0F : 2.0F)}), w});
      },
      {.steps = 2});
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().place.step == 0);
}

TEST_CASE("what enters the network is judged in every step, a weight in the first alone") {
  const auto roots = [](bool of_input) {
    const Trial trial(
        [=](MadeNet& net) {
          const float scale = net.bad() && net.step() == 1 ? 1.5F : 1.0F;
          const auto x = net.input("x", some_values(of_input ? scale : 1)),
                     w = net.weight("w", some_values(of_input ? 1 : scale));
          net.op("ReLU", {net.op("Mul", {x, w})});
        },
        {.steps = 3});
    if (of_input) CHECK(trial.root().place.step == 1);
    return trial.roots();
  };
  CHECK(roots(true) == Texts{"input x"});
  CHECK(roots(false) == Texts{});
}

TEST_CASE("a constant that float16 holds with few digits is not wrong") {
  const auto roots = [](float constant) {
    const Trial trial(
        [=](MadeNet& net) {
          const auto y = net.op("Add", {net.input("x"), net.constant(constant)});
          if (net.bad()) net[y][3] *= 1.0004F;
        },
        {.half_candidate = true});
    return trial.roots();
  };
  CHECK(roots(1.3e-7F) == Texts{});
}

TEST_CASE("an operator is reported once, for the first step that it diverges in") {
  const Trial trial(
      [](MadeNet& net) {
        const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
        if (net.bad() && net.step() > 0) net[y][5] += 0.25F;
        net.op("ReLU", {y});
      },
      {.steps = 3});
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().place.step == 1);
}

TEST_CASE("two branches with a fault each have two roots") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto left = net.op("Mul", {x, net.constant(2)});
    const auto right = net.op("Exp", {x});
    if (net.bad()) {
      net[left][1] += 0.5F;
      net[right][2] += 0.5F;
    }
    net.op("Add", {left, right});
  });
  CHECK(trial.roots() == Texts{"value Default/Mul-op0", "value Default/Exp-op0"});
}

}  // namespace msdump
