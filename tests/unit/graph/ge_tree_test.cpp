// Graphs of GE as the operators of a dump: found, joined to files, with MindSpore's lines.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "graph/flow/data_flow.h"
#include "graph/join/numbering.h"
#include "graph/lines/line_search.h"
#include "graph/lines/source_lines.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/ge_builder.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::GeDesc;
using test::GeNet;
using test::GeOp;
using test::ScratchDir;
using Strings = std::vector<std::string>;

GeDesc vector_desc(const std::string& origin = {}) {
  GeDesc desc;
  desc.shape = {4};
  desc.origin_name = origin;
  return desc;
}

GeOp ge_op(std::string name, std::string type, Strings inputs, size_t in, size_t out) {
  GeOp op;
  op.name = std::move(name);
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  op.in.assign(in, vector_desc());
  op.out.assign(out, vector_desc());
  return op;
}

LoadedGraph load(const std::vector<std::string>& paths) {
  const auto search = find_ir(nullptr, paths);
  REQUIRE(search);
  WorkerPool pool(2);
  const CancelToken cancel;
  auto loaded = load_graph(search->files, {}, {pool, cancel});
  REQUIRE(loaded);
  return std::move(*loaded);
}

std::string edge_text(const OpGraph& graph, OpId op) {
  std::string text;
  for (const InputEdge& edge : inputs_of(graph, op)) {
    text += fmt::format("{}{}=", text.empty() ? "" : " ", edge.slot);
    switch (edge.from) {
      case InputEdge::From::kOperator: text += fmt::format("{}:{}", graph.full_name(edge.op), edge.output); break;
      case InputEdge::From::kParameter:
        text += "@" + std::string(graph.ir(op).text(graph.ir(op).parameters[edge.parameter].name));
        break;
      case InputEdge::From::kConstant: text += "constant"; break;
      case InputEdge::From::kUnknown: text += "?"; break;
    }
  }
  return text;
}

TEST_CASE("the data flow of GE is its operands, without absent ones and control edges") {
  const ScratchDir scratch;
  GeNet net{"net", {ge_op("x", "Data", {""}, 1, 1), ge_op("c", "Const", {}, 0, 1)}};
  net.ops.push_back(ge_op("split", "Split", {"c:0", "x:0"}, 2, 3));
  GeOp add = ge_op("add", "Add", {"split:2", "", "split:0", "c:0", "x:-1"}, 4, 1);
  add.in[1] = test::absent_desc();
  net.ops.push_back(add);
  const LoadedGraph loaded = load({scratch.write("any.txt", test::ge_proto_text({net}))});
  const OpGraph& graph = loaded.graph;
  REQUIRE(graph.size() == 4);
  CHECK(graph.origins()[0].kind == OriginKind::kGeGraph);
  CHECK(edge_text(graph, OpId(3)) == "0=split:2 1=split:0 2=constant");
  CHECK(edge_text(graph, OpId(2)) == "0=constant 1=@x");
  const OutputReads reads(graph);
  CHECK(reads.is_read(OpId(2), 0));
  CHECK_FALSE(reads.is_read(OpId(2), 1));
  CHECK(reads.is_read(OpId(2), 2));
}

TEST_CASE("the data flow goes into sub-graphs and out of them") {
  const ScratchDir scratch;
  GeOp call = ge_op("call", "PartitionedCall", {"before:0", "x:0"}, 2, 2);
  call.subgraphs = {"sub"};
  GeOp first = ge_op("p0", "Data", {}, 0, 1), second = ge_op("p1", "Data", {}, 0, 1);
  first.parent_index = 0;
  second.parent_index = 1;
  const std::vector<GeNet> nets = {{"root",
                                    {ge_op("x", "Data", {}, 0, 1), ge_op("before", "Neg", {"x:0"}, 1, 1), call,
                                     ge_op("after", "Sub", {"call:1", "call:0"}, 2, 1)}},
                                   {"sub",
                                    {first, second, ge_op("inner", "Add", {"p1:0", "p0:0"}, 2, 1),
                                     ge_op("out", "NetOutput", {"inner:0", "p0:0"}, 2, 0)}}};
  const LoadedGraph loaded = load({scratch.write("g.txt", test::ge_proto_text(nets))});
  const OpGraph& graph = loaded.graph;
  CHECK(edge_text(graph, test::find_operator(graph, "inner")) == "0=@x 1=before:0");
  CHECK(edge_text(graph, test::find_operator(graph, "after")) == "0=before:0 1=inner:0");
}

TEST_CASE("two operators that run each other's graphs end nowhere") {
  const ScratchDir scratch;
  GeOp a = ge_op("a", "PartitionedCall", {"b:0"}, 1, 1), b = ge_op("b", "PartitionedCall", {"a:0"}, 1, 1);
  a.subgraphs = {"B"};
  b.subgraphs = {"A"};
  GeOp user = ge_op("user", "Neg", {"a:0"}, 1, 1);
  GeOp data = ge_op("d", "Data", {}, 0, 1);
  data.parent_index = 0;
  const std::vector<GeNet> nets = {
      {"A", {data, a, user, ge_op("o", "NetOutput", {"a:0"}, 1, 0)}},
      {"B", {data, ge_op("b2", "PartitionedCall", {"d:0"}, 1, 1), b, ge_op("o", "NetOutput", {"b:0"}, 1, 0)}}};
  const LoadedGraph loaded = load({scratch.write("g.txt", test::ge_proto_text(nets))});
  CHECK(edge_text(loaded.graph, test::find_operator(loaded.graph, "user")).starts_with("0="));
}

Strings found_in(const ScratchDir& scratch, const std::string& dump) {
  const auto index = DumpIndex::build({scratch.file(dump)}, {});
  REQUIRE(index);
  const auto search = find_ir(&*index, {});
  REQUIRE(search);
  Strings names;
  for (const IrFile& file : search->files) names.push_back(file.path.substr(scratch.path().string().size() + 1));
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("the executed graph of GE is found in the dump and beside it") {
  const std::string file = "20260101000000/0/net/1/0/Neg.Neg.1.2.1700000000000001";
  const std::string text = test::ge_proto_text({{"g", {ge_op("Neg", "Neg", {}, 0, 1)}}});
  for (const std::string folder : {"", "dump/", "pid_12_deviceid_0/", "extra-info/graph/", "ge_graphs/x/"}) {
    const ScratchDir scratch;
    scratch.write("dump/" + file, "x");
    scratch.write(folder + "ge_proto_00000003_Build.txt", text);
    scratch.write(folder + "ge_onnx_00000003_graph_0_Build.pbtxt", text);
    scratch.write(folder + "ge_proto_00000001_PreRunBegin.txt", text);
    scratch.write(folder + "ge_proto_00000009_AfterBuild.txt", text);
    CHECK(found_in(scratch, "dump") == Strings{folder + "ge_proto_00000003_Build.txt"});
  }
  const ScratchDir scratch;
  scratch.write("dump/" + file, "x");
  scratch.write("ge_proto_00000003_PreRunBegin.txt", text);
  scratch.write("ge_proto_00000007_PreRunAfter.txt", text);
  scratch.write("somewhere/ge_proto_00000003_Build.txt", text);
  CHECK(found_in(scratch, "dump") == Strings{"ge_proto_00000007_PreRunAfter.txt"});
  // Of several graphs each is executed.
  scratch.write("ge_proto_00000004_Build.txt", text);
  scratch.write("ge_proto_00000008_Build.txt", text);
  CHECK(found_in(scratch, "dump") == Strings{"ge_proto_00000004_Build.txt", "ge_proto_00000008_Build.txt"});
  // With an IR, which gives the lines; that of the dump alone is enough.
  scratch.write("rank_0_graphs/graph_build_0_0001.ir", test::ir_text(test::node_text("%0", "Neg", "%para1_x", "Neg")));
  CHECK(found_in(scratch, "dump") ==
        Strings{"ge_proto_00000004_Build.txt", "ge_proto_00000008_Build.txt", "rank_0_graphs/graph_build_0_0001.ir"});
  CHECK(ir_file_of_name("a/pid_77_deviceid_5/ge_proto_00000004_Build.txt")->rank == 5);
}

// A net as MindSpore has it (lines 10 to 13 of net.py), as GE runs it, and the dump of one step, with values that were
// computed: y = relu(x * w) in one kernel between two TransData, z = -y.
struct O2Tree {
  ScratchDir scratch;
  std::string mul = "Default/net-Net/Mul-op3", relu = "Default/net-Net/act-ReLU/ReLU-op4",
              neg = "Default/net-Net/Neg-op7";

  void write_ir() const {
    using test::node_text;
    const auto line = [](int number, const std::string& code) {
      return fmt::format("/home/user/net.py:{}, 8~20/{}", number, code);
    };
    scratch.write("rank_0_graphs/graph_build_0_0009.ir",
                  test::ir_text(node_text("%0", "Mul", "%para1_x, %para2_w", mul, {line(10, "y = x * self.w")}) +
                                node_text("%1", "ReLU", "%0", relu, {line(11, "y = self.act(y)")}) +
                                node_text("%2", "Abs", "%1", "Default/net-Net/Abs-op5", {line(12, "y = abs(y)")}) +
                                node_text("%3", "Neg", "%2", neg, {line(13, "return -y")})));
  }

  void write_graph() const {
    GeOp in = ge_op("trans_TransData_0", "TransData", {"x:0"}, 1, 1);
    in.originals = Strings{};
    GeOp fused = ge_op(mul + relu, "Mul", {"trans_TransData_0:0", "w:0"}, 2, 1);
    fused.originals = Strings{mul, relu};
    fused.out[0] = vector_desc(relu);
    const GeNet net{
        "net_0",
        {ge_op("x", "Data", {""}, 1, 1), ge_op("w", "Variable", {}, 0, 1), in, fused,
         ge_op(neg, "Neg", {mul + relu + ":0"}, 1, 1), ge_op("Node_Output", "NetOutput", {neg + ":0"}, 1, 0)}};
    scratch.write("pid_8_deviceid_0/ge_proto_00000002_Build.txt", test::ge_proto_text({net}));
  }

  static test::TensorSpec tensor(test::TensorSpec::Part part, const std::vector<float>& values,
                                 const std::string& original = {}) {
    test::TensorSpec spec =
        part == test::TensorSpec::kInput
            ? test::input_of(DType::kFloat32, Format::kND, {values.size()}, test::Dims{values.size()})
            : test::output_of(DType::kFloat32, Format::kND, {values.size()}, test::Dims{values.size()});
    spec.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    spec.original_op = original;
    return spec;
  }

  void write_dump() const {
    using Part = test::TensorSpec::Part;
    const std::vector<float> x = {1, -2, 3, -4}, w = {0.5F, 2, -1, -3};
    std::vector<float> y, z;
    for (size_t i = 0; i < x.size(); ++i) {
      y.push_back(std::max(0.0F, x[i] * w[i]));
      z.push_back(-y.back());
    }
    const auto write = [&](const std::string& type, const std::string& name, int task,
                           std::vector<test::TensorSpec> tensors) {
      std::string flat = name;
      std::replace(flat.begin(), flat.end(), '/', '_');
      test::DumpSpec spec;
      spec.op_name = name;
      spec.tensors = std::move(tensors);
      scratch.write(fmt::format("dump/20260101000000/0/net/1/0/{}.{}.{}.3.170000000000000{}", type, flat, task, task),
                    test::build_dump(spec));
    };
    write("TransData", "trans_TransData_0", 1, {tensor(Part::kInput, x), tensor(Part::kOutput, x)});
    write("Mul", mul + relu, 2, {tensor(Part::kInput, x), tensor(Part::kInput, w), tensor(Part::kOutput, y, relu)});
    write("Neg", neg, 3, {tensor(Part::kInput, y), tensor(Part::kOutput, z, neg)});
  }
};

TEST_CASE("a dump of GE has the operators of GE's graph, and MindSpore's lines") {
  O2Tree tree;
  tree.write_ir();
  tree.write_graph();
  tree.write_dump();
  const test::JoinedDump dump = test::join_dump(tree.scratch.file("dump"), Headers::kAll);
  CHECK(dump.loaded->failures.empty());
  const OpGraph& graph = dump.graph();
  REQUIRE(graph.origins().size() == 1);  // the IR is that of the same net
  CHECK(graph.origins()[0].rank == 0);
  const OpId fused = test::find_operator(graph, tree.mul + tree.relu), neg = test::find_operator(graph, tree.neg);
  CHECK(dump.files_of(fused).size() == 1);
  CHECK(dump.files_of(neg).size() == 1);
  CHECK(dump.files_of(test::find_operator(graph, "trans_TransData_0")).size() == 1);
  for (const JoinPair& pair : dump.join().pairs()) CHECK(pair.confidence == 1);

  // The bytes say that the edges have the right slots.
  const ValueComparer comparer(dump.dump.index, dump.dump.tensors());
  size_t edges = 0;
  for (const OpId op : {fused, neg}) {
    for (const ProofEdge& edge : proof_edges(dump.dump.tensors(), dump.dump.index, graph, dump.join(), op)) {
      CHECK(comparer.compare(edge.input_tensor, edge.output_tensor) == Agreement::kEqual);
      ++edges;
    }
  }
  CHECK(edges == 2);

  REQUIRE(best_frame(graph, neg) != nullptr);
  CHECK(best_frame(graph, neg)->line == 13);
  CHECK(best_frame(graph, neg)->kind == FrameKind::kOwn);
  REQUIRE(best_frame(graph, fused) != nullptr);
  CHECK(best_frame(graph, fused)->kind == FrameKind::kCandidate);
  CHECK(best_frame(graph, test::find_operator(graph, "trans_TransData_0")) == nullptr);
  const auto hits = [&](uint32_t line) {
    std::string text;
    for (const LineHit& hit : find_line(graph, {"net.py", line, line}))
      text += fmt::format("{}:{} ", graph.op_type(hit.op), name_of(hit.relation));
    return text;
  };
  CHECK(hits(10) == "Mul:fused ");
  CHECK(hits(11) == "Mul:fused ");
  CHECK(hits(12).empty());
  CHECK(hits(13) == "Neg:direct ");
}

TEST_CASE("the original operator of an output is read from the dump file") {
  O2Tree tree;
  tree.write_dump();
  const test::ListedDump dump = test::list_dump({tree.scratch.file("dump")});
  Strings originals;
  for (const TensorRecord& tensor : dump.tensors()) {
    if (tensor.original != nullptr) originals.emplace_back(tensor.original->op);
    CHECK((tensor.original == nullptr || tensor.name.io == Io::kOutput));
  }
  std::sort(originals.begin(), originals.end());
  CHECK(originals == Strings{tree.neg, tree.relu});
}

TEST_CASE("an IR of another net stays a graph of its own") {
  O2Tree tree;
  tree.write_graph();
  const std::string other =
      tree.scratch.write("other.ir", test::ir_text(test::node_text("%0", "Neg", "%para1_x", "Default/other/Neg-op1")));
  const LoadedGraph loaded = load({tree.scratch.file("pid_8_deviceid_0"), other});
  CHECK(loaded.graph.origins().size() == 2);
  CHECK(loaded.parsed == 7);
}

TEST_CASE("torchair's Python gives the lines of a graph of GE") {
  const ScratchDir scratch;
  scratch.write("dump/20260101000000/0/net/1/0/Neg.Neg_1.1.2.1700000000000001", "x");
  scratch.write("ge_proto_00000001_Build.txt",
                test::ge_proto_text({{"g", {ge_op("x", "Data", {}, 0, 1), ge_op("net/Neg_1", "Neg", {"x:0"}, 1, 1)}}}));
  for (const int rank : {0, 1}) {
    scratch.write(fmt::format("dynamo_optimized_graph_1_rank_{}_pid_9_ts_3.py", rank),
                  "import torchair\n# File \"/home/user/net.py\", line 23, in forward\n# y = -x\n"
                  "Neg_1 = ge.Neg(x, node_name=\"net/Neg_1\")\n");
  }
  CHECK(found_in(scratch, "dump").size() == 3);
  const LoadedGraph loaded = load({scratch.path().string()});
  CHECK(loaded.failures.empty());
  REQUIRE(loaded.graph.origins().size() == 1);
  const OpId neg = test::find_operator(loaded.graph, "net/Neg_1");
  REQUIRE(best_frame(loaded.graph, neg) != nullptr);
  CHECK(best_frame(loaded.graph, neg)->line == 23);
  CHECK(best_frame(loaded.graph, neg)->code == "y = -x");
}

TEST_CASE("of two ranks each graph of GE has the lines of its own") {
  O2Tree tree;
  tree.write_graph();
  const auto write_ir = [&](int rank, int line) {
    return tree.scratch.write(
        fmt::format("rank_{}/graph_build_0_0001.ir", rank),
        test::ir_text(test::node_text("%0", "Neg", "%para1_x", tree.neg, {fmt::format("/net.py:{}, 1~2/z", line)}) +
                      test::node_text("%1", "Mul", "%para1_x", tree.mul, {fmt::format("/net.py:{}, 1~2/z", line)})));
  };
  const LoadedGraph loaded = load({write_ir(1, 21), write_ir(0, 20), tree.scratch.file("pid_8_deviceid_0")});
  REQUIRE(loaded.graph.origins().size() == 2);
  const OpGraph& graph = loaded.graph;
  const uint32_t ge = graph.origins()[0].kind == OriginKind::kGeGraph ? 0 : 1;
  for (OpId op = graph.origins()[ge].first_operator; op < graph.size(); ++op) {
    if (graph.full_name(op) == tree.neg && graph.origin_index(op) == ge) CHECK(best_frame(graph, op)->line == 20);
  }
}

TEST_CASE("damage of a graph of GE is reported with its line") {
  O2Tree tree;
  tree.write_graph();
  const std::string path = tree.scratch.file("pid_8_deviceid_0/ge_proto_00000002_Build.txt");
  std::string text = test::read_bytes(path);
  text.resize(text.size() * 3 / 4);
  tree.scratch.write("cut.txt", text);
  const LoadedGraph loaded = load({tree.scratch.file("cut.txt")});
  CHECK(std::any_of(loaded.failures.begin(), loaded.failures.end(), [](const Error& failure) {
    return failure.message.starts_with("line ") &&
           failure.message.find("the file ends inside operator") != std::string::npos;
  }));
  CHECK(loaded.parsed < loaded.expected);
}

}  // namespace
}  // namespace msdump
