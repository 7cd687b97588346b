// Differences that are not roots, and what is reported where dumps do not show everything: updates in place, noise,
// growth, deleted files, coarser dtypes, no IR.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "divergence/divergence.h"
#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {
namespace {

// Operators of these types beside the others, with the rounding of their kernels: what the pair says about itself.
void add_siblings(MadeNet& net, std::initializer_list<const char*> types) {
  constexpr int kSiblings = 6;
  const auto x = net.input("beside");
  for (const char* const type : types) {
    for (int i = 0; i < kSiblings; ++i) {
      const auto y = net.op(type, {x, x});
      if (!net.bad()) continue;
      for (size_t at = 0; at < net[y].size(); ++at) net[y][at] *= 1 + 1e-7F * static_cast<float>((at + 1) % 3);
    }
  }
}

void add_error(Values& values, float relative) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= 1 + (i % 2 == 0 ? relative : -relative);
}

}  // namespace

TEST_CASE("an input that is updated in place shows the result, and is not a parameter that differs") {
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
  const std::vector<Explanation>& explained = trial.compared().report().explained;
  CHECK(std::count(explained.begin(), explained.end(), Explanation::kUnwritten) == 1);
}

TEST_CASE("noise that terms that cancel leave is not a root") {
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
}

TEST_CASE("an error of the size that its input's leads to is not a root, a much larger one is") {
  const auto grown = [](float factor) {
    return [=](MadeNet& net) {
      // The arithmetic of the device: all of these have the error, and what reads them passes it on.
      for (int i = 0; i < 8; ++i) {
        const auto y = net.op("Exp", {net.input("x" + std::to_string(i))});
        if (net.bad()) add_error(net[y], 5e-4F);
        const auto z = net.op("Mul", {y, net.constant(2)});
        if (net.bad()) add_error(net[z], 5e-4F * (i == 5 ? factor : 0.1F * static_cast<float>(i % 4)));
      }
    };
  };
  CHECK(Trial(grown(0.5F)).roots().empty());
  const Trial large(grown(60));
  REQUIRE(large.roots() == Texts{"value Default/Mul-op5"});
  CHECK(large.root().reason == "its outputs differ more than its inputs explain");
  CHECK(large.root().amplification.value() == Approx(61).epsilon(0.02));
  CHECK(large.root().score.value().measured == Approx(0.0305).epsilon(0.02));
  CHECK(large.root().score.value().expected == Approx(5e-4).epsilon(0.3));
  CHECK(large.root().score.value().siblings == 7);
}

TEST_CASE("an error that the operators after it pass on is reported where it was made alone") {
  const Trial trial([](MadeNet& net) {
    auto y = net.op("Exp", {net.input("x")});
    if (net.bad()) add_error(net[y], 4e-4F);
    y = net.op("Tanh", {y});
    if (net.bad()) net[y][5] += 2e-4F;
    net.op("ReLU", {y});
    add_siblings(net, {"Exp", "Tanh", "ReLU"});
  });
  CHECK(trial.roots() == Texts{"value Default/Exp-op0"});
}

TEST_CASE("a difference that sinks below the tolerance and comes up again is one root") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(net.bad() ? 2.5F : 2.0F)});
    const auto low = net.op("Tanh", {y});
    net[low] = some_values(0.01F);
    for (float& value : net[low]) value += 5;
    if (net.bad()) add_error(net[low], 2e-4F);
    net.op("Sub", {low, net.constant(5)});  // what is left is small
    add_siblings(net, {"Mul", "Tanh"});
  });
  CHECK(trial.compared().verdict("Default/Tanh-op0", "output:0") == Verdict::kClose);
  CHECK(trial.compared().verdict("Default/Sub-op0", "output:0") == Verdict::kDiffer);
  CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
}

TEST_CASE("an operator downstream of a root is one itself when its inputs are equal bit for bit") {
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

TEST_CASE("a file that was deleted is bridged: what its operator wrote is what another one read") {
  const Trial trial([](MadeNet& net) {
    const MadeChain made = made_chain(net, net.bad() ? 2.5F : 2.0F);
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

TEST_CASE("an output that differs although all who read it got what they should is not a root") {
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
  CHECK(trial.root().rule == RootRule::kEqualInputs);
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

TEST_CASE("of a collective operation the ranks whose own inputs agree are not roots") {
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

TEST_CASE("one cast to float16 is named, within the tolerance; casts throughout are not a fault") {
  const auto cast = [](int casts) {
    return [=](MadeNet& net) {
      auto y = net.input("x");
      for (int i = 0; i < 12; ++i) {
        y = net.op("Mul", {y, net.weight("w" + std::to_string(i))});
        const bool here = i % 6 == 5 && (casts > 1 || i == 5);
        if (net.bad() && here) net.narrow_input(y, 0);
        if (net.bad() && (here || casts > 1)) add_error(net[y], 2.5e-4F);
        if (net.bad() && casts > 1) net.narrow_input(y, 1);
      }
    };
  };
  const Trial one(cast(1));
  REQUIRE(one.roots() == Texts{"value Default/Mul-op5"});
  CHECK(one.root().reason == "it reads float16 where the reference has float32");
  CHECK(one.root().rule == RootRule::kCast);
  CHECK(one.compared().count(Verdict::kDiffer) == 0);
  CHECK(Trial(cast(12)).roots().empty());
}

TEST_CASE("without an IR edges are found by values") {
  const Trial trial(
      [](MadeNet& net) {
        const MadeChain made = made_chain(net);
        auto shown = net[made.product];
        if (net.bad()) {
          net[made.sum][5] += 0.25F;
          net[made.relu] = net[made.sum];
          for (float& value : net[made.relu]) value = std::max(value, 0.0F);
        }
      },
      {.ir = false});
  CHECK(trial.compared().report().flow == FlowKind::kValues);
  REQUIRE(trial.roots() == Texts{"value Default_Add-op0"});
  CHECK(trial.root().rule == RootRule::kEqualInputs);
}

TEST_CASE("without an IR and without inputs only the order is known") {
  const Trial trial(
      [](MadeNet& net) {
        const MadeChain made = made_chain(net, net.bad() ? 3.0F : 2.0F);
        for (const auto op : {made.product, made.sum}) {
          net.hide_input(op, 0);
          net.hide_input(op, 1);
        }
        net.hide_input(made.relu, 0);
      },
      {.ir = false});
  CHECK(trial.compared().report().flow == FlowKind::kOrder);
  REQUIRE(trial.roots() == Texts{"value Default_Mul-op0"});
  CHECK(trial.root().rule == RootRule::kExcess);
}

TEST_CASE("without anything but the order what has the error of the operator before it is not a root, a jump is") {
  const Trial trial(
      [](MadeNet& net) {
        auto y = net.input("x");
        for (int i = 0; i < 9; ++i) {
          y = net.op("Neg", {y});
          net.hide_input(y, 0);
          if (net.bad() && (i == 0 || i == 5)) add_error(net[y], i == 5 ? 2e-2F : 1e-6F);
        }
      },
      {.ir = false});
  CHECK(trial.compared().report().flow == FlowKind::kOrder);
  CHECK(trial.roots() == Texts{"value Default_Neg-op5"});
}

TEST_CASE("what reads random numbers that were drawn differently is not a root, however much it differs") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Dropout", {net.input("x")});
    net[y] = some_values(1.1F);
    if (net.bad()) add_error(net[y], 0.1F);
    const auto z = net.op("Mul", {y, net.constant(2)});
    if (net.bad()) add_error(net[z], 0.5F);
    add_siblings(net, {"Mul"});
  });
  CHECK(trial.roots().empty());
}

TEST_CASE("a dropout that passes all of its input on draws nothing: it is judged, also where one side alone draws") {
  enum class Drops : uint8_t { kNone, kBoth, kCandidate, kReference };
  const auto trial = [](Drops drops, float factor) {
    return Trial([=](MadeNet& net) {
      const auto y = net.op("Dropout", {net.input("x", some_values(net.bad() ? factor : 1.0F))});
      const bool draws = drops == Drops::kBoth || drops == (net.bad() ? Drops::kCandidate : Drops::kReference);
      if (draws) net[y][net.bad() ? 3 : 5] = 0;
      net.op("Neg", {y});
    });
  };
  CHECK(trial(Drops::kNone, 1.5F).roots() == Texts{"input x"});
  CHECK(trial(Drops::kBoth, 1.5F).roots() == Texts{});
  CHECK(trial(Drops::kNone, 1).roots() == Texts{});
  CHECK(trial(Drops::kBoth, 1).roots() == Texts{});
  for (const Drops drops : {Drops::kCandidate, Drops::kReference}) {
    const Trial one_sided = trial(drops, 1);
    REQUIRE(one_sided.roots() == Texts{"value Default/Dropout-op0"});
    const std::string side = drops == Drops::kCandidate ? "candidate" : "reference";
    CHECK(one_sided.root().reason == "only the " + side + " draws random numbers here; the other passes its input on");
  }
}

TEST_CASE("an overflow two operators after a root is of values that it made too large") {
  const auto roots = [](float factor) {
    const Trial trial([=](MadeNet& net) {
      // The root makes a value larger that was in the range of the others.
      const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
      if (net.bad()) net[y][5] *= factor;
      const auto z = net.op("Exp", {net.op("Neg", {y})});
      if (net.bad()) net[z][5] = INFINITY;
      add_siblings(net, {"Mul", "Neg", "Exp"});
    });
    return trial.roots();
  };
  CHECK(roots(50) == Texts{"value Default/Mul-op0"});
  CHECK(roots(1) == Texts{"nan Default/Exp-op0"});
}

TEST_CASE("what reads a wrong parameter is downstream of it, also if it is not the first reader") {
  const auto roots = [](bool first, float wrong) {
    const Trial trial([=](MadeNet& net) {
      const auto w = net.weight("w", some_values(net.bad() ? wrong : 0.5F));
      if (!first) net.op("Mul", {net.input("x"), w});
      const auto y = net.op("Neg", {net.op("Abs", {w})});
      if (net.bad()) net[y][5] = INFINITY;
      add_siblings(net, {"Mul", "Neg", "Abs"});
    });
    return trial.roots();
  };
  CHECK(roots(true, 0.6F) == Texts{"parameter w"});
  CHECK(roots(false, 0.6F) == Texts{"parameter w"});
  CHECK(roots(false, 0.5F) == Texts{"nan Default/Neg-op0"});
}

TEST_CASE("a missing operator is named although a comparison of what it makes comes out the same") {
  const auto roots = [](float summand, const char* reader) {
    const Trial trial([=](MadeNet& net) {
      auto y = net.op("Mul", {net.input("x"), net.constant(2)});
      if (!net.bad()) y = net.op("Add", {y, net.weight("w", some_values(summand))});
      const auto z = net.op(reader, {y, net.constant(0)});
      net[z] = some_values(3);
    });
    return trial.roots();
  };
  CHECK(roots(2, "Greater") == Texts{"missing Default/Add-op0"});
  CHECK(roots(0.5F, "Greater") == Texts{});  // a quarter of the value, less than is unlike it
  CHECK(roots(2, "Atan2") == Texts{});       // what is judged by its own error agrees
}

}  // namespace msdump
