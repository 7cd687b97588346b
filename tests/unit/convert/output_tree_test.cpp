#include "convert/output_tree.h"

#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "tables/mapping_csv.h"

using namespace msdump;
using namespace msdump::test;

// The names of converted files, mode by mode; hostile names from inside files.

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

// Inputs whose outputs would have one name.

namespace {

// A dump file of float32, all of them `value`, of the operator with that full name.
std::string dump_of(const std::string& op_name, char value) {
  TensorSpec output = output_of(DType::kFloat32, Format::kND, {2}, Dims{2});
  output.data = std::string(8, value);
  return build_dump({.op_name = op_name, .tensors = {output}});
}

ConvertRun convert_to_msnpy(const ScratchDir& scratch, const std::string& out, unsigned jobs) {
  ConvertOptions options;
  options.out = scratch.file(out);
  options.type = OutputType::kMsnpy;
  return run_convert({scratch.file("dump")}, options, {.jobs = jobs});
}

const std::string kFirst = "Add.net1_Add-op1.1.2.1700000000000000", kSecond = "Add.net2_Add-op1.1.2.1700000000000000";

}  // namespace

TEST_CASE("two operators of one short name become two msnpy files, the same ones for any number of jobs") {
  const ScratchDir scratch;
  scratch.write("dump/" + kFirst, dump_of("net1/Add-op1", 'a'));
  scratch.write("dump/" + kSecond, dump_of("net2/Add-op1", 'b'));
  for (int round = 0; round < 20; ++round) {
    const std::string out = "out" + std::to_string(round);
    const ConvertRun run = convert_to_msnpy(scratch, out, round % 2 == 0 ? 1 : 4);
    CHECK(run.summary.written == 2);
    CHECK(run.failures.empty());
    REQUIRE(run.warnings.size() == 1);
    CHECK(run.warnings[0].path.ends_with(kSecond));
    const auto files = files_below(scratch.file(out));
    REQUIRE(files.size() == 2);
    CHECK(parse_npy(files.at("Add.Add-op1.1.2.1700000000000000.output.0.ND.npy")).body == "aaaaaaaa");
    CHECK(parse_npy(files.at(kSecond + ".output.0.ND.npy")).body == "bbbbbbbb");
  }
}

TEST_CASE("an msnpy file that cannot have a name of its own is a failure, not a lost tensor") {
  const ScratchDir scratch;
  // The second is called what the first becomes.
  scratch.write("dump/Add.a_b.1.2.1700000000000000", dump_of("a/b", 'a'));
  scratch.write("dump/Add.b.1.2.1700000000000000", dump_of("x/b", 'b'));
  for (const unsigned jobs : {1U, 4U}) {
    const std::string out = "out" + std::to_string(jobs);
    const ConvertRun run = convert_to_msnpy(scratch, out, jobs);
    CHECK(run.summary.written == 1);
    REQUIRE(run.failures.size() == 1);
    CHECK(run.failures[0].path.ends_with("Add.b.1.2.1700000000000000"));
    CHECK(run.failures[0].message == "'Add.b.1.2.1700000000000000.output.0.ND.npy' is the output of another input");
    CHECK(parse_npy(files_below(scratch.file(out)).at("Add.b.1.2.1700000000000000.output.0.ND.npy")).body ==
          "aaaaaaaa");
  }
}

TEST_CASE("inputs that have no output take no name from others") {
  const ScratchDir scratch;
  TensorSpec cut = output_of(DType::kFloat32, Format::kND, {2}, Dims{2});
  cut.size = 4000;
  scratch.write("dump/Add.a_b.1.2.1700000000000000", build_dump({.op_name = "a/b", .tensors = {cut}}));
  scratch.write("dump/Add.c_b.1.2.1700000000000000", dump_of("c/b", 'c'));
  const auto array = build_npy({.literal = npy_literal("<i2", "(2,)"), .data = "1234"});
  scratch.write("dump/Add.f.1.2.1700000000000000.output.0.ND.npy", array);
  scratch.write("dump/Add.x_f.1.2.1700000000000000", dump_of("x/f", 'f'));
  const ConvertRun run = convert_to_msnpy(scratch, "out", 1);
  CHECK(run.warnings.empty());
  CHECK(run.failures.size() == 1);  // the tensor that is cut
  CHECK(run.summary.skipped == 1);  // the array
  const auto files = files_below(scratch.file("out"));
  REQUIRE(files.size() == 2);
  CHECK(parse_npy(files.at("Add.b.1.2.1700000000000000.output.0.ND.npy")).body == "cccccccc");
  CHECK(parse_npy(files.at("Add.f.1.2.1700000000000000.output.0.ND.npy")).body == "ffffffff");
}

TEST_CASE("two arrays that differ by their format only do not become one file in silence") {
  const ScratchDir scratch;
  const std::string front = "dump/Conv2D.c1.3.7.1700000000000000.output.0.";
  for (const char* format : {"NHWC", "HWCN"})
    scratch.write(front + format + ".npy",
                  build_npy({.literal = npy_literal("<i2", "(2, 2, 2, 2)"), .data = std::string(32, format[0])}));
  ConvertOptions options;
  options.out = scratch.file("out");
  options.format = Format::kNCHW;
  const ConvertRun run = run_convert({scratch.file("dump")}, options, {.jobs = 4});
  CHECK(run.summary.written == 1);
  CHECK(run.summary.failed == 1);
  CHECK(files_below(scratch.file("out")).size() == 1);
}

TEST_CASE("an output goes to the first input whatever worker asks first") {
  OutputClaims claims;
  bool second = true;
  OutputClaims::Turn first_turn(claims, 0);
  std::thread later([&] {
    OutputClaims::Turn turn(claims, 1);
    second = turn.claim("a");
  });
  CHECK(first_turn.claim("a"));
  CHECK(first_turn.claim("b"));
  CHECK_FALSE(first_turn.claim("b"));
  first_turn.end();
  later.join();
  CHECK_FALSE(second);
}

TEST_CASE("an input that claims nothing ends its turn all the same, before or after those in front of it") {
  OutputClaims claims;
  { const OutputClaims::Turn skipped(claims, 1); }
  { const OutputClaims::Turn skipped(claims, 0); }
  OutputClaims::Turn last(claims, 2);
  CHECK(last.claim("a"));
}

// Names too long for a file, on both sides of convert: mapping.csv read beside the inputs and written beside the outputs.

namespace {

const std::string kHashed = "12345678901234567890123456789012";
const std::string kReal = "Conv2D.Default_network-conv1-op1.3.7.1700000000000000";

std::string small_dump() {
  return build_dump({.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3}, Dims{2, 3})}});
}

ConvertRun convert_into(const ScratchDir& scratch, bool dry_run = false) {
  ConvertOptions options;
  options.out = scratch.file("out");
  options.format = Format::kNCHW;
  options.dry_run = dry_run;
  return run_convert({scratch.file("dump")}, options);
}

// A dump file's name whose output's name is `length` bytes long.
std::string name_for_output_of(size_t length) {
  const std::string front = "Conv2D.", back = ".1.2.1700000000000000", tail = ".output.0.2x3.npy";
  return front + std::string(length - front.size() - back.size() - tail.size(), 'n') + back;
}

}  // namespace

TEST_CASE("a long output is stored under its hash, and mapping.csv in its folder has the name") {
  const ScratchDir scratch;
  const std::string just_right = name_for_output_of(254), too_long = name_for_output_of(255),
                    far_too_long = name_for_output_of(271);
  for (const std::string& name : {just_right, too_long, far_too_long}) scratch.write("dump/sub/" + name, small_dump());
  const ConvertRun run = convert_into(scratch);
  CHECK(run.failures.empty());
  const std::string tail = ".output.0.2x3.npy";
  CHECK(scratch.exists("out/sub/" + just_right + tail));
  NameMapping expected;
  for (const std::string& name : {too_long, far_too_long}) {
    const std::string hash = hash_name(name + tail) + ".npy";
    CHECK(scratch.exists("out/sub/" + hash));
    CHECK(run.row_of("sub/" + name, "output:0")->output == "sub/" + hash);
    expected[hash] = name + tail;
  }
  CHECK(scratch.read("out/sub/mapping.csv") == format_mapping_csv(expected));
  CHECK_FALSE(scratch.exists("out/mapping.csv"));
}

TEST_CASE("the lines of an earlier mapping.csv stay") {
  const ScratchDir scratch;
  scratch.write("dump/" + name_for_output_of(260), small_dump());
  scratch.write("out/mapping.csv", "0000.npy,an older name.npy\n");
  convert_into(scratch);
  const std::string text = scratch.read("out/mapping.csv");
  CHECK(text.find("0000.npy,an older name.npy\n") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  convert_into(scratch);
  CHECK(scratch.read("out/mapping.csv") == text);
}

TEST_CASE("a damaged mapping.csv under OUT is a failure and is left as it is") {
  const ScratchDir scratch;
  scratch.write("dump/" + name_for_output_of(260), small_dump());
  scratch.write("out/mapping.csv", "no comma here\n");
  const ConvertRun run = convert_into(scratch);
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].code == ErrorCode::kBadCsv);
  CHECK(scratch.read("out/mapping.csv") == "no comma here\n");
  CHECK(run.summary.written == 1);
}

TEST_CASE("an output that could not be written gets no line") {
  const ScratchDir scratch;
  const std::string name = name_for_output_of(260);
  scratch.write("dump/" + name, small_dump());
  scratch.make_dir("out/" + hash_name(name + ".output.0.2x3.npy") + ".npy");
  const ConvertRun run = convert_into(scratch);
  CHECK(run.failures.size() == 1);
  CHECK_FALSE(scratch.exists("out/mapping.csv"));
}

TEST_CASE("a hashed input is converted under the name that mapping.csv has for it") {
  for (const std::string suffix : {"", ".npy"}) {
    const ScratchDir scratch;
    scratch.write("dump/" + kHashed, small_dump());
    scratch.write("dump/mapping.csv", kHashed + suffix + "," + kReal + "\n");
    const ConvertRun run = convert_into(scratch);
    if (suffix.empty()) {
      CHECK(scratch.exists("out/" + kReal + ".output.0.2x3.npy"));
      CHECK(run.rows.at(0).input == kHashed);
    }
    CHECK(run.failures.empty());
    CHECK(run.summary.written == 1);
  }
}

TEST_CASE("a real name too long for a file is hashed again on the way out") {
  const ScratchDir scratch;
  const std::string real = "Conv2D." + std::string(300, 'm') + ".3.7.1700000000000000";
  scratch.write("dump/" + kHashed, small_dump());
  scratch.write("dump/mapping.csv", kHashed + "," + real + "\n");
  convert_into(scratch);
  const std::string name = real + ".output.0.2x3.npy";
  CHECK(scratch.read("out/mapping.csv") == hash_name(name) + ".npy," + name + "\n");
  CHECK(scratch.exists("out/" + hash_name(name) + ".npy"));
}

TEST_CASE("a real name that another file has keeps its hash, so that neither is lost") {
  const ScratchDir scratch;
  scratch.write("dump/" + kHashed, small_dump());
  scratch.write("dump/" + kReal, small_dump());
  const std::string second(32, '7');
  scratch.write("dump/" + second, small_dump());
  scratch.write("dump/mapping.csv", kHashed + "," + kReal + "\n" + second + "," + kReal + "\n");
  const ConvertRun run = convert_into(scratch);
  CHECK(run.summary.written == 3);
  for (const std::string& name : {kHashed, kReal, second}) CHECK(scratch.exists("out/" + name + ".output.0.2x3.npy"));
  REQUIRE(run.warnings.size() == 2);
  CHECK(run.warnings[0].path.ends_with("/" + kHashed));
  CHECK(run.warnings[0].text == "the name that mapping.csv gives it belongs to another file; its own is kept");
  CHECK(run.warnings[1].path.ends_with("/" + second));
}

TEST_CASE("two hashes of one real name give two outputs") {
  const ScratchDir scratch;
  const std::string second(32, '7');
  scratch.write("dump/" + kHashed, small_dump());
  scratch.write("dump/" + second, small_dump());
  scratch.write("dump/mapping.csv", kHashed + "," + kReal + "\n" + second + "," + kReal + "\n");
  const ConvertRun run = convert_into(scratch);
  CHECK(run.summary.written == 2);
  CHECK(files_below(scratch.file("out")).size() == 2);
}

TEST_CASE("a real name out of mapping.csv never leaves OUT") {
  for (const std::string real :
       {"../../escaped.1.2.1700000000000000", "/tmp/escaped.a.1.2.1700000000000000", "..", "."}) {
    INFO(real);
    const ScratchDir scratch;
    scratch.write("dump/" + kHashed, small_dump());
    scratch.write("dump/mapping.csv", kHashed + "," + real + "\n");
    const ConvertRun run = convert_into(scratch);
    CHECK(run.summary.written == 1);
    CHECK(files_below(scratch.file("out")).size() == 1);
    CHECK(files_below(scratch.path()).size() == 3);
    const bool unsafe = real.find('/') != std::string::npos;  // ".." is not, with more after it
    REQUIRE(run.warnings.size() == (unsafe ? 1 : 0));
    if (unsafe) CHECK(run.warnings[0].text == "the name that mapping.csv gives it is unsafe; its own is kept");
  }
}

TEST_CASE("a damaged mapping.csv beside the inputs costs the real names, not the tensors") {
  const ScratchDir scratch;
  scratch.write("dump/" + kHashed, small_dump());
  scratch.write("dump/mapping.csv", "no comma\n");
  const ConvertRun run = convert_into(scratch);
  CHECK(run.summary.written == 1);
  CHECK(scratch.exists("out/" + kHashed + ".output.0.2x3.npy"));
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].code == ErrorCode::kBadCsv);
}

TEST_CASE("a line that another convert adds to mapping.csv meanwhile stays") {
  const ScratchDir scratch;
  scratch.make_dir("out");
  const CancelToken never;
  const SettingsFile settings((ConvertOptions()));
  OutputTree tree(scratch.file("out"), settings, never);
  tree.add_mapping("", "1.npy", "ours.npy");
  std::thread writer;
  {
    const auto other = DirectoryLock::acquire(scratch.file("out"), never);
    REQUIRE(other);
    writer = std::thread([&] { CHECK(tree.write_mappings().empty()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    scratch.write("out/mapping.csv", "2.npy,theirs.npy\n");
  }
  writer.join();
  CHECK(scratch.read("out/mapping.csv") == "1.npy,ours.npy\n2.npy,theirs.npy\n");
}
