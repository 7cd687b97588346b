#include "compare/divergence.h"

#include <cmath>

#include "made_net.h"
#include "support/catch.h"

namespace msdump {
namespace {

// relu(2 x + w), of which most tests change something.
struct Chain {
  MadeNet::Tensor x, w, product, sum, relu;
};
Chain chain(MadeNet& net, float factor = 2) {
  Chain made{};
  made.x = net.input("x");
  made.w = net.weight("w");
  made.product = net.op("Mul", {made.x, net.constant(factor)});
  made.sum = net.op("Add", {made.product, made.w});
  made.relu = net.op("ReLU", {made.sum});
  return made;
}

}  // namespace

TEST_CASE("equal dumps have no root") {
  const Trial trial([](MadeNet& net) { chain(net); });
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
  CHECK(trial.root().confidence == Approx(0.95));
  CHECK(trial.root().reason == "its inputs are equal bit for bit, its outputs differ");
  CHECK_FALSE(trial.root().amplification);
  CHECK(trial.root().inputs.size() == 2);
  CHECK(trial.root().outputs.size() == 1);
}

TEST_CASE("what a root explains are the tensors that differ behind it, its own among them") {
  const Trial trial([](MadeNet& net) { chain(net, net.bad() ? 3.0F : 2.0F); });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().downstream == trial.compared().count(Verdict::kDiffer));
  CHECK(trial.root().downstream == 6);
}

TEST_CASE("value: a constant differs, and is named with both values") {
  const Trial trial([](MadeNet& net) { chain(net, net.bad() ? 1.5F : 2.0F); });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().reason == "its constant input 1 differs: 1.5 against 2");
}

TEST_CASE("a constant that changes nothing is no root") {
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
  CHECK(trial.root().confidence == Approx(0.6));
  CHECK(trial.compared().report().suspicious == trial.root().outputs);
  CHECK(trial.root().downstream == 1);  // the output that is told of for its sake
}

TEST_CASE("rounding of equal inputs is no root") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) {
      for (float& value : net[y]) value *= 1.000002F;
    }
  });
  CHECK(trial.roots().empty());
  CHECK(trial.compared().report().suspicious.empty());
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
  CHECK(trial.root().reason.find("although Default/Mul-op0, which wrote it, agrees") != std::string::npos);
  CHECK(trial.root().confidence == Approx(0.7));
}

TEST_CASE("nan: an operator that makes it of finite inputs") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    auto positive = net[x];
    for (float& value : positive) value = std::abs(value);
    const auto y = net.op("Sub", {net.input("y", positive), net.constant(net.bad() ? 0.5F : 0.0F)});
    net.op("Neg", {net.op("Log", {y})});
  });
  // The constant is wrong, and the logarithm of what is below 0 has a flow of its own.
  CHECK(trial.roots() == Texts{"value Default/Sub-op0", "nan Default/Log-op0"});
}

TEST_CASE("nan: what a root makes of agreeing inputs is of that kind, and what reads it is no root") {
  const Trial trial([](MadeNet& net) {
    const Chain made = chain(net);
    if (net.bad()) net[made.product][3] = NAN;
    net.op("Neg", {net.op("Add", {made.product, made.w})});
  });
  REQUIRE(trial.roots() == Texts{"nan Default/Mul-op0"});
}

TEST_CASE("nan: made of an infinity behind a root that makes infinities it is no root") {
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
  CHECK(trial.root().confidence == Approx(0.7));
  CHECK(trial.compared().partner_of("Default/ReLU-op0") == "Default/ReLU-op0");
}

TEST_CASE("value: only the candidate has an operator, and what reads its result differs") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) y = net.op("Exp", {net.op("Neg", {y})});
    net.op("Neg", {net.op("ReLU", {y})});
  });
  REQUIRE(trial.roots().size() == 1);
  CHECK(trial.roots().front() == "value Default/Exp-op0");
  CHECK(trial.root().reason.find("only the candidate has it") == 0);
}

TEST_CASE("a block that was replaced: what it gives is read by the same operator") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    y = net.bad() ? net.op("Tanh", {net.op("Sub", {y, net.weight("w")})}) : net.op("Exp", {net.op("Div", {y, y})});
    net.op("Neg", {net.op("ReLU", {y})});
  });
  REQUIRE(trial.roots().size() == 1);
  CHECK((trial.roots().front() == "value Default/Tanh-op0" || trial.roots().front() == "missing Default/Exp-op0"));
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
  CHECK(trial.root().inputs.size() == 1);
}

TEST_CASE("input: what enters the graph differs, no operator is guilty") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x", some_values(net.bad() ? 1.5F : 1.0F));
    net.op("ReLU", {net.op("Mul", {x, net.constant(2)})});
  });
  CHECK(trial.roots() == Texts{"input x"});
}

TEST_CASE("a parameter in a step behind one that diverged is no root") {
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

TEST_CASE("an operator is told once, for the first step that it diverges in") {
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

TEST_CASE("an input that is updated in place shows the result, and is no parameter that differs") {
  const Trial trial([](MadeNet& net) {
    const auto w = net.weight("w");
    const auto gradient = net.op("Mul", {net.input("x"), net.constant(net.bad() ? 0.2F : 0.1F)});
    const auto updated = net.op("AssignAdd", {w, gradient});
    net.show_input(updated, 0, net[updated]);
  });
  CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
}

TEST_CASE("an operator that updates in place is a root when its other inputs agree") {
  const Trial trial([](MadeNet& net) {
    const auto w = net.weight("w");
    const auto gradient = net.op("Mul", {net.input("x"), net.constant(0.1F)});
    const auto updated = net.op("AssignAdd", {w, gradient});
    if (net.bad()) {
      for (float& value : net[updated]) value *= 1.5F;
    }
    net.show_input(updated, 0, net[updated]);
  });
  CHECK(trial.roots() == Texts{"value Default/AssignAdd-op0"});
}

TEST_CASE("an output that nothing reads beside one that is read may never have been written") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("BatchNorm", {net.input("x")});
    net.add_output(y, some_values(net.bad() ? 1e6F : 1.0F));
    net.op("ReLU", {y});
  });
  CHECK(trial.roots().empty());
  CHECK(trial.compared().report().unwritten.size() == 1);
}

TEST_CASE("noise that terms that cancel leave is no root") {
  const Trial trial([](MadeNet& net) {
    // A gradient that is 0 in exact arithmetic: the sum of what is orthogonal to 1, in another order.
    auto values = some_values();
    float sum = 0;
    for (size_t i = 0; i + 1 < values.size(); ++i) sum += values[i];
    values.back() = -sum;
    const auto y = net.op("ReduceSum", {net.input("x", values)});
    net[y] = {net.bad() ? 3e-7F : -1e-7F};
    net.op("Neg", {y});
  });
  CHECK(trial.roots().empty());
  CHECK(trial.compared().verdict("Default/ReduceSum-op0", "output:0") == Verdict::kDiffer);
  CHECK(trial.compared().report().noise.size() == 2);  // and what reads it
}

TEST_CASE("an error that only grows is no root, one that grows more than thirty times is") {
  const auto grown = [](float factor) {
    return [=](MadeNet& net) {
      // What enters is close.
      auto values = some_values();
      if (net.bad()) {
        for (float& value : values) value *= 1.0005F;
      }
      const auto y = net.op("Exp", {net.input("x", values)});
      net[y] = some_values();
      if (net.bad()) {
        for (float& value : net[y]) value *= 1 + 0.0005F * factor;
      }
    };
  };
  const Trial ordinary(grown(20));
  CHECK(ordinary.compared().verdict("Default/Exp-op0", "input:0") == Verdict::kClose);
  CHECK(ordinary.compared().verdict("Default/Exp-op0", "output:0") == Verdict::kDiffer);
  CHECK(ordinary.roots().empty());
  const Trial large(grown(60));
  REQUIRE(large.roots() == Texts{"value Default/Exp-op0"});
  CHECK(large.root().reason == "its inputs agree, its outputs differ");
  CHECK(large.root().amplification.value() == Approx(60).epsilon(0.01));
}

TEST_CASE("an error that grows behind an operator that is suspicious is told of there alone") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Exp", {net.input("x")});
    if (net.bad()) {
      for (float& value : net[y]) value *= 1.0004F;
    }
    y = net.op("Tanh", {y});
    if (net.bad()) net[y][5] += 0.004F;
    net.op("ReLU", {y});
  });
  CHECK(trial.roots() == Texts{"value Default/Exp-op0"});
}

TEST_CASE("a difference that sinks below the tolerance and comes up again is one root") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Mul", {x, net.constant(net.bad() ? 2.5F : 2.0F)});
    const auto low = net.op("Tanh", {y});
    net[low] = some_values();
    if (net.bad()) net[low][3] += 1e-4F;
    const auto high = net.op("Exp", {low});
    net[high] = some_values(3);
    if (net.bad()) {
      for (float& value : net[high]) value += 0.5F;
    }
  });
  CHECK(trial.compared().verdict("Default/Tanh-op0", "output:0") == Verdict::kClose);
  CHECK(trial.compared().verdict("Default/Exp-op0", "output:0") == Verdict::kDiffer);
  CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
}

TEST_CASE("an operator behind a root is one itself when its inputs are equal bit for bit") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(net.bad() ? -2.5F : -2.0F)});
    const auto sign = net.op("Sign", {y});  // gets rid of the difference
    const auto z = net.op("Exp", {sign});
    if (net.bad()) net[z][2] += 1;
  });
  CHECK(trial.roots() == Texts{"value Default/Mul-op0", "value Default/Exp-op0"});
}

TEST_CASE("an operator that jumps is judged with equal inputs only") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Exp", {x});
    if (net.bad()) net[y][5] += 1e-6F;  // rounding
    const auto sign = net.op("Sign", {y});
    if (net.bad()) net[sign][5] *= -1;
  });
  CHECK(trial.compared().verdict("Default/Sign-op0", "output:0") == Verdict::kDiffer);
  CHECK(trial.roots().empty());
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

TEST_CASE("a file that was deleted is bridged: what its operator wrote is what another one read") {
  const Trial trial([](MadeNet& net) {
    const Chain made = chain(net, net.bad() ? 2.5F : 2.0F);
    if (net.bad()) net.hide_output(made.product);
    net.op("Neg", {made.relu});
  });
  CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
}

TEST_CASE("for an output that was not dumped the input stands that it became") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) net[y][5] += 0.25F;
    net.hide_output(y);
    net.op("ReLU", {y});
  });
  CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
}

TEST_CASE("an output that differs although all who read it got what they should is no root") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    const auto right = net[y];
    const auto z = net.op("ReLU", {y});
    if (net.bad()) {
      net[y][5] += 9;  // written over before it was dumped
      net.show_input(z, 0, right);
    }
  });
  CHECK(trial.compared().verdict("Default/Mul-op0", "output:0") == Verdict::kDiffer);
  CHECK(trial.roots().empty());
}

TEST_CASE("an input whose file was deleted is judged by what wrote it") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Exp", {net.input("x")});
    const auto z = net.op("Mul", {y, net.constant(2)});
    if (net.bad()) {
      net.hide_input(z, 0);
      net[z][5] += 0.25F;
    }
  });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().confidence == Approx(0.7));
}

TEST_CASE("an input that a reshape for free has brought into another shape is compared") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Exp", {net.input("x")});
    const auto z = net.op("Mul", {y, net.constant(2)});
    if (net.bad()) net.shape_input(z, 0, {4, 4});
  });
  CHECK(trial.compared().verdict("Default/Mul-op0", "input:0") == Verdict::kSame);
  CHECK(trial.roots().empty());
}

TEST_CASE("of a collective operation the ranks whose own inputs agree are no roots") {
  const Trial trial(
      [](MadeNet& net) {
        const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
        if (net.bad() && net.rank() == 1) net[y][5] += 0.25F;
        const auto all = net.op("AllReduce", {y});
        if (net.bad()) net[all][5] += net.rank() == 1 ? 0.0F : 0.25F;
        net.op("ReLU", {all});
      },
      {.ranks = 2});
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0"});
  CHECK(trial.root().place.rank == 1);
}

TEST_CASE("a whole side in float16 has no root, and a fault in it has one") {
  const Trial::Build build = [](MadeNet& net) {
    auto y = net.op("Exp", {net.input("x")});
    for (int i = 0; i < 12; ++i)
      y = net.op("Add", {net.op("Mul", {y, net.constant(1.25F)}), net.weight("w" + std::to_string(i))});
    net.op("ReLU", {y});
  };
  const Trial healthy(build, {.half_candidate = true});
  CHECK(healthy.roots().empty());
  CHECK(healthy.compared().count(Verdict::kClose) > 10);
  CHECK(healthy.compared().count(Verdict::kDiffer) == 0);
  const Trial faulty(
      [&](MadeNet& net) {
        const auto x = net.input("x");
        const auto y = net.op("Exp", {x});
        if (net.bad()) net[y][5] += 0.25F;
        net.op("ReLU", {net.op("Mul", {y, net.constant(2)})});
      },
      {.half_candidate = true});
  CHECK(faulty.roots() == Texts{"value Default/Exp-op0"});
}

TEST_CASE("one cast to float16 is named, within the tolerance; casts throughout are no fault") {
  const auto cast = [](int casts) {
    return [=](MadeNet& net) {
      auto y = net.input("x");
      for (int i = 0; i < 12; ++i) {
        y = net.op("Mul", {y, net.weight("w" + std::to_string(i))});
        if (net.bad() && i % 6 == 5 && (casts > 1 || i == 5)) net.narrow_input(y, 0);
        if (net.bad() && casts > 1) net.narrow_input(y, 1);
      }
    };
  };
  const Trial one(cast(1));
  REQUIRE(one.roots() == Texts{"value Default/Mul-op5"});
  CHECK(one.root().reason == "it reads float16 where the reference has float32");
  CHECK(one.root().confidence == Approx(0.6));
  CHECK(one.compared().count(Verdict::kDiffer) == 0);
  CHECK(Trial(cast(12)).roots().empty());
}

TEST_CASE("without an IR edges are found by values, with less confidence") {
  const Trial trial(
      [](MadeNet& net) {
        const Chain made = chain(net);
        auto shown = net[made.product];
        if (net.bad()) {
          net[made.sum][5] += 0.25F;
          net[made.relu] = net[made.sum];
        }
      },
      {.ir = false});
  CHECK(trial.compared().report().flow == FlowKind::kValues);
  REQUIRE(trial.roots() == Texts{"value Default_Add-op0"});
  CHECK(trial.root().confidence == Approx(0.9));
}

TEST_CASE("without an IR and without inputs there is nothing but the order") {
  const Trial trial(
      [](MadeNet& net) {
        const Chain made = chain(net, net.bad() ? 3.0F : 2.0F);
        for (const auto op : {made.product, made.sum}) {
          net.hide_input(op, 0);
          net.hide_input(op, 1);
        }
        net.hide_input(made.relu, 0);
      },
      {.ir = false});
  CHECK(trial.compared().report().flow == FlowKind::kOrder);
  REQUIRE(trial.roots() == Texts{"value Default_Mul-op0"});
  CHECK(trial.root().confidence <= 0.6);
}

}  // namespace msdump
