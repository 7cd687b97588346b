#include "info/file_facts.h"

#include <filesystem>
#include <string>

#include "dump/layouts/family.h"
#include "report/json.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"
#include "support/zip_builder.h"

namespace msdump {
namespace {

using test::ScratchDir;

struct Facts {
  FileFacts facts;
  std::string at(std::string_view key) const {
    const report::Value* value = facts.detail.find_path(key);
    if (value == nullptr) return "(absent)";
    std::string text;
    report::append_json(text, *value);
    return text;
  }
};

Facts facts_of(const std::string& path) {
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  const CancelToken cancel;
  return {read_file_facts(*index, index->files().at(0), cancel)};
}

Facts facts_of(const ScratchDir& scratch, const std::string& name, std::string_view content) {
  return facts_of(scratch.write(name, content));
}

TEST_CASE("an array says what its header and its name say") {
  const ScratchDir scratch;
  const Facts facts =
      facts_of(scratch, "rank_2/Net/0/5/Add.Default_Add-op1.0.0.1733905446819790.input.1.DefaultFormat.float32.npy",
               test::build_npy({}));
  CHECK(facts.facts.kind == FileKind::kNpy);
  CHECK(facts.facts.problems.empty());
  CHECK(facts.at("dtype") == "\"float32\"");
  CHECK(facts.at("original_dtype") == "null");
  CHECK(facts.at("npy_descr") == "\"<f4\"");
  CHECK(facts.at("shape") == "[2,3]");
  CHECK(facts.at("elements") == "6");
  CHECK(facts.at("data_bytes") == "24");
  CHECK(facts.at("identity.rank") == "2");
  CHECK(facts.at("identity.step") == "5");
  CHECK(facts.at("identity.op_type") == "\"Add\"");
  CHECK(facts.at("identity.io") == "\"input\"");
  CHECK(facts.at("identity.slot") == "1");
  CHECK(facts.facts.tensor_count == 1);
  CHECK(facts.facts.tensor_bytes == 24);
}

TEST_CASE("a cut array still says what it was to hold") {
  const ScratchDir scratch;
  const Facts facts = facts_of(scratch, "a.npy", test::build_faulty_npy(test::NpyFault::kDataCut));
  CHECK(facts.at("shape") == "[2,3]");
  REQUIRE(facts.facts.problems.size() == 1);
  CHECK(facts.facts.problems[0].code == ErrorCode::kTruncated);
  CHECK(facts.facts.tensor_count == 0);
}

TEST_CASE("every damaged array is a problem with a path and keeps its keys") {
  const ScratchDir scratch;
  for (const test::NpyFault fault : test::all_npy_faults()) {
    if (fault == test::NpyFault::kNone) continue;
    INFO(name_of(fault));
    const Facts facts = facts_of(scratch, "a.npy", test::build_faulty_npy(fault));
    CHECK(facts.facts.kind == FileKind::kNpy);
    REQUIRE_FALSE(facts.facts.problems.empty());
    CHECK(facts.facts.problems[0].path == scratch.file("a.npy"));
    CHECK(facts.at("dtype") != "(absent)");
    CHECK(facts.at("identity.op_name") == "\"a\"");
  }
}

TEST_CASE("a dump file lists its tensors on the device and on the host") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  spec.attributes = {{"stride", "2"}};
  spec.tensors = {test::input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                  test::output_of(DType::kFloat32, Format::kND, {2, 3})};
  const Facts facts = facts_of(scratch, "Add.a.1.2.1700000000000000", test::build_dump(spec));
  CHECK(facts.facts.kind == FileKind::kDumpFile);
  CHECK(facts.at("header") == "\"binary\"");
  CHECK(facts.at("op_name") == "\"Default/network-Net/Add-op1\"");
  CHECK(facts.at("attributes") == R"([{"name":"stride","value":"2"}])");
  REQUIRE(facts.facts.tensors.size() == 2);
  const auto& first =
      std::get<report::Object>(std::get<report::List>(facts.facts.detail.find("tensors")->storage()).front().storage());
  std::string text;
  report::append_json(text, first);
  CHECK(text.find(R"("io":"input","slot":0,"dtype":"float16","format":"NC1HWC0")") != std::string::npos);
  CHECK(text.find(R"("shape":[1,1,2,2,16],"original_shape":[1,3,2,2])") != std::string::npos);
  CHECK(facts.facts.tensor_bytes == 128 + 24);
}

TEST_CASE("what a conversion would refuse is a problem of the tensor") {
  const ScratchDir scratch;
  for (const test::DumpFault fault : {test::DumpFault::kSizeLessThanShape, test::DumpFault::kDtypeUnknown,
                                      test::DumpFault::kFormatUnknown, test::DumpFault::kDataCut}) {
    INFO(name_of(fault));
    const Facts facts = facts_of(scratch, "Add.a.1.2.1700000000000000", test::build_faulty_dump(fault));
    REQUIRE(facts.facts.problems.size() == 1);
    CHECK_FALSE(facts.facts.problems[0].tensor.empty());
    CHECK(facts.facts.tensors.size() == 2);
  }
}

TEST_CASE("every faulty dump file is either read or a problem") {
  const ScratchDir scratch;
  for (const test::DumpFault fault : test::all_dump_faults()) {
    INFO(name_of(fault));
    const Facts facts = facts_of(scratch, "Add.a.1.2.1700000000000000", test::build_faulty_dump(fault));
    CHECK(facts.at("header") != "(absent)");
    if (!test::is_tolerated(fault)) CHECK_FALSE(facts.facts.problems.empty());
  }
}

TEST_CASE("a name that says nothing is read by its content") {
  const ScratchDir scratch;
  const std::string dump = test::build_dump({.tensors = {test::output_of(DType::kFloat32, Format::kND, {2, 3})}});
  CHECK(facts_of(scratch, "plain", dump).facts.kind == FileKind::kDumpFile);
  CHECK(facts_of(scratch, "array", test::build_npy({})).facts.kind == FileKind::kNpy);
  CHECK(facts_of(scratch, "array", test::build_npy({})).at("shape") == "[2,3]");
  CHECK(facts_of(scratch, "saved", test::build_pt({})).facts.kind == FileKind::kPt);
  CHECK(facts_of(scratch, "table.txt", "NodeExecutionOrder-FullNameWithScope\nA\n").facts.kind ==
        FileKind::kExecutionOrder);
  CHECK(facts_of(scratch, "g.dat", "#IR entry : @g\n").facts.kind == FileKind::kIrText);
  CHECK(facts_of(scratch, "other.json", R"({"dump_data_dir": "", "data": {}})").facts.kind == FileKind::kDumpJson);
}

TEST_CASE("a file that msdump does not read is named by its first bytes, whatever it is called") {
  using namespace std::string_literals;
  const ScratchDir scratch;
  const auto kind = [&](const char* name, const std::string& content) {
    const Facts facts = facts_of(scratch, name, content);
    CHECK(facts.facts.problems.empty());
    return name_of(facts.facts.kind);
  };
  CHECK(kind("trend", "SQLite format 3\0\x10\0"s) == "database");
  CHECK(kind("weights", "\x89HDF\r\n\x1a\n\0"s) == "hdf5");
  CHECK(kind("model", "IMOD\0\1\0\0"s) == "offline_model");
  // A record of TensorFlow: length, its checksum, the event.
  CHECK(kind("log.1",
             "\x18\0\0\0\0\0\0\0\xa3\x7fK\x22\x09\0\0\0\0\0\0\0\0\x1a\x0d"
             "brain.Event:2"s) == "events");
  CHECK(kind("w.bin", test::build_faulty_safetensors(test::SafetensorsFault::kNone)) == "safetensors");
  CHECK(kind("a.csv", "Input/Output,Index,Data Size,Data Type,Format,Shape\n") == "statistic");
  const Facts named = facts_of(scratch, "m.om", "no magic");
  CHECK(name_of(named.facts.kind) == "offline_model");
  CHECK(named.at("why") == "\"an offline model of CANN; atc --mode=1 makes JSON of it, which msdump reads\"");
}

TEST_CASE("a .safetensors file lists its parameters by name, with its metadata") {
  const ScratchDir scratch;
  const std::string header =
      "{" + test::safetensors_entry("a.weight", "F32", "[2,3]", 0, 24) + R"(,"__metadata__":{"format":"pt"}})";
  const Facts facts = facts_of(scratch, "m.safetensors", test::safetensors_file(header, std::string(24, '\0')));
  CHECK(facts.facts.kind == FileKind::kSafetensors);
  CHECK(facts.at("metadata") == R"({"format":"pt"})");
  REQUIRE(facts.facts.tensors.size() == 1);
  CHECK(facts.facts.tensors[0].label() == "a.weight");
  CHECK(facts.at("tensors").find(R"("op_name":"a.weight")") != std::string::npos);
  const Facts cut = facts_of(scratch, "cut.safetensors", "abc");
  CHECK(cut.at("metadata") == "null");
  CHECK(cut.facts.problems.size() == 1);
}

TEST_CASE("a tensor of ATB says which file has its elements, or lists it") {
  const ScratchDir scratch;
  const std::string head = "$Version=1.0\n$Object.Count=1\n$Object.Length=8\nformat=2\ndtype=1\ndims=2,2\n";
  const Facts own = facts_of(scratch, "intensor0.bin", head + "$Object.data=0,8\n$End=1\n" + std::string(8, '\0'));
  CHECK(own.facts.kind == FileKind::kAtbTensor);
  CHECK(own.at("same_as") == "null");
  REQUIRE(own.facts.tensors.size() == 1);
  CHECK(own.facts.tensors[0].request.dtype == DType::kFloat16);
  const Facts other = facts_of(scratch, "outtensor1.bin", head + "data=2_0_intensor1.bin\n$End=1\n");
  CHECK(other.at("same_as") == "\"2_0_intensor1.bin\"");
  CHECK(other.facts.tensors.empty());
  CHECK(facts_of(scratch, "outtensor2.bin", "x").facts.problems.size() == 1);
}

TEST_CASE("an argument of an FX operator that is not a tensor has no elements, and is no problem") {
  const ScratchDir scratch;
  test::NpySpec spec;
  spec.literal = test::npy_literal("|O", "()");
  const char* const name = "sum_1-aten.sum.default.INPUT.1.20240125031118787351.npy";
  const Facts facts = facts_of(scratch, name, test::build_npy(spec));
  CHECK(facts.facts.problems.empty());
  CHECK(facts.facts.tensors.empty());
  CHECK(facts_of(scratch, "other.npy", test::build_npy(spec)).facts.problems.size() == 1);
}

TEST_CASE("a zip archive that is no .pt keeps the kind of its name") {
  const ScratchDir scratch;
  const Facts facts = facts_of(scratch, "table.xlsx", build_faulty_pt(test::PtFault::kNoDataPickle));
  CHECK(facts.facts.kind == FileKind::kSpreadsheet);
  CHECK(facts.facts.problems.empty());
  const Facts checkpoint = facts_of(scratch, "model.pth", build_faulty_pt(test::PtFault::kNoDataPickle));
  CHECK(checkpoint.facts.kind == FileKind::kPt);
  CHECK(checkpoint.facts.problems.size() == 1);
}

TEST_CASE("archives are named by what is in them") {
  const ScratchDir scratch;
  const auto kind = [&](const std::vector<std::string>& entries, const std::string& name = "a.zip") {
    test::ZipSpec spec;
    for (const std::string& entry : entries) spec.entries.push_back({.name = entry, .data = "x"});
    return name_of(facts_of(scratch, name, test::build_zip(spec)).facts.kind);
  };
  CHECK(kind({"[Content_Types].xml", "xl/workbook.xml"}) == "spreadsheet");
  // As msprobe 26.2.0 packs a training on a CPU.
  CHECK(kind({"env", "pip", "dataset/step0/rank0/dataset.json", "weights/step0/rank0/weight.json",
              "random/rank0.json"}) == "config_check");
  CHECK(kind({"env", "other"}) == "unknown");
  CHECK(kind({"environment"}) == "unknown");
  CHECK(kind({}) == "unknown");
}

TEST_CASE("results of msprobe's tools are known by their first line, whatever they are called") {
  const ScratchDir scratch;
  const auto kind = [&](const std::string& content, const std::string& name = "renamed.csv") {
    return name_of(facts_of(scratch, name, content).facts.kind);
  };
  CHECK(kind("\xEF\xBB\xBF"
             "API name,Forward Test Success,Backward Test Success,Message\n") == "acc_check");
  CHECK(kind("API Name,Shape,Status,Message\n") == "acc_check");
  CHECK(kind("API Name,比对结果,Message\n") == "precision_compare");
  CHECK(kind("NPU Name,Bench Name,Result\n") == "compare_result");
  CHECK(kind("rank,pert_type,stage,step,api_name,max_rel\n") == "free_benchmark");
  CHECK(kind("vpp_stage,name,step,norm\n") == "monitor");
  CHECK(kind("module_name,stack_info\n") == "tool_table");
  CHECK(kind("API Name,Message\nStatus,Status,Status\n") == "unknown");
  CHECK(kind(R"({"rank_0": [{"op_name": "x", "data_info": {}}]})", "renamed.json") == "anomalies");
  CHECK(kind(R"({"rank_0": [{"op_name": "x", "data_info": {}}]})", "renamed") == "anomalies");
  CHECK(kind(R"({"k": {"tag_name": "x", "group_mates": []}})", "renamed") == "anomalies");
}

TEST_CASE("a file of no kind says why and how it begins") {
  const ScratchDir scratch;
  const Facts facts = facts_of(scratch, "strange", "hello");
  CHECK(facts.facts.kind == FileKind::kUnknown);
  CHECK(facts.at("why") == "\"neither its name nor its first bytes are those of a file that a dump has\"");
  CHECK(facts.at("first_bytes") == "\"68 65 6c 6c 6f\"");
  CHECK(facts_of(scratch, "none", "").at("why") == "\"an empty file\"");
  CHECK(facts_of(scratch, "a.txt", "x").at("why") == "\"text, a log or an archive\"");
}

TEST_CASE("a state dict lists its parameters by key") {
  const ScratchDir scratch;
  using namespace test;
  const Facts facts = facts_of(scratch, "m.pt",
                               build_pt({.pickle = pickle::whole(pickle::dict({{pickle::text("w"), tensor_call()}}))}));
  CHECK(facts.facts.kind == FileKind::kPt);
  CHECK(facts.at("other_values") == "0");
  REQUIRE(facts.facts.tensors.size() == 1);
  CHECK(facts.facts.tensors[0].op_name == "w");
}

TEST_CASE("what PyTorch saved is known by its content under other names") {
  const ScratchDir scratch;
  using namespace test;
  const std::string model = build_pt({.pickle = pickle::whole(pickle::dict({{pickle::text("w"), tensor_call()}}))});
  CHECK(facts_of(scratch, "pytorch_model.bin", model).facts.tensors.at(0).op_name == "w");
  CHECK(facts_of(scratch, "epoch=1.ckpt", model).facts.kind == FileKind::kPt);
  const Facts object = facts_of(scratch, "training_args.bin", build_faulty_pt(PtFault::kGlobalModule));
  CHECK(object.facts.kind == FileKind::kPt);
  REQUIRE(object.facts.problems.size() == 1);
  CHECK(object.facts.problems[0].message == "unsupported: torch.nn.Linear");
  CHECK(facts_of(scratch, "old.bin", build_faulty_pt(PtFault::kOldForm)).facts.kind == FileKind::kPt);
  CHECK(facts_of(scratch, "other.bin", build_faulty_pt(PtFault::kNoDataPickle)).facts.kind == FileKind::kUnknown);
}

TEST_CASE("a raw file is measured by its name") {
  const ScratchDir scratch;
  const std::string name = "Default--Add-op1_output_0_shape_2_3_Float32_DefaultFormat.bin";
  const Facts good = facts_of(scratch, name, std::string(24, 'x'));
  CHECK(good.facts.problems.empty());
  CHECK(good.at("shape") == "[2,3]");
  CHECK(good.at("data_bytes") == "24");
  const Facts cut = facts_of(scratch, name, std::string(20, 'x'));
  REQUIRE(cut.facts.problems.size() == 1);
  CHECK(cut.facts.problems[0].code == ErrorCode::kTruncated);
  const Facts more = facts_of(scratch, name, std::string(25, 'x'));
  REQUIRE(more.facts.problems.size() == 1);
  CHECK(more.facts.problems[0].code == ErrorCode::kTrailingBytes);
}

TEST_CASE("a statistic.csv is counted, its rows that are none too") {
  const ScratchDir scratch;
  const std::string header =
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  const std::string row = "Add,a,0,0,1733905446819790,input,0,24,float32,\"(2,3)\",6,\n";
  const Facts facts = facts_of(scratch, "statistic.csv", header + row + "rubbish\n" + row + header + row);
  CHECK(facts.facts.kind == FileKind::kStatistic);
  CHECK(facts.at("rows") == "3");
  CHECK(facts.at("bad_rows") == "1");
  CHECK(facts.at("runs") == "2");
  CHECK(facts.at("columns") == "[\"max\"]");
  CHECK(facts.at("dialects") == "[\"MindSpore 2.3.0 to 2.7.0\"]");
  CHECK(facts.facts.tensor_count == 3);
  CHECK(facts.facts.tensor_bytes == 72);
  CHECK(facts.facts.problems.size() == 1);
}

TEST_CASE("of many bad rows the first are named and the others counted") {
  const ScratchDir scratch;
  std::string text = "one,two\n";
  for (int i = 0; i < 10; ++i) text += "no comma\n";
  const Facts facts = facts_of(scratch, "mapping.csv", text);
  CHECK(facts.at("rows") == "1");
  CHECK(facts.at("bad_rows") == "10");
  REQUIRE(facts.facts.problems.size() == 4);
  CHECK(facts.facts.problems[3].message == "7 more like these");
}

TEST_CASE("an execution order lists operators or steps") {
  const ScratchDir scratch;
  const Facts operators = facts_of(scratch, "ms_execution_order_graph_0.csv",
                                   "NodeExecutionOrder-FullNameWithScope\nDefault/A\nDefault/B\n");
  CHECK(operators.at("lists") == "\"operators\"");
  CHECK(operators.at("rows") == "2");
  CHECK(operators.at("last") == "\"Default/B\"");
  const Facts steps = facts_of(scratch, "ms_global_execution_order_graph_0.csv", "0\n2\n");
  CHECK(steps.at("lists") == "\"steps\"");
  CHECK(steps.at("first") == "\"0\"");
}

TEST_CASE("the head of IR text names the graph, in both spellings") {
  const ScratchDir scratch;
  const Facts old =
      facts_of(scratch, "a.ir", "#IR entry      : @1_wrapper.49\n#Total params  : 2\n#Total subgraph : 4\n");
  CHECK(old.at("entry") == "\"@1_wrapper.49\"");
  CHECK(old.at("subgraphs") == "4");
  CHECK(old.at("parameters") == "2");
  const Facts now = facts_of(scratch, "b.ir", "# IR entry: @kernel_graph0\n# Total subgraphs:1\n");
  CHECK(now.at("entry") == "\"@kernel_graph0\"");
  CHECK(now.at("subgraphs") == "1");
  CHECK(now.at("parameters") == "null");
}

TEST_CASE("a dump.json says who recorded what") {
  const ScratchDir scratch;
  const Facts facts = facts_of(
      scratch, "dump.json",
      R"({"task": "statistics", "level": "L1", "framework": "mindspore", "dump_data_dir": null, "data": {)"
      R"("Functional.relu.0.forward": {"input_args": [{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2],)"
      R"( "data_name": "Functional.relu.0.forward.input.0.npy"}, {"type": "int", "value": 1}], "input_kwargs": {},)"
      R"( "output": []}}})");
  CHECK(facts.facts.kind == FileKind::kDumpJson);
  CHECK(facts.facts.problems.empty());
  CHECK(facts.at("framework") == "\"mindspore\"");
  CHECK(facts.at("level") == "\"L1\"");
  CHECK(facts.at("task") == "\"statistics\"");
  CHECK(facts.at("entries") == "1");
  CHECK(facts.at("tensors") == "1");
  CHECK(facts.at("in_files") == "1");
  CHECK(facts.at("other_values") == "1");
  CHECK(facts.facts.tensor_bytes == 8);
  CHECK_FALSE(facts_of(scratch, "dump.json", "{").facts.problems.empty());
}

TEST_CASE("a configuration is said by its keys") {
  const ScratchDir scratch;
  const auto tool = [&](const char* text) { return facts_of(scratch, "c.json", text).at("tool"); };
  CHECK(tool(R"({"common_dump_settings": {}})") == "\"MindSpore (data_dump.json)\"");
  CHECK(tool(R"({"device_target": "CPU", "ms_version": "2.0.0"})") == "\"MindSpore (who wrote the dump)\"");
  CHECK(tool(R"({"task": "tensor", "dump_path": "/x"})") == "\"msprobe (config.json)\"");
  CHECK(tool(R"({"dump": {}})") == "\"CANN (acl_dump.json)\"");
  CHECK(tool(R"({"a": 1})") == "null");
  CHECK(facts_of(scratch, "c.json", R"({"a": 1, "b": 2})").at("keys") == R"(["a","b"])");
  CHECK(facts_of(scratch, "c.yaml", "a: 1\n  b: 2\nc:\n").at("keys") == R"(["a","c"])");
  CHECK(facts_of(scratch, "c.json", "{,}").facts.problems.size() == 1);
}

TEST_CASE("kernel arguments and call stacks are small facts") {
  const ScratchDir scratch;
  const Facts arguments = facts_of(scratch, "MatMul.Default_net_MatMul-op2.json", R"({"transpose_a": "False"})");
  CHECK(arguments.facts.kind == FileKind::kKernelArgs);
  CHECK(arguments.at("op_type") == "\"MatMul\"");
  CHECK(arguments.at("arguments") == R"({"transpose_a":"False"})");
  CHECK(facts_of(scratch, "stack.json", R"({"a": [], "b": []})").at("entries") == "2");
  CHECK(facts_of(scratch, "stack.json", "[]").at("entries") == "null");
}

TEST_CASE("an overflow record is decoded, from a dump file and from JSON") {
  const ScratchDir scratch;
  test::TensorSpec record = test::output_of(DType::kUint8, Format::kND, {2048});
  record.data = std::string(2048, '\0');
  record.data[256 + 8] = 7;  // AI Core, stream_id
  const Facts binary =
      facts_of(scratch, "Opdebug.Node_OpDebug.1.2.1700000000000000", test::build_dump({.tensors = {record}}));
  CHECK(binary.facts.kind == FileKind::kOpdebug);
  CHECK(binary.facts.problems.empty());
  CHECK(binary.at("record.AI Core.stream_id") == "7");
  const Facts json =
      facts_of(scratch, "Opdebug.Node_OpDebug.1.2.1700000000000000.output.0.json", R"({"AI Core": {"stream_id": 5}})");
  CHECK(json.at("record.AI Core.stream_id") == "5");
}

TEST_CASE("a further tensor of an overflow record that is cut is a problem of the file") {
  const ScratchDir scratch;
  test::TensorSpec record = test::output_of(DType::kUint8, Format::kND, {2048});
  std::string content = test::build_dump({.tensors = {record, test::output_of(DType::kUint8, Format::kND, {100})}});
  content.resize(content.size() - 1);
  const Facts facts = facts_of(scratch, "Opdebug.Node_OpDebug.1.2.1700000000000000", content);
  CHECK(facts.at("record.AI Core.stream_id") != "(absent)");
  REQUIRE(facts.facts.problems.size() == 1);
  CHECK(facts.facts.problems[0].code == ErrorCode::kTruncated);
  CHECK(facts.facts.problems[0].tensor == "output:1");
}

TEST_CASE("a damaged file has the keys of a good one") {
  const ScratchDir scratch;
  const auto keys_of = [&](const char* name, std::string_view content) {
    std::string keys;
    const Facts facts = facts_of(scratch, name, content);
    for (const report::Member& member : facts.facts.detail.members()) keys += member.key + " ";
    return keys;
  };
  constexpr const char* kDump = "Add.a.1.2.1700000000000000";
  CHECK(keys_of("a.npy", test::build_npy({})) == keys_of("a.npy", "x"));
  CHECK(keys_of(kDump, test::build_faulty_dump(test::DumpFault::kNone)) == keys_of(kDump, "x"));
  CHECK(keys_of("a.pt", test::build_pt({})) == keys_of("a.pt", "x"));
  CHECK(keys_of("dump.json", R"({"data": {}})") == keys_of("dump.json", "x"));
  CHECK(keys_of("c.json", "{}") == keys_of("c.json", "x"));
  CHECK(keys_of("c.json", "{}") == keys_of("c.json", std::string(size_t{2} << 20, ' ')));
  CHECK(keys_of("c.json", "{}") == keys_of("c.yaml", "x"));
  CHECK(keys_of("stack.json", "{}") == keys_of("stack.json", "x"));
  CHECK(keys_of("M.D-op2.json", "{}") == keys_of("M.D-op2.json", "x"));
  CHECK(keys_of("statistic.csv", "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape\n") ==
        keys_of("statistic.csv", "x"));
}

TEST_CASE("a file that cannot be opened is a problem and keeps its size") {
  const ScratchDir scratch;
  const std::string path = scratch.write("a.npy", test::build_npy({}));
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  std::filesystem::remove(path);
  const CancelToken cancel;
  const FileFacts facts = read_file_facts(*index, index->files().at(0), cancel);
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].code == ErrorCode::kNotFound);
  CHECK(facts.kind == FileKind::kNpy);
  CHECK(facts.detail.find("bytes") != nullptr);
}

TEST_CASE("a file is opened once more for its elements") {
  const ScratchDir scratch;
  const std::string path = scratch.write("plain", test::build_npy({}));
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  const CancelToken cancel;
  const FileFacts facts = read_file_facts(*index, index->files().at(0), cancel);
  const auto again = open_again(*index, index->files().at(0), facts, 0);
  REQUIRE(again);
  CHECK(again->tensors.size() == 1);
  scratch.write("plain", "something else");
  CHECK_FALSE(open_again(*index, index->files().at(0), facts, 0));
}

TEST_CASE("an interruption ends the reading of a table before its first row") {
  const ScratchDir scratch;
  CancelToken cancel;
  cancel.cancel();
  for (const auto& [name, content] :
       {std::pair("mapping.csv", "one,two\n"), std::pair("statistic.csv",
                                                         "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,"
                                                         "Data Size,Data Type,Shape,Max Value\n"
                                                         "Add,a,0,0,1,input,0,24,float32,\"(2,3)\",6,\n")}) {
    INFO(name);
    const auto index = DumpIndex::build({scratch.write(name, content)}, {});
    REQUIRE(index);
    const Facts facts{read_file_facts(*index, index->files().at(0), cancel)};
    CHECK(facts.at("rows") == "0");
    CHECK(facts.facts.problems.empty());
  }
}

TEST_CASE("random bytes under the name of an execution order or a table are a problem") {
  const ScratchDir scratch;
  std::string noise;
  for (uint32_t i = 0, state = 1; i < 3000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const auto& [name, kind] : {std::pair("ms_execution_order_graph_0.csv", FileKind::kExecutionOrder),
                                   std::pair("free_benchmark.csv", FileKind::kFreeBenchmark)}) {
    INFO(name);
    const Facts facts = facts_of(scratch, name, noise);
    CHECK(facts.facts.kind == kind);
    REQUIRE_FALSE(facts.facts.problems.empty());
    CHECK(facts.facts.problems[0].message.find("that its name promises") != std::string::npos);
  }
}

TEST_CASE("a mapping.csv of a terabyte is too large to be counted, and is not read") {
  const ScratchDir scratch;
  const std::string path = scratch.write("mapping.csv", "1.npy,a.npy\n");
  std::error_code error;
  std::filesystem::resize_file(path, uint64_t{1} << 40, error);
  if (error) return;  // a file system without sparse files
  const Facts facts = facts_of(path);
  REQUIRE(facts.facts.problems.size() == 1);
  CHECK(facts.facts.problems[0].code == ErrorCode::kTooLarge);
}

TEST_CASE("a table of text that is too large is not read either") {
  const ScratchDir scratch;
  const std::string path = scratch.write("mapping.csv", std::string(size_t{64} << 10, 'a'));
  std::error_code error;
  std::filesystem::resize_file(path, uint64_t{1} << 40, error);
  if (error) return;
  const Facts facts = facts_of(path);
  REQUIRE(facts.facts.problems.size() == 1);
  CHECK(facts.facts.problems[0].code == ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace msdump
