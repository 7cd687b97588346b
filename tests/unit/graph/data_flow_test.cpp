#include "graph/flow/data_flow.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/flow/dot.h"
#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

using test::find_operator;
using test::graph_of;
using test::ir_text;
using test::node_text;
using From = InputEdge::From;

std::string repeated(std::string_view text, size_t count) {
  std::string result(text);
  for (size_t i = 1; i < count; ++i) result.append(", ").append(text);
  return result;
}

OpGraph graph(const std::string& body) { return graph_of({{"graph_build_0_0001.ir", ir_text(body)}}); }

TEST_CASE("inputs come from operators, parameters and constants, through Load and Depend") {
  const OpGraph ops = graph(node_text("%0", "Load", "%para2_w, UMonad[U]", "Default/Load-op0") +
                            node_text("%1", "Mul", "%para1_x, %0", "Default/Mul-op0") +
                            node_text("%2", "Depend", "%1, %0", "Default/Depend-op0") +
                            node_text("%3", "Add", "%2, I64(3)", "Default/Add-op0"));
  const auto mul = inputs_of(ops, find_operator(ops, "Default/Mul-op0"));
  REQUIRE(mul.size() == 2);
  CHECK(mul[0].from == From::kParameter);
  CHECK(mul[1].from == From::kParameter);
  CHECK(mul[1].parameter != mul[0].parameter);
  const auto add = inputs_of(ops, find_operator(ops, "Default/Add-op0"));
  REQUIRE(add.size() == 2);
  CHECK(add[0].from == From::kOperator);
  CHECK(ops.full_name(add[0].op) == "Default/Mul-op0");
  CHECK(add[1].from == From::kConstant);
  CHECK(add[1].slot == 1);
}

TEST_CASE("a network keeps what the IR calls a reference") {
  const OpGraph ops = graph(node_text("%0", "Mul", "%para1_x, %para2_w", "Default/Mul-op0"));
  const IrGraph& ir = ops.ir(OpId(0));
  REQUIRE(ir.parameters.size() == 2);
  CHECK_FALSE(is_kept(ir, ir.parameters[0]));
  CHECK(is_kept(ir, ir.parameters[1]));
}

TEST_CASE("constants that are attributes have no slot on the device; other differences leave the slots unknown") {
  const auto slots = [](const std::string& device) {
    const OpGraph ops = graph(node_text("%0", "Neg", "%para1_x", "Default/Neg-op0") +
                              "  %1(CNode_1) = Tile(I64(2), %0, I64(3), %para2_w)\n"
                              "      : (<Int64, NoShape>, <Tensor[Float32], (2, 2)>, <Int64, NoShape>, "
                              "<Tensor[Float32], (2, 2)>) -> (<Tensor[Float32], (2, 2)>)\n"
                              "      : (" +
                              device +
                              ") -> (<Float32xDefaultFormat[const vector]{2, 2}>)\n"
                              "      # Fullname with scope: (Default/Tile-op1)\n");
    std::vector<From> from;
    for (const InputEdge& edge : inputs_of(ops, test::find_operator(ops, "Default/Tile-op1"))) {
      CHECK(edge.slot == from.size());
      from.push_back(edge.from);
    }
    return from;
  };
  const std::string type = "<Float32xDefaultFormat[const vector]{2, 2}>";
  CHECK(slots(repeated(type, 2)) == std::vector{From::kOperator, From::kParameter});
  CHECK(slots(repeated(type, 4)) == std::vector{From::kConstant, From::kOperator, From::kConstant, From::kParameter});
  CHECK(slots(repeated(type, 3)).empty());
}

TEST_CASE("an element of a tuple is the output of that number, a tuple that was made is its elements") {
  const OpGraph ops = graph(node_text("%0", "Split", "%para1_x", "Default/Split-op0") +
                            node_text("%1", "TupleGetItem", "%0, I64(1)", "Default/TupleGetItem-op0") +
                            node_text("%2", "MakeTuple", "%1, %para1_x", "Default/MakeTuple-op0") +
                            node_text("%3", "Concat", "%2", "Default/Concat-op0"));
  const auto inputs = inputs_of(ops, find_operator(ops, "Default/Concat-op0"));
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].from == From::kOperator);
  CHECK(inputs[0].output == 1);
  CHECK(inputs[1].from == From::kParameter);
}

TEST_CASE("what is taken out of a tuple that was made is its element; what a call returns is not known") {
  const OpGraph ops = graph(node_text("%0", "Neg", "%para1_x", "Default/Neg-op0") +
                            node_text("%1", "MakeTuple", "%para1_x, %0", "Default/MakeTuple-op0") +
                            node_text("%2", "TupleGetItem", "%1, I64(1)", "Default/TupleGetItem-op0") +
                            node_text("%3", "TupleGetItem", "%1, I64(2)", "Default/TupleGetItem-op1") +
                            node_text("%4", "call @g", "%0", "Default/call-op0") +
                            node_text("%5", "TupleGetItem", "%4, I64(0)", "Default/TupleGetItem-op2") +
                            node_text("%6", "AddN", "%2, %3, %5, %4", "Default/AddN-op0"));
  const auto inputs = inputs_of(ops, find_operator(ops, "Default/AddN-op0"));
  REQUIRE(inputs.size() == 4);
  CHECK(inputs[0].from == From::kOperator);
  CHECK(inputs[0].op == find_operator(ops, "Default/Neg-op0"));
  CHECK(inputs[1].from == From::kUnknown);
  CHECK(inputs[2].from == From::kUnknown);
  CHECK(inputs[3].from == From::kUnknown);
}

// A tuple of `elements`, `readers` operators that read it, and one that reads a small tuple.
OpGraph graph_with_tuple(size_t elements, size_t readers) {
  std::string body = node_text("%0", "ReLU", "%para1_x", "Default/ReLU-op0") +
                     node_text("%1", "MakeTuple", repeated("%0", elements), "Default/MakeTuple-op0") +
                     node_text("%2", "MakeTuple", "%0, %para1_x", "Default/MakeTuple-op1") +
                     node_text("%3", "Concat", "%2", "Default/Concat-op0");
  for (size_t i = 0; i < readers; ++i) {
    const std::string id = std::to_string(i);
    body += node_text("%" + std::to_string(i + 4), "AddN", "%1", "Default/AddN-op" + id);
  }
  return graph(body);
}

size_t all_inputs(const OpGraph& ops) {
  size_t count = 0;
  for (OpId op{0}; op < ops.size(); ++op) count += ops.has_kernel(op) ? inputs_of(ops, op).size() : 0;
  return count;
}

TEST_CASE("a tuple of thousands that thousands read does not take memory quadratic in the file") {
  const OpGraph one = graph_with_tuple(3000, 3000), two = graph_with_tuple(6000, 6000);
  CHECK(all_inputs(one) < (size_t{1} << 21));
  CHECK(all_inputs(two) < (size_t{1} << 21));
  CHECK(inputs_of(one, find_operator(one, "Default/AddN-op7")).empty());
  CHECK(inputs_of(one, find_operator(one, "Default/Concat-op0")).size() == 2);
}

TEST_CASE("a tuple of hundreds that hundreds read is unfolded for each of them") {
  const OpGraph ops = graph_with_tuple(600, 600);
  CHECK(inputs_of(ops, find_operator(ops, "Default/AddN-op7")).size() == 600);
  const OpGraph long_one = graph_with_tuple(20'000, 20);
  CHECK(inputs_of(long_one, find_operator(long_one, "Default/AddN-op7")).size() == 20'000);
}

TEST_CASE("dot draws operators and arrows, without the virtual nodes between them, as far as asked") {
  const OpGraph ops = graph(
      node_text("%0", "Mul", "%para1_x", "Default/Mul-op0") + node_text("%1", "Depend", "%0", "Default/Depend-op0") +
      node_text("%2", "Add", "%1", "Default/Add-op0") + node_text("%3", "Sub", "%2", "Default/Sub-op0"));
  const auto label = [&](OpId op) { return std::string(ops.op_type(op)) + "\n\"quoted\""; };
  const std::string all = dot_text(ops, {}, 1, label);
  CHECK(all.find("n0 -> n2;") != std::string::npos);
  CHECK(all.find("n1") == std::string::npos);
  CHECK(all.find("label=\"Mul\\n\\\"quoted\\\"\"") != std::string::npos);
  const std::string near = dot_text(ops, operators_named(ops, "Mul-op0"), 1, label);
  CHECK(near.find("n2 ") != std::string::npos);
  CHECK(near.find("n3 ") == std::string::npos);
}

}  // namespace
TEST_CASE("an output is read that Return reads, an operator without a file, or a call; an order alone reads nothing") {
  const OpGraph ops = graph(node_text("%0", "Loss", "%para1_x", "Default/Loss-op0") +
                            node_text("%1", "TupleGetItem", "%0, I64(0)", "Default/TupleGetItem-op0") +
                            node_text("%2", "TupleGetItem", "%0, I64(1)", "Default/TupleGetItem-op1") +
                            node_text("%3", "Mul", "%2, %para2_w", "Default/Mul-op0") +
                            node_text("%4", "UpdateState", "U, %3", "Default/UpdateState-op0") +
                            node_text("%5", "Neg", "%para1_x", "Default/Neg-op0") +
                            node_text("%6", "Depend", "%1, %5", "Default/Depend-op0") +
                            node_text("%7", "MakeTuple", "%6", "Default/MakeTuple-op0") +
                            node_text("%8", "Sub", "%para1_x", "Default/Sub-op0") +
                            node_text("%9", "call @g", "%8", "Default/call-op0") + "  Return(%7)\n");
  const OutputReads reads(ops);
  const OpId loss = find_operator(ops, "Default/Loss-op0");
  CHECK(reads.is_read(loss, 0));
  CHECK(reads.is_read(loss, 1));
  CHECK_FALSE(reads.is_read(loss, 2));
  CHECK_FALSE(reads.is_read(loss, 100));
  CHECK_FALSE(reads.is_read(find_operator(ops, "Default/Mul-op0"), 0));
  CHECK_FALSE(reads.is_read(find_operator(ops, "Default/Neg-op0"), 0));
  CHECK(reads.is_read(find_operator(ops, "Default/Sub-op0"), 0));
}

TEST_CASE("a reader of an operator that makes a tuple reads all of its outputs, a reader of any other the first one") {
  const auto reads_of = [](const std::string& type) {
    const OpGraph ops = graph("  %0(CNode_0) = Split(%para1_x)\n      : (<Tensor[Float32], (2, 2)>) -> (" + type +
                              ")\n      # Fullname with scope: (Default/Split-op0)\n" +
                              node_text("%1", "Neg", "%0", "Default/Neg-op0"));
    const OutputReads reads(ops);
    return std::pair(reads.is_read(OpId(0), 0), reads.is_read(OpId(0), 1));
  };
  CHECK(reads_of("<Tuple[Tensor[Float32]*2], TupleShape((2), (2))>") == std::pair(true, true));
  CHECK(reads_of("<Tensor[Float32], (2, 2)>") == std::pair(true, false));
}

TEST_CASE("tuples of the same tuple twice, forty times over, are gone through once") {
  std::string body = node_text("%0", "Neg", "%para1_x", "Default/Neg-op0");
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "%" + std::to_string(i - 1);
    body += node_text("%" + std::to_string(i), "MakeTuple", before + ", " + before,
                      "Default/MakeTuple-op" + std::to_string(i));
  }
  const OpGraph ops = graph(body + "  Return(%40)\n");
  CHECK(OutputReads(ops).is_read(OpId(0), 0));
}

TEST_CASE("without a Return, as in IR protobuf, what no other node reads is returned") {
  const OpGraph ops = graph(node_text("%0", "Loss", "%para1_x", "Default/Loss-op0") +
                            node_text("%1", "TupleGetItem", "%0, I64(2)", "Default/TupleGetItem-op0") +
                            node_text("%2", "MakeTuple", "%1", "Default/MakeTuple-op0"));
  const OutputReads reads(ops);
  CHECK(reads.is_read(OpId(0), 2));
  CHECK_FALSE(reads.is_read(OpId(0), 0));
}

TEST_CASE("what is read of nested tuples is the element that is taken out, or all of them") {
  const auto reads_of = [](const std::string& last) {
    const OpGraph ops = graph(node_text("%0", "Mul", "%para1_x", "Default/Mul-op0") +
                              node_text("%1", "Sub", "%para1_x", "Default/Sub-op0") +
                              node_text("%2", "MakeTuple", "%0, %1", "Default/MakeTuple-op0") +
                              node_text("%3", "MakeTuple", "%para1_x, %2", "Default/MakeTuple-op1") + last);
    const OutputReads reads(ops);
    return std::pair(reads.is_read(OpId(0), 0), reads.is_read(OpId(1), 0));
  };
  CHECK(reads_of("  Return(%3)\n") == std::pair(true, true));
  CHECK(reads_of(node_text("%4", "TupleGetItem", "%3, I64(1)", "Default/TupleGetItem-op0") +
                 node_text("%5", "TupleGetItem", "%4, I64(1)", "Default/TupleGetItem-op1") + "  Return(%5)\n") ==
        std::pair(false, true));
}

}  // namespace msdump
