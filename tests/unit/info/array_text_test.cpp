// What numpy 1.24 prints for the same arrays stands here.
#include "info/array_text.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "report/json_text.h"
#include "support/catch.h"

namespace msdump {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
ShownArray array_of(DType dtype, const Shape& shape, const std::vector<T>& values) {
  ShownArray array{dtype, shape, false, shape, {}};
  array.elements.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(array.elements.data(), values.data(), array.elements.size());
  return array;
}

ShownArray floats(const Shape& shape, const std::vector<float>& values) {
  return array_of(DType::kFloat32, shape, values);
}

template <class T>
std::vector<T> counted(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

std::string json_of(const ShownArray& array) {
  std::string text;
  report::append_json(text, array_value(array));
  return text;
}

TEST_CASE("integers stand under each other") {
  CHECK(array_text(array_of<int32_t>(DType::kInt32, {2, 2}, {1, -20, 300, 4})) == "[[  1 -20]\n [300   4]]");
  CHECK(array_text(array_of<uint64_t>(DType::kUint64, {2}, {UINT64_MAX, 0})) ==
        "[18446744073709551615                    0]");
}

TEST_CASE("floats have one number of places, and exponents when they are far apart") {
  CHECK(array_text(floats({3}, {0.5F, 2, 10.25F})) == "[ 0.5   2.   10.25]");
  CHECK(array_text(floats({4}, {0.1F, 2.5F, 100.25F, 1.0F / 3})) ==
        "[1.0000000e-01 2.5000000e+00 1.0025000e+02 3.3333334e-01]");
  CHECK(array_text(array_of<double>(DType::kFloat64, {3}, {1e-5, 1, 2e8})) == "[1.e-05 1.e+00 2.e+08]");
  CHECK(array_text(floats({3}, {0.001F, 1, 1.001F})) == "[1.000e-03 1.000e+00 1.001e+00]");
  CHECK(array_text(array_of<double>(DType::kFloat64, {1, 1}, {1e16})) == "[[1.e+16]]");
}

TEST_CASE("what is not finite is aligned to the right") {
  CHECK(array_text(floats({5}, {kNan, kInf, -kInf, 1.5F, -0.0F})) == "[ nan  inf -inf  1.5 -0. ]");
}

TEST_CASE("halves show the digits of halves") {
  CHECK(array_text(array_of<uint16_t>(DType::kFloat16, {3}, {0x7BFF, 0x2E66, 0x0002})) ==
        "[6.55e+04 1.00e-01 1.19e-07]");
}

TEST_CASE("complex numbers align both their parts") {
  CHECK(array_text(array_of<float>(DType::kComplex64, {3}, {1, 2, -3.5F, -4, kNan, kInf})) ==
        "[ 1.  +2.j -3.5 -4.j  nan+infj]");
}

TEST_CASE("truth values are words") {
  CHECK(array_text(array_of<uint8_t>(DType::kBool, {1, 2}, {1, 0})) == "[[ True False]]");
}

TEST_CASE("a blank line stands between planes") {
  CHECK(array_text(array_of(DType::kInt8, {2, 2, 2}, counted<int8_t>(8))) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
}

TEST_CASE("lines end before the 75th column") {
  std::vector<float> thirds = counted<float>(20);
  for (float& value : thirds) value /= 3;
  CHECK(array_text(floats({20}, thirds)) ==
        "[0.         0.33333334 0.6666667  1.         1.3333334  1.6666666\n"
        " 2.         2.3333333  2.6666667  3.         3.3333333  3.6666667\n"
        " 4.         4.3333335  4.6666665  5.         5.3333335  5.6666665\n"
        " 6.         6.3333335 ]");
}

TEST_CASE("a gap stands for what is not shown") {
  ShownArray row = array_of<int16_t>(DType::kInt16, {6}, {0, 1, 2, 1197, 1198, 1199});
  row.shape = {1200};
  row.summarised = true;
  CHECK(array_text(row) == "[   0    1    2 ... 1197 1198 1199]");
  ShownArray plane = array_of(DType::kUint8, {6, 2}, counted<uint8_t>(12));
  plane.shape = {600, 2};
  plane.summarised = true;
  CHECK(array_text(plane) == "[[ 0  1]\n [ 2  3]\n [ 4  5]\n ...\n [ 6  7]\n [ 8  9]\n [10 11]]");
}

TEST_CASE("a single number is printed in its own precision") {
  CHECK(array_text(floats({}, {0.1F})) == "0.1");
  CHECK(array_text(floats({}, {1e-5F})) == "1e-05");
  CHECK(array_text(floats({}, {kNan})) == "nan");
  CHECK(array_text(array_of<double>(DType::kFloat64, {}, {1e16})) == "1e+16");
  CHECK(array_text(array_of<double>(DType::kFloat64, {}, {-0.0})) == "-0.0");
  CHECK(array_text(array_of<uint16_t>(DType::kFloat16, {}, {0x7BFF})) == "65500.0");
  CHECK(array_text(array_of<float>(DType::kComplex64, {}, {1, 2})) == "(1+2j)");
  CHECK(array_text(array_of<float>(DType::kComplex64, {}, {0, -1.5F})) == "-1.5j");
  CHECK(array_text(array_of<int8_t>(DType::kInt8, {}, {-3})) == "-3");
  CHECK(array_text(array_of<uint8_t>(DType::kBool, {}, {1})) == "True");
}

TEST_CASE("an array without elements is empty brackets") {
  CHECK(array_text(floats({0, 3}, {})) == "[]");
  CHECK(array_text(floats({2, 0}, {})) == "[]");
}

TEST_CASE("values for machines are nested lists with words for what is not finite") {
  CHECK(json_of(floats({2, 2}, {0.1F, kNan, kInf, -kInf})) == R"([[0.1,"nan"],["inf","-inf"]])");
  CHECK(json_of(floats({}, {2.5F})) == "2.5");
  CHECK(json_of(array_of<float>(DType::kComplex64, {1}, {1, -2})) == "[[1.0,-2.0]]");
  CHECK(json_of(array_of<uint8_t>(DType::kBool, {2}, {1, 0})) == "[true,false]");
  CHECK(json_of(array_of<uint64_t>(DType::kUint64, {1}, {UINT64_MAX})) == "[18446744073709551615]");
  CHECK(json_of(floats({2, 0}, {})) == "[[],[]]");
}

}  // namespace
}  // namespace msdump
