#include "checkpoint/ms_ckpt.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/ms_ckpt_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::dims_of;
using test::field;
using test::parameter;
using test::ScratchDir;
using test::varint;

Result<MsCkpt> read_values(const std::string& content) {
  const ScratchDir scratch;
  auto file = File::open(scratch.write("m.ckpt", content));
  REQUIRE(file);
  return read_ms_ckpt(*file);
}

std::string problem_of(const std::string& content) {
  const auto found = read_values(content);
  if (!found) return fmt::format("{}: {}", code_word(found.error().code), found.error().message);
  REQUIRE_FALSE(found->tensors.empty());
  const auto& problem = found->tensors.back().problem;
  return problem ? fmt::format("{}: {}", code_word(problem->code), problem->message) : "none";
}

bool looks(const std::string& content) {
  return looks_like_ms_ckpt(std::as_bytes(std::span(content.data(), content.size())), content.size());
}

TEST_CASE("the parameters of a MindSpore checkpoint follow each other in the file") {
  const std::string first = parameter("conv.weight", "Float32", {2, 3}, std::string(24, 'a'));
  const std::string content = first + parameter("bn.bias", "BFloat16", {4}, std::string(8, 'b'));
  const auto found = read_values(content);
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 2);
  CHECK(found->tensors[0].name == "conv.weight");
  CHECK(found->tensors[0].dtype == DType::kFloat32);
  CHECK(found->tensors[0].shape == Shape{2, 3});
  CHECK(found->tensors[0].offset == first.size() - 24);
  CHECK(found->tensors[0].bytes == 24);
  CHECK(found->tensors[1].dtype == DType::kBfloat16);
  CHECK(found->tensors[1].offset == content.size() - 8);
  for (const StoredParameter& tensor : found->tensors) CHECK_FALSE(tensor.problem);
  CHECK(found->other_values == 0);
}

TEST_CASE("a scalar has dims [0] and one element, an empty parameter none") {
  const auto found = read_values(parameter("lr", "Float32", {0}, "abcd") + parameter("none", "Float32", {0}, "") +
                                 parameter("bare", "Int64", {}, "12345678"));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 3);
  CHECK(found->tensors[0].shape.empty());
  CHECK(found->tensors[1].shape == Shape{0});
  CHECK(found->tensors[2].shape.empty());
  for (const StoredParameter& tensor : found->tensors) CHECK_FALSE(tensor.problem);
}

TEST_CASE("a tensor may lack its elements, and the next value begins after it") {
  const auto found = read_values(field(1, field(1, "none") + field(2, dims_of({0}) + field(2, "Int8"))) +
                                 parameter("w", "Int8", {1}, "y"));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 2);
  CHECK(found->tensors[0].shape == Shape{0});
  CHECK(found->tensors[0].bytes == 0);
  CHECK_FALSE(found->tensors[0].problem);
  CHECK(found->tensors[1].name == "w");
}

TEST_CASE("a field that says more than its message holds ends the reading") {
  const std::string why = "bad_protobuf: what begins here is not a parameter";
  const std::string tensor = dims_of({2}) + field(2, "Int8") + field(3, "xy");
  CHECK(problem_of(field(1, field(1, "w") + field(2, tensor))) == "none");
  // The tensor is longer than the value, the elements than the tensor.
  CHECK(problem_of("\x0A" + varint(8) + field(1, "w") + field(2, tensor)) == why);
  CHECK(problem_of(field(1, field(1, "w") + "\x12" + varint(tensor.size() - 1) + tensor)) == why);
  CHECK(problem_of(field(1, field(1, "w") + field(2, dims_of({1}) + "\x12" + varint(100'000) + field(3, "x")))) == why);
  const std::string long_dims = "\x0A" + varint(1 << 20);
  CHECK(problem_of("\x0A" + varint(3 << 20) + field(1, "w") + "\x12" + varint(2 << 20) + long_dims + "x") == why);
}

TEST_CASE("a name may be longer than most") {
  const std::string name(5000, 'n');
  const auto found = read_values(parameter(name, "Int8", {1}, "x") + parameter("w", "Int8", {1}, "y"));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 2);
  CHECK(found->tensors[0].name == name);
}

TEST_CASE("packed dims are read, too") {
  const std::string tensor = field(1, varint(2) + varint(300)) + field(2, "Int8") + field(3, std::string(600, 'x'));
  const auto found = read_values(field(1, field(1, "w") + field(2, tensor)));
  REQUIRE(found);
  CHECK(found->tensors.at(0).shape == Shape{2, 300});
}

TEST_CASE("texts and hash tables are counted, and a checksum ends the file") {
  const auto found =
      read_values(parameter("w", "Int8", {1}, "x") + parameter("note", "str", {4}, "text") +
                  field(1, field(1, "map") + field(3, "anything")) + "crc_num" + std::string(10, '\x01'));
  REQUIRE(found);
  CHECK(found->tensors.size() == 1);
  CHECK(found->other_values == 2);
}

TEST_CASE("a parameter in pieces is one, and says where they lie") {
  const std::string one = parameter("w", "Int16", {5}, "ab"), two = parameter("w", "Int16", {5}, ""),
                    three = parameter("w", "Int16", {5}, "cdefgh"), four = parameter("w", "Int16", {5}, "ij");
  const auto found = read_values(one + two + three + four + parameter("v", "Int8", {2}, "ef"));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 2);
  const StoredParameter& tensor = found->tensors[0];
  CHECK_FALSE(tensor.problem);
  CHECK(tensor.bytes == 10);
  CHECK(tensor.offset == one.size() - 2);
  REQUIRE(tensor.pieces.size() == 3);
  CHECK(tensor.pieces[1].begin == 2);
  CHECK(tensor.pieces[1].offset == one.size() + two.size() + three.size() - 6);
  CHECK(tensor.pieces[2].begin == 8);
  CHECK(found->tensors[1].name == "v");
  CHECK(found->tensors[1].pieces.empty());
}

TEST_CASE("pieces that do not make a parameter are its problem alone") {
  const std::string piece = parameter("w", "Int8", {4}, "abc"), other = parameter("v", "Int8", {2}, "ef");
  CHECK(problem_of(other + piece) == "shape_mismatch: 4 of int8 do not take its 3 bytes");
  CHECK(problem_of(other + piece + piece) == "shape_mismatch: 4 of int8 do not take its 6 bytes");
  const std::string last = parameter("w", "Int8", {4}, "d");
  CHECK(problem_of(piece + last.substr(0, last.size() - 1)) == "truncated: needs 4 bytes, 3 present");
  CHECK(problem_of(piece + other) == "none");
  CHECK(problem_of(other + piece + last) == "none");
  // A second parameter of the same name begins after a complete one.
  const auto found = read_values(parameter("w", "Int8", {1}, "x") + parameter("w", "Int8", {1}, "y"));
  REQUIRE(found);
  CHECK(found->tensors.size() == 2);
}

TEST_CASE("damaged checkpoints say what is wrong") {
  const std::string good = parameter("w", "Float32", {2}, "12345678");
  CHECK(problem_of(good) == "none");
  CHECK(problem_of(good.substr(0, good.size() - 3)) == "truncated: needs 8 bytes, 5 present");
  CHECK(problem_of(good + "tail") == "bad_protobuf: what begins here is not a parameter");
  CHECK(problem_of(good + "x") == "bad_protobuf: what begins here is not a parameter");
  CHECK(problem_of(good + good.substr(0, 5)) == "bad_protobuf: what begins here is not a parameter");
  CHECK(problem_of(parameter("w", "Float99", {2}, "12345678")) ==
        "unsupported_dtype: the dtype 'Float99' is not supported");
  CHECK(problem_of(parameter("w", "Float32", {1}, "12345678")) ==
        "shape_mismatch: 1 of float32 do not take its 8 bytes");
  CHECK(problem_of(parameter("w", "Float32", {uint64_t{1} << 62, 16}, "1234")).starts_with("shape_mismatch: "));
  CHECK(problem_of(parameter("w", "Float32", {UINT64_MAX}, "1234")).starts_with("shape_mismatch: "));
  CHECK(problem_of(parameter("w", "Float32", std::vector<uint64_t>(65, 1), "1234")).starts_with("bad_protobuf: "));
  CHECK(problem_of(parameter(std::string(100'000, 'n'), "Int8", {1}, "x")).starts_with("bad_protobuf: "));
  // A tensor that says it is longer than the value that holds it.
  CHECK(problem_of(field(1, field(1, "w") + "\x12\x7F" + "abc")).starts_with("bad_protobuf: "));
  CHECK(problem_of("\x0A" + varint(UINT64_MAX) + "abc").starts_with("bad_protobuf: "));
}

TEST_CASE("a checkpoint of MindSpore is known by its first value") {
  CHECK(looks(parameter("w", "Int8", {1}, "x")));
  CHECK(looks(parameter("w", "Int8", {1}, "x").substr(0, 20)));
  CHECK_FALSE(looks(parameter("", "Int8", {1}, "x")));
  CHECK_FALSE(looks(parameter("\xFF\xFE", "Int8", {1}, "x")));
  CHECK_FALSE(looks("PK\x03\x04 a zip of another framework"));
  CHECK_FALSE(looks(""));
}

}  // namespace
}  // namespace msdump
