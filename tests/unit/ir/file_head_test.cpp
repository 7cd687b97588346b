#include "ir/text/file_head.h"

#include <fmt/format.h>

#include "ir/text/text_blocks.h"
#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("the entry of every version") {
  for (const char* text : {"#IR entry      : @g.21", "# IR entry: @g.21", "#IR entry : @g.21 "}) {
    const HeadLine line = parse_head_line(text);
    CHECK(line.kind == HeadLine::Kind::kEntry);
    CHECK(line.name == "g.21");
  }
  CHECK(parse_head_line("# IR entry: @g").is_2);
  CHECK_FALSE(parse_head_line("#IR entry      : @g").is_2);
  CHECK(parse_head_line("# IR entry: none").kind == HeadLine::Kind::kOther);
}

TEST_CASE("the counts of graphs and operators") {
  const auto graphs = [](std::string_view text) {
    const HeadLine line = parse_head_line(text);
    CHECK(line.kind == HeadLine::Kind::kGraphs);
    return fmt::format("{}{}{}", line.count, line.is_1 ? " 1.x" : "", line.is_2 ? " 2.x" : "");
  };
  CHECK(graphs("#Total subgraph : 125") == "125 1.x");
  CHECK(graphs("#Total subgraph: 3") == "3 2.x");
  CHECK(graphs("# Total subgraph: 3") == "3 2.x");
  CHECK(graphs("# Total subgraphs: 78") == "78 2.x");
  const HeadLine nodes = parse_head_line("Total number of cnodes: 203");
  CHECK(nodes.kind == HeadLine::Kind::kNodes);
  CHECK(nodes.count == 203);
  CHECK(parse_head_line("Total number of nodes: 536").kind == HeadLine::Kind::kOther);
  CHECK(parse_head_line("Total number of cnodes: -1").kind == HeadLine::Kind::kOther);
  CHECK(parse_head_line("# Total params: 2").kind == HeadLine::Kind::kOther);
}

std::string parameter(std::string_view text) {
  ParameterLine line;
  if (!parse_parameter(text, line)) return "none";
  const std::string weight = line.is_weight ? (*line.is_weight ? "weight" : "no weight") : "";
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", line.text, line.number, line.name, line.host, line.has_default,
                     line.device, weight);
}

TEST_CASE("parameters of every version") {
  CHECK(parameter("%para1 = x : <Tensor[F32]>") == "para1|1|x|<Tensor[F32]>|false||");
  CHECK(parameter("%para3_conv1.weight : <Ref[Tensor(F32)]x[const vector][6]>  :  <Float32xND[const vector][6]>  :  "
                  "IsWeight:true") ==
        "para3_conv1.weight|3|conv1.weight|<Ref[Tensor(F32)]x[const vector][6]>|false|<Float32xND[const "
        "vector][6]>|weight");
  CHECK(parameter("%para1_x: <Tensor[Float32], (3, 6)> : [s0, 6]") == "para1_x|1|x|<Tensor[Float32], (3, 6)>|false||");
  CHECK(parameter("%para2_b: <Ref[Tensor[Float32]], (5), ref_key=b>  :  has_default  :  <UnknownxND[const vector]{5}>  "
                  ":  IsWeight: false") ==
        "para2_b|2|b|<Ref[Tensor[Float32]], (5), ref_key=b>|true|<UnknownxND[const vector]{5}>|no weight");
  CHECK(parameter("%para22_[Parameter]5") == "para22_[Parameter]5|22|[Parameter]5||false||");
  CHECK(parameter("%para1_my name/x[0] : <null>") == "para1_my name/x[0]|1|my name/x[0]|<null>|false||");
  CHECK(parameter("%") == "none");
  CHECK(parameter("x : <T>") == "none");
  CHECK(parameter("%para1_x : <Tensor[") == "para1_x|1|x|<Tensor[|false||");
}

std::string graph(std::string_view text) {
  const GraphLine line = parse_graph_line(text);
  return fmt::format("{}|{}|{}", line.name, line.parent, fmt::join(line.parameters, ";"));
}

TEST_CASE("heads of graphs") {
  CHECK(graph("subgraph @kernel_graph_0() {") == "kernel_graph_0||");
  CHECK(graph("subgraph @20_4_\xe2\x9c\x93__main___Net_construct_311(%para3_x, %para4_y) {") ==
        "20_4_\xe2\x9c\x93__main___Net_construct_311||%para3_x;%para4_y");
  CHECK(graph("subgraph @a.5 parent: [subgraph @b.3](%para3_i) {") == "a.5|b.3|%para3_i");
  CHECK(graph("subgraph @g( %para1_x : <Tensor[Float32], (2, 3)> , %para2_y : <null> ) {") ==
        "g||%para1_x : <Tensor[Float32], (2, 3)>;%para2_y : <null>");
  CHECK(graph("subgraph @g") == "g||");
  CHECK(graph("subgraph @g parent: [subgraph @h") == "g|h|");
}

TEST_CASE("lines are recognised by how they begin") {
  CHECK(line_kind("") == LineKind::kBlank);
  CHECK(line_kind("  \t ") == LineKind::kBlank);
  CHECK(line_kind("    ...") == LineKind::kEllipsis);
  CHECK(line_kind("\xe2\x80\xa6") == LineKind::kEllipsis);
  CHECK(line_kind("  %4(x) = Conv2D(%1)") == LineKind::kNode);
  CHECK(line_kind("%4 = Assign(%1)") == LineKind::kNode);
  CHECK(line_kind("%4(x") == LineKind::kNode);
  CHECK(line_kind("%4, %5) {a: b}") == LineKind::kText);
  CHECK(line_kind("%para4_x, %5)") == LineKind::kText);
  CHECK(line_kind("%para4_x : <null>") == LineKind::kParameter);
  CHECK(line_kind("  Return(%1)") == LineKind::kReturn);
  CHECK(line_kind("return(%1)") == LineKind::kReturn);
  CHECK(line_kind("Primitive::Return{prim_type=1}(%1)") == LineKind::kReturn);
  CHECK(line_kind("      : (<A>)") == LineKind::kColon);
  CHECK(line_kind("      :(<A>)") == LineKind::kColon);
  CHECK(line_kind(": full_name_with_scope: (a)") == LineKind::kColon);
  CHECK(line_kind(": 3, b: 4}") == LineKind::kText);
  CHECK(line_kind("# In file") == LineKind::kHash);
  CHECK(line_kind(" {in_strategy: ((2, 1))}      : (<A>)") == LineKind::kStrategy);
  CHECK(line_kind("subgraph @g() {") == LineKind::kGraph);
  CHECK(line_kind("subgraph attr:") == LineKind::kGraphNote);
  CHECK(line_kind("}") == LineKind::kClose);
  CHECK(line_kind("} cnode_attrs: {a: b}") == LineKind::kText);
}

TEST_CASE("numbers of a documentation page") {
  CHECK(gutter_length("  12 # IR") == 5);
  CHECK(gutter_length("124:  %1") == 4);
  CHECK(gutter_length("7") == 1);
  CHECK(gutter_length("(1), stream_id") == 0);
  CHECK(gutter_length("192, mode: 1") == 0);
  CHECK(gutter_length("123456789 x") == 0);
  CHECK(gutter_length("") == 0);
}

}  // namespace
}  // namespace msdump
