#include "ir/text/ir_text.h"

#include "ir/text/attributes.h"
#include "ir_of.h"

namespace msdump {
namespace {

using test::ir_of;
using test::operands_of;
using test::problems_of;
using test::stack_of;

constexpr std::string_view kTwoGraphs =
    "# IR entry: @main\n"
    "# Total subgraphs: 2\n"
    "\n"
    "# Total params: 2\n"
    "# Params:\n"
    "%para1_x: <Tensor[Float32], ()> : []\n"
    "%para2_w: <Ref[Tensor[Float32]], (4), ref_key=w>  :  has_default\n"
    "\n"
    "Node counting information:\n"
    "Total number of nodes: 9\n"
    "Total number of cnodes: 6\n"
    "\n"
    "subgraph instance: inner : 0x1\n"
    "subgraph @inner parent: [subgraph @main](%para3_y) {\n"
    "  %0(a) = PrimFunc_Add(%para3_y, $(@main:c))\n"
    "  %1(b) = Mul(%0, $(@main:para1_x), $(@nowhere:z), %para1_Parameter_7)\n"
    "  Return(%1)\n"
    "}\n"
    "# Order:\n"
    "#   1: @inner:a{[0]: ValueNode<Primitive> Add}\n"
    "subgraph @main() {\n"
    "  %0(c) = Partial(@inner, %para1_x, %1, I64(3))\n"
    "  %1(d) = call @inner(%0, %9)\n"
    "  Return(%1)\n"
    "}\n";

TEST_CASE("references are resolved within and between graphs") {
  const IrGraph ir = ir_of(kTwoGraphs);
  REQUIRE(ir.nodes.size() == 6);
  CHECK(ir.parsed() == ir.expected());
  CHECK(operands_of(ir, ir.nodes[0]) == "%para3_y | $(@main:c)");
  CHECK(ir.operands_of(ir.nodes[0])[1].kind == IrOperand::Kind::kNode);
  CHECK(ir.operands_of(ir.nodes[0])[1].value == 3);
  CHECK(operands_of(ir, ir.nodes[1]) == "%0 | %para1_x | $(@nowhere:z) | %para1_x");
  CHECK(ir.operands_of(ir.nodes[1])[1].kind == IrOperand::Kind::kParameter);
  CHECK(ir.operands_of(ir.nodes[1])[2].kind == IrOperand::Kind::kUnresolved);
  for (const IrOperand& operand : ir.operands) CHECK_FALSE(operand.control);
  CHECK(ir.operands_of(ir.nodes[1])[3].kind == IrOperand::Kind::kParameter);
  CHECK(operands_of(ir, ir.nodes[3]) == "@inner | %para1_x | %1 | I64(3)");
  CHECK(ir.operands_of(ir.nodes[3])[0].kind == IrOperand::Kind::kGraph);
  CHECK(ir.operands_of(ir.nodes[3])[2].value == 4);  // printed before it is defined
  CHECK(ir.operands_of(ir.nodes[3])[3].kind == IrOperand::Kind::kConstant);
  CHECK(ir.operands_of(ir.nodes[4])[1].kind == IrOperand::Kind::kUnresolved);
  CHECK(problems_of(ir).empty());
}

TEST_CASE("graphs know their parents and parameters and operators") {
  const IrGraph ir = ir_of(kTwoGraphs);
  REQUIRE(ir.graphs.size() == 2);
  CHECK(ir.text(ir.graphs[0].name) == "inner");
  CHECK(ir.graphs[0].parent == 1);
  CHECK(ir.graphs[0].line == 14);
  CHECK(ir.graphs[0].node_count == 3);
  CHECK(ir.graphs[1].first_node == 3);
  CHECK(ir.graph_name(ir.nodes[5]) == "main");
  REQUIRE(ir.parameters.size() == 3);
  CHECK(ir.parameters[0].graph == kNoIndex);
  CHECK(ir.types[ir.parameters[1].host].ref_key == "w");
  CHECK(ir.parameters[1].has_default);
  CHECK(ir.parameters[2].graph == 0);
  CHECK(ir.graphs[0].parameter_count == 1);
  CHECK(ir.text(ir.facts.entry) == "main");
}

TEST_CASE("a graph whose parent is not there has none") {
  const IrGraph ir = ir_of("subgraph @a parent: [subgraph @nowhere]() {\n  %0(x) = A()\n  Return(%0)\n}\n");
  REQUIRE(ir.graphs.size() == 1);
  CHECK(ir.text(ir.graphs[0].parent_name) == "nowhere");
  CHECK(ir.graphs[0].parent == kNoIndex);
}

TEST_CASE("an operator without types has none, however many types there were before") {
  std::string text = "subgraph @g() {\n";
  for (int i = 0; i < 8000; ++i) text += "  %" + std::to_string(i) + "(a) = A()\n : (<T" + std::to_string(i) + ">)\n";
  const IrGraph ir = ir_of(text + "  %8000(b) = B()\n  Return(%8000)\n}\n");
  REQUIRE(ir.nodes.size() == 8002);
  CHECK(ir.nodes[7999].host != List::kEmpty);
  CHECK(ir.nodes[8000].host == List::kEmpty);
  CHECK(problems_of(ir).empty());
}

TEST_CASE("operators are kernels or virtual or calls") {
  const IrGraph ir = ir_of(kTwoGraphs);
  CHECK(ir.nodes[0].kind == IrNodeKind::kKernel);
  CHECK(ir.op_type(ir.nodes[0]) == "Add");
  CHECK(ir.text(ir.nodes[0].op) == "PrimFunc_Add");
  CHECK(ir.nodes[2].kind == IrNodeKind::kVirtual);
  CHECK(ir.node_name(ir.nodes[2]) == "Return");
  CHECK(ir.nodes[3].kind == IrNodeKind::kVirtual);
  CHECK(ir.nodes[4].kind == IrNodeKind::kCall);
  CHECK(ir.op_type(ir.nodes[4]) == "call");
  CHECK(op_type_of("%5[@FuncUnion(@a, @b)]") == "call");
  CHECK(op_type_of("S-Prim-MakeTuple") == "S-Prim-MakeTuple");
}

std::string with_frames(std::string_view head, std::string_view label, std::string_view frames) {
  return std::string(head) + "%0(a) = A(%1)\n" + std::string(label) + std::string(frames);
}

TEST_CASE("stacks are innermost first whichever way they are written") {
  constexpr std::string_view kOuterFirst = " # In file outer.py:1/x/\n # In file inner.py:2/y/\n";
  constexpr std::string_view kInnerFirst = " # In file inner.py:2/y/\n # In file outer.py:1/x/\n";
  const auto stack = [](const std::string& text) {
    const IrGraph ir = ir_of(text);
    return stack_of(ir, ir.nodes.at(0));
  };
  const std::string expected = "inner.py:2 -> outer.py:1";
  CHECK(stack(with_frames("#Total subgraph : 1\n", "", kInnerFirst)) == expected);
  CHECK(stack(with_frames("#Total subgraph: 1\n", "", kOuterFirst)) == expected);
  CHECK(stack(with_frames("# Total subgraphs: 1\n", "", kOuterFirst)) == expected);
  CHECK(stack(with_frames("", " # fullname_with_scope: (A-op1)\n", kInnerFirst)) == expected);
  CHECK(stack(with_frames("", " # Fullname with scope: (A-op1)\n", kOuterFirst)) == expected);
  CHECK(stack(with_frames("", " # scope: (A)\n", kInnerFirst)) == expected);
  CHECK(stack(with_frames("", " #scope: (A)\n", kOuterFirst)) == expected);
  // The head of the file takes precedence over the labels.
  CHECK(stack(with_frames("#Total subgraph : 1\n", " # Fullname with scope: (A-op1)\n", kInnerFirst)) == expected);
  CHECK(stack(with_frames("# Total subgraphs: 1\n", " # fullname_with_scope: (A-op1)\n", kOuterFirst)) == expected);
  CHECK(stack(with_frames("", "", " # In file inner.py(2)/y/\n # In file outer.py(1)/x/\n")) == expected);
  CHECK(stack(with_frames("", "", " # In file outer.py:1, 1~2/x/\n # In file inner.py:2/y/\n")) == expected);
}

TEST_CASE("an unknown order is reported") {
  const IrGraph ir = ir_of(with_frames("", "", " # In file b.py:1/x/\n # In file a.py:2/y/\n"));
  CHECK(stack_of(ir, ir.nodes[0]) == "b.py:1 -> a.py:2");
  CHECK(problems_of(ir) == "2: the order of source lines is unknown; innermost first is assumed\n");
  CHECK(problems_of(ir_of(with_frames("", "", " # In file b.py:1/x/\n"))).empty());
  const IrGraph named = ir_of(with_frames("", " : (A-op1)\n", " # In file b.py:1/x/\n # In file a.py:2/y/\n"));
  CHECK(problems_of(named) == "3: the order of source lines is unknown; innermost first is assumed\n");
}

TEST_CASE("source lines of forward and fused operators are chains of their own") {
  const IrGraph old_text = ir_of(
      "%0(a) = AGrad(%1)\n"
      " # In file grad.py(9)/x/\n"
      " # Corresponding forward node candidate:\n"
      " #  - In file inner.py(1)/x/\n"
      " #    In file outer.py(2)/x/\n"
      " #  - In file inner.py(3)/x/\n");
  CHECK(stack_of(old_text, old_text.nodes[0]) == "grad.py:9 / forward inner.py:1 -> outer.py:2 / forward inner.py:3");
  const IrGraph new_text = ir_of(
      "# Total subgraphs: 1\n"
      "%0(a) = Fused(%1)\n"
      " # Corresponding code candidate:\n"
      " # In file outer.py:1, 1~2/x/\n"
      " # inlined:In file inner.py:2/x/\n"
      " # Corresponding code candidate:\n"
      " # In file other.py:3/x/\n"
      "%1(b) = B(%0)\n"
      " # In file own.py:4/x/\n");
  CHECK(stack_of(new_text, new_text.nodes[0]) == "candidate inner.py:2 -> outer.py:1 / candidate other.py:3");
  CHECK(stack_of(new_text, new_text.nodes[1]) == "own.py:4");
  const IrGraph shared = ir_of(
      "%0(a) = A(%1)\n # In file lib.py(1)/x/\n%1(b) = B(%0)\n # In file net.py(2)/y/\n # In file lib.py(1)/x/\n");
  CHECK(stack_of(shared, shared.nodes[0]) == "lib.py:1");
  CHECK(stack_of(shared, shared.nodes[1]) == "net.py:2 -> lib.py:1");
}

TEST_CASE("an empty heading leaves no chain") {
  const IrGraph ir =
      ir_of("%0(a) = A(%1)\n # In file a.py(1)/x/\n # Corresponding forward node candidate:\n%1(b) = B()\n");
  CHECK(stack_of(ir, ir.nodes[0]) == "a.py:1");
  CHECK(ir.stack(ir.nodes[1]).empty());
}

TEST_CASE("equal stacks and frames and types are kept once") {
  const IrGraph ir = ir_of(
      "%0(a) = A(%1)\n : (<X>) -> (<Y>)\n # In file a.py(1)/x/\n # In file b.py(2)/x/\n"
      "%1(b) = A(%1)\n : (<X>) -> (<Y>)\n # In file a.py(1)/x/\n # In file b.py(2)/x/\n");
  CHECK(ir.frames.size() == 2);
  CHECK(ir.nodes[0].stack == ir.nodes[1].stack);
  CHECK(ir.nodes[0].host == ir.nodes[1].host);
}

TEST_CASE("attributes that link operators are kept") {
  constexpr std::string_view kText =
      "%0(a) = A(%1) primitive_attrs: {pad: 1, _datadump_original_names: (x, y)} cnode_primal_attrs: {unique_id: "
      "\"12\"}\n";
  const IrGraph ir = ir_of(kText);
  CHECK(ir.text(ir.nodes[0].attributes) == "{_datadump_original_names: (x, y), unique_id: \"12\"}");
  CHECK(attribute_value(ir.text(ir.nodes[0].attributes), "unique_id") == "12");
}

TEST_CASE("a file that is cut keeps the operators that are whole") {
  const std::string text(kTwoGraphs);
  const auto cut_behind = [&](std::string_view last) { return ir_of(text.substr(0, text.rfind(last) + last.size())); };
  const IrGraph inside_line = cut_behind("%1(d) = call @in");
  CHECK(inside_line.nodes.size() == 4);
  CHECK(inside_line.facts.truncated);
  CHECK(problems_of(inside_line) ==
        "23: the file ends inside this operator\n0: the file ends inside a graph, at byte " +
            std::to_string(text.rfind("@inner(%0") + 3) + "\n");
  const IrGraph between_lines = cut_behind("call @inner(%0, %9)\n");
  CHECK(between_lines.nodes.size() == 5);
  CHECK(between_lines.facts.truncated);
  CHECK(between_lines.expected() == 6);
  const IrGraph between_graphs = cut_behind("Add}\n");
  CHECK(between_graphs.nodes.size() == 3);
  CHECK(between_graphs.facts.truncated);
  CHECK(problems_of(between_graphs) == "0: 1 of 2 graphs are there\n");
  CHECK_FALSE(ir_of(text).facts.truncated);
}

TEST_CASE("a cut at any byte loses nothing that is whole") {
  const std::string text(kTwoGraphs);
  const IrGraph whole = ir_of(text);
  size_t last = 0;
  for (size_t size = 20; size < text.size(); ++size) {
    const IrGraph ir = ir_of(std::string_view(text).substr(0, size));
    CHECK(ir.facts.truncated == (size + 1 < text.size() && ir.facts.declared_graphs.value_or(0) == 2));
    CHECK(ir.nodes.size() >= last);
    for (size_t i = 0; i < ir.nodes.size(); ++i) CHECK(ir.text(ir.nodes[i].op) == whole.text(whole.nodes[i].op));
    last = ir.nodes.size();
  }
}

TEST_CASE("operators that cannot be read are counted and reported") {
  const IrGraph ir = ir_of("subgraph @g() {\n%0(a) = A()\n%1(b) = \n%2(c) = C(%0)\n}\n");
  CHECK(ir.parsed() == 2);
  CHECK(ir.expected() == 3);
  CHECK(problems_of(ir) == "3: no operands\n");
}

TEST_CASE("excerpts without heads are read") {
  const IrGraph ir = ir_of("...\n%927(out) = BatchNormGrad(%923, %56)\n...\n%930(y) = A(%927)");
  REQUIRE(ir.nodes.size() == 2);
  CHECK(ir.nodes[0].graph == kNoIndex);
  CHECK(ir.operands_of(ir.nodes[1])[0].kind == IrOperand::Kind::kNode);
  CHECK(operands_of(ir, ir.nodes[0]) == "%923 | %56");
  CHECK_FALSE(ir.facts.truncated);
}

TEST_CASE("with a needle operators are kept with their graph and number") {
  IrTextOptions options;
  options.needle = {"Mul(", {}};
  const IrGraph ir = ir_of(kTwoGraphs, options);
  REQUIRE(ir.nodes.size() == 1);
  CHECK(ir.graph_name(ir.nodes[0]) == "inner");
  CHECK(ir.node_name(ir.nodes[0]) == "%1");
  CHECK(ir.nodes[0].line == 16);
  CHECK(ir.facts.node_heads == 6);
  CHECK(ir.graphs.size() == 2);
  CHECK(operands_of(ir, ir.nodes[0]) == "%0 | $(@main:para1_x) | $(@nowhere:z) | %para1_Parameter_7");
  CHECK(problems_of(ir).empty());
}

TEST_CASE("what is not IR text is named") {
  CHECK(ir_kind(kTwoGraphs).word == "ir_text");
  CHECK(ir_kind("# 1.This file shows the parsed IR info\n# ====\n\n  12 %0(a) = A()\n").word == "ir_text");
  CHECK(ir_kind("  %0 = Assign(%para2_param, U)\n").word == "ir_text");
  CHECK(ir_kind("# [No.1] construct_wrapper.0\nfuncgraph fg_0(\n").word == "ir_dat");
  CHECK(ir_kind("\n[Device tensor stores]\n\tgraph id:0\n").word == "actor_set");
  CHECK(ir_kind("%0 = kernel_graph_0_DataPrepareActor() op control(%a)\n").word == "actor_set");
  CHECK(ir_kind("[Data prepare actor:1]\n").word == "actor_set");
  for (const std::string line : {"Base Block : 1", "# AID : a", "# device address : 1", "# device context: 1", "%1 = x",
                                 "%2 = Actor(%1)", "[continuous memory nodes: 1]", "[a actor:2]"}) {
    INFO(line);
    CHECK((ir_kind(line + "\n").word == "actor_set") == (line != "%1 = x"));
  }
  for (const std::string line : {"All Parameters:", "All Tensors:", "All Nodes:", "Basic Info:", "All:"})
    CHECK((ir_kind(line + "\n\nindex:\tsize:\n").word == "somas") == (line != "All:"));
  CHECK(
      ir_kind("name: \"ge_default_20240101\"\nversion: 1\ngraph {\n  name: \"x\"\n  op {\n    name: \"data\"\n").word ==
      "ge_proto");
  CHECK(ir_kind("ir_version: 6\nproducer_name: \"GE\"\ngraph {\n  node {\n").word == "ge_onnx");
  CHECK(ir_kind(std::string_view("\x08\x01\x22\xa0\x03\x0a\x05", 7)).word == "ir_protobuf");
  CHECK(ir_kind(std::string_view("\x7f"
                                 "ELF\0\0",
                                 6))
            .word == "other");
  CHECK(ir_kind("").word == "other");
  CHECK(ir_kind("def f(x):\n  return x\n").word == "other");
}

TEST_CASE("a file of another kind is refused with what it is") {
  const test::ScratchDir scratch;
  const std::string path = scratch.write("somas_info.ir", "All Parameters:\n");
  const auto ir = read_ir_text(*File::open(path));
  REQUIRE_FALSE(ir);
  CHECK(ir.error().code == ErrorCode::kBadIr);
  CHECK(ir.error().path == path);
  CHECK(ir.error().message == "this is not IR text: MindSpore's plan of memory use; it is not IR");
}

TEST_CASE("bytes that are not UTF-8 pass through") {
  const IrGraph ir = ir_of("subgraph @g\xff() {\n%0(\xfe\xe2\x9c\x93) = A\xc0(\"\xff, x\")\n}\n");
  CHECK(ir.graph_name(ir.nodes[0]) == "g\xff");
  CHECK(ir.text(ir.nodes[0].debug_name) == "\xfe\xe2\x9c\x93");
  CHECK(operands_of(ir, ir.nodes[0]) == "\"\xff, x\"");
}

TEST_CASE("large numbers of operators do not make large tables") {
  std::string text = "subgraph @g() {\n";
  for (int i = 0; i < 1000; ++i) text += "%" + std::to_string(999'000'000 + i * 997) + "(a) = A(%999000000)\n";
  const IrGraph ir = ir_of(text + "}\n");
  CHECK(ir.nodes.size() == 1000);
  CHECK(ir.operands_of(ir.nodes[999])[0].value == 0);
  CHECK(ir.memory() < 1'000'000);
}

}  // namespace
}  // namespace msdump
