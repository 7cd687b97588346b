// The whole object that is printed of a file, for one file of each kind.
#include <algorithm>
#include <filesystem>
#include <string>
#include <variant>

#include "info/file_facts.h"
#include "report/json.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/ir_pb_builder.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

std::string json_with_apostrophes(const report::Object& object) {
  std::string text;
  report::append_json(text, object);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

struct Reported {
  FileFacts facts;
  std::string detail;  // JSON with ' for "
  std::string problems;
};

Reported reported_of(const ScratchDir& scratch, const std::string& name, std::string_view content) {
  const auto index = DumpIndex::build({scratch.write(name, content)}, {});
  REQUIRE(index);
  Reported reported{read_file_facts(*index, index->files().at(0), CancelToken()), {}, {}};
  reported.detail = json_with_apostrophes(reported.facts.detail);
  for (const Error& problem : reported.facts.problems) {
    CHECK(problem.path == scratch.file(name));
    reported.problems += (reported.problems.empty() ? "" : "; ") + problem.tensor +
                         (problem.tensor.empty() ? "" : " ") + problem.message;
  }
  return reported;
}

std::string detail_of(const ScratchDir& scratch, const std::string& name, std::string_view content) {
  const Reported reported = reported_of(scratch, name, content);
  CHECK(reported.problems.empty());
  return reported.detail;
}

TEST_CASE("all of an array") {
  const ScratchDir scratch;
  const std::string big =
      test::build_npy({.literal = test::npy_literal(">f4", "(2, 3)", true), .data = std::string(24, '\1')});
  CHECK(detail_of(scratch, "rank_2/Net/1/5/Add.Default_Add-op1.3.4.1733905446819790.input.1.NHWC.bfloat16.npy", big) ==
        "{'bytes':152,'dtype':'float32','original_dtype':'bfloat16','npy_descr':'>f4','readable_by_numpy':true,"
        "'shape':[2,3],'elements':6,'fortran_order':true,'big_endian':true,'data_offset':128,'data_bytes':24,"
        "'format':'NHWC','identity':{'rank':2,'graph':1,'step':5,'op_name':'Default_Add-op1','op_type':'Add',"
        "'io':'input','slot':1,'task_id':3,'stream_id':4,'timestamp':'1733905446819790'}}");
  CHECK(detail_of(scratch, "a.npy", test::build_npy({})) ==
        "{'bytes':152,'dtype':'float32','original_dtype':null,'npy_descr':'<f4','readable_by_numpy':true,"
        "'shape':[2,3],'elements':6,'fortran_order':false,'big_endian':false,'data_offset':128,'data_bytes':24,"
        "'format':null,'identity':{'rank':null,'graph':null,'step':null,'op_name':'a','op_type':null,"
        "'io':'output','slot':0,'task_id':null,'stream_id':null,'timestamp':null}}");
  const Reported cut = reported_of(scratch, "Add.a.3.4.17.output.0.NHWC.int4.npy", "cut");
  CHECK(cut.detail ==
        "{'bytes':3,'dtype':null,'original_dtype':'int4','npy_descr':null,'readable_by_numpy':null,'shape':null,"
        "'elements':null,'fortran_order':null,'big_endian':null,'data_offset':null,'data_bytes':null,"
        "'format':'NHWC','identity':{'rank':null,'graph':null,'step':null,'op_name':'a','op_type':'Add',"
        "'io':'output','slot':0,'task_id':3,'stream_id':4,'timestamp':'17'}}");
  CHECK(cut.problems == "not an .npy file: it does not begin with \\x93NUMPY");
}

TEST_CASE("all of a raw file") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "Default--Add-op1_output_0_shape_2_3_Float32_NHWC.bin", std::string(24, 'x')) ==
        "{'bytes':24,'dtype':'float32','format':'NHWC','shape':[2,3],'elements':6,'data_bytes':24,"
        "'identity':{'rank':null,'graph':null,'step':null,'op_name':'Default/Add-op1','op_type':'Add',"
        "'io':'output','slot':0,'task_id':null,'stream_id':null,'timestamp':null}}");
  const Reported huge = reported_of(scratch, "x_output_0_shape_9000000000_9000000000_Float32_DefaultFormat.bin", "x");
  CHECK(huge.detail ==
        "{'bytes':1,'dtype':'float32','format':'ND','shape':[9000000000,9000000000],'elements':null,"
        "'data_bytes':null,'identity':{'rank':null,'graph':null,'step':null,'op_name':'x','op_type':'Parameter',"
        "'io':'parameter','slot':0,'task_id':null,'stream_id':null,'timestamp':null}}");
  CHECK(huge.problems == "9000000000x9000000000 of float32, as its name says, cannot be");
}

TEST_CASE("all of a dump file: its tensors on the device, what cannot be had and what cannot be converted") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  spec.attributes = {{"stride", "2"}, {"pad", "1"}};
  spec.tensors = {test::input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                  test::input_of(DType::kFloat16, Format::kFractalZ, {4, 1, 16, 16}, {{32, 2, 2, 2}}),
                  test::output_of(DType::kFloat32, Format::kND, {2, 3}),
                  test::output_of(DType::kInt8, Format::kC1HWNC0, {1, 1, 1, 2, 3, 4})};
  spec.tensors[1].sub_format = 2;
  spec.tensors[2].data.resize(20);
  spec.tensors[2].original_format = static_cast<int32_t>(Format::kNHWC);
  const Reported reported = reported_of(scratch, "Add.a.1.2.1700000000000000", test::build_dump(spec));
  CHECK(reported.detail ==
        "{'bytes':2383,'header':'binary','op_name':'Default/network-Net/Add-op1','dump_time_us':1700000000000000,"
        "'attributes':[{'name':'stride','value':'2'},{'name':'pad','value':'1'}],'identity':{'rank':null,"
        "'graph':null,'step':null,'op_name':'a','op_type':'Add','io':null,'slot':null,'task_id':1,'stream_id':2,"
        "'timestamp':'1700000000000000'},'tensors':[{'io':'input','slot':0,'dtype':'float16','format':'NC1HWC0',"
        "'sub_format':null,'shape':[1,1,2,2,16],'original_shape':[1,3,2,2],'original_format':null,'offset':163,"
        "'bytes':128,'problem':null,'note':null},{'io':'input','slot':1,'dtype':'float16','format':'FRACTAL_Z',"
        "'sub_format':2,'shape':[4,1,16,16],'original_shape':[32,2,2,2],'original_format':null,'offset':291,"
        "'bytes':2048,'problem':'original shape 32x2x2x2 (rank 4) does not fit FRACTAL_Z 4x1x16x16','note':null},"
        "{'io':'output','slot':0,'dtype':'float32','format':'ND','sub_format':null,'shape':[2,3],"
        "'original_shape':null,'original_format':'NHWC','offset':2339,'bytes':20,"
        "'problem':'size 20 is less than the shape needs (24 bytes for 2x3 of float32)','note':null},"
        "{'io':'output','slot':1,'dtype':'int8','format':'C1HWNC0','sub_format':null,'shape':[1,1,1,2,3,4],"
        "'original_shape':null,'original_format':null,'offset':2359,'bytes':24,'problem':null,"
        "'note':'C1HWNC0 is kept as on the device: no public inverse'}]}");
  CHECK(reported.problems ==
        "input:1 original shape 32x2x2x2 (rank 4) does not fit FRACTAL_Z 4x1x16x16; output:0 size 20 is less than the "
        "shape needs (24 bytes for 2x3 of float32)");
  CHECK(reported.facts.tensor_count == 4);
  CHECK(reported.facts.tensor_bytes == 128 + 24);  // without those that cannot be had
}

TEST_CASE("of many attributes the first 64 are listed, of long ones the first thousand characters") {
  const ScratchDir scratch;
  test::DumpSpec spec;
  spec.attributes.assign(70, {std::string(1200, 'n'), std::string(1200, 'v')});
  spec.tensors = {test::output_of(DType::kInt8, Format::kND, {1})};
  const Reported reported = reported_of(scratch, "Add.a.1.2.1700000000000000", test::build_dump(spec));
  const auto& list = std::get<report::List>(reported.facts.detail.find("attributes")->storage());
  CHECK(list.size() == 64);
  CHECK(json_with_apostrophes(std::get<report::Object>(list.back().storage())) ==
        "{'name':'" + std::string(1000, 'n') + "','value':'" + std::string(1000, 'v') + "'}");
}

TEST_CASE("all of a .pt file") {
  const ScratchDir scratch;
  using namespace test;
  const std::string content =
      build_pt({.pickle = pickle::whole(
                    pickle::dict({{pickle::text("w"), tensor_call()}, {pickle::text("n"), pickle::integer(1)}}))});
  CHECK(
      detail_of(scratch, "m.pt", content) ==
      "{'bytes':850,'other_values':1,'other_classes':[],'identity':{'rank':null,'graph':null,'step':null,'op_name':'m',"
      "'op_type':null,'io':null,'slot':null,'task_id':null,'stream_id':null,'timestamp':null},"
      "'tensors':[{'op_name':'w','io':'parameter','slot':0,'dtype':'float32','format':'ND','sub_format':null,"
      "'shape':[2,3],'original_shape':null,'original_format':null,'offset':384,'bytes':24,'problem':null,'note':null}]"
      "}");
}

TEST_CASE("all of a statistic.csv, by who writes such rows") {
  const ScratchDir scratch;
  const std::string header = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";
  const auto table = [&](const std::string& titles, const std::string& cells) {
    const Reported reported = reported_of(
        scratch, "statistic.csv", header + titles + "\nAdd,a,0,0,1733905446819790,input,0,24,float32," + cells + "\n");
    CHECK(reported.problems.empty());
    CHECK((reported.facts.tensor_count == 1 && reported.facts.tensor_bytes == 24));
    return reported.detail;
  };
  CHECK(table(",Max Value,Min Value", "\"(2,3)\",6,1") ==
        "{'bytes':156,'dialects':['MindSpore 1.6.0 to 2.2.13'],'columns':['max','min'],'rows':1,'bad_rows':0,"
        "'runs':1}");
  CHECK(table(",MD5", "\"(2,3)\",6") ==
        "{'bytes':138,'dialects':['MindSpore 2.2.14 to 2.3.0rc'],'columns':['md5'],'rows':1,'bad_rows':0,"
        "'runs':1}");
  CHECK(table(",Max Value", "\"(2,3)\",6,") ==
        "{'bytes':145,'dialects':['MindSpore 2.3.0 to 2.7.0'],'columns':['max'],'rows':1,'bad_rows':0,'runs':1}");
  CHECK(table(",SHA1", "\"(2,3)\",6,") ==
        "{'bytes':140,'dialects':['MindSpore 2.7.1 and later'],'columns':['sha1'],'rows':1,'bad_rows':0,'runs':1}");
  CHECK(table(",Max Value", "\"[2,3]\",6,") ==
        "{'bytes':145,'dialects':['MindSpore 2.7.1 and later'],'columns':['max'],'rows':1,'bad_rows':0,'runs':1}");
  CHECK(detail_of(
            scratch, "statistic.csv",
            "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape,Max Value\n"
            "Add,a,0,0,1733905446819790,Input,0,24,FLOAT,ND,2x3,6\n") ==
        "{'bytes':158,'dialects':['msprobe'],'columns':['max'],'rows':1,'bad_rows':0,'runs':1}");
}

TEST_CASE("all of the tables that are counted line by line") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "mapping.csv", "1.npy,a.npy\n\n2.npy,b.npy\n") == "{'bytes':25,'rows':2,'bad_rows':0}");
  CHECK(detail_of(scratch, "mapping.csv", "1.npy,a\tb.npy\n") == "{'bytes':14,'rows':1,'bad_rows':0}");
  const Reported bad = reported_of(scratch, "mapping.csv", "1.npy,a.npy\n,b\nc,\nd\n2.npy,b.npy\n");
  CHECK(bad.detail == "{'bytes':32,'rows':2,'bad_rows':3}");
  CHECK(bad.problems == "line 2: not MAPPED,ORIGINAL; line 3: not MAPPED,ORIGINAL; line 4: not MAPPED,ORIGINAL");
  CHECK(detail_of(scratch, "ms_execution_order_graph_0.csv", "NodeExecutionOrder-FullNameWithScope\nA\nB\nC\n") ==
        "{'bytes':43,'lists':'operators','rows':3,'first':'A','last':'C'}");
  CHECK(detail_of(scratch, "ms_global_execution_order_graph_0.csv", "4\n5\n") ==
        "{'bytes':4,'lists':'steps','rows':2,'first':'4','last':'5'}");
  CHECK(detail_of(scratch, "ms_global_execution_order_graph_0.csv", "") ==
        "{'bytes':0,'lists':'steps','rows':0,'first':null,'last':null}");
}

TEST_CASE("all of the results of msprobe's tools") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "free_benchmark.csv", "rank,pert_mode,step,api_name,max_rel\n0,no,1,f,0.5\n,no,1,g,1\n") ==
        "{'bytes':60,'columns':['rank','pert_mode','step','api_name','max_rel'],'rows':2,'bad_rows':0,'failed':2,"
        "'warnings':0,'skipped':0,'first_failed':{'op_name':'f','io':null,'slot':null,'rank':0,'step':1,'value':0.5,"
        "'message':'the perturbation no changes the output by 0.5 relative','source':null}}");
  CHECK(detail_of(scratch, "accuracy_checking_details_1.csv", "API Name,Status\na.output.1,pass\nb,SKIP\n") ==
        "{'bytes':39,'columns':['API Name','Status'],'rows':2,'bad_rows':0,'failed':0,'warnings':0,'skipped':1,"
        "'first_failed':null}");
  CHECK(detail_of(scratch, "diff_analyze_7.json",
                  R"({"rank_1":[{"op_name":"f","stack_info":["File a, line 2, in g, \n c"]}]})") ==
        "{'bytes':72,'rows':1,'bad_rows':0,'failed':1,'warnings':0,'skipped':0,'first_failed':{'op_name':'f','io':null,"
        "'slot':null,'rank':1,'step':null,'value':null,'message':null,'source':'a:2  c'}}");
  const Reported bad =
      reported_of(scratch, "compare_result_1.csv", "NPU Name,Result\n,x\n,x\n,x\n,x\n,x\na.input.0,no\n");
  CHECK(bad.detail.find("'rows':1,'bad_rows':5,'failed':1") != std::string::npos);
  CHECK(bad.problems ==
        "line 2: no name of an operator; line 3: no name of an operator; line 4: no name of an operator; "
        "2 more like these");
  const Reported refused = reported_of(scratch, "compare_result_1.csv", "a,b\n");
  CHECK(refused.detail.find("'columns':[],'rows':0") != std::string::npos);
  CHECK(refused.problems == "line 1: no columns of a table of msprobe's results (a name and a verdict)");
}

TEST_CASE("all of a table of msprobe's monitor") {
  const ScratchDir scratch;
  const Reported table =
      reported_of(scratch, "grad_reduced_0-9.csv",
                  "vpp_stage,name,step,max,nans\n0,a,4,1,0\n0,b,3,nan,2\n0,c,7,nan,3\n0,d,5,nan,nan\n0,e,x,1,0\n");
  CHECK(table.detail ==
        "{'bytes':87,'columns':['vpp_stage','name','step','max','nans'],'rows':4,'bad_rows':1,'first_step':3,'last_"
        "step':7,"
        "'without_values':1,'with_nan':2,'first_nan':{'name':'b','step':3}}");
  CHECK(table.problems == "line 6: the step is not a number");
  CHECK(table.facts.tensor_count == 4);
  const Reported refused = reported_of(scratch, "grad_reduced_0-9.csv", "a\n");
  CHECK(refused.detail ==
        "{'bytes':2,'columns':null,'rows':0,'bad_rows':0,'first_step':null,'last_step':null,"
        "'without_values':0,'with_nan':0,'first_nan':null}");
}

TEST_CASE("a table of results of more than a gibibyte is not read") {
  const ScratchDir scratch;
  const std::string path = scratch.write("free_benchmark.csv", std::string(size_t{64} << 10, 'a'));
  std::error_code error;
  std::filesystem::resize_file(path, uint64_t{1} << 40, error);
  if (error) return;  // a file system without sparse files
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  const FileFacts facts = read_file_facts(*index, index->files().at(0), CancelToken());
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].code == ErrorCode::kTooLarge);
}

TEST_CASE("the lines of a table larger than a gibibyte are not counted") {
  const ScratchDir scratch;
  const std::string path = scratch.write("ms_execution_order_graph_0.csv", "rank,step\n0,1\n");
  std::error_code error;
  std::filesystem::resize_file(path, uint64_t{1} << 40, error);
  if (error) return;  // a file system without sparse files
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  IndexedFile file = index->files().at(0);
  const FileFacts facts = read_file_facts(*index, file, CancelToken());
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].message == "binary, not the text that its name promises");
  scratch.write("ms_execution_order_graph_0.csv", std::string(size_t{64} << 10, 'a'));
  std::filesystem::resize_file(path, uint64_t{1} << 40);
  const FileFacts text = read_file_facts(*index, file, CancelToken());
  REQUIRE(text.problems.size() == 1);
  CHECK(text.problems[0].message == "a table of 1.0 TiB; the lines of at most 1.0 GiB are counted");
}

TEST_CASE("all of IR, as text and as protobuf") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "a.ir",
                  "#IR entry      : @g\r\n#Total params  : 2\n#Total subgraph : 4\n#IR entry: @h\n"
                  "#Total params: 9\n#Total subgraph : 9\nIR entry : x\n") ==
        "{'bytes':124,'entry':'@g','subgraphs':4,'parameters':2}");
  const Reported text = reported_of(scratch, "b.ir", "hello\n");
  CHECK(text.detail == "{'bytes':6,'entry':null,'subgraphs':null,'parameters':null}");
  CHECK(text.problems == "this is not IR text: no operator and no graph of MindSpore is in its first 64 KiB");
  const std::string protobuf = test::build_ir_pb(test::small_ir_pb());
  CHECK(reported_of(scratch, "c.pb", protobuf).problems.empty());
  CHECK_FALSE(reported_of(scratch, "c.pb", protobuf.substr(0, 3)).problems.empty());
  const Reported binary = reported_of(scratch, "c.pb", "hello\n");
  CHECK(binary.detail == "{'bytes':6}");
  CHECK(binary.problems == "this is not an IR protobuf: it begins with no model and no node");
}

TEST_CASE("all of a dump.json, of one with bad entries and of one that is too large") {
  const ScratchDir scratch;
  const std::string front = R"({"task": "statistics", "level": "L1", "framework": "mindspore", "dump_data_dir": "x", )";
  const std::string tensor = R"({"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2, 3])";
  const Reported reported =
      reported_of(scratch, "dump.json",
                  front + R"("data": {"Functional.relu.0.forward": {"input_args": [)" + tensor +
                      R"(, "data_name": "a.npy"}, )" + tensor + R"(}, {"type": "int", "value": 1}, )" +
                      R"({"type": "mindspore.Tensor", "dtype": "Strange", "shape": [2]}], )" +
                      R"("input_kwargs": {}, "output": []}, "bad": 3}})");
  CHECK(reported.detail ==
        "{'bytes':435,'framework':'mindspore','level':'L1','task':'statistics','entries':2,'tensors':3,"
        "'in_files':1,'other_values':1,'bad_entries':1,'distributed':0}");
  CHECK(reported.problems == "line 1, column 433: bad: the name has no known form");
  CHECK((reported.facts.tensor_count == 3 && reported.facts.tensor_bytes == 48));
  scratch.write("debug.json", front + R"("n": 1, "data": {)");
  std::error_code error;
  std::filesystem::resize_file(scratch.file("debug.json"), uint64_t{1} << 40, error);
  if (error) return;  // a file system without sparse files
  const auto index = DumpIndex::build({scratch.file("debug.json")}, {});
  REQUIRE(index);
  const FileFacts facts = read_file_facts(*index, index->files().at(0), CancelToken());
  CHECK(json_with_apostrophes(facts.detail) ==
        "{'bytes':1099511627776,'framework':'mindspore','level':'L1','task':'statistics','entries':null,"
        "'tensors':null,'in_files':null,'other_values':null,'bad_entries':null,'distributed':null}");
  CHECK(facts.problems.empty());
}

TEST_CASE("all of an overflow record, and of one that has none") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "Opdebug.Node_OpDebug.1.2.1700000000000000.output.0.json", R"({"AI Core": {"a": 5}})") ==
        "{'bytes':21,'identity':{'rank':null,'graph':null,'step':null,'op_name':null,'op_type':null,'io':null,"
        "'slot':null,'task_id':null,'stream_id':null,'timestamp':null},'record':{'AI Core':{'a':5}}}");
  const Reported none = reported_of(scratch, "Opdebug.Node_OpDebug.1.2.1700000000000000", test::build_dump({}));
  CHECK(none.detail ==
        "{'bytes':51,'identity':{'rank':null,'graph':null,'step':null,'op_name':'Node_OpDebug',"
        "'op_type':'Opdebug','io':null,'slot':null,'task_id':1,'stream_id':2,'timestamp':'1700000000000000'},"
        "'record':null}");
  CHECK(none.problems == "an overflow record without its record");
}

TEST_CASE("all of kernel arguments, whatever their values") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "MatMul.Default_net_MatMul-op2.json",
                  R"({"a": [1, -2, 18446744073709551615, 2.5], "b": {"c": null}, "d": true, "e": "x"})") ==
        "{'bytes':80,'op_type':'MatMul','op_name':'Default_net_MatMul-op2','arguments':{'a':[1,-2,"
        "18446744073709551615,2.5],'b':{'c':null},'d':true,'e':'x'}}");
}

TEST_CASE("all of a configuration, in JSON and in YAML") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "c.json", R"({"device_target": "CPU", "ms_version": "2.7.0"})") ==
        "{'bytes':47,'tool':'MindSpore (who wrote the dump)','version':'2.7.0','keys':['device_target',"
        "'ms_version']}");
  CHECK(detail_of(scratch, "c.yaml", "a-b_c.9: 1\n  b: 2\n: 3\nc\nd:\n") ==
        "{'bytes':27,'tool':null,'version':null,'keys':['a-b_c.9','d']}");
  const auto tool = [&](const std::string& text) {
    const std::string detail = detail_of(scratch, "c.json", text);
    const size_t begin = detail.find("'tool':") + 7;
    return detail.substr(begin, detail.find(",'version'") - begin);
  };
  CHECK(tool(R"({"DumpSettings": {}})") == "'MindSpore (data_dump.json)'");
  CHECK(tool(R"({"server_list": []})") == "'MindSpore (rank table)'");
  CHECK(tool(R"({"ms_version": "2.7.0"})") == "null");
  CHECK(tool(R"({"task": "x"})") == "null");
  for (const std::string key : {"dump_path", "level", "step", "rank"})
    CHECK(tool("{\"task\": \"x\", \"" + key + "\": []}") == "'msprobe (config.json)'");
  CHECK(tool(R"({"level": "x"})") == "null");
}

TEST_CASE("all of call stacks and of a module tree") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "stack.json", R"({"a": [], "b": [], "c": []})") == "{'bytes':27,'entries':3}");
  CHECK(detail_of(scratch, "construct.json", R"({"a": null, "b": "a"})") == "{'bytes':21,'entries':2}");
}

TEST_CASE("all of a file of no kind, up to its sixteenth byte") {
  const ScratchDir scratch;
  CHECK(detail_of(scratch, "strange", std::string("\xff", 1) + "0123456789abcdefg") ==
        "{'bytes':18,'why':'neither its name nor its first bytes are those of a file that a dump has',"
        "'first_bytes':'ff 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65'}");
  CHECK(detail_of(scratch, "none", "") == "{'bytes':0,'why':'an empty file','first_bytes':''}");
  CHECK(detail_of(scratch, "ge_proto.pbtxt", "x") ==
        "{'bytes':1,'why':'a graph in a form that msdump does not read','first_bytes':'78'}");
}

}  // namespace
}  // namespace msdump
