#include "divergence/runs/run_facts.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/graph_run.h"
#include "support/made_calls.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using From = InputEdge::From;

// The flow of a trial, with runs found by the names that the reference has for their operators.
class Flow {
 public:
  explicit Flow(const test::ComparedDumps& compared)
      : compared_(compared),
        graph(paired_runs(compared.a(), compared.b(), compared.pairing(), compared.diffs())),
        runs(graph.runs()) {}

  [[nodiscard]] ExecutionId run(std::string_view name) const {
    const Pairing& pairing = compared_.pairing();
    for (ExecutionId i{0}; i < runs.size(); ++i) {
      const OpPair& pair = pairing.operators[runs[i].op];
      if (pair.b != kNoId && pairing.b[pair.b].name == name) return i;
    }
    FAIL("no run of " << name);
    return kNoId;
  }
  [[nodiscard]] const RunInput& input(std::string_view name, size_t slot) const {
    const OpRun& found = runs[run(name)];
    REQUIRE(slot < found.inputs.size());
    return found.inputs[slot];
  }
  // "output:0" of a tensor.
  [[nodiscard]] std::string tensor(TensorId tensor) const {
    const RecordId place = compared_.pairing().tensors[tensor].b;
    REQUIRE(place != kNoId);
    const NameFacts& name = (*compared_.b().tensors)[place].name;
    return std::string(name_of(name.io)) + ":" + std::string(name.slot);
  }
  [[nodiscard]] Texts outputs(std::string_view name) const {
    Texts texts;
    for (const TensorId one : runs[run(name)].outputs) texts.push_back(tensor(one));
    return texts;
  }

 private:
  const test::ComparedDumps& compared_;

 public:
  const RunGraph graph;
  const std::vector<OpRun>& runs;
};

}  // namespace

TEST_CASE("an input knows the output that it was, a parameter, or that it is a constant") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    net.op("Add", {y, net.weight("w")});
  });
  const Flow flow(trial.compared());
  CHECK(flow.graph.flow() == FlowKind::kIr);
  CHECK(flow.input("Default/Mul-op0", 0).from == From::kParameter);
  CHECK_FALSE(flow.input("Default/Mul-op0", 0).is_weight);
  CHECK(flow.input("Default/Mul-op0", 1).from == From::kConstant);
  const RunInput& product = flow.input("Default/Add-op0", 0);
  CHECK(product.from == From::kOperator);
  CHECK(product.producer == flow.run("Default/Mul-op0"));
  CHECK(flow.tensor(product.produced) == "output:0");
  CHECK(flow.input("Default/Add-op0", 1).is_weight);
  CHECK(flow.input("Default/Add-op0", 1).parameter == "w");
  CHECK(flow.runs[product.producer].readers == std::vector{flow.run("Default/Add-op0")});
}

TEST_CASE("a run is one operator in one step of one rank; edges stay within these") {
  const Trial trial(
      [](MadeNet& net) {
        net.op("ReLU", {net.op("Exp", {net.input("x", some_values(static_cast<float>(net.step() + 1)))})});
      },
      {.ranks = 2, .steps = 2});
  const Flow flow(trial.compared());
  const std::vector<OpRun>& runs = flow.runs;
  REQUIRE(runs.size() == 8);
  CHECK(std::is_sorted(runs.begin(), runs.end(), [](const OpRun& left, const OpRun& right) {
    return std::tie(left.place, left.op) < std::tie(right.place, right.op);
  }));
  size_t edges = 0;
  for (const OpRun& run : runs) {
    for (const RunInput& input : run.inputs) {
      if (input.producer == kNoId) continue;
      CHECK(runs[input.producer].place == run.place);
      ++edges;
    }
  }
  CHECK(edges == 4);
}

TEST_CASE("an input whose file is not there has the producer's output all the same") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("ReLU", {net.op("Exp", {net.input("x")})});
    net.hide_input(y, 0);
  });
  const Flow flow(trial.compared());
  CHECK(flow.input("Default/ReLU-op0", 0).tensor == kNoId);
  CHECK(flow.tensor(flow.input("Default/ReLU-op0", 0).produced) == "output:0");
}

TEST_CASE("what an operator updates in place is an output, by the table and by the bytes") {
  const auto build = [](const std::string& type) {
    return [=](MadeNet& net) {
      const auto w = net.op("Exp", {net.weight("w")});
      const auto updated = net.op(type, {w, net.input("g")});
      net.show_input(updated, 0, net[updated]);
    };
  };
  const Trial known(build("AssignAdd")), shown(build("NewUpdater"));
  CHECK(Flow(known.compared()).outputs("Default/AssignAdd-op0") == Texts{"input:0"});
  CHECK(Flow(shown.compared()).outputs("Default/NewUpdater-op0") == Texts{"input:0"});
  CHECK(Flow(shown.compared()).runs[Flow(shown.compared()).run("Default/NewUpdater-op0")].inputs.size() == 1);
}

TEST_CASE("without an IR the type says what an operator updates in place") {
  const Trial trial(
      [](MadeNet& net) {
        const auto w = net.op("Exp", {net.weight("w")});
        const auto updated = net.op("AssignAdd", {w, net.input("g")});
        net.show_input(updated, 0, net[updated]);
      },
      {.ir = false});
  const Flow flow(trial.compared());
  REQUIRE(flow.graph.flow() != FlowKind::kIr);
  CHECK(flow.outputs("Default_AssignAdd-op0") == Texts{"input:0"});
}

TEST_CASE("outputs that nothing reads are left out beside those that are read, and only then") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("BatchNorm", {net.input("x")});
    net.add_output(y, some_values(2));
    const auto z = net.op("Split", {y});  // none of its outputs is read
    net.add_output(z, some_values(3));
  });
  const Flow flow(trial.compared());
  CHECK(flow.outputs("Default/BatchNorm-op0") == Texts{"output:0"});
  CHECK(flow.outputs("Default/Split-op0") == Texts{"output:0", "output:1"});
}

TEST_CASE("without an IR an input was made by the first that wrote its value") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = some_values(2), z = some_values(3);
    calls.ran("Functional.linear.0.forward", {x}, {y}, "Module.fc.Linear.forward.0");
    calls.ran("Module.fc.Linear.forward.0", {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {z});
  });
  const Flow flow(trial.compared());
  CHECK(flow.graph.flow() == FlowKind::kValues);
  CHECK(flow.input("Functional.relu.0.forward", 0).producer == flow.run("Functional.linear.0.forward"));
  CHECK(flow.input("Functional.linear.0.forward", 0).producer == kNoId);
}

TEST_CASE("without an IR nothing is made by what ran after it") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = some_values(2);
    calls.ran("Functional.relu.0.forward", {y}, {x});
    calls.ran("Functional.linear.0.forward", {some_values(5)}, {y});
  });
  CHECK(Flow(trial.compared()).graph.flow() == FlowKind::kOrder);
}

TEST_CASE("statistics link an input to what wrote its value, where they tell tensors apart") {
  // A Neg reads what an Exp wrote, with these statistics in the reference. Others have other ones.
  struct Statistics {
    std::optional<double> max, min, mean;
    double scale;
  };
  const Trial trial([](MadeNet& net) { net.op("Neg", {net.op("Exp", {net.input("x")})}); }, {.ir = false});
  const test::ComparedDumps& compared = trial.compared();
  const auto linked = [&](const Statistics& written, const Statistics& read, const Shape& shape = {}) {
    std::vector<TensorDiff> diffs = compared.diffs();
    for (size_t i = 0; i < diffs.size(); ++i) {
      const TensorRecord& record = (*compared.b().tensors)[compared.pairing().tensors[i].b];
      const bool of_exp = record.name.op_type == "Exp", is_output = record.name.io == Io::kOutput;
      const double other = of_exp ? 17.25 : 19.5;
      const Statistics own = of_exp && is_output ? written : !of_exp && !is_output ? read : Statistics{other, 1, 2, 3};
      diffs[i] = {};
      diffs[i].verdict = Verdict::kClose;
      diffs[i].by_statistics = true;
      kernels::PairMetrics metrics;
      metrics.max_b = own.max;
      metrics.min_b = own.min;
      metrics.mean_b = own.mean;
      diffs[i].metrics = metrics;
      diffs[i].scale = own.scale;
      diffs[i].shape = shape;
    }
    const RunGraph graph = paired_runs(compared.a(), compared.b(), compared.pairing(), diffs);
    return graph.runs().back().inputs.at(0).producer != kNoId;
  };
  const Statistics usual{3.5, -2.5, 0.5, 1.5};
  CHECK(linked(usual, usual));
  CHECK_FALSE(linked(usual, {3.5, -2.5, 0.5, 1.75}));  // another norm
  CHECK_FALSE(linked(usual, {3.5, -2.5, 0.75, 1.5}));
  CHECK_FALSE(linked(usual, {3.5, -2.25, 0.5, 1.5}));
  const Statistics masked{3.25, std::nullopt, std::nullopt, 0}, masked_above{std::nullopt, 3.25, std::nullopt, 0};
  CHECK(linked(masked, masked));
  CHECK(linked(masked_above, masked_above));
  CHECK_FALSE(linked(masked, masked_above));
  CHECK_FALSE(linked(masked, {3.75, std::nullopt, std::nullopt, 0}));
  // Many masks have a largest value of 0, and other whole numbers.
  for (const double whole : {0.0, 1.0, -2.0}) {
    INFO(whole);
    CHECK_FALSE(linked({whole, std::nullopt, std::nullopt, 0}, {whole, std::nullopt, std::nullopt, 0}));
    CHECK_FALSE(linked({std::nullopt, whole, std::nullopt, 0}, {std::nullopt, whole, std::nullopt, 0}));
    CHECK(linked({whole, -3.5, 0.5, 1.5}, {whole, -3.5, 0.5, 1.5}));
  }
  // A value alone tells a single number, such as a loss, if it has many digits.
  const auto all = [](double value) { return Statistics{value, value, value, value}; };
  for (const double common : {2.5, 0.0, 1.0, 0.1, -0.001, 0.3333, 4096.0}) {
    INFO(common);
    CHECK_FALSE(linked(all(common), all(common)));
  }
  for (const double loss : {1.2391445636749268, -0.00012345678, 9.87654321e8}) {
    INFO(loss);
    CHECK(linked(all(loss), all(loss)));
    CHECK_FALSE(linked(all(loss), all(loss), {4}));
  }
  CHECK_FALSE(linked({std::nullopt, std::nullopt, 1, 1}, {std::nullopt, std::nullopt, 1, 1}));
}

TEST_CASE("gradients of parameters are outputs of their entry") {
  const CallTrial trial([](MadeCalls& calls) {
    calls.ran("Functional.linear.0.forward", {some_values()}, {some_values(2)}, "Module.fc.Linear.forward.0");
    calls.ran("Module.fc.Linear.forward.0", {some_values()}, {some_values(2)});
    calls.ran("Module.fc.Linear.parameters_grad.0", {}, {some_values(3)});
  });
  CHECK(Flow(trial.compared()).outputs("Module.fc.Linear.parameters_grad.0") == Texts{"parameter:weight"});
}

TEST_CASE("an output that an operator without a file reads is compared, not passed over as unwritten") {
  // As with `kernels`: of three operators two were dumped; the first output goes to the one that was not.
  const test::ScratchDir scratch;
  const auto tensor = [&](const char* side, const std::string& op, const std::string& io, float value) {
    const std::string type = op.substr(0, op.find('-'));
    scratch.write(
        fmt::format("{}/rank_0/Net/0/0/{}.Default_{}.0.0.1700000000000001.{}.DefaultFormat.npy", side, type, op, io),
        test::npy_of("<f4", {2}, std::string(reinterpret_cast<const char*>(&value), 4) + std::string(4, 0)));
  };
  for (const char* const side : {"a", "b"}) {
    scratch.write(std::string(side) + "/rank_0/graphs/ms_output_trace_code_graph_0.ir",
                  test::ir_text(test::node_text("%1", "LayerNorm", "%para1_x", "Default/LayerNorm-op1") +
                                test::node_text("%2", "TupleGetItem", "%1, I64(0)", "Default/TupleGetItem-op1") +
                                test::node_text("%3", "TupleGetItem", "%1, I64(1)", "Default/TupleGetItem-op2") +
                                test::node_text("%4", "Mul", "%2", "Default/Mul-op1") +
                                test::node_text("%5", "Neg", "%3", "Default/Neg-op1") + "  Return(%4)\n"));
    tensor(side, "LayerNorm-op1", "input.0", 1);
    tensor(side, "LayerNorm-op1", "output.0", side[0] == 'a' ? 7 : 2);
    tensor(side, "LayerNorm-op1", "output.1", 3);
    tensor(side, "Neg-op1", "input.0", 3);
    tensor(side, "Neg-op1", "output.0", -3);
  }
  const test::ComparedDumps compared(scratch.path() / "a", scratch.path() / "b");
  CHECK(compared.report().explained.back() != Explanation::kUnwritten);
  CHECK(compared.roots() == Texts{"value Default/LayerNorm-op1"});
}

}  // namespace msdump
