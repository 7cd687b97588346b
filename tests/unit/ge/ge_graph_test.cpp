#include "ge/graph/ge_graph.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/ge_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::GeDesc;
using test::GeNet;
using test::GeOp;
using Strings = std::vector<std::string>;

Result<IrGraph> read_text(const std::string& text) {
  const test::ScratchDir scratch;
  const auto file = File::open(scratch.write("graph.txt", text));
  REQUIRE(file);
  return read_ge_graph(*file);
}

IrGraph read(const std::string& text) {
  auto graph = read_text(text);
  INFO((graph ? "" : graph.error().message));
  REQUIRE(graph);
  return std::move(*graph);
}

std::string problems_of(const IrGraph& ir) {
  std::string text;
  for (const IrProblem& problem : ir.problems) text += fmt::format("{}: {}\n", problem.line, problem.reason);
  return text;
}

const IrNode& node_of(const IrGraph& ir, std::string_view name) {
  for (const IrNode& node : ir.nodes) {
    if (ir.full_name(node) == name) return node;
  }
  FAIL("no operator " << name);
  return ir.nodes.front();
}

std::string operands_text(const IrGraph& ir, const IrNode& node) {
  std::string text;
  for (const IrOperand& operand : ir.operands_of(node)) {
    text += text.empty() ? "" : " ";
    switch (operand.kind) {
      case IrOperand::Kind::kNode:
        text += fmt::format("{}:{}", ir.full_name(ir.nodes[operand.value]),
                            operand.control ? "-1" : std::to_string(operand.output));
        break;
      case IrOperand::Kind::kParameter:
        text += "parameter " + std::string(ir.text(ir.parameters[operand.value].name));
        break;
      case IrOperand::Kind::kGraph: text += "graph " + std::string(ir.text(ir.graphs[operand.value].name)); break;
      case IrOperand::Kind::kConstant: text += "constant"; break;
      default: text += "unresolved " + std::string(ir.text(Text{operand.value}));
    }
  }
  return text;
}

std::string types_text(const IrGraph& ir, std::span<const uint32_t> types) {
  std::string text;
  for (const uint32_t index : types) {
    const IrType& type = ir.types[index];
    const auto dtype = type.known_dtype();
    text += fmt::format("{}{} {}[{}]", text.empty() ? "" : ", ", dtype ? name_of(*dtype) : "?", type.format,
                        type.shape ? fmt::format("{}", fmt::join(*type.shape, ",")) : "?");
  }
  return text;
}

std::string originals_text(const IrGraph& ir, const IrNode& node) {
  const auto originals = ir.originals(node);
  if (!originals) return "itself";
  std::string text = "[";
  for (const uint32_t name : *originals) text += std::string(ir.text(Text{name})) + ";";
  return text + "]";
}

GeDesc desc(std::string dtype, std::vector<int64_t> shape, std::string layout = "ND") {
  GeDesc result;
  result.dtype = std::move(dtype);
  result.shape = std::move(shape);
  result.origin_format = result.layout = std::move(layout);
  return result;
}

using GeDescs = std::vector<GeDesc>;

GeOp op_of(std::string name, std::string type, Strings inputs = {}, GeDescs in = {}, GeDescs out = {}) {
  GeOp op;
  op.name = std::move(name);
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  op.in = std::move(in);
  op.out = std::move(out);
  return op;
}

GeOp with_originals(GeOp op, Strings originals) {
  op.originals = std::move(originals);
  return op;
}

GeOp with_parent(GeOp op, int64_t index) {
  op.parent_index = index;
  return op;
}

GeOp call_of(std::string name, const GeDesc& value, std::string graph) {
  GeOp op = op_of(std::move(name), "PartitionedCall", {"x:0"}, {value}, {value});
  op.subgraphs = {std::move(graph)};
  return op;
}

// x, w -> TransData -> Conv2D (fused with ReLU, an optional input left out) -> NetOutput
std::vector<GeNet> small_net() {
  GeDesc host = desc("DT_FLOAT16", {1, 3, 8, 8}, "NCHW");
  GeDesc device = desc("DT_FLOAT16", {1, 1, 8, 8, 16}, "NC1HWC0");
  device.origin_format = "NCHW";
  device.origin_shape = {{1, 3, 8, 8}};
  GeDesc result = device;
  result.origin_name = "Default/net/ReLU-op5";
  result.origin_index = 0;
  GeDesc weight = desc("DT_FLOAT16", {9, 1, 16, 16}, "FRACTAL_Z");
  weight.origin_format = "NCHW";
  weight.origin_shape = {{16, 3, 3, 3}};
  GeNet net{"net_0", {}};
  net.ops = {
      op_of("x", "Data", {""}, {host}, {host}),
      op_of("conv.weight", "Variable", {}, {}, {weight}),
      with_originals(op_of("axis", "Const", {}, {}, {desc("DT_INT32", {})}), {}),
      with_originals(op_of("trans_TransData_0", "TransData", {"x:0"}, {host}, {device}), {}),
      with_originals(
          op_of("Default/net/Conv2D-op4Default/net/ReLU-op5", "Conv2D",
                {"trans_TransData_0:0", "conv.weight:0", "", "axis:0", "trans_TransData_0:-1"},
                {device, weight, test::absent_desc(), desc("DT_INT32", {})}, {result, desc("DT_BOOL", {-1})}),
          {"Default/net/Conv2D-op4", "Default/net/ReLU-op5"}),
      op_of("Node_Output", "NetOutput", {"Default/net/Conv2D-op4Default/net/ReLU-op5:1"}, {desc("DT_BOOL", {-1})}),
  };
  return {net};
}

TEST_CASE("a GE graph is the same in each of its forms") {
  for (const std::string& text :
       {test::ge_proto_text(small_net()), test::ge_onnx_text(small_net()), test::ge_json_text(small_net())}) {
    INFO(text.substr(0, 200));
    const IrGraph ir = read(text);
    CHECK(problems_of(ir).empty());
    REQUIRE(ir.nodes.size() == 6);
    REQUIRE(ir.graphs.size() == 1);
    CHECK(ir.text(ir.graphs[0].name) == "net_0");
    CHECK(ir.text(ir.facts.entry) == "net_0");
    CHECK(ir.parsed() == ir.expected());

    const IrNode& conv = node_of(ir, "Default/net/Conv2D-op4Default/net/ReLU-op5");
    CHECK(ir.op_type(conv) == "Conv2D");
    CHECK(ir.scope(conv) == "Default/net/Conv2D-op4Default/net");
    CHECK(ir.text(conv.leaf) == "ReLU-op5");
    CHECK(conv.kind == IrNodeKind::kKernel);
    CHECK(conv.number == 4);
    CHECK(operands_text(ir, conv) == "trans_TransData_0:0 conv.weight:0 axis:0 trans_TransData_0:-1");
    CHECK(types_text(ir, ir.inputs(conv.device)) ==
          "float16 NC1HWC0[1,1,8,8,16], float16 FRACTAL_Z[9,1,16,16], int32 ND[]");
    CHECK(types_text(ir, ir.inputs(conv.host)) == "float16 NCHW[1,3,8,8], float16 NCHW[16,3,3,3], int32 ND[]");
    CHECK(types_text(ir, ir.outputs(conv.device)) == "float16 NC1HWC0[1,1,8,8,16], bool ND[-1]");
    CHECK(originals_text(ir, conv) == "[Default/net/Conv2D-op4;Default/net/ReLU-op5;]");
    CHECK(ir.text(ir.origin_output(conv, 0).name) == "Default/net/ReLU-op5");
    CHECK(ir.origin_output(conv, 1).name == Text::kEmpty);

    CHECK(originals_text(ir, node_of(ir, "trans_TransData_0")) == "[]");
    CHECK(originals_text(ir, node_of(ir, "x")) == "itself");
    CHECK(operands_text(ir, node_of(ir, "x")) == "parameter x");
    CHECK(operands_text(ir, node_of(ir, "conv.weight")) == "parameter conv.weight");
    CHECK(operands_text(ir, node_of(ir, "axis")) == "constant");
    for (const char* name : {"x", "conv.weight", "axis", "Node_Output"})
      CHECK(node_of(ir, name).kind == IrNodeKind::kVirtual);
    REQUIRE(ir.parameters.size() == 2);
    CHECK(ir.parameters[0].is_weight == false);
    CHECK(ir.parameters[1].is_weight == true);
    CHECK(types_text(ir, std::span(&ir.parameters[1].device, 1)) == "float16 FRACTAL_Z[9,1,16,16]");
    CHECK(types_text(ir, std::span(&ir.parameters[1].host, 1)) == "float16 NCHW[16,3,3,3]");
  }
}

TEST_CASE("operators know their lines") {
  const IrGraph proto = read(test::ge_proto_text(small_net()));
  CHECK(node_of(proto, "x").line == 3);
  const std::string json = test::ge_json_text(small_net());
  const IrGraph ir = read(json);
  CHECK(node_of(ir, "x").line == 4);
  CHECK(node_of(ir, "Node_Output").line == 9);
}

TEST_CASE("text of another layout is the same graph") {
  std::string text = test::ge_proto_text(small_net());
  const IrGraph usual = read(text);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  const IrGraph one_line = read(text);
  REQUIRE(one_line.nodes.size() == usual.nodes.size());
  for (size_t i = 0; i < usual.nodes.size(); ++i) {
    CHECK(one_line.full_name(one_line.nodes[i]) == usual.full_name(usual.nodes[i]));
    CHECK(operands_text(one_line, one_line.nodes[i]) == operands_text(usual, usual.nodes[i]));
    CHECK(originals_text(one_line, one_line.nodes[i]) == originals_text(usual, usual.nodes[i]));
  }
  // The value of an attribute before its key, and a graph without "graph {".
  const IrGraph turned = read(
      "name: 'g' op { name: 'a' type: 'Add' attr { value { list { s: ['b', 'c'] } } key: "
      "'_datadump_original_op_names' } }");
  CHECK(originals_text(turned, turned.nodes[0]) == "[b;c;]");
  CHECK(turned.text(turned.graphs[0].name) == "g");
}

TEST_CASE("sub-graphs are graphs of their own, and the operator that runs one is known") {
  const GeDesc value = desc("DT_FLOAT", {2});
  GeDesc result = value;
  result.parent_index = 0;
  const std::vector<GeNet> nets = {
      {"root",
       {op_of("x", "Data", {}, {}, {value}), call_of("call", value, "sub"),
        op_of("out", "NetOutput", {"call:0"}, {value})}},
      {"sub",
       {with_parent(op_of("x", "Data", {}, {}, {value}), 0), op_of("neg", "Neg", {"x:0"}, {value}, {value}),
        op_of("sub_out", "NetOutput", {"neg:0"}, {result})}}};
  for (const std::string& text : {test::ge_proto_text(nets), test::ge_json_text(nets)}) {
    const IrGraph ir = read(text);
    CHECK(problems_of(ir).empty());
    REQUIRE(ir.graphs.size() == 2);
    const IrNode& call = node_of(ir, "call");
    CHECK(call.kind == IrNodeKind::kCall);
    CHECK(operands_text(ir, call) == "x:0 graph sub");
    CHECK(ir.graphs[1].caller == 1);
    CHECK(ir.graphs[1].parent == 0);
    CHECK(ir.graphs[1].result == 5);
    // Of its own graph, although the root has an operator of that name.
    CHECK(ir.operands_of(node_of(ir, "neg"))[0].value == 3);
    CHECK(ir.parameters[1].number == 0);
    CHECK(ir.parameters[0].graph == 0);
    CHECK(ir.parameters[1].graph == 1);
    CHECK(ir.graphs[1].parameter_count == 1);
  }
  const IrGraph onnx = read(test::ge_onnx_text(nets));
  REQUIRE(onnx.graphs.size() == 2);
  CHECK(onnx.text(onnx.graphs[1].name) == "sub");
  CHECK(onnx.operands_of(node_of(onnx, "neg"))[0].value == 4);  // after the root's node for the sub-graph
}

TEST_CASE("only a description without type, shape and format is of an absent input") {
  GeOp op = op_of("a", "Neg");
  op.in.assign(6, test::absent_desc());
  op.in[1].layout = "FORMAT_RESERVED";
  op.in[2].dtype = "DT_UNDEFINED";
  op.in[3].layout = "ND";
  op.in[4].shape = {2};
  op.in[5].dtype = "DT_INT8";
  const IrGraph ir = read(test::ge_proto_text({{"g", {op}}}));
  CHECK(types_text(ir, ir.inputs(ir.nodes[0].device)) == "? ND[], ? RESERVED[2], int8 RESERVED[]");
}

TEST_CASE("a sub-graph that several operators run has no single caller") {
  GeOp one = op_of("one", "PartitionedCall"), two = op_of("two", "PartitionedCall"), branches = op_of("if", "If");
  one.subgraphs = two.subgraphs = {"sub"};
  branches.subgraphs = {"then", "else", "not there"};
  const IrGraph ir = read(test::ge_proto_text({{"root", {one, two, branches}},
                                               {"sub", {op_of("a", "Neg")}},
                                               {"then", {op_of("a", "Neg")}},
                                               {"else", {op_of("a", "Neg")}}}));
  for (const IrSubgraph& graph : ir.graphs) CHECK(graph.caller == kNoIndex);
  CHECK(ir.graphs[1].parent == 0);
  CHECK(operands_text(ir, node_of(ir, "if")) == "graph then graph else unresolved not there");
}

TEST_CASE("ONNX text leaves out what is 0 and empty") {
  const IrGraph ir = read(
      "graph { node { name: 'x' op_type: 'ge:Data' attribute { name: '_parent_node_index' type: INT } }\n"
      "node { name: 'a' op_type: 'ge:Neg' input: 'x:0'\n"
      "attribute { name: 'output_desc_dtype:0' s: 'DT_INT8' } attribute { name: 'output_desc_layout:0' s: 'ND' }\n"
      "attribute { name: 'output_desc_shape:0' ints: 4 } attribute { name: 'output_desc_origin_shape:0' type: INTS } "
      "}\n"
      "node { name: 'o' op_type: 'ge:NetOutput' input: 'a:0' attribute { name: 'input_desc_dtype:0' s: 'DT_INT8' }\n"
      "attribute { name: 'input_desc_attr__parent_node_index:0' type: INT } } }");
  CHECK(problems_of(ir).empty());
  REQUIRE(ir.parameters.size() == 1);
  CHECK(ir.parameters[0].number == 0);
  CHECK(types_text(ir, ir.outputs(node_of(ir, "a").host)) == "int8 ND[4]");
  CHECK(ir.graphs[0].result == 2);
}

TEST_CASE("results of a sub-graph in another order are not passed through") {
  GeDesc result = desc("DT_FLOAT", {2});
  result.parent_index = 1;
  const IrGraph ir = read(test::ge_proto_text({{"g", {op_of("out", "NetOutput", {}, {result})}}}));
  CHECK(ir.graphs[0].result == kNoIndex);
}

TEST_CASE("a cut file gives the operators before the cut, at every byte") {
  const std::string text = test::ge_proto_text(small_net());
  const size_t end = text.rfind("attr {\n  key: \"stream_num\"") - 1;
  size_t last = 0;
  for (size_t size = text.find("Data"); size < end; size += 7) {
    const auto ir = read_text(text.substr(0, size));
    if (!ir) {
      CHECK(ir.error().code == ErrorCode::kBadIr);
      CHECK(last == 0);
      continue;
    }
    CHECK(ir->nodes.size() >= last);
    CHECK(ir->facts.truncated);
    CHECK(ir->facts.truncated_at == size);
    CHECK(problems_of(*ir).find(fmt::format("0: the file ends inside a graph, at byte {}\n", size)) !=
          std::string::npos);
    last = ir->nodes.size();
  }
  CHECK(last == 6);
  const std::string onnx = test::ge_onnx_text(small_net());
  const IrGraph cut = read(onnx.substr(0, onnx.find("Node_Output")));
  CHECK(cut.nodes.size() == 5);
  CHECK(cut.facts.truncated);
  CHECK(cut.expected() == 6);
}

TEST_CASE("damage is a problem with its line, and everything else is read") {
  const std::string text = test::ge_proto_text(small_net());
  const auto damaged = [&](const std::string& what, const std::string& by) {
    std::string changed = text;
    changed.replace(changed.find(what), what.size(), by);
    return read(changed);
  };
  const size_t user = text.rfind("  op {", text.find("trans_TransData_0"));
  CHECK(problems_of(damaged("name: \"x\"", "")) ==
        fmt::format("3: an operator without a name\n{}: no operator of the graph is called 'x'\n",
                    1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(user), '\n')));
  CHECK(problems_of(damaged("type: \"Data\"", "type: \"\"")).starts_with("3: an operator without a type\n"));
  CHECK(problems_of(damaged("trans_TransData_0:0", "trans_TransData_0:y")).find("has no number of an output") !=
        std::string::npos);
  CHECK(problems_of(damaged("\"axis\"", "\"x\"")).find("another operator is called 'x', too") != std::string::npos);
  const IrGraph odd = damaged("id: 3", "id ? 3");
  CHECK(odd.nodes.size() == 6);
  CHECK(problems_of(odd) == "14: 'id' has no value\n");
}

TEST_CASE("what is not a graph of GE is refused") {
  for (const std::string text :
       {"", "hello", "subgraph @g() {\n  %0(a) = Add(%1)\n}\n", "{\"a\": 1}", "{\"graph\": [], \"type\": 1}",
        "{\"value\": 1}", "a { b: 1 }", "op {\n  kind: \"x\"\n}\n"}) {
    INFO(text);
    CHECK_FALSE(ge_form(text));
    const auto ir = read_text(text);
    REQUIRE_FALSE(ir);
    CHECK(ir.error().code == ErrorCode::kBadIr);
  }
  const std::string zero("op { name: \"a\" type: \"b\" }\0", 27);
  CHECK_FALSE(ge_form(zero));
  CHECK(ge_form(zero.substr(0, 26)) == GeForm::kProto);
  CHECK(ge_form(test::ge_onnx_text(small_net())) == GeForm::kOnnx);
  CHECK(name_of(GeForm::kProto) == "ge_proto");
  CHECK(name_of(GeForm::kOnnx) == "ge_onnx");
  CHECK(name_of(GeForm::kJson) == "ge_json");
  CHECK(ge_form("\n" + test::ge_json_text(small_net())) == GeForm::kJson);
}

TEST_CASE("JSON of one graph alone is a graph, and so are lists of one item without brackets") {
  const IrGraph ir =
      read(R"({"name": "g", "op": {"name": "a", "type": "Neg", "input": "b:0", "attr": {"key": "x", "value": null}}})");
  CHECK(ir.text(ir.graphs[0].name) == "g");
  CHECK(operands_text(ir, ir.nodes[0]) == "unresolved b");
  CHECK(ge_form(R"({"graph": {}, "attr": {"key": "x", "value": null}})") == GeForm::kJson);
}

TEST_CASE("text that is not JSON is refused with the place") {
  const std::string json = test::ge_json_text(small_net());
  const auto ir = read_text(json.substr(0, json.size() / 2));
  REQUIRE_FALSE(ir);
  CHECK(ir.error().code == ErrorCode::kBadJson);
  CHECK(ir.error().offset);
}

TEST_CASE("file names of GE say number, graph and stage") {
  const auto build = ge_file_name("ge_proto_00000062_Build.txt");
  REQUIRE(build);
  CHECK(build->number == 62);
  CHECK_FALSE(build->graph);
  CHECK(build->stage == "Build");
  CHECK(build->executed());
  const auto onnx = ge_file_name("ge_onnx_00000001_graph_11_PreRunBegin.pbtxt");
  REQUIRE(onnx);
  CHECK(onnx->form == GeForm::kOnnx);
  CHECK(onnx->graph == 11);
  CHECK(onnx->stage == "PreRunBegin");
  CHECK_FALSE(onnx->executed());
  CHECK(ge_file_name("ge_proto_00000005.txt")->stage.empty());
  for (const char* name :
       {"ge_proto_x_Build.txt", "ge_proto_1_Build.pbtxt", "ge_onnx_1_Build.txt", "proto_1_Build.txt", "ge_proto_.txt"})
    CHECK_FALSE(ge_file_name(name));
}

}  // namespace
}  // namespace msdump
