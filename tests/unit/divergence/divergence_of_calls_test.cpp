// The search for roots in dumps of msprobe: no IR, edges by values, modules around calls, backward calls.
#include <filesystem>

#include "divergence/run_view.h"
#include "support/catch.h"
#include "support/made_calls.h"

namespace msdump {
namespace {

Values times(Values values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}
Values with_error(Values values, float error) {
  values[5] += error;
  return values;
}

const std::string kLayer = "Module.fc.Linear.forward.0";

}  // namespace

TEST_CASE("msprobe: a module is explained by the call inside it that diverges") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = with_error(times(x, 2), calls.bad() ? 0.5F : 0.0F);
    calls.ran("Functional.linear.0.forward", {x}, {y}, kLayer);
    calls.ran(kLayer, {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {times(y, 3)});
  });
  CHECK(trial.compared().report().flow == FlowKind::kValues);
  REQUIRE(trial.roots() == Texts{"value Functional.linear.0.forward"});
  CHECK(trial.root().confidence == Approx(0.9));
  CHECK(trial.root().downstream == 4);
}

TEST_CASE("msprobe: a module is the root when no call inside it was dumped") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = with_error(times(x, 2), calls.bad() ? 0.5F : 0.0F);
    calls.ran(kLayer, {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {times(y, 3)});
  });
  CHECK(trial.roots() == Texts{"value " + kLayer});
}

TEST_CASE("msprobe: a module is explained by a call that only one side has inside it") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = times(x, 2), z = with_error(y, 0.5F);
    calls.ran("Functional.linear.0.forward", {x}, {y}, kLayer);
    if (calls.bad()) calls.ran("Functional.dropout.0.forward", {y}, {z}, kLayer);
    calls.ran(kLayer, {x}, {calls.bad() ? z : y});
    calls.ran("Functional.relu.0.forward", {calls.bad() ? z : y}, {times(calls.bad() ? z : y, 3)});
  });
  CHECK(trial.roots() == Texts{"value Functional.dropout.0.forward"});
}

TEST_CASE("msprobe: a call that only the reference has is missing") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = times(x, 2), z = with_error(y, 0.5F);
    calls.ran("Functional.linear.0.forward", {x}, {y});
    if (!calls.bad()) calls.ran("Functional.add.0.forward", {y}, {z});
    calls.ran("Functional.relu.0.forward", {calls.bad() ? y : z}, {times(calls.bad() ? y : z, 3)});
  });
  CHECK(trial.roots() == Texts{"missing Functional.add.0.forward"});
}

TEST_CASE("msprobe: a backward call depends on what its forward call saw") {
  const auto build = [](bool forward_differs) {
    return [=](MadeCalls& calls) {
      const Values x = some_values(calls.bad() && forward_differs ? 1.5F : 1.0F), gradient = some_values(0.1F);
      calls.ran("Functional.gelu.0.forward", {x}, {times(x, 2)});
      calls.ran("Functional.gelu.0.backward", {gradient}, {with_error(gradient, calls.bad() ? 0.05F : 0.0F)});
    };
  };
  // What went into the forward call differs: the gradient may, too.
  const CallTrial later(build(true));
  CHECK(later.roots() == Texts{"input Functional.gelu.0.forward"});
  // It does not: the backward call is guilty.
  const CallTrial guilty(build(false));
  CHECK(guilty.roots() == Texts{"value Functional.gelu.0.backward"});
}

TEST_CASE("msprobe: gradients of parameters are made by another entry and are not roots") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), gradient = some_values(0.1F);
    calls.ran("Functional.linear.0.forward", {x}, {times(x, 2)}, kLayer);
    calls.ran(kLayer, {x}, {times(x, 2)});
    calls.ran("Functional.linear.0.backward", {gradient}, {with_error(gradient, calls.bad() ? 0.05F : 0.0F)},
              "Module.fc.Linear.backward.0");
    calls.ran("Module.fc.Linear.parameters_grad.0", {}, {with_error(gradient, calls.bad() ? 0.04F : 0.01F)});
  });
  CHECK(trial.roots() == Texts{"value Functional.linear.0.backward"});
}

TEST_CASE("msprobe: an input of unknown origin is the input, while nothing before it differs") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), other = some_values(calls.bad() ? 4.0F : 3.0F);
    calls.ran("Functional.relu.0.forward", {x}, {times(x, 2)});
    calls.ran("Functional.linear.0.forward", {other}, {times(other, 2)});
  });
  REQUIRE(trial.roots() == Texts{"input Functional.linear.0.forward"});
  CHECK(trial.root().confidence == Approx(0.5));
}

TEST_CASE("tensors of one value prove no edge") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values ones(16, 1.0F), x = some_values();
    calls.ran("Torch.ones.0.forward", {x}, {ones});
    calls.ran("Functional.relu.0.forward", {ones}, {with_error(ones, calls.bad() ? 0.5F : 0.0F)});
  });
  CHECK(trial.compared().report().flow == FlowKind::kOrder);
  CHECK(trial.roots() == Texts{"value Functional.relu.0.forward"});
}

TEST_CASE("msprobe: a module holds what ran inside it in its own step and on its own rank") {
  const test::ScratchDir scratch;
  constexpr int kSteps = 3, kRanks = 3;
  for (const char* const side : {"a", "b"}) {
    for (int place = 0; place < kSteps * kRanks; ++place) {
      MadeCalls calls(false);
      calls.ran("Functional.linear.0.forward", {some_values()}, {some_values(2)}, kLayer);
      calls.ran("Functional.relu.0.forward", {some_values(2)}, {some_values(3)}, kLayer);
      calls.ran(kLayer, {some_values()}, {some_values(3)});
      const auto written = scratch.path() / "one";
      calls.write(written);
      const auto step = scratch.path() / side / ("step" + std::to_string(place / kRanks));
      std::filesystem::create_directories(step);
      std::filesystem::rename(written / "step0" / "rank0", step / ("rank" + std::to_string(place % kRanks)));
    }
  }
  const test::ComparedDumps compared(scratch.path() / "a", scratch.path() / "b");
  const RunView view(compared.a(), compared.b(), compared.pairing(), compared.diffs(),
                     ModuleTree::of(*compared.b().index, *compared.a().index));
  size_t modules = 0;
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    if (view.name(run) != kLayer) continue;
    ++modules;
    REQUIRE(view.inside(run).size() == 2);
    for (const uint32_t inner : view.inside(run)) CHECK(view.place(inner) == view.place(run));
  }
  CHECK(modules == kSteps * kRanks);
}

TEST_CASE("a weight that differs is a parameter, of its module and of the call that reads it") {
  const Values x = {1, 2, 3}, wrong = {7, 8, 9}, right = {4, 5, 6}, y = {10, 20, 30}, z = {31, 17, 23};
  const CallTrial mixed([&](MadeCalls& calls) {
    const Values& w = calls.bad() ? wrong : right;
    calls.ran("Functional.linear.0.forward", {x, w}, {calls.bad() ? z : y}, "Module.net.fc.Linear.forward.0");
    calls.ran("Module.net.fc.Linear.forward.0", {x}, {calls.bad() ? z : y});
    calls.has("weight", w);
  });
  CHECK(mixed.roots() == Texts{"parameter Module.net.fc.Linear.forward.0:weight"});
  const CallTrial modules([&](MadeCalls& calls) {
    calls.ran("Module.net.fc.Linear.forward.0", {x}, {calls.bad() ? z : y});
    calls.has("weight", calls.bad() ? wrong : right);
  });
  CHECK(modules.roots() == Texts{"parameter Module.net.fc.Linear.forward.0:weight"});
}

}  // namespace msdump
