// Every graph of GE of the conformance data against what an independent parser read in it: operators, types, input edges,
// types of inputs and outputs, original names.
#include <algorithm>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_graph.h"
#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

struct GraphCounts {
  size_t files = 0, operators = 0, edges = 0, types = 0, originals = 0, origins = 0;
};

Strings strings_of(const JsonValue* list) {
  Strings texts;
  if (list == nullptr) return texts;
  for (const JsonValue& item : list->items) texts.push_back(item.text);
  return texts;
}

std::string input_text(const IrGraph& ir, const IrOperand& operand) {
  if (operand.kind != IrOperand::Kind::kNode) return "?";
  return fmt::format("{}:{}", ir.full_name(ir.nodes[operand.value]),
                     operand.control ? "-1" : std::to_string(operand.output));
}

// As in the file: without what the reader adds (the parameter that a Data is, the graph that a call runs).
Strings inputs_of_node(const IrGraph& ir, const IrNode& node) {
  Strings inputs;
  for (const IrOperand& operand : ir.operands_of(node)) {
    if (operand.kind == IrOperand::Kind::kNode || (operand.kind == IrOperand::Kind::kUnresolved && !operand.control))
      inputs.push_back(input_text(ir, operand));
  }
  return inputs;
}

std::string shape_text(const JsonValue* list) {
  return list == nullptr ? "?" : fmt::format("{}", fmt::join(strings_of(list), ","));
}
std::string shape_text(const IrType& type) { return type.shape ? fmt::format("{}", fmt::join(*type.shape, ",")) : "?"; }

void check_descs(const JsonValue* expected, const IrGraph& ir, std::span<const uint32_t> device,
                 std::span<const uint32_t> host, GraphCounts& counts) {
  if (expected == nullptr) return;
  std::vector<const JsonValue*> present;
  for (const JsonValue& desc : expected->items) {
    const JsonValue* const layout = desc.find("layout");
    if (layout == nullptr || (layout->text != "RESERVED" && layout->text != "FORMAT_RESERVED"))
      present.push_back(&desc);
  }
  REQUIRE(device.size() == present.size());
  REQUIRE(host.size() == present.size());
  for (size_t i = 0; i < present.size(); ++i) {
    const IrType& type = ir.types[device[i]];
    const std::string dtype = present[i]->find("dtype")->text;
    const std::map<std::string, std::string> special = {
        {"DT_FLOAT", "float32"}, {"DT_DOUBLE", "float64"}, {"DT_BF16", "bfloat16"}};
    const auto found = special.find(dtype);
    REQUIRE(type.known_dtype());
    CHECK(name_of(*type.known_dtype()) == (found == special.end() ? to_lower(dtype.substr(3)) : found->second));
    CHECK(shape_text(type) == shape_text(present[i]->find("shape")));
    CHECK(type.format == present[i]->find("layout")->text);
    const IrType& origin = ir.types[host[i]];
    if (const JsonValue* format = present[i]->find("origin_format")) CHECK(origin.format == format->text);
    if (const JsonValue* shape = present[i]->find("origin_shape")) CHECK(shape_text(origin) == shape_text(shape));
    ++counts.types;
  }
}

// Of JSON the other parser does not report an empty list; ours does.
void check_originals(const JsonValue& expected, const IrGraph& ir, const IrNode& node, bool json, GraphCounts& counts) {
  const JsonValue* const names = expected.find("original_names");
  if (names == nullptr) return;  // not read by the other parser
  const auto originals = ir.originals(node);
  if (json && names->is(JsonKind::kNull)) {
    CHECK(originals.value_or(std::span<const uint32_t>()).empty());
    return;
  }
  REQUIRE(originals.has_value() == !names->is(JsonKind::kNull));
  if (!originals) return;
  Strings found;
  for (const uint32_t name : *originals) found.emplace_back(ir.text(Text{name}));
  CHECK(found == strings_of(names));
  counts.originals += found.size();
  const JsonValue* const outputs = expected.find("output_desc");
  for (size_t i = 0; outputs != nullptr && i < outputs->items.size(); ++i) {
    const JsonValue* const name = outputs->items[i].find("_datadump_origin_name");
    const OriginOutput origin = ir.origin_output(node, i);
    CHECK(ir.text(origin.name) == (name == nullptr ? "" : name->text));
    if (name == nullptr) continue;
    CHECK(std::to_string(origin.index) == outputs->items[i].find("_datadump_origin_output_index")->text);
    ++counts.origins;
  }
}

void check_operator(const JsonValue& expected, const IrGraph& ir, const IrNode& node, bool json, GraphCounts& counts) {
  INFO(expected.find("name")->text);
  CHECK(ir.full_name(node) == expected.find("name")->text);
  CHECK(ir.text(node.op) == expected.find("type")->text);
  Strings inputs = strings_of(expected.find("inputs"));
  std::erase(inputs, "");
  CHECK(inputs_of_node(ir, node) == inputs);
  check_descs(expected.find("input_desc"), ir, ir.inputs(node.device), ir.inputs(node.host), counts);
  check_descs(expected.find("output_desc"), ir, ir.outputs(node.device), ir.outputs(node.host), counts);
  check_originals(expected, ir, node, json, counts);
  ++counts.operators;
  counts.edges += inputs.size();
}

void check_file(const fs::path& expectation, GraphCounts& counts) {
  const auto expected = parse_json(read_bytes(expectation));
  REQUIRE(expected);
  const fs::path path = expectation.parent_path() / expected->find("file")->text;
  INFO(path.string());
  const auto file = File::open(path.string());
  REQUIRE(file);
  const auto head = file->head();
  const auto form = ge_form({reinterpret_cast<const char*>(head.data()), head.size()});
  REQUIRE(form);
  const std::string kind = expected->find("kind")->text;
  CHECK(name_of(*form) == (kind == "json" ? "ge_json" : kind));
  const auto ir = read_ge_graph(*file);
  REQUIRE(ir);
  CHECK(ir->problems.count() == 0);
  const auto& graphs = expected->find("graphs")->items;
  REQUIRE(ir->graphs.size() >= graphs.size());
  for (size_t i = 0; i < graphs.size(); ++i) {
    CHECK(ir->text(ir->graphs[i].name) == graphs[i].find("name")->text);
    CHECK(std::to_string(ir->graphs[i].node_count) == graphs[i].find("operators")->text);
  }
  // For ge_onnx only the operators of the root graph are expected. Those of the other graphs come after them.
  const auto& operators = expected->find("operators")->items;
  REQUIRE(ir->nodes.size() >= operators.size());
  if (form != GeForm::kOnnx) CHECK(ir->nodes.size() == operators.size());
  for (size_t i = 0; i < operators.size(); ++i)
    check_operator(operators[i], *ir, ir->nodes[i], form == GeForm::kJson, counts);
  ++counts.files;
}

}  // namespace

TEST_CASE("GE graphs are read as another parser reads them") {
  const auto folder = corpus_or_skip("ge");
  if (!folder) return;
  std::vector<fs::path> expectations;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (entry.path().string().ends_with(".expected.json")) expectations.push_back(entry.path());
  }
  std::sort(expectations.begin(), expectations.end());
  GraphCounts counts;
  for (const fs::path& expectation : expectations) check_file(expectation, counts);
  CHECK(counts.files >= 6);
  std::cout << fmt::format(
      "GE graphs: {} files, {} operators, {} edges, {} types, {} original names, {} origins of outputs\n", counts.files,
      counts.operators, counts.edges, counts.types, counts.originals, counts.origins);
}

TEST_CASE("one model in two forms is one graph") {
  const auto folder = corpus_or_skip("ge");
  if (!folder) return;
  const auto read = [&](const char* name) {
    const auto file = File::open((*folder / name).string());
    REQUIRE(file);
    auto ir = read_ge_graph(*file);
    REQUIRE(ir);
    return std::move(*ir);
  };
  const IrGraph proto = read("ge_proto_00000001_Build.txt"), onnx = read("ge_onnx_00000001_graph_11_Build.pbtxt");
  const auto described = [](const IrGraph& ir) {
    Strings lines;
    for (const IrNode& node : ir.nodes) {
      if (ir.text(node.op) == "subgraph") continue;
      std::string line = fmt::format("{}/{} {} {}", ir.graph_name(node), ir.full_name(node), ir.text(node.op),
                                     fmt::join(inputs_of_node(ir, node), " "));
      for (const Signature types : {node.host, node.device}) {
        for (const uint32_t type : ir.inputs(types)) line += " " + std::string(ir.types[type].text);
        for (const uint32_t type : ir.outputs(types)) line += " " + std::string(ir.types[type].text);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  };
  CHECK(described(proto) == described(onnx));
  CHECK(proto.graphs.size() == 5);
}
