// Arguments that a graph has: of a device (GE) and of MindSpore (IR), against files and against each other.
#include "compare/arguments/argument_diff.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "graph/arguments/argument_value.h"
#include "io/worker_pool.h"
#include "support/catch.h"
#include "support/compare_run.h"
#include "support/dump_builder.h"
#include "support/ge_builder.h"
#include "support/made_net.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::GeAttr;
using test::GeOp;

constexpr int64_t kMostOfArgument = kMostArgumentElements;

// An input of an operator: its file, and what the IR has as the operand.
struct ArgInput {
  Values values;        // none: no file
  std::string operand;  // empty: a parameter
  Shape shape = {};
};
ArgInput whole_input() { return {{1, -2, 3, 4}, "", {2, 2}}; }
ArgInput in_file(float value) { return {{value}, "", {}}; }
ArgInput in_ir(const std::string& literal) { return {{}, literal, {}}; }
ArgInput in_both(float value, const std::string& literal) { return {{value}, literal, {}}; }

struct ArgOp {
  std::string type, name;
  std::vector<ArgInput> inputs;
  std::string attributes = {};              // of the IR: "primitive_attrs: {epsilon: F32(1e-05)}"
  std::vector<GeAttr> ge = {};              // of the graph of GE
  std::vector<std::string> originals = {};  // likewise
  std::string layout = "ND";                // likewise
};

enum class ArgGraph : uint8_t { kNone, kIr, kGe };

class ArgNet {
 public:
  explicit ArgNet(fs::path folder) : dump_(std::move(folder)) {}

  void write(const std::vector<ArgOp>& operators, ArgGraph graph) {
    int time = 1;
    for (const ArgOp& op : operators) {
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        if (!op.inputs[i].values.empty()) write_file(op, time, fmt::format("input.{}", i), op.inputs[i]);
      }
      write_file(op, time, "output.0", whole_input());
      ++time;
    }
    if (graph == ArgGraph::kIr) write_ir(operators);
    if (graph == ArgGraph::kGe) write_ge(operators);
  }

 private:
  void write_file(const ArgOp& op, int time, const std::string& tensor, const ArgInput& in) const {
    const fs::path folder = dump_ / "rank_0" / "Net" / "0" / "0";
    fs::create_directories(folder);
    std::string name = op.name;
    std::replace(name.begin(), name.end(), '/', '_');
    std::vector<int64_t> shape(in.shape.begin(), in.shape.end());
    test::write_bytes(
        folder / fmt::format("{}.{}.0.0.{}.{}.DefaultFormat.Float32.npy", op.type, name, 1'700'000'000'000'000 + time,
                             tensor),
        test::npy_of("<f4", shape,
                     {reinterpret_cast<const char*>(in.values.data()), in.values.size() * sizeof(float)}));
  }

  void write_ir(const std::vector<ArgOp>& operators) const {
    std::string body;
    for (size_t i = 0; i < operators.size(); ++i) {
      const ArgOp& op = operators[i];
      std::string operands, types;
      for (const ArgInput& in : op.inputs) {
        operands += (operands.empty() ? "" : ", ") + (in.operand.empty() ? "%para1_x" : in.operand);
        types += fmt::format("{}<Tensor[Float32], (2, 2)>", types.empty() ? "" : ", ");
      }
      body += fmt::format("  %{}(CNode_{}) = {}({}) {}\n      : ({}) -> (<Tensor[Float32], (2, 2)>)\n", i, i, op.type,
                          operands, op.attributes, types);
      body += fmt::format("      # Fullname with scope: ({})\n", op.name);
    }
    fs::create_directories(dump_ / "rank_0" / "graphs");
    test::write_bytes(dump_ / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.ir", test::ir_text(body));
  }

  void write_ge(const std::vector<ArgOp>& operators) const {
    test::GeNet net;
    net.name = "net";
    for (const ArgOp& op : operators) {
      GeOp made;
      made.name = op.name;
      made.type = op.type;
      test::GeDesc desc;
      desc.shape = {2, 2};
      desc.layout = op.layout;
      desc.origin_shape = {{2, 2}};
      made.in.assign(1, desc);
      made.out.assign(1, desc);
      made.attributes = op.ge;
      if (!op.originals.empty()) made.originals = op.originals;
      net.ops.push_back(std::move(made));
    }
    test::write_bytes(dump_ / "ge_proto_00000004_Build.txt", test::ge_proto_text({net}));
  }

  const fs::path dump_;
};

// "Default/a/LayerNorm-op0 input:5: equal to ..", of all that can be compared.
Texts compared_arguments(const std::vector<ArgOp>& candidate, ArgGraph graph_a, const std::vector<ArgOp>& reference,
                         ArgGraph graph_b) {
  const test::ScratchDir scratch;
  ArgNet(scratch.path() / "a").write(candidate, graph_a);
  ArgNet(scratch.path() / "b").write(reference, graph_b);
  const test::ComparedDumps compared(scratch.path() / "a", scratch.path() / "b");
  std::vector<TensorId> chosen(compared.pairing().tensors.size());
  std::iota(chosen.begin(), chosen.end(), TensorId(0));
  WorkerPool pool(1);
  const CancelToken cancel;
  Texts texts;
  for (const ArgumentDiff& diff :
       compare_arguments(compared.a(), compared.b(), compared.pairing(), chosen, {pool, cancel}))
    texts.push_back((diff.differs ? "! " : "= ") + reason_of(diff, compared.pairing()));
  return texts;
}

const std::string kArgNorm = "Default/a-LayerNorm/LayerNorm";
std::vector<ArgOp> trans_data_and(ArgOp op) {
  return {{"TransData", "trans_TransData_1", {whole_input()}}, std::move(op)};
}
// Of a device, whose epsilon and axes are attributes.
std::vector<ArgOp> device_norm(const std::string& epsilon, const std::string& axis = "1") {
  ArgOp op{"LayerNorm", kArgNorm + "-op7", {whole_input(), whole_input(), whole_input()}};
  op.ge = {{"begin_norm_axis", 'i', {axis}}, {"begin_params_axis", 'i', {axis}}, {"epsilon", 'f', {epsilon}}};
  return trans_data_and(std::move(op));
}
std::vector<ArgOp> host_norm(const ArgInput& axis, const ArgInput& epsilon) {
  return {{"LayerNorm", kArgNorm + "-op0", {whole_input(), whole_input(), whole_input(), axis, axis, epsilon}}};
}

}  // namespace

TEST_CASE("an input in a file is compared with the attribute in the graph of the other side") {
  const Texts equal_axes = {"= equal to the attribute begin_norm_axis = 1 of the candidate",
                            "= equal to the attribute begin_params_axis = 1 of the candidate"};
  Texts expected = equal_axes;
  expected.emplace_back("= equal to the attribute epsilon = 1e-05 of the candidate");
  CHECK(compared_arguments(device_norm("9.9999997e-06"), ArgGraph::kGe, host_norm(in_file(-1), in_file(1e-5F)),
                           ArgGraph::kNone) == expected);
  expected.back() = "! epsilon is 0.001 here, the attribute epsilon 1e-05 in the candidate's graph";
  CHECK(compared_arguments(device_norm("1e-05"), ArgGraph::kGe, host_norm(in_file(-1), in_file(1e-3F)),
                           ArgGraph::kNone) == expected);
  expected = {"! begin_norm_axis is 0 here, the attribute begin_norm_axis 1 in the candidate's graph",
              "! begin_params_axis is 0 here, the attribute begin_params_axis 1 in the candidate's graph",
              "= equal to the attribute epsilon = 1e-05 of the candidate"};
  CHECK(compared_arguments(device_norm("1e-05"), ArgGraph::kGe, host_norm(in_file(0), in_file(1e-5F)),
                           ArgGraph::kNone) == expected);
}

TEST_CASE("the sides may be exchanged") {
  CHECK(compared_arguments(host_norm(in_file(1), in_file(1e-3F)), ArgGraph::kNone, device_norm("1e-05"), ArgGraph::kGe)
            .back() == "! epsilon is 0.001 here, the attribute epsilon 1e-05 in the reference's graph");
}

TEST_CASE("what only graphs have is compared, and reported where it differs") {
  const ArgInput one = in_ir("I64(-1)");
  CHECK(compared_arguments(device_norm("0.001"), ArgGraph::kGe, host_norm(one, in_ir("F32(1e-05)")), ArgGraph::kIr) ==
        Texts{"! epsilon is 0.001 in the candidate's graph, 1e-05 in the reference's"});
  CHECK(compared_arguments(device_norm("1e-05"), ArgGraph::kGe, host_norm(one, in_ir("F32(1e-05)")), ArgGraph::kIr)
            .empty());
  CHECK(compared_arguments(device_norm("0.001"), ArgGraph::kNone, host_norm(one, in_ir("F32(1e-05)")), ArgGraph::kIr)
            .empty());
}

TEST_CASE("what is in a file and in the graph of the same side is compared once") {
  CHECK(compared_arguments(device_norm("0.001"), ArgGraph::kGe,
                           host_norm(in_both(-1, "I64(-1)"), in_both(1e-5F, "F32(1e-05)")), ArgGraph::kIr)
            .size() == 3);
}

TEST_CASE("an axis in a device format is left out") {
  std::vector<ArgOp> device = device_norm("1e-05", "0");
  device.back().layout = "NC1HWC0";
  CHECK(compared_arguments(device, ArgGraph::kGe, host_norm(in_file(1), in_file(1e-5F)), ArgGraph::kNone) ==
        Texts{"= equal to the attribute epsilon = 1e-05 of the candidate"});
}

TEST_CASE("attributes of MindSpore's primitives have other names than GE's") {
  ArgOp device{"MatMulV2", "Default/a-Dense/MatMul-op7", {whole_input(), whole_input()}};
  device.ge = {{"transpose_x1", 'b', {"false"}}, {"transpose_x2", 'b', {"true"}}};
  ArgOp host{"MatMul", "Default/a-Dense/MatMul-op0", {whole_input(), whole_input()}};
  host.attributes = "{transpose_a: Bool(0), transpose_b: Bool(0), dst_type: F32}";
  CHECK(compared_arguments(trans_data_and(device), ArgGraph::kGe, {host}, ArgGraph::kIr) ==
        Texts{"! transpose_b is true in the candidate's graph, false in the reference's"});
  // A Transpose that was fused into it may be in the flag.
  device.originals = {"Default/a-Dense/Transpose-op0", "Default/a-Dense/MatMul-op0"};
  CHECK(compared_arguments(trans_data_and(device), ArgGraph::kGe, {host}, ArgGraph::kIr).empty());
}

TEST_CASE("two graphs of MindSpore: constants by their place, attributes by their name") {
  const auto net = [](const std::string& factor, const std::string& shape, const std::string& attributes) {
    ArgOp mul{"Mul", "Default/Mul-op0", {whole_input(), in_ir(factor)}, attributes};
    ArgOp reshape{"Reshape", "Default/Reshape-op0", {whole_input(), in_ir(shape)}};
    return std::vector<ArgOp>{mul, reshape};
  };
  const std::vector<ArgOp> one = net("F32(0.5)", "(I64(2), I64(2))", "{epsilon: F32(0.1), seed0: I64(1)}");
  CHECK(compared_arguments(one, ArgGraph::kIr, one, ArgGraph::kIr).empty());
  CHECK(compared_arguments(net("F32(0.25)", "(I64(1), I64(4))", "{epsilon: F32(0.2), seed0: I64(2)}"), ArgGraph::kIr,
                           one, ArgGraph::kIr) ==
        Texts{"! epsilon is 0.2 in the candidate's graph, 0.1 in the reference's",
              "! input 1 is 0.25 in the candidate's graph, 0.5 in the reference's",
              "! shape is (1, 4) in the candidate's graph, (2, 2) in the reference's"});
  // One number without a name may be of an enumeration, and -1 is for the framework to find.
  CHECK(compared_arguments(net("I64(43)", "(I64(-1), I64(4))", ""), ArgGraph::kIr,
                           net("I64(42)", "(I64(2), I64(2))", ""), ArgGraph::kIr)
            .empty());
}

TEST_CASE("a constant that one side has in a file is compared with the other's in the IR") {
  const auto net = [](const ArgInput& factor) {
    return std::vector<ArgOp>{{"Mul", "Default/Mul-op0", {whole_input(), factor}}};
  };
  CHECK(compared_arguments(net(in_both(0.5F, "F32(0.5)")), ArgGraph::kIr, net(in_ir("F32(0.25)")), ArgGraph::kIr) ==
        Texts{"! input 1 is 0.5 here, the constant input 1 0.25 in the reference's graph"});
  CHECK(
      compared_arguments(net(in_both(0.5F, "F32(0.5)")), ArgGraph::kIr, net(in_both(0.25F, "F32(0.25)")), ArgGraph::kIr)
          .empty());
}

TEST_CASE("operators of one name with inputs of other sizes are not compared") {
  const auto net = [](const ArgInput& input, const std::string& factor) {
    return std::vector<ArgOp>{{"Mul", "Default/Mul-op0", {input, in_ir(factor)}}};
  };
  const ArgInput other = {{1, 2}, "", {2}};
  CHECK(compared_arguments(net(whole_input(), "F32(2)"), ArgGraph::kIr, net(whole_input(), "F32(3)"), ArgGraph::kIr)
            .size() == 1);
  CHECK(compared_arguments(net(whole_input(), "F32(2)"), ArgGraph::kIr, net(other, "F32(3)"), ArgGraph::kIr).empty());
}

TEST_CASE("more than a few elements are not read") {
  const auto net = [](const ArgInput& shape) {
    return std::vector<ArgOp>{{"Mul", "Default/Mul-op0", {whole_input(), shape}}};
  };
  ArgInput few{Values(kMostOfArgument, 1), "%para1_x", {kMostOfArgument}};
  ArgInput many{Values(kMostOfArgument + 1, 1), "%para1_x", {kMostOfArgument + 1}};
  std::string literal = "(F32(1)";
  for (int64_t i = 1; i < kMostOfArgument; ++i) literal += ", F32(1)";
  const std::vector<ArgOp> reference = net(in_ir(literal + ")"));
  CHECK(compared_arguments(net(few), ArgGraph::kIr, reference, ArgGraph::kIr).size() == 1);
  CHECK(compared_arguments(net(many), ArgGraph::kIr, reference, ArgGraph::kIr).empty());
}

}  // namespace msdump
