#include "profiles/msprobe/metrics.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::string npy(std::string_view descr, std::string_view shape, const std::vector<T>& values) {
  return test::build_npy({.literal = test::npy_literal(descr, shape), .data = bytes_of_values(values)});
}

std::string floats(const std::vector<float>& values, std::string_view shape = "") {
  return npy("<f4", shape.empty() ? fmt::format("({},)", values.size()) : std::string(shape), values);
}

Strings metrics_of(const std::string& a, const std::string& b) {
  const ScratchDir scratch;
  const CancelToken never;
  const auto metrics = msprobe_metrics(scratch.write("a.npy", a), scratch.write("b.npy", b), never);
  if (!metrics) return {"error: " + metrics.error().message};
  Strings texts;
  for (const PythonValue& value : *metrics) texts.push_back(value.text);
  return texts;
}

Strings all(const std::string& text) { return Strings(6, text); }

TEST_CASE("equal tensors are equal in all metrics") {
  CHECK(metrics_of(floats({1, 2, 3}), floats({1, 2, 3})) == Strings{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
}

TEST_CASE("metrics of tensors that differ are those of msprobe's formulas") {
  CHECK(metrics_of(floats({1, 2, 3, 4}), floats({1, 2.002F, 3, 4.5F})) ==
        Strings{"0.998303529752", "0.5000040003578462", "0.5", "0.111111111111", "0.75", "0.75"});
  CHECK(metrics_of(npy<double>("<f8", "(2,)", {1, -1}), npy<double>("<f8", "(2,)", {-1, 1})) ==
        Strings{"-1.0", "2.8284271247461903", "2.0", "2.0", "0.0", "0.0"});
  CHECK(metrics_of(floats({1, 1.001F, 5}), floats({1, 1, 5})) ==
        Strings{"1.0", "0.001000046730041504", "0.00100004673", "0.00100004673", "0.666666666667", "1.0"});
}

TEST_CASE("a reference of 0 is divided by eps, that of the wider float") {
  CHECK(metrics_of(floats({1, 2}), floats({0, 2}))[3] == "8388608.0");
  CHECK(metrics_of(npy<double>("<f8", "(2,)", {1, 2}), npy<double>("<f8", "(2,)", {0, 2}))[3] == "4503599627370496.0");
  CHECK(metrics_of(npy<int8_t>("|i1", "(2,)", {1, 2}), npy<int8_t>("|i1", "(2,)", {0, 2}))[3] == "4503599627370496.0");
  CHECK(metrics_of(floats({1, 2}), npy<double>("<f8", "(2,)", {0, 2}))[3] == "4503599627370496.0");
}

TEST_CASE("vectors of zeros and of one element have words for a cosine") {
  CHECK(metrics_of(floats({0, 0}), floats({0, 0}))[0] == "1.0");
  CHECK(metrics_of(floats({0, 0}), floats({1, 0}))[0] == "Nan");
  CHECK(metrics_of(floats({0, 2}), floats({0, 0}))[0] == "Nan");
  CHECK(metrics_of(floats({1, 1e-3F, 0}), floats({1, 0, 0}))[0] == "1.0");  // 0.9999995, to 6 decimals
}

TEST_CASE("dimensions of 1 are dropped before the shapes are compared") {
  const std::vector<float> six(6, 1.0F);
  CHECK(metrics_of(floats(six, "(1, 6)"), floats(six, "(6, 1)"))[4] == "1.0");
  CHECK(metrics_of(floats(six, "(2, 3)"), floats(six, "(3, 2)")) == all("shape unmatched"));
  CHECK(metrics_of(floats({}, "(0, 3)"), floats(six)) == all("unsupported"));
  CHECK(metrics_of(floats(six), floats({}, "(0,)")) == all("shape unmatched"));
  CHECK(metrics_of(floats({2}, "(1,)"), floats({3}, "()")) ==
        Strings{"unsupported", "unsupported", "1.0", "0.333333333333", "unsupported", "unsupported"});
}

TEST_CASE("NaN and infinities at the same places count as zeros, at others nothing is compared") {
  const auto nan = static_cast<float>(kNan), inf = static_cast<float>(kInf);
  CHECK(metrics_of(floats({1, nan, inf}), floats({1, nan, inf})) == Strings{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
  CHECK(metrics_of(floats({1, nan, 2}), floats({1, 2, nan})) == all("N/A"));
  CHECK(metrics_of(floats({1, nan}), floats({1, inf})) == all("N/A"));
  CHECK(metrics_of(floats({1, inf}), floats({1, 2})) == all("N/A"));
  CHECK(metrics_of(floats({1, inf}), floats({1, -inf})) == all("N/A"));
}

TEST_CASE("tensors of many slabs are compared to the last element") {
  std::vector<float> a(200'001, 1.0F), b = a;
  b.back() = 2.0F;
  CHECK(metrics_of(floats(a), floats(b)) ==
        Strings{"0.999998", "1.0", "1.0", "0.5", "0.999995000025", "0.999995000025"});
  b.back() = static_cast<float>(kNan);
  CHECK(metrics_of(floats(a), floats(b)) == all("N/A"));
}

TEST_CASE("what overflows float32 has its value, what overflows float64 is infinite") {
  const Strings metrics = metrics_of(floats({3e38F, 1}), floats({-3e38F, 1}));
  CHECK(metrics[3] == "2.0");
  CHECK(metrics[2] == "6.0000000109955115e+38");
  CHECK(metrics_of(npy<double>("<f8", "(2,)", {1e308, 1}), npy<double>("<f8", "(2,)", {-1e308, 1}))[1] == "inf");
}

TEST_CASE("tensors without a dimension have the exact difference, whatever their dtypes") {
  const auto distance = [](const std::string& a, const std::string& b) { return metrics_of(a, b)[2]; };
  const auto i8 = [](int8_t value) { return npy<int8_t>("|i1", "()", {value}); };
  const auto i64 = [](int64_t value) { return npy<int64_t>("<i8", "()", {value}); };
  const auto half = npy<uint16_t>("<f2", "()", {0x6801});  // 2050
  CHECK(distance(i8(127), i8(-128)) == "255.0");
  CHECK(distance(npy<uint8_t>("|u1", "()", {1}), npy<uint8_t>("|u1", "()", {2})) == "1.0");
  CHECK(distance(i64(9007199254740993), i64(9007199254740992)) == "1.0");
  CHECK(distance(half, i8(1)) == "2049.0");
  CHECK(distance(npy<uint8_t>("|b1", "()", {1}), npy<uint8_t>("|b1", "()", {0})) == "1.0");
  CHECK(distance(npy<float>("<c8", "()", {3, 4}), npy<float>("<c8", "()", {0, 0})) == "5.0");
  const auto infinity = floats({static_cast<float>(kInf)}, "()"), nan = floats({static_cast<float>(kNan)}, "()");
  CHECK(distance(nan, floats({1}, "()")) == "Nan");
  CHECK(distance(infinity, infinity) == "Nan");
  CHECK(distance(infinity, floats({1}, "()")) == "inf");
}

TEST_CASE("PyTorch's bfloat16 is compared as float32") {
  const ScratchDir scratch;
  const auto pt = [](std::string_view name, std::vector<uint16_t> words) {
    test::PtTensorSpec spec;
    spec.storage_class = name;
    spec.elements = static_cast<int64_t>(words.size());
    spec.shape = {spec.elements};
    return test::build_pt(
        {.pickle = test::pickle::whole(test::tensor_call(spec)), .storages = {{"0", bytes_of_values(words)}}});
  };
  const std::string a = scratch.write("a.pt", pt("BFloat16Storage", {0x3F80, 0x4000}));
  const std::string b = scratch.write("b.npy", floats({1, 2}));
  const auto metrics = msprobe_metrics(a, b, CancelToken());
  REQUIRE(metrics);
  CHECK((*metrics)[2].text == "0.0");
  CHECK((*metrics)[5].text == "1.0");
}

TEST_CASE("a file that cannot be read is an error that names it") {
  const ScratchDir scratch;
  const std::string good = scratch.write("a.npy", floats({1})), bad = scratch.write("b.npy", "nothing");
  const CancelToken never;
  CHECK(msprobe_metrics(good, bad, never).error().path == bad);
  CHECK(msprobe_metrics(scratch.file("c.npy"), good, never).error().code == ErrorCode::kNotFound);
  test::PtSpec two;
  two.pickle = test::pickle::whole(test::pickle::list({test::tensor_call(), test::tensor_call()}));
  CHECK(msprobe_metrics(scratch.write("d.pt", test::build_pt(two)), good, never).error().code ==
        ErrorCode::kUnsupportedFormat);
}

}  // namespace
}  // namespace msdump
