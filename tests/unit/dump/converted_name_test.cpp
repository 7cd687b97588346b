#include "dump/names/file_name.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

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
