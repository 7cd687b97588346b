#include "ge/graph/torchair_lines.h"

#include <string>

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

// "Mul Mul@3 a.py:4[code] b.py:5[]" for each operator.
std::string described(std::string_view text) {
  const auto ir = read_torchair(text);
  if (!ir) return "bad";
  std::string all;
  for (const IrNode& node : ir->nodes) {
    all += fmt::format("{} {}@{}", ir->op_type(node), ir->full_name(node), node.line);
    for (const uint32_t index : ir->stack(node)) {
      const SourceFrame& frame = ir->frames[index];
      all += fmt::format(" {}{}:{}[{}]", frame.begins_chain ? "" : "<", frame.file, frame.line, frame.code);
    }
    all += "; ";
  }
  return all;
}

TEST_CASE("operators of torchair have the lines above them") {
  CHECK(described("from torchair import ge\n# File \"/home/a b/net.py\", line 23, in forward\n# y = x * w\n"
                  "Mul_0 = ge.Mul(arg0, arg1, node_name=\"Mul\")\nRelu_0 = ge.Relu(Mul_0, node_name='net/Relu_1')\n") ==
        "Mul Mul@4 /home/a b/net.py:23[y = x * w]; Relu net/Relu_1@5; ");
}

TEST_CASE("several places are a stack, outermost first") {
  CHECK(described("## File \"a.py\", line 4, in main, code: net(x)\n\n# File \"b.py\", line 5\n"
                  "Add_0, _ = ge.Add(x, y, node_name=\"Add\")\n") == "Add Add@4 b.py:5[] <a.py:4[net(x)]; ");
}

TEST_CASE("other statements and comments are ignored") {
  CHECK(described("# File \"a.py\", line 4\nx = 1\nge.Add(node_name=\"A\")\n") == "Add A@3; ");
  CHECK(described("# File \"a.py\", line 4\n# y = x\n# not this\nge.Add(node_name=\"A\")\n") ==
        "Add A@4 a.py:4[y = x]; ");
  CHECK(described("# File \"a.py\", line x\n# File \"a.py\n# nothing\nge.Add(node_name=\"A\")") == "Add A@4; ");
  CHECK(described("x = y, node_name=\"A\"\n") == "Operator A@1; ");
  CHECK(described("x = ge.Add(node_name=\"A\ny = ge.Sub(node_name=B)\n") == "bad");
  CHECK(described("") == "bad");
}

TEST_CASE("torchair's Python is recognised by its contents") {
  CHECK(is_torchair("import torchair\nx = ge.Add(node_name=\"A\")"));
  CHECK(is_torchair("# File \"a\", line 1\nx = ge.Add(node_name=\"A\")"));
  CHECK_FALSE(is_torchair("import torchair\nx = ge.Add()"));
  CHECK_FALSE(is_torchair("op { name: \"node_name=\" }"));
}

}  // namespace
}  // namespace msdump
