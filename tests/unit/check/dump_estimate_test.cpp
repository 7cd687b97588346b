#include "check/tree/dump_estimate.h"

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

using test::graph_of;
using test::ir_text;
using test::node_text;

constexpr uint64_t kTensorBytes = 16, kHeader = 128;  // (2, 2) of float32
const Setup kCpu{{2, 10, 0}, Device::kCpu, Framework::kMindSpore},
    kAscend{{2, 10, 0}, Device::kAscend, Framework::kMindSpore};

// Add of two inputs, ReLU of one; two parameters.
OpGraph small_graph() {
  return graph_of(
      {{"ms_output_trace_code_graph_0.ir", ir_text(node_text("%1", "Add", "%para1_x, %para2_w", "Default/Add-op5") +
                                                   node_text("%2", "ReLU", "%1", "Default/relu-ReLU/ReLU-op6"))}});
}

DumpEstimate estimate(const std::string& common, const std::string& e2e, const Setup& setup,
                      const OpGraph& graph = small_graph()) {
  const auto root = parse_json(R"({"common_dump_settings": {)" + common + R"(}, "e2e_dump_settings": {)" + e2e + "}}");
  REQUIRE(root);
  return estimate_dump(graph, read_data_dump(*root), setup);
}

}  // namespace

TEST_CASE("a step writes inputs and outputs of every operator, and parameters on a CPU") {
  const std::string all = R"("dump_mode": 0, "input_output": 0, "iteration": "all")";
  const DumpEstimate ascend = estimate(all, R"("enable": true)", kAscend);
  REQUIRE(ascend.rows.size() == 1);
  CHECK(ascend.rows[0].operators == 2);
  CHECK(ascend.rows[0].tensors == 5);
  CHECK(ascend.rows[0].bytes == 5 * (kTensorBytes + kHeader));
  CHECK(ascend.all_steps);
  CHECK(estimate(all, R"("enable": true)", kCpu).tensors() == 7);
}

TEST_CASE("input_output chooses, and parameters go with outputs") {
  CHECK(estimate(R"("input_output": 1)", "", kCpu).tensors() == 3);
  CHECK(estimate(R"("input_output": 2)", "", kCpu).tensors() == 2 + 2);
}

TEST_CASE("kernels choose by the numbers of the files, and items without an operator are named") {
  const DumpEstimate chosen =
      estimate(R"("dump_mode": 1, "input_output": 0, "kernels": ["Default/Add-op0", "relu", "Conv2D"])", "", kCpu);
  CHECK(chosen.tensors() == 5);
  CHECK(chosen.unmatched_kernels == std::vector<std::string>{"Conv2D"});
  const Setup old{{2, 0, 0}, Device::kCpu, Framework::kMindSpore};
  const DumpEstimate before =
      estimate(R"("dump_mode": 1, "input_output": 0, "kernels": ["Default/Add-op5"])", R"("enable": true)", old);
  CHECK(before.tensors() == 3);
}

TEST_CASE("each operator has its own number in the files, and one without a number keeps its name") {
  const OpGraph graph = graph_of(
      {{"ms_output_trace_code_graph_0.ir",
        ir_text(node_text("%1", "Add", "%para1_x, %para2_w", "Default/Add-op5") +
                node_text("%2", "Add", "%1", "Default/Add-op7") + node_text("%3", "Tanh", "%1, %2", "Default/Tanh"))}});
  const auto chosen = [&](const std::string& name) {
    const DumpEstimate one =
        estimate(R"("dump_mode": 1, "input_output": 1, "kernels": ["Default/)" + name + "\"]", "", kCpu, graph);
    return std::pair(one.tensors(), one.unmatched_kernels.size());
  };
  using Chosen = std::pair<uint64_t, size_t>;
  CHECK(chosen("Add-op0") == Chosen(2, 0));
  CHECK(chosen("Add-op1") == Chosen(1, 0));
  CHECK(chosen("Add-op5") == Chosen(0, 1));
  CHECK(chosen("Tanh") == Chosen(2, 0));
}

TEST_CASE("an item that repeats an earlier one chooses something all the same") {
  const DumpEstimate chosen =
      estimate(R"("dump_mode": 1, "kernels": ["Add", "add", "Default/Add-op0", "ad"])", "", kCpu);
  CHECK(chosen.unmatched_kernels.empty());
  CHECK(chosen.tensors() == 3);
}

TEST_CASE("an item that chooses nothing comes with the name of the IR that is near it") {
  const DumpEstimate chosen = estimate(
      R"("dump_mode": 1, "kernels": ["Adb", "Default/Add-op7", "ReLU-op1", "Convolution", "Default/x/y/z-op1"])", "",
      kCpu);
  REQUIRE(chosen.unmatched_kernels.size() == 5);
  CHECK(chosen.nearest == std::vector<std::string>{"Add", "Default/Add-op0", "Default/relu-ReLU/ReLU-op0", "", ""});
}

TEST_CASE("statistics are rows, samples are parts of tensors") {
  const DumpEstimate statistics =
      estimate(R"("input_output": 2, "saved_data": "statistic")", R"("enable": true)", kAscend);
  REQUIRE(statistics.rows.size() == 1);
  CHECK(statistics.rows[0].tensors == 0);
  CHECK(statistics.rows[0].statistics == 2);
  CHECK(statistics.bytes() == 2 * DumpEstimate::kStatisticRowBytes);
  const DumpEstimate sampled = estimate(R"("input_output": 2)", R"("sample_mode": 1, "sample_num": 3)", kAscend);
  CHECK(sampled.bytes() == 2 * (3 * 4 + kHeader));
}

TEST_CASE("a dump of operators that failed has only parameters on a CPU, in every step") {
  const std::string common = R"("op_debug_mode": 4, "iteration": "0|2", "saved_data": "full")";
  const DumpEstimate cpu = estimate(common, R"("enable": true)", kCpu);
  CHECK(cpu.tensors() == 2);
  CHECK(cpu.bytes() == 2 * (kTensorBytes + kHeader));
  CHECK(cpu.all_steps);
  CHECK_FALSE(cpu.at_most);
  CHECK(estimate(common, R"("enable": true)", kAscend).tensors() == 5);
  CHECK(estimate(common, R"("enable": true)", kAscend).at_most);
}

TEST_CASE("selected steps are counted and a debug mode writes at most this") {
  CHECK(estimate(R"("iteration": "0|5-8")", "", kAscend).steps == 5U);
  CHECK_FALSE(estimate(R"("iteration": "0|5-8")", "", kAscend).all_steps);
  CHECK(estimate(R"("op_debug_mode": 3)", "", kAscend).at_most);
}

}  // namespace msdump
