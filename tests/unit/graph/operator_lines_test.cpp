#include "graph/lines/operator_lines.h"

#include <string>
#include <vector>

#include "graph/lines/line_search.h"
#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

using test::graph_of;
using test::ir_text;
using test::node_text;

// One method from line 20 to 30, with the frame at `line` inside it.
std::vector<std::string> in_method(int line, const std::string& code) {
  return {"/u/net.py:20~30, 4~16/def construct(self, x):", "/u/net.py:" + std::to_string(line) + ", 8~20/" + code};
}

std::string with_attributes(std::string node, const std::string& attributes) {
  node.insert(node.find('\n'), " cnode_primal_attrs: {" + attributes + "}");
  return node;
}

std::string gradient(const std::string& number, const std::vector<std::string>& forward) {
  std::string node = node_text(number, "Neg", "%0", "Gradients/Default/Grad_Add/Neg-op" + number.substr(1), {});
  node = with_attributes(node, R"(forward_node_name: "Add_7", forward_unique_id: "7")");
  node += "      # Corresponding forward node candidate:\n";
  for (const std::string& frame : forward) node += "      # In file " + frame + "/\n";
  return node;
}

OpGraph graph_with(const std::vector<std::string>& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += node;
  return graph_of({{"graph_build_0_0001.ir", ir_text(text)}});
}

uint32_t line_of(const OpGraph& graph, OpId op) {
  const OperatorLine line = OperatorLines(graph).of(op);
  return line.frame == nullptr ? 0 : line.frame->line;
}

const std::string kAdd = with_attributes(
    node_text("%0", "Add", "%para1_x", "Default/Add-op0", in_method(25, "z = a + b")), R"(unique_id: "7")");

}  // namespace

TEST_CASE("the gradients of an operator name the line of its own call") {
  const OpGraph graph = graph_with({kAdd, gradient("%1", in_method(27, "c = f + 1.0"))});
  CHECK(line_of(graph, OpId(0)) == 27);
  CHECK(line_of(graph, OpId(1)) == 27);
}

TEST_CASE("gradients of several lines, of another function or of another operator say nothing") {
  CHECK(line_of(graph_with({kAdd, gradient("%1", in_method(27, "c = f + 1.0")), gradient("%2", in_method(28, "d"))}),
                OpId(0)) == 25);
  CHECK(line_of(graph_with({kAdd, gradient("%1", {"/u/net.py:47, 8~20/h = self.cell(x)"})}), OpId(0)) == 25);
  CHECK(line_of(graph_with({kAdd, gradient("%1", {"/u/other.py:27, 8~20/h = self.cell(x)"})}), OpId(0)) == 25);
  const std::string other = with_attributes(
      node_text("%0", "Add", "%para1_x", "Default/Add-op0", in_method(25, "z = a + b")), R"(unique_id: "8")");
  CHECK(line_of(graph_with({other, gradient("%1", in_method(27, "c = f + 1.0"))}), OpId(0)) == 25);
}

TEST_CASE("calls with one stack cannot be told apart; those that a gradient names can") {
  const auto add = [](const std::string& number, const std::string& id) {
    return with_attributes(
        node_text(number, "Add", "%para1_x", "Default/Add-op" + number.substr(1), in_method(25, "z = a + b")),
        "unique_id: \"" + id + "\"");
  };
  const OpGraph graph = graph_with({add("%0", "7"), add("%1", "9"), gradient("%2", in_method(27, "c = f + 1.0")),
                                    node_text("%3", "Mul", "%1", "Default/Mul-op0", in_method(25, "z = a + b"))});
  const OperatorLines lines(graph);
  CHECK_FALSE(lines.of(OpId(0)).one_of_several);
  CHECK(lines.of(OpId(1)).one_of_several);
  CHECK(lines.of(OpId(1)).frame->line == 25);
  CHECK_FALSE(lines.of(OpId(3)).one_of_several);
}

TEST_CASE("a library's line gives way to that of the reader, then of the maker") {
  const std::vector<std::string> library = {
      "/lib/site-packages/mindspore/ops/function/math_func.py:10780, 11~49/return f(x)"};
  const OpGraph graph = graph_with({node_text("%0", "Exp", "%para1_x", "Default/Exp-op0", in_method(22, "y = exp(x)")),
                                    node_text("%1", "ReduceSum", "%0", "Default/ReduceSum-op0", library),
                                    node_text("%2", "Depend", "%1, U", "", {}),
                                    node_text("%3", "Div", "%2", "Default/Div-op0", in_method(24, "s.sum() / n")),
                                    node_text("%4", "ReduceSum", "%0", "Default/ReduceSum-op1", library),
                                    node_text("%5", "ReduceSum", "%para1_x", "Default/ReduceSum-op2", library)});
  CHECK(line_of(graph, OpId(1)) == 24);
  CHECK(line_of(graph, OpId(4)) == 22);
  CHECK(line_of(graph, OpId(5)) == 10780);
}

TEST_CASE("a Cast without a line has that of what it casts") {
  const OpGraph graph = graph_with({node_text("%0", "Exp", "%para1_x", "Default/Exp-op0", in_method(22, "y = exp(x)")),
                                    node_text("%1", "Cast", "%0", "Default/Cast-op0", {}),
                                    node_text("%2", "Div", "%1", "Default/Div-op0", in_method(24, "y / n")),
                                    node_text("%3", "Cast", "%para1_x", "Default/Cast-op1", {}),
                                    node_text("%4", "Neg", "%3", "Default/Neg-op0", in_method(26, "-x"))});
  CHECK(line_of(graph, OpId(1)) == 22);
  CHECK(line_of(graph, OpId(3)) == 26);
}

// `+` in line 25, of the first call, for each of several calls.
std::string shared_add(const std::string& number, const std::string& operands, const std::string& id = "") {
  const std::string node =
      node_text(number, "Add", operands, "Default/Add-op" + number.substr(1), in_method(25, "z = a + b"));
  return id.empty() ? node : with_attributes(node, "unique_id: \"" + id + "\"");
}

std::vector<std::string> in_other_method(int line, const std::string& code) {
  return {"/u/net.py:40~60, 4~16/def forward(self, x):", "/u/net.py:" + std::to_string(line) + ", 8~20/" + code};
}

TEST_CASE("of a function that is made once, gradients name the line in any method; not if calls share the id") {
  const std::string first = shared_add("%0", "%para1_x", "6");
  const std::string gradient_of_second = gradient("%2", in_other_method(47, "h = x + y"));
  CHECK(line_of(graph_with({first, shared_add("%1", "%0", "7"), gradient_of_second}), OpId(1)) == 47);
  CHECK(line_of(graph_with({shared_add("%0", "%para1_x", "7"), shared_add("%1", "%0", "7"), gradient_of_second}),
                OpId(1)) == 25);
}

TEST_CASE("a shared function's call lies between what it reads and what reads it, where the code has it") {
  const auto exp = node_text("%1", "Exp", "%0", "Default/Exp-op0", in_other_method(42, "y = ops.exp(x)"));
  const auto around = [&](const std::string& third, const std::string& reader) {
    const std::string tanh = node_text("%3", "Tanh", "%2", "Default/Tanh-op0", in_other_method(46, reader));
    const std::string other = node_text("%4", "Cos", "%3", "Default/Cos-op0", in_other_method(44, third));
    return line_of(graph_with({shared_add("%0", "%para1_x"), exp, shared_add("%2", "%1"), tanh, other}), OpId(2));
  };
  CHECK(around("z = y + w", "v = ops.tanh(z)") == 44);
  CHECK(around("z = ops.cos(y)", "v = ops.tanh(z + 1)") == 46);
  // No quoted line has a +, and two are not quoted.
  CHECK(around("z = ops.cos(y)", "v = ops.tanh(z)") == 42);
}

TEST_CASE("the only line between that is not quoted is taken if the others have no such call") {
  const OpGraph graph = graph_with(
      {shared_add("%0", "%para1_x"),
       node_text("%1", "Exp", "%0", "Default/Exp-op0", in_other_method(42, "y = ops.exp(x)")), shared_add("%2", "%1"),
       node_text("%3", "Tanh", "%2", "Default/Tanh-op0", in_other_method(44, "v = ops.tanh(z)"))});
  const OperatorLine line = OperatorLines(graph).of(OpId(2));
  REQUIRE(line.frame != nullptr);
  CHECK(line.frame->line == 43);
  CHECK(line.frame->code.empty());
  CHECK(line.one_of_several);
}

TEST_CASE("a number that one line alone has names it, wherever it is") {
  const std::string half = "%0, Tensor(shape=[], dtype=Float32, value=0.25)";
  const std::string cos = node_text("%2", "Cos", "%1", "Default/Cos-op0", in_other_method(44, "z = cos(y + 0.25)"));
  const std::string sin = node_text("%3", "Sin", "%2", "Default/Sin-op0", in_other_method(45, "z = sin(y * 0.25)"));
  const std::string tan = node_text("%4", "Tan", "%3", "Default/Tan-op0", in_other_method(46, "z = tan(0.25 + y)"));
  CHECK(line_of(graph_with({shared_add("%0", "%para1_x"), shared_add("%1", half), cos, sin}), OpId(1)) == 44);
  CHECK(line_of(graph_with({shared_add("%0", "%para1_x"), shared_add("%1", half), cos, sin, tan}), OpId(1)) == 44);
}

TEST_CASE("a parameter that one line alone adds names it") {
  const std::string cos = node_text("%3", "Cos", "%2", "Default/Cos-op0", in_other_method(44, "z = cos(y + self.x)"));
  const std::string sin = node_text("%4", "Sin", "%3", "Default/Sin-op0", in_other_method(45, "z = sin(y * self.x)"));
  const std::string load = node_text("%1", "Load", "%para1_x, U", "", {});
  const std::string tan = node_text("%5", "Tan", "%4", "Default/Tan-op0", in_other_method(46, "z = tan(x + self.x)"));
  const auto second = [&](const std::vector<std::string>& after) {
    std::vector<std::string> nodes = {shared_add("%0", "%para1_x"), load, shared_add("%2", "%0, %1")};
    nodes.insert(nodes.end(), after.begin(), after.end());
    return line_of(graph_with(nodes), OpId(2));
  };
  CHECK(second({cos, sin}) == 44);
  CHECK(second({sin}) != 45);
  CHECK(second({sin, tan}) == 46);
}

TEST_CASE("operators are found by the line that is likely theirs, besides those whose frames have it") {
  const OpGraph graph = graph_with(
      {shared_add("%0", "%para1_x"),
       node_text("%1", "Exp", "%0", "Default/Exp-op0", in_other_method(42, "y = ops.exp(x)")), shared_add("%2", "%1"),
       node_text("%3", "Tanh", "%2", "Default/Tanh-op0", in_other_method(44, "v = ops.tanh(z)"))});
  const OperatorLines lines(graph);
  const auto found = [&](const char* line) { return find_likely_line(graph, lines, parse_line_query(line).value()); };
  const std::vector<LineHit> hits = found("net.py:43");
  REQUIRE(hits.size() == 1);
  CHECK((hits[0].op == OpId(2) && hits[0].relation == Relation::kDirect && hits[0].one_of_several));
  CHECK(hits[0].frame->line == 43);
  CHECK(hits[0].confidence < 1);
  CHECK(found("net.py:42").empty());  // Exp by its own frame, ReduceSum by no frame of the script
  CHECK(found("net.py").empty());
  CHECK(found("other.py:43").empty());
}

TEST_CASE("of several lines that call it the one on the side of the nearer operator is taken") {
  const std::string plus43 = node_text("%8", "Cos", "%7", "Default/Cos-op0", in_other_method(43, "s = ops.cos(y + 1)"));
  const std::string plus45 = node_text("%9", "Sin", "%7", "Default/Sin-op0", in_other_method(45, "t = ops.sin(y + 1)"));
  const auto exp = [](const std::string& number, const std::string& operand) {
    return node_text(number, "Exp", operand, "Default/Exp-op0", in_other_method(42, "y = ops.exp(x)"));
  };
  const auto tanh = [](const std::string& number, const std::string& operand) {
    return node_text(number, "Tanh", operand, "Default/Tanh-op0", in_other_method(46, "v = ops.tanh(z)"));
  };
  const auto second = [&](const std::vector<std::string>& nodes) {
    std::vector<std::string> all = nodes;
    all.insert(all.end(), {plus43, plus45});
    return line_of(graph_with(all), OpId(2));
  };
  // Next to what it reads, and with another such operator between it and its reader; then the other way round.
  CHECK(second({shared_add("%0", "%para1_x"), exp("%1", "%0"), shared_add("%2", "%1"), shared_add("%3", "%2"),
                tanh("%4", "%3")}) == 43);
  CHECK(second({exp("%0", "%para1_x"), shared_add("%1", "%0"), shared_add("%2", "%1"), tanh("%3", "%2")}) == 45);
  CHECK(second({shared_add("%0", "%para1_x"), shared_add("%1", "%para1_x"), shared_add("%2", "%para1_x"),
                tanh("%3", "%2")}) == 45);
}

TEST_CASE("what two operands lead to narrows the lines; of a loop the own line stays") {
  const std::string early = node_text("%0", "Exp", "%para1_x", "Default/Exp-op0", in_other_method(42, "y = exp(x)"));
  const std::string late = node_text("%1", "Log", "%para1_x", "Default/Log-op0", in_other_method(44, "w = log(x)"));
  const std::string tanh = node_text("%3", "Tanh", "%2", "Default/Tanh-op0", in_other_method(46, "v = ops.tanh(z)"));
  const std::string plus43 = node_text("%4", "Cos", "%3", "Default/Cos-op0", in_other_method(43, "s = ops.cos(y + 1)"));
  const std::string plus45 = node_text("%5", "Sin", "%4", "Default/Sin-op0", in_other_method(45, "t = ops.sin(y + 1)"));
  const std::string other = shared_add("%6", "%5");
  for (const char* const operands : {"%0, %1", "%1, %0"})
    CHECK(line_of(graph_with({early, late, shared_add("%2", operands), tanh, plus43, plus45, other}), OpId(2)) == 45);

  const std::string below = node_text("%0", "Exp", "%para1_x", "Default/Exp-op0", in_method(28, "y = exp(x)"));
  const std::string above = node_text("%2", "Tanh", "%1", "Default/Tanh-op0", in_method(22, "v = tanh(y)"));
  CHECK(line_of(graph_with({below, shared_add("%1", "%0"), above, shared_add("%3", "%2")}), OpId(1)) == 25);
}

TEST_CASE("a number in two lines that call it names neither") {
  const std::string half = "%1, Tensor(shape=[], dtype=Float32, value=0.25)";
  const std::string cos =
      node_text("%0", "Cos", "%para1_x", "Default/Cos-op0", in_other_method(44, "z = cos(y + 0.25)"));
  const std::string exp = node_text("%1", "Exp", "%0", "Default/Exp-op0", in_other_method(45, "y = exp(z)"));
  const std::string tan = node_text("%3", "Tan", "%2", "Default/Tan-op0", in_other_method(46, "z = tan(0.25 + y)"));
  CHECK(line_of(graph_with({cos, exp, shared_add("%2", half), tan, shared_add("%4", "%3")}), OpId(2)) == 46);
}

}  // namespace msdump
