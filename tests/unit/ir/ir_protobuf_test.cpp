#include "ir/protobuf/ir_protobuf.h"

#include <string>
#include <vector>

#include "ir/protobuf/protobuf_value.h"
#include "support/catch.h"
#include "support/ir_pb_builder.h"
#include "support/operand_text.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using namespace test;
using Strings = std::vector<std::string>;

Result<IrGraph> try_read(const std::string& bytes, const IrProtobufOptions& options = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("graph.pb", bytes));
  REQUIRE(file);
  auto result = read_ir_protobuf(*file, options);
  if (!result) CHECK(result.error().path == file->path());
  return result;
}

IrGraph read(const IrPbSpec& spec, const IrProtobufOptions& options = {}) {
  auto result = try_read(build_ir_pb(spec), options);
  if (result) return std::move(*result);
  FAIL(result.error().message);
  return {};
}

Strings operands(const IrGraph& ir, size_t node) {
  Strings all;
  for (const IrOperand& operand : ir.operands_of(ir.nodes.at(node)))
    all.push_back(test::operand_text(ir, ir.nodes[node], operand));
  return all;
}

Strings types(const IrGraph& ir, std::span<const uint32_t> indices) {
  Strings all;
  for (const uint32_t index : indices) all.emplace_back(ir.types.at(index).text);
  return all;
}

// "FILE:LINE", "|" before the first of a stack, "forward", "candidate".
Strings stack(const IrGraph& ir, size_t node) {
  Strings all;
  for (const uint32_t index : ir.stack(ir.nodes.at(node))) {
    const SourceFrame& frame = ir.frames.at(index);
    const char* kinds[] = {"", " forward", " candidate"};
    all.push_back((frame.begins_chain ? "|" : "") + std::string(frame.file) + ":" + std::to_string(frame.line) +
                  kinds[static_cast<size_t>(frame.kind)]);
  }
  return all;
}

TEST_CASE("a graph beside a dump is read with names, types, operands and source lines") {
  const IrGraph ir = read(small_ir_pb());
  REQUIRE(ir.nodes.size() == 2);
  const IrNode& add = ir.nodes[0];
  CHECK(ir.full_name(add) == "Default/net-Net/Add-op3");
  CHECK(ir.scope(add) == "Default/net-Net");
  CHECK(ir.op_type(add) == "Add");
  CHECK(ir.node_name(add) == "%1");
  CHECK(add.kind == IrNodeKind::kKernel);
  CHECK(operands(ir, 0) == Strings{"%x", "cst1"});
  CHECK(operands(ir, 1) == Strings{"%1"});
  CHECK(types(ir, ir.inputs(add.host)) == Strings{"<Tensor[Float32], (2, 3)>", "<Int64, NoShape>"});
  CHECK(types(ir, ir.outputs(add.host)) == Strings{"<Tensor[Float32], (2, 3)>"});
  CHECK(stack(ir, 0) == Strings{"|/net.py:7", "/train.py:40"});
  CHECK(stack(ir, 1) == Strings{"|/net.py:8"});
  CHECK(ir.graph_name(add) == "kernel_graph_0");
  CHECK(ir.text(ir.facts.entry) == "kernel_graph_0");
  CHECK(ir.text(ir.facts.root_name) == "0");
  CHECK(ir.parsed() == ir.expected());
  CHECK_FALSE(ir.facts.truncated);
  CHECK(ir.problems.count() == 0);
}

TEST_CASE("parameters and constants have names, types and values") {
  IrPbSpec spec = small_ir_pb();
  spec.parameters.emplace_back("fc.weight", pb_tensor_type(10, {4}));
  // A tensor as of 1.3 to 1.5: its elements, dims, and its data type.
  spec.constants.push_back({"cst2", pb_number(1, 14) + pb_bytes(8, pb_bytes(3, "1234") + pb_number(5, 11)), ""});
  spec.constants.push_back({"cst3", "", "Default_data-7"});
  spec.constants.push_back({"cst4", pb_list_value(31, {pb_int_value(2), pb_int_value(-1)}), std::nullopt});
  const IrGraph ir = read(spec);
  REQUIRE(ir.parameters.size() == 2);
  CHECK(ir.text(ir.parameters[1].name) == "fc.weight");
  CHECK(ir.parameters[1].number == 2);
  CHECK(ir.parameters[1].line == 0);
  CHECK(ir.types[ir.parameters[1].host].text == "<Tensor[Float16], (4)>");
  REQUIRE(ir.constants.size() == 4);
  Strings constants;
  for (const IrConstant& constant : ir.constants) {
    constants.push_back(std::string(ir.text(constant.key)) + "|" + std::string(ir.text(constant.full_name)) + "|" +
                        std::string(ir.text(constant.value)) + "|" + std::string(ir.types[constant.type].text));
  }
  CHECK(constants == Strings{"cst1|Default--data-0|I64(1)|<Int64, NoShape>", "cst2|||<Tensor[Float32], ()>",
                             "cst3|Default_data-7||",
                             "cst4||(I64(2), I64(-1))|<Tuple[Int64,Int64], TupleShape(NoShape, NoShape)>"});
}

TEST_CASE("the schema is seen from the content, and with it what numbers mean") {
  IrPbSpec spec;
  spec.nodes = {{.name = "1", .op_type = "UpdateState", .full_name = "Default/UpdateState-op1"}};
  const auto monad = [&](int number) {
    spec.nodes[0].output_type = pb_type(number);
    const IrGraph ir = read(spec);
    return std::string(ir.types.at(ir.outputs(ir.nodes[0].host)[0]).text);
  };
  SECTION("of save_graphs") {
    spec.nodes[0].instance_name = "x";
    CHECK(monad(49) == "<UMonad, NoShape>");
    CHECK(monad(43) == "<Complex64, NoShape>");
  }
  SECTION("of a dump, by its source lines") {
    spec.nodes[0].source_address = "";
    CHECK(monad(43) == "<UMonad, NoShape>");
    CHECK(monad(44) == "<IOMonad, NoShape>");
    CHECK(monad(49) == "");
  }
  SECTION("of a dump, by its root graph") {
    spec.root_name = "0";
    CHECK(monad(43) == "<UMonad, NoShape>");
  }
  SECTION("of a dump, by the name of a constant") {
    spec.constants = {{"cst1", "", "Default--data-1"}};
    CHECK(monad(43) == "<UMonad, NoShape>");
  }
  SECTION("of a debugger of 1.0, a graph without a model") {
    spec.bare = true;
    CHECK(monad(43) == "<UMonad, NoShape>");
  }
}

TEST_CASE("tensors of constants have other fields in the two schemas") {
  IrPbSpec spec = small_ir_pb();
  const std::string dims = pb_bytes(4, pb_varint(2) + pb_varint(5));
  spec.constants = {{"cst1", pb_bytes(8, dims + pb_number(5, 11)), "x"}};
  CHECK(read(spec).types.at(read(spec).constants.at(0).type).text == "<Tensor[Float32], (2, 5)>");
  spec.root_name.reset();
  for (PbNode& node : spec.nodes) node.source_address.reset();
  spec.constants = {{"cst1", pb_bytes(8, pb_number(1, 2) + pb_number(1, 5) + pb_number(2, 11)), std::nullopt}};
  CHECK(read(spec).types.at(read(spec).constants.at(0).type).text == "<Tensor[Float32], (2, 5)>");
}

TEST_CASE("an operand may come after its operator, be an order only, or not be there") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].inputs = {"2", "x", "nowhere"};
  std::string bytes = build_pb_node(spec.nodes[1]) + pb_bytes(1, pb_bytes(1, "1") + pb_number(2, 1));
  const std::string graph = pb_bytes(1, build_pb_node(spec.nodes[0])) + pb_bytes(1, bytes);
  const auto ir = try_read(pb_number(1, 1) + pb_bytes(4, graph));
  REQUIRE(ir);
  CHECK(operands(*ir, 0) == Strings{"%2", "x", "nowhere"});
  const auto first = ir->operands_of(ir->nodes[0]);
  CHECK(first[0].kind == IrOperand::Kind::kNode);
  CHECK(first[1].kind == IrOperand::Kind::kUnresolved);
  CHECK(types(*ir, ir->inputs(ir->nodes[0].host)) == Strings{"<Tensor[Float32], (2, 3)>", "", ""});
  const auto second = ir->operands_of(ir->nodes[1]);
  REQUIRE(second.size() == 2);
  CHECK_FALSE(second[0].control);
  CHECK(second[1].control);
}

TEST_CASE("an input that several parameters are called is unresolved and has no type") {
  IrPbSpec spec = small_ir_pb();
  spec.parameters = {{"success", pb_tensor_type(11, {2})}, {"x", pb_tensor_type(11, {3})}, {"success", pb_type(1)}};
  spec.nodes[0].inputs = {"success", "x"};
  const IrGraph ir = read(spec);
  CHECK(ir.parameters.size() == 3);
  CHECK(operands(ir, 0) == Strings{"success", "%x"});
  CHECK(ir.operands_of(ir.nodes[0])[0].kind == IrOperand::Kind::kUnresolved);
  CHECK(types(ir, ir.inputs(ir.nodes[0].host)) == Strings{"", "<Tensor[Float32], (3)>"});
}

TEST_CASE("a tuple that is an input once for each element stands for its elements") {
  IrPbSpec spec = small_ir_pb();
  spec.parameters = {{"all", pb_tuple_type({pb_type(5), pb_tensor_type(11, {})})}};
  spec.nodes[0].inputs = {"all", "cst1", "all"};
  spec.nodes[1].inputs = {"all"};
  const IrGraph ir = read(spec);
  CHECK(types(ir, ir.inputs(ir.nodes[0].host)) ==
        Strings{"<Int64, NoShape>", "<Int64, NoShape>", "<Tensor[Float32], NoShape>"});
  CHECK(types(ir, ir.inputs(ir.nodes[1].host)) ==
        Strings{"<Tuple[Int64,Tensor[Float32]], TupleShape(NoShape, NoShape)>"});
}

TEST_CASE("a parameter that is called like a node does not take its place") {
  IrPbSpec spec = small_ir_pb();
  spec.parameters.emplace_back("1", pb_tensor_type(11, {9}));
  const IrGraph ir = read(spec);
  CHECK(ir.operands_of(ir.nodes[1])[0].kind == IrOperand::Kind::kNode);
}

TEST_CASE("an operator that is left out is not an operand") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].op_type.clear();
  const IrGraph ir = read(spec);
  REQUIRE(ir.nodes.size() == 1);
  CHECK(ir.op_type(ir.nodes[0]) == "ReLU");
  CHECK(operands(ir, 0) == Strings{"1"});
  CHECK(ir.operands_of(ir.nodes[0])[0].kind == IrOperand::Kind::kUnresolved);
  REQUIRE(ir.problems.size() == 1);
  CHECK(ir.problems[0].reason == "byte 5: an operator that cannot be read");
  CHECK(ir.expected() == 2);
}

TEST_CASE("full names without a scope, and scopes without a full name, are kept as they are") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0] = {.name = "1", .op_type = "Load", .scope = "Default/net-Net", .full_name = "conv1.weight"};
  spec.nodes[1].full_name.clear();
  const IrGraph ir = read(spec);
  CHECK(ir.full_name(ir.nodes[0]) == "conv1.weight");
  CHECK(ir.scope(ir.nodes[0]).empty());
  CHECK(ir.nodes[0].kind == IrNodeKind::kVirtual);
  CHECK(ir.full_name(ir.nodes[1]).empty());
  CHECK(ir.scope(ir.nodes[1]) == "Default/net-Net");
}

TEST_CASE("stacks of a forward operator and of fused ones follow the operator's own") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].source_address =
      "      # In file /grad.py(70)/dx/\n"
      "      # In file /grad.py(60)/all/\n"
      "      # Corresponding forward node candidate:\n"
      "      #  - In file /net.py(7)/a + b/\n"
      "      #    In file /train.py(40)/net(x)/\n"
      "      #  - In file /net.py(9)/a + c/\n"
      "      # Corresponding code candidate:\n"
      "      # In file /fused.py(1)/x/\n"
      "      # In file /nowhere/\n"
      "      # some remark\n";
  spec.nodes[1].source_address = "      # Corresponding forward node candidate:\n      # In file /net.py(7)/a + b/";
  const IrGraph ir = read(spec);
  CHECK(stack(ir, 0) == Strings{"|/grad.py:70", "/grad.py:60", "|/net.py:7 forward", "/train.py:40 forward",
                                "|/net.py:9 forward", "|/fused.py:1 candidate"});
  CHECK(stack(ir, 1) == Strings{"|/net.py:7 forward"});
  REQUIRE(ir.problems.size() == 1);
  CHECK(ir.problems[0].reason == "byte 5: a source line without a place");
}

TEST_CASE("only attributes that were asked for are kept") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].attributes = {{"pad_mode", pb_text_value("same")},
                              {"_datadump_original_names", pb_list_value(31, {pb_text_value("Default/A-op1")})},
                              {"kernel", pb_list_value(31, {pb_int_value(2), pb_int_value(3)})}};
  const auto attributes = [&](const IrProtobufOptions& options) {
    const IrGraph ir = read(spec, options);
    return std::string(ir.text(ir.nodes[0].attributes));
  };
  CHECK(attributes({}) == R"(primitive_attrs: {_datadump_original_names: ("Default/A-op1")})");
  CHECK(attributes({.attributes = {"kernel"}}) == "primitive_attrs: {kernel: (I64(2), I64(3))}");
  CHECK(attributes({.attributes = {}}).empty());
  IrProtobufOptions options;
  options.arguments = {"kernel", "pad"};
  const IrGraph ir = read(spec, options);
  CHECK(ir.text(ir.nodes[0].arguments) == "{kernel: (I64(2), I64(3))}");
  CHECK(ir.nodes[1].arguments == Text::kEmpty);
}

TEST_CASE("a damaged type, value or attribute costs itself only") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].output_type = "\x0b";
  spec.nodes[0].attributes = {{"forward_node_name", "\xff"}};
  spec.constants[0].value = "\xff";
  spec.parameters[0].second = "\xff";
  const IrGraph ir = read(spec);
  CHECK(ir.nodes.size() == 2);
  CHECK(ir.parameters.size() == 1);
  CHECK(ir.constants.size() == 1);
  CHECK(ir.problems.count() == 4);
  CHECK(types(ir, ir.inputs(ir.nodes[0].host)) == Strings{"", ""});
  CHECK(stack(ir, 0).size() == 2);
}

TEST_CASE("names that are not numbers, or come twice, do not mix operators up") {
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].name = "first";
  spec.nodes[1].name = "first";
  spec.nodes[1].inputs = {"first"};
  const IrGraph ir = read(spec);
  CHECK(ir.nodes[0].number == 1);
  CHECK(ir.nodes[1].number == 2);
  CHECK(ir.text(ir.nodes[0].debug_name) == "first");
  CHECK(operands(ir, 1) == Strings{"%1"});
}

TEST_CASE("a file cut anywhere has the operators that are whole, or is refused") {
  const std::string bytes = build_ir_pb(small_ir_pb());
  const size_t first_end = bytes.find("net(x)/") + 8, second_end = bytes.find("relu(b)/") + 9;
  for (size_t length = 0; length < bytes.size(); ++length) {
    INFO(length);
    const auto ir = try_read(bytes.substr(0, length));
    REQUIRE(ir.has_value() == (length >= first_end));
    if (!ir) {
      // Nothing, and a model of which only the version is there, end where a file may end.
      const bool ended = length == 0 || length == 2;
      CHECK(ir.error().code == (ended ? ErrorCode::kBadProtobuf : ErrorCode::kTruncated));
      CHECK(ir.error().offset == length);
      continue;
    }
    CHECK(ir->nodes.size() == (length >= second_end ? 2 : 1));
    CHECK(ir->facts.truncated);
    CHECK(ir->facts.truncated_at == length);
  }
}

TEST_CASE("what is not IR protobuf is refused with the reason") {
  const auto refusal = [](IrPbFault fault) {
    const auto result = try_read(build_faulty_ir_pb(fault));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kBadProtobuf);
    CHECK(result.error().offset.has_value());
    return result.error().message;
  };
  CHECK(refusal(IrPbFault::kEmptyFile) == "this is not an IR protobuf: there is no graph in it");
  CHECK(refusal(IrPbFault::kTextFile) == "this is not an IR protobuf: it begins with no model and no node");
  CHECK(refusal(IrPbFault::kNoGraph) == "this is not an IR protobuf: there is no graph in it");
  CHECK(refusal(IrPbFault::kNoOperators) == "this is not an IR protobuf: it begins with no model and no node");
  CHECK(refusal(IrPbFault::kNodesOfGarbage) == "this is not an IR protobuf: there is no operator in it");
  CHECK(refusal(IrPbFault::kGroup) == "a damaged field of the graph");
  CHECK(refusal(IrPbFault::kFieldZero) == "a damaged field of the graph");
  CHECK(refusal(IrPbFault::kLongVarint) == "a damaged field of the graph");
  CHECK(refusal(IrPbFault::kLengthPastGraph) == "a damaged field of the graph");
}

TEST_CASE("an empty graph in a model is a graph") {
  const auto ir = try_read(pb_number(1, 1) + pb_bytes(4, pb_bytes(2, "kernel_graph0")));
  REQUIRE(ir);
  CHECK(ir->nodes.empty());
}

TEST_CASE("types and values in one another without end are left out") {
  for (const IrPbFault fault : {IrPbFault::kDeepType, IrPbFault::kDeepValue}) {
    const auto ir = try_read(build_faulty_ir_pb(fault));
    REQUIRE(ir);
    CHECK(ir->nodes.size() == 2);
    CHECK(ir->problems.count() == 1);
  }
}

TEST_CASE("limits hold against graphs made to exhaust memory") {
  const auto too_large = [](const Result<IrGraph>& result) {
    return !result && result.error().code == ErrorCode::kTooLarge;
  };
  const std::string bytes = build_ir_pb(small_ir_pb());
  CHECK(too_large(try_read(bytes, {.max_file = bytes.size() - 1})));
  CHECK(try_read(bytes, {.max_file = bytes.size()}));
  CHECK(too_large(try_read(bytes, {.max_memory = 1000})));
  SECTION("one operator") {
    IrPbSpec spec = small_ir_pb();
    spec.nodes[0].scope.assign(size_t{17} << 20, 'x');
    const IrGraph ir = read(spec);
    CHECK(ir.nodes.size() == 1);
    CHECK(ir.problems.count() == 1);
  }
  SECTION("many of them") {
    const std::string node = pb_bytes(1, pb_bytes(2, "1") + pb_bytes(3, "A"));
    std::string graph;
    for (int i = 0; i < 200'000; ++i) graph += node;
    CHECK(too_large(try_read(pb_number(1, 1) + pb_bytes(4, graph), {.max_memory = uint64_t{8} << 20})));
  }
}

TEST_CASE("a graph that is the whole file is recognised by its first node") {
  IrPbSpec spec = small_ir_pb();
  CHECK_FALSE(find_ir_graph(build_ir_pb(spec)).value().bare);
  spec.bare = true;
  CHECK(find_ir_graph(build_ir_pb(spec)).value().bare);
  CHECK(find_ir_graph(build_ir_pb(spec).substr(0, 60)).value().bare);
  for (const std::string text : {"", "\n# IR entry: @g\n", "\x93NUMPY", "PK\x03\x04", "\x08\x01", "{\"a\": 1}"})
    CHECK_FALSE(find_ir_graph(text));
  const std::string op = pb_bytes(3, "A");
  CHECK(find_ir_graph(pb_bytes(1, op + pb_number(7, 1) + pb_bytes(10, "x"))).value().bare);
  for (const std::string& other : {pb_bytes(11, "x"), pb_number(2, 1), pb_bytes(7, "x")})
    CHECK_FALSE(find_ir_graph(pb_bytes(1, op + other)));
}

}  // namespace
}  // namespace msdump
