#include "msprobe/dump_pkl.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

Result<DumpJson> try_read(const std::string& text, const DumpJsonLimits& limits = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("dump.pkl", text));
  REQUIRE(file);
  return read_dump_pkl(*file, limits);
}

DumpJson pkl_of(const std::string& text) {
  auto result = try_read(text);
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}

// A line for a tensor.
std::string row(const std::string& name, const std::string& statistics, const std::string& md5 = "[]") {
  return "[\"" + name + "\", 1, " + md5 + R"(, "torch.float32", [2, 3], )" + statistics + "]\n";
}

std::string numbers(const MsprobeTensor& tensor) {
  std::string all;
  for (const auto* number : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm, &tensor.md5})
    all += number->value_or("-") + " ";
  return all;
}

// ptdbg_ascend/dump/dump.py: dump_data, append_pkl_data, get_scalar_data_info.
TEST_CASE("a line of dump.pkl is a tensor of a call, with the name of today") {
  const DumpJson pkl = pkl_of(row("Functional_conv2d_1_forward_input.0", "[1.5, -1.0, 0.25]") +
                              row("Functional_conv2d_1_forward_output.0.1", "[1.5, -1.0, NaN, Infinity]") +
                              row("Tensor___add___0_backward_input.1", R"([3.0, 1.0, 2.0, "Nan"])") +
                              row("Functional_conv2d_1_forward_output.1", "[[], [], []]"));
  CHECK(pkl.problems.empty());
  CHECK(pkl.framework == "pytorch");
  CHECK(pkl.entries == 2);
  REQUIRE(pkl.tensors.size() == 4);
  const MsprobeTensor& first = pkl.tensors[0];
  CHECK(first.op_name == "Functional.conv2d.1.forward");
  CHECK(first.op_type == "conv2d");
  CHECK(first.io == MsprobeIo::kInput);
  CHECK(first.slot == "0");
  CHECK(first.dtype == DType::kFloat32);
  CHECK(first.shape == Shape{2, 3});
  CHECK(first.data_name == "Functional_conv2d_1_forward_input.0.npy");
  CHECK(numbers(first) == "1.5 -1.0 0.25 - - ");
  CHECK(pkl.tensors[1].slot == "0.1");
  CHECK(numbers(pkl.tensors[1]) == "1.5 -1.0 NaN Infinity - ");
  CHECK(numbers(pkl.tensors[2]) == "3.0 1.0 2.0 - - ");
  CHECK(numbers(pkl.tensors[3]) == "- - - - - ");
  CHECK(pkl.tensors[2].order == 1);
  CHECK(pkl.tensors[3].order == 0);
  CHECK(pkl.tensors[1].offset == row("Functional_conv2d_1_forward_input.0", "[1.5, -1.0, 0.25]").size());
}

TEST_CASE("checksums, arguments and call stacks are in dump.pkl, too") {
  const DumpJson pkl =
      pkl_of(row("NPU_npu_swiglu_0_forward_input.0", "[]", R"("0a1b2c3d")") +
             R"(["NPU_npu_swiglu_0_forward_input.1", 1, [], "<class 'int'>", "[]", [-1, -1, -1, -1]])"
             "\n"
             R"(["NPU_npu_swiglu_0_forward_input.2", 1, [], "<class 'bool'>", "[]", [true, true, true]])"
             "\n"
             R"(["NPU_npu_swiglu_0_forward_output.2", 1, [], "<class 'bool'>", "[]", [true, true, true]])"
             "\n\n"
             R"(["NPU_npu_swiglu_0_forward_stack_info", [["/net.py", "12", "forward", "y = x"]]])");
  CHECK(pkl.problems.empty());
  REQUIRE(pkl.tensors.size() == 1);
  CHECK(numbers(pkl.tensors[0]) == "- - - - 0a1b2c3d ");
  CHECK(pkl.others == 3);
  REQUIRE(pkl.calls.size() == 1);
  REQUIRE(pkl.calls[0].arguments.size() == 2);
  CHECK(pkl.calls[0].op_name == "NPU.npu_swiglu.0.forward");
  CHECK(pkl.calls[0].arguments[0].slot == "1");
  CHECK(pkl.calls[0].arguments[0].text == "-1");
  CHECK(pkl.calls[0].arguments[1].kind == MsprobeArgument::Kind::kBool);
}

TEST_CASE("call stacks of dump.pkl are as those of a stack.json") {
  const ScratchDir scratch;
  const auto stacks_of = [&](const std::string& rows) {
    const auto file = File::open(scratch.write("dump.pkl", rows));
    REQUIRE(file);
    CHECK(has_stacks(file->head()) == (rows.find("_stack_info") != rows.npos));
    auto stacks = read_dump_pkl_stacks(*file);
    REQUIRE(stacks);
    return std::move(*stacks);
  };
  const std::string good = row("Functional_relu_0_forward_output.0", "[1.0, 0.0, 0.5]");
  const StackJson stacks =
      stacks_of(good + R"j(["Functional_relu_0_forward_stack_info", [["/a, b/net.py", "12", "forward", "y = f(x)"], )j"
                       R"j(["<string>", 3, "run", null], "File /c.py, line 4, in g, \n h()"]])j"
                       "\n"
                       R"j(["Functional_relu_0_backward_stack_info", [["/engine.py", "1", "backward", "x"]]])j"
                       "\n"
                       R"j(["Functional_relu_0_forward_stack_info", 3])j"
                       "\n"
                       R"j(["Functional_relu_1_forward_stack_info", [["/net.py", "12"]]])j"
                       "\n"
                       R"j(["relu_stack_info", []])j"
                       "\n"
                       R"j(["Functional_relu_2_forward_stack_info", [)j");
  CHECK(stacks.problems.count() == 4);
  REQUIRE(stacks.ops.size() == 1);
  const StackJson::Op* const op = stacks.find("Functional.relu.0.forward");
  REQUIRE(op != nullptr);
  std::string frames;
  for (const uint32_t frame : stacks.stack_of(*op)) {
    const MsprobeFrame& one = stacks.frames[frame];
    frames += fmt::format("{}:{} {} {};", one.file, one.line, one.function, one.code);
  }
  CHECK(frames == "/a, b/net.py:12 forward y = f(x);<string>:3 run ;/c.py:4 g h();");
  CHECK(stacks_of(good).ops.empty());
}

TEST_CASE("a line that is no row is a problem with its place, and the others are read") {
  const std::string good = row("Functional_relu_0_forward_output.0", "[1.0, 0.0, 0.5]");
  for (const char* const bad :
       {"{}", "[]", "x", "[\"Functional_relu_0_forward_input.0\", 1", R"(["relu", 1, [], "torch.float32", [1], []])",
        R"(["Functional_relu_0_forward_input.0", 1, [], "torch.float32", [1]])",
        R"(["Functional_relu_0_forward_input.0", 1, [], "torch.float32", [-1], []])",
        R"(["Functional_relu_0_forward_input.0", 1, [], "torch.float32", "[]", []])",
        R"(["Functional_relu_0_forward_input.0", 1, [], 3, [1], []])",
        R"(["Functional_relu_0_forward_input.0", []])"}) {
    INFO(bad);
    const DumpJson pkl = pkl_of(good + bad + "\n" + good);
    CHECK(pkl.tensors.size() == 2);
    REQUIRE(pkl.problems.count() == 1);
    CHECK(pkl.problems[0].message.starts_with("line 2, column "));
    CHECK_FALSE(pkl.problems[0].path.empty());
  }
  CHECK_FALSE(pkl_of(row("F_a/b_0_forward_input.0", "[]")).tensors[0].data_name);
}

TEST_CASE("a dump.pkl takes no more memory than the limits say") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += row(fmt::format("Functional_relu_{}_forward_output.0", i), "[1.0, 0.0, 0.5]");
  const auto result = try_read(text, {.kept = 4000});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kTooLarge);
  CHECK_FALSE(result.error().path.empty());
  const auto lines = try_read(text, {.entry = 10});
  REQUIRE(lines);
  CHECK(lines->tensors.empty());
  CHECK(lines->problems.count() == 100);
}

TEST_CASE("the table is known by its name and by its first line") {
  for (const char* const name : {"dump.pkl", "api_stack_dump.pkl", "list_dump.pkl", "scope_dump_list_a_2023.pkl"})
    CHECK(is_dump_pkl_name(name));
  for (const char* const name : {"data.pkl", "my_dump.pkl", "dump.pkl.bak", "dump"})
    CHECK_FALSE(is_dump_pkl_name(name));
  CHECK(looks_like_dump_pkl(row("Functional_relu_0_forward_output.0", "[]")));
  CHECK(looks_like_dump_pkl(R"(["Tensor_add_0_forward_stack_info", []])"));
  for (const char* const line : {"", "[", "[\"", R"({"a": 1})", R"(["relu", 1])", "Functional_relu_0_forward_output.0"})
    CHECK_FALSE(looks_like_dump_pkl(line));
}

}  // namespace
}  // namespace msdump
