#include "graph/flow/data_flow.h"

#include <string>

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
}  // namespace msdump
