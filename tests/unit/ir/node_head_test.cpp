#include "ir/text/node_text.h"

#include <fmt/format.h>

#include "ir/text/attributes.h"
#include "support/catch.h"

namespace msdump {
namespace {

// "NUMBER|DEBUG|OP|OPERANDS|ATTRIBUTES", or what is wrong.
std::string head_text(std::string_view text) {
  NodeHead head;
  if (const char* wrong = parse_node_head(text, head)) return wrong;
  const std::string number = head.number == kNoIndex ? "Return" : std::to_string(head.number);
  return fmt::format("{}|{}|{}|{}|{}{}", number, head.debug_name, head.op, head.operands, head.attributes,
                     head.operands_closed ? "" : " OPEN");
}

TEST_CASE("definitions with and without debug names") {
  CHECK(head_text("  %20(equivoutput) = Conv2D(%17, %19) {instance name: conv2d}") ==
        "20|equivoutput|Conv2D|%17, %19|{instance name: conv2d}");
  CHECK(head_text("%0 = Assign(%para2_param, U)") == "0||Assign|%para2_param, U|");
  CHECK(head_text("%0(CNode_310$a) = PrimFunc_Sub(%para1_x, Tensor(shape=[], dtype=Float32, value=1))") ==
        "0|CNode_310$a|PrimFunc_Sub|%para1_x, Tensor(shape=[], dtype=Float32, value=1)|");
  CHECK(head_text("%61(equiv[CNode]707) = BatchNorm()") == "61|equiv[CNode]707|BatchNorm||");
  CHECK(head_text("%100(equiv_loss)) = MatMul(%98)") == "100|equiv_loss)|MatMul|%98|");
}

TEST_CASE("calls of every form") {
  CHECK(head_text("%2([CNode]5) = call @3_func.23(%0, %1)") == "2|[CNode]5|call @3_func.23|%0, %1|");
  CHECK(head_text("%6(a) = %5[@FuncUnion(@f, @g)]() x") == "6|a|%5[@FuncUnion(@f, @g)]||x");
  CHECK(head_text("%6(a) = $(@g:x(1))[@f](%1)") == "6|a|$(@g:x(1))[@f]|%1|");
  CHECK(head_text("%0(a) = Tensor(shape=[], value=0)($(@g:x))") == "0|a|Tensor(shape=[], value=0)|$(@g:x)|");
  CHECK(head_text("%2(a) = 903(%0)") == "2|a|903|%0|");
  CHECK(head_text("%2(a) = MultitypeFuncGraph-add{(Tensor, Tensor), (Int, Int)}(%0)") ==
        "2|a|MultitypeFuncGraph-add{(Tensor, Tensor), (Int, Int)}|%0|");
}

TEST_CASE("primitives with their class are reduced to their name") {
  CHECK(head_text("%1(a) = PrimitivePy::Sub{prim_type=2}[output_names=[\"output\"]](%p, Tensor(43)[])") ==
        "1|a|Sub|%p, Tensor(43)[]|");
  CHECK(head_text("Primitive::Return{prim_type=1}(%4)") == "Return||Return|%4|");
}

TEST_CASE("the end of a graph") {
  CHECK(head_text("  Return(%17) cnode_attrs: {checkpoint: Bool(1)}") ==
        "Return||Return|%17|cnode_attrs: {checkpoint: Bool(1)}");
  CHECK(head_text("return(%1)") == "Return||return|%1|");
}

TEST_CASE("what cannot be read says why") {
  CHECK(head_text("%1(a = Conv2D(%1)") == "no ')' after the name of this operator");
  CHECK(head_text("%12345678901 = A()") == "the number of this operator is too large");
  CHECK(head_text("%1(a) = Conv2D") == "no operands");
  CHECK(head_text("%1(a) = (%2)") == "no operator before its operands");
  CHECK(head_text("%1 x = A()") == "no '=' after the name of this operator");
  CHECK(head_text("%1(a) = Conv2D(%2, (1, 2)") == "1|a|Conv2D|%2, (1, 2)| OPEN");
}

TEST_CASE("a head is complete when nothing in it is open") {
  CHECK(is_complete_head("%1(a) = A(%2)"));
  CHECK(is_complete_head("%1(a) = A(%2) primitive_attrs: {a: (1, 2)} cnode_attrs: {b: c}"));
  CHECK_FALSE(is_complete_head("%1(a) = A(%2,"));
  CHECK_FALSE(is_complete_head("%1(a) = A(%2) primitive_attrs: {a: ("));
  CHECK_FALSE(is_complete_head("%1(a) = A(%2) primitive_attrs:"));
  CHECK_FALSE(is_complete_head("%1(a) ="));
}

std::string attributes_of(std::string_view text) {
  std::vector<IrAttribute> attributes;
  const bool good = parse_attributes(text, attributes);
  std::string reported = good ? "" : "DAMAGED ";
  for (const IrAttribute& attribute : attributes) {
    reported += fmt::format("{}/{}={};", attribute.group, attribute.key, attribute.value);
  }
  return reported;
}

TEST_CASE("attributes come in groups") {
  CHECK(attributes_of("{instance name: add} primitive_attrs: {a: [x, y], b: } cnode_attrs: {c: \"d, e\"} "
                      "{in_strategy: ((1, 2), (3))}") ==
        "instance/instance name=add;primitive_attrs/a=[x, y];primitive_attrs/b=;cnode_attrs/c=\"d, e\";"
        "strategy/in_strategy=((1, 2), (3));");
  CHECK(attributes_of("{pri_format: NC1HWC0, input_names: (x)}") == "attrs/pri_format=NC1HWC0;attrs/input_names=(x);");
  CHECK(attributes_of("{instance name: a}cnode_attrs:{x: 1}") == "instance/instance name=a;cnode_attrs/x=1;");
  CHECK(attributes_of("") == "");
}

TEST_CASE("damaged attributes are read as far as they go") {
  CHECK(attributes_of("primitive_attrs: {a: 1, b: (2") == "DAMAGED primitive_attrs/a=1;primitive_attrs/b=(2;");
  CHECK(attributes_of("{instance name: a} rubbish") == "DAMAGED instance/instance name=a;");
}

TEST_CASE("single attributes are found by their key") {
  constexpr std::string_view kText =
      "primitive_attrs: {group: 4-63, unique_ids: 3} cnode_primal_attrs: {unique_id: \"12\"}";
  CHECK(attribute_value(kText, "unique_id") == "12");
  CHECK(attribute_value(kText, "group") == "4-63");
  CHECK(attribute_value(kText, "id").empty());
  const std::vector<std::string> keys = {"unique_id", "group"};
  CHECK(only_attributes(kText, keys) == "{group: 4-63, unique_id: \"12\"}");
  CHECK(only_attributes("primitive_attrs: {unique_ids: 3}", keys) == "");
}

}  // namespace
}  // namespace msdump
