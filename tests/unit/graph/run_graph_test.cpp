#include "graph/flow/run_graph.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

using test::ir_text;
using test::node_text;
using From = InputEdge::From;

template <class... Numbers>
std::vector<TensorId> tensors_of(Numbers... numbers) {
  return {TensorId(numbers)...};
}

// A tensor of the operator of that number.
struct Dumped {
  uint32_t op;
  TensorRole role;
  std::string_view slot;
  uint64_t contents = 0;
  RunPlace place = {0, 0, 0};
  std::optional<uint64_t> time = {};
  std::optional<int64_t> graph = 0;
  std::string_view name = {};
};

RunGraph runs_of(RunSource source, const std::vector<Dumped>& tensors) {
  source.tensors = tensors.size();
  source.tensor = [&](TensorId i) {
    const Dumped& one = tensors[i];
    return RunTensor{OperatorId(one.op), one.place, one.graph, one.role, one.name, one.slot, one.time};
  };
  for (const Dumped& one : tensors) {
    if (one.contents != 0) source.contents.resize(tensors.size());
  }
  for (size_t i = 0; i < source.contents.size(); ++i) source.contents[i] = tensors[i].contents;
  return RunGraph(std::move(source));
}

RunSource named(const std::vector<std::string_view>& types, bool ordered = true) {
  RunSource source;
  for (const std::string_view type : types) source.operators.push_back({kNoId, type, ordered});
  return source;
}

// x -> Mul -> Neg -> Sub(Neg, Mul, w) -> Assign(w, Sub) with a monad, of which the Neg was not dumped. In the source the
// operators are in another order than in the graph: 0 Sub, 1 Mul, 2 Assign.
class Network {
 public:
  static constexpr uint32_t kSub = 0, kMul = 1, kWrite = 2;

  explicit Network(std::string_view writer = "Assign")
      : graph_(test::graph_of(
            {{"graph_build_0_0001.ir",
              ir_text(
                  node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                  node_text("%2", "Neg", "%1", "Default/Neg-op2") +
                  node_text("%3", "Sub", "%2, %1, %para2_w", "Default/Sub-op3") +
                  fmt::format("  %4(CNode_4) = {}(%para2_w, %3, U)\n"
                              "      : (<Tensor[Float32], (2, 2)>, <Tensor[Float32], (2, 2)>, <UMonad, NoShape>) -> "
                              "(<Tensor[Float32], (2, 2)>)\n"
                              "      # Fullname with scope: (Default/{}-op4)\n",
                              writer, writer))}})),
        writer_(writer) {}

  // Its texts are the network's.
  [[nodiscard]] RunGraph runs(const std::vector<Dumped>& tensors) const& {
    RunSource source;
    source.graph = &graph_;
    const auto add = [&](const std::string& name, std::string_view type) {
      source.operators.push_back({test::find_operator(graph_, "Default/" + name), type, true});
    };
    add("Sub-op3", "Sub");
    add("Mul-op1", "Mul");
    add(writer_ + "-op4", writer_);
    return runs_of(std::move(source), tensors);
  }

 private:
  OpGraph graph_;
  std::string writer_;
};

const OpRun& run_of(const RunGraph& graph, uint32_t op, const RunPlace& place = {0, 0, 0}) {
  for (const OpRun& run : graph.runs()) {
    if (run.op == op && run.place == place) return run;
  }
  FAIL("no run of operator " << op);
  return graph.runs().front();
}

const auto kNothingLost = [](TensorId) { return false; };
constexpr auto kIn = TensorRole::kInput, kOut = TensorRole::kOutput;

// By the contents of their first outputs.
std::vector<TensorId> order_of(const RunGraph& graph) {
  std::vector<TensorId> tensors;
  for (const OpRun& run : graph.runs()) tensors.push_back(run.outputs.front());
  return tensors;
}

}  // namespace

TEST_CASE("by the IR an input knows its maker, its parameter and the tensor that it was") {
  const Network network;
  const RunGraph graph = network.runs({{Network::kMul, kIn, "0"},
                                       {Network::kMul, kOut, "0"},
                                       {Network::kSub, kIn, "0"},
                                       {Network::kSub, kIn, "2"},
                                       {Network::kSub, kOut, "0"},
                                       {0, TensorRole::kParameter, "", 0, {0, 0, 0}, {}, 0, "x"}});
  CHECK(graph.flow() == FlowKind::kIr);
  REQUIRE(graph.runs().size() == 2);
  const OpRun &mul = run_of(graph, Network::kMul), &sub = run_of(graph, Network::kSub);
  const ExecutionId mul_run = graph.run_of(TensorId(1)), sub_run = graph.run_of(TensorId(4));
  CHECK(graph.run_of(TensorId(5)) == kNoId);
  REQUIRE(mul.inputs.size() == 1);
  CHECK(mul.inputs[0].from == From::kParameter);
  CHECK(mul.inputs[0].parameter == "x");
  CHECK_FALSE(mul.inputs[0].is_weight);
  CHECK(mul.inputs[0].tensor == 0);
  CHECK(mul.readers == std::vector{sub_run});
  REQUIRE(sub.inputs.size() == 3);
  CHECK(sub.inputs[0].from == From::kOperator);  // the Neg, which was not dumped
  CHECK(sub.inputs[0].producer == kNoId);
  CHECK(sub.inputs[0].tensor == 2);
  CHECK(sub.inputs[1].tensor == kNoId);
  CHECK(sub.inputs[1].producer == mul_run);
  CHECK(sub.inputs[1].produced == 1);
  CHECK(sub.inputs[1].slot == 1);
  CHECK(sub.inputs[2].tensor == 3);
  CHECK(sub.inputs[2].parameter == "w");
  CHECK(sub.inputs[2].is_weight);
  CHECK(sub.outputs == tensors_of(4));
  CHECK(graph.readers_of_op(OperatorId(Network::kMul)) == std::vector{OperatorId(Network::kSub)});
  CHECK(graph.readers_of_op(OperatorId(Network::kSub)) == std::vector{OperatorId(Network::kWrite)});
  CHECK(graph.readers_of_parameter("w", sub.place) == std::vector{sub_run});
  CHECK(graph.readers_of_parameter("w", {0, 1, 0}).empty());
}

TEST_CASE("an input of the network that was not dumped is the parameter's file; a weight may have changed since") {
  const Network network;
  const RunGraph graph = network.runs({{Network::kMul, kOut, "0"},
                                       {Network::kSub, kOut, "0"},
                                       {0, TensorRole::kParameter, "", 0, {0, 0, 0}, {}, 0, "x"},
                                       {0, TensorRole::kParameter, "", 0, {0, 0, 0}, {}, 0, "w"}});
  CHECK(run_of(graph, Network::kMul).inputs.at(0).produced == 2);
  CHECK(run_of(graph, Network::kSub).inputs.at(2).produced == kNoId);
}

TEST_CASE("outputs that were not dumped, or are lost, show in the inputs of their readers") {
  const Network network;
  const RunGraph dumped =
                     network.runs({{Network::kMul, kIn, "0"}, {Network::kMul, kOut, "0"}, {Network::kSub, kIn, "1"}}),
                 lacking = network.runs({{Network::kMul, kIn, "0"}, {Network::kSub, kIn, "1"}});
  CHECK(dumped.stand_ins(dumped.run_of(TensorId(0)), kNothingLost).empty());
  CHECK(dumped.stand_ins(dumped.run_of(TensorId(0)), [](TensorId tensor) { return tensor == 1; }) == tensors_of(2));
  CHECK(lacking.stand_ins(lacking.run_of(TensorId(0)), kNothingLost) == tensors_of(1));
  CHECK(lacking.stand_ins(lacking.run_of(TensorId(1)), kNothingLost).empty());
}

TEST_CASE("an operator ran once for each rank, step and occurrence, and reads what ran in the same one") {
  const Network network;
  const RunGraph graph = network.runs({{Network::kMul, kOut, "0", 0, {0, 0, 0}},
                                       {Network::kMul, kOut, "0", 0, {0, 1, 0}},
                                       {Network::kMul, kOut, "0", 0, {1, 1, 0}},
                                       {Network::kMul, kOut, "0", 0, {1, 1, 1}},
                                       {Network::kSub, kIn, "1", 0, {0, 1, 0}},
                                       {Network::kSub, kIn, "1", 0, {0, 1, 1}},
                                       {Network::kSub, kIn, "1", 0, {1, 1, 1}},
                                       {Network::kSub, kIn, "1", 0, {1, 0, 0}}});
  REQUIRE(graph.runs().size() == 8);
  const auto read_in = [&](const RunPlace& place) { return run_of(graph, Network::kSub, place).inputs.at(1).produced; };
  CHECK(read_in({0, 1, 0}) == 1);
  CHECK(read_in({0, 1, 1}) == 1);  // outside of the loop
  CHECK(read_in({1, 1, 1}) == 3);
  CHECK(read_in({1, 0, 0}) == kNoId);
}

TEST_CASE("what an operator updates is its output, by its type and by the contents") {
  const std::vector<Dumped> tensors = {{Network::kMul, kOut, "0", 7},  {Network::kSub, kIn, "0", 5},
                                       {Network::kSub, kIn, "1", 8},   {Network::kSub, kIn, "2", 9},
                                       {Network::kSub, kOut, "0", 3},  {Network::kWrite, kIn, "0", 4},
                                       {Network::kWrite, kIn, "1", 3}, {Network::kWrite, kOut, "0", 6}};
  const Network network("Assign");
  const RunGraph by_type = network.runs(tensors);
  CHECK(by_type.role(TensorId(5)) == TensorRole::kUpdated);
  CHECK(by_type.role(TensorId(7)) == TensorRole::kUnwritten);  // nothing reads it
  CHECK(run_of(by_type, Network::kWrite).outputs == tensors_of(5));
  // Not what the Mul wrote.
  CHECK(by_type.role(TensorId(2)) == TensorRole::kUpdated);
  CHECK(run_of(by_type, Network::kSub).outputs == tensors_of(4, 2));
  // An operator with side effects reads w as something else than the Sub does.
  const Network other("Custom");
  const RunGraph by_contents = other.runs(tensors);
  CHECK(by_contents.role(TensorId(5)) == TensorRole::kUpdated);
  CHECK(by_contents.role(TensorId(6)) == kIn);
}

TEST_CASE("an operator that is known to update other inputs does not update one that differs") {
  const auto role_of_w = [](const char* writer) {
    const Network network(writer);
    return network.runs({{Network::kSub, kIn, "2", 9}, {Network::kSub, kOut, "0", 3}, {Network::kWrite, kIn, "0", 4}})
        .role(TensorId(2));
  };
  CHECK(role_of_w("BatchNorm") == kIn);  // gamma; it updates the mean and the variance
  CHECK(role_of_w("Custom") == TensorRole::kUpdated);
}

// BatchNorm -> BatchNormGrad, which reads outputs 0 and 2 of the BatchNorm as its inputs 3 and 5; nothing reads output 1.
TEST_CASE("an input that the kernel ignores reads nothing") {
  const auto part = [](const char* id, const char* number) {
    return node_text(id, "TupleGetItem", fmt::format("%1, I64({})", number),
                     fmt::format("Default/TupleGetItem-op{}", number));
  };
  const OpGraph ir = test::graph_of(
      {{"graph_build_0_0001.ir",
        ir_text(node_text("%1", "BatchNorm", "%para1_x", "Default/BatchNorm-op0") + part("%2", "0") + part("%3", "2") +
                node_text("%4", "BatchNormGrad", "%para1_x, %para1_x, %para2_w, %2, %2, %3",
                          "Default/BatchNormGrad-op0"))}});
  RunSource source;
  source.graph = &ir;
  for (const char* const type : {"BatchNorm", "BatchNormGrad"})
    source.operators.push_back({test::find_operator(ir, fmt::format("Default/{}-op0", type)), type, true});
  const RunGraph graph =
      runs_of(source, {{0, kOut, "0"}, {0, kOut, "1"}, {0, kOut, "2"}, {1, kIn, "3"}, {1, kIn, "5"}, {1, kOut, "0"}});
  CHECK(graph.role(TensorId(2)) == TensorRole::kUnwritten);
  CHECK(graph.role(TensorId(4)) == TensorRole::kUnwritten);
  CHECK(run_of(graph, 0).outputs == tensors_of(0));
  CHECK(graph.role(TensorId(3)) == kIn);
  REQUIRE(run_of(graph, 1).inputs.size() == 5);
  CHECK(run_of(graph, 1).inputs.back().slot == 4);
}

TEST_CASE("an optimizer leaves its outputs unwritten even if the dump has no file of its parameters") {
  const auto role_of_output = [](const char* writer) {
    const Network network(writer);
    return network.runs({{Network::kWrite, kIn, "1"}, {Network::kWrite, kOut, "0"}}).role(TensorId(1));
  };
  CHECK(role_of_output("AdamWeightDecay") == TensorRole::kUnwritten);
  CHECK(role_of_output("Custom") == kOut);
}

TEST_CASE("without contents, or where they agree or prove nothing, an input is not updated") {
  const auto role_of_w = [](uint64_t read_first, uint64_t now) {
    const Network network("Custom");
    const RunGraph graph = network.runs({{Network::kMul, kOut, "0", 7},
                                         {Network::kSub, kIn, "1", 7},
                                         {Network::kSub, kIn, "2", read_first},
                                         {Network::kSub, kOut, "0", 3},
                                         {Network::kWrite, kIn, "0", now},
                                         {Network::kWrite, kIn, "1", 3}});
    CHECK(graph.role(TensorId(1)) == kIn);
    CHECK(graph.role(TensorId(5)) == kIn);
    return graph.role(TensorId(4));
  };
  CHECK(role_of_w(9, 4) == TensorRole::kUpdated);
  CHECK(role_of_w(9, 9) == kIn);
  CHECK(role_of_w(0, 4) == kIn);
  CHECK(role_of_w(9, 0) == kIn);
  const Network network("Custom");
  const RunGraph not_dumped = network.runs({{Network::kSub, kOut, "0", 3}, {Network::kWrite, kIn, "1", 3}});
  CHECK(not_dumped.role(TensorId(1)) == kIn);
}

TEST_CASE("contents name the first earlier output of the same rank and step that an input equals") {
  const RunGraph graph = runs_of(named({"A", "B", "C"}), {{0, kOut, "0", 5},
                                                          {1, kIn, "0", 5},
                                                          {1, kOut, "0", 5},
                                                          {2, kIn, "0", 5},
                                                          {2, kIn, "1", 0},
                                                          {2, kOut, "0", 0},
                                                          {2, kIn, "2", 8},
                                                          {0, kOut, "0", 8, {0, 1, 0}},
                                                          {1, kIn, "0", 8, {0, 1, 0}},
                                                          {1, kIn, "0", 8, {1, 1, 0}}});
  CHECK(graph.flow() == FlowKind::kValues);
  const auto maker_of = [&](uint32_t tensor) -> TensorId {
    for (const RunInput& input : graph.runs()[graph.run_of(TensorId(tensor))].inputs) {
      if (input.tensor == tensor) return input.produced;
    }
    return kNoId;
  };
  CHECK(maker_of(1) == 0);
  CHECK(maker_of(3) == 0);
  CHECK(maker_of(4) == kNoId);
  CHECK(maker_of(6) == kNoId);
  CHECK(maker_of(8) == 7);
  CHECK(maker_of(9) == kNoId);
  CHECK(graph.runs()[graph.run_of(TensorId(0))].readers ==
        std::vector{graph.run_of(TensorId(1)), graph.run_of(TensorId(3))});
  CHECK(runs_of(named({"A", "B"}), {{0, kOut, "0", 5}, {1, kIn, "0", 6}}).flow() == FlowKind::kOrder);
  CHECK(runs_of(named({"A", "B"}), {{0, kOut, "0"}, {1, kIn, "0"}}).flow() == FlowKind::kOrder);
}

TEST_CASE("an input is of the execution of its reader if that wrote such values, and never of another dump") {
  const RunSource ab = named({"A", "B", "C"});
  const RunGraph twice = runs_of(ab, {{0, kOut, "0", 1, {0, 0, 0}},
                                      {0, kOut, "0", 1, {0, 0, 1}},
                                      {1, kIn, "0", 1, {0, 0, 0}},
                                      {1, kOut, "0", 2, {0, 0, 0}},
                                      {1, kIn, "0", 1, {0, 0, 1}},
                                      {1, kOut, "0", 3, {0, 0, 1}}});
  CHECK(run_of(twice, 1, {0, 0, 0}).inputs[0].produced == 0);
  CHECK(run_of(twice, 1, {0, 0, 1}).inputs[0].produced == 1);
  const RunGraph loop = runs_of(ab, {{0, kOut, "0", 1, {0, 0, 0}}, {0, kIn, "0", 1, {0, 0, 1}}});
  CHECK(run_of(loop, 0, {0, 0, 1}).inputs[0].produced == 0);
  const RunGraph dumps = runs_of(ab, {{0, kOut, "0", 1, {0, 0, 0, 0}}, {1, kIn, "0", 1, {0, 0, 0, 1}}});
  CHECK(run_of(dumps, 1, {0, 0, 0, 1}).inputs[0].produced == kNoId);
}

TEST_CASE("the contents of the other dump know the operators that it alone has, and tell equal outputs apart") {
  RunSource source = named({"A", "B", "C", "D"});
  // B is the other dump's alone. Both outputs of C have the same contents in this one; D reads the first.
  source.other_contents = {1, 1, 2, 2, 3, 4, 3};
  source.same_flow = true;
  const RunGraph graph = runs_of(std::move(source), {{0, kOut, "0", 5},
                                                     {1, kIn, "0"},
                                                     {1, kOut, "0"},
                                                     {2, kIn, "0", 6},
                                                     {2, kOut, "0", 7},
                                                     {2, kOut, "1", 7},
                                                     {3, kIn, "0", 7}});
  const RunInput& of_b = graph.runs()[1].inputs.front();
  CHECK(of_b.producer == 0);
  CHECK(of_b.other_producer == 0);
  CHECK(graph.runs()[2].inputs.front().producer == 1);
  CHECK(graph.runs()[2].inputs.front().produced == 2);
  CHECK(graph.runs()[3].inputs.front().produced == 4);
  CHECK(graph.runs()[3].inputs.front().other_producer == 2);
}

TEST_CASE("what another stage sent is known by what was received, wherever that stands in the order") {
  RunSource source = named({"A", "recv"});
  source.other_contents = {3, 3};
  const std::vector<Dumped> tensors = {{0, kIn, "0", 6}, {1, kOut, "0", 9}};
  CHECK(runs_of(source, tensors).runs()[0].inputs.front().producer == kNoId);
  source.same_flow = true;
  CHECK(runs_of(source, tensors).runs()[0].inputs.front().producer == 1);
}

TEST_CASE("without an IR the types of operators say what is updated and what the kernel does not write") {
  const std::vector<Dumped> tensors = {{0, kIn, "0"},  {0, kIn, "1"},  {0, kIn, "3"},  {0, kOut, "0"},
                                       {1, kOut, "0"}, {1, kOut, "1"}, {1, kOut, "2"}, {1, kOut, "3"},
                                       {1, kIn, "3"},  {2, kOut, "0"}, {3, kIn, "4"},  {3, kIn, "5"}};
  RunSource source = named({"ApplyMomentum", "BatchNorm", "Mul", "BatchNormGrad"});
  const RunGraph unknown = runs_of(source, tensors);
  for (TensorId tensor{0}; tensor < tensors.size(); ++tensor) CHECK(unknown.role(tensor) == tensors[tensor].role);
  source.known_types = true;
  const RunGraph graph = runs_of(source, tensors);
  std::vector<TensorRole> roles;
  for (TensorId tensor{0}; tensor < tensors.size(); ++tensor) roles.push_back(graph.role(tensor));
  using enum TensorRole;
  CHECK(roles == std::vector{kUpdated, kUpdated, kInput, kUnwritten, kOutput, kUnwritten, kUnwritten, kOutput, kUpdated,
                             kOutput, kInput, kUnwritten});
  CHECK(graph.runs()[0].outputs == tensors_of(0, 1));
  REQUIRE(graph.runs()[0].inputs.size() == 1);
  CHECK(graph.runs()[0].inputs[0].tensor == 2);
  CHECK(graph.runs()[1].outputs == tensors_of(4, 7, 8));
}

TEST_CASE("runs are in the order of the operators, inside one rank and step") {
  const RunGraph graph = runs_of(named({"A", "B"}), {{1, kOut, "0", 0, {1, 0, 0}},
                                                     {1, kOut, "0", 0, {0, 1, 0}},
                                                     {1, kOut, "0", 0, {0, 0, 0}},
                                                     {0, kOut, "0", 0, {0, 0, 1}},
                                                     {0, kOut, "0", 0, {0, 0, 0}},
                                                     {0, kOut, "0", 0, {1, 0, 0}}});
  CHECK(order_of(graph) == tensors_of(4, 3, 2, 1, 5, 0));
}

TEST_CASE("by time whole graphs follow each other, each in the order of its operators") {
  RunSource source = named({"A", "B", "C"});
  source.order = RunSource::Order::kTime;
  const std::vector<Dumped> tensors = {{0, kOut, "0", 0, {0, 0, 0}, 50, 0},
                                       {1, kOut, "0", 0, {0, 0, 0}, 40, 0},
                                       {2, kOut, "0", 0, {0, 0, 0}, 30, 1},
                                       {2, kOut, "0", 0, {1, 0, 0}, 10, 1},
                                       {2, kOut, "0", 0, {0, 1, 0}, 5, 1}};
  CHECK(order_of(runs_of(source, tensors)) == tensors_of(2, 0, 1, 3, 4));
  // Names alone say nothing about the order, and neither do operators that ran several times.
  for (RunSource::Operator& op : source.operators) op.ordered = false;
  CHECK(order_of(runs_of(source, tensors)) == tensors_of(2, 1, 0, 3, 4));
  for (RunSource::Operator& op : source.operators) op.ordered = true;
  CHECK(order_of(runs_of(source, {{0, kOut, "0", 0, {0, 0, 0}, 50, 0},
                                  {1, kOut, "0", 0, {0, 0, 0}, 40, 0},
                                  {0, kOut, "0", 0, {0, 0, 1}, 30, 0}})) == tensors_of(2, 1, 0));
}

TEST_CASE("a run is ordered by the time of a tensor, or by an operator whose place is known") {
  const RunGraph times =
      runs_of(named({"A", "B"}, false), {{0, kOut, "0"}, {1, kIn, "0"}, {1, kOut, "0", 0, {0, 0, 0}, 3}});
  CHECK_FALSE(times.runs()[0].ordered);
  CHECK(times.runs()[1].ordered);
  CHECK(runs_of(named({"A"}, true), {{0, kOut, "0"}}).runs()[0].ordered);
}

TEST_CASE("the role of a tensor follows from its name") {
  const auto role = [](std::string_view op_type, std::string_view op_name, Io io) {
    NameFacts name;
    name.op_type = op_type;
    name.op_name = op_name;
    name.io = io;
    return role_of(name);
  };
  using enum TensorRole;
  CHECK(role("Mul", "Default_Mul-op1", Io::kInput) == kInput);
  CHECK(role("Mul", "Default_Mul-op1", Io::kOutput) == kOutput);
  CHECK(role("Parameter", "fc_weight", Io::kOutput) == kParameter);
  CHECK(role("", "fc_weight", Io::kParameter) == kParameter);
  CHECK(role("Linear", "Module.fc.Linear.forward.0", Io::kParameter) == kInput);
  CHECK(role("", "Module.fc.Linear.parameters_grad", Io::kParameter) == kOutput);
  CHECK(role("", "logits.0", Io::kDebug) == kOutput);
  CHECK(role("Mul", "Default_Mul-op1", Io::kBuffer) == kOther);
}

TEST_CASE("an input after operators that were not dumped knows the runs before these") {
  const Network network;
  const RunGraph graph =
      network.runs({{Network::kMul, kOut, "0"}, {Network::kSub, kIn, "0"}, {Network::kSub, kIn, "1"}});
  const OpRun& sub = run_of(graph, Network::kSub);
  REQUIRE(sub.inputs.size() == 3);
  const auto before = [&](uint32_t slot) {
    const auto found = graph.before_gap(sub.inputs[slot]);
    return std::vector(found.begin(), found.end());
  };
  const auto index_of = [&](const OpRun& run) { return ExecutionId(&run - graph.runs().data()); };
  const OpRun& mul = run_of(graph, Network::kMul);
  CHECK(before(0) == std::vector{index_of(mul)});  // past the Neg
  CHECK(before(1).empty());                        // the Mul itself made it
  CHECK(before(2).empty());
  CHECK(sub.inputs[0].producer == kNoId);
  CHECK(mul.later == std::vector{index_of(sub)});
  CHECK(mul.readers == std::vector{index_of(sub)});
  CHECK(sub.later.empty());
}

TEST_CASE("edges lead from what makes a value to what reads it, also past a gap") {
  const Network network;
  const RunGraph graph =
      network.runs({{Network::kMul, kOut, "0"}, {Network::kSub, kIn, "0"}, {Network::kSub, kOut, "0"}});
  const ExecutionId mul = graph.run_of(TensorId(0)), sub = graph.run_of(TensorId(2));
  const std::vector<FlowEdge> edges = flow_edges(graph);
  REQUIRE(edges.size() == 2);
  CHECK((edges[0].from == mul && edges[0].to == sub && edges[0].tensor == 1 && edges[0].gap));
  // Its input was not dumped, so that the output stands for it.
  CHECK((edges[1].from == mul && edges[1].to == sub && edges[1].tensor == 0 && !edges[1].gap));
}

TEST_CASE("a run of another step or rank is not before a gap") {
  const Network network;
  const RunGraph graph = network.runs(
      {{Network::kMul, kOut, "0", 0, {0, 1, 0}}, {Network::kMul, kOut, "0", 0, {1, 0, 0}}, {Network::kSub, kIn, "0"}});
  CHECK(graph.before_gap(run_of(graph, Network::kSub).inputs.front()).empty());
}

TEST_CASE("a value that the network keeps is not that of another dump") {
  const Network network;
  const auto of_dump = [](uint32_t op, int64_t step, uint32_t dump) {
    return Dumped{op, kIn, op == Network::kSub ? "2" : "0", 0, {0, step, 0, dump}};
  };
  const RunGraph graph =
      network.runs({of_dump(Network::kWrite, 0, 0), of_dump(Network::kSub, 1, 0), of_dump(Network::kSub, 1, 1)});
  const auto updater = [&](uint32_t dump) {
    return run_of(graph, Network::kSub, {0, 1, 0, dump}).inputs.at(2).updated_by;
  };
  CHECK(updater(0) == graph.run_of(TensorId(0)));
  CHECK(updater(1) == kNoId);
}

TEST_CASE("a value that the network keeps comes from the run that updated it in the step before") {
  const Network network;
  const auto in_step = [](uint32_t op, TensorRole role, std::string_view slot, int64_t step, int64_t rank = 0) {
    return Dumped{op, role, slot, 0, {rank, step, 0}};
  };
  const RunGraph graph = network.runs({in_step(Network::kSub, kIn, "2", 0), in_step(Network::kWrite, kIn, "0", 0),
                                       in_step(Network::kWrite, kIn, "0", 2), in_step(Network::kSub, kIn, "2", 3),
                                       in_step(Network::kSub, kIn, "2", 3, 1)});
  const auto before = [&](const RunPlace& place) {
    return run_of(graph, Network::kSub, place).inputs.at(2).updated_by;
  };
  CHECK(before({0, 0, 0}) == kNoId);
  CHECK(before({0, 3, 0}) == graph.run_of(TensorId(2)));
  CHECK(before({1, 3, 0}) == kNoId);
  const std::vector<FlowEdge> edges = flow_edges(graph);
  const auto updated = std::find_if(edges.begin(), edges.end(), [&](const FlowEdge& one) {
    return one.from == graph.run_of(TensorId(2)) && one.to == graph.run_of(TensorId(3));
  });
  REQUIRE(updated != edges.end());
  CHECK((updated->tensor == 3 && !updated->gap));
  CHECK(run_of(graph, Network::kWrite, {0, 2, 0}).later.size() == 1);
}

}  // namespace msdump
