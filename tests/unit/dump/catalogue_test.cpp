#include <string>

#include "dump/index/catalogue.h"
#include "dump/names/identity.h"
#include "report/json.h"
#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

std::string near_miss_of(const SelectionOptions& options) {
  const ScratchDir scratch;
  const std::string npy = build_faulty_npy(test::NpyFault::kNone);
  for (const char* step : {"0", "1", "2", "7"}) {
    const std::string folder = std::string("rank_0/Net/3/") + step + "/";
    scratch.write(folder + "Conv2D.Default_net-Net_conv1-Conv2d_Conv2D-op1.0.0.1700000000000001.input.0.NCHW.npy", npy);
    scratch.write(folder + "ReLU.Default_net-Net_relu-ReLU_ReLU-op2.0.0.1700000000000002.output.0.NCHW.npy", npy);
  }
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  return near_miss(*index, options);
}

TEST_CASE("a misspelt op type or name gets the nearest there is") {
  CHECK(near_miss_of({.op_type = {"conv2"}}) == "did you mean --op-type 'Conv2D'?");
  CHECK(near_miss_of({.op = {"Conv2D-op2"}}) == "did you mean --op '*Conv2D-op1'?");
  CHECK(near_miss_of({.op = {"Default/net-Net/relu-ReLU/ReLU-op3"}}) ==
        "did you mean --op 'Default_net-Net_relu-ReLU_ReLU-op2'?");
}

TEST_CASE("the last part of a name alone is completed") {
  CHECK(near_miss_of({.op = {"ReLU-op2"}}) == "did you mean --op '*ReLU-op2'?");
}

TEST_CASE("numbers that are not there get those that are") {
  CHECK(near_miss_of({.step = "5"}) == "there are steps 0-2,7");
  CHECK(near_miss_of({.rank = "1"}) == "there is rank 0");
  CHECK(near_miss_of({.graph = "0"}) == "there is graph 3");
}

TEST_CASE("where no file says a number, this is said") {
  const ScratchDir scratch;
  scratch.write("a.npy", build_faulty_npy(test::NpyFault::kNone));
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  CHECK(near_miss(*index, {.rank = "1"}) == "no folder or file here names a rank");
  CHECK(near_miss(*index, {.step = "0"}) == "no folder or file here names a step");
}

TEST_CASE("what is nothing like any name gets no guess, nor does a glob") {
  CHECK(near_miss_of({.op_type = {"Softmax"}}).empty());
  CHECK(near_miss_of({.op = {"*Softmax*"}}).empty());
  CHECK(near_miss_of({}).empty());
}

TEST_CASE("a glob for names that only types match is offered as one for types") {
  CHECK(near_miss_of({.op = {"Conv*"}}) == "did you mean --op-type 'Conv*'?");
  CHECK(near_miss_of({.op = {"*Conv*"}}).empty());
}

std::string json_of(const Identity& identity) {
  std::string text;
  report::append_json(text, identity_value(identity));
  return text;
}

}  // namespace

TEST_CASE("an identity is an object of what is known, with a slot that is a number where it can be one") {
  Identity identity;
  CHECK(json_of(identity) ==
        R"({"rank":null,"graph":null,"step":null,"op_name":null,"op_type":null,"io":null,"slot":null,)"
        R"("task_id":null,"stream_id":null,"timestamp":null})");
  identity.rank = 3;
  identity.graph = 4;
  identity.step = 5;
  identity.name.op_name = "Default/Add-op1";
  identity.name.op_type = "Add";
  identity.name.io = Io::kInput;
  identity.name.slot = "12";
  identity.name.task_id = 6;
  identity.name.stream_id = 7;
  identity.name.timestamp = "1700000000000001";
  CHECK(json_of(identity) ==
        R"({"rank":3,"graph":4,"step":5,"op_name":"Default/Add-op1","op_type":"Add","io":"input","slot":12,)"
        R"("task_id":6,"stream_id":7,"timestamp":"1700000000000001"})");
  std::string slots;
  for (const char* const text : {"0", "weight", "0.1", "-1", "99999999999999999999"})
    report::append_json(slots, slot_value(text));
  CHECK(slots == R"(0"weight""0.1""-1""99999999999999999999")");
}

}  // namespace msdump
