// Names too long for a file, on both sides of convert: mapping.csv read beside the inputs and written beside the outputs.
#include <chrono>
#include <thread>

#include "convert/output_tree.h"
#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"
#include "tables/mapping_csv.h"

using namespace msdump;
using namespace msdump::test;

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
