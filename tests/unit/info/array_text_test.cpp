#include "info/shown_array.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "report/json.h"
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

TEST_CASE("numbers stand under each other, each row after its place") {
  CHECK(array_text(array_of<int32_t>(DType::kInt32, {2, 2}, {1, -20, 300, 4})) == "[0, :]   1 -20\n[1, :] 300   4");
  CHECK(array_text(array_of<uint64_t>(DType::kUint64, {2}, {UINT64_MAX, 0})) ==
        "18446744073709551615                    0");
  CHECK(array_text(array_of(DType::kInt8, {2, 1, 2}, counted<int8_t>(4))) == "[0, 0, :] 0 1\n[1, 0, :] 2 3");
}

TEST_CASE("floats have eight significant digits") {
  CHECK(array_text(floats({4}, {0.1F, 2.5F, 100.25F, 1.0F / 3})) == "       0.1        2.5     100.25 0.33333334");
  CHECK(array_text(array_of<double>(DType::kFloat64, {3}, {1e-5, 1, 2e8})) == "1e-05     1 2e+08");
  CHECK(array_text(floats({5}, {kNan, kInf, -kInf, 1.5F, -0.0F})) == " nan  inf -inf  1.5   -0");
  CHECK(array_text(array_of<uint16_t>(DType::kFloat16, {2}, {0x7BFF, 0x2E66})) == "      65504 0.099975586");
}

TEST_CASE("complex numbers and truth values are texts, too") {
  CHECK(array_text(array_of<float>(DType::kComplex64, {3}, {1, 2, -3.5F, -4, kNan, kInf})) ==
        "    1+2j  -3.5-4j nan+infj");
  CHECK(array_text(array_of<uint8_t>(DType::kBool, {1, 2}, {1, 0})) == "[0, :]  True False");
}

TEST_CASE("a row longer than a line goes on in the next one") {
  std::vector<float> thirds = counted<float>(9);
  for (float& value : thirds) value /= 3;
  CHECK(array_text(floats({9}, thirds)) ==
        "         0 0.33333334 0.66666669          1  1.3333334  1.6666666          2\n"
        " 2.3333333  2.6666667");
  const std::string text = array_text(array_of(DType::kInt8, {1, 50}, counted<int8_t>(50)));
  CHECK(text.find("\n       24 25") != std::string::npos);
}

TEST_CASE("elements of every width have their own value") {
  CHECK(array_text(array_of<int16_t>(DType::kInt16, {2}, {-32768, 7})) == "-32768      7");
  CHECK(array_text(array_of<int64_t>(DType::kInt64, {1}, {INT64_MIN})) == "-9223372036854775808");
  CHECK(array_text(array_of<uint16_t>(DType::kUint16, {2}, {65535, 1})) == "65535     1");
  CHECK(array_text(array_of<uint32_t>(DType::kUint32, {2}, {4294967295U, 1})) == "4294967295          1");
  CHECK(array_text(array_of<double>(DType::kComplex128, {2}, {1, 2, 3, -4})) == "1+2j 3-4j");
}

TEST_CASE("the first number of a row follows its place, however long the two are") {
  const std::vector<double> wide = {-1.2345678e-10, -1.2345678e-10, 1, 2};
  Shape shape(20, 1);
  shape.back() = 2;
  std::string place = "[";
  for (int i = 0; i < 19; ++i) place += "0, ";
  place += ":]";
  CHECK(array_text(array_of(DType::kComplex128, shape, wide)) ==
        place + " -1.2345678e-10-1.2345678e-10j\n" + std::string(place.size() + 26, ' ') + "1+2j");
}

TEST_CASE("a gap stands for what is not shown") {
  ShownArray row = array_of<int16_t>(DType::kInt16, {6}, {0, 1, 2, 1197, 1198, 1199});
  row.shape = {1200};
  row.summarised = true;
  CHECK(array_text(row) == "   0    1    2  ... 1197 1198 1199");
  ShownArray plane = array_of(DType::kUint8, {6, 2}, counted<uint8_t>(12));
  plane.shape = {600, 2};
  plane.summarised = true;
  CHECK(array_text(plane) ==
        "[0, :]  0  1\n[1, :]  2  3\n[2, :]  4  5\n...\n[597, :]  6  7\n[598, :]  8  9\n[599, :] 10 11");
}

TEST_CASE("a single number and an array without any") {
  CHECK(array_text(floats({}, {0.1F})) == "0.1");
  CHECK(array_text(array_of<int8_t>(DType::kInt8, {}, {-3})) == "-3");
  CHECK(array_text(floats({0, 3}, {})) == "no elements");
  CHECK(array_text(floats({2, 0}, {})) == "no elements");
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
