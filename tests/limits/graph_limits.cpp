// Graphs: many operators, tuples that many read, calls in calls, heads that never close, stacks that many share; alone and
// with the statistics of a dump.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"
#include "support/ge_builder.h"
#include "support/ir_pb_builder.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::string_view kHead =
    "# IR entry: @kernel_graph_0\n# Total subgraphs: 1\n\n# Total params: 1\n# Params:\n"
    "%para1_x : <Tensor[Float32], (4)>\n\n"
    "subgraph attr:\nsubgraph instance: kernel_graph_0 : 0x55d0c0ffee00\nsubgraph @kernel_graph_0() {\n";
constexpr std::string_view kType = "<Tensor[Float32], (4)>";

fs::path ir_in(const fs::path& folder) { return folder / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.ir"; }

// Node `number` of type `type`; `inputs` as they stand between the brackets.
void add_node(std::string& text, int64_t number, std::string_view type, std::string_view inputs) {
  text += fmt::format(
      "  %{0}([CNode]{0}) = {1}({2}) {{instance name: n}}\n      : ({3}) -> ({3})\n"
      "      # Fullname with scope: (Default/net-Net/layer{0}/{1}-op{0})\n"
      "      # In file /home/user/net.py:{4}/        x = self.f(x)/\n",
      number, type, inputs, kType, 1 + number % 1000);
}

void add_return(std::string& text, int64_t number) {
  text += fmt::format("  Return(%{})\n      : ({})\n}}\n", number, kType);
}

// One row an operator; every `wrong`-th has another value.
void write_rows(const fs::path& dump, int64_t operators, std::string_view type, int64_t wrong = 0) {
  write_pieces(dump / "rank_0" / "Net" / "0" / "0" / "statistic.csv", operators, [&](std::string& text, int64_t i) {
    if (i == 0) {
      text +=
          "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,"
          "L2Norm Value\n";
    }
    const bool is_wrong = wrong > 0 && i % wrong == wrong - 1;
    for (const std::string_view io : {"input", "output"}) {
      const bool is_output = io == "output";
      text += fmt::format("{0},Default_net-Net_layer{1}_{0}-op{1},0,0,{2},{3},0,16,float32,\"(4)\",{4},-1,{4},\n", type,
                          i, 1'700'000'000'000'000 + i, io,
                          static_cast<double>(i + (is_output ? 1 : 0)) + (is_wrong && is_output ? 0.5 : 0));
    }
  });
}

// Each reads the one before it.
void write_chain(const fs::path& path, int64_t operators) {
  write_pieces(path, operators, [&](std::string& text, int64_t i) {
    if (i == 0) text += kHead;
    add_node(text, i, "Add", i == 0 ? "%para1_x, %para1_x" : fmt::format("%{}, %para1_x", i - 1));
    if (i + 1 == operators) add_return(text, i);
  });
}

// A third of the nodes are put into one tuple, which each of another third reads.
void write_fan(const fs::path& path, int64_t operators) {
  write_pieces(path, operators, [&](std::string& text, int64_t i) {
    const int64_t elements = operators / 2;
    if (i == 0) text += kHead;
    if (i < elements) {
      add_node(text, i, "Add", "%para1_x, %para1_x");
    } else if (i == elements) {
      std::string all;
      for (int64_t element = 0; element < elements; ++element)
        all += fmt::format("{}%{}", element > 0 ? ", " : "", element);
      add_node(text, i, "MakeTuple", all);
    } else {
      add_node(text, i, "AddN", fmt::format("%{}", elements));
    }
    if (i + 1 == operators) add_return(text, i);
  });
}

// Tuples of tuples: each holds the one before it.
void write_nested(const fs::path& path, int64_t operators) {
  write_pieces(path, operators, [&](std::string& text, int64_t i) {
    if (i == 0) text += kHead;
    if (i % 2 == 0) {
      add_node(text, i, "MakeTuple", i == 0 ? "%para1_x, %para1_x" : fmt::format("%{}, %{}", i - 1, i - 1));
    } else {
      add_node(text, i, "Depend", fmt::format("%{}, %{}", i - 1, i - 1));
    }
    if (i + 1 == operators) add_return(text, i);
  });
}

// Of a graph alone.
std::vector<Command> of_ir(const std::string& ir, const Bound& bound, int found = 0) {
  return {{{"info", ir}, bound},
          {{"map-ir", "--ir", ir}, bound, found},
          {{"map-ir", "--ir", ir, "--all", "--jsonl"}, bound},
          {{"map-ir", "--ir", ir, "--dot"}, kOfDrawing},
          {{"find-op", "--line", "net.py:5", "--ir", ir}, bound, found},
          {{"find-op", "--code", "self.f", "--ir", ir}, bound, found}};
}

// And of a graph that lies in a dump.
std::vector<Command> of_tree(const Bound& bound, int map_ir_exit) {
  return {{{"map-ir", "-d", "@/a"}, bound, map_ir_exit},
          {{"find-op", "--line", "net.py:5", "-d", "@/a"}, bound},
          {{"check", "@/a"}, bound, 1},
          {{"check", "@/a", "--first"}, bound},
          {{"diff", "@/a", "@/a"}, bound},
          {{"diff", "@/b", "@/a"}, bound, 1}};
}

void write_tree(const fs::path& folder, int64_t operators, std::string_view type,
                const std::function<void(const fs::path&, int64_t)>& write_ir) {
  for (const std::string side : {"a", "b"}) {
    write_rows(folder / side, operators, type, side == "b" ? 10 : 0);
    write_ir(ir_in(folder / side), operators);
  }
}

}  // namespace

TEST_CASE("an IR of many operators costs a fixed amount an operator") {
  check_growth(
      "a chain of operators", 10'000,
      [](const fs::path& folder, int64_t operators) { write_chain(folder / "a_0.ir", operators); },
      of_ir("@/a_0.ir", kOfOperator));
  check_growth(
      "a chain in a dump", 5'000,
      [](const fs::path& folder, int64_t operators) { write_tree(folder, operators, "Add", write_chain); },
      of_tree(kOfOperator, 0));
}

// Each reads the one before it; with attributes that nobody needs.
void write_ge_chain(const fs::path& path, int64_t operators) {
  write_pieces(path, operators, [&](std::string& text, int64_t i) {
    if (i == 0) text += "graph {\n  name: \"net\"\n";
    test::GeOp op;
    op.name = fmt::format("Default/net-Net/layer{0}/Add-op{0}", i);
    op.type = "Add";
    if (i > 0) op.inputs = {fmt::format("Default/net-Net/layer{0}/Add-op{0}:0", i - 1)};
    op.originals = {{op.name, fmt::format("Default/net-Net/layer{}/ReLU-op1", i)}};
    op.in.resize(i > 0 ? 1 : 0);
    op.out.resize(1);
    text += test::ge_proto_op(op);
    if (i + 1 == operators) text += "}\n";
  });
}

TEST_CASE("a graph of GE of many operators costs a fixed amount an operator") {
  check_growth("a chain of GE", 5'000,
               [](const fs::path& folder, int64_t operators) {
                 write_ge_chain(folder / "ge_proto_00000001_Build.txt", operators);
               },
               {{{"map-ir", "--ir", "@/ge_proto_00000001_Build.txt", "--csv"}, kOfOperator, 0},
                {{"info", "@/ge_proto_00000001_Build.txt"}, kOfOperator, 0}});
}

TEST_CASE("what nobody needs of a graph of GE takes no memory") {
  check_growth("kernels", 8 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 const std::string kernel(size_t{1} << 20, 'x');
                 write_repeated(folder / "ge_proto_00000001_Build.txt",
                                "op {\n name: \"a\"\n type: \"Add\"\n attr {\n key: \"kernel\"\n value {\n",
                                "bt: \"" + kernel + "\"\n", bytes / static_cast<int64_t>(kernel.size()));
               },
               {{{"info", "@/ge_proto_00000001_Build.txt"}, kOfStream, 3}});
}

TEST_CASE("a tuple that many operators read is not copied for each") {
  check_growth(
      "a fan", 2'000, [](const fs::path& folder, int64_t operators) { write_fan(folder / "a_0.ir", operators); },
      of_ir("@/a_0.ir", kOfOperator));
  check_growth(
      "a fan in a dump", 2'000,
      [](const fs::path& folder, int64_t operators) { write_tree(folder, operators, "Add", write_fan); },
      of_tree(kOfOperator, 1));
}

TEST_CASE("tuples in tuples cost what there are of them") {
  check_growth(
      "nested tuples", 4'000,
      [](const fs::path& folder, int64_t operators) { write_nested(folder / "a_0.ir", operators); },
      of_ir("@/a_0.ir", kOfOperator, 1));
}

TEST_CASE("a head that does not end costs what its bytes are") {
  check_growth("an open head", kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 const std::string line = std::string(16'000, '(') + "\n";
                 write_repeated(folder / "a_0.ir", std::string(kHead) + "  %0([CNode]0) = Add(\n", line,
                                bytes / 16'001);
               },
               {{{"info", "@/a_0.ir"}, kOfIrByte, 0},
                {{"map-ir", "--ir", "@/a_0.ir"}, kOfIrByte, 3},
                {{"find-op", "--line", "a.py:1", "--ir", "@/a_0.ir"}, kOfIrByte, 3}});
  check_growth("one long line", 8 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 write_repeated(folder / "a_0.ir", std::string(kHead) + "  %0([CNode]0) = Add(", "(", bytes);
               },
               {{{"info", "@/a_0.ir"}, kOfStream}, {{"map-ir", "--ir", "@/a_0.ir"}, kOfStream, 3}});
  check_growth("one operator of many lines", kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 std::string text(kHead);
                 add_node(text, 0, "Add", "%para1_x, %para1_x");
                 write_repeated(folder / "a_0.ir", text, "      # In file /a/b.py:7/ x = f(x)/\n", bytes / 36,
                                fmt::format("  Return(%0)\n      : ({})\n}}\n", kType));
               },
               {{{"info", "@/a_0.ir"}, kOfIrByte},
                {{"map-ir", "--ir", "@/a_0.ir"}, kOfIrByte},
                {{"find-op", "--line", "b.py:7", "--ir", "@/a_0.ir"}, kOfIrByte}});
}

TEST_CASE("a stack that many operators share is read once") {
  check_growth(
      "names and frames", 1'000,
      [](const fs::path& folder, int64_t units) {
        const fs::path rank = folder / "step0" / "rank0";
        write_text(rank / "dump.json",
                   R"({"task":"statistics","level":"L1","framework":"mindspore","dump_data_dir":null,"data":{}})");
        std::string names, frames;
        for (int64_t i = 0; i < units; ++i) {
          const std::string_view comma = i == 0 ? "" : ",";
          names += fmt::format("{}\"Functional.relu.{}.forward\"", comma, i);
          frames += fmt::format("{}\"File /home/user/net.py, line {}, in construct, \\n x = relu(x)\"", comma, 10 + i);
        }
        write_text(rank / "stack.json", fmt::format(R"({{"0":[[{}],[{}]]}})", names, frames));
      },
      {{{"info", "@/step0/rank0/stack.json"}, kOfOperator}, {{"map-ir", "-d", "@"}, kOfOperator, 1}});
}

TEST_CASE("an IR protobuf of many nodes costs a fixed amount a node") {
  check_growth("nodes", 10'000,
               [](const fs::path& folder, int64_t nodes) {
                 test::IrPbSpec spec;
                 spec.parameters = {{"x", test::pb_tensor_type(11, {2, 3})}};
                 for (int64_t i = 0; i < nodes; ++i) {
                   spec.nodes.push_back({.name = fmt::format("CNode{}", i),
                                         .op_type = "Add",
                                         .scope = "Default/net-Net",
                                         .full_name = fmt::format("Default/net-Net/Add-op{}", i),
                                         .inputs = {i == 0 ? "x" : fmt::format("CNode{}", i - 1), "x"}});
                 }
                 write_text(folder / "a_0.pb", test::build_ir_pb(spec));
               },
               {{{"info", "@/a_0.pb"}, kOfOperator},
                {{"map-ir", "--ir", "@/a_0.pb"}, kOfOperator},
                {{"map-ir", "--ir", "@/a_0.pb", "--dot"}, kOfOperator}});
  check_growth("inputs of one node", 50'000,
               [](const fs::path& folder, int64_t inputs) {
                 test::IrPbSpec spec;
                 spec.parameters = {{"x", test::pb_tensor_type(11, {2, 3})}};
                 spec.nodes.push_back({.name = "CNode0",
                                       .op_type = "AddN",
                                       .scope = "Default",
                                       .full_name = "Default/AddN-op0",
                                       .inputs = std::vector<std::string>(static_cast<size_t>(inputs), "x")});
                 write_text(folder / "a_0.pb", test::build_ir_pb(spec));
                 test::IrPbSpec dims = spec;
                 dims.nodes[0].inputs = {"x"};
                 dims.nodes[0].output_type =
                     test::pb_tensor_type(11, std::vector<int64_t>(static_cast<size_t>(inputs), 1));
                 write_text(folder / "b_0.pb", test::build_ir_pb(dims));
               },
               {{{"info", "@/a_0.pb"}, kOfOperator},
                {{"map-ir", "--ir", "@/a_0.pb"}, kOfOperator},
                {{"map-ir", "--ir", "@/a_0.pb", "--dot"}, kOfOperator},
                {{"map-ir", "--ir", "@/b_0.pb"}, kOfOperator}});
}

}  // namespace msdump::limits
