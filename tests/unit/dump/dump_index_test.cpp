#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dump/index/dump_index.h"
#include "dump/layouts/family.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;
using Names = std::vector<std::string>;

constexpr const char* kAdd = "Add.Default_Add-op1.1.2.1700000000000000";
constexpr const char* kHash = "71502983415062987341509827364518";

DumpIndex index_of(const std::vector<std::string>& paths, const IndexOptions& options = {}) {
  auto index = DumpIndex::build(paths, options);
  REQUIRE(index);
  return std::move(*index);
}

std::string good_dump() { return build_faulty_dump(test::DumpFault::kNone); }

const IndexedFile& file_of(const DumpIndex& index, const std::string& name) {
  for (const IndexedFile& file : index.files()) {
    if (file.name == name) return file;
  }
  FAIL("no file " << name);
  return index.files().front();
}

Names relative_paths(const DumpIndex& index) {
  Names names;
  for (const IndexedFile& file : index.files()) names.push_back(index.relative_path_of(file));
  return names;
}

TEST_CASE("the identity of a tensor comes from its folder and its name") {
  const ScratchDir scratch;
  scratch.write(std::string("rank_3/Net/1/20/") + kAdd, good_dump());
  const DumpIndex index = index_of({scratch.path().string()});
  REQUIRE(index.files().size() == 1);
  const IndexedFile& file = index.files()[0];
  CHECK(index.identity_of(file).rank == 3);
  CHECK(index.identity_of(file).graph == 1);
  CHECK(index.identity_of(file).step == 20);
  CHECK(file.facts.op_type == "Add");
  CHECK(file.facts.op_name == "Default_Add-op1");
  CHECK(file.facts.task_id == 1);
  CHECK(file.facts.stream_id == 2);
  CHECK(file.facts.timestamp == "1700000000000000");
  CHECK(file.family == &ascend_family());
  CHECK_FALSE(file.by_content);
  CHECK(index.folder_of(file) == "rank_3/Net/1/20");
  CHECK(index.path_of(file) == scratch.file(std::string("rank_3/Net/1/20/") + kAdd));
}

TEST_CASE("an index may start at any level of a tree or at a file") {
  const ScratchDir scratch;
  const std::string path = scratch.write(std::string("rank_3/Net/1/20/") + kAdd, good_dump());
  for (const char* level : {"rank_3", "rank_3/Net/1", "rank_3/Net/1/20", "rank_3/Net/1/../1/20/"}) {
    const DumpIndex index = index_of({scratch.file(level)});
    CHECK(index.identity_of(index.files().at(0)).rank == 3);
    CHECK(index.identity_of(index.files().at(0)).step == 20);
  }
  const DumpIndex single = index_of({path});
  CHECK(single.identity_of(single.files().at(0)).step == 20);
  CHECK(single.path_of(single.files()[0]) == path);
  CHECK(single.relative_path_of(single.files()[0]) == kAdd);
  CHECK(single.folder_of(single.files()[0]).empty());
}

TEST_CASE("rows come by rank and graph and step and time whatever the folders are called") {
  const ScratchDir scratch;
  for (const char* name :
       {"rank_10/Net/0/0/A.x.1.2.1700000000000002", "rank_2/Net/0/10/A.x.1.2.1700000000000001",
        "rank_2/Net/0/9/A.x.1.2.1700000000000009", "rank_2/Net/0/9/Z.x.1.2.1700000000000003",
        "rank_2/Alone/1/0/A.x.1.2.1700000000000000",
        "rank_2/Net/0/constants/Parameter.w.0.0.1700000000000001.output.0.DefaultFormat.npy", "other"}) {
    scratch.write(name, "");
  }
  CHECK(relative_paths(index_of({scratch.path().string()})) ==
        Names{"rank_2/Net/0/9/Z.x.1.2.1700000000000003", "rank_2/Net/0/9/A.x.1.2.1700000000000009",
              "rank_2/Net/0/10/A.x.1.2.1700000000000001",
              "rank_2/Net/0/constants/Parameter.w.0.0.1700000000000001.output.0.DefaultFormat.npy",
              "rank_2/Alone/1/0/A.x.1.2.1700000000000000", "rank_10/Net/0/0/A.x.1.2.1700000000000002", "other"});
}

TEST_CASE("time stamps of any length are in order, and files without one come last") {
  const ScratchDir scratch;
  for (const char* name :
       {"0.npy", "A.a.1.2.99999999999999999999999", "A.b.1.2.33333333333333333333333", "A.c.1.2.1700000000000000"}) {
    scratch.write(name, "");
  }
  CHECK(relative_paths(index_of({scratch.path().string()})) == Names{"A.c.1.2.1700000000000000",
                                                                     "A.b.1.2.33333333333333333333333",
                                                                     "A.a.1.2.99999999999999999999999", "0.npy"});
}

TEST_CASE("a path given twice counts once") {
  const ScratchDir scratch;
  const std::string path = scratch.write(std::string("a/") + kAdd, good_dump());
  CHECK(index_of({path, path, scratch.file("a/../a/") + kAdd}).files().size() == 1);
  CHECK(index_of({scratch.file("a"), scratch.file("a/")}).paths().size() == 1);
}

TEST_CASE("two names of one file are two files, and one name spelled twice is one") {
  const ScratchDir scratch;
  const std::string first = scratch.write("a.npy", build_faulty_npy(test::NpyFault::kNone)),
                    second = scratch.file("b.npy");
  fs::create_hard_link(first, second);
  fs::create_symlink(first, scratch.file("link.npy"));
  CHECK(relative_paths(index_of({first, second})) == Names{"a.npy", "b.npy"});
  CHECK(relative_paths(index_of({first, scratch.file("./a.npy"), scratch.file("link.npy")})) == Names{"a.npy"});
}

TEST_CASE("a path that does not exist is an error of the whole") {
  const ScratchDir scratch;
  const auto index = DumpIndex::build({scratch.path().string(), scratch.file("none")}, {});
  REQUIRE_FALSE(index);
  CHECK(index.error().code == ErrorCode::kNotFound);
  CHECK(index.error().path == scratch.file("none"));
}

TEST_CASE("names in dump_tensor_data are msprobe's, the same names elsewhere are paths") {
  const ScratchDir scratch;
  const char* name = "Cell.fc1.Dense.forward.0.parameters.weight.npy";
  scratch.write(std::string("step2/rank1/dump_tensor_data/") + name, test::build_npy({}));
  scratch.write(std::string("arrays/layer/") + name, test::build_npy({}));
  const DumpIndex index = index_of({scratch.path().string()});
  REQUIRE(index.files().size() == 2);
  const IndexedFile& msprobe = index.files()[0];
  CHECK(index.identity_of(msprobe).rank == 1);
  CHECK(index.identity_of(msprobe).step == 2);
  CHECK(msprobe.facts.op_name == "Cell.fc1.Dense.forward.0");
  CHECK(msprobe.facts.op_type == "Dense");
  CHECK(msprobe.facts.io == Io::kParameter);
  CHECK(msprobe.facts.slot == "weight");
  const IndexedFile& foreign = index.files()[1];
  CHECK(foreign.facts.op_name == "arrays/layer/Cell.fc1.Dense.forward.0.parameters.weight");
  CHECK(foreign.facts.slot == "0");
}

TEST_CASE("an array of msaccucmp has its slot and its time in the name") {
  const ScratchDir scratch;
  scratch.write("layer/net.conv1.3.1700000000000001.npy", test::build_npy({}));
  scratch.write("layer/net.conv1.x.1700000000000001.npy", test::build_npy({}));
  scratch.write("layer/3.1700000000000001.npy", test::build_npy({}));
  const DumpIndex index = index_of({scratch.path().string()});
  const NameFacts& named = file_of(index, "net.conv1.3.1700000000000001.npy").facts;
  CHECK(named.op_name == "net.conv1");
  CHECK(named.slot == "3");
  CHECK(named.timestamp == "1700000000000001");
  for (const char* stem : {"net.conv1.x.1700000000000001", "3.1700000000000001"}) {
    const NameFacts& other = file_of(index, std::string(stem) + ".npy").facts;
    CHECK(other.op_name == std::string("layer/") + stem);
    CHECK(other.slot == "0");
    CHECK(other.timestamp.empty());
  }
}

TEST_CASE("an array whose float32 were bfloat16 is known by its name, or by the dump.json above it") {
  const ScratchDir scratch;
  scratch.write("Add.Default_Add-op0.0.0.1733905446819790.output.0.DefaultFormat.bfloat16.npy", test::build_npy({}));
  const DumpIndex by_name = index_of({scratch.path().string()});
  const auto named = by_name.open_tensors(by_name.files()[0]);
  REQUIRE(named);
  CHECK(named->tensors.at(0).original_dtype == DType::kBfloat16);

  const ScratchDir run;
  const std::string data = "step0/rank0/dump_tensor_data/Functional.relu.0.forward.output.0.npy";
  run.write(data, test::build_npy({}));
  run.write("step0/rank0/dump.json",
            R"({"task":"tensor","level":"L1","framework":"mindspore","dump_data_dir":null,"data":
    {"Functional.relu.0.forward":{"input_args":[{"type":"mindspore.Tensor","dtype":"Float32","shape":[2,3]}],
    "output":[{"type":"mindspore.Tensor","dtype":"BFloat16","shape":[2,3],"Max":1.0,
    "Min":0.0,"Mean":0.5,"Norm":1.0,"data_name":"Functional.relu.0.forward.output.0.npy"}]}}})");
  for (const char* entry : {"step0/rank0/dump_tensor_data", data.c_str()}) {
    const DumpIndex index = index_of({run.file(entry)});
    const auto opened = index.open_tensors(index.files().at(0));
    REQUIRE(opened);
    CHECK(opened->tensors.at(0).original_dtype == DType::kBfloat16);
  }
}

TEST_CASE("what dump.json does not say of an array, debug.json may") {
  const ScratchDir run;
  run.write("step0/rank0/dump_tensor_data/a.npy", test::build_npy({}));
  const auto json = [](const std::string& entry, const std::string& more) {
    return R"({"task":"tensor","level":"L1","framework":"mindspore","dump_data_dir":null,"data":{")" + entry +
           R"(":{"output":[{"type":"mindspore.Tensor","shape":[2,3],"data_name":"a.npy")" + more + "}]}}}";
  };
  run.write("step0/rank0/dump.json", json("Functional.relu.0.forward", ""));
  run.write("step0/rank0/debug.json", json("Functional.relu.0.forward", R"(,"dtype":"BFloat16")"));
  const DumpIndex index = index_of({run.file("step0/rank0/dump_tensor_data")});
  const auto opened = index.open_tensors(index.files().at(0));
  REQUIRE(opened);
  CHECK(opened->tensors.at(0).original_dtype == DType::kBfloat16);
}

TEST_CASE("files are given to the family of their name") {
  const ScratchDir scratch;
  for (const char* name : {kAdd, "x.npy", "Add-op1_output_0_shape_2_Float32_DefaultFormat.bin", "statistic.csv",
                           "notes", "a.bin", "w.pt", "w.pth", "dump.json", "debug.json", "mapping.csv", "stack.json",
                           "Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND.BF16"}) {
    scratch.write(name, "");
  }
  const DumpIndex index = index_of({scratch.path().string()});
  CHECK(file_of(index, kAdd).family == &ascend_family());
  CHECK(file_of(index, "x.npy").family == &npy_family());
  CHECK(file_of(index, "Add-op1_output_0_shape_2_Float32_DefaultFormat.bin").family == &raw_bin_family());
  CHECK(file_of(index, "Add-op1_output_0_shape_2_Float32_DefaultFormat.bin").facts.op_type == "Add");
  CHECK(file_of(index, "Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND.BF16").family == &raw_family());
  CHECK(file_of(index, "statistic.csv").family == &statistic_family());
  CHECK(file_of(index, "dump.json").family == &dump_json_family());
  CHECK(file_of(index, "debug.json").family == &debug_json_family());
  CHECK(file_of(index, "w.pt").family == &pt_family());
  CHECK_FALSE(file_of(index, "w.pt").by_content);
  CHECK(file_of(index, "w.pth").by_content);
  CHECK(file_of(index, "mapping.csv").family == nullptr);
  CHECK(file_of(index, "mapping.csv").kind == FileKind::kMapping);
  CHECK(file_of(index, "stack.json").kind == FileKind::kStackJson);
  CHECK(file_of(index, "notes").by_content);
  CHECK(file_of(index, "a.bin").by_content);
}

TEST_CASE("a name on disk that is a hash is resolved by the mapping.csv beside it") {
  const ScratchDir scratch;
  scratch.write(std::string("a/") + kHash, good_dump());
  scratch.write("a/1804289383.npy", test::build_npy({}));
  scratch.write("a/mapping.csv",
                std::string(kHash) + "," + kAdd + "\n1804289383.npy,Mul.m.1.2.1700000000000001.input.1.NCHW.npy\n");
  scratch.write(std::string("b/") + kHash, good_dump());  // no table here
  const DumpIndex index = index_of({scratch.path().string()});
  const IndexedFile& add = file_of(index, kHash);
  CHECK(index.folder_of(add) == "a");
  CHECK(add.shown_name() == kAdd);
  CHECK(add.name == kHash);
  CHECK(add.facts.op_name == "Default_Add-op1");
  CHECK_FALSE(add.by_content);
  const IndexedFile& mul = file_of(index, "1804289383.npy");
  CHECK(mul.facts.op_type == "Mul");
  const auto opened = index.open_tensors(mul);
  REQUIRE(opened);
  CHECK(opened->tensors.at(0).label() == "input:1");
  CHECK(opened->tensors[0].request.format_number == 0);
  for (const IndexedFile& file : index.files()) {
    if (index.folder_of(file) == "b") CHECK(file.shown_name() == kHash);
  }
  // A single file finds its table too, one without a table is judged by its content.
  CHECK(index_of({scratch.file(std::string("a/") + kHash)}).files().at(0).shown_name() == kAdd);
  const DumpIndex alone = index_of({scratch.file(std::string("b/") + kHash)});
  CHECK(alone.files().at(0).by_content);
  CHECK(alone.open_tensors(alone.files()[0]));
}

TEST_CASE("a damaged mapping.csv is a problem and costs the real names only") {
  const ScratchDir scratch;
  scratch.write(kHash, good_dump());
  scratch.write("mapping.csv", "what is this\n");
  const DumpIndex index = index_of({scratch.path().string()});
  REQUIRE(index.problems().size() == 1);
  CHECK(index.problems()[0].code == ErrorCode::kBadCsv);
  const IndexedFile& file = file_of(index, kHash);
  CHECK(file.shown_name() == kHash);
  CHECK(index.open_tensors(file));
}

TEST_CASE("files given one by one report a damaged mapping.csv beside them once") {
  const ScratchDir scratch;
  std::vector<std::string> paths;
  for (const char digit : {'1', '2', '3'}) paths.push_back(scratch.write(std::string(32, digit), good_dump()));
  scratch.write("mapping.csv", "what is this\n");
  CHECK(index_of(paths).problems().size() == 1);
  scratch.write("mapping.csv", std::string(32, '3') + "," + kAdd + "\n");
  const DumpIndex named = index_of(paths);
  CHECK(file_of(named, std::string(32, '3')).shown_name() == kAdd);
}

TEST_CASE("one tensor of a file of many is the one that the whole list has, also after the file was written again") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  for (uint64_t i = 1; i <= 40; ++i) spec.tensors.push_back(test::output_of(DType::kFloat32, Format::kND, {i}));
  const std::string path = scratch.write(kAdd, build_dump(spec));
  const DumpIndex index = index_of({path});
  const IndexedFile& file = index.files().at(0);
  const auto all = index.open_tensors(file);
  REQUIRE(all);
  for (const uint32_t item : {3U, 39U, 3U, 0U}) {
    const auto one = index.open_tensor(file, item);
    REQUIRE(one);
    REQUIRE(one->tensors.size() == 1);
    CHECK(one->container == all->container);
    CHECK(one->op_name == all->op_name);
    CHECK(one->tensors[0].slot == std::to_string(item));
    CHECK(one->tensors[0].offset == all->tensors[item].offset);
    CHECK(one->tensors[0].request.shape == Shape{item + 1});
  }
  CHECK(index.open_tensor(file, 40).error().code == ErrorCode::kChangedWhileReading);
  spec.tensors.resize(20);
  scratch.write(kAdd, build_dump(spec));
  CHECK(index.open_tensor(file, 19)->tensors.at(0).offset != all->tensors[19].offset);
  CHECK(index.open_tensor(file, 39).error().code == ErrorCode::kChangedWhileReading);
}

TEST_CASE("content decides about names that say nothing") {
  const ScratchDir scratch;
  scratch.write("dump", good_dump());
  scratch.write("text", "just some text that is no dump");
  const DumpIndex index = index_of({scratch.path().string()});
  const auto dump = index.open_tensors(file_of(index, "dump"));
  REQUIRE(dump);
  CHECK(dump->tensors.size() == 2);
  const auto text = index.open_tensors(file_of(index, "text"));
  REQUIRE_FALSE(text);
  CHECK(text.error().code == ErrorCode::kNotADump);
  CHECK(text.error().message.empty());
}

TEST_CASE("content that does not fit the name is a failure") {
  const ScratchDir scratch;
  scratch.write(kAdd, "just some text that is no dump");
  scratch.write("real.npy", good_dump());
  scratch.write("Mul.m.1.2.1700000000000000", test::build_npy({}));
  const DumpIndex index = index_of({scratch.path().string()});
  const auto message_of = [&](const char* name) {
    const auto opened = index.open_tensors(file_of(index, name));
    REQUIRE_FALSE(opened);
    CHECK(opened.error().path == scratch.file(name));
    return opened.error().message;
  };
  CHECK(message_of(kAdd) == "not a dump file: the header length is text");
  CHECK(message_of("real.npy") == "this is an Ascend dump file, not an .npy file");
  CHECK(message_of("Mul.m.1.2.1700000000000000") == "this is an .npy file, not a dump");
}

TEST_CASE("tensors carry what the plan needs") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  spec.tensors = {test::output_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                  test::raw_of(test::TensorSpec::kBuffer, 5)};
  spec.tensors[0].original_format = 1;
  scratch.write(kAdd, build_dump(spec));
  const DumpIndex index = index_of({scratch.path().string()});
  const auto opened = index.open_tensors(index.files().at(0));
  REQUIRE(opened);
  CHECK(opened->op_name == spec.op_name);
  CHECK(opened->container == FileKind::kDumpFile);
  REQUIRE(opened->tensors.size() == 2);
  const StoredTensor& output = opened->tensors[0];
  CHECK(output.request.dtype == DType::kFloat16);
  CHECK(output.request.format_number == 3);
  CHECK(output.request.shape == Shape{1, 1, 2, 2, 16});
  CHECK(output.request.original_shape == Shape{1, 3, 2, 2});
  CHECK(output.request.original_format == Format::kNHWC);
  CHECK(output.bytes == 128);
  CHECK(opened->tensors[1].label() == "l1buffer:0");
  CHECK_FALSE(opened->tensors[1].absent());
}

TEST_CASE("raw bin files take everything from their name") {
  const ScratchDir scratch;
  scratch.write("Default--Add-op1_input_1_shape_2_3_Float16_NCHW.bin", std::string(12, 'x'));
  scratch.write("Loss_output_0_shape_0_Float32_DefaultFormat.bin", "1234");
  scratch.write("Empty_output_0_shape_0_Float32_DefaultFormat.bin", "");
  const DumpIndex index = index_of({scratch.path().string()});
  const auto add = index.open_tensors(file_of(index, "Default--Add-op1_input_1_shape_2_3_Float16_NCHW.bin"));
  REQUIRE(add);
  CHECK(add->op_name == "Default/Add-op1");
  CHECK(add->tensors.at(0).label() == "input:1");
  CHECK(add->tensors[0].request.shape == Shape{2, 3});
  CHECK(add->tensors[0].bytes == 12);
  const auto loss = index.open_tensors(file_of(index, "Loss_output_0_shape_0_Float32_DefaultFormat.bin"));
  CHECK(loss->tensors.at(0).request.shape == Shape{});
  const auto empty = index.open_tensors(file_of(index, "Empty_output_0_shape_0_Float32_DefaultFormat.bin"));
  CHECK(empty->tensors.at(0).request.shape == Shape{0});
}

TEST_CASE("special files by a dump file's name fail and others are not looked at") {
  const ScratchDir scratch;
  REQUIRE(::mkfifo(scratch.file(kAdd).c_str(), 0600) == 0);
  REQUIRE(::mkfifo(scratch.file("pipe").c_str(), 0600) == 0);
  const DumpIndex index = index_of({scratch.path().string()});
  CHECK(file_of(index, "pipe").family == nullptr);
  const auto opened = index.open_tensors(file_of(index, kAdd));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message == "is a FIFO, not a regular file");
}

TEST_CASE("excluded folders are left out and a cancelled index stops") {
  const ScratchDir scratch;
  scratch.write(std::string("in/") + kAdd, "");
  scratch.write(std::string("out/") + kAdd, "");
  CHECK(relative_paths(index_of({scratch.path().string()}, {{scratch.file("out")}, nullptr})) ==
        Names{std::string("in/") + kAdd});
  CancelToken cancel;
  cancel.cancel();
  CHECK(DumpIndex::build({scratch.path().string()}, {{}, &cancel}).error().code == ErrorCode::kCancelled);
}

using test::ScratchDir;
using Texts = std::vector<std::string>;

// "op name@time stamp" of the files of an index, in its order.
Texts names_in(const std::vector<std::string>& paths) {
  const auto index = DumpIndex::build(paths, {});
  REQUIRE(index);
  Texts texts;
  for (const IndexedFile& file : index->files())
    texts.push_back(fmt::format("{}@{}", file.facts.op_name, file.facts.timestamp));
  return texts;
}

Texts names_of(const Texts& files) {
  const ScratchDir scratch;
  for (const std::string& file : files)
    scratch.write(file, file.ends_with(".npy") ? test::build_npy({}) : test::build_pt());
  return names_in({scratch.path().string()});
}

TEST_CASE("runs of what torch_npu saves are counted per name") {
  CHECK(names_of({"add_device_0_0.pt", "add_device_0_1.pt", "mm_1_device_0_0.pt"}) ==
        Texts{"add@0", "mm_1@0", "add@1"});
  CHECK(names_of({"x_device_0.pt"}) == Texts{"x@"});
}

TEST_CASE("files of several devices in one folder keep the device in their names") {
  CHECK(names_of({"add_device_0_0.pt", "add_device_1_0.pt"}) == Texts{"add_device_0@0", "add_device_1@0"});
}

TEST_CASE("a folder that says the rank is not part of the operator's name, any other folder is") {
  CHECK(names_of({"worldsize2_global_rank1/add_device_1_0.pt", "sub/add_device_0_0.pt"}) ==
        Texts{"add@0", "sub/add@0"});
}

TEST_CASE("what TensorDump saves is in the order of its numbers") {
  CHECK(names_of({"b_float32_0.npy", "a_float16_1.npy", "b_float32_2.npy", "b_float32_10.npy", "other.npy"}) ==
        Texts{"b@0", "a@1", "b@2", "b@10", "other@"});
  CHECK(names_of({"step3/rank0/x_int64_4.npy"}) == Texts{"x@4"});
}

TEST_CASE("equal numbers in one folder are not TensorDump's") {
  CHECK(names_of({"a_float32_0.npy", "b_float32_0.npy"}) == Texts{"a_float32_0@", "b_float32_0@"});
}

TEST_CASE("interleaved runs of several names are acl_save's") {
  CHECK(names_of({"act_0.pt", "logits_1.pt", "act_2.pt", "logits_3.pt"}) ==
        Texts{"act@0", "logits@1", "act@2", "logits@3"});
}

TEST_CASE("a number may be part of the name of a .pt file") {
  CHECK(names_of({"layer_0.pt", "layer_1.pt"}) == Texts{"layer_0@", "layer_1@"});
  CHECK(names_of({"a_0.pt", "b_1.pt"}) == Texts{"a_0@", "b_1@"});
  CHECK(names_of({"a_0.pt", "b_0.pt", "a_1.pt"}) == Texts{"a_0@", "a_1@", "b_0@"});
  CHECK(names_of({"a_0.pt", "b_1.pt", "a_2.pt", "whole.pt"}) == Texts{"a_0@", "a_2@", "b_1@", "whole@"});
}

TEST_CASE("a file given by its own path is counted where its name alone says so") {
  const ScratchDir scratch;
  CHECK(names_in({scratch.write("add_device_0_3.pt", test::build_pt())}) == Texts{"add@3"});
  CHECK(names_in({scratch.write("x_float32_3.npy", test::build_npy({}))}) == Texts{"x@3"});
  CHECK(names_in({scratch.write("act_3.pt", test::build_pt())}) == Texts{"act_3@"});
}

TEST_CASE("a number that counts all arrays of a folder is the order, and no part of the name") {
  CHECK(names_of({"0009_mlp.npy", "0010_head.npy", "0008_attn.npy"}) == Texts{"attn@0008", "mlp@0009", "head@0010"});
  CHECK(names_of({"1-a.npy", "0-b.pt"}) == Texts{"b@0", "a@1"});
  CHECK(names_of({"F1__a.npy", "F2__b.npy", "F3__a.npy"}) == Texts{"a@1", "b@2", "a@3"});
  CHECK(names_of({"x/0_a.npy", "x/1_b.npy", "rank_0/net/0/0/0_c.npy", "rank_0/net/0/0/1_d.npy"}) ==
        Texts{"c@0", "d@1", "x/a@0", "x/b@1"});
  CHECK(names_of({"embed_4.npy", "attn_5.npy", "head_6.npy"}) == Texts{"embed@4", "attn@5", "head@6"});
}

TEST_CASE("ranks that save into one folder count each for themselves") {
  CHECK(names_of({"0_rank0_x.npy", "1_rank0_y.npy", "0_rank1_x.npy", "1_rank1_y.npy"}) ==
        Texts{"rank0_x@0", "rank1_x@0", "rank0_y@1", "rank1_y@1"});
  CHECK(names_of({"rank_0_x_float32_0.npy", "rank_1_x_float32_0.npy"}) == Texts{"rank_0_x@0", "rank_1_x@0"});
  CHECK(names_of({"x_float32_0.npy", "y_float32_0.npy"}) == Texts{"x_float32_0@", "y_float32_0@"});
  CHECK(names_of({"0_rank0_mlp.npy", "1_rank0_mlp.npy", "0_rank1_mlp.npy"}) ==
        Texts{"0_rank0_mlp@", "0_rank1_mlp@", "1_rank0_mlp@"});
}

TEST_CASE("a number is part of the name if it counts layers, if others lack it or if it is another letter's") {
  CHECK(names_of({"0_a.npy", "0_b.npy", "1_a.npy"}) == Texts{"0_a@", "0_b@", "1_a@"});
  CHECK(names_of({"0_mlp.npy", "1_mlp.npy"}) == Texts{"0_mlp@", "1_mlp@"});
  CHECK(names_of({"0_a.npy", "1_b.npy", "whole.npy"}) == Texts{"0_a@", "1_b@", "whole@"});
  CHECK(names_of({"F1_a.npy", "B2_b.npy"}) == Texts{"B2_b@", "F1_a@"});
  CHECK(names_of({"01.npy", "02.npy"}) == Texts{"01@", "02@"});
  CHECK(names_of({"conv_1.npy", "fc_2.npy", "bn_9.npy"}) == Texts{"bn_9@", "conv_1@", "fc_2@"});
  CHECK(names_of({"conv_1.npy", "fc_2.npy"}) == Texts{"conv_1@", "fc_2@"});
}

// "names | folder=dump ..", each folder once.
std::string dumps_of(const Texts& files) {
  const ScratchDir scratch;
  for (const std::string& file : files) scratch.write(file, file.ends_with(".npy") ? test::build_npy({}) : "{}");
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  std::string text = fmt::format("{} |", fmt::join(index->dumps(), " "));
  for (size_t i = 0; i < index->folders().size(); ++i) {
    const IndexedFolder& folder = index->folders()[i];
    const auto of_folder = [&](const IndexedFile& file) { return file.folder == i; };
    if (std::any_of(index->files().begin(), index->files().end(), of_folder))
      text += fmt::format(" {}={}", folder.relative, folder.identity.dump);
  }
  return text;
}

std::string add_in(const std::string& folder, int64_t time) {
  return fmt::format("{}/Add.Default_Add-op1.1.2.{}.output.0.DefaultFormat.npy", folder, time);
}

TEST_CASE("folders of one place with the same operators or tables are two dumps, named by what tells them apart") {
  CHECK(dumps_of({add_in("run1/rank_0/net/0/0", 1700000000000001), add_in("run2/rank_0/net/0/0", 1700000000000002)}) ==
        "run1 run2 | run1/rank_0/net/0/0=0 run2/rank_0/net/0/0=1");
  CHECK(dumps_of({"b/step0/rank0/dump.json", "a/step0/rank0/dump.json"}) == "a b | a/step0/rank0=0 b/step0/rank0=1");
  CHECK(dumps_of({"job/a/step0/rank0/dump.json", "job/b/step0/rank0/dump.json", "job/b/step1/rank0/dump.json"}) ==
        "a b | job/a/step0/rank0=0 job/b/step0/rank0=1 job/b/step1/rank0=1");
  CHECK(dumps_of({add_in("rank_0/NetA/0/0", 1700000000000001), add_in("rank_0/NetB/0/0", 1700000000000002)}) ==
        "NetA NetB | rank_0/NetA/0/0=0 rank_0/NetB/0/0=1");
  CHECK(dumps_of({"a/n0/step0/rank0/dump.json", "a/n1/step0/rank1/dump.json", "b/n0/step0/rank0/dump.json",
                  "b/n1/step0/rank1/dump.json"}) ==
        "a b | a/n0/step0/rank0=0 a/n1/step0/rank1=0 b/n0/step0/rank0=1 b/n1/step0/rank1=1");
  CHECK(dumps_of({"a/x/step0/rank0/dump.json", "b/x/step0/rank0/dump.json", "b/y/step0/rank0/dump.json"}) ==
        "a/x b/x b/y | a/x/step0/rank0=0 b/x/step0/rank0=1 b/y/step0/rank0=2");
}

TEST_CASE("folders of other ranks or steps, with other operators, or with copies inside are one dump") {
  CHECK(dumps_of({"n0/step0/rank0/dump.json", "n1/step0/rank1/dump.json", "n0/step1/rank0/dump.json"}) ==
        " | n0/step0/rank0=0 n0/step1/rank0=0 n1/step0/rank1=0");
  CHECK(dumps_of({"a/rank_0/net/0/0/Add.x.1.2.1700000000000001.output.0.ND.npy",
                  "b/rank_0/net/0/0/Add.y.1.2.1700000000000001.output.0.ND.npy"}) ==
        " | a/rank_0/net/0/0=0 b/rank_0/net/0/0=0");
  CHECK(dumps_of({add_in("rank_0/net/0/0", 1700000000000001), add_in("rank_0/net/0/0/copy", 1700000000000001)}) ==
        " | rank_0/net/0/0=0 rank_0/net/0/0/copy=0");
  CHECK(dumps_of({"step0/rank0/dump.json", "step0/rank/dump.json", "x.npy", "sub/x.npy"}) ==
        " | =0 step0/rank=0 step0/rank0=0 sub=0");
}

std::shared_ptr<const KeptLists::List> list_of(size_t tensors) {
  return std::make_shared<const KeptLists::List>(
      KeptLists::List{1, 2, FileKind::kSafetensors, "", std::vector<StoredTensor>(tensors)});
}

}  // namespace

TEST_CASE("lists are kept until others need the room; those asked for last stay") {
  KeptLists kept(100);
  const std::array<IndexedFile, 4> files = {};
  for (const size_t i : {0U, 1U, 2U}) kept.add(files[i], list_of(30));
  REQUIRE(kept.find(files[0]) != nullptr);
  kept.add(files[3], list_of(30));
  CHECK(kept.find(files[0]) != nullptr);
  CHECK(kept.find(files[1]) == nullptr);
  CHECK(kept.find(files[2]) != nullptr);
  CHECK(kept.find(files[3]) != nullptr);
}

TEST_CASE("a list takes the place of an older one of its file, and one that is too long is kept alone") {
  KeptLists kept(100);
  const std::array<IndexedFile, 3> files = {};
  kept.add(files[0], list_of(60));
  kept.add(files[0], list_of(70));
  kept.add(files[1], list_of(30));
  REQUIRE(kept.find(files[0]) != nullptr);
  CHECK(kept.find(files[0])->tensors.size() == 70);
  kept.add(files[2], list_of(101));
  CHECK(kept.find(files[2]) != nullptr);
  CHECK(kept.find(files[0]) == nullptr);
  CHECK(kept.find(files[1]) == nullptr);
}

}  // namespace msdump
