// IrNode::arguments: the attributes of IR text and IR protobuf that say what an operator computes.
#include <string>

#include <fmt/format.h>

#include "ir/model/ir_builder.h"
#include "ir/text/attributes.h"
#include "ir_of.h"
#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

std::string selected(std::string_view text, const AttributeKeys& keys) {
  std::vector<IrAttribute> attributes;
  select_attributes(text, keys, attributes);
  std::string result;
  for (const IrAttribute& one : attributes) result += fmt::format("{}={};", one.key, one.value);
  return result;
}

}  // namespace

TEST_CASE("attributes are selected by their keys, from the groups of the operator itself") {
  const AttributeKeys keys = {"epsilon", "axis"};
  CHECK(selected("{epsilon: F32(1e-05), seed: I64(3)}", keys) == "epsilon=F32(1e-05);");
  CHECK(selected("primitive_attrs: {axis: (I64(1), I64(2))} cnode_attrs: {epsilon: 0.1}", keys) ==
        "axis=(I64(1), I64(2));epsilon=0.1;");
  CHECK(selected("cnode_primal_attrs: {axis: I64(1)}", keys).empty());
  CHECK(selected("{instance name: axis}", keys).empty());
  CHECK(selected("primitive_attrs: {my_axis: I64(1), axis_list: I64(2), text: \"axis\"}", keys).empty());
  CHECK(selected("primitive_attrs: {axis: I64(1)", {}).empty());
  CHECK(selected("", keys).empty());
  CHECK(selected("axis:", keys).empty());
}

TEST_CASE("IR text keeps the arguments that are asked for") {
  const std::string text = test::ir_text(
      "  %0(CNode_1) = LayerNorm(%para1_x) primitive_attrs: {epsilon: F32(1e-05), format: \"NCHW\"}\n"
      "      : (<Tensor[Float32], (2)>) -> (<Tensor[Float32], (2)>)\n"
      "  %1(CNode_2) = ReLU(%0) primitive_attrs: {format: \"NCHW\"}\n"
      "      : (<Tensor[Float32], (2)>) -> (<Tensor[Float32], (2)>)\n");
  IrTextOptions options;
  options.arguments = {"epsilon", "axis"};
  const IrGraph ir = test::ir_of(text, options);
  REQUIRE(ir.nodes.size() >= 2);
  CHECK(ir.text(ir.nodes[0].arguments) == "{epsilon: F32(1e-05)}");
  CHECK(ir.nodes[1].arguments == Text::kEmpty);
  CHECK(test::ir_of(text).nodes[0].arguments == Text::kEmpty);
}

TEST_CASE("long arguments are left out, and equal ones are kept once") {
  IrGraphBuilder builder;
  CHECK(builder.take_arguments() == Text::kEmpty);
  builder.add_argument("epsilon", "1e-05");
  builder.add_argument("shape", std::string(513, '1'));
  builder.add_argument("axis", "1");
  const Text first = builder.take_arguments();
  CHECK(builder.graph().text(first) == "{epsilon: 1e-05, axis: 1}");
  builder.add_argument("epsilon", "1e-05");
  builder.add_argument("axis", "1");
  CHECK(builder.take_arguments() == first);
  for (int i = 0; i < 8; ++i) builder.add_argument("shape", std::string(512, '1'));
  CHECK(builder.graph().text(builder.take_arguments()).size() <= 2050);
}

TEST_CASE("the arguments of a whole file have a limit") {
  IrGraphBuilder builder;
  const std::string value(500, '1');
  size_t kept = 0;
  for (int i = 0; i < 60'000; ++i) {
    for (int k = 0; k < 3; ++k) builder.add_argument("shape", value);
    builder.add_argument("axis", std::to_string(i));
    if (builder.take_arguments() != Text::kEmpty) ++kept;
  }
  CHECK(kept > 40'000);
  CHECK(kept < 45'000);
}

}  // namespace msdump
