#include "msprobe/tensor_log.h"

#include <string>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

const std::string kDebugMode = "Total captured tensor hash ops: 2\n====\n\n";
const std::string kTorchtitan = "Total captured activations: 2\nExcluded ops dispatched: t, view\n====\n\n";

Result<DumpJson> try_read_log(const std::string& text, const DumpJsonLimits& limits = {}) {
  const test::ScratchDir scratch;
  const auto file = File::open(scratch.write("a.log", text));
  REQUIRE(file);
  return read_tensor_log(*file, limits);
}

DumpJson log_of(const std::string& text) {
  auto result = try_read_log(text);
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}

// "input 1.mask hash:2.5 max min mean norm"
std::string text_of(const MsprobeTensor& tensor) {
  std::string text = fmt::format("{} {} {}", name_of(tensor.io), tensor.slot, tensor.md5.value_or("-"));
  for (const auto* number : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm}) text += " " + number->value_or("-");
  return text;
}

// torch/utils/_debug_mode/_mode.py: dump_tensor_hashes.
TEST_CASE("leaves of DebugMode are tensors with a hash, in the order of the log") {
  const DumpJson log = log_of(kDebugMode +
                              "[Net.fc/op_0_aten::addmm.default]\n"
                              "  Call type: torch op\n  Call index: 3\n"
                              "  Input hashes: [0][0]=2.5, [0][1][2]=[1.5, 7], [1]['a=b, c']=18446744073709551615\n"
                              "  Output hashes: <root>=\"NaN\"\n\n"
                              "[<none>/op_0_triton_k]\n"
                              "  Output hashes: in_ptr0={\"imag\": 0.0, \"real\": 1.0}, [1]=\"Infinity\"\n");
  CHECK(log.problems.empty());
  CHECK(log.framework == "pytorch");
  CHECK(log.entries == 2);
  REQUIRE(log.tensors.size() == 6);
  CHECK(log.tensors[0].op_name == "Net.fc/op_0_aten::addmm.default");
  CHECK(log.tensors[0].op_type == "addmm");
  CHECK_FALSE(log.tensors[0].shape);
  CHECK(text_of(log.tensors[0]) == "input 0 hash:2.5 - - - -");
  CHECK(text_of(log.tensors[1]) == "input 1.2 hash:[1.5, 7] - - - -");
  CHECK(text_of(log.tensors[2]) == "input a=b, c weak-hash:18446744073709551615 - - - -");
  CHECK(text_of(log.tensors[3]) == "output 0 - - - - NaN");
  CHECK(log.tensors[4].op_type == "triton_k");
  CHECK(log.tensors[4].order == 1);
  CHECK(text_of(log.tensors[4]) == "output in_ptr0 hash:{\"imag\": 0.0, \"real\": 1.0} - - - -");
  CHECK(text_of(log.tensors[5]) == "output 1 hash:\"Infinity\" - - - Infinity");
}

// torchtitan/tools/activation_tracer.py: dump_captures_to_file, of 2026 and before.
TEST_CASE("blocks of torchtitan have the statistics of their first output") {
  const std::string block =
      "  Shape: torch.Size([2, 3]), Dtype: torch.bfloat16\n  L2 norm: 3.000000e+00\n  Min: -1.000000e+00\n"
      "  Max: 2.000000e+00\n  Mean: nan\n";
  const DumpJson log = log_of(kTorchtitan + "[layers.0.wq/op_1_mm]\n" + block +
                              "  Output hash: 4.000000e+00, 5.000000e+00\n  Input hashes: 1.000000e+00, nan\n"
                              "  Input producers: layers.0/op_0_mul;\n  Location: a.py:5\n  Phase: backward\n\n"
                              "[<none>/op_0__fused_adam_]\n  Input hashes: 6.000000e+00\n\n"
                              "[old/op_0_add]\n" +
                              block + "  L1 norm:  7.000000e+00\n");
  CHECK(log.problems.empty());
  REQUIRE(log.tensors.size() == 6);
  CHECK(text_of(log.tensors[0]) == "output 0 weak-hash:4.000000e+00 2.000000e+00 -1.000000e+00 NaN 3.000000e+00");
  CHECK(log.tensors[0].shape == Shape{2, 3});
  CHECK(log.tensors[0].dtype == DType::kBfloat16);
  CHECK(text_of(log.tensors[1]) == "output 1 weak-hash:5.000000e+00 - - - -");
  CHECK_FALSE(log.tensors[1].shape);
  CHECK(text_of(log.tensors[2]) == "input 0 weak-hash:1.000000e+00 - - - -");
  CHECK(text_of(log.tensors[3]) == "input 1 - - - - NaN");
  CHECK(log.tensors[4].op_type == "_fused_adam_");
  CHECK(text_of(log.tensors[5]) == "output 0 weak-hash:7.000000e+00 2.000000e+00 -1.000000e+00 NaN 3.000000e+00");
}

TEST_CASE("a line of a tensor log that is not understood is a problem with its place") {
  for (const char* const bad : {"[relu]", "[m/op_x_relu]", "[m/op_1_]", "[m/op_1_relu", "/op_1_relu]\n[", "[/op_1",
                                "[m/op_0_mm]\n  Input hashes: [0][0]", "[m/op_0_mm]\n  Input hashes: =1",
                                "[m/op_0_mm]\n  Shape: (2, 3)", "[m/op_0_mm]\n  Max: big"}) {
    INFO(bad);
    const DumpJson log = log_of(kDebugMode + bad + "\n\n[m/op_0_mm]\n  Output hashes: <root>=1.5\n");
    CHECK(log.tensors.size() == 1);
    REQUIRE(log.problems.count() == 1);
    CHECK(log.problems[0].message.starts_with("line "));
    CHECK_FALSE(log.problems[0].path.empty());
  }
}

TEST_CASE("a tensor log takes no more memory than the limits say") {
  std::string text = kDebugMode;
  for (int i = 0; i < 100; ++i) text += fmt::format("[m/op_{}_mm]\n  Output hashes: <root>=1.5\n", i);
  const auto result = try_read_log(text, {.kept = 4000});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kTooLarge);
  const auto lines = try_read_log(text, {.entry = 10});
  REQUIRE(lines);
  CHECK(lines->tensors.empty());
  const DumpJson log = log_of(kDebugMode + "[m/op_0_mm]\n  Output hashes: <root>=" + std::string(1000, '1') + "\n");
  CHECK(log.tensors.at(0).md5->size() < 200);
}

TEST_CASE("a tensor log is known by its title, and torchtitan's by its name") {
  CHECK(tensor_log_writer("Total captured tensor hash ops: 12") == TensorLogWriter::kDebugMode);
  CHECK(tensor_log_writer("Total captured activations: 0\r") == TensorLogWriter::kTorchtitan);
  for (const char* const line : {"", "Total captured activations: ", "Total captured activations: x", "Total: 3"})
    CHECK_FALSE(tensor_log_writer(line));
  CHECK(rank_of_tensor_log("rank_12_activations.log") == 12);
  for (const char* const name : {"rank__activations.log", "rank_activations.log", "rank_x_activations.log", "a.log"})
    CHECK_FALSE(rank_of_tensor_log(name));
  const auto other = try_read_log("hello\n");
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::kBadHeader);
}

}  // namespace
}  // namespace msdump
