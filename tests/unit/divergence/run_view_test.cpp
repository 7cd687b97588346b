#include "divergence/runs/run_view.h"

#include <functional>
#include <limits>

#include <fmt/format.h>

#include "divergence/run_inputs.h"
#include "support/catch.h"
#include "support/made_calls.h"
#include "support/made_net.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

ExecutionId run_of(const RunView& view, std::string_view name, int rank = 0) {
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (view.name(run) == name && view.place(run).rank == rank) return run;
  }
  FAIL("no run of " << name);
  return kNoId;
}

// "0 2": the slots of tensors or of inputs.
std::string slots(const RunView& view, const std::vector<TensorId>& tensors) {
  std::string text;
  for (const TensorId tensor : tensors) text += (text.empty() ? "" : " ") + std::string(view.slot(tensor));
  return text;
}
std::string slots(const std::vector<const RunInput*>& inputs) {
  std::string text;
  for (const RunInput* const input : inputs) text += (text.empty() ? "" : " ") + std::to_string(input->slot);
  return text;
}

// What is true of the inputs.
std::string words(const RunInputs& inputs) {
  std::string text;
  const auto add = [&](bool is, std::string_view word) {
    if (is) text += (text.empty() ? "" : " ") + std::string(word);
  };
  add(inputs.all_same, "same");
  add(inputs.unknown, "unknown");
  add(inputs.unknown_source, "unknown-source");
  add(inputs.downstream, "downstream");
  add(inputs.downstream_of_nan, "downstream-of-nan");
  add(inputs.other_shape, "other-shape");
  add(inputs.gained_nan, "nan");
  add(inputs.gained_inf, "inf");
  return text;
}

RunInputs inputs_of(const RunView& view, ExecutionId run, std::vector<RunState> states = {}) {
  RunHistory history;
  history.states = std::move(states);
  history.states.resize(view.runs().size());
  return inputs_of_run(view, NoiseModel(view), history, run);
}

}  // namespace

TEST_CASE("an operator is on the line that the reference has for it, one that it lacks on the candidate's") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    net.on_line(net.bad() ? 70 : 20);
    const auto y = net.op("Exp", {x});
    if (net.bad()) net.op("Tanh", {y});
  });
  const RunView view = view_of(trial.compared());
  CHECK(view.line(run_of(view, "Default/Exp-op0")) == SourceLine{"/home/user/net.py", 20});
  CHECK(view.line(run_of(view, "Default/Tanh-op0")) == SourceLine{"/home/user/net.py", 71});
  const Trial without_ir([](MadeNet& net) { net.op("Exp", {net.input("x")}); }, {.ir = false});
  CHECK_FALSE(view_of(without_ir.compared()).line(ExecutionId(0)));
}

TEST_CASE("an operator that one side alone has, a gradient and a backward call are known by their names") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Exp", {x}, "Gradients/Default");
    if (net.bad()) net.op("Tanh", {y});
    if (!net.bad()) net.op("Sign", {x});
  });
  const CallTrial calls([](MadeCalls& made) {
    made.ran("Functional.relu.0.forward", {some_values()}, {some_values(2)});
    made.ran("Functional.relu.0.backward", {some_values(0.1F)}, {some_values(0.2F)});
  });
  Texts facts;
  for (const auto* const compared : {&trial.compared(), &calls.compared()}) {
    const RunView view = view_of(*compared);
    for (ExecutionId run{0}; run < view.runs().size(); ++run) {
      facts.push_back(fmt::format("{}:{}{}{}{}", view.name(run), view.one_sided(run) ? " one-sided" : "",
                                  view.of_candidate_only(run) ? " candidate" : "",
                                  view.is_gradient(run) ? " gradient" : "", view.is_backward(run) ? " backward" : ""));
    }
  }
  CHECK(facts == Texts{"Gradients/Default/Exp-op0: gradient", "Default/Tanh-op0: one-sided candidate",
                       "Default/Sign-op0: one-sided",
                       "Functional.relu.0.forward:", "Functional.relu.0.backward: gradient backward"});
}

TEST_CASE("a backward call has a forward call, and the gradients of parameters have both") {
  const CallTrial trial([](MadeCalls& made) {
    for (const char* const call : {"0", "1"}) {
      made.ran(fmt::format("Module.fc.Linear.forward.{}", call), {some_values()}, {some_values(2)});
      made.ran(fmt::format("Module.fc.Linear.backward.{}", call), {some_values(0.1F)}, {some_values(0.2F)});
      made.ran(fmt::format("Module.fc.Linear.parameters_grad.{}", call), {}, {some_values(3)});
    }
  });
  const RunView view = view_of(trial.compared());
  Texts found;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    for (const ExecutionId other : view.forward_calls_of(run))
      found.push_back(fmt::format("{} < {}", view.name(run), view.name(other)));
    for (const ExecutionId other : view.backward_calls_of(run))
      found.push_back(fmt::format("{} < {}", view.name(run), view.name(other)));
  }
  CHECK(found == Texts{"Module.fc.Linear.backward.0 < Module.fc.Linear.forward.0",
                       "Module.fc.Linear.parameters_grad.0 < Module.fc.Linear.forward.0",
                       "Module.fc.Linear.parameters_grad.0 < Module.fc.Linear.backward.0",
                       "Module.fc.Linear.backward.1 < Module.fc.Linear.forward.1",
                       "Module.fc.Linear.parameters_grad.1 < Module.fc.Linear.forward.1",
                       "Module.fc.Linear.parameters_grad.1 < Module.fc.Linear.backward.1"});
}

TEST_CASE("a run is found by its name, on its rank and in its step") {
  const Trial trial(
      [](MadeNet& net) {
        const auto y = net.op("Exp", {net.input("x")});
        if (net.rank() != 1 || net.step() != 0) net.op("Neg", {y});
        if (net.bad()) net.op("Tanh", {y});
      },
      {.ranks = 2, .steps = 2});
  const RunView view = view_of(trial.compared());
  const auto found = [&](std::string_view name) {
    Texts places;
    for (int rank = 0; rank < 3; ++rank) {
      for (int step = 0; step < 2; ++step) {
        for (const ExecutionId run : view.runs_named(name, {rank, step, 0})) {
          CHECK(view.name(run) == name);
          places.push_back(fmt::format("{} {}", *view.place(run).rank, *view.place(run).step));
        }
      }
    }
    return places;
  };
  CHECK(found("Default/Exp-op0") == Texts{"0 0", "0 1", "1 0", "1 1"});
  CHECK(found("Default/Neg-op0") == Texts{"0 0", "0 1", "1 1"});
  CHECK(found("Default/Tanh-op0") == Texts{"0 0", "0 1", "1 0", "1 1"});
  CHECK(found("Default/Abs-op0").empty());
}

TEST_CASE("a tensor is like the parameter of the reference that holds its values, where -0 is 0") {
  const test::ScratchDir scratch;
  for (const char* const side : {"bad", "ref"}) {
    const auto write = [&](const std::string& name, const Values& values) {
      const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
      scratch.write(fmt::format("{}/step0/rank0/dump_tensor_data/{}.npy", side, name),
                    test::npy_of("<f4", {static_cast<int64_t>(values.size())}, bytes));
    };
    write("Functional.linear.0.forward.input.0", {-3, -0.0F});
    write("Functional.linear.0.forward.input.1", {-5, 0.0F});
    write("Functional.linear.0.forward.output.0", {-4, -0.0F});
    write("Module.fc.Linear.forward.0.parameters.bias", {-3, 0.0F});
    write("Module.fc.Linear.forward.0.parameters.weight", {-5, -0.0F});
    write("Module.fc.Linear.forward.0.input.0", {-4, 0.0F});
  }
  const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
  const RunView view = view_of(compared);
  const OpRun& linear = view.run(run_of(view, "Functional.linear.0.forward"));
  REQUIRE(linear.inputs.size() == 2);
  CHECK(view.parameter_like(linear.inputs[0].tensor) == "Module.fc.Linear.forward.0:bias");
  CHECK(view.parameter_like(linear.inputs[1].tensor) == "Module.fc.Linear.forward.0:weight");
  CHECK(view.parameter_like(linear.outputs.at(0)).empty());
}

TEST_CASE("the inputs of readers stand for outputs that were not dumped, and agree where they are compared") {
  const auto facts = [](const std::function<void(MadeNet&, MadeNet::Tensor, MadeNet::Tensor)>& change) {
    const Trial trial([&](MadeNet& net) {
      const auto y = net.op("Exp", {net.input("x")});
      const auto z = net.op("Neg", {y});
      change(net, y, z);
    });
    const RunView view = view_of(trial.compared());
    const ExecutionId run = run_of(view, "Default/Exp-op0");
    std::string text;
    for (const TensorId tensor : view.outputs(run)) {
      const TensorRecord& record = (*trial.compared().b().tensors)[trial.compared().pairing().tensors[tensor].b];
      text += fmt::format("{}:{} ", record.name.op_type, name_of(record.name.io));
    }
    return text + (view.all_agree(run) ? "agree" : "open");
  };
  CHECK(facts([](MadeNet&, auto, auto) {}) == "Exp:output agree");
  CHECK(facts([](MadeNet& net, auto y, auto) { net.hide_output(y); }) == "Neg:input agree");
  CHECK(facts([](MadeNet& net, auto y, auto z) {
          net.hide_output(y);
          net.hide_input(z, 0);
        }) == "open");
  CHECK(facts([](MadeNet& net, auto y, auto) {
          if (net.bad()) net[y][2] += 1;
        }) == "Exp:output open");
  // What was written differs, what was read does not: the dump does not show what was passed on.
  CHECK(facts([](MadeNet& net, auto y, auto z) {
          const Values right = net[y];
          if (!net.bad()) return;
          net[y][2] += 1;
          net.show_input(z, 0, right);
        }) == "open");
}

TEST_CASE("a power of two between gradients is divided out of their errors") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    for (int i = 0; i < 8; ++i) {
      const auto y = net.op("Mul", {x, x}, "Gradients/Default");
      if (!net.bad()) continue;
      for (float& value : net[y]) value *= 1024;
    }
  });
  const RunView view = view_of(trial.compared());
  CHECK(view.loss_scale() == 1024);
  const OpRun& run = view.run(run_of(view, "Gradients/Default/Mul-op3"));
  CHECK(view.is_scaled(run.outputs.at(0)));
  CHECK(view.error(run.outputs.at(0))->relative == 0);
  CHECK_FALSE(view.is_scaled(run.inputs.at(0).tensor));
}

TEST_CASE("each input that differs counts by where it comes from") {
  const Trial trial([](MadeNet& net) {
    const float error = net.bad() ? 1.5F : 1.0F;
    const auto right = net.op("Exp", {net.input("x")}), wrong = net.op("Tanh", {net.input("y")});
    const auto lost = net.op("Sign", {net.input("z")});
    if (net.bad()) net[wrong][2] += 1;
    const auto all = net.op("Concat", {net.weight("v"), net.weight("w", some_values(error)), net.constant(2),
                                       net.constant(2 * error), right, right, wrong, lost, lost});
    if (net.bad()) net.show_input(all, 5, some_values(3));
    net.hide_input(all, 7);
    net.hide_input(all, 8);
  });
  const RunView view = view_of(trial.compared());
  std::vector<RunState> states(view.runs().size());
  states[run_of(view, "Default/Tanh-op0")] = {true, true, true};
  const RunInputs all = inputs_of(view, run_of(view, "Default/Concat-op0"), states);
  CHECK(slots(view, all.evidence) == "0 1 2 3 4 5 6 0 0");
  CHECK(slots(view, all.constants) == "3");
  CHECK(slots(all.entering) == "1");
  CHECK(slots(all.changed) == "5");
  CHECK(words(all) == "downstream downstream-of-nan");
  CHECK(words(inputs_of(view, run_of(view, "Default/Sign-op0"), states)) == "same");
}

TEST_CASE("an input that neither its file nor its producer shows is unknown, a constant without a file is not") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Exp", {net.input("x")});
    const auto z = net.op("Mul", {y, net.constant(2)});
    net.hide_output(y);
    net.hide_input(z, 0);
    const auto other = net.op("Add", {net.input("w"), net.constant(3)});
    net.hide_input(other, 1);
    net.hide_input(net.op("Neg", {net.input("v")}), 0);
  });
  const RunView view = view_of(trial.compared());
  const std::vector<RunState> states(view.runs().size());
  const auto of = [&](std::string_view name) { return words(inputs_of(view, run_of(view, name), states)); };
  CHECK(of("Default/Mul-op0") == "same unknown");
  CHECK(of("Default/Add-op0") == "same");
  CHECK(of("Default/Neg-op0") == "same unknown unknown-source");
}

TEST_CASE("a collective operation works with the inputs of every rank") {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto trial = [&](float error) {
    return Trial(
        [=](MadeNet& net) {
          const auto y = net.op("Exp", {net.input("x")});
          if (net.bad() && net.rank() == 1) net[y][4] += error;
          net.op("AllReduce", {y});
        },
        {.ranks = 2});
  };
  const auto words_of_ranks = [](const Trial& of) {
    const RunView view = view_of(of.compared());
    const std::vector<RunState> states(view.runs().size());
    Texts texts;
    for (const int rank : {0, 1})
      texts.push_back(words(inputs_of(view, run_of(view, "Default/AllReduce-op0", rank), states)));
    return texts;
  };
  CHECK(words_of_ranks(trial(0)) == Texts{"same", "same"});
  CHECK(words_of_ranks(trial(1)) == Texts{"", ""});
  CHECK(words_of_ranks(trial(kNan)) == Texts{"nan inf", "nan inf"});
  const Trial first_operator(
      [](MadeNet& net) {
        net.op("AllReduce", {net.input("x", some_values(net.bad() && net.rank() == 0 ? 2.0F : 1.0F))});
      },
      {.ranks = 2});
  CHECK(words_of_ranks(first_operator) == Texts{"", ""});
}

TEST_CASE("a collective operation works with the inputs of the ranks of its group") {
  const auto words_of_ranks = [](const std::string& low, const std::string& high) {
    const Trial trial(
        [=](MadeNet& net) {
          const auto y = net.op("Exp", {net.input("x")});
          if (net.bad() && net.rank() == 1) net[y][4] += 1;
          net.set_attributes(net.op("AllReduce", {y}), net.rank() < 2 ? low : high);
        },
        {.ranks = 4});
    const RunView view = view_of(trial.compared());
    const std::vector<RunState> states(view.runs().size());
    Texts texts;
    for (const int rank : {0, 1, 2, 3})
      texts.push_back(words(inputs_of(view, run_of(view, "Default/AllReduce-op0", rank), states)));
    return texts;
  };
  CHECK(words_of_ranks("rank_list: (0, 1)", "rank_list: (2, 3)") == Texts{"", "", "same", "same"});
  CHECK(words_of_ranks("group: \"low\"", "group: \"high\"") == Texts{"", "", "same", "same"});
  CHECK(words_of_ranks("group: \"world\"", "group: \"world\"") == Texts{"", "", "", ""});
  CHECK(words_of_ranks("", "") == Texts{"", "", "", ""});
}

TEST_CASE("msprobe: a collective operation works with the inputs of the ranks of its group") {
  const auto words_of_ranks = [](const std::string& type, const std::function<std::string(int)>& group) {
    const test::ScratchDir scratch;
    for (const bool bad : {false, true}) {
      for (int rank = 0; rank < 4; ++rank) {
        MadeCalls calls(bad);
        const Values x = some_values(bad && rank == 1 ? 2.0F : 1.0F);
        calls.ran("Distributed.all_reduce.0.forward", {x}, {some_values(3)});
        calls.given("group", type, group(rank));
        calls.write(scratch.path() / (bad ? "bad" : "ref"), fmt::format("step0/rank{}", rank));
      }
    }
    const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
    const RunView view = view_of(compared);
    const std::vector<RunState> states(view.runs().size());
    Texts texts;
    for (const int rank : {0, 1, 2, 3}) {
      const std::string all = words(inputs_of(view, run_of(view, "Distributed.all_reduce.0.forward", rank), states));
      texts.push_back(all.substr(0, all.find(' ')));
    }
    return texts;
  };
  const auto by_ranks = [](int rank) { return rank < 2 ? R"(0,"group_ranks":[0,1])" : R"(0,"group_ranks":[2,3])"; };
  const Texts halves = words_of_ranks("torch.ProcessGroup", by_ranks);
  CHECK(halves.at(0) != "same");
  CHECK(halves.at(1) != "same");
  CHECK(halves.at(2) == "same");
  CHECK(halves.at(3) == "same");
  const auto by_name = [](int rank) { return rank < 2 ? R"("low")" : R"("high")"; };
  CHECK(words_of_ranks("str", by_name) == halves);
  for (const std::string& all : words_of_ranks("int", [](int) { return "0"; })) CHECK(all != "same");
}

TEST_CASE(
    "msprobe: a backward call works with what its forward call read and wrote; a call without inputs with unknown "
    "ones") {
  const auto inputs = [](float read, float wrote) {
    const CallTrial trial([=](MadeCalls& calls) {
      const Values x = some_values(calls.bad() ? read : 1.0F), y = some_values(calls.bad() ? wrote : 2.0F);
      calls.ran("Functional.gelu.0.forward", {x}, {y});
      calls.ran("Functional.gelu.0.backward", {some_values(0.1F)}, {some_values(0.2F)});
    });
    const RunView view = view_of(trial.compared());
    std::vector<RunState> states(view.runs().size());
    states[run_of(view, "Functional.gelu.0.forward")].downstream = true;
    return words(inputs_of(view, run_of(view, "Functional.gelu.0.backward"), states));
  };
  CHECK(inputs(1, 2) == "same downstream");
  CHECK(inputs(1.5F, 2) == "downstream");
  CHECK(inputs(1, 3) == "downstream");
  const CallTrial trial([](MadeCalls& calls) { calls.ran("Torch.rand.0.forward", {}, {some_values()}); });
  CHECK(words(inputs_of(view_of(trial.compared()), ExecutionId(0))) == "same unknown unknown-source");
}

// What div_ leaves is compared with another value. The candidate's own sum is what relu reads.
TEST_CASE("of runs that are cut differently, an output is right where what reads it in the candidate is") {
  const Values gradient = {1, -2, 3.5F}, weight = {0.5F, 0.25F, -1}, other = {1.5F, -2.5F, 4}, sum = {7, 8, -9};
  const CallTrial trial([&](MadeCalls& calls) {
    const Values& made = calls.bad() ? sum : other;
    calls.ran("Tensor.div_.0.forward", {weight}, {calls.bad() ? gradient : other});
    calls.ran("Tensor.__add__.0.forward", {gradient, weight}, {calls.bad() ? sum : Values{3, 4, 5}});
    calls.ran("Functional.relu.0.forward", {made}, {made});
  });
  const test::ComparedDumps& compared = trial.compared();
  const RunView whole = view_of(compared);
  const ExecutionId div = run_of(whole, "Tensor.div_.0.forward"), add = run_of(whole, "Tensor.__add__.0.forward"),
                    relu = run_of(whole, "Functional.relu.0.forward");
  PlacementEvidence placements;
  placements.known.assign(whole.tensors(), true);
  placements.parts.assign(whole.tensors(), false);
  placements.contents_a = placements.contents_b = std::vector<uint64_t>(whole.tensors(), 0);
  const auto outputs_of_div = [&] {
    return slots(whole,
                 RunView(compared.a(), compared.b(), compared.pairing(), compared.diffs(), ModuleTree(), &placements)
                     .outputs(div));
  };
  CHECK(outputs_of_div() == "0");
  placements.contents_a[whole.run(div).outputs[0]] = placements.contents_a[whole.run(add).inputs[0].tensor] = 1;
  placements.contents_a[whole.run(add).outputs[0]] = placements.contents_a[whole.run(relu).inputs[0].tensor] = 2;
  CHECK(outputs_of_div().empty());
}

}  // namespace msdump
