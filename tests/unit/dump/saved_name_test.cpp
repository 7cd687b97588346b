#include "dump/names/file_name.h"

#include <string>

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

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

}  // namespace
}  // namespace msdump
