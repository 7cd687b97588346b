#include "tensor/shape.h"

#include <numeric>

#include "support/catch.h"

namespace msdump {
namespace {

using Elements = std::vector<int64_t>;

// The elements of a part, as numpy would list them of arange(n).reshape(shape).
Elements elements_of(const ArrayView& view) {
  Elements elements = {view.offset};
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    Elements next;
    for (const int64_t base : elements) {
      for (int64_t i = 0; i < view.shape[axis]; ++i) next.push_back(base + i * view.strides[axis]);
    }
    elements = std::move(next);
  }
  return elements;
}

ArrayView part(std::string_view text, const Shape& shape) {
  INFO(text);
  const auto view = index_view(text, shape);
  REQUIRE(view);
  return *view;
}

std::string error_of(std::string_view text, const Shape& shape) {
  INFO(text);
  const auto view = index_view(text, shape);
  REQUIRE_FALSE(view);
  CHECK(view.error().code == ErrorCode::kUsage);
  return view.error().message;
}

TEST_CASE("one index takes its axis away, from either end") {
  const Shape shape = {2, 3, 4};
  CHECK(part("1", shape).shape == Shape{3, 4});
  CHECK(elements_of(part("1,2,3", shape)) == Elements{23});
  CHECK(part("1,2,3", shape).shape.empty());
  CHECK(elements_of(part("-1,-3,-4", shape)) == Elements{12});
  CHECK(elements_of(part("+1,0", shape)) == Elements{12, 13, 14, 15});
}

TEST_CASE("slices have Python's rules") {
  const Shape shape = {10};
  CHECK(elements_of(part("2:5", shape)) == Elements{2, 3, 4});
  CHECK(elements_of(part(":3", shape)) == Elements{0, 1, 2});
  CHECK(elements_of(part("-2:", shape)) == Elements{8, 9});
  CHECK(elements_of(part("::4", shape)) == Elements{0, 4, 8});
  CHECK(elements_of(part("::3,1", {7, 2})) == Elements{1, 7, 13});
  CHECK(elements_of(part("8::-3", shape)) == Elements{8, 5, 2});
  CHECK(elements_of(part("::-5", shape)) == Elements{9, 4});
  CHECK(elements_of(part("2:3", shape)) == Elements{2});
  CHECK(elements_of(part("3:2:-1", shape)) == Elements{3});
  CHECK(elements_of(part("5:2", shape)).empty());
  CHECK(elements_of(part("2:2", shape)).empty());
  CHECK(elements_of(part("-100:100:9", shape)) == Elements{0, 9});
  CHECK(elements_of(part("100:-100:-9", shape)) == Elements{9, 0});
  CHECK(part("20:30", shape).shape == Shape{0});
}

TEST_CASE("borders and steps beyond 64 bits are only far away") {
  CHECK(elements_of(part("99999999999999999999:", {3})).empty());
  CHECK(elements_of(part(":99999999999999999999", {3})) == Elements{0, 1, 2});
  CHECK(elements_of(part("::99999999999999999999", {3})) == Elements{0});
  CHECK(elements_of(part("::-99999999999999999999", {3})) == Elements{2});
  // A step is not multiplied where it is never taken.
  CHECK(part("::99999999999999999999", {3, 100}).strides == std::vector<int64_t>{0, 1});
}

TEST_CASE("an ellipsis stands for the axes that are not named") {
  const Shape shape = {2, 3, 4};
  CHECK(part("...", shape).shape == shape);
  CHECK(elements_of(part("...,0", shape)) == Elements{0, 4, 8, 12, 16, 20});
  CHECK(elements_of(part("1,...,-1", shape)) == Elements{15, 19, 23});
  CHECK(part("0,1,2,...", shape).shape.empty());
  CHECK(part(":", shape).shape == shape);
}

TEST_CASE("brackets, blanks and a comma at the end are what people type") {
  CHECK(elements_of(part("[1, :2]", {2, 3})) == Elements{3, 4});
  CHECK(elements_of(part(" 1 , 0 ", {2, 3})) == Elements{3});
  CHECK(part("0,", {2, 3}).shape == Shape{3});
  CHECK(elements_of(part("[ : 2 : ]", {3})) == Elements{0, 1});
}

TEST_CASE("what contradicts the shape is said with it") {
  CHECK(error_of("2", {2, 3}) == "index 2 is out of bounds for axis 0 of the shape (2,3)");
  CHECK(error_of("0,-4", {2, 3}) == "index -4 is out of bounds for axis 1 of the shape (2,3)");
  CHECK(error_of("0,0,0", {2, 3}) == "'0,0,0' has too many indices (3) for the shape (2,3), which has 2");
  CHECK(error_of("0", {}) == "'0' has too many indices (1) for the shape (), which has 0");
  CHECK(error_of("0", {0}) == "index 0 is out of bounds for axis 0 of the shape (0)");
}

TEST_CASE("text that is not an index is refused, not guessed") {
  CHECK(error_of("x", {2}) == "'x' is not an index");
  CHECK(error_of("1.5", {2}) == "'1.5' is not an index");
  CHECK(error_of("", {2}) == "'' is not an index");
  CHECK(error_of("0,,0", {2, 2, 2}) == "'' is not an index");
  CHECK(error_of("::0", {2}) == "'::0' is not a slice: its step is 0");
  CHECK(error_of("1:2:3:4", {2}) == "'1:2:3:4' is not a slice: it has more than three parts");
  CHECK(error_of("...,...", {2}) == "'...,...' has two ellipses");
  CHECK(error_of("--1", {2}) == "'--1' is not an index");
  CHECK(error_of("-", {2}) == "'-' is not an index");
  CHECK(error_of("1]", {2}) == "'1]' is not an index");
  CHECK(error_of("[1", {2}) == "'[1' is not an index");
}

TEST_CASE("an array without elements has parts without elements") {
  CHECK(part(":,1", {0, 3}).shape == Shape{0});
  CHECK(elements_of(part(":,1", {0, 3})).empty());
  CHECK(part("::-1", {0}).shape == Shape{0});
  // Beside an axis of length 0 the others may be longer than memory.
  CHECK(part("0", {int64_t{1} << 40, int64_t{1} << 40, 0}).shape == Shape{int64_t{1} << 40, 0});
}

TEST_CASE("an index is distinguished from a path") {
  for (const char* text : {"0", "-1", ":", "...", "0,:,2:5", "[1, 2]", "::2", "0\r\n"}) CHECK(looks_like_index(text));
  for (const char* text : {"", "x.npy", ".", "..", "-", "--json", "0/1", "dump"}) {
    INFO(text);
    CHECK_FALSE(looks_like_index(text));
  }
}

}  // namespace
}  // namespace msdump
