#include "checkpoint/safetensors.h"

#include <string>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::safetensors_entry;
using test::safetensors_file;
using test::SafetensorsFault;
using test::ScratchDir;

Result<SafeTensors> read(const std::string& content) {
  const ScratchDir scratch;
  auto file = File::open(scratch.write("m.safetensors", content));
  REQUIRE(file);
  return read_safetensors(*file);
}

// "name dtype shape offset bytes"
std::string text_of(const StoredParameter& tensor) {
  return fmt::format("{} {} {} {} {}", tensor.name, name_of(tensor.dtype), describe(tensor.shape), tensor.offset,
                     tensor.bytes);
}

TEST_CASE("the tensors of a safetensors file lie where the header says, in its order") {
  const std::string header = "{" + safetensors_entry("late", "BF16", "[2,2]", 24, 32) +
                             R"(,"__metadata__":{"format":"pt","step":"3"},)" +
                             safetensors_entry("early", "F32", "[2,3]", 0, 24) + "}   ";
  const auto found = read(safetensors_file(header, std::string(32, 'x')));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 2);
  const size_t data = 8 + header.size();
  CHECK(text_of(found->tensors[0]) == fmt::format("late bfloat16 2x2 {} 8", data + 24));
  CHECK(text_of(found->tensors[1]) == fmt::format("early float32 2x3 {} 24", data));
  CHECK_FALSE(found->tensors[0].problem);
  REQUIRE(found->metadata.size() == 2);
  CHECK(found->metadata[1] == std::pair<std::string, std::string>("step", "3"));
}

TEST_CASE("every dtype of the safetensors format is read or named") {
  // Name, msdump's dtype, the bytes of eight elements; dtypes as in safetensors/src/tensor.rs.
  const std::vector<std::tuple<const char*, DType, int>> types = {
      {"BOOL", DType::kBool, 8},
      {"F4", DType::kFloat4E2m1, 4},
      {"F6_E2M3", DType::kFloat6E2m3, 6},
      {"F6_E3M2", DType::kFloat6E3m2, 6},
      {"U8", DType::kUint8, 8},
      {"I8", DType::kInt8, 8},
      {"F8_E5M2", DType::kFloat8E5m2, 8},
      {"F8_E4M3", DType::kFloat8E4m3fn, 8},
      {"F8_E8M0", DType::kFloat8E8m0, 8},
      {"I16", DType::kInt16, 16},
      {"U16", DType::kUint16, 16},
      {"F16", DType::kFloat16, 16},
      {"BF16", DType::kBfloat16, 16},
      {"I32", DType::kInt32, 32},
      {"U32", DType::kUint32, 32},
      {"F32", DType::kFloat32, 32},
      {"C64", DType::kComplex64, 64},
      {"F64", DType::kFloat64, 64},
      {"I64", DType::kInt64, 64},
      {"U64", DType::kUint64, 64},
      {"F8_E4M3FNUZ", DType::kUndefined, 8},
      {"F8_E5M2FNUZ", DType::kUndefined, 8},
  };
  for (const auto& [name, dtype, bytes] : types) {
    INFO(name);
    const auto size = static_cast<uint64_t>(bytes);
    const auto found =
        read(safetensors_file("{" + safetensors_entry("t", name, "[8]", 0, size) + "}", std::string(size, '\0')));
    REQUIRE(found);
    REQUIRE(found->tensors.size() == 1);
    CHECK(found->tensors[0].dtype == dtype);
    CHECK(found->tensors[0].problem.has_value() == (dtype == DType::kUndefined));
  }
}

TEST_CASE("scalars, empty tensors and a file without tensors are sound") {
  const auto found = read(safetensors_file("{" + safetensors_entry("s", "I64", "[]", 0, 8) + "," +
                                               safetensors_entry("e", "F32", "[0,4294967296,4294967296]", 8, 8) + "," +
                                               safetensors_entry("f", "U8", "[2]", 8, 10) + "}",
                                           std::string(10, '\0')));
  REQUIRE(found);
  CHECK(found->tensors[0].shape.empty());
  for (const StoredParameter& tensor : found->tensors) CHECK_FALSE(tensor.problem);
  const auto late = read(safetensors_file(
      "{" + safetensors_entry("full", "U8", "[2]", 0, 2) + "," + safetensors_entry("none", "U8", "[0]", 0, 0) + "}",
      "xy"));
  CHECK(late);
  const auto empty = read(safetensors_file("{}", ""));
  REQUIRE(empty);
  CHECK(empty->tensors.empty());
}

TEST_CASE("a damaged safetensors file is an error, a damaged tensor its own problem") {
  for (const SafetensorsFault fault : test::all_safetensors_faults()) {
    INFO(name_of(fault));
    const auto found = read(build_faulty_safetensors(fault));
    if (!is_of_one_tensor(fault)) {
      REQUIRE_FALSE(found);
      CHECK(found.error().path.ends_with("/m.safetensors"));
      CHECK_FALSE(found.error().message.empty());
      continue;
    }
    REQUIRE(found);
    REQUIRE(found->tensors.size() == 2);
    CHECK_FALSE(found->tensors[0].problem);
    REQUIRE(found->tensors[1].problem);
    CHECK(found->tensors[1].problem->tensor == "b");
  }
}

TEST_CASE("what is wrong with a safetensors file stands in the error") {
  const auto text = [](SafetensorsFault fault) {
    const auto found = read(build_faulty_safetensors(fault));
    const Error error = found ? found->tensors.at(1).problem.value() : found.error();
    return fmt::format("{}: {}", code_word(error.code), error.message);
  };
  CHECK(text(SafetensorsFault::kLengthCut) == "truncated: 1 bytes: too few for the length of a header");
  CHECK(text(SafetensorsFault::kLengthBomb) == "too_large: a safetensors header of 18446744073709551615 bytes");
  CHECK(text(SafetensorsFault::kHeaderPastEnd).starts_with("truncated: header of 1000 bytes announced, "));
  CHECK(text(SafetensorsFault::kNotAnObject) == "bad_header: the header does not begin with '{'");
  CHECK(text(SafetensorsFault::kNameTwice) == "bad_header: a: the name stands twice in the header");
  CHECK(text(SafetensorsFault::kOverlap) == "bad_header: b: its elements overlap those of another tensor");
  CHECK(text(SafetensorsFault::kInside) == "bad_header: b: its elements overlap those of another tensor");
  CHECK(text(SafetensorsFault::kGapBetween) == "bad_header: b: the bytes before its elements belong to no tensor");
  CHECK(text(SafetensorsFault::kGapAtBegin) == "bad_header: a: the bytes before its elements belong to no tensor");
  CHECK(text(SafetensorsFault::kTrailingBytes) == "trailing_bytes: 8 bytes after the last tensor");
  CHECK(text(SafetensorsFault::kOneDtypeUnknown) == "unsupported_dtype: the dtype 'F17' is not supported");
  CHECK(text(SafetensorsFault::kOneTooManyBytes) == "shape_mismatch: 3 of float16 do not take its 8 bytes");
  CHECK(text(SafetensorsFault::kOneCut) == "truncated: needs 200 bytes, 8 present");
  CHECK(text(SafetensorsFault::kOneBeyondEnd) == "truncated: needs 8 bytes, 0 present");
}

TEST_CASE("offsets in errors are those in the file") {
  const auto place = [](SafetensorsFault fault) {
    const std::string content = build_faulty_safetensors(fault);
    const auto found = read(content);
    const Error error = found ? found->tensors.at(1).problem.value() : found.error();
    return content.size() - error.offset.value();
  };
  CHECK(place(SafetensorsFault::kTrailingBytes) == 8);
  CHECK(place(SafetensorsFault::kOverlap) == 12);
  CHECK(place(SafetensorsFault::kOneCut) == 8);
}

TEST_CASE("a safetensors file is known by its first bytes") {
  const auto looks = [](const std::string& content) {
    return looks_like_safetensors(std::as_bytes(std::span(content.data(), content.size())), content.size());
  };
  CHECK(looks(build_faulty_safetensors(SafetensorsFault::kNone)));
  CHECK(looks(safetensors_file("{}", "")));
  CHECK_FALSE(looks(build_faulty_safetensors(SafetensorsFault::kHeaderPastEnd)));
  CHECK_FALSE(looks(build_faulty_safetensors(SafetensorsFault::kNotAnObject)));
  CHECK_FALSE(looks(safetensors_file("", "")));
  CHECK_FALSE(looks("{\"a\": 1}"));
  CHECK_FALSE(looks(""));
}

}  // namespace
}  // namespace msdump
