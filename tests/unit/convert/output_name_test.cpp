// The names of converted files, mode by mode; hostile names from inside files.
#include "convert/output_tree.h"

#include <vector>

#include "support/catch.h"
#include "tables/mapping_csv.h"

using namespace msdump;

namespace {

const std::string kBase = "Conv2D.Default_network-Net_conv1-op12.3.7.1700000000000000";

StoredTensor tensor_of(Io io = Io::kOutput, const std::string& slot = "0") {
  StoredTensor tensor;
  tensor.io = io;
  tensor.slot = slot;
  return tensor;
}

Plan plan_with(PlanPolicy policy, Format from, Format to, Shape shape, DType dtype = DType::kFloat16) {
  Plan plan;
  plan.policy = policy;
  plan.from = from;
  plan.to = to;
  plan.dtype = dtype;
  plan.npy_dtype = info(dtype).npy_dtype;
  plan.dst_elements = element_count(shape).value();
  plan.shape = std::move(shape);
  return plan;
}

Plan converted(Shape shape, DType dtype = DType::kFloat16) {
  return plan_with(PlanPolicy::kConverted, Format::kNC1HWC0, Format::kNCHW, std::move(shape), dtype);
}
Plan kept(Shape shape) { return plan_with(PlanPolicy::kKept, Format::kNC1HWC0, Format::kNC1HWC0, std::move(shape)); }

NameRequest request_of(OutputType type, bool format_given, const std::string& op_name = "") {
  return {kBase, op_name, type, Naming::kMsaccucmp, format_given};
}

std::string name_with(const NameRequest& request, const Plan& plan, const StoredTensor& tensor = tensor_of()) {
  return output_name(request, tensor, plan).name;
}

bool is_one_component(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

TEST_CASE("with a format an npy is called by its dimensions") {
  const NameRequest request = request_of(OutputType::kNpy, true);
  CHECK(name_with(request, converted({1, 20, 3, 4})) == kBase + ".output.0.1x20x3x4.npy");
  CHECK(name_with(request, converted({})) == kBase + ".output.0.scalar.npy");
  CHECK(name_with(request, converted({0})) == kBase + ".output.0.0.npy");
  CHECK(name_with(request, kept({2, 1, 3, 4, 16}), tensor_of(Io::kInput, "10")) == kBase + ".input.10.2x1x3x4x16.npy");
}

TEST_CASE("without a format an npy is called by its slot alone") {
  CHECK(name_with(request_of(OutputType::kNpy, false), kept({2, 1, 3, 4, 16})) == kBase + ".output.0.npy");
}

TEST_CASE("a bin is called by dimensions, numpy's dtype and format, or by its flat length") {
  const NameRequest given = request_of(OutputType::kBin, true), none = request_of(OutputType::kBin, false);
  CHECK(name_with(given, converted({1, 20, 3, 4})) == kBase + ".output.0.1_20_3_4.float16.NCHW.bin");
  CHECK(name_with(given, converted({}, DType::kBfloat16)) == kBase + ".output.0.scalar.float32.NCHW.bin");
  CHECK(name_with(given, kept({3, 8, 16, 16})) == kBase + ".output.0.3_8_16_16.float16.NC1HWC0.bin");
  CHECK(name_with(none, kept({1, 2, 3, 3, 16})) == kBase + ".output.0.288.float16.NC1HWC0.bin");
}

TEST_CASE("msnpy takes the last part of the operator's name and the format") {
  const std::string op = "Default/network-Net/conv1-Conv2d/Conv2D-op12";
  const std::string rest = ".3.7.1700000000000000.output.0.";
  CHECK(name_with(request_of(OutputType::kMsnpy, true, op), converted({1})) ==
        "Conv2D.Conv2D-op12" + rest + "NCHW.npy");
  CHECK(name_with(request_of(OutputType::kMsnpy, true, op), kept({1})) == "Conv2D.Conv2D-op12" + rest + "NC1HWC0.npy");
  CHECK(name_with(request_of(OutputType::kMsnpy, false, op), kept({1})) == "Conv2D.Conv2D-op12" + rest + "NC1HWC0.npy");
  CHECK(name_with(request_of(OutputType::kMsnpy, true, ""), converted({1})) == kBase + ".output.0.NCHW.npy");
}

TEST_CASE("msnpy leaves names alone that do not have five fields") {
  for (const std::string& base :
       std::vector<std::string>{"plain", "Conv2D.a.1.2", "Conv2D.a.1.2.3.4", kBase + ".bin"}) {
    NameRequest request = request_of(OutputType::kMsnpy, true, "Default/x");
    request.input_name = base;
    CHECK(name_with(request, converted({1})) == base + ".output.0.NCHW.npy");
  }
}

TEST_CASE("MindSpore's naming has format and dtype, whatever the type asked for") {
  for (const OutputType type : {OutputType::kNpy, OutputType::kBin, OutputType::kMsnpy}) {
    NameRequest request = request_of(type, true, "Default/x");
    request.naming = Naming::kMindspore;
    CHECK(name_with(request, converted({1, 2}, DType::kBfloat16)) == kBase + ".output.0.NCHW.bfloat16.npy");
    CHECK(name_with(request, kept({1, 2})) == kBase + ".output.0.NC1HWC0.float16.npy");
  }
}

TEST_CASE("buffers and spaces are bytes in every mode") {
  for (const OutputType type : {OutputType::kNpy, OutputType::kBin, OutputType::kMsnpy}) {
    for (const bool format_given : {false, true}) {
      const NameRequest request = request_of(type, format_given);
      CHECK(name_with(request, kept({7}), tensor_of(Io::kBuffer, "0")) == kBase + ".l1buffer.0.bin");
      CHECK(name_with(request, kept({7}), tensor_of(Io::kSpace, "2")) == kBase + ".space.2.bin");
    }
  }
  CHECK(opdebug_output_name("Opdebug.Node_OpDebug.1.2.3", tensor_of()).name ==
        "Opdebug.Node_OpDebug.1.2.3.output.0.json");
}

TEST_CASE("a parameter gives its own name to its output, which stays one file name") {
  StoredTensor parameter = tensor_of(Io::kParameter);
  parameter.op_name = "fc.weight";
  const NameRequest request = {"m.safetensors", "", OutputType::kNpy, Naming::kMsaccucmp, false};
  CHECK(output_name(request, parameter, kept({2})).name == "m.safetensors.fc.weight.npy");
  parameter.op_name = "../../etc/x";
  const std::string hostile = output_name(request, parameter, kept({2})).name;
  CHECK(hostile == "m.safetensors..._.._etc_x.npy");
  CHECK(is_one_component(hostile));
}

TEST_CASE("names of 255 bytes and more are hashed, with their suffix and the name they stand for") {
  const std::string tail = ".output.0.1x2.npy";
  for (const size_t length : {254U, 255U, 256U, 271U, 5000U}) {
    INFO(length << " bytes");
    NameRequest request = request_of(OutputType::kNpy, true);
    request.input_name = std::string(length - tail.size(), 'n');
    const OutputName name = output_name(request, tensor_of(), converted({1, 2}));
    const std::string full = request.input_name + tail;
    if (length < 255) {
      CHECK(name.name == full);
      CHECK_FALSE(name.original);
    } else {
      CHECK(name.name == hash_name(full) + ".npy");
      CHECK(name.name.size() == 36);
      CHECK(name.original == full);
    }
  }
}

TEST_CASE("the hash is uuid3 of the name in the DNS name space") {
  // python3 -c "import uuid; print(uuid.uuid3(uuid.NAMESPACE_DNS, 'python.org'))"
  CHECK(hash_name("python.org") == "6fa459eaee8a3ca4894edb77e160355e");
}

TEST_CASE("lengths are counted in bytes, which is what the file system does") {
  NameRequest request = request_of(OutputType::kNpy, false);
  for (int i = 0; i < 100; ++i) request.input_name += "\xE5\xB1\x82";  // three bytes, one character
  CHECK(output_name(request, tensor_of(), kept({1})).original);
}

TEST_CASE("no operator name from inside a file can choose a folder or break a line") {
  for (const std::string& op :
       {std::string("../../etc/passwd"), std::string(".."), std::string("/"), std::string("a/.."),
        std::string("a\0b", 3), std::string("a\nb,c"), std::string("\x1b[31mred\x7f"), std::string("a\r\n"),
        std::string("\0", 1), std::string(1000, '/'), std::string("..\0/..", 6)}) {
    const OutputName name = output_name(request_of(OutputType::kMsnpy, true, op), tensor_of(), converted({1}));
    INFO(name.name);
    CHECK(is_one_component(name.name));
    CHECK(name.name.find("Conv2D.") == 0);
    for (const char c : name.name) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
  }
}

TEST_CASE("an endless operator name is hashed, and its line of mapping.csv is one line") {
  for (const std::string& op : {std::string(100000, 'x'), "a\n" + std::string(300, 'y') + "\nb"}) {
    const OutputName name = output_name(request_of(OutputType::kMsnpy, true, op), tensor_of(), converted({1}));
    CHECK(name.name.size() == 36);
    REQUIRE(name.original);
    CHECK(name.original->find('\n') == std::string::npos);
  }
}

TEST_CASE("the format field of a converted .npy follows the content") {
  const std::string front = "Conv2D.c1.3.7.1700000000000000.output.0.";
  for (const std::string rest : {"npy", "float16.npy", "strange.npy"}) {
    const Plan plan = converted({1, 20, 3, 4});
    CHECK(npy_output_name(front + "NC1HWC0." + rest, plan).name == front + "NCHW." + rest);
    CHECK(npy_output_name(front + "NC1HWC0." + rest, kept({1, 2})).name == front + "NC1HWC0." + rest);
  }
  CHECK(npy_output_name("anything.npy", converted({1})).name == "anything.npy");
}
