#include "checkpoint/shards.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

// Parameters of one byte each.
std::string shard(const std::vector<std::string>& names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += (i == 0 ? "" : ",") + test::safetensors_entry(names[i], "U8", "[1]", i, i + 1);
  return test::safetensors_file(header + "}", std::string(names.size(), 'x'));
}

ShardIndex index_with(std::vector<std::string> files, std::vector<std::pair<std::string, uint32_t>> parameters,
                      std::optional<uint64_t> total = {}) {
  return {std::move(files), std::move(parameters), total};
}

std::vector<std::string> faults_of(const ScratchDir& scratch, const ShardIndex& index) {
  std::vector<std::string> lines;
  for (const ShardFault& fault : check_shards(index, scratch.path(), CancelToken()).faults)
    lines.push_back(fault.file + ": " + fault.text);
  return lines;
}

using Faults = std::vector<std::string>;

TEST_CASE("shards that hold what their index says have no fault") {
  const ScratchDir scratch;
  scratch.write("1.safetensors", shard({"a", "b"}));
  scratch.write("2.safetensors", shard({"c"}));
  const ShardIndex index = index_with({"1.safetensors", "2.safetensors"}, {{"c", 1}, {"a", 0}, {"b", 0}}, 3);
  const ShardCheck check = check_shards(index, scratch.path(), CancelToken());
  CHECK(check.faults.empty());
  CHECK(check.bytes == 3U);
}

TEST_CASE("a missing shard is named with its parameters, and the total is not judged") {
  const ScratchDir scratch;
  scratch.write("1.safetensors", shard({"a"}));
  const ShardIndex index =
      index_with({"1.safetensors", "2.safetensors"}, {{"a", 0}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}}, 99);
  CHECK(faults_of(scratch, index) == Faults{"2.safetensors: missing, with 4 parameters: b, c, d, .."});
  CHECK_FALSE(check_shards(index, scratch.path(), CancelToken()).bytes);
}

TEST_CASE("a parameter in another shard than the index says is a fault of both") {
  const ScratchDir scratch;
  scratch.write("1.safetensors", shard({"a", "b"}));
  scratch.write("2.safetensors", shard({"c"}));
  CHECK(faults_of(scratch, index_with({"1.safetensors", "2.safetensors"}, {{"a", 0}, {"b", 1}, {"c", 1}}, 3)) ==
        Faults{"1.safetensors: holds what the index does not have in it: 1 parameter: b",
               "2.safetensors: lacks 1 parameter: b"});
}

TEST_CASE("a total_size that does not fit is a fault of no file") {
  const ScratchDir scratch;
  scratch.write("1.safetensors", shard({"a", "b"}));
  CHECK(faults_of(scratch, index_with({"1.safetensors"}, {{"a", 0}, {"b", 0}}, 3)) ==
        Faults{": total_size is 3; the parameters take 2"});
}

TEST_CASE("tied weights may count once in total_size, or each") {
  using namespace test;
  const ScratchDir scratch;
  scratch.write("m.bin", build_pt({.pickle = pickle::whole(pickle::dict(
                                       {{pickle::text("a"), tensor_call()}, {pickle::text("b"), tensor_call()}}))}));
  for (const uint64_t total : {24U, 48U}) {
    CHECK(faults_of(scratch, index_with({"m.bin"}, {{"a", 0}, {"b", 0}}, total)).empty());
  }
  CHECK(faults_of(scratch, index_with({"m.bin"}, {{"a", 0}, {"b", 0}}, 36)).size() == 1);
}

TEST_CASE("a shard that cannot be read is told with its problem") {
  const ScratchDir scratch;
  scratch.write("1.safetensors", "x");
  const ShardIndex index = index_with({"1.safetensors"}, {{"a", 0}}, 1);
  const ShardCheck check = check_shards(index, scratch.path(), CancelToken());
  REQUIRE(check.faults.size() == 1);
  CHECK(check.faults[0].kind == ShardFaultKind::kUnreadable);
  CHECK(check.faults[0].problem.value().code == ErrorCode::kTruncated);
}

TEST_CASE("an interruption ends the reading of shards") {
  const ScratchDir scratch;
  CancelToken cancel;
  cancel.cancel();
  CHECK(check_shards(index_with({"1.safetensors"}, {{"a", 0}}), scratch.path(), cancel).faults.empty());
}

}  // namespace
}  // namespace msdump
