// fuzz_seeds DIR: writes where fuzzing begins, DIR/<target>/: each kind of good file and one file for each named fault.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "compare/dumps/compare_dumps.h"
#include "convert/convert.h"
#include "parts/part_file.h"
#include "recompute/kept_judgement.h"
#include "stats/compute.h"
#include "support/dump_builder.h"
#include "support/ge_builder.h"
#include "support/ir_pb_builder.h"
#include "support/ms_ckpt_builder.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"

namespace {

namespace fs = std::filesystem;
using namespace msdump;
using namespace msdump::test;

constexpr size_t kLargest = 64 << 10;  // the few faults that need megabytes are unit tests only

void write_seed(const fs::path& folder, std::string_view name, const std::string& content) {
  if (content.size() <= kLargest) write_bytes(folder / name, content);
}

void dump_files(const fs::path& folder) {
  fs::create_directories(folder);
  DumpSpec spec;
  spec.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3}, {{2, 3}}),
                  input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                  input_of(DType::kInt4, Format::kND, {5}), raw_of(TensorSpec::kBuffer, 9),
                  raw_of(TensorSpec::kSpace, 7)};
  for (const auto& [kind, name] :
       {std::pair(DumpKind::kBinary, "good binary"), std::pair(DumpKind::kClassic, "good classic"),
        std::pair(DumpKind::kHybrid, "good hybrid"), std::pair(DumpKind::kNano, "good nano")}) {
    spec.kind = kind;
    write_seed(folder, name, build_dump(spec));
  }
  spec.kind = DumpKind::kBinary;
  spec.tensors = {input_of(DType::kFloat32, Format::kND, {2, 3}), output_of(DType::kFloat32, Format::kND, {2, 3})};
  spec.attributes = {{"slice",
                      R"({"threadMode": true, "slice_instance_num": 1, "outputCutList": [[2, 1]],)"
                      R"( "input_tensor_slice": [[[{"lower": 0, "higher": 2}, {"lower": 0, "higher": 3}]]],)"
                      R"( "output_tensor_slice": [[[{"lower": 0, "higher": 2}, {"lower": 0, "higher": 3}]]]})"}};
  write_seed(folder, "good ffts", build_dump(spec));
  for (const DumpFault fault : all_dump_faults()) write_seed(folder, name_of(fault), build_faulty_dump(fault));
}

void npy_files(const fs::path& folder) {
  fs::create_directories(folder);
  for (const int major : {1, 2, 3}) {
    NpySpec spec;
    spec.major = major;
    write_seed(folder, "version " + std::to_string(major), build_npy(spec));
  }
  write_seed(folder, "bfloat16", build_npy({.literal = npy_literal("<E2", "(12,)")}));
  write_seed(folder, "literal", NpySpec{}.literal);
  for (const NpyFault fault : all_npy_faults()) write_seed(folder, name_of(fault), build_faulty_npy(fault));
}

void names(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const char* text :
       {"Conv2D.Default_net_Conv2D-op12.3.7.1700000000001000",
        "Add.x.3.1673383728093446",
        "Add..0.0.1673383728093446.bin",
        "Add.x.5.0.3.1673383728093446.FFTSPLUS.1.0.0",
        "Add.x.0.3.1673383728093446.4.1.0.0",
        "Add.x.1.2.3",
        "Conv2D.Conv2D-op1.3.7.1612345678901234.input.1.NC1HWC0.float16.npy",
        "Parameter.layers.3.0.0.1612345678901234.output.0.DefaultFormat.npy",
        "Default--net--Conv2D-op12_input_1_shape_8_3_3_3_Float32_FracZ.bin",
        "w_output_0_shape_0_kNumberTypeInt32_FRACTAL_NZ.bin",
        "0|5-8,100-120",
        "*conv?-Conv2d*\nDefault/net/conv1-Conv2d/Conv2D",
        "covnert\nconvert",
        "file10\nfile2",
        "/data/rank_0/Net/1/20",
        "/data/5/20240102030405/2/model/1/0",
        "/out/step3/rank1/dump_tensor_data",
        "mm-aten.mm.default.INPUT.0.20240125031118787351.npy",
        "cat-aten.cat.default.INPUT.0.1.20240125031118787351.npy",
        "add_device_0_0.pt",
        "mul_float32_3.npy\nact_0",
        "Module.fc.Linear.0.input_kwargs.x.pt",
        "/d/worldsize2_global_rank1/graph_3/7",
        "/d/dump_tensor_data/rank1",
        "/d/step0/pid77",
        "71502983415062987341509827364518,Add.x.1.2.1700000000000000\n1804289383.npy,Mul.y.0.0.17\r\n",
        "\x1b[31m\xe7\xbd\x91\xe2\x80\xae\xff\n\t"}) {
    write_seed(folder, "seed" + std::to_string(++number), text);
  }
}

// The first byte chooses the kind: '0' tolerances, '1' names, '2' a baseline.
void compare_files(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const char* text :
       {"0# all\n* rtol=1e-3 atol=0.5 cosine>=0.99 max_ulp<8  # why\n*BatchNorm*:output:0 rtol=1\ntype:Conv2D*\n",
        "0dtype:float16 rtol=5e-3\nDefault/net/conv1-Conv2d/Conv2D-op12:output kl<=1\na?b*c over_tolerance<=0\n",
        "1candidate,reference\nDefault/a/Conv2D-op1,Default/b/Conv2D-op7\nx:output:0,y:output:1\n",
        R"(1"with, comma","with ""quotes"""
gone,N/A)",
        "1Functional.relu.0.forward.input.0: Functional.relu.1.forward.input.0\n"
        "Tensor.add.0.forward: Torch.add.0.forward\n",
        "1attn.q.Dense: attn.q.Linear\nDense: Linear\n",
        "1- ms_api: Functional.softmax\n  pt_api: Torch.softmax\n  ms_args: [0, axis]\n  pt_args: [1, dim]\n",
        "1TopLayer: {fc1: fc2, a.b: c}\n",
        R"(2{"schema": 1, "accepted": [
{"rank":0,"graph":null,"step":1,"op_name":"b\udcff","io":"output","slot":"0.1","occurrence":0,)"
        R"("verdict":"nan","relative_l2":"inf","max_abs":1.5,"mismatches":3}]})"}) {
    write_seed(folder, "seed" + std::to_string(++number), text);
  }
}

void md5_jobs(const fs::path& folder) {
  fs::create_directories(folder);
  for (const size_t jobs : {size_t{1}, size_t{8}, size_t{40}, size_t{69}}) {
    std::string text(1, static_cast<char>(jobs));
    for (size_t i = 0; i < jobs; ++i) {
      for (const size_t part : {i * 55, i % 3, i * 40}) text += static_cast<char>(part % 256);
    }
    write_seed(folder, std::to_string(jobs) + " jobs", text + "what is hashed");
  }
}

// Every dtype, each with its elements near each other, equal, and apart.
void pairs(const fs::path& folder) {
  fs::create_directories(folder);
  for (int dtype = 0; dtype < 36; ++dtype) {
    for (const int likeness : {0, 1, 2}) {
      std::string text = {static_cast<char>(dtype), static_cast<char>(likeness << 4), 9, 17, 77};
      for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37 % 251);
      write_seed(folder, std::to_string(dtype) + " " + std::to_string(likeness), text);
    }
  }
}

void pt_files(const fs::path& folder) {
  fs::create_directories(folder);
  const auto state =
      pickle::ordered_dict({{pickle::text("w"), tensor_call()}, {pickle::text("step"), pickle::integer(3)}});
  write_seed(folder, "dict", build_pt({.pickle = pickle::whole(state + "}b")}));
  write_seed(folder, "plain zip", build_pt({.form = ZipForm::kPlain}));
  write_seed(folder, "zip64", build_pt({.byteorder = "big", .form = ZipForm::kZip64}));
  write_seed(folder, "dtype",
             build_pt({.pickle = pickle::whole(
                           tensor_call({.storage_class = "UntypedStorage", .elements = 24, .dtype = "uint32"}))}));
  write_seed(folder, "pickle", PtSpec{}.pickle);
  write_seed(folder, "dcp metadata",
             build_dcp_metadata({{.chunks = {{.begin = {0, 0}, .shape = {4, 1}, .length = 9}, {{0, 1}, {4, 2}}}}}));
  const auto dtensor = dtensor_call(
      {.placements = {placement("Shard", {{pickle::text("dim"), pickle::integer(0)}}), placement("Replicate")}});
  write_seed(folder, "dtensor", build_pt({.pickle = pickle::whole(dtensor)}));
  const auto parallel =
      pickle::dict({{pickle::text("tp_rank"), pickle::integer(1)}, {pickle::text("tp_size"), pickle::integer(2)}});
  const auto meta =
      pickle::dict({{pickle::text("dims"), pickle::text("t h[tp]")}, {pickle::text("sglang_parallel_info"), parallel}});
  const auto dumped = pickle::dict({{pickle::text("value"), tensor_call()}, {pickle::text("meta"), meta}});
  write_seed(folder, "dumper", build_pt({.pickle = pickle::whole(dumped)}));
  const auto flat = tensor_call({.shape = {6}});
  const auto shape = pickle::call(pickle::global("torch", "Size"), {pickle::integers({2, 3})});
  for (const std::string_view key : {"fp32_flat_groups", "single_partition_of_fp32_groups"}) {
    const auto optimizer = pickle::dict(
        {{pickle::text(key), pickle::list({flat})}, {pickle::text("partition_count"), pickle::integer(1)}});
    const auto shapes = pickle::list({pickle::ordered_dict({{pickle::text("w"), shape}})});
    const auto zero =
        pickle::dict({{pickle::text("param_shapes"), shapes}, {pickle::text("optimizer_state_dict"), optimizer}});
    write_seed(folder, key, build_pt({.pickle = pickle::whole(zero)}));
  }
  const std::string array = build_npy({});
  const ZipSpec arrays{
      .entries = {{.name = "a.npy", .data = array}, {.name = "b.npy", .data = array, .deflated = true}}};
  write_seed(folder, "npz", build_zip(arrays));
  for (const PtFault fault : all_pt_faults()) write_seed(folder, name_of(fault), build_faulty_pt(fault));
}

void safetensors_files(const fs::path& folder) {
  fs::create_directories(folder);
  write_seed(folder, "good", build_faulty_safetensors(SafetensorsFault::kNone));
  write_seed(folder, "header", "{" + safetensors_entry("w", "BF16", "[2,2]", 0, 8) + R"(,"__metadata__":{"a":"b"}})");
  for (const SafetensorsFault fault : all_safetensors_faults())
    write_seed(folder, name_of(fault), build_faulty_safetensors(fault));
}

void ms_ckpt_files(const fs::path& folder) {
  fs::create_directories(folder);
  const std::string one = parameter("w", "Int16", {3}, "ab"), two = parameter("w", "Int16", {3}, "cdef");
  write_seed(folder, "pieces", one + two + parameter("step", "Int32", {0}, "1234"));
  write_seed(folder, "lost_piece", one + parameter("v", "Int8", {2}, "xy"));
}

void shard_indexes(const fs::path& folder) {
  fs::create_directories(folder);
  write_seed(folder, "two",
             R"({"metadata":{"total_size":16},"weight_map":{"a.w":"1.safetensors","b":"2.safetensors"}})");
  write_seed(folder, "map_alone", R"({"a":"part0.safetensors","b":"part0.safetensors"})");
  write_seed(folder, "path", R"({"weight_map":{"a":"../1.safetensors"}})");
  write_seed(folder, "float", R"({"metadata":{"total_size":1.5e10},"weight_map":{}})");
}

// A row of files: the number of a name in fuzz_check_dump.cpp, the length in two bytes, the content.
void small_dumps(const fs::path& folder) {
  fs::create_directories(folder);
  const auto file = [](char name, const std::string& content) {
    std::string text(1, name);
    text += static_cast<char>(content.size() & 0xFF);
    return text + static_cast<char>(content.size() >> 8) + content;
  };
  const std::string array = build_npy({}), nothing;
  const std::string ir =
      "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Total params: 2\n# Params:\n"
      "%para1_x: <Tensor[Float32], (2)>\n%para2_w: <Ref[Tensor[Float32]], (2), ref_key=w>\n\n"
      "subgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {\n"
      "  %1(CNode_1) = Mul(%para1_x, %para2_w)\n"
      "      : (<Tensor[Float32], (2)>, <Tensor[Float32], (2)>) -> (<Tensor[Float32], (2)>)\n"
      "      # Fullname with scope: (Default/Mul-op1)\n}\n";
  const std::string tensors = file(0, array) + file(1, array) + file(2, array) + file(3, array);
  const std::string header =
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,NaN Count\n";
  const std::string row = "Mul,Default_Mul-op1,3,7,1700000000000002,output,0,8,float32,\"(2)\",nan,1,1\n";
  const std::string record =
      R"({"AI Core":{"status":32,"task_id":3,"stream_id":7,"pc_start":"0x10"},"L2 Atomic Add":{"status":0}})";
  write_seed(folder, "tensors", tensors);
  write_seed(folder, "tensors and ir", tensors + file(8, ir));
  write_seed(folder, "cut", file(0, array.substr(0, 100)) + file(1, array) + file(2, nothing) + file(8, ir));
  write_seed(folder, "statistics", file(6, header + row) + file(7, header) + file(8, ir));
  write_seed(folder, "overflow", file(1, array) + file(5, record));
  write_seed(folder, "settings",
             file(1, array) + file(12, R"({"common_dump_settings":{"dump_mode":0,"iteration":"0-3"}})") +
                 file(10, "NodeExecutionOrder-FullNameWithScope\nDefault/Mul-op1\nDefault/Add-op2\n") +
                 file(11, "0\n1\n2\n"));
  write_seed(folder, "msprobe",
             file(13, R"({"task":"tensor","level":"L1","framework":"pytorch","data":{"Functional.relu.0.forward":)"
                      R"({"input_args":[],"input_kwargs":{},"output":[{"type":"torch.Tensor","dtype":"torch.float32",)"
                      R"("shape":[2],"Max":NaN,"Min":0,"Mean":0,"Norm":1}]}}})") +
                 file(15, array));
}

// A row of files: the path and a line feed, the length in two bytes, the content.
void catalogues(const fs::path& folder) {
  fs::create_directories(folder);
  const auto file = [](std::string path, const std::string& content) {
    path += '\n';
    path += static_cast<char>(content.size() & 0xFF);
    return path + static_cast<char>(content.size() >> 8) + content;
  };
  const std::string array = build_npy({}), tree = "rank_0/Net/0/0/", npy = ".output.0.DefaultFormat.npy";
  const std::string header =
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  write_seed(
      folder, "mapping",
      file(tree + "mapping.csv", "71502983415062987341509827364518.npy,Add.Default_Add-op1.0.0.17" + npy + "\n") +
          file(tree + "71502983415062987341509827364518.npy", array) + file(tree + "123.npy", array));
  write_seed(folder, "statistics",
             file(tree + "statistic.csv", header + "Add,Default_Add-op1,0,0,17,output,0,24,float32,\"(2,3)\",6,\n") +
                 file(tree + "Add.Default_Add-op1.0.0.17" + npy, array) +
                 file("rank_1" + tree.substr(6) + "Add.Default_Add-op1.0.0.17" + npy, array.substr(0, 90)));
  write_seed(
      folder, "containers",
      file("5/20240102030405/0/model/1/0/Add.x.1.2.1700000000000000",
           build_dump({.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3})}})) +
          file("w.pt", build_pt({})) +
          file("iteration_1/Default--Add-op1_output_0_shape_2_3_Float32_DefaultFormat.bin", std::string(24, 'x')));
  write_seed(folder, "msprobe",
             file("step0/rank0/dump.json",
                  R"({"task": "tensor", "level": "L1", "framework": "pytorch", "data": {"Torch.add.0.forward": )"
                  R"({"input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], )"
                  R"("data_name": "Torch.add.0.forward.input.0.npy"}], "output": []}}})") +
                 file("step0/rank0/dump_tensor_data/Torch.add.0.forward.input.0.npy", array));
}

// The first byte is the number of a name in fuzz_file_facts.cpp.
void facts(const fs::path& folder) {
  fs::create_directories(folder);
  const auto write = [&](int name, std::string_view what, const std::string& content) {
    write_seed(folder, what, std::string(1, static_cast<char>(name)) + content);
  };
  const DumpSpec dump{.attributes = {{"a", "b"}},
                      .tensors = {input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                                  output_of(DType::kFloat32, Format::kND, {2, 3})}};
  write(0, "dump file", build_dump(dump));
  write(0, "damaged dump file", build_faulty_dump(DumpFault::kSizeLessThanShape));
  write(1, "npy", build_npy({}));
  write(2, "pt", build_pt({}));
  write(3, "raw bin", std::string(24, 'x'));
  write(4, "raw", std::string(24, 'x'));
  write(5, "statistic",
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
        "Add,a,0,0,1733905446819790,input,0,24,float32,\"(2,3)\",6,\n");
  write(6, "mapping", "71502983415062987341509827364518,Add.x.1.2.1700000000000000\n");
  write(7, "order", "NodeExecutionOrder-FullNameWithScope\nDefault/Add-op0\n");
  write(8, "free benchmark",
        "rank,pert_mode,stage,step,api_name,max_rel,dtype,shape,output_index,output_value\n"
        "0,improve_precision,forward,1,Functional.softmax.3.forward,1.0000002,torch.float32,\"[2, 3]\",0,\n");
  write(8, "cut free benchmark", "rank,pert_mode,stage\n0,\"improve\n\0\xFF");
  write(9, "dump json",
        R"({"task": "tensor", "level": "L1", "framework": "pytorch", "data": {"Torch.add.0.forward": {"input_args": )"
        R"([{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "data_name": "a.pt"}], "output": []}}})");
  write(12, "config", R"({"common_dump_settings": {"kernels": [1, -2.5, null, true, "x"]}})");
  write(15, "ir", "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n");
  write(17, "overflow", build_dump({.tensors = {raw_of(TensorSpec::kOutput, 2048)}}));
  write(18, "overflow json", R"({"AI Core": {"status": 7}})");
  write(19, "anything", build_dump(dump));
}

void ir_protobuf_files(const fs::path& folder) {
  fs::create_directories(folder);
  IrPbSpec spec = small_ir_pb();
  spec.nodes[0].attributes = {
      {"names", pb_list_value(32, {pb_text_value("x"), pb_int_value(-1)})},
      {"dst_type", pb_number(1, 39) + pb_bytes(20, pb_type(10))},
      {"dict", pb_number(1, 33) + pb_bytes(19, pb_bytes(1, "k") + pb_bytes(2, pb_int_value(2)))}};
  spec.nodes[1].output_type = pb_tuple_type({pb_type(43), pb_tensor_type(11, {})});
  spec.nodes[1].source_address =
      "      # In file /a.py:1~2, 3~4/x/\n      # Corresponding forward node candidate:\n      #  - In file "
      "/b.py(3)/y/\n";
  write_seed(folder, "beside a dump", build_ir_pb(spec));
  write_seed(folder, "node", build_pb_node(spec.nodes[0]));
  spec.bare = true;
  write_seed(folder, "bare", build_ir_pb(spec));
  IrPbSpec saved = small_ir_pb();
  saved.root_name.reset();
  saved.constants = {{"cst1", pb_number(1, 14) + pb_bytes(8, pb_number(1, 2) + pb_number(2, 11))}};
  for (PbNode& node : saved.nodes) node.source_address.reset();
  saved.nodes[0].instance_name = "add";
  write_seed(folder, "of save_graphs", build_ir_pb(saved));
  write_seed(folder, "source address", *spec.nodes[1].source_address);
  write_seed(folder, "type", spec.nodes[1].output_type);
  for (const auto& [name, value] : spec.nodes[0].attributes) write_seed(folder, "value " + name, value);
  for (const IrPbFault fault : all_ir_pb_faults()) write_seed(folder, name_of(fault), build_faulty_ir_pb(fault));
}

// One text for each way in which MindSpore has written IR.
void ir_texts(const fs::path& folder) {
  fs::create_directories(folder);
  write_seed(
      folder, "1.3",
      "#IR entry      : @g.1\n#attrs         :\n#Total params  : 1\n\n%para1_w : <Ref[Tensor(F32)]x[const vector]"
      "[6]>  :  <Float32xND[const vector][6]>  :  IsWeight:true\n\n#Total subgraph : 1\n\nsubgraph attr:\n"
      "subgraph @g.1() {\n  [ValueNode]10(U)\n  %0([CNode]8) = Conv2D(%para1_w, U) {instance name: c} "
      "primitive_attrs: {pad: (0, 0), group: 1}\n      : (<Tensor[Float32]x[const vector][2, 3]>, <UMonad>) -> "
      "(<Tuple[Tensor[Float16],Tensor[Float32]*2]>)\n      : (<Float16xNC1HWC0[const vector][1, 2]>) -> "
      "(<Float16xFracZ[const vector][2]>)\n      : (Default/c-Conv2d/Conv2D-op1)\n      # In file a.py(1)/  x/\n"
      "      # Corresponding forward node candidate:\n      #  - In file b.py(2)/y/\n      #    In file c.py(3)/z/\n"
      "  Return(%0)\n      : (<Tensor[Float32]x[const vector][]>)\n}\n");
  write_seed(
      folder, "2.10",
      "# IR entry: @main\n# Total subgraphs: 2\n\n# Params:\n%para1_x: <Tensor[Float32], (-1, 3)> : [s, 3]  :  "
      "has_default\n\nTotal number of cnodes: 4\n\nsubgraph @in parent: [subgraph @main](%para2_y) {\n  "
      "%0(CNode_1$a) = PrimFunc_Add(%para2_y, $(@main:c), I64(3)) cnode_primal_attrs: {unique_id: \"12\"}\n      : "
      "(<Ref[Tensor[Float32]], (2), ref_key=w, is_parameter>) -> (<Tuple[Int64*2], TupleShape(NoShape, NoShape)>)\n"
      "      : (Tensor, Scalar) -> (TupleUnfold)\n      # Fullname with scope: (Default/Add-op0)\n      # In file "
      "a.py:1~4, 4~16/def f(x):/\n      # In file a.py:2, 1~2/f(x)/<~~This line of code can be shared by multiple "
      "nodes, and may be duplicated./\n  Return(%0)\n}\n# Order:\n#   1: @in:a{[0]: x}\n\nsubgraph @main() {\n  "
      "%0(c) = Partial(@in, %para1_x)\n  %1(d) = %0[@FuncUnion(@in, @main)](%0)\n      # Comment:\n        %9(x) = "
      "y(z)\n}\n");
  write_seed(
      folder, "sort mode",
      "###Deep Sort Order###\nsubgraph @g(\n        %para1_x : <Tensor[Float32], ()>\n        , %para2_y : <null>\n"
      "    ) {\n\n#------------------------> 0\n  %1(a) = PrimitivePy::Sub{prim_type=2}[names=[\"x\"]](%para1_x, "
      "Tensor(43)[])\n      :(<Tensor[Float32], ()>) -> (`<null>`)\n      #scope: Default\n      # In file a.py:1/x/"
      "\n  Primitive::Return{prim_type=1}(%1)\n}\n");
  write_seed(
      folder, "wrapped",
      "...\n%20(equiv\noutput) = Add(%2, Tensor(shape=[2, 2], value=\n[[1 2]\n [3 4]])) primitive_attrs: {a: [\nx],   "
      "b: 1}\n {in_strategy: ((2, 1))}      : (<A>,\n<B>) -> (<C>)\n : full_name_with_scope: (Default/co\nnv-op1)\n ..."
      "\n # In file a.py(1\n7)/x/\n");
  write_seed(folder, "gutter", "\xef\xbb\xbf  1 %0(a) = A(%1)\r\n  2       : (<A>)\r\n  3 Return(%0)\r\n");
}

// A graph of GE with everything that the readers keep, in each form; whole, cut and laid out differently.
void ge_graphs(const fs::path& folder) {
  fs::create_directories(folder);
  GeDesc desc;
  desc.shape = {2, -1};
  desc.layout = "NC1HWC0";
  desc.origin_shape = {{2, 3}};
  desc.origin_name = "Default/ReLU-op1";
  desc.parent_index = 0;
  GeOp data{"x", "Data", {""}, {}, {}, {desc}, {}, 0};
  GeOp call{"call", "PartitionedCall", {"x:0"}, {}, {desc}, {desc}, {"sub"}, {}};
  GeOp fused{"Default/Add-op0Default/ReLU-op1",
             "Add",
             {"x:0", "", "x:-1", "call:1"},
             {{"Default/Add-op0", "b"}},
             {desc, absent_desc(), desc},
             {desc, desc},
             {},
             {}};
  GeOp out{"out", "NetOutput", {"x:0"}, {{}}, {desc}, {}, {}, {}};
  const std::vector<GeNet> nets = {{"root", {data, call, fused, out}}, {"sub", {data, out}}};
  for (const auto& [name, text] : {std::pair("proto", ge_proto_text(nets)), std::pair("onnx", ge_onnx_text(nets)),
                                   std::pair("json", ge_json_text(nets))}) {
    write_seed(folder, name, text);
    write_seed(folder, std::string(name) + " cut", text.substr(0, text.size() * 2 / 3));
  }
  write_seed(
      folder, "short",
      "name: 'g' op: [< name: 'a' 'b' type: \"A\\101\\x42\" input: [\"a:0\"] # c\n attr { value { list { s: ['x'] } } "
      "key: '_datadump_original_op_names' } output_desc { shape { dim: [1, 2] } } >]; graph {}");
  write_seed(folder, "torchair",
             "from torchair import ge\n# File \"/a/net.py\", line 23, in forward, code: y = net(x)\n"
             "# File \"b.py\", line 4\n# return x * w\nMul_0 = ge.Mul(x, w, node_name=\"net/Mul\")\n"
             "Relu_0 = ge.Relu(Mul_0, node_name='Relu')\n");
}

// A part, facts of each kind, and the same as the target takes them without a digest.
void parts(const fs::path& folder) {
  fs::create_directories(folder);
  TensorNumbers statistics;
  statistics.shape = Shape{2, 3};
  statistics.numbers[0] = StatisticNumber{1};
  statistics.count = 6;
  statistics.note = "note";
  statistics.codes.emplace();
  statistics.mean_abs = 0.5;
  FileOutcome outcome;
  ConvertRow& row = outcome.rows.emplace_back();
  row.input = "a";
  row.shape = Shape{2};
  row.policy = PlanPolicy::kKept;
  outcome.failures.push_back(make_error(ErrorCode::kTruncated, "cut").with_offset(7));
  outcome.warnings.push_back({"output:0", "kept"});
  outcome.long_names.push_back({"a", "b", "c"});
  TensorDiff diff;
  kernels::PairMetrics metrics;
  metrics.max_abs = 1;
  diff.metrics = metrics;
  diff.limits = Limits{1, 2};
  PairDetails details;
  details.worst = WorstElement{{1, 2}, report::Value(1.5F), report::List{report::Value(1), report::Value(2)}, 0.5};
  details.look.axes.axes.push_back({0, 4, {{0, 1, 0.5, 1, 2}}, 0.5});
  recompute::KeptJudgement judgement;
  judgement.outputs.push_back({0, "y", {}});
  judgement.outputs.back().judgement.shape = {2, 3};
  judgement.outputs.back().judgement.place = recompute::Box{{0, 1}, {1, 2}, 0};
  judgement.asked.push_back({"transpose_b", "true", recompute::Value::From::kAttribute});
  const std::map<FactKey, std::string> facts = {
      {{FactKind::kStatistics, 1, 2}, encode_result(Result<TensorNumbers>(statistics))},
      {{FactKind::kConverted, 1}, encode_result(Result<FileOutcome>(outcome))},
      {{FactKind::kPair, 300}, encode_result(Result<TensorDiff>(diff))},
      {{FactKind::kPair, 301}, encode_result(Result<PairDetails>(details))},
      {{FactKind::kRecomputed, 7, 1}, encode_result(Result<recompute::KeptJudgement>(judgement))}};
  const std::string text = part_text({"1", "stats", {1, 2}, "digest", 4, {"--op=100%\n", "--", "a"}}, facts);
  write_seed(folder, "good", text);
  write_seed(folder, "cut", text.substr(0, text.size() - 9));
  size_t number = 0;
  for (const auto& [key, bytes] : facts) {
    FactWriter writer;
    writer(static_cast<uint8_t>(key.kind), key.first, key.second, bytes);
    write_seed(folder, "fact " + std::to_string(number), "f" + bytes);
    write_seed(folder, "body " + std::to_string(number++), "b" + writer.take());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds DIR\n");
    return 2;
  }
  const fs::path folder = argv[1];
  dump_files(folder / "dump_file");
  npy_files(folder / "npy");
  parts(folder / "part");
  names(folder / "names");
  compare_files(folder / "compare_files");
  md5_jobs(folder / "md5");
  pairs(folder / "pair");
  pt_files(folder / "pt");
  safetensors_files(folder / "safetensors");
  ms_ckpt_files(folder / "ms_ckpt");
  shard_indexes(folder / "shard_index");
  facts(folder / "file_facts");
  small_dumps(folder / "check_dump");
  catalogues(folder / "catalogue");
  ir_protobuf_files(folder / "ir_protobuf");
  ir_texts(folder / "ir_text");
  ge_graphs(folder / "ge_graph");
  return 0;
}
