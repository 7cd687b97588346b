#include "info/shown_array.h"

#include <cstring>
#include <numeric>

#include "dump/index/dump_index.h"
#include "npy/npy.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

HostTensor open(const std::string& path) {
  const auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  auto opened = index->open_tensors(index->files().at(0));
  REQUIRE(opened);
  auto tensor = HostTensor::open(std::move(*opened), 0, {});
  REQUIRE(tensor);
  return std::move(*tensor);
}

// An .npy of int32 that counts from 0.
std::string counting(const Shape& shape) {
  std::vector<int32_t> values(static_cast<size_t>(*element_count(shape)));
  std::iota(values.begin(), values.end(), 0);
  return npy::make_header(DType::kInt32, shape) +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t));
}

std::vector<int32_t> integers(const ShownArray& array) {
  std::vector<int32_t> values(array.elements.size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), array.elements.data(), array.elements.size());
  return values;
}

TEST_CASE("a small array is shown whole") {
  const ScratchDir scratch;
  HostTensor tensor = open(scratch.write("a.npy", counting({2, 3})));
  const auto shown = read_shown(tensor, whole_view(tensor.shape()));
  REQUIRE(shown);
  CHECK_FALSE(shown->summarised);
  CHECK(shown->shown == Shape{2, 3});
  CHECK(integers(*shown) == std::vector<int32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("of more than a thousand elements the first and last three of each axis are read") {
  const ScratchDir scratch;
  HostTensor tensor = open(scratch.write("a.npy", counting({100, 2, 50})));
  const auto shown = read_shown(tensor, whole_view(tensor.shape()));
  REQUIRE(shown);
  CHECK(shown->summarised);
  CHECK(shown->shape == Shape{100, 2, 50});
  CHECK(shown->shown == Shape{6, 2, 6});
  const std::vector<int32_t> values = integers(*shown);
  CHECK(values.size() == 72);
  CHECK(values[3] == 47);
  CHECK(values[6] == 50);
  CHECK(values[3 * 12] == 97 * 100);
  CHECK(values.back() == 9999);
}

TEST_CASE("a thousand elements are the limit of what is shown whole") {
  const ScratchDir scratch;
  HostTensor most = open(scratch.write("a.npy", counting({1000}))),
             more = open(scratch.write("b.npy", counting({1001})));
  CHECK_FALSE(read_shown(most, whole_view({1000}))->summarised);
  CHECK(read_shown(more, whole_view({1001}))->summarised);
  CHECK_FALSE(read_shown(more, whole_view({1001}), {.summarise = false})->summarised);
}

TEST_CASE("a part is read backwards, with steps and across rows") {
  const ScratchDir scratch;
  HostTensor tensor = open(scratch.write("a.npy", counting({40, 50})));
  const auto view = index_view("::-13,10:40:14", tensor.shape());
  REQUIRE(view);
  const auto shown = read_shown(tensor, *view);
  REQUIRE(shown);
  CHECK(shown->shape == Shape{4, 3});
  CHECK(integers(*shown) == std::vector<int32_t>{1960, 1974, 1988, 1310, 1324, 1338, 660, 674, 688, 10, 24, 38});
}

TEST_CASE("more elements than the limit are refused with a hint") {
  const ScratchDir scratch;
  HostTensor tensor = open(scratch.write("a.npy", counting({2000})));
  const auto shown = read_shown(tensor, whole_view({2000}), {false, 1999});
  REQUIRE_FALSE(shown);
  CHECK(shown.error().code == ErrorCode::kTooLarge);
  CHECK(shown.error().message == "2000 elements are too many to show, 1999 is the limit");
  CHECK(shown.error().hint.find("--values") != std::string::npos);
  CHECK(read_shown(tensor, whole_view({2000}), {false, 2000}));
}

TEST_CASE("a tensor in device format is shown in host order") {
  const ScratchDir scratch;
  // NC1HWC0 with C0 = 16: channel c of pixel p lies at element p * 16 + c.
  test::TensorSpec spec = test::output_of(DType::kInt8, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}});
  for (size_t i = 0; i < spec.data.size(); ++i) spec.data[i] = static_cast<char>(i);
  HostTensor tensor = open(scratch.write("Add.a.1.2.1700000000000000", test::build_dump({.tensors = {spec}})));
  const auto shown = read_shown(tensor, whole_view(tensor.shape()));
  REQUIRE(shown);
  CHECK(array_text(*shown) ==
        "[0, 0, 0, :]  0 16\n[0, 0, 1, :] 32 48\n[0, 1, 0, :]  1 17\n[0, 1, 1, :] 33 49\n"
        "[0, 2, 0, :]  2 18\n[0, 2, 1, :] 34 50");
}

TEST_CASE("dtypes that numpy lacks are widened") {
  const ScratchDir scratch;
  test::TensorSpec brain = test::output_of(DType::kBfloat16, Format::kND, {2});
  brain.data = std::string("\xC0\x3F\x00\xC0", 4);
  HostTensor tensor = open(scratch.write("Add.a.1.2.1700000000000000", test::build_dump({.tensors = {brain}})));
  const auto shown = read_shown(tensor, whole_view(tensor.shape()));
  REQUIRE(shown);
  CHECK(shown->dtype == DType::kFloat32);
  CHECK(array_text(*shown) == "1.5  -2");
  test::TensorSpec nibbles = test::output_of(DType::kInt4, Format::kND, {3});
  nibbles.data = std::string("\xF1\x07", 2);
  HostTensor small = open(scratch.write("Add.b.1.2.1700000000000000", test::build_dump({.tensors = {nibbles}})));
  CHECK(array_text(*read_shown(small, whole_view(small.shape()))) == " 1 -1  7");
}

TEST_CASE("an array without elements and a single one are read") {
  const ScratchDir scratch;
  HostTensor none = open(scratch.write("a.npy", counting({0, 3}))), one = open(scratch.write("b.npy", counting({})));
  CHECK(read_shown(none, whole_view({0, 3}))->elements.empty());
  CHECK(integers(*read_shown(one, whole_view({}))) == std::vector<int32_t>{0});
}

}  // namespace
}  // namespace msdump
