#include "ascend/atb_tensor.h"

#include <string>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump::ascend {
namespace {

using test::ScratchDir;

// As msprobe ccsrc/atb_probe/utils/bin_file.cpp writes it.
struct AtbSpec {
  std::string format = "2", dtype = "0", dims = "2,3", data = "0,24";
  std::string elements = std::string(24, '\1');
};

std::string build(const AtbSpec& spec) {
  return fmt::format(
      "$Version=1.0\n$Object.Count=1\n$Object.Length={}\nformat={}\ndtype={}\ndims={}\n$Object.data={}\n"
      "$End=1\n{}",
      spec.elements.size(), spec.format, spec.dtype, spec.dims, spec.data, spec.elements);
}

Result<AtbTensor> read_text(const std::string& content) {
  const ScratchDir scratch;
  auto file = File::open(scratch.write("intensor0.bin", content));
  REQUIRE(file);
  return read_atb_tensor(*file);
}

std::string problem_of(const std::string& content) {
  const auto tensor = read_text(content);
  if (!tensor) return fmt::format("{}: {}", code_word(tensor.error().code), tensor.error().message);
  if (!tensor->problem) return "none";
  return fmt::format("{}: {}", code_word(tensor->problem->code), tensor->problem->message);
}

TEST_CASE("an ATB tensor has its dtype, format, shape and place in lines of text") {
  const std::string content = build({});
  const auto tensor = read_text(content);
  REQUIRE(tensor);
  CHECK(tensor->dtype == DType::kFloat32);
  CHECK(tensor->format_number == 2);
  CHECK(tensor->shape == Shape{2, 3});
  CHECK(tensor->offset == content.size() - 24);
  CHECK(tensor->bytes == 24);
  CHECK(tensor->same_as.empty());
  CHECK_FALSE(tensor->problem);
}

TEST_CASE("the elements begin where the place says, after the lines") {
  const std::string content = build({.dims = "4", .data = "8,16"});
  const auto tensor = read_text(content);
  REQUIRE(tensor);
  CHECK(tensor->offset == content.size() - 16);
}

TEST_CASE("dtypes are ACL's numbers, and a scalar has no dims") {
  CHECK(read_text(build({.dtype = "27", .dims = "12"}))->dtype == DType::kBfloat16);
  CHECK(read_text(build({.dtype = "3"}))->dtype == DType::kInt32);
  CHECK_FALSE(read_text(build({.dtype = "99"}))->dtype);
  const auto scalar = read_text(build({.dims = "", .data = "0,4", .elements = "abcd"}));
  REQUIRE(scalar);
  CHECK(scalar->shape.empty());
  CHECK_FALSE(scalar->problem);
}

TEST_CASE("elements that another file has are not looked for") {
  const auto tensor = read_text(
      "$Version=1.0\n$Object.Count=0\n$Object.Length=0\nformat=2\ndtype=0\ndims=2,3\ndata=2_0_intensor1.bin\n$End=1\n");
  REQUIRE(tensor);
  CHECK(tensor->same_as == "2_0_intensor1.bin");
  CHECK_FALSE(tensor->problem);
}

TEST_CASE("damaged ATB tensors say what is wrong") {
  CHECK(problem_of("") == "bad_header: it does not begin with '$Version='");
  CHECK(problem_of("$Version=1.0\nformat=2\n") == "bad_header: the lines before the elements do not end in $End=1");
  CHECK(problem_of("$Version=1.0\nnonsense\n$End=1\n") ==
        "bad_header: the lines before the elements do not end in $End=1");
  CHECK(problem_of("$Version=1.0\ndims=1\ndims=2\n$End=1\n") == "bad_header: 'dims' stands twice in the header");
  CHECK(problem_of("$Version=1.0\n$End=1\n") == "bad_header: dtype or format is not a number");
  CHECK(problem_of(build({.dtype = "-1"})) == "bad_header: dtype or format is not a number");
  CHECK(problem_of(build({.dtype = "4294967296"})) == "bad_header: dtype or format is not a number");
  CHECK(problem_of(build({.dims = "2,n"})) == "bad_header: dims '2,n' is not a shape");
  CHECK(problem_of(build({.dims = "2,-3"})) == "bad_header: dims '2,-3' is not a shape");
  CHECK(problem_of(build({.data = "0"})) == "bad_header: '0' is not OFFSET,LENGTH");
  CHECK(problem_of(build({.data = "x,24"})) == "bad_header: 'x,24' is not OFFSET,LENGTH");
  CHECK(problem_of(build({.data = "18446744073709551615,24"})).starts_with("bad_header: "));
  CHECK(problem_of(build({.data = "0,25"})) == "truncated: needs 25 bytes, 24 present");
  CHECK(problem_of(build({.data = "99999,1"})) == "truncated: needs 1 bytes, 0 present");
  CHECK(problem_of(build({.dims = "2,2"})) == "shape_mismatch: 2x2 of float32 do not take the 24 bytes of its place");
  CHECK(problem_of(build({.dims = "4294967296,4294967296"})).starts_with("shape_mismatch: "));
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  CHECK(problem_of(build({.dims = many})).starts_with("bad_header: dims "));
}

}  // namespace
}  // namespace msdump::ascend
