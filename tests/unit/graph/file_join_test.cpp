#include "graph/join/file_join.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::find_operator;
using test::graph_of;
using test::ir_text;
using test::node_text;
using test::ScratchDir;

const std::string kNpy = build_faulty_npy(test::NpyFault::kNone);

// A dump of files with these operator names, all outputs of graph 0.
struct Dump {
  ScratchDir scratch;
  test::ListedDump listed;

  explicit Dump(const std::vector<std::string>& type_and_names) : listed(list(scratch, type_and_names)) {}
  static test::ListedDump list(const ScratchDir& scratch, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      scratch.write("rank_0/Net/0/0/" + name + ".0.0.1700000000000001.output.0.DefaultFormat.npy", kNpy);
    return test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  }
  [[nodiscard]] FileJoin join(const OpGraph& graph) const {
    return FileJoin(std::make_shared<const TensorGroups>(listed.index, listed.tensors(), graph), graph, {});
  }
};

OpGraph graph(const std::vector<std::pair<const char*, const char*>>& type_and_names) {
  std::string body;
  for (size_t i = 0; i < type_and_names.size(); ++i)
    body += node_text("%" + std::to_string(i), type_and_names[i].first, "%para1_x", type_and_names[i].second);
  return graph_of({{"rank_0/graphs/ms_output_trace_code_graph_0.ir", ir_text(body)}});
}

const JoinPair& only_pair(const FileJoin& join, const OpGraph& graph, const char* name) {
  const auto pairs = join.pairs_of(find_operator(graph, name));
  REQUIRE(pairs.size() == 1);
  return pairs.front();
}

TEST_CASE("a whole name joins, with '_' where the IR has '/'") {
  const OpGraph ops = graph({{"Conv2D", "Default/net-Net/conv.1/Conv2D-op0"}});
  const Dump dump({"Conv2D.Default_net-Net_conv_1_Conv2D-op0"});
  const FileJoin join = dump.join(ops);
  const JoinPair& pair = only_pair(join, ops, "Default/net-Net/conv.1/Conv2D-op0");
  CHECK(pair.rule == JoinRule::kFullName);
  CHECK(pair.confidence == 1);
  CHECK(join.matched_operators() == 1);
}

TEST_CASE("op1 is not op10") {
  const OpGraph ops = graph({{"Add", "Default/Add-op1"}, {"Add", "Default/Add-op10"}});
  const FileJoin join = Dump({"Add.Default_Add-op10"}).join(ops);
  CHECK(join.pairs_of(find_operator(ops, "Default/Add-op1")).empty());
  CHECK(join.pairs_of(find_operator(ops, "Default/Add-op10")).size() == 1);
}

TEST_CASE("the last part joins where it is all the file has, and type decides between several") {
  const OpGraph ops =
      graph({{"Conv2D", "Default/a/Conv2D-op12"}, {"Mul", "Default/a/x-op3"}, {"Add", "Default/b/x-op3"}});
  const Dump dump({"Conv2D.Conv2D-op12", "Add.x-op3"});
  const FileJoin join = dump.join(ops);
  CHECK(only_pair(join, ops, "Default/a/Conv2D-op12").rule == JoinRule::kLastComponent);
  CHECK(only_pair(join, ops, "Default/b/x-op3").rule == JoinRule::kTypeDecided);
  CHECK(join.pairs_of(find_operator(ops, "Default/a/x-op3")).empty());
}

TEST_CASE("when nothing decides all candidates are named, with little confidence") {
  const OpGraph ops = graph({{"Add", "Default/a/Add-op3"}, {"Add", "Default/b/Add-op3"}});
  const FileJoin join = Dump({"Add.Add-op3"}).join(ops);
  CHECK(only_pair(join, ops, "Default/a/Add-op3").rule == JoinRule::kAmbiguous);
  CHECK(only_pair(join, ops, "Default/b/Add-op3").confidence == Approx(0.15));
}

TEST_CASE("a fused operator joins to all of its parts, a name with a suffix to the one it begins with") {
  const OpGraph ops =
      graph({{"BiasAdd", "Default/conv/BiasAdd-op5"}, {"ReLU", "Default/relu/ReLU-op6"}, {"Cast", "Default/Cast-op7"}});
  const Dump dump({"BiasAddRelu.Default_conv_BiasAdd-op5Default_relu_ReLU-op6", "Cast.Default_Cast-op7trans_Cast_0"});
  const FileJoin join = dump.join(ops);
  CHECK(only_pair(join, ops, "Default/conv/BiasAdd-op5").rule == JoinRule::kFused);
  CHECK(only_pair(join, ops, "Default/relu/ReLU-op6").rule == JoinRule::kFused);
  CHECK(only_pair(join, ops, "Default/Cast-op7").rule == JoinRule::kDerived);
}

TEST_CASE("a file with the name of an operator that another was made of is that other's") {
  const OpGraph ops = graph_of({{"rank_0/graphs/ms_output_trace_code_graph_0.ir",
                                 ir_text("  %0(CNode_0) = FusionOp(%para1_x) cnode_attrs: {_datadump_original_names: "
                                         "(Default/a/Add-op1, Default/b/Mul-op2)}\n"
                                         "      : (<Tensor[Float32], (2, 2)>) -> (<Tensor[Float32], (2, 2)>)\n"
                                         "      # Fullname with scope: (Default/FusionOp-op7)\n")}});
  const FileJoin join = Dump({"Mul.Default_b_Mul-op2"}).join(ops);
  CHECK(only_pair(join, ops, "Default/FusionOp-op7").rule == JoinRule::kFused);
}

TEST_CASE("a name that was cut off joins if it is the beginning of only one") {
  const std::string scope(60, 'a');
  const OpGraph ops = graph({{"Add", ("Default/" + scope + "/Add-op1").c_str()}});
  const FileJoin join = Dump({"Add.Default_" + scope + "_Add"}).join(ops);
  CHECK(join.pairs_of(OpId(0)).size() == 1);
  CHECK(join.pairs_of(OpId(0))[0].rule == JoinRule::kCut);
}

TEST_CASE("a whole name that is not in the IR does not match as the beginning of another") {
  const std::string scope(60, 'a');
  const OpGraph ops = graph({{"Add", ("Default/" + scope + "/Add-op12").c_str()}});
  const FileJoin join = Dump({"Add.Default_" + scope + "_Add-op1"}).join(ops);
  CHECK(join.pairs_of(OpId(0)).empty());
}

TEST_CASE("spellings of one name are one group, another rank's are another") {
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                "Add,Default/a.b/Add-op1,0,0,1700000000000001,input,0,8,float32,\"(2)\",1\n"
                "Add,Default_a_b_Add-op1,0,0,1700000000000002,output,0,8,float32,\"(2)\",1\n"
                "Parameter,Default_a_b_Add-op1,0,0,1700000000000002,output,0,8,float32,\"(2)\",1\n");
  scratch.write("rank_1/Net/0/0/Add.Default_a_b_Add-op1.0.0.1700000000000001.output.0.DefaultFormat.npy", kNpy);
  const test::ListedDump listed = test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  const OpGraph ops = graph_of({{"any.ir", ir_text(node_text("%0", "Add", "%para1_x", "Default/a.b/Add-op1"))}});
  const TensorGroups groups(listed.index, listed.tensors(), ops);
  REQUIRE(groups.all().size() == 3);
  CHECK(groups.all()[0].rank == 0);
  CHECK(groups.tensors_of(groups.all()[0]).size() == 2);
  std::vector<uint32_t> named;
  groups.for_each_named("Default_a_b_Add-op1", name_hash("Default_a_b_Add-op1"),
                        [&](uint32_t group) { named.push_back(group); });
  CHECK(named == std::vector<uint32_t>{0, 1, 2});
  CHECK(groups.places().size() == 2);
}

TEST_CASE("a name of a hundred thousand numbers is looked at once") {
  std::string name = "Default_Add-op1";
  for (int i = 0; i < 100'000; ++i) name += "-op1_2";
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                "Add," +
                    name + ",0,0,1700000000000001,output,0,8,float32,\"(2)\",1\n");
  const test::ListedDump listed = test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  const OpGraph ops = graph({{"Add", "Default/Add-op1"}});
  const FileJoin join(std::make_shared<const TensorGroups>(listed.index, listed.tensors(), ops), ops, {});
  CHECK(only_pair(join, ops, "Default/Add-op1").rule == JoinRule::kDerived);
}

TEST_CASE("many operators of one name cost no product of both sides") {
  std::string body;
  for (int i = 0; i < 500; ++i) body += node_text("%" + std::to_string(i), "Add", "%para1_x", "Default/Add-op1");
  const OpGraph ops = graph_of({{"rank_0/graphs/ms_output_trace_code_graph_0.ir", ir_text(body)}});
  const FileJoin join = Dump({"Add.Default_Add-op1"}).join(ops);
  CHECK(join.pairs().size() < 100);
  CHECK(!join.pairs_of(OpId(0)).empty());
}

TEST_CASE("files of two dumps given together belong to the operators of their own IR") {
  const ScratchDir scratch;
  for (const char* run : {"one", "two"}) {
    scratch.write(
        std::string(run) + "/rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000001.output.0.DefaultFormat.npy", kNpy);
    scratch.write(
        std::string(run) + "/rank_0/graphs/ms_output_trace_code_graph_0.ir",
        ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op1", {std::string("/u/") + run + ".py:3, 1~2/a"})));
  }
  const test::JoinedDump dump = test::join_dump(scratch.path());
  REQUIRE(dump.graph().size() == 2);
  for (OpId op{0}; op < 2; ++op) {
    const std::string run = dump.graph().origin(op).path.find("/one/") != std::string::npos ? "one/" : "two/";
    const auto files = dump.files_of(op);
    REQUIRE(files.size() == 1);
    CHECK(files[0].substr(0, 4) == run);
  }
}

TEST_CASE("another graph's files are another graph's") {
  const OpGraph ops = graph_of({{"rank_0/graphs/ms_output_trace_code_graph_7.ir",
                                 ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op1"))}});
  const FileJoin join = Dump({"Add.Default_Add-op1"}).join(ops);
  CHECK(join.matched_operators() == 0);
  CHECK(join.reason(OpId{0}).find("no tensor of its graph") != std::string::npos);
  CHECK(join.reason(join.groups()[0]) == "there is no IR of its graph");
}

TEST_CASE("parameters and constants belong to no operator") {
  const OpGraph ops = graph({{"Add", "Default/Add-op1"}});
  const Dump dump({"Parameter.w", "Parameter.data-3", "Parameter.unknown"});
  const FileJoin join = dump.join(ops);
  for (const TensorGroup& group : join.groups()) {
    INFO(group.op_name);
    CHECK((join.rule_of(group) == JoinRule::kParameter) == (group.op_name != "unknown"));
    CHECK(!join.reason(group).empty());
  }
  CHECK(join.groups_of_parameter(0, 1).size() == 1);
}

TEST_CASE("each of forty operators has its own file, once") {
  std::vector<std::string> names, files;
  for (int i = 0; i < 40; ++i) {
    names.push_back("Default/Add-op" + std::to_string(i));
    files.push_back("Add.Default_Add-op" + std::to_string(i));
  }
  std::vector<std::pair<const char*, const char*>> operators;
  for (const std::string& name : names) operators.emplace_back("Add", name.c_str());
  const OpGraph ops = graph(operators);
  const Dump dump(files);
  const FileJoin join = dump.join(ops);
  for (const std::string& name : names) {
    INFO(name);
    const JoinPair& pair = only_pair(join, ops, name.c_str());
    CHECK(std::string(join.groups()[pair.group].op_name) == "Default_" + name.substr(8));
  }
}

TEST_CASE("a file whose name begins with the names of two operators belongs to the longer one") {
  const OpGraph ops = graph({{"Add", "Default/Add-op1"}, {"Mul", "Default/Add-op1/Mul-op2"}});
  const Dump dump({"Mul.Default_Add-op1_Mul-op2_part"});
  const FileJoin join = dump.join(ops);
  CHECK(only_pair(join, ops, "Default/Add-op1/Mul-op2").rule == JoinRule::kDerived);
  CHECK(join.pairs_of(find_operator(ops, "Default/Add-op1")).empty());
}

TEST_CASE("an IR of no rank has the parameters of every rank") {
  const OpGraph ops =
      graph_of({{"graph_build_0_0001.ir", ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op1"))}});
  const ScratchDir scratch;
  for (const char* const name :
       {"rank_0/Net/0/0/Parameter.x", "rank_0/Net/0/0/Parameter.w", "rank_1/Net/0/0/Parameter.w"})
    scratch.write(std::string(name) + ".0.0.1700000000000001.output.0.DefaultFormat.npy", kNpy);
  const test::ListedDump listed = test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  const FileJoin join(std::make_shared<const TensorGroups>(listed.index, listed.tensors(), ops), ops, {});
  const auto ranks_of = [&](uint32_t parameter) {
    std::vector<std::optional<int64_t>> ranks;
    for (const uint32_t group : join.groups_of_parameter(0, parameter)) ranks.push_back(join.groups()[group].rank);
    return ranks;
  };
  CHECK(ranks_of(0) == std::vector<std::optional<int64_t>>{0});
  CHECK(ranks_of(1) == std::vector<std::optional<int64_t>>{0, 1});
  CHECK(ranks_of(2).empty());
}

}  // namespace
}  // namespace msdump
