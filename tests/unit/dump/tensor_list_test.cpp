#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/containers.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/list_order.h"
#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/growth.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::list_dump;
using test::ListedDump;
using test::ScratchDir;

const std::string kNpy = build_faulty_npy(test::NpyFault::kNone);
constexpr const char* kHeader =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";

std::string file_name(const char* op, const char* time, const char* io_slot) {
  return std::string("Add.Default_") + op + ".0.0." + time + "." + io_slot + ".DefaultFormat.npy";
}

// "op io slot occurrence", by place in the list.
std::vector<std::string> rows(const ListedDump& dump) {
  std::vector<std::string> result;
  for (const TensorRecord& tensor : dump.tensors()) {
    result.push_back(std::string(tensor.name.op_name) + " " + std::string(name_of(tensor.name.io)) + " " +
                     std::string(tensor.name.slot) + " " + std::to_string(tensor.occurrence));
  }
  return result;
}

TEST_CASE("operators are listed by their first time stamp, inputs before outputs, slots as numbers") {
  const ScratchDir scratch;
  for (const char* io_slot : {"output.0", "input.10", "input.2"})
    scratch.write(file_name("b-op1", "1700000000000001", io_slot), kNpy);
  scratch.write(file_name("a-op2", "1700000000000009", "input.0"), kNpy);
  CHECK(rows(list_dump({scratch.path()})) ==
        std::vector<std::string>{"Default_b-op1 input 2 0", "Default_b-op1 input 10 0", "Default_b-op1 output 0 0",
                                 "Default_a-op2 input 0 0"});
}

TEST_CASE("sixty inputs of an operator are in the order of their numbers, in whatever order a table has them") {
  const ScratchDir scratch;
  std::vector<std::string> expected;
  std::string table = kHeader;
  for (int slot = 0; slot < 60; ++slot) {
    expected.push_back("Default_a-op1 input " + std::to_string(slot) + " 0");
    const std::string other = std::to_string(slot * 7 % 60);
    table += "Add,Default_a-op1,0,0,1700000000000001,input," + other + ",24,float32,\"[2,3]\",0,\n";
  }
  scratch.write("rank_0/Net/0/0/statistic.csv", table);
  CHECK(rows(list_dump({scratch.path()})) == expected);
}

TEST_CASE("runs of one operator inside a step are told apart by when they were") {
  const ScratchDir scratch;
  for (const char* time : {"1700000000000002", "1700000000000005"}) {
    scratch.write(file_name("a-op1", time, "input.0"), kNpy);
    scratch.write(file_name("a-op1", time, "output.0"), kNpy);
  }
  CHECK(rows(list_dump({scratch.path()})) ==
        std::vector<std::string>{"Default_a-op1 input 0 0", "Default_a-op1 output 0 0", "Default_a-op1 input 0 1",
                                 "Default_a-op1 output 0 1"});
}

TEST_CASE("operators of one time stand in the order of their names, numbers as numbers, however much these share") {
  const ScratchDir scratch;
  const char* const time = "1700000000000002";
  for (const char* op :
       {"scope_1_layer-op10", "scope_1_layer-op9", "scope_1_layer-op09", "scope_1", "scope_1_layer-op"})
    scratch.write(file_name(op, time, "output.0"), kNpy);
  scratch.write("Mul.Default_scope_1.0.0.1700000000000002.output.0.DefaultFormat.npy", kNpy);
  scratch.write(file_name("scope_1", time, "input.0"), kNpy);
  CHECK(rows(list_dump({scratch.path()})) ==
        std::vector<std::string>{"Default_scope_1 input 0 0", "Default_scope_1 output 0 0",
                                 "Default_scope_1 output 0 0", "Default_scope_1_layer-op output 0 0",
                                 "Default_scope_1_layer-op09 output 0 0", "Default_scope_1_layer-op9 output 0 0",
                                 "Default_scope_1_layer-op10 output 0 0"});
}

TEST_CASE("a run begins with its earliest tensor, whatever the order of the others is") {
  const ScratchDir scratch;
  scratch.write(file_name("a-op1", "1700000000000009", "input.0"), kNpy);
  scratch.write(file_name("a-op1", "1700000000000001", "output.0"), kNpy);
  scratch.write(file_name("b-op2", "1700000000000005", "input.0"), kNpy);
  scratch.write(file_name("a-op1", "1700000000000007", "output.0"), kNpy);
  CHECK(rows(list_dump({scratch.path()})) ==
        std::vector<std::string>{"Default_a-op1 input 0 0", "Default_a-op1 output 0 0", "Default_b-op2 input 0 0",
                                 "Default_a-op1 output 0 1"});
}

TEST_CASE("rows of a loop join the files with their time stamps, else those that are left in order") {
  const ScratchDir scratch;
  for (const char* time : {"1700000000000001", "1700000000000005", "1700000000000008"})
    scratch.write("rank_0/Net/0/0/" + file_name("a-op1", time, "output.0"), kNpy);
  std::string table = kHeader;
  for (const char* time : {"1700000000000005", "1700000000000003", "1700000000000004", "1700000000000006"})
    table += std::string("Add,Default/a-op1,0,0,") + time + ",output,0,24,float32,\"[2,3]\",0,\n";
  scratch.write("rank_0/Net/0/0/statistic.csv", table);
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 4);
  std::vector<uint64_t> offsets;
  for (const TensorRecord& tensor : dump.tensors()) {
    if (tensor.has_elements) offsets.push_back(tensor.row_offset);
  }
  const uint64_t row = (table.size() - std::string(kHeader).size()) / 4, first = std::string(kHeader).size();
  CHECK(offsets == std::vector<uint64_t>{first + row, first, first + 2 * row});
}

TEST_CASE("two files with all of one identity are both listed and marked") {
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/" + file_name("a-op1", "1700000000000002", "input.0"), kNpy);
  scratch.write("rank_0/Net/0/0/copy/" + file_name("a-op1", "1700000000000002", "input.0"), kNpy);
  const ListedDump dump = list_dump({scratch.path() / "rank_0/Net/0/0"});
  REQUIRE(dump.tensors().size() == 2);
  CHECK(dump.tensors()[0].occurrence == dump.tensors()[1].occurrence);
  CHECK(!dump.tensors()[0].claimed_twice);
  CHECK(dump.tensors()[1].claimed_twice);
}

TEST_CASE("a row of statistic.csv joins the file it is about, and stands alone where there is none") {
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/" + file_name("a-op1", "1700000000000002", "input.0"), kNpy);
  scratch.write("rank_0/Net/0/0/statistic.csv",
                std::string(kHeader) + "Add,Default_a-op1,0,0,1700000000000002,input,0,24,float32,\"[2,3]\",0,\n" +
                    "Add,Default_b-op1,0,0,1700000000000003,input,0,8,float16,\"[4]\",0,\n");
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 2);
  const TensorRecord &file = dump.tensors()[0], &row = dump.tensors()[1];
  CHECK(file.has_elements);
  CHECK(file.table != kNoId);
  CHECK(!row.has_elements);
  CHECK(row.name.op_name == "Default_b-op1");
  CHECK(row.name.dtype == DType::kFloat16);
  REQUIRE(row.shape != nullptr);
  CHECK(*row.shape == Shape{4});
}

TEST_CASE("a damaged file is one failure, and costs no other tensor") {
  const ScratchDir scratch;
  scratch.write(file_name("a-op1", "1700000000000002", "input.0"), kNpy);
  const std::string bad =
      scratch.write(file_name("b-op1", "1700000000000003", "input.0"), build_faulty_npy(test::NpyFault::kDataCut));
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.list.failures().size() == 1);
  CHECK(dump.list.failures()[0].path == bad);
  CHECK(dump.list.failures()[0].code == ErrorCode::kTruncated);
  CHECK(rows(dump).size() >= 1);
}

TEST_CASE("an optional input that was not given is not listed") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  test::TensorSpec absent;
  absent.part = test::TensorSpec::kInput;
  spec.tensors = {absent, test::input_of(DType::kFloat32, Format::kND, {3})};
  scratch.write("Add.Default_a-op1.0.0.1700000000000002", build_dump(spec));
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(dump.list.failures().empty());
  CHECK(rows(dump) == std::vector<std::string>{"Default/network-Net/Add-op1 input 1 0"});
}

// A dump.json with one good entry after `bad` ones that cannot be read.
std::vector<Error> failures_of_dump_json(int bad) {
  const ScratchDir scratch;
  std::string data;
  for (int i = 0; i < bad; ++i) data += "\"F.f." + std::to_string(i) + ".forward\": 7,\n";
  scratch.write("dump.json", R"({"task": "statistics", "level": "L1", "framework": "pytorch", "data": {)" + data +
                                 R"("F.g.0.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.int8",
                                 "shape": [2]}]}}})");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(rows(dump) == std::vector<std::string>{"F.g.0.forward output 0 0"});
  return dump.list.failures();
}

TEST_CASE("each bad entry of a dump.json is a failure, and very many are counted") {
  CHECK(failures_of_dump_json(0).empty());
  CHECK(failures_of_dump_json(2).size() == 2);
  const std::vector<Error> failures = failures_of_dump_json(1003);
  REQUIRE(failures.size() == ProblemList::kMost + 1);
  CHECK(failures.back().message == "983 more like these");
  CHECK(failures.back().path.ends_with("dump.json"));
}

TEST_CASE("of very many bad rows of a table the first are failures, and all are counted") {
  const ScratchDir scratch;
  std::string junk;
  for (int i = 0; i < 5000; ++i) junk += "x\n";
  scratch.write("a/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n" + junk);
  scratch.write("b/grad_reduced_0-1.csv", "vpp_stage,name,step,max\n" + junk);
  const ListedDump dump = list_dump({scratch.path()});
  const std::vector<Error>& failures = dump.list.failures();
  REQUIRE(failures.size() == 2 * (ProblemList::kMost + 1));
  for (const size_t last : {ProblemList::kMost, failures.size() - 1}) {
    CHECK(failures[last].message == "4980 more like these");
    CHECK(failures[last].code == ErrorCode::kBadCsv);
    CHECK(failures[last].path == failures[last - 1].path);
  }
}

TEST_CASE("parameters of a safetensors file are selected by name, wherever the file lies") {
  const ScratchDir scratch;
  scratch.write("rank_1/model.safetensors",
                test::safetensors_file("{" + test::safetensors_entry("b.weight", "F32", "[2]", 0, 8) + "," +
                                           test::safetensors_entry("a.bias", "BF16", "[2]", 8, 12) + "}",
                                       std::string(12, '\0')));
  const ListedDump all = list_dump({scratch.path()});
  CHECK(rows(all) == std::vector<std::string>{"a.bias parameter 0 0", "b.weight parameter 0 0"});
  CHECK(all.tensors()[0].name.op_type == "Parameter");
  CHECK(all.tensors()[0].name.dtype == DType::kBfloat16);
  CHECK(identity_of(all.index, all.tensors()[0]).rank == 1);
  SelectionOptions options;
  options.op = {"*.weight"};
  CHECK(rows(list_dump({scratch.path()}, Headers::kAll, 2, options)) ==
        std::vector<std::string>{"b.weight parameter 0 0"});
  options.rank = "0";
  CHECK(rows(list_dump({scratch.path()}, Headers::kAll, 2, options)).empty());
}

TEST_CASE("a dict that PyTorch saved holds parameters, unless the name of the file is an operator's") {
  using namespace test;
  const std::string state =
      build_pt({.pickle = pickle::whole(
                    pickle::dict({{pickle::text("model"), pickle::dict({{pickle::text("w"), tensor_call()}})}}))});
  const std::string list = build_pt({.pickle = pickle::whole(pickle::list({tensor_call(), tensor_call()}))});
  const auto rows_of = [](const std::string& name, const std::string& content) {
    const ScratchDir scratch;
    scratch.write(name, content);
    const ListedDump dump = list_dump({scratch.path()});
    std::vector<std::string> found = rows(dump);
    if (!found.empty()) found[0] += " " + std::string(dump.tensors()[0].name.op_type);
    return found;
  };
  using Rows = std::vector<std::string>;
  const Rows parameter = {"model.w parameter 0 0 Parameter"};
  for (const char* const name : {"m.pt", "m.pth", "m.bin", "m.ckpt", "pytorch_model-00001-of-00002.bin",
                                 "mp_rank_00_model_states.pt", "add_device_0.pt"})
    CHECK(rows_of(name, state) == parameter);
  CHECK(rows_of("step0/rank0/dump_tensor_data/Torch.mul.0.forward.output.0.pt", state) ==
        Rows{"Torch.mul.0.forward output model.w 0 mul"});
  CHECK(rows_of("add_device_0_0.pt", state) == Rows{"add output model.w 0 "});
  for (const char* const name : {"x.pt", "x.pth", "x.bin"}) {
    const Rows found = rows_of(name, list);
    REQUIRE(found.size() == 2);
    CHECK(found[0].starts_with(std::string(name).substr(0, std::string(name).find('.')) + " output 0 0"));
  }
  CHECK(rows_of("training_args.bin", build_faulty_pt(PtFault::kGlobalModule)).empty());
}

TEST_CASE("an object in a .bin is not a failure, one in a .pt or in a checkpoint by its name is") {
  using namespace test;
  const auto failures_of = [](const std::string& name, PtFault fault) {
    const ScratchDir scratch;
    scratch.write(name, build_faulty_pt(fault));
    return list_dump({scratch.path()}).list.failures().size();
  };
  CHECK(failures_of("training_args.bin", PtFault::kGlobalModule) == 0);
  CHECK(failures_of("other.bin", PtFault::kNoDataPickle) == 0);
  CHECK(failures_of("cut.bin", PtFault::kPickleCut) == 1);
  CHECK(failures_of("pytorch_model.bin", PtFault::kGlobalModule) == 1);
  CHECK(failures_of("adapter_model.bin", PtFault::kNoDataPickle) == 1);
  CHECK(failures_of("old.bin", PtFault::kOldForm) == 1);
  CHECK(failures_of("module.pt", PtFault::kGlobalModule) == 1);
}

TEST_CASE("parameters in a file that only its content explains are selected by name") {
  using namespace test;
  const ScratchDir scratch;
  scratch.write("m.bin", build_pt({.pickle = pickle::whole(pickle::dict(
                                       {{pickle::text("a"), tensor_call()}, {pickle::text("b"), tensor_call()}}))}));
  SelectionOptions options;
  options.op = {"b"};
  CHECK(rows(list_dump({scratch.path()}, Headers::kAll, 2, options)) == std::vector<std::string>{"b parameter 0 0"});
}

TEST_CASE("a damaged parameter is one failure, a damaged safetensors file another") {
  const ScratchDir scratch;
  scratch.write("one.safetensors", build_faulty_safetensors(test::SafetensorsFault::kOneCut));
  scratch.write("whole.safetensors", build_faulty_safetensors(test::SafetensorsFault::kOverlap));
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(rows(dump).size() == 2);
  REQUIRE(dump.list.failures().size() == 2);
  CHECK(dump.list.failures()[0].tensor == "b");
  CHECK(dump.list.failures()[1].path == scratch.file("whole.safetensors"));
}

TEST_CASE("the tensors of an FX graph are runs in the order of their dates, without arguments that are not tensors") {
  const ScratchDir scratch;
  test::NpySpec none;
  none.literal = test::npy_literal("|O", "()");
  const auto name = [](const char* node, const char* io_slot, const char* time) {
    return "worldsize1_global_rank0/graph_1/4/" + std::string(node) + "." + io_slot + ".2024012503111878" + time +
           ".npy";
  };
  scratch.write(name("mm-aten.mm.default", "INPUT.0", "7351"), kNpy);
  scratch.write(name("mm-aten.mm.default", "OUTPUT.0", "7351"), kNpy);
  scratch.write(name("cat-aten.cat.default", "INPUT.0.1", "7352"), kNpy);
  scratch.write(name("cat-aten.cat.default", "INPUT.1", "7352"), test::build_npy(none));
  scratch.write(name("add-aten.add.Tensor", "INPUT.0", "7353"), kNpy);
  for (const Headers headers : {Headers::kAll, Headers::kWhereNeeded}) {
    const ListedDump dump = list_dump({scratch.path()}, headers);
    CHECK(rows(dump) == std::vector<std::string>{"mm input 0 0", "mm output 0 0", "cat input 0.1 0", "add input 0 0"});
    CHECK(dump.tensors()[0].name.op_type == "aten.mm.default");
    CHECK(dump.tensors()[0].name.timestamp == "20240125031118787351");
    CHECK(dump.list.failures().empty());
  }
}

TEST_CASE("a file of torch_npu by the name .bin is read by its content") {
  const ScratchDir scratch;
  scratch.write("x_device_0_0.bin", test::build_pt());
  scratch.write("y_device_0_0.bin", "something else");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(rows(dump) == std::vector<std::string>{"x output 0 0"});
  CHECK(dump.list.foreign() == 1);
  CHECK(dump.list.failures().empty());
}

// runtime src/aicpu_sched/aicpu_schedule/core/dfx/dump_task.cpp: ProcessDumpStats.
TEST_CASE("statistics that CANN writes for one operator are rows of the operator in the file's name") {
  const ScratchDir scratch;
  scratch.write("20240102030405/2/model/1/3/MatMul.net_MatMul_1.5.7.1700000000003000.csv",
                "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,"
                "Negative Inf Count,Positive Inf Count\n"
                "Input,0,24,DT_FLOAT,ND,2x3,6,1,3.5,6,0,0,0\nOutput,1,4,DT_FLOAT16,NCHW,,1,1,1,1,0,0,0\n");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(dump.list.failures().empty());
  CHECK(rows(dump) == std::vector<std::string>{"net_MatMul_1 input 0 0", "net_MatMul_1 output 1 0"});
  const TensorRecord& input = dump.tensors()[0];
  CHECK(input.name.op_type == "MatMul");
  CHECK(input.name.task_id == 5);
  CHECK(input.name.timestamp == "1700000000003000");
  CHECK(input.name.dtype == DType::kFloat32);
  CHECK(*input.shape == Shape{2, 3});
  CHECK_FALSE(input.has_elements);
  CHECK(identity_of(dump.index, input).step == 3);
  CHECK(dump.tensors()[1].shape->empty());
}

// msprobe ccsrc/atb_probe/atb_probe.cpp: SaveTensor, GenLineStrforStatsCsv.
TEST_CASE("ATB tensors and the rows about others are listed by the operator's folders") {
  const ScratchDir scratch;
  const std::string run = "atb_dump_data/data/3_39943/1/";
  const std::string tensor =
      "$Version=1.0\n$Object.Count=1\n$Object.Length=8\nformat=2\ndtype=1\ndims=2,2\n"
      "$Object.data=0,8\n$End=1\n" +
      std::string(8, '\0');
  scratch.write(run + "5_Prefill_layer/0_Attention/before/intensor0.bin", tensor);
  scratch.write(run + "5_Prefill_layer/0_Attention/after/outtensor0.bin",
                "$Version=1.0\nformat=2\ndtype=1\ndims=2,2\ndata=5_0_intensor0.bin\n$End=1\n");
  const std::string row = "3_39943,1,Prefill_layer/Attention,Attention,5_0,input,";
  scratch.write(run + "statistic.csv",
                "Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,"
                "Mean,Norm,Tensor Path\n" +
                    row + "0,float16,nd,2x2,N/A,N/A,N/A,N/A,/x/" + run +
                    "5_Prefill_layer/0_Attention/before/intensor0.bin\n" + row + "1,bf16,nd,4,2,1,1.5,3,N/A\n" + row +
                    "2,bf16,nd,4,2,1,1.5,3,/x/" + run + "5_Prefill_layer/0_Attention/before/gone.bin\n");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(dump.list.failures().empty());
  const std::string op = "5_Prefill_layer/0_Attention input ";
  CHECK(rows(dump) == std::vector<std::string>{op + "0 0", op + "1 0", op + "2 0"});
  CHECK(dump.tensors()[0].has_elements);
  CHECK(dump.tensors()[0].name.op_type == "Attention");
  CHECK_FALSE(dump.tensors()[1].has_elements);
  CHECK(dump.tensors()[1].name.dtype == DType::kBfloat16);
  CHECK(identity_of(dump.index, dump.tensors()[0]).rank == 3);
  CHECK(identity_of(dump.index, dump.tensors()[0]).step == 1);
}

TEST_CASE("a tensor costs less than 200 bytes beside its name") { CHECK(sizeof(TensorRecord) < 200); }

// `count` tensors of one operator in a folder, and as many rows of the table there.
class Loop {
 public:
  Loop(size_t count, const std::string& time_of_tensors, const std::string& time_of_rows) {
    scratch_.write("Add.a.1.2.3.output.0.npy", test::build_npy({}));
    scratch_.write("statistic.csv", "");
    index_.emplace(DumpIndex::build({scratch_.path().string()}, {}).value());
    for (const bool row : {false, true}) {
      for (size_t i = 0; i < count; ++i) {
        times_.keep(std::to_string(i));
        TensorRecord tensor;
        tensor.file = tensor.table = FileId(index_->files()[0].kind == FileKind::kStatistic ? 0 : 1);
        tensor.name.op_type = "Add", tensor.name.op_name = "a", tensor.name.slot = "0";
        tensor.name.timestamp = times_.keep((row ? time_of_rows : time_of_tensors) + std::to_string(i));
        tensor.has_elements = !row;
        tensor.item = static_cast<uint32_t>(i);
        if (row) tensor.row_offset = i;
        if (!row) tensor.file = FileId(1 - tensor.file), tensor.table = kNoId;
        if (row) references_.push_back({tensors_.size(), {}});
        tensors_.push_back(tensor);
      }
    }
  }

  [[nodiscard]] std::vector<TensorRecord> joined() const {
    std::vector<TensorRecord> tensors = tensors_;
    join_tables(*index_, tensors, references_);
    return tensors;
  }

 private:
  test::ScratchDir scratch_;
  std::optional<DumpIndex> index_;
  TextArena times_;
  std::vector<TensorRecord> tensors_;
  std::vector<TableReference> references_;
};

TEST_CASE("rows whose time stamps fit no tensor are joined in order, and their cost does not grow with their square") {
  for (const TensorRecord& tensor : Loop(100, "1", "2").joined()) CHECK(tensor.table != kNoId);
  const auto make = [](size_t count) { return std::make_unique<Loop>(count, "1", "2"); };
  const auto run = [](const std::unique_ptr<Loop>& loop) { CHECK_FALSE(loop->joined().empty()); };
  CHECK(test::growth(1000, make, run) < test::kNotQuadratic);
}

TEST_CASE("rows of other times than the tensors before them leave these to their own rows") {
  // Rows 0, 1, ... of times 10, 11, ...; tensors of times 0, 1, ..., 19.
  const std::vector<TensorRecord> joined = Loop(20, "", "1").joined();
  // Row i of time "1i" fits tensor "1i" where there is one; the others take those that are left, in order.
  REQUIRE(joined.size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    CHECK(joined[i].table != kNoId);
    CHECK(joined[i].row_offset == (i < 10 ? i + 10 : i - 10));
  }
}

// The elements 0, 1, 2, .. of a shape, through a view.
class Viewed {
 public:
  explicit Viewed(const Shape& shape, std::string_view descr = "<f4") : dump_(test::list_dump({file(shape, descr)})) {}

  [[nodiscard]] Result<HostTensor> open(const TensorView& view) const {
    TensorRecord record = dump_.tensors().front();
    record.view = &view;
    return HostTensor::open(dump_.index, record, {});
  }
  [[nodiscard]] std::vector<float> read(const TensorView& view, int64_t piece) const {
    auto tensor = open(view);
    REQUIRE(tensor);
    CHECK(tensor->shape() == view.shape);
    std::vector<float> values(static_cast<size_t>(tensor->count()));
    for (int64_t at = 0; at < tensor->count(); at += piece) {
      const int64_t count = std::min(piece, tensor->count() - at);
      REQUIRE(tensor->read(at, count, reinterpret_cast<std::byte*>(&values[static_cast<size_t>(at)])));
    }
    return values;
  }

 private:
  std::string file(const Shape& shape, std::string_view descr) const {
    std::vector<float> values;
    for (int64_t i = 0; i < *element_count(shape); ++i) values.push_back(static_cast<float>(i));
    return scratch_.write(
        "a.npy", test::npy_of(descr, shape, {reinterpret_cast<const char*>(values.data()), values.size() * 4}));
  }

  test::ScratchDir scratch_;
  test::ListedDump dump_;
};

std::vector<float> expected(const TensorView& view) {
  std::vector<float> values;
  for (int64_t i = 0; i < view.count(); ++i) values.push_back(static_cast<float>(view.element(i)));
  return values;
}

}  // namespace

TEST_CASE("the elements of a view are read in its order, in pieces of any size") {
  const Viewed tensor({6, 5});
  const TensorView rows{{2, 5}, {{2, 5}, {5, 1}}, 10}, turned{{5, 6}, {{5, 1}, {6, 5}}, 0},
      groups{{4, 5}, {{2, 15}, {2, 5}, {5, 1}}, 5}, one{{1, 1}, {{1, 5}, {1, 1}}, 29};
  for (const TensorView* const view : {&rows, &turned, &groups, &one}) {
    for (const int64_t piece : {1, 4, 100}) CHECK(tensor.read(*view, piece) == expected(*view));
  }
  CHECK(tensor.open(rows)->direct());
  CHECK(!tensor.open(turned)->direct());
  CHECK(tensor.read(turned, 100)[1] == 5);
  CHECK(tensor.read(rows, 100)[0] == 10);
}

TEST_CASE("a large matrix is transposed in slabs") {
  const Viewed tensor({3000, 3000});
  const TensorView turned{{3000, 3000}, {{3000, 1}, {3000, 3000}}, 0};
  CHECK(tensor.read(turned, 1 << 17) == expected(turned));
}

TEST_CASE("a view of elements that a tensor does not have is an error") {
  const Viewed tensor({6, 5});
  CHECK(tensor.open({{2, 5}, {{2, 5}, {5, 1}}, 20}));
  const auto beyond = tensor.open({{2, 5}, {{2, 5}, {5, 1}}, 21});
  REQUIRE(!beyond);
  CHECK(beyond.error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("a view of elements that change places, or are narrower than a byte, is an error") {
  test::TensorSpec device =
      test::output_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, test::Dims{1, 16, 2, 2});
  device.data.assign(64 * 2, 'x');
  test::TensorSpec narrow = test::output_of(DType::kInt4, Format::kND, {64}, test::Dims{64});
  narrow.data.assign(32, 'x');
  test::TensorSpec plain = test::output_of(DType::kFloat16, Format::kND, {64}, test::Dims{64});
  plain.data.assign(64 * 2, 'x');
  for (const test::TensorSpec* const spec : {&device, &narrow, &plain}) {
    const test::ScratchDir scratch;
    const auto dump = test::list_dump(
        {scratch.write("Add.Default_Add-op1.1.2.1700000000000000", test::build_dump({.tensors = {*spec}}))});
    const TensorView view{{2, 5}, {{2, 5}, {5, 1}}, 10};
    TensorRecord record = dump.tensors().front();
    record.view = &view;
    const auto opened = HostTensor::open(dump.index, record, {});
    CHECK(opened.has_value() == (spec == &plain));
    if (!opened) CHECK(opened.error().code == ErrorCode::kShapeMismatch);
  }
}

TEST_CASE("a view is a run if its elements follow each other, whatever its axes are") {
  CHECK(view_of({2, 3}).is_run());
  CHECK(view_of({}).is_run());
  CHECK(view_of({2, 3}).last() == 5);
  CHECK(TensorView{{2, 1, 3}, {{2, 3}, {1, 77}, {3, 1}}, 4}.is_run());
  CHECK(!TensorView{{2, 3}, {{2, 4}, {3, 1}}, 0}.is_run());
  CHECK(!TensorView{{3, 2}, {{3, 1}, {2, 3}}, 0}.is_run());
}

}  // namespace msdump
