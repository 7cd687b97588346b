#include <string>

#include <fmt/format.h>

#include "dump/names/file_name.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

// "type|name|task|stream|time", "-" for a number that is not there.
std::string text_of(const DumpFileName& name) {
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  return fmt::format("{}|{}|{}|{}|{}", name.op_type, name.op_name, number(name.task_id), number(name.stream_id),
                     name.timestamp);
}

std::string dump(std::string_view name) {
  const auto parsed = parse_dump_file_name(name);
  return parsed ? text_of(*parsed) : "none";
}

std::string npy(std::string_view name) {
  const auto parsed = parse_npy_file_name(name);
  if (!parsed) return "none";
  return fmt::format("{}|{}|{}|{}|{}", text_of(parsed->op), name_of(parsed->io), parsed->slot, parsed->format_text,
                     parsed->dtype ? name_of(*parsed->dtype) : "-");
}

TEST_CASE("an aclnn operator of 2.3 has its name first") {
  CHECK(dump("Default_network_Add-op3.Add.0.3.1700000000001000") == "Add|Default_network_Add-op3|0|3|1700000000001000");
  // Not when both or neither look like a name.
  CHECK(dump("Cast-op1.Default_Cast-op1.0.3.1700000000001000") == "Cast-op1|Default_Cast-op1|0|3|1700000000001000");
  CHECK(dump("Add.x-opera.0.3.1700000000001000") == "Add|x-opera|0|3|1700000000001000");
}

TEST_CASE("a raw file of msprobe's adump is named like an array, without the suffix") {
  const auto raw = [](std::string_view name) {
    const auto parsed = parse_raw_file_name(name);
    return parsed ? fmt::format("{}|{}|{}|{}", text_of(parsed->op), name_of(parsed->io), parsed->slot,
                                name_of(*parsed->dtype))
                  : "none";
  };
  CHECK(raw("Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND.BF16") ==
        "Sub|Default_Sub-op0|10|10|1735011096427368|input|0|bfloat16");
  CHECK(raw("Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND") == "none");
  CHECK(raw("Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND.what") == "none");
  CHECK(raw("Sub.Default_Sub-op0.10.10.1735011096427368") == "none");
  CHECK(raw("Sub.op0.1735011096427368.input.0.ND.BF16") == "none");
  CHECK(raw("weights.float32") == "none");
  CHECK(raw("float32") == "none");
}

TEST_CASE("dump file names of every writer") {
  CHECK(dump("Conv2D.Default_net_conv1-Conv2d_Conv2D-op12.3.7.1700000000001000") ==
        "Conv2D|Default_net_conv1-Conv2d_Conv2D-op12|3|7|1700000000001000");
  CHECK(dump("Add.x.3.1673383728093446") == "Add|x|3|-|1673383728093446");
  CHECK(dump("Add.x.0.3.1673383728093446.4.1.0.0") == "Add|x|0|3|1673383728093446");
  CHECK(dump("Add.x.0.3.1673383728093446.4.1.0") == "Add|x|0|3|1673383728093446");
  CHECK(dump("Add.x.5.0.3.1673383728093446") == "Add|x|0|3|1673383728093446");  // with a dump number
  CHECK(dump("Add.x.5.0.3.1673383728093446.FFTSPLUS.1.0.0") == "Add|x|0|3|1673383728093446");
  CHECK(dump("Add_lxslice0.x.0.3.1673383728093446") == "Add_lxslice0|x|0|3|1673383728093446");
  CHECK(dump("Opdebug.Node_OpDebug.9.7.1700000000007000") == "Opdebug|Node_OpDebug|9|7|1700000000007000");
  CHECK(dump("Add.x.65535.65535.1700000000007000") == "Add|x|65535|65535|1700000000007000");
}

TEST_CASE("a dump file may have a suffix") {
  CHECK(dump("Add.x.0.3.1673383728093446.bin") == "Add|x|0|3|1673383728093446");
  CHECK(dump("Add.x.3.1673383728093446.BIN") == "Add|x|3|-|1673383728093446");
  CHECK(dump("Add.x.0.3.1673383728093446.4.1.0.0.bin") == "Add|x|0|3|1673383728093446");
  CHECK(dump("Add.x.0.3.1673383728093446.json") == "none");
  CHECK(dump("Add.x.0.3.1673383728093446.csv") == "none");
}

TEST_CASE("operator names with dots or without a letter are read from the right") {
  CHECK(dump("Add..0.0.1673383728093446") == "Add||0|0|1673383728093446");
  CHECK(dump("Parameter.conv1.weight.0.0.1673383728093446") == "Parameter|conv1.weight|0|0|1673383728093446");
  CHECK(dump("Parameter.layers.3.0.0.1673383728093446") == "Parameter|layers.3|0|0|1673383728093446");
  CHECK(dump("Add.a.b.c.1.2.1673383728093446") == "Add|a.b.c|1|2|1673383728093446");
}

TEST_CASE("short clocks are read in names of the usual form only") {
  CHECK(dump("Add.x.1.2.3") == "Add|x|1|2|3");
  CHECK(dump("Add.x.1.2") == "none");
  CHECK(dump("Add.x.1.2.3.4") == "none");
}

TEST_CASE("a time stamp may be very long and a task too large for a number is none") {
  const std::string clock(255, '9');
  CHECK(dump("Add.x.1.2." + clock) == "Add|x|1|2|" + clock);
  CHECK(dump("Add.x.99999999999999999999.2.1673383728093446") == "Add|x|-|2|1673383728093446");
}

TEST_CASE("names that are no dump files") {
  for (const char* name : {"", ".", "...", "mapping.csv", "statistic.csv", "Add", "Add.x", "1673383728093446",
                           "README.md", "71502983415062987341509827364518", "conv1.0.1673383728093446.pb", "a.b.c.d.e",
                           "Add.x.y.z.1673383728093446", "x.1673383728093446", "ms_output_trace_code_graph_0.ir"}) {
    CAPTURE(name);
    CHECK(dump(name) == "none");
  }
}

TEST_CASE("npy names of MindSpore") {
  CHECK(npy("Conv2D.Conv2D-op12.0.0.1612345678901234.output.0.DefaultFormat.npy") ==
        "Conv2D|Conv2D-op12|0|0|1612345678901234|output|0|DefaultFormat|-");
  CHECK(npy("Conv2D.Default_net_Conv2D-op1.3.7.1612345678901234.input.1.NC1HWC0.float16.npy") ==
        "Conv2D|Default_net_Conv2D-op1|3|7|1612345678901234|input|1|NC1HWC0|float16");
  CHECK(npy("Add.x.0.0.1612345678901234.output.10.DefaultFormat.Float32.npy") ==
        "Add|x|0|0|1612345678901234|output|10|DefaultFormat|float32");
  CHECK(npy("Add..0.0.1612345678901234.output.0.DefaultFormat.npy") ==
        "Add||0|0|1612345678901234|output|0|DefaultFormat|-");
  CHECK(npy("Parameter.conv1.weight.0.0.1612345678901234.output.0.DefaultFormat.npy") ==
        "Parameter|conv1.weight|0|0|1612345678901234|output|0|DefaultFormat|-");
  CHECK(npy("Add.x.1.2.1612345678901234.output.0.ND.BF16.npy") == "Add|x|1|2|1612345678901234|output|0|ND|bfloat16");
}

TEST_CASE("npy names made of other dump file names") {
  CHECK(npy("Add.x.5.1.2.1612345678901234.output.0.NCHW.npy") == "Add|x|1|2|1612345678901234|output|0|NCHW|-");
  CHECK(npy("Add.x.1.2.1612345678901234.4.1.0.0.output.0.NCHW.npy") == "Add|x|1|2|1612345678901234|output|0|NCHW|-");
  CHECK(npy("Add.x.1612345678.output.0.NCHW.npy") == "none");
}

TEST_CASE("formats and dtypes in npy names that nobody knows are none") {
  const auto parsed = parse_npy_file_name("Add.x.1.2.1612345678901234.output.0.Mystery.word.npy");
  REQUIRE(parsed);
  CHECK(parsed->format_text == "Mystery");
  CHECK_FALSE(parsed->format);
  CHECK_FALSE(parsed->dtype);
}

TEST_CASE("npy names that say nothing") {
  for (const char* name :
       {"", ".npy", "a.npy", "Add.x.1.2.1612345678901234.output.0.npy", "output.0.NCHW.npy", "....output.0.NCHW.npy",
        "Add.x.1.2.1612345678901234.both.0.NCHW.npy", "Add.x.1.2.1612345678901234.output.one.NCHW.npy",
        "Add.x.1.2.1612345678901234.output.0.NCHW.bin"}) {
    CAPTURE(name);
    CHECK(npy(name) == "none");
  }
}

TEST_CASE("raw bin names of MindSpore 1.0 to 1.2") {
  const auto conv = parse_raw_bin_file_name(
      "Default--network-Net--conv1-Conv2d--Conv2D-op12_input_1_shape_8_3_3_3_Float32_FracZ.bin");
  REQUIRE(conv);
  CHECK(conv->op_name == "Default/network-Net/conv1-Conv2d/Conv2D-op12");
  CHECK(conv->io == Io::kInput);
  CHECK(conv->slot == "1");
  CHECK(conv->shape == Shape{8, 3, 3, 3});
  CHECK(conv->dtype == DType::kFloat32);
  CHECK(conv->format == Format::kFractalZ);
  const auto old = parse_raw_bin_file_name("fc1.weight_output_0_shape_10_kNumberTypeFloat16_DefaultFormat.bin");
  REQUIRE(old);
  CHECK(old->op_name == "fc1.weight");
  CHECK(old->dtype == DType::kFloat16);
  CHECK(old->format == Format::kND);
}

TEST_CASE("a raw bin name of shape 0 is a scalar and an empty dimension stays") {
  CHECK(parse_raw_bin_file_name("Loss-op1_output_0_shape_0_Float32_DefaultFormat.bin")->shape == Shape{});
  CHECK(parse_raw_bin_file_name("Loss-op1_output_0_shape_0_4_Float32_DefaultFormat.bin")->shape == Shape{0, 4});
}

TEST_CASE("raw bin names with the marks in the operator's own name") {
  const auto parsed = parse_raw_bin_file_name("my_shape_input_2--Op_output_3_input_0_shape_2_Int32_FRACTAL_NZ.bin");
  REQUIRE(parsed);
  CHECK(parsed->op_name == "my_shape_input_2/Op_output_3");
  CHECK(parsed->io == Io::kInput);
  CHECK(parsed->slot == "0");
  CHECK(parsed->format == Format::kFractalNZ);
}

TEST_CASE("names that are no raw bin") {
  for (const char* name :
       {"", ".bin", "_shape_.bin", "a_output_0_shape_.bin", "a_output_0_shape_2.bin", "a_output_0_shape_Float32_ND.bin",
        "a_output_x_shape_2_Float32_ND.bin", "a_both_0_shape_2_Float32_ND.bin", "output_0_shape_2_Float32_ND.bin",
        "a_output_0_shape_2_Float33_ND.bin", "a_output_0_shape_99999999999999999999_Float32_ND.bin",
        "a_output_0_shape_2_Float32_ND.npy", "Add.x.1.2.1700000000000000.bin"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_raw_bin_file_name(name));
  }
}

TEST_CASE("suffixes") {
  CHECK(suffix_of("a.b.NPY") == "npy");
  CHECK(suffix_of("a.").empty());
  CHECK(suffix_of("a").empty());
  CHECK(is_known_other_suffix("json"));
  CHECK_FALSE(is_known_other_suffix("bin"));
  CHECK_FALSE(is_known_other_suffix(""));
}

std::string fx(std::string_view name) {
  const auto parsed = parse_fx_file_name(name);
  if (!parsed) return "none";
  return fmt::format("{}|{}|{}|{}|{}", parsed->node, parsed->target, name_of(parsed->io), parsed->slot,
                     parsed->timestamp);
}

std::string text_of(const std::optional<CountedName>& name) {
  if (!name) return "none";
  return fmt::format("{}|{}|{}|{}", name->name, name->device, name->number, name_of(name->dtype));
}

// torchair python/torchair/fx_dumper.py: _trace_dump.
TEST_CASE("the name of an FX tensor has node, target, io, slot and time") {
  CHECK(fx("mm-aten.mm.default.INPUT.0.20240125031118787351.npy") == "mm|aten.mm.default|input|0|20240125031118787351");
  CHECK(fx("mm_1-aten.mm.default.OUTPUT.1.20240125031118787351.npy") ==
        "mm_1|aten.mm.default|output|1|20240125031118787351");
  CHECK(fx("cat-aten.cat.default.INPUT.0.12.20240125031118787351.npy") ==
        "cat|aten.cat.default|input|0.12|20240125031118787351");
  CHECK(fx("q-npu.npu_x-y.default.INPUT.0.20240125031118787351.npy") ==
        "q|npu.npu_x-y.default|input|0|20240125031118787351");
}

TEST_CASE("names that are not quite those of an FX tensor are left alone") {
  for (const char* name :
       {"mm-aten.mm.default.INPUT.0.20240125031118787351.bin", "mm-aten.mm.default.INPUT.0.2024012503111878.npy",
        "mm-aten.mm.default.input.0.20240125031118787351.npy", "mm-aten.mm.default.INPUT.20240125031118787351.npy",
        "mm-aten.mm.default.INPUT.x.20240125031118787351.npy",
        "mm-aten.mm.default.INPUT.0.1.2.20240125031118787351.npy", "aten.mm.default.INPUT.0.20240125031118787351.npy",
        "-aten.mm.default.INPUT.0.20240125031118787351.npy", "mm-.INPUT.0.20240125031118787351.npy",
        "INPUT.0.20240125031118787351.npy", ".npy", ""}) {
    INFO(name);
    CHECK(fx(name) == "none");
  }
}

// op-plugin save_npugraph_tensor; versions before 2.7.1 wrote no number.
TEST_CASE("what torch_npu saves has device and number at its end") {
  CHECK(text_of(parse_torch_npu_name("add_device_0_3")) == "add|0|3|undefined");
  CHECK(text_of(parse_torch_npu_name("x_device_12")) == "x|12||undefined");
  CHECK(text_of(parse_torch_npu_name("a_device_1_b_device_0_1")) == "a_device_1_b|0|1|undefined");
  for (const char* stem :
       {"_device_0_3", "add_device_", "add_device_x_0", "add_device_0_x", "add_device_0_1_2", "add"}) {
    INFO(stem);
    CHECK(text_of(parse_torch_npu_name(stem)) == "none");
  }
}

// mindspore ccsrc/tools/tensor_dump/tensordump.cc: TensorNameToArrayName.
TEST_CASE("what TensorDump saves has dtype and number at its end") {
  CHECK(text_of(parse_tensor_dump_name("mul_float32_3")) == "mul||3|float32");
  CHECK(text_of(parse_tensor_dump_name("a_b_in_bfloat16_10")) == "a_b_in||10|bfloat16");
  CHECK(text_of(parse_tensor_dump_name("m_bool_0")) == "m||0|bool");
  for (const char* stem : {"float32_3", "_float32_3", "mul_Float32_3", "mul_fp32_3", "mul_float_3", "mul_3",
                           "mul_float32_", "mul_float32", "3", ""}) {
    INFO(stem);
    CHECK(text_of(parse_tensor_dump_name(stem)) == "none");
  }
}

TEST_CASE("a numbered name has something before its number") {
  CHECK(text_of(parse_numbered_name("act_0")) == "act||0|undefined");
  CHECK(text_of(parse_numbered_name("a_1_12")) == "a_1||12|undefined");
  for (const char* stem : {"_0", "act_", "act0", "act_0x", "0", ""})
    CHECK(text_of(parse_numbered_name(stem)) == "none");
}

TEST_CASE("a time stamp is a number that sorts, also a date with microseconds, which is too long for 64 bits") {
  const auto time = [](std::string_view text) {
    NameFacts name;
    name.timestamp = text;
    return time_of(name);
  };
  CHECK(time("1700000000001000") == 1700000000001000);
  CHECK(time("20240125031118787351") == 240125031118787351);
  CHECK(time("20240125031118787351") < time("20240125031118787352"));
  CHECK(time("") == std::nullopt);
  CHECK(time("123456789012345678901") == std::nullopt);
}

// "file|parameter|io|slot|format|dtype|shape"
std::string fields_of(const std::optional<ConvertedName>& name) {
  if (!name) return "none";
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", name->file, name->parameter, name_of(name->io), name->slot,
                     name->format ? name_of(*name->format) : "-", name->dtype ? name_of(*name->dtype) : "-",
                     name->shape ? describe(*name->shape) : "-");
}
std::string array_name(std::string_view name) { return fields_of(parse_converted_npy_name(name)); }
std::string raw_name(std::string_view name) { return fields_of(parse_converted_bin_name(name)); }

TEST_CASE("names of arrays in every form that convert writes") {
  CHECK(array_name("Add.a.1.2.1700000000000000.input.0.npy") == "Add.a.1.2.1700000000000000||input|0|-|-|-");
  CHECK(array_name("Add.a.1.1700000000000000.output.10.npy") == "Add.a.1.1700000000000000||output|10|-|-|-");
  CHECK(array_name("any.file.output.0.2x3.npy") == "any.file||output|0|-|-|-");
  CHECK(array_name("any.file.output.0.scalar.npy") == "any.file||output|0|-|-|-");
  CHECK(array_name("any.file.output.0.NC1HWC0.npy") == "any.file||output|0|NC1HWC0|-|-");
  CHECK(array_name("any.file.output.0.ND.bfloat16.npy") == "any.file||output|0|ND|bfloat16|-");
  CHECK(array_name("a.safetensors.layers.0.weight.npy") == "|layers.0.weight|parameter|0|-|-|-");
  CHECK(raw_name("any.file.output.0.2_3.float32.ND.bin") == "any.file||output|0|ND|float32|2x3");
  CHECK(raw_name("any.file.output.0.scalar.int64.ND.bin") == "any.file||output|0|ND|int64|scalar");
  CHECK(raw_name("any.file.input.1.768.float16.NC1HWC0.bin") == "any.file||input|1|ND|float16|768");
  CHECK(raw_name("any.file.l1buffer.0.bin") == "any.file||l1buffer|0|-|uint8|-");
  CHECK(raw_name("a.ckpt.conv.weight.2_3.float32.ND.bin") == "|conv.weight|parameter|0|ND|float32|2x3");
}

TEST_CASE("names that convert does not write") {
  for (const char* const name :
       {"", ".npy", "output.0.npy", ".output.0.npy", "a.output.npy", "a.output.x.npy", "a.both.0.npy",
        "a.output.0.1700000000000000.npy", "a.output.0.2x.npy", "a.output.0.word.npy", "a.output.0.ND.word.npy",
        "a.output.0.npz", ".safetensors.w.npy", "a.safetensors.npy", "weights.npy", "Module.fc.forward.0.output.npy"}) {
    CAPTURE(name);
    CHECK(array_name(name) == "none");
  }
  for (const char* const name :
       {"", ".bin", "a.output.0.bin", "a.output.0.2_3.float32.bin", "a.output.0.2_.float32.ND.bin",
        "a.output.0.2_3.word.ND.bin", "a.output.0.2_3.float32.word.bin", "pytorch_model.bin"}) {
    CAPTURE(name);
    CHECK(raw_name(name) == "none");
  }
}

TEST_CASE("the name of a parameter ends where its shape, format and dtype begin") {
  const auto name = [](const char* file, const Shape& shape) {
    return std::string(parameter_of(parse_converted_npy_name(file).value(), shape));
  };
  CHECK(name("a.ckpt.fc.weight.npy", {2, 3}) == "fc.weight");
  CHECK(name("a.ckpt.fc.weight.2x3.npy", {2, 3}) == "fc.weight");
  CHECK(name("a.ckpt.fc.weight.4x3.npy", {2, 3}) == "fc.weight.4x3");
  CHECK(name("a.ckpt.layers.8.npy", {3}) == "layers.8");
  CHECK(name("a.ckpt.layers.8.3.npy", {3}) == "layers.8");
  CHECK(name("a.ckpt.fc.weight.ND.npy", {2, 3}) == "fc.weight");
  CHECK(name("a.ckpt.fc.weight.ND.bfloat16.npy", {2, 3}) == "fc.weight");
  CHECK(name("a.ckpt.w.npy", {2, 3}) == "w");
}

TEST_CASE("arrays of msaccucmp are those of their operators, in the order in which these ran") {
  const test::ScratchDir scratch;
  const std::string array = test::npy_of("<f4", {2}, std::string(8, '\0'));
  scratch.write("Relu.net_Relu.2.3.1700000000002000.input.0.npy", array);
  scratch.write("MatMul.net_MatMul.1.3.1700000000001000.output.0.2x1.npy", array);
  scratch.write("Log.net_Log.3.1700000000003000.output.0.npy", array);
  const test::ListedDump dump = test::list_dump({scratch.path()});
  std::vector<std::string> rows;
  for (const TensorRecord& tensor : dump.tensors())
    rows.push_back(fmt::format("{} {} {}:{} {}", tensor.name.op_type, tensor.name.op_name, name_of(tensor.name.io),
                               tensor.name.slot, tensor.name.task_id.value_or(-1)));
  CHECK(rows ==
        std::vector<std::string>{"MatMul net_MatMul output:0 1", "Relu net_Relu input:0 2", "Log net_Log output:0 3"});
}

}  // namespace

}  // namespace msdump
