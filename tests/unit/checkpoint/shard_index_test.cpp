#include "checkpoint/shards.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

Result<ShardIndex> index_of(const std::string& text) {
  const test::ScratchDir scratch;
  auto file = File::open(scratch.write("model.safetensors.index.json", text));
  REQUIRE(file);
  return read_shard_index(*file);
}

std::string index_problem(const std::string& text) {
  const auto found = index_of(text);
  return found ? "none" : fmt::format("{}: {}", code_word(found.error().code), found.error().message);
}

// "NAME FILE", in the order of the text.
std::vector<std::string> pairs_of(const std::string& text) {
  const auto found = index_of(text);
  INFO((found ? "" : found.error().message));
  REQUIRE(found);
  std::vector<std::string> pairs;
  for (const auto& [name, file] : found->parameters) pairs.push_back(name + " " + found->files.at(file));
  return pairs;
}

std::optional<uint64_t> total_of(const std::string& number) {
  const auto found = index_of(R"({"metadata":{"total_size":)" + number + R"(},"weight_map":{}})");
  REQUIRE(found);
  return found->total_size;
}

using Pairs = std::vector<std::string>;

TEST_CASE("an index says which file holds which parameter") {
  const std::string text =
      R"({"metadata":{"total_size":16,"more":[1]},"weight_map":{"b":"2.safetensors","a":"1.safetensors","c":"2.safetensors"}})";
  CHECK(pairs_of(text) == Pairs{"b 2.safetensors", "a 1.safetensors", "c 2.safetensors"});
  const auto found = index_of(text);
  CHECK(found->files == std::vector<std::string>{"2.safetensors", "1.safetensors"});
  CHECK(found->total_size == 16U);
}

TEST_CASE("other members of an index are stepped over, wherever they stand") {
  CHECK(pairs_of(R"( {"weight_map":{"a":"1"},"note":"x","list":[{}],"metadata":{}} )") == Pairs{"a 1"});
  CHECK(pairs_of(R"({"metadata":3,"weight_map":{}})").empty());
  CHECK_FALSE(index_of(R"({"weight_map":{}})")->total_size);
}

TEST_CASE("an index may be the map alone") {
  CHECK(pairs_of(R"({"a":"part0.safetensors","weight_map":"part1.safetensors"})") ==
        Pairs{"a part0.safetensors", "weight_map part1.safetensors"});
  CHECK(pairs_of("{}").empty());
}

TEST_CASE("total_size is a whole number, or a float that some write") {
  CHECK(total_of("0") == 0U);
  CHECK(total_of("9007199254740993") == 9007199254740993U);
  CHECK(total_of("1.5e10") == 15'000'000'000U);
  for (const char* const other : {"-1", "1e30", "NaN", "\"16\"", "null"}) CHECK_FALSE(total_of(other));
}

TEST_CASE("a damaged index says what is wrong") {
  CHECK(index_problem("") == "bad_json: line 1, column 1: expected an object");
  CHECK(index_problem("[]") == "bad_json: line 1, column 1: expected an object");
  CHECK(index_problem(R"({"weight_map":{"a":"1"})").starts_with("bad_json: "));
  CHECK(index_problem(R"({"weight_map":{"a":"1"}} x)").starts_with("bad_json: "));
  CHECK(index_problem(R"({"metadata":{"total_size":},"weight_map":{}})").starts_with("bad_json: "));
  CHECK(index_problem(R"({"weight_map":{"a":1}})") == "bad_json: line 1, column 20: a: expected the name of a file");
  CHECK(index_problem(R"({"weight_map":{"a":"1","a":"2"}})") ==
        "bad_json: line 1, column 28: a: the name stands twice");
  CHECK(index_problem(R"({"weight_map":{"a":")" + std::string(70'000, 'x') + "\"}}") ==
        "too_large: a: a name of 70002 bytes");
  CHECK(index_problem(R"({"metadata":{"a":")" + std::string(1 << 20, 'x') + R"("},"weight_map":{}})")
            .starts_with("too_large: metadata of "));
}

TEST_CASE("an index names files beside it and no others") {
  for (const char* const name : {"../x", "/etc/passwd", "a/b", "..", ".", "", "a\\u0000b"}) {
    INFO(name);
    CHECK(index_problem(fmt::format(R"({{"weight_map":{{"w":"{}"}}}})", name)).starts_with("unsafe_name: w: "));
  }
  CHECK(index_problem(R"({"weight_map":{"w":"..x"}})") == "none");
}

TEST_CASE("names of indexes") {
  for (const char* const name : {"model.safetensors.index.json", "pytorch_model.bin.index.json", "param_name_map.json"})
    CHECK(is_shard_index_name(name));
  for (const char* const name :
       {"index.json", "model.safetensors", "param_name_map.json.bak", "my_param_name_map.json"})
    CHECK_FALSE(is_shard_index_name(name));
}

}  // namespace
}  // namespace msdump
