// Inputs whose outputs would have one name.
#include <set>
#include <thread>

#include "convert/output_tree.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

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
