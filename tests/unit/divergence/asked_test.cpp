#include "divergence/asked.h"

#include <catch2/catch.hpp>

#include "support/made_net.h"

namespace msdump {
namespace {

// "asked value Default/Sub-op0: its input 1 is w2, w1 in the reference"
Texts decisions(const Trial& trial) {
  Texts texts;
  for (const Divergence& root : trial.compared().report().roots) {
    texts.push_back(fmt::format("{} {} {}: {}", name_of(decided_by(root.rule)), name_of(root.kind),
                                trial.compared().pairing().op_name(root.op), root.reason));
  }
  return texts;
}

}  // namespace

TEST_CASE("asked: an operator that reads another parameter is the root, and not the parameter") {
  const Trial trial([](MadeNet& net) {
    const auto w1 = net.weight("w1"), w2 = net.weight("w2", some_values(0.7F));
    const auto y = net.op("Sub", {net.input("x"), net.bad() ? w2 : w1});
    net.op("ReLU", {net.op("Mul", {y, net.op("Exp", {net.op("Add", {w1, w2})})})});
  });
  CHECK(decisions(trial) == Texts{"asked value Default/Sub-op0: its input 1 is w2, w1 in the reference"});
}

TEST_CASE("asked: operands of a commutative operator may change places") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x"), w = net.weight("w");
    net.op("ReLU", {net.bad() ? net.op("Mul", {w, x}) : net.op("Mul", {x, w})});
  });
  CHECK(trial.roots().empty());
}

TEST_CASE("asked: another way to write the same is no root, whatever types it uses") {
  const auto build = [](float factor) {
    return [=](MadeNet& net) {
      const auto x = net.input("x");
      const auto product = net.op("Mul", {x, x});
      Values square = net[product];
      for (float& value : square) value *= net.bad() ? factor : 1;
      const auto y = net.op(net.bad() ? "Square" : "SquareSumAll", {x});
      net[y] = square;
      net.op("ReLU", {net.op("Neg", {y})});
    };
  };
  CHECK(Trial(build(1.0000001F)).roots().empty());
  CHECK(decisions(Trial(build(1.01F))).size() == 1);
}

namespace {

// x * x - x on the side of the reference, x * (x - SHIFT) on the other, off by `factor`; a later operator may read another weight.
Trial::Build rewritten(float shift, float factor, bool other_weight = false) {
  return [=](MadeNet& net) {
    const auto x = net.input("x"), w1 = net.weight("w1"), w2 = net.weight("w2", some_values(0.7F));
    auto y = net.op("Neg", {x});
    if (net.bad()) {
      y = net.op("Div", {y, net.op("Reciprocal", {net.op("Sub", {x, net.constant(shift)})})});
      Values values;
      for (const float one : net[x]) values.push_back(-one * (one - shift) * factor);
      net[y] = values;
    } else {
      y = net.op("Sub", {x, net.op("Square", {x})});
      Values values;
      for (const float one : net[x]) values.push_back(one - one * one);
      net[y] = values;
    }
    const auto z = net.op("ReLU", {net.op("Tanh", {y})});
    net.op("Cos", {net.op("Mul", {z, other_weight && net.bad() ? w2 : w1})});
  };
}

}  // namespace

TEST_CASE("asked: two ways to write the same mathematics are no root, although they round otherwise") {
  CHECK(Trial(rewritten(1, 1.0002F)).roots().empty());
  CHECK(Trial(rewritten(1, 1.0002F), {.steps = 2}).roots().empty());
}

TEST_CASE("asked: other mathematics are a root, and so is a way that loses many digits") {
  CHECK_FALSE(Trial(rewritten(1.001F, 1.0002F)).roots().empty());
  CHECK_FALSE(Trial(rewritten(1, 1.02F)).roots().empty());
}

TEST_CASE("asked: behind operators that are written otherwise, one that reads another weight is found") {
  CHECK(decisions(Trial(rewritten(1, 1.0002F, true))) ==
        Texts{"asked value Default/Mul-op0: its input 1 is w2, w1 in the reference"});
  CHECK(decisions(Trial(rewritten(1, 1, true))) ==
        Texts{"asked value Default/Mul-op0: its input 1 is w2, w1 in the reference"});
}

TEST_CASE("asked: behind an operator of another type that leads to the same, the search goes on") {
  for (const bool directly : {false, true}) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.input("x"), w1 = net.weight("w1"), w2 = net.weight("w2", some_values(0.7F));
      const auto product = net.op("Mul", {x, x});
      const Values square = net[product];
      const auto y = net.op(net.bad() ? "Square" : "SquareSumAll", {x});
      net[y] = square;
      net.op("Cos", {net.op("Sub", {directly ? y : net.op("Tanh", {y}), net.bad() ? w2 : w1})});
    });
    CHECK(decisions(trial) == Texts{"asked value Default/Sub-op0: its input 1 is w2, w1 in the reference"});
  }
}

TEST_CASE("asked: an operator that one side has is named, and what reads it only follows") {
  const auto build = [](bool of_candidate) {
    return [=](MadeNet& net) {
      auto y = net.op("Mul", {net.input("x"), net.constant(2)});
      if (net.bad() == of_candidate) y = net.op("Neg", {y});
      net.op("ReLU", {net.op("Sub", {y, net.weight("w")})});
    };
  };
  CHECK(
      decisions(Trial(build(true))) ==
      Texts{"asked value Default/Neg-op0: only the candidate has it, and Default/Sub-op0, which comes after it, reads "
            "something else"});
  CHECK(
      decisions(Trial(build(false))) ==
      Texts{
          "asked missing Default/Neg-op0: only the reference has it, and Default/Sub-op0, which comes after it, reads "
          "something else"});
}

TEST_CASE(
    "asked: an operator that one side has is no root if what comes after it is off as much as what goes into it") {
  for (const bool of_candidate : {true, false}) {
    for (const float factor : {1.0F, 1.2F}) {
      const Trial trial([&](MadeNet& net) {
        const auto x = net.input("x");
        if (net.bad()) {
          for (float& value : net[x]) value *= 1.01F;
        }
        auto y = net.op("Mul", {x, net.constant(2)});
        if (net.bad() ==
            of_candidate) {  // without a kernel: that it changes nothing is not computed, but seen after it
          const Values before = net[y];
          y = net.op("Probe", {y});
          net[y] = before;
          for (float& value : net[y]) value *= factor;
        }
        net.op("ReLU", {net.op("Sub", {y, net.weight("w")})});
      });
      const Texts found = decisions(trial);
      const bool named = std::any_of(found.begin(), found.end(), [](const std::string& text) {
        return text.find("only the") != std::string::npos;
      });
      CHECK(named == (factor != 1));
    }
  }
}

TEST_CASE("asked: behind an operator that one side has and that adds no error, the search goes on") {
  for (const bool of_candidate : {true, false}) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.input("x"), w1 = net.weight("w1"), w2 = net.weight("w2", some_values(0.7F));
      if (net.bad()) {
        for (float& value : net[x]) value *= 1.01F;
      }
      auto y = net.op("Mul", {x, net.constant(2)});
      if (net.bad() == of_candidate) y = net.op("Probe", {y});
      net.op("Cos", {net.op("Sub", {net.op("Tanh", {y}), net.bad() ? w2 : w1})});
    });
    const Texts found = decisions(trial);
    const std::string expected = "asked value Default/Sub-op0: its input 1 is w2, w1 in the reference";
    CHECK(std::count(found.begin(), found.end(), expected) == 1);
  }
}

TEST_CASE("asked: of several operators of one side the one is named that reads what the other side reads as it is") {
  for (const bool of_candidate : {true, false}) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.op("Mul", {net.input("x"), net.constant(2)});
      auto y = x;
      if (net.bad() == of_candidate) y = net.op("Add", {x, net.op("Neg", {net.op("Exp", {net.input("mask")})})});
      net.op("ReLU", {net.op("Sub", {y, net.weight("w")})});
    });
    const Texts found = decisions(trial);
    REQUIRE(found.size() == 1);
    CHECK(found.front().find(" Default/Add-op0: only the ") != std::string::npos);
  }
}

TEST_CASE("asked: an operator whose outputs were not dumped is named if what reads it differs") {
  for (const float factor : {1.0F, 3.0F}) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.input("x"), y = net.op(net.bad() ? "ReduceSum" : "ReduceMean", {x});
      net[y] = net[x];
      net.hide_output(y);
      if (net.bad()) {
        for (float& value : net[y]) value *= factor;
      }
      net.op("ReLU", {net.op("Sub", {y, net.weight("w")})});
    });
    CHECK(decisions(trial) ==
          (factor == 1
               ? Texts{}
               : Texts{"asked value Default/ReduceSum-op0: it is ReduceSum here, ReduceMean in the reference"}));
  }
}

TEST_CASE("asked: statistics do not show that values were joined in another order, and what reads them does") {
  TrialOptions options;
  options.statistics = true;
  for (const float factor : {1.0F, 1.5F}) {
    const auto build = [&](MadeNet& net) {
      const auto in = net.input("in"), x = net.op("Exp", {in}), y = net.op("Cos", {in});
      net[y] = Values(net[x].rbegin(), net[x].rend());
      const auto joined = net.bad() ? net.op("Concat", {y, x}) : net.op("Concat", {x, y});
      net[joined] = some_values(2);
      const auto product = net.op("Sub", {joined, net.weight("w")});
      if (net.bad()) {
        for (float& value : net[product]) value *= factor;
      }
      net.op("ReLU", {product});
    };
    CHECK(decisions(Trial(build, options)) ==
          (factor == 1 ? Texts{}
                       : Texts{"asked value Default/Concat-op0: its input 0 is Cos-op0, Exp-op0 in the reference; its "
                               "input 1 is Exp-op0, Cos-op0 in the reference"}));
  }
}

TEST_CASE("asked: an operator of one side is no root if all that it leads to agrees again further on") {
  for (const auto& [agrees, is_returned] : {std::pair(true, false), {false, false}, {true, true}}) {
    const Trial trial([agrees = agrees, is_returned = is_returned](MadeNet& net) {
      const auto x = net.input("x");
      const auto read = net.bad() ? x : net.op("Probe", {x, x});
      const auto other = net.op("Cos", {net.op("Mul", {read, net.weight("w")})});
      auto y = net.op("Sub", {x, other});
      if (agrees) net[y] = some_values(3);
      if (is_returned) net.return_output(other);
      for (int i = 0; i < 26; ++i) y = net.op("Neg", {y});
    });
    CHECK(trial.roots().empty() == (agrees && !is_returned));
  }
}

TEST_CASE("asked: operators that run in another order, each under the other's name, are no roots") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto first = net.op("Mul", {x, net.constant(net.bad() ? 3 : 2)});
    const auto second = net.op("Mul", {x, net.constant(net.bad() ? 2 : 3)});
    net.op("ReLU", {net.bad() ? net.op("Sub", {second, first}) : net.op("Sub", {first, second})});
  });
  CHECK(decisions(trial).empty());
}

TEST_CASE("a constant that the IR leaves out is a root, but not if two operators have exchanged theirs") {
  for (const bool exchanged : {true, false}) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.input("x");
      const Values two = some_values(2), three = some_values(3);
      const auto first = net.op("Div", {x, net.constant(net.bad() ? three : two)});
      const auto second = net.op("Div", {x, net.constant(net.bad() && exchanged ? two : three)});
      net.op("ReLU", {net.op("Add", {first, second})});
    });
    CHECK(decisions(trial) == (exchanged
                                   ? Texts{}
                                   : Texts{"asked value Default/Div-op0: its input 1 is another Tensor(shape=[16], "
                                           "dtype=Float32, value=[...]) than in the reference"}));
  }
}

TEST_CASE("asked: operators that only constants tell apart, which the IR leaves out, are told apart by their values") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    // Each has the other's name in the candidate.
    auto half = net.op("Neg", {net.op("Div", {x, net.constant(some_values(net.bad() ? 3 : 2))})});
    auto third = net.op("Neg", {net.op("Div", {x, net.constant(some_values(net.bad() ? 2 : 3))})});
    if (net.bad()) std::swap(half, third);
    net.op("Sub", {half, third});
    const auto other = net.op("Exp", {x});
    net.op("ReLU", {net.bad() ? net.op("AddN", {other, half, third}) : net.op("AddN", {other, third})});
  });
  CHECK(decisions(trial) == Texts{"asked value Default/AddN-op0: its input 1 is Neg-op1, absent in the reference"});
}

TEST_CASE("asked: of an operator that only moves values the reader is named") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x"), y = net.input("y", some_values(3));
    net.op("Neg", {net.op("Div", {x, net.bad() ? net.constant(5) : net.op("Reshape", {y})})});
  });
  CHECK(decisions(trial) == Texts{"asked value Default/Div-op0: its input 1 is 5, y in the reference"});
}

TEST_CASE("asked: gradients count if the forward pass is the same") {
  const auto build = [](bool forward) {
    return [=](MadeNet& net) {
      const auto x = net.input("x");
      const float factor = net.bad() ? 3.0F : 2.0F;
      const auto y = net.op("Mul", {x, net.constant(forward ? factor : 2)});
      const auto sens = net.op("Fill", {x}, "Gradients/Default");
      net.op("Div", {net.op("Mul", {sens, net.constant(forward ? 2 : factor)}, "Gradients/Default"), x},
             "Gradients/Default");
      net.op("ReLU", {y});
    };
  };
  CHECK(decisions(Trial(build(true))) == Texts{"asked value Default/Mul-op0: its input 1 is 3, 2 in the reference"});
  CHECK(decisions(Trial(build(false))) ==
        Texts{"asked value Gradients/Default/Mul-op0: its input 1 is 3, 2 in the reference"});
}

TEST_CASE("asked: an update that only the reference has counts if a later step reads another value") {
  const auto build = [](float updated) {
    return [=](MadeNet& net) {
      const bool is_stale = net.bad() && net.step() == 1;
      const auto w = net.weight("w", some_values(net.step() == 0 || is_stale ? 0.5F : updated));
      net.op("ReLU", {net.op("Mul", {net.input("x"), w})});
      if (!net.bad()) net.op("Assign", {w, net.weight("v", some_values(updated))});
    };
  };
  TrialOptions options;
  options.steps = 2;
  CHECK(decisions(Trial(build(0.6F), options)) == Texts{"asked missing Default/Assign-op0: only the reference has it, "
                                                        "and Default/Mul-op0, which comes after it, reads "
                                                        "something else"});
  CHECK(decisions(Trial(build(0.5F), options)).empty());
}

TEST_CASE("asked: several operators of a line are one root, and several with one constant") {
  const auto build = [](int line, float other) {
    return [=](MadeNet& net) {
      net.on_line(20);
      net.op("Mul", {net.input("x"), net.constant(net.bad() ? 3.0F : 2.0F)});
      net.on_line(line);
      net.op("Sub", {net.input("y"), net.constant(net.bad() ? other : 2.0F)});
    };
  };
  CHECK(decisions(Trial(build(20, 5))).size() == 1);
  CHECK(decisions(Trial(build(21, 3))).size() == 1);
  CHECK(decisions(Trial(build(21, 5))).size() == 2);
}

TEST_CASE("asked: behind what is shown an estimate makes no root") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Mul", {net.input("x"), net.constant(net.bad() ? 3.0F : 2.0F)});
    for (int i = 0; i < 6; ++i) y = net.op("Neg", {net.op("ReLU", {y})});
    if (net.bad()) net[y][3] *= 40;
    net.op("Sub", {y, net.weight("w")});
  });
  CHECK(decisions(trial) == Texts{"asked value Default/Mul-op0: its input 1 is 3, 2 in the reference"});
}

TEST_CASE("asked: without a graph of both sides nothing is") {
  TrialOptions options;
  options.ir = false;
  const Trial trial([](MadeNet& net) { made_chain(net, net.bad() ? 3.0F : 2.0F); }, options);
  for (const Divergence& root : trial.compared().report().roots) CHECK(decided_by(root.rule) != DecidedBy::kAsked);
}

}  // namespace msdump
