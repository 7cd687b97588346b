// The search for roots in dumps of msprobe: no IR, edges by values, modules around calls, backward calls.
#include <filesystem>

#include <fmt/format.h>

#include "divergence/model/noise_model.h"
#include "divergence/roots/unseen_calls.h"
#include "divergence/runs/run_view.h"
#include "support/catch.h"
#include "support/made_calls.h"
#include "support/statistics_run.h"

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
const std::string kBlock = "Module.block.Block.forward.0";

// The candidate's config.json for what was not dumped around the first root: "tensor mix list Module.fc..".
std::string unseen_settings(const CallTrial& trial) {
  if (!trial.root().unseen) return {};
  const test::ComparedDumps& compared = trial.compared();
  const MsprobeSettings settings = settings_for(*trial.root().unseen, compared.pairing(), compared.a(), true);
  std::string text = std::string(settings.task) + ' ' + std::string(settings.level);
  for (const std::string& name : settings.scope) text += " scope " + name;
  for (const std::string& name : settings.list) text += " list " + name;
  return text + (settings.all_risks ? " all" : "");
}

}  // namespace

namespace {

// Rows that a mask chooses: as many as its values say. The candidate's scores are off by `noise`, and its mask has another row.
CallTrial::Build chosen_rows(float noise, float fault) {
  return [=](MadeCalls& calls) {
    const Values x = some_values(), scores = with_error(times(x, 2), calls.bad() ? noise : 0.0F);
    const size_t rows = calls.bad() && noise != 0 ? 5 : 4;
    const Values index(rows, 3);
    calls.ran("Functional.linear.0.forward", {x}, {scores});
    calls.ran("Torch.where.0.forward", {scores}, {index});
    calls.ran("Tensor.index_select.0.forward", {x, index}, {Values(rows, x[3])});
    calls.ran("Functional.relu.0.forward", {x}, {with_error(times(x, 3), calls.bad() ? fault : 0.0F)});
  };
}

}  // namespace

TEST_CASE("msprobe: how many rows a mask chooses follows from its values, and is no fault") {
  CHECK(CallTrial(chosen_rows(1e-6F, 0)).roots().empty());
  CHECK(CallTrial(chosen_rows(1e-6F, 0.5F)).roots() == Texts{"value Functional.relu.0.forward"});
}

TEST_CASE("msprobe: statistics do not tell which elements were chosen, nor what follows from it") {
  for (const bool chooses : {true, false}) {
    const CallTrial trial([&](MadeCalls& calls) {
      calls.as_statistics();
      const float noise = calls.bad() ? 1e-6F : 0.0F;
      const Values x = some_values(), scores = with_error(times(x, 2), noise);
      calls.ran("Functional.linear.0.forward", {x}, {scores});
      calls.ran("Torch.topk.0.forward", {scores}, {scores});
      if (chooses) calls.chose({0, 3, 1, 2});
      // What turns the indices into a mask was not dumped.
      const Values mask = {1, 0, 0, 1, 0, 1, 1, 0};
      calls.ran("Functional.relu.0.forward", {mask}, {with_error(times(mask, 3), calls.bad() ? 0.5F : 0.0F)});
    });
    CHECK(trial.roots().empty() == chooses);
  }
}

TEST_CASE("msprobe: what has the noise of the run behind a choice was not chosen otherwise") {
  const auto roots = [](float error) {
    const CallTrial trial([&](MadeCalls& calls) {
      calls.as_statistics();
      const float noise = calls.bad() ? 1e-6F : 0.0F;
      const Values x = some_values(), scores = with_error(times(x, 2), noise);
      calls.ran("Functional.linear.0.forward", {x}, {scores});
      calls.ran("Torch.topk.0.forward", {scores}, {scores});
      calls.chose({0, 3, 1, 2});
      const Values rows = times(x, calls.bad() ? 7 * (1 + error) : 7);
      calls.ran("Functional.relu.0.forward", {rows}, {with_error(times(rows, 3), calls.bad() ? 0.5F : 0.0F)});
    });
    return trial.roots();
  };
  CHECK(roots(1e-6F) == Texts{"value Functional.relu.0.forward"});
  CHECK(roots(0.1F).empty());
}

TEST_CASE("msprobe: a choice among integers that are equal hides no other one") {
  for (const bool differ : {false, true}) {
    const CallTrial trial([&](MadeCalls& calls) {
      calls.as_statistics();
      const float noise = calls.bad() ? 1e-6F : 0.0F;
      const Values x = some_values(), mask = {1, 0, 0, 1, 0, 1, 1, 0};
      calls.ran("Functional.linear.0.forward", {x}, {with_error(times(x, 2), noise)});
      calls.ran("Torch.argmax.0.forward", {}, {});
      calls.read({9, 6, calls.bad() && differ ? 1.0F : 2.0F});
      calls.chose({0, 3, 1, 2});
      calls.ran("Functional.relu.0.forward", {mask}, {with_error(times(mask, 3), calls.bad() ? 0.5F : 0.0F)});
    });
    CHECK(trial.roots().empty() == differ);
  }
}

namespace {

// Gradients of weights, and of a bias before a normalisation, which is zero but for rounding. `other` is what the candidate has of it.
Texts roots_with_bias(float other, float weight = 1) {
  const CallTrial trial([=](MadeCalls& calls) {
    const Values x = some_values(), g = times(x, 3), w = times(x, 5);
    const float of_bias = calls.bad() ? other : 1e-9F;
    calls.ran("Functional.linear.0.forward", {x}, {times(x, 2)});
    calls.ran("Functional.linear.0.backward", {g}, {w, times(g, of_bias)});
    const Values read = times(w, calls.bad() ? weight : 1), bias = times(g, of_bias);
    calls.ran("Torch._foreach_norm.0.forward", {read, bias}, {{4}, {2 * of_bias}});
    calls.ran("Tensor.addcmul_.0.forward", {bias, bias}, {times(bias, 3 * of_bias)});
  });
  return trial.roots();
}

}  // namespace

TEST_CASE("msprobe: a gradient that is zero but for rounding is measured by what cancels in it") {
  CHECK(roots_with_bias(1e-9F).empty());
  CHECK(roots_with_bias(-8e-8F) == Texts{});
  CHECK(roots_with_bias(0.2F) == Texts{"value Functional.linear.0.backward"});
  CHECK_FALSE(roots_with_bias(-8e-8F, 1.5F).empty());
}

TEST_CASE("msprobe: what cancels to rounding is explained as noise, and so is what an optimizer makes of it") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), g = times(x, 3), rounding = times(g, calls.bad() ? -8e-8F : 1e-9F);
    calls.ran("Functional.linear.0.forward", {x}, {times(x, 2)});
    calls.ran("Functional.linear.0.backward", {g}, {times(x, 5), rounding});
    calls.ran("Tensor.addcmul_.0.forward", {times(x, 7), rounding}, {some_values(calls.bad() ? 2.0F : 1.0F)});
  });
  const test::ComparedDumps& compared = trial.compared();
  size_t differing = 0;
  for (TensorId tensor{0}; tensor < compared.diffs().size(); ++tensor) {
    if (!is_difference(compared.diffs()[tensor].verdict)) continue;
    ++differing;
    CHECK(compared.report().explained[tensor] == Explanation::kNoise);
  }
  CHECK(differing >= 2);
}

TEST_CASE("msprobe: the forward pass of another batch comes after no backward pass") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values();
    for (int batch = 0; batch < 2; ++batch) {
      calls.ran(fmt::format("Functional.relu.{}.forward", batch), {x}, {times(x, 2)});
      calls.ran(fmt::format("Functional.relu.{}.backward", batch), {x}, {times(x, 3)});
    }
    calls.ran("Tensor.add_.0.forward", {x}, {times(x, 4)});
  });
  const RunView view = view_of(trial.compared());
  Texts after;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (view.comes_after_backward(run)) after.emplace_back(view.name(run));
  }
  CHECK(after == Texts{"Tensor.add_.0.forward"});
}

TEST_CASE("msprobe: calls of a module say nothing of each other's noise, calls of two modules do") {
  const auto siblings = [](bool shared) {
    const CallTrial trial([=](MadeCalls& calls) {
      calls.as_statistics();
      for (int i = 0; i < 4; ++i) {
        const Values x = times(some_values(), static_cast<float>(i + 1));
        const std::string name =
            shared ? fmt::format("Module.cell.Cell.forward.{}", i) : fmt::format("Module.cells.{}.Cell.forward.0", i);
        calls.ran(name, {x}, {with_error(times(x, 3), calls.bad() ? 0.01F : 0.0F)});
      }
    });
    const RunView view = view_of(trial.compared());
    return NoiseModel(view).outputs().front().siblings.siblings;
  };
  CHECK(siblings(true) == 0);
  CHECK(siblings(false) == 3);
}

TEST_CASE("msprobe: behind a root, what reads an input of unknown source is none") {
  for (const bool known : {false, true}) {
    const CallTrial trial([&](MadeCalls& calls) {
      const float fault = calls.bad() ? 0.5F : 0.0F, noise = calls.bad() ? 1e-6F : 0.0F;
      const Values x = some_values(), y = with_error(times(x, 2), fault), z = with_error(times(x, 3), noise);
      calls.ran("Functional.linear.0.forward", {x}, {y});
      if (known) calls.ran("Functional.gelu.0.forward", {x}, {z});
      calls.ran("Functional.relu.0.forward", {z}, {with_error(times(x, 4), fault)});
    });
    CHECK(trial.roots().size() == (known ? 2 : 1));
  }
}

TEST_CASE("msprobe: a module is explained by the call inside it that diverges") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = with_error(times(x, 2), calls.bad() ? 0.5F : 0.0F);
    calls.ran("Functional.linear.0.forward", {x}, {y}, kLayer);
    calls.ran(kLayer, {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {times(y, 3)});
  });
  CHECK(trial.compared().report().flow == FlowKind::kValues);
  REQUIRE(trial.roots() == Texts{"value Functional.linear.0.forward"});
  CHECK(trial.root().rule == RootRule::kEqualInputs);
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

TEST_CASE("msprobe: what a module of an own class computes may not have been dumped") {
  const auto found = [](const std::string& module, bool calls) {
    const CallTrial trial([&](MadeCalls& made) {
      const Values x = some_values(), y = with_error(times(x, 2), made.bad() ? 0.5F : 0.0F);
      if (calls) made.ran("Tensor.view.0.forward", {x}, {x}, module);
      made.ran(module, {x}, {y});
    });
    return unseen_settings(trial);
  };
  CHECK(found(kBlock, false) == "tensor mix list " + kBlock + " all");
  CHECK(found("Cell.block.Block.forward.0", false) == "tensor mix list Cell.block.Block.forward.0");
  CHECK(found(kBlock, true).empty());
  CHECK(found(kLayer, false).empty());  // a single operator
}

TEST_CASE("msprobe: what ran between two calls may not have been dumped") {
  enum class Between : uint8_t { kNothing, kHook };
  const auto found = [](Between between, const std::string& first) {
    const CallTrial trial([&](MadeCalls& made) {
      const Values x = some_values(), y = times(x, 2), z = with_error(y, made.bad() ? 0.5F : 0.0F);
      made.ran(first, {x}, {y});
      if (made.bad() && between == Between::kHook) made.ran("Tensor.mul.0.forward", {y}, {z});
      made.ran("Functional.relu.0.forward", {z}, {times(z, 3)});
    });
    return unseen_settings(trial);
  };
  CHECK(found(Between::kNothing, "Torch.abs.0.forward") ==
        "tensor L1 scope Torch.abs.0.forward scope Functional.relu.0.forward all");
  CHECK(found(Between::kNothing, kBlock) == "tensor mix scope " + kBlock + " scope Functional.relu.0.forward all");
  CHECK(found(Between::kHook, "Torch.abs.0.forward").empty());  // it was dumped
}

TEST_CASE("msprobe: what ran inside a module does not end what was left out before it") {
  const CallTrial trial([](MadeCalls& made) {
    const Values x = some_values(), unseen = with_error(times(x, 5), made.bad() ? 0.5F : 0.0F);
    made.ran("Torch.abs.0.forward", {x}, {times(x, 2)});
    made.ran("Tensor.view.0.forward", {times(x, 2)}, {times(x, 7)}, kBlock);
    made.ran(kBlock, {unseen}, {times(unseen, 3)});
  });
  CHECK(trial.roots() == Texts{"input " + kBlock});
  CHECK(unseen_settings(trial) == "tensor mix scope Torch.abs.0.forward scope " + kBlock + " all");
}

TEST_CASE("msprobe: gradients of parameters do not end what was left out before a call") {
  const CallTrial trial([](MadeCalls& made) {
    const Values x = some_values(), unseen = with_error(times(x, 5), made.bad() ? 0.5F : 0.0F);
    made.ran("Torch.abs.0.backward", {x}, {times(x, 2)});
    made.ran("Module.fc.Linear.parameters_grad", {}, {times(x, -1)});
    made.ran("Functional.relu.0.backward", {unseen}, {times(unseen, 3)});
  });
  CHECK(unseen_settings(trial) == "tensor L1 scope Torch.abs.0.backward scope Functional.relu.0.backward all");
}

TEST_CASE("msprobe: nothing was left out before the first call") {
  const CallTrial first([](MadeCalls& calls) {
    const Values x = with_error(some_values(), calls.bad() ? 0.5F : 0.0F);
    calls.ran("Functional.relu.0.forward", {x}, {times(x, 3)});
  });
  CHECK(unseen_settings(first).empty());
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

TEST_CASE("msprobe: an input that changes on the way after a root is not a root of its own") {
  const CallTrial trial([](MadeCalls& calls) {
    const auto off = [&](Values all, float factor) {
      for (float& one : all) one *= calls.bad() ? factor : 1;
      return all;
    };
    const Values made = some_values(2), read = some_values(3);
    calls.ran("Functional.linear.0.forward", {some_values()}, {off(made, 1.5F)});
    calls.ran("Functional.relu.0.forward", {off(made, 1.5F)}, {off(read, 1.5F)});
    calls.ran("Functional.gelu.0.forward", {off(read, 5)}, {off(some_values(4), 5)});
  });
  CHECK(trial.roots() == Texts{"value Functional.linear.0.forward"});
}

TEST_CASE("msprobe: an input of unknown origin is the input, while nothing before it differs") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), other = some_values(calls.bad() ? 4.0F : 3.0F);
    calls.ran("Functional.relu.0.forward", {x}, {times(x, 2)});
    calls.ran("Functional.linear.0.forward", {other}, {times(other, 2)});
  });
  REQUIRE(trial.roots() == Texts{"input Functional.linear.0.forward"});
  CHECK(trial.root().rule == RootRule::kSource);
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
  const RunView view = view_of(compared);
  size_t modules = 0;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (view.name(run) != kLayer) continue;
    ++modules;
    REQUIRE(view.inside(run).size() == 2);
    for (const ExecutionId inner : view.inside(run)) CHECK(view.place(inner) == view.place(run));
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

TEST_CASE(
    "msprobe: a parameter that agreed in the first call of its module is not reported at a later call of the step") {
  // An optimizer that was not dumped has updated it: a critic that learns before it is asked again, an epoch in a step.
  const Values x = {1, 2, 3}, w = {4, 5, 6}, y = {10, 20, 30};
  const auto roots = [&](float first, float later) {
    const CallTrial trial([&](MadeCalls& calls) {
      const auto call = [&](const char* name, float factor) {
        calls.ran(name, {x}, {times(y, factor)});
        calls.has("weight", times(w, factor));
      };
      call("Module.net.fc.Linear.forward.0", calls.bad() ? first : 1);
      call("Module.net.fc.Linear.forward.1", calls.bad() ? later : 2);
    });
    return trial.roots();
  };
  CHECK(roots(1, 2.002F) == Texts{});
  CHECK(roots(1.001F, 2.002F) == Texts{"parameter Module.net.fc.Linear.forward.0:weight"});
}

TEST_CASE("msprobe: weights that differ when a dump begins with a later step are what steps before have left") {
  const Values x = {1, 2, 3}, w = {4, 5, 6}, y = {10, 20, 30};
  struct Answer {
    Texts roots;
    double error_at_start = 0;
  };
  const auto diff = [&](const char* step, float trained, float third) {
    const test::ScratchDir scratch;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      for (int i = 0; i < 6; ++i) {
        // No rounding to a format: errors of 1 to 216 times `trained`.
        const float error = i == 2 ? third : trained * static_cast<float>((i + 1) * (i + 1) * (i + 1));
        const float factor = bad ? 1 + error : 1;
        calls.ran(fmt::format("Module.net.fc{}.Linear.forward.0", i), {x}, {times(y, factor)});
        calls.has("weight", times(w, factor));
      }
      const auto side = scratch.path() / (bad ? "bad" : "ref");
      calls.write(side);
      if (step != std::string_view("step0")) std::filesystem::rename(side / "step0", side / step);
    }
    const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
    return Answer{compared.roots(), compared.report().error_at_start};
  };
  const std::string wrong = "parameter Module.net.fc2.Linear.forward.0:weight";
  const Answer trained = diff("step1", 1e-4F, 0.0027F), from_start = diff("step0", 1e-4F, 0.0027F);
  CHECK(trained.roots == Texts{});
  CHECK(trained.error_at_start > 1e-4);
  CHECK(from_start.roots.size() > 1);
  CHECK(from_start.error_at_start == 0);
  // One that alone differs, or is unlike its partner, is wrong in any step.
  CHECK(diff("step1", 0, 0.0027F).roots == Texts{wrong});
  CHECK(diff("step1", 1e-4F, 2).roots == Texts{wrong});
}

TEST_CASE("msprobe: a backward call before forward calls of its step may have run again after them") {
  // Gradients of gradients: the backward call has the place of its first time and the values of its last.
  const auto roots = [](float slope, float later) {
    const CallTrial trial([&](MadeCalls& calls) {
      const Values x = some_values(1), y = some_values(2), g = some_values(3), h = some_values(5);
      calls.ran("Torch.tanh.0.forward", {x}, {y});
      calls.ran("Torch.tanh.0.backward", {times(g, calls.bad() ? slope : 1)}, {times(h, calls.bad() ? slope : 1)});
      calls.ran("Torch.mul.0.forward", {times(y, 2), y}, {times(y, 3)});
      calls.ran("Torch.sin.0.forward", {times(y, calls.bad() ? later : 7)}, {times(x, calls.bad() ? later : 7)});
      calls.ran("Torch.sin.0.backward", {x}, {x});
    });
    return trial.roots();
  };
  CHECK(roots(1.01F, 9) == Texts{"input Torch.sin.0.forward"});
  CHECK(roots(1.01F, 7) == Texts{"input Torch.tanh.0.backward"});
}

TEST_CASE("msprobe: gradients that one side does not clear are told by their means, also if they were clipped") {
  const auto root = [](float kept, float factor, bool of_reference, int modules = 8) {
    const CallTrial trial([&](MadeCalls& calls) {
      const bool keeps = calls.bad() != of_reference;
      for (int i = 0; i < modules; ++i) {
        const auto name = [&](const char* what) { return fmt::format("Module.net.fc{}.Linear.{}", i, what); };
        const float n = static_cast<float>(i);
        const Values before = {1 + n, 2, -17}, x = {2, n, 5};
        Values now = times({3 - 2 * n, 4, 9 + n * n}, calls.bad() ? factor : 1);
        for (size_t k = 0; keeps && k < now.size(); ++k) now[k] += kept * before[k];
        calls.ran(name("forward.0"), {x}, {times(x, 2)});
        calls.ran(name("backward.0"), {x}, {times(x, 3)});
        calls.ran(name("parameters_grad.0"), {}, {before});
        calls.ran(name("forward.1"), {x}, {times(x, 2)});
        calls.ran(name("backward.1"), {x}, {times(x, 3)});
        calls.ran(name("parameters_grad.1"), {}, {now});
      }
      calls.ran("Torch.clip.0.forward", {{1, 2}}, {{3, 4}});
    });
    const auto& roots = trial.compared().report().roots;
    return roots.empty() || roots.front().rule != RootRule::kKept ? std::string() : roots.front().reason;
  };
  CHECK(root(1, 1, false) ==
        "only the candidate keeps the gradients of the batch before: the means of 8 tensors differ by 1 of theirs");
  CHECK(root(0.25F, 1, false) ==
        "only the candidate keeps the gradients of the batch before: the means of 8 tensors differ by 0.25 of theirs");
  CHECK(root(1, 1, true) ==
        "only the reference keeps the gradients of the batch before: the means of 8 tensors differ by 1 of theirs");
  CHECK(root(0, 1.3F, false) == std::string());
  CHECK(root(2, 1, false) == std::string());
  CHECK(root(1, 1, false, 5) == std::string());  // may be chance
}

TEST_CASE("msprobe: gradients of parameters are judged by what their backward call read") {
  const auto roots = [](float wrong_gradient, float wrong_result) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = some_values(), gradient = some_values(0.1F);
      const Values read = with_error(gradient, calls.bad() ? wrong_gradient : 0.0F);
      calls.ran(kLayer, {x}, {times(x, 2)});
      calls.ran("Functional.gelu.0.forward", {times(x, 2)}, {times(x, 3)});
      calls.ran("Functional.gelu.0.backward", {gradient}, {read});
      calls.ran("Module.fc.Linear.backward.0", {read}, {times(read, 3)});
      calls.ran("Module.fc.Linear.parameters_grad.0", {},
                {with_error(times(read, 5), calls.bad() ? wrong_result : 0.0F)});
    });
    return trial.roots();
  };
  CHECK(roots(0, 0) == Texts{});
  CHECK(roots(0, 2) == Texts{"value Module.fc.Linear.parameters_grad.0"});
  CHECK(roots(0.05F, 0) == Texts{"value Functional.gelu.0.backward"});
}

TEST_CASE("msprobe: gradients of a second batch have the error of those of the first, which they are added to") {
  const auto roots = [](float of_first, float of_second) {
    const CallTrial trial([=](MadeCalls& calls) {
      const auto wrong = [&](const Values& values, float error) {
        return with_error(values, calls.bad() ? error : 0.0F);
      };
      const Values x = some_values();
      for (const int batch : {0, 1}) {
        const Values gradient = some_values(0.1F * static_cast<float>(1 + batch)), sum = some_values(7);
        const float noise = batch == 0 ? of_first : 0;
        calls.ran(fmt::format("Module.fc.Linear.forward.{}", batch), {x}, {times(x, 2)});
        calls.ran(fmt::format("Module.fc.Linear.backward.{}", batch), {wrong(gradient, noise)},
                  {wrong(times(gradient, 3), noise)});
        calls.ran(fmt::format("Module.fc.Linear.parameters_grad.{}", batch), {},
                  {wrong(batch == 0 ? times(gradient, 5) : sum, batch == 0 ? noise : of_second)});
      }
    });
    return trial.roots();
  };
  const Texts first = {"input Module.fc.Linear.backward.0"};
  CHECK(roots(0, 0) == Texts{});
  CHECK(roots(0, 0.05F) == Texts{"value Module.fc.Linear.parameters_grad.1"});
  CHECK(roots(0.05F, 0.05F) == first);
}

TEST_CASE("msprobe: of the inputs of unknown origin of a call one is named") {
  const CallTrial trial([](MadeCalls& calls) {
    const float scale = calls.bad() ? 4.0F : 3.0F;
    calls.ran("Functional.add.0.forward", {some_values(scale), some_values(2 * scale)}, {some_values(3 * scale)});
  });
  CHECK(trial.roots() == Texts{"input Functional.add.0.forward"});
}

TEST_CASE("msprobe: an input of unknown origin stays named where the module around its reader is explained by it") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), hidden = some_values(calls.bad() ? 4.0F : 3.0F), y = times(hidden, 2);
    calls.ran("Functional.linear.0.forward", {hidden}, {y}, kLayer);
    calls.ran(kLayer, {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {times(y, 3)});
  });
  CHECK(trial.roots() == Texts{"input Functional.linear.0.forward"});
}

TEST_CASE("msprobe: a gradient that was cut is named where it was cut, also by what runs after the backward pass") {
  const auto roots = [](bool cut, bool after) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = some_values();
      calls.ran("Functional.relu.0.forward", {x}, {times(x, 2)});
      calls.ran("Functional.tanh.0.forward", {times(x, 2)}, {times(x, 4)});
      calls.ran("Functional.silu.0.forward", {times(x, 4)}, {times(x, 8)});
      // Gradients are added up between the calls.
      if (!calls.bad() || !cut) {
        calls.ran("Functional.silu.0.backward", {some_values(0.1F)}, {some_values(0.2F)});
        calls.ran("Functional.tanh.0.backward", {some_values(0.3F)}, {some_values(0.7F)});
      }
      const Values read = some_values(calls.bad() ? 0.5F : 1.1F);
      calls.ran(after ? "Functional.mul.0.forward" : "Functional.relu.0.backward", {read}, {times(read, 3)});
    });
    if (cut) {
      REQUIRE(trial.root().cut);
      CHECK(trial.root().cut->operators.size() == 2);
      CHECK_FALSE(trial.root().cut->returned);
      CHECK_FALSE(trial.root().cut->of_candidate);
    }
    return trial.roots();
  };
  CHECK(roots(true, false) == Texts{"missing Functional.silu.0.backward"});
  CHECK(roots(true, true) == Texts{"missing Functional.silu.0.backward"});
  CHECK(roots(false, true) == Texts{"input Functional.mul.0.forward"});
}

TEST_CASE("msprobe: where the forward call is missing, too, no gradient is cut") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), gradient = some_values(0.2F);
    if (!calls.bad()) calls.ran("Functional.silu.0.forward", {x}, {times(x, 2)});
    if (!calls.bad()) calls.ran("Functional.silu.0.backward", {some_values(0.1F)}, {gradient});
    calls.ran("Functional.mul.0.forward", {calls.bad() ? times(gradient, 3) : gradient}, {times(gradient, 5)});
  });
  for (const Divergence& root : trial.compared().report().roots) CHECK_FALSE(root.cut);
  CHECK_FALSE(trial.compared().report().cut);
}

TEST_CASE("msprobe: gradients that backward calls return on one side alone are cut there") {
  const auto cut = [](bool returned) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = some_values();
      calls.ran("Module.a.GRUCell.forward.0", {x}, {times(x, 2)});
      calls.ran("Module.b.GRUCell.forward.0", {times(x, 2), x}, {times(x, 4)});
      std::vector<Values> gradients = {some_values(0.3F), some_values(0.5F)};
      if (calls.bad() && !returned) gradients.pop_back();
      calls.ran("Module.b.GRUCell.backward.0", {some_values(0.2F)}, gradients);
      calls.ran("Module.a.GRUCell.backward.0", {some_values(calls.bad() ? 1.3F : 0.8F)},
                {some_values(calls.bad() ? 1.4F : 0.9F)});
    });
    REQUIRE(trial.roots() == Texts{"input Module.a.GRUCell.backward.0"});
    return trial.root().cut;
  };
  REQUIRE(cut(false));
  CHECK(cut(false)->returned);
  CHECK(cut(false)->operators.size() == 1);
  CHECK_FALSE(cut(true));
}

namespace {

// Eight calls that have an error of `noise`, with equal inputs.
void add_noisy_calls(MadeCalls& calls, float noise) {
  for (size_t i = 0; i < 8; ++i) {
    const Values x = some_values(1.0F + static_cast<float>(i));
    Values y = times(x, 0.7F);
    for (size_t j = 0; j < y.size() && calls.bad(); ++j) y[j] *= 1 + ((j + i) % 2 == 0 ? noise : -noise);
    calls.ran("Functional.tanh." + std::to_string(i) + ".forward", {x}, {y});
  }
}

}  // namespace

TEST_CASE("msprobe: an input of unknown origin may have the noise that operators usually add") {
  const auto roots = [](float noise) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = times(some_values(), calls.bad() ? 1.002F : 1.0F);
      calls.ran("Functional.mul.0.forward", {x}, {times(x, 3)});
      add_noisy_calls(calls, noise);
    });
    return trial.roots();
  };
  CHECK(roots(1e-3F) == Texts{});
  CHECK(roots(0) == Texts{"input Functional.mul.0.forward"});
}

TEST_CASE("msprobe: a gradient of unknown origin may have lost elements to what flips, a value may not") {
  const auto roots = [](const std::string& pass) {
    const CallTrial trial([=](MadeCalls& calls) {
      add_noisy_calls(calls, 1e-4F);
      const Values x = some_values(11), read = times(some_values(13), calls.bad() ? 1.003F : 1.0F);
      if (pass == "backward") calls.ran("Functional.mul.0.forward", {x}, {times(x, 3)});
      calls.ran("Functional.mul.0." + pass, {read}, {times(read, 3)});
    });
    return trial.roots();
  };
  CHECK(roots("backward") == Texts{});
  CHECK(roots("forward") == Texts{"input Functional.mul.0.forward"});
}

TEST_CASE(
    "msprobe: of gradients of unknown origin one that is zero but for rounding counts by the size of the others") {
  const auto roots = [](float size) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = some_values(3), small = some_values(calls.bad() ? 1.5F * size : size);
      calls.ran("Functional.norm.0.forward", {x, small}, {times(x, calls.bad() ? 1.01F : 1.0F)});
    });
    return trial.roots();
  };
  CHECK(roots(1e-9F) == Texts{});
  CHECK(roots(1e-2F) == Texts{"input Functional.norm.0.forward"});
}

TEST_CASE("several gradients that the reference alone returns are a cut, unless a side makes other calls") {
  const auto is_cut = [](int returned, bool other_call) {
    const CallTrial trial([&](MadeCalls& calls) {
      const auto product = [](int i, const char* pass) { return fmt::format("Tensor.mul.{}.{}", i, pass); };
      const auto values = [](int i) { return some_values(static_cast<float>(i)); };
      for (int i = 0; i < returned; ++i)
        calls.ran(product(i, "forward"), {values(i), values(i + 10)}, {values(i + 20)});
      if (calls.bad() && other_call) calls.ran("Tensor.exp.0.forward", {values(1)}, {values(50)});
      for (int i = 0; i < returned; ++i) {
        std::vector<Values> gradients = {values(i + 30)};
        if (!calls.bad()) gradients.push_back(values(i + 40));
        calls.ran(product(i, "backward"), {values(i + 60)}, gradients);
      }
    });
    return trial.compared().report().cut.has_value();
  };
  CHECK(is_cut(4, false));
  CHECK_FALSE(is_cut(4, true));
  CHECK_FALSE(is_cut(1, false));
}

}  // namespace msdump
