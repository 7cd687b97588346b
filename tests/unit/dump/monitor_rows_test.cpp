// Tables of msprobe's monitor in the list of tensors: a row has a step of its own.
#include <string>
#include <vector>

#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::list_dump;
using test::ListedDump;
using test::ScratchDir;
using Lines = std::vector<std::string>;

const std::string kFirst = "vpp_stage,name,step,max,min,shape,dtype\n";
const std::string kSecond = "vpp_stage,step,module_name,scope,max,min\n";

// "rR sS TYPE OP IO SLOT OCCURRENCE"
Lines monitored(const ListedDump& dump) {
  Lines lines;
  for (const TensorRecord& tensor : dump.tensors()) {
    const Identity identity = identity_of(dump.index, tensor);
    lines.push_back(fmt::format("r{} s{} {} {} {} {} {}", identity.rank.value_or(-1), identity.step.value_or(-1),
                                tensor.name.op_type, tensor.name.op_name, name_of(tensor.name.io), tensor.name.slot,
                                tensor.occurrence));
  }
  return lines;
}

TEST_CASE("rows are in the order of rank and step, whatever file they stand in") {
  const ScratchDir scratch;
  scratch.write(
      "Nov23_15-50-51-rank1-04eb6adc/grad_reduced_0-1.csv",
      kFirst + "0,b.weight,1,1,0,[2],torch.float32\n0,a.weight,0,1,0,[2],torch.float32\n0,b.weight,0,1,0,,\n");
  scratch.write("Nov23_15-50-51-rank1-04eb6adc/actv_0-1.csv", kFirst + "0,a.input,1,1,0,,\n0,a.output,0,1,0,,\n");
  scratch.write("Nov23_15-50-51-rank0-04eb6adc/actv_0-1.csv", kFirst + "0,.input,1,1,0,,\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r0 s1 actv . input 0 0", "r1 s0 actv a output 0 0", "r1 s0 grad_reduced a.weight parameter 0 0",
              "r1 s0 grad_reduced b.weight parameter 0 0", "r1 s1 actv a input 0 0",
              "r1 s1 grad_reduced b.weight parameter 0 0"});
}

TEST_CASE("micro steps are runs of one step, and stages of a model have names of their own") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/actv_0-0.csv",
                "vpp_stage,name,step,micro_step,max\n0,a.input,0,0,1\n0,a.input,0,1,1\n1,a.input,0,0,1\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r0 s0 actv 1:a input 0 0", "r0 s0 actv a input 0 0", "r0 s0 actv a input 0 1"});
}

TEST_CASE("monitor_v2 names what was monitored in each row") {
  const ScratchDir scratch;
  scratch.write(
      "rank_3/optimizer_step0-9.csv",
      kSecond + "-1,4,w.exp_avg,exp_avg,1,0\n-1,4,w.exp_avg_sq,exp_avg_sq,1,0\n1,4,1:w.exp_avg,exp_avg,1,0\n");
  scratch.write("rank_3/module_step0-9.csv", kSecond + "-1,4,fc.grad_output.1,backward,1,0\n-1,4,odd,,1,0\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r3 s4 exp_avg 1:w parameter 0 0", "r3 s4 backward fc input 1 0", "r3 s4 module odd output 0 0",
              "r3 s4 exp_avg w parameter 0 0", "r3 s4 exp_avg_sq w parameter 0 0"});
}

TEST_CASE("a row has the shape and dtype that its table says, and no bytes") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/grad_reduced_0-0.csv", kFirst + "0,w,0,1,0,\"[2, 3]\",torch.bfloat16\n");
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 1);
  const TensorRecord& tensor = dump.tensors()[0];
  REQUIRE(tensor.shape);
  CHECK(*tensor.shape == Shape{2, 3});
  CHECK(tensor.name.dtype == DType::kBfloat16);
  CHECK_FALSE(tensor.has_elements);
  CHECK_FALSE(tensor.bytes);
}

TEST_CASE("--step selects rows, and --rank and --op do") {
  const ScratchDir scratch;
  for (const char* const rank : {"0", "1"})
    scratch.write(std::string("t-rank") + rank + "-00000000/grad_reduced_0-1.csv",
                  kFirst + "0,a,0,1,0,,\n0,b,1,1,0,,\n0,a,1,1,0,,\n");
  const auto chosen = [&](const SelectionOptions& options) {
    return monitored(list_dump({scratch.path()}, Headers::kAll, 2, options));
  };
  SelectionOptions step, rank, op;
  step.step = "1";
  step.rank = "1";
  CHECK(chosen(step) == Lines{"r1 s1 grad_reduced a parameter 0 0", "r1 s1 grad_reduced b parameter 0 0"});
  op.op = {"b"};
  CHECK(chosen(op) == Lines{"r0 s1 grad_reduced b parameter 0 0", "r1 s1 grad_reduced b parameter 0 0"});
  rank.rank = "5";
  CHECK(chosen(rank).empty());
}

TEST_CASE("a table of another kind under such a name is one failure, a bad row costs no other") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/grad_reduced_0-1.csv", "a,b\n1,2\n");
  scratch.write("t-rank0-00000000/param_origin_0-1.csv", kFirst + "0,a,x,1,0,,\n0,b,1,1,0,,\n");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(monitored(dump) == Lines{"r0 s1 param_origin b parameter 0 0"});
  CHECK(dump.list.failures().size() == 2);
}

TEST_CASE("the distribution of a tensor follows it into its file") {
  const ScratchDir scratch;
  const std::string leaf = R"({"type":"torch.distributed.tensor.DTensor","dtype":"torch.float32","shape":[2],)"
                           R"("placements":[{"Shard":{"dim":0}}])";
  scratch.write("step0/rank0/dump.json",
                R"({"task":"tensor","level":"L1","dump_data_dir":"x","data":{"Torch.f.0.forward":)"
                R"({"output":[)" +
                    leaf + R"(,"data_name":"Torch.f.0.forward.output.0.npy"},)" + leaf + R"(}]}}})");
  scratch.write("step0/rank0/dump_tensor_data/Torch.f.0.forward.output.0.npy", test::npy_of("<f4", {2}, "abcdefgh"));
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 2);
  CHECK(dump.tensors()[0].has_elements);
  for (const TensorRecord& tensor : dump.tensors()) {
    REQUIRE(tensor.distribution != nullptr);
    CHECK(*tensor.distribution == R"j({"placements":["Shard(0)"]})j");
  }
}

}  // namespace
}  // namespace msdump
