#include "graph/lines/script_region.h"

#include <string>
#include <vector>

#include "graph/lines/source_lines.h"
#include "support/catch.h"

namespace msdump {
namespace {

constexpr ScriptCall kNet30 = {"net.py", 20, 40, 30}, kNet32 = {"net.py", 20, 40, 32};
constexpr ScriptCall kCell55 = {"cell.py", 50, 59, 55}, kCell57 = {"cell.py", 50, 59, 57}, kLoss = {"loss.py", 1, 9, 5};

std::string text_of(const std::vector<LineRange>& region) {
  std::string text;
  for (const LineRange& range : region)
    text += std::string(range.file) + ":" + std::to_string(range.first) + "-" + std::to_string(range.last) + " ";
  return text;
}

SourceFrame frame(std::string_view file, uint32_t line, std::string_view code, uint32_t end = 0) {
  return {.file = file, .code = code, .line = line, .end_line = end == 0 ? line : end};
}

}  // namespace

TEST_CASE("what runs between two calls: the rest of one, the lines between them, the beginning of the other") {
  CHECK(text_of(lines_between({kNet30}, {kNet32})) == "net.py:30-32 ");
  CHECK(text_of(lines_between({kNet30, kCell55}, {kNet32})) == "cell.py:55-59 net.py:30-32 ");
  CHECK(text_of(lines_between({kNet30}, {kNet32, kCell55})) == "net.py:30-32 cell.py:51-55 ");
  CHECK(text_of(lines_between({kNet30, kCell55}, {kNet30, kCell57})) == "cell.py:55-57 ");
  CHECK(text_of(lines_between({kNet30, kCell55}, {kNet30})) == "cell.py:55-59 net.py:30-30 ");
}

TEST_CASE("with one end alone the region ends with its function; two that do not follow one another have none") {
  CHECK(text_of(lines_between({}, {kNet32})) == "net.py:21-32 ");
  CHECK(text_of(lines_between({kNet32, kCell55}, {})) == "cell.py:55-59 ");
  CHECK(lines_between({}, {}).empty());
  CHECK(lines_between({kNet32}, {kNet30}).empty());
  CHECK(lines_between({kNet30}, {kLoss}).empty());
  CHECK(lines_in(lines_between({kNet30, kCell55}, {kNet32})) == 8);
}

TEST_CASE("the calls of a chain are those in defs of the script; a line that is named twice is one call") {
  const SourceFrame inner = frame("/u/cell.py", 55, "y = x.sum(-1)"), def = frame("/u/cell.py", 50, "def f(x):", 59);
  const SourceFrame library = frame("/lib/site-packages/mindspore/ops/f.py", 7, "return sum_ext(x)");
  const SourceFrame outer = frame("/u/net.py", 30, "z = f(x)"),
                    construct = frame("/u/net.py", 20, "def construct(self):", 40);
  const SourceFrame no_def = frame("/u/train.py", 3, "net(x)");
  const std::vector<const SourceFrame*> chain = {&library, &inner, &inner, &def, &outer, &construct, &no_def};
  const ScriptCalls calls = calls_of(chain);
  REQUIRE(calls.size() == 2);
  CHECK((calls[0].file == "/u/net.py" && calls[0].line == 30 && calls[0].def == 20 && calls[0].end == 40));
  CHECK((calls[1].file == "/u/cell.py" && calls[1].line == 55));
  CHECK(calls_of({}).empty());
}

TEST_CASE("Python spells an operator with its symbol or its name") {
  const auto has = [](std::string_view type, std::string_view code) {
    return CallSpelling{python_symbol(type), {}}.occurs_in(code);
  };
  CHECK(has("Add", "h = x + 1"));
  CHECK(has("Add", "h += x"));
  CHECK_FALSE(has("Add", "h = x - 1"));
  CHECK(has("Sub", "d = a - b"));
  CHECK(has("Sub", "d = f(a)-b"));
  CHECK_FALSE(has("Sub", "s = x.sum(-1)"));
  CHECK_FALSE(has("Sub", "return -x"));
  CHECK_FALSE(has("Sub", "e = 1e-6"));
  CHECK(has("Neg", "return -x"));
  CHECK(has("Neg", "y = f(-x)"));
  CHECK_FALSE(has("Neg", "y = a - x"));
  CHECK(has("Mul", "y = a * x"));
  CHECK_FALSE(has("Mul", "y = a ** 2"));
  CHECK(has("Pow", "y = a ** 2"));
  CHECK(has("Div", "y = a / 2"));
  CHECK_FALSE(has("Div", "y = a // 2"));
  CHECK(has("Greater", "m = a > b"));
  CHECK_FALSE(has("Greater", "m = a >= b"));
  CHECK_FALSE(has("Greater", "def f(x) -> y"));
  CHECK(has("GreaterEqual", "m = a >= b"));
  CHECK(has("MatMul", "y = a @ b"));
  CHECK_FALSE(has("Softmax", "y = a @ b + c - d * e"));
  const CallSpelling sum{{}, {"sum"}};
  CHECK(sum.occurs_in("y = x.sum(-1)"));
  CHECK(sum.occurs_in("y = sum(x)"));
  CHECK_FALSE(sum.occurs_in("y = scatter_sum(x)"));
  CHECK_FALSE(sum.occurs_in("sum = x"));
}

TEST_CASE("a def names the function that calls name, unless Python calls it by another name") {
  CHECK(function_name("def sum(input, dim=None):") == "sum");
  CHECK(function_name("  def scatter(x):") == "scatter");
  CHECK(function_name("def construct(self, x):").empty());
  CHECK(function_name("def __call__(self):").empty());
  CHECK(function_name("y = sum(x)").empty());
  CHECK(function_name("def broken").empty());
}

TEST_CASE("lines of the script are found by fractions and attributes in their code, those of a library are not") {
  IrGraph ir;
  ir.frames = {frame("/u/net.py", 3, "y = x[1] * 0.5 + 2.0 + 1e-6"), frame("/u/net.py", 4, "y = self.scale * x2.5"),
               frame("/u/net.py", 5, "y = myself.other + 0.5"), frame("/u/net.py", 5, "repeated"),
               frame("/lib/site-packages/mindspore/ops/f.py", 6, "return 0.5 * self.scale")};
  const QuotedScript script(ir);
  CHECK(script.lines_with(0.5) == std::vector<ScriptLine>{{"/u/net.py", 3}, {"/u/net.py", 5}});
  CHECK(script.lines_with(1e-6) == std::vector<ScriptLine>{{"/u/net.py", 3}});
  CHECK(script.lines_with(2.0).empty());
  CHECK(script.lines_with(1.0).empty());
  CHECK(script.lines_with(2.5).empty());
  CHECK(script.lines_with_attribute("scale") == std::vector<ScriptLine>{{"/u/net.py", 4}});
  CHECK(script.lines_with_attribute("other").empty());
  CHECK(script.code({"/u/net.py", 5}) == "y = myself.other + 0.5");
  CHECK(script.code({"/u/net.py", 6}).empty());
}

}  // namespace msdump
