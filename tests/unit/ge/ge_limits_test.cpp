// What a hostile file asks for: memory stays in proportion to its size.
#include <string>

#include <fmt/format.h>

#include "ge/graph/ge_graph.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

std::string onnx_node(const std::string& name, const std::string& attributes) {
  return fmt::format("node {{ name: '{}' op_type: 'ge:Neg' {} }}\n", name, attributes);
}

std::string dtype_of_input(uint64_t index) {
  return fmt::format("attribute {{ name: 'input_desc_dtype:{}' s: 'DT_INT8' }}", index);
}

TEST_CASE("the number of an ONNX description does not ask for more tensors than the file may have") {
  const auto ir = read_ge_onnx(
      ProtoText("graph {\n" + onnx_node("a", dtype_of_input(40'000)) + onnx_node("b", dtype_of_input(40'000)) +
                onnx_node("c", dtype_of_input(UINT64_MAX)) + onnx_node("d", dtype_of_input(2)) + "}"));
  REQUIRE(ir);
  REQUIRE(ir->nodes.size() == 4);
  CHECK(ir->inputs(ir->nodes[0].device).size() == 40'001);
  CHECK(ir->inputs(ir->nodes[1].device).empty());
  CHECK(ir->inputs(ir->nodes[3].device).size() == 3);
  REQUIRE(ir->problems.size() == 2);
  CHECK(ir->problems[0].line == 3);
  CHECK(ir->problems[0].reason ==
        "'input_desc_dtype:40000' is numbered far beyond the inputs and outputs of its operator");
  CHECK(ir->problems[1].line == 4);
}

TEST_CASE("operators with many inputs each are read, as many as there are") {
  std::string text = "graph {\n";
  for (int op = 0; op < 9; ++op) {
    std::string attributes;
    for (uint64_t i = 0; i < 9'000; ++i) attributes += dtype_of_input(i);
    text += onnx_node(fmt::format("op{}", op), attributes);
  }
  text += "}";
  const auto ir = read_ge_onnx(ProtoText(text));
  REQUIRE(ir);
  CHECK(ir->problems.count() == 0);
  for (const IrNode& node : ir->nodes) CHECK(ir->inputs(node.device).size() == 9'000);
}

TEST_CASE("of very many lines that are not protobuf text the first are kept, and all are counted") {
  std::string junk;
  for (int i = 0; i < 3000; ++i) junk += "$\n";
  ProtoText text(junk);
  CHECK(text.next().kind == ProtoText::Kind::kEnd);
  CHECK(text.has_problems());
  const IrProblems problems = text.take_problems();
  CHECK(problems.size() == IrProblems::kMost);
  CHECK(problems.first().back().line == IrProblems::kMost);
  CHECK(problems.count() == 3000);
  CHECK(text.take_problems().count() == 0);
  const std::string op = "op { name: 'a' type: 'Neg' }\n";
  for (const auto& ir : {read_ge_proto(ProtoText(op + junk)),
                         read_ge_onnx(ProtoText("graph { node { name: 'a' op_type: 'Neg' } }\n" + junk))}) {
    REQUIRE(ir);
    CHECK(ir->problems.size() == IrProblems::kMost);
    CHECK(ir->problems.count() == 3000);
  }
}

TEST_CASE("names and values are whole wherever the buffer ends between them") {
  const test::ScratchDir scratch;
  const std::string tail = " b: 7" + std::string(size_t{1} << 20, ' ');
  for (size_t blanks = (size_t{1} << 20) - 12; blanks <= size_t{1} << 20; ++blanks) {
    const std::string gap(blanks, ' ');
    for (const std::string& content : {"abc:" + gap + "123456" + tail, gap + "abc: 123456" + tail}) {
      const auto file = File::open(scratch.write("graph.txt", content));
      REQUIRE(file);
      ProtoText text(*file);
      std::string items;
      for (ProtoText::Item item = text.next(); item.kind == ProtoText::Kind::kField; item = text.next())
        items += fmt::format("{}={} ", item.name, item.value);
      CHECK(items == "abc=123456 b=7 ");
      CHECK(text.take_problems().count() == 0);
    }
  }
}

TEST_CASE("an item knows its line after problems inside of it") {
  ProtoText text("a: 1\nb:\n \"x\n\"y\nc: 2\n");
  CHECK(text.next().name == "a");
  CHECK(text.next().value == "xy");
  CHECK(text.line() == 2);
  const IrProblems problems = text.take_problems();
  REQUIRE(problems.count() == 2);
  CHECK(problems[0].line == 3);
  CHECK(problems[1].line == 4);
  CHECK(text.next().name == "c");
  CHECK(text.line() == 5);
}

}  // namespace
}  // namespace msdump
