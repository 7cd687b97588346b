#include "profiles/msprobe/metrics.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "profiles/msprobe/scalar.h"
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

Strings metrics_of(const std::string& a, const std::string& b, bool numpy1 = false) {
  const ScratchDir scratch;
  const auto metrics = msprobe_metrics(scratch.write("a.npy", a), scratch.write("b.npy", b), numpy1);
  if (!metrics) return {"error: " + metrics.error().message};
  Strings texts;
  for (const PythonValue& value : *metrics) texts.push_back(value.text);
  return texts;
}

Strings all(const std::string& text) { return Strings(6, text); }

TEST_CASE("equal tensors are equal in all metrics") {
  CHECK(metrics_of(floats({1, 2, 3}), floats({1, 2, 3})) == Strings{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
}

// The numbers are those of msprobe's formulas in numpy.
TEST_CASE("metrics of tensors that differ have the digits of numpy") {
  CHECK(metrics_of(floats({1, 2, 3, 4}), floats({1, 2.002F, 3, 4.5F})) ==
        Strings{"0.998303529752", "0.5000040003578462", "0.5", "0.111111111939", "0.75", "0.75"});
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
        Strings{"unsupported", "unsupported", "1.0", "0.333333343267", "unsupported", "unsupported"});
}

TEST_CASE("NaN and infinities at the same places count as zeros, at others nothing is compared") {
  const auto nan = static_cast<float>(kNan), inf = static_cast<float>(kInf);
  CHECK(metrics_of(floats({1, nan, inf}), floats({1, nan, -inf})) == Strings{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
  CHECK(metrics_of(floats({1, nan, 2}), floats({1, 2, nan})) == all("N/A"));
  CHECK(metrics_of(floats({1, nan}), floats({1, inf})) == all("N/A"));
  CHECK(metrics_of(floats({1, inf}), floats({1, 2})) == all("N/A"));
}

TEST_CASE("tensors of many slabs are compared to the last element") {
  std::vector<float> a(200'001, 1.0F), b = a;
  b.back() = 2.0F;
  CHECK(metrics_of(floats(a), floats(b)) ==
        Strings{"0.999998", "1.0", "1.0", "0.5", "0.999995000025", "0.999995000025"});
  b.back() = static_cast<float>(kNan);
  CHECK(metrics_of(floats(a), floats(b)) == all("N/A"));
}

TEST_CASE("overflows of float32 and float64 are infinite") {
  const Strings metrics = metrics_of(floats({3e38F, 1}), floats({-3e38F, 1}));
  CHECK(metrics[3] == "inf");
  CHECK(metrics[2] == "6.0000000109955115e+38");
  CHECK(metrics_of(npy<double>("<f8", "(2,)", {1e308, 1}), npy<double>("<f8", "(2,)", {-1e308, 1}))[1] == "inf");
}

TEST_CASE("tensors without a dimension are subtracted in their own dtype") {
  const auto distance = [](const std::string& a, const std::string& b) { return metrics_of(a, b)[2]; };
  const auto i8 = [](int8_t value) { return npy<int8_t>("|i1", "()", {value}); };
  const auto u8 = [](uint8_t value) { return npy<uint8_t>("|u1", "()", {value}); };
  const auto half = [](uint16_t bits) { return npy<uint16_t>("<f2", "()", {bits}); };
  CHECK(distance(i8(127), i8(-128)) == "1.0");
  CHECK(distance(i8(-128), i8(0)) == "-128.0");
  CHECK(distance(u8(1), u8(2)) == "255.0");
  CHECK(distance(u8(255), i8(-1)) == "256.0");
  CHECK(distance(npy<uint64_t>("<u8", "()", {5}), i8(6)) == "1.0");
  CHECK(distance(half(0x6801), half(0x3C00)) == "2048.0");  // 2050 - 1 is 2049, which is no float16
  CHECK(distance(half(0x7BFF), half(0xFBFF)) == "inf");
  CHECK(distance(npy<uint8_t>("|b1", "()", {1}), npy<uint8_t>("|b1", "()", {0})) == "1.0");
  CHECK(distance(floats({16777216}, "()"), floats({1}, "()")) == "16777215.0");
  CHECK(distance(npy<float>("<c8", "()", {3, 4}), npy<float>("<c8", "()", {0, 0})) == "5.0");
  CHECK(distance(floats({static_cast<float>(kNan)}, "()"), floats({1}, "()")) == "Nan");
}

TEST_CASE("tensors of two dtypes without a dimension are subtracted in the one that numpy promotes them to") {
  const auto distance = [](const std::string& a, const std::string& b) { return metrics_of(a, b)[2]; };
  const auto i8 = [](int8_t value) { return npy<int8_t>("|i1", "()", {value}); };
  const auto i16 = [](int16_t value) { return npy<int16_t>("<i2", "()", {value}); };
  const auto i32 = [](int32_t value) { return npy<int32_t>("<i4", "()", {value}); };
  const auto i64 = [](int64_t value) { return npy<int64_t>("<i8", "()", {value}); };
  const auto u16 = npy<uint16_t>("<u2", "()", {65535}), u32 = npy<uint32_t>("<u4", "()", {1});
  const auto u64 = npy<uint64_t>("<u8", "()", {UINT64_MAX});
  const auto half = npy<uint16_t>("<f2", "()", {0x6801});  // 2050
  const auto double_tenth = npy<double>("<f8", "()", {0.1});
  CHECK(distance(u16, i16(-1)) == "65536.0");
  CHECK(distance(u32, npy<uint8_t>("|u1", "()", {2})) == "4294967295.0");
  CHECK(distance(npy<uint32_t>("<u4", "()", {UINT32_MAX}), i32(-1)) == "4294967296.0");
  CHECK(distance(u64, i8(-1)) == "1.8446744073709552e+19");
  CHECK(distance(u64, u16) == "1.8446744073709486e+19");
  CHECK(distance(i16(-32768), i8(1)) == "32767.0");
  CHECK(distance(i64(INT64_MIN), i8(0)) == "-9.223372036854776e+18");
  CHECK(distance(i8(-128), npy<uint8_t>("|b1", "()", {1})) == "127.0");
  CHECK(distance(half, i8(1)) == "2048.0");   // 2049 is not a float16
  CHECK(distance(half, i16(1)) == "2049.0");  // but a float32
  CHECK(distance(half, floats({1}, "()")) == "2049.0");
  CHECK(distance(floats({16777216}, "()"), i32(16777217)) == "1.0");
  CHECK(distance(floats({16777216}, "()"), i16(-1)) == "16777216.0");
  CHECK(distance(npy<float>("<c8", "()", {0.1F, 0}), double_tenth) == "1.49e-09");
  CHECK(distance(npy<float>("<c8", "()", {16777216, 0}), floats({-1}, "()")) == "16777216.0");
  CHECK(distance(npy<double>("<c16", "()", {3, 0}), npy<double>("<c16", "()", {0, -4})) == "5.0");
}

TEST_CASE("numpy 1 takes float32 for float64 values without a dimension") {
  const auto f8 = [](double value) { return npy<double>("<f8", "()", {value}); };
  CHECK(metrics_of(f8(1), f8(0), true)[3] == "8388608.0");
  CHECK(metrics_of(f8(1), f8(0), false)[3] == "4503599627370496.0");
  CHECK(metrics_of(f8(1e39), f8(0), true)[3] == metrics_of(f8(1e39), f8(0), false)[3]);
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
  const auto metrics = msprobe_metrics(a, b, false);
  REQUIRE(metrics);
  CHECK((*metrics)[2].text == "0.0");
  CHECK((*metrics)[5].text == "1.0");
}

TEST_CASE("a file that cannot be read is an error that names it") {
  const ScratchDir scratch;
  const std::string good = scratch.write("a.npy", floats({1})), bad = scratch.write("b.npy", "nothing");
  CHECK(msprobe_metrics(good, bad, false).error().path == bad);
  CHECK(msprobe_metrics(scratch.file("c.npy"), good, false).error().code == ErrorCode::kNotFound);
  test::PtSpec two;
  two.pickle = test::pickle::whole(test::pickle::list({test::tensor_call(), test::tensor_call()}));
  CHECK(msprobe_metrics(scratch.write("d.pt", test::build_pt(two)), good, false).error().code ==
        ErrorCode::kUnsupportedFormat);
}

}  // namespace
}  // namespace msdump
