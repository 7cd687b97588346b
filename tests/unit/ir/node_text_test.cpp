// What the lines of one operator mean, also wrapped and damaged; through read_ir_text, so that nothing is tested that a
// user would not see.
#include "ir/text/node_text.h"

#include "ir/text/attributes.h"
#include "ir_of.h"

namespace msdump {
namespace {

using test::ir_of;
using test::operands_of;
using test::problems_of;
using test::stack_of;

IrGraph whole(std::string_view text) {
  IrTextOptions options;
  options.attributes = {"a", "input_names", "mode", "pad"};
  return ir_of(text, options);
}

std::string first_type(const IrGraph& ir, Signature signature) {
  const auto inputs = ir.inputs(signature);
  return inputs.empty() ? "" : std::string(ir.types[inputs[0]].text);
}

TEST_CASE("full names are read in every spelling") {
  for (const char* line :
       {": (Default/net/Conv2D-op12)", "# fullname_with_scope: (Default/net/Conv2D-op12)",
        "# Fullname with scope: (Default/net/Conv2D-op12)", ": full_name_with_scope: (Default/net/Conv2D-op12)",
        "#Fullname with scope:   (Default/net/Conv2D-op12)"}) {
    const IrGraph ir = whole("%0(a) = Conv2D(%1)\n      : (<A>) -> (<B>)\n      " + std::string(line) + "\n");
    INFO(line);
    REQUIRE(ir.nodes.size() == 1);
    CHECK(ir.full_name(ir.nodes[0]) == "Default/net/Conv2D-op12");
    CHECK(ir.scope(ir.nodes[0]) == "Default/net");
    CHECK(problems_of(ir).empty());
  }
}

TEST_CASE("a full name may be one word") {
  const IrGraph ir =
      whole("%0(a) = Load(%1)\n : (<A>) -> (<B>)\n : (conv1.weight)\n%1(b) = %0()\n # Fullname with scope: (5)\n");
  CHECK(ir.full_name(ir.nodes[0]) == "conv1.weight");
  CHECK(ir.scope(ir.nodes[0]).empty());
  CHECK(ir.full_name(ir.nodes[1]) == "5");
}

TEST_CASE("scopes are read in every spelling and are no full names") {
  for (const char* line :
       {"# scope: (Default/net)", "# Scope: (Default/net)", "#scope: (Default/net)", "#scope: Default/net"}) {
    const IrGraph ir = whole("%0(a) = Conv2D(%1)\n      " + std::string(line) + "\n");
    INFO(line);
    CHECK(ir.scope(ir.nodes[0]) == "Default/net");
    CHECK(ir.full_name(ir.nodes[0]).empty());
  }
}

TEST_CASE("types of host and device are told apart by what they hold") {
  const IrGraph ir = whole(
      "%0(a) = Conv2D(%1)\n"
      "      : (<Tensor[Float32], (2, 3)>) -> (<Tensor[Float32], (2)>)\n"
      "      : (<Float16xNC1HWC0[const vector]{2, 3}>) -> (<Float32xND[const vector]{2}>)\n"
      "      : (Tensor) -> (TupleUnfold)\n"
      "%1(b) = Conv2D(%1)\n"
      "      : (<Tensor[Float32], (2, 3)>) -> (<Tensor[Float32], (2)>)\n"
      "      : (S:[2, 3]V:<null>, <null>) -> (S:[2]V:<null>)\n"
      "%2(c) = Conv2D()\n"
      "      : () -> (<Tensor[Float32], (4)>)\n"
      "%3(d) = Conv2D()\n"
      "      : (<Float16xND[const vector][7]>) -> (<Float16xND[const vector][7]>)\n"
      "Return()\n"
      "      : ()\n");
  CHECK(first_type(ir, ir.nodes[0].host) == "<Tensor[Float32], (2, 3)>");
  CHECK(first_type(ir, ir.nodes[0].device) == "<Float16xNC1HWC0[const vector]{2, 3}>");
  CHECK(ir.nodes[1].device == List::kEmpty);
  CHECK(ir.inputs(ir.nodes[2].host).empty());
  CHECK(ir.outputs(ir.nodes[2].host).size() == 1);
  CHECK(ir.nodes[3].host == List::kEmpty);
  CHECK(first_type(ir, ir.nodes[3].device) == "<Float16xND[const vector][7]>");
  CHECK(ir.full_name(ir.nodes[4]).empty());
  CHECK(problems_of(ir).empty());
}

TEST_CASE("the kinds of inputs and outputs are not types") {
  const IrGraph ir =
      whole("%0(a) = A()\n      : (Tensor, List) -> (TupleUnfold)\n%1(b) = B()\n : (Other) -> (Tensor)\n");
  CHECK(ir.nodes[0].host == List::kEmpty);
  CHECK(ir.nodes[0].device == List::kEmpty);
  CHECK(ir.nodes[1].host != List::kEmpty);
}

TEST_CASE("constant tensors over several lines belong to the definition") {
  const IrGraph ir = whole(
      "  %3(x) = Add(%2, Tensor(shape=[2, 2], dtype=Float32, value=\n"
      "[[ 1.00000000e+00  2.00000000e+00]\n"
      " [ 3.00000000e+00  4.00000000e+00]])) primitive_attrs: {a: b}\n"
      "      : (<A>, <B>) -> (<C>)\n");
  REQUIRE(ir.nodes.size() == 1);
  CHECK(operands_of(ir, ir.nodes[0]) ==
        "%2 | Tensor(shape=[2, 2], dtype=Float32, value= [[ 1.00000000e+00  2.00000000e+00] "
        "[ 3.00000000e+00  4.00000000e+00]])");
  CHECK(attribute_value(ir.text(ir.nodes[0].attributes), "a") == "b");
  CHECK(problems_of(ir).empty());
}

TEST_CASE("wrapped lines are put together again") {
  const IrGraph ir = whole(
      "subgraph @g() {\n"
      "%20(equiv\n"
      "output) = Conv2D(%17,\n"
      "%19) {instance name: conv2d}\n"
      "primitive_attrs: {input_names: [\n"
      "x, w],    mode: 1     , pad\n"
      ": 3}\n"
      " : (<Tensor[Float32], (32,\n"
      "256)>) -> (<B>)\n"
      " # Fullname with scope: (Default/conv\n"
      "3/Conv2D-op12)\n"
      " # In file ./tain_alexnet.py(17\n"
      "5)/  x = self.conv3(x)/\n"
      "}\n");
  REQUIRE(ir.nodes.size() == 1);
  const IrNode& node = ir.nodes[0];
  CHECK(ir.text(node.debug_name) == "equiv output");
  CHECK(operands_of(ir, node) == "%17 | %19");
  CHECK(ir.text(node.attributes) == "{input_names: [ x, w], mode: 1, pad: 3}");
  CHECK(first_type(ir, node.host) == "<Tensor[Float32], (32, 256)>");
  CHECK(ir.full_name(node) == "Default/conv3/Conv2D-op12");
  CHECK(problems_of(ir) == "12: no line number in: In file ./tain_alexnet.py(17 5)/  x = self.conv3(x)/\n");
}

TEST_CASE("the types after a strategy are read") {
  const IrGraph ir = whole(
      "%2(x) = MatMul(%0, %1) primitive_attrs: {a: 1}\n {in_strategy: ((2, 1), (1, 4))}      : (<A>, <B>) -> (<C>)\n");
  CHECK(attribute_value(ir.text(ir.nodes[0].attributes), "a") == "1");
  CHECK(ir.inputs(ir.nodes[0].host).size() == 2);
}

TEST_CASE("values on lines of their own are not part of an operator") {
  const IrGraph ir = whole(
      "subgraph @g() {\n"
      "  [ValueNode]9(U)\n"
      "  %0(a) = Load(%1, U)\n"
      "      : (<A>) -> (<B>)\n"
      "      # In file a.py(1)/x/\n"
      "  success(Tensor(shape=[], dtype=Bool, value= True))\n"
      "  %1(b) = A(%0)\n"
      "}\n");
  CHECK(ir.nodes.size() == 2);
  CHECK(stack_of(ir, ir.nodes[0]) == "a.py:1");
  CHECK(problems_of(ir).empty());
}

TEST_CASE("lines that are not understood are reported") {
  const IrGraph ir = whole("subgraph @g() {\nrubbish\n%0(a) = A(%1)\n : (<A>)\n more rubbish\n%1 x = B()\n}\n");
  CHECK(problems_of(ir) ==
        "2: line not understood: rubbish\n5: line not understood: more rubbish\n"
        "6: line not understood: %1 x = B()\n");
}

TEST_CASE("outputs on a line of their own belong to the inputs in front of them, and to nothing else") {
  const IrGraph ir = whole("%0(a) = A()\n : (<A>)\n -> (<B>)\n # In file a.py(1)/x/\n -> (<C>)\n");
  CHECK(ir.outputs(ir.nodes[0].host).size() == 1);
  REQUIRE(ir.stack(ir.nodes[0]).size() == 1);
  CHECK(ir.frames[ir.stack(ir.nodes[0])[0]].code == "x");
}

TEST_CASE("only so many lines are put together") {
  std::string text = "%0(a) = A((\n";
  for (int i = 0; i < 100; ++i) text += "1,\n";
  const IrGraph ir = whole(text + "2))\n%1(b) = B()\n");
  CHECK(ir.nodes.size() == 2);
  CHECK(problems_of(ir) ==
        "66: too many continuation lines: the rest is skipped\n"
        "1: the operands of this operator have no end\n");
}

TEST_CASE("a name that is cut off is not guessed") {
  const IrGraph ir = whole(
      "%0(a) = A(%1)\n # Fullname with scope: (Default/net/Co\n%1(b) = B()\n # Fullname with scope:\n    "
      "(Default/B-op1)\n");
  CHECK(ir.full_name(ir.nodes[0]).empty());
  CHECK(ir.full_name(ir.nodes[1]).empty());
  CHECK(problems_of(ir) == "2: the name of this operator is cut off\n4: the label of a name has no name after it\n");
}

}  // namespace
}  // namespace msdump
