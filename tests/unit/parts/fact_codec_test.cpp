// Facts as bytes: what is written is read back to the last bit, and other bytes are refused.
#include "parts/facts.h"

#include <bit>
#include <cmath>
#include <limits>

#include "support/catch.h"

namespace msdump {
namespace {

enum class Color : uint8_t { kRed, kGreen };
constexpr Color last_of(Color) { return Color::kGreen; }

struct Inner {
  std::optional<double> number;
  std::vector<std::string> words;
};
void fields(auto& visit, FieldsOf<Inner> auto& value) { MSDUMP_FIELDS(number, words); }

struct Outer {
  bool truth = false;
  Color color = Color::kRed;
  uint32_t small = 0;
  uint64_t large = 0;
  int64_t below = 0;
  double number = 0;
  float single = 0;
  std::string text;
  std::vector<Inner> list;
  report::Value held;
};
void fields(auto& visit, FieldsOf<Outer> auto& value) {
  MSDUMP_FIELDS(truth, color, small, large, below, number, single, text, list, held);
}

template <class T>
std::string bytes_of(const T& value) {
  FactWriter writer;
  writer.put(value);
  return writer.take();
}

// No value where the bytes are refused.
template <class T>
std::optional<T> read(std::string_view bytes) {
  FactReader reader(bytes);
  T value{};
  reader.get(value);
  return reader.finish() ? std::optional<T>(value) : std::nullopt;
}

template <class T>
T again(const T& value) {
  const auto result = read<T>(bytes_of(value));
  REQUIRE(result);
  return *result;
}

TEST_CASE("Numbers come back as they were, at the ends of their types too") {
  for (const uint64_t number : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{300}, UINT64_MAX})
    CHECK(again(number) == number);
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{-64}, INT64_MIN, INT64_MAX})
    CHECK(again(number) == number);
  CHECK(bytes_of(uint64_t{127}).size() == 1);
  CHECK(bytes_of(int64_t{-64}).size() == 1);
  CHECK(bytes_of(uint64_t{128}) == "\x80\x01");
}

TEST_CASE("Floating-point numbers come back to the last bit") {
  for (const double number : {0.1, -0.0, 5e-324, 1e308, HUGE_VAL, -HUGE_VAL})
    CHECK(std::bit_cast<uint64_t>(again(number)) == std::bit_cast<uint64_t>(number));
  const auto payload = std::bit_cast<double>(uint64_t{0xFFF8'0000'0000'1234});
  CHECK(std::bit_cast<uint64_t>(again(payload)) == 0xFFF8'0000'0000'1234);
  CHECK(std::bit_cast<uint32_t>(again(-0.1F)) == std::bit_cast<uint32_t>(-0.1F));
}

TEST_CASE("A struct comes back with all its members") {
  Outer outer{true, Color::kGreen, 7, UINT64_MAX, -9, 0.25, 1.5F, std::string("a\0b", 3), {}, {}};
  outer.list = {{std::nullopt, {}}, {-0.5, {"", "x"}}};
  outer.held = report::List{report::Value(),     report::Value(true), report::Value(-1),    report::Value(uint64_t{9}),
                            report::Value(0.5F), report::Value(0.5),  report::Value("text")};
  const Outer read = again(outer);
  CHECK(read.truth);
  CHECK(read.color == Color::kGreen);
  CHECK(read.small == 7);
  CHECK(read.large == UINT64_MAX);
  CHECK(read.below == -9);
  CHECK(read.number == 0.25);
  CHECK(read.single == 1.5F);
  CHECK(read.text == std::string("a\0b", 3));
  REQUIRE(read.list.size() == 2);
  CHECK_FALSE(read.list[0].number);
  CHECK(read.list[1].number == -0.5);
  CHECK(read.list[1].words == std::vector<std::string>{"", "x"});
  CHECK(bytes_of(read) == bytes_of(outer));  // the values, and their alternatives
}

TEST_CASE("A fact that ends early is refused, wherever it ends") {
  Outer outer;
  outer.text = "text";
  outer.list = {{1.0, {"word"}}};
  outer.held = report::List{report::Value("x")};
  const std::string bytes = bytes_of(outer);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(read<Outer>(std::string_view(bytes).substr(0, length)));
  }
  CHECK_FALSE(read<Outer>(bytes + '\0'));
}

TEST_CASE("Values that a type does not have are refused") {
  CHECK_FALSE(read<bool>("\x02"));
  CHECK_FALSE(read<Color>("\x02"));
  CHECK(read<Color>("\x01") == Color::kGreen);
  CHECK(read<uint8_t>(bytes_of(uint64_t{255})) == 255);
  CHECK_FALSE(read<uint8_t>(bytes_of(uint64_t{256})));
  CHECK(read<int8_t>(bytes_of(int64_t{-128})) == -128);
  CHECK_FALSE(read<int8_t>(bytes_of(int64_t{-129})));
  CHECK_FALSE(read<int8_t>(bytes_of(int64_t{128})));
  CHECK_FALSE(read<uint64_t>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));  // 65 bits
  CHECK(read<uint64_t>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") == UINT64_MAX);
  CHECK_FALSE(read<uint64_t>("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"));
}

TEST_CASE("A list that says it is longer than its bytes costs no memory") {
  std::string bytes = bytes_of(UINT64_MAX);
  CHECK_FALSE(read<std::vector<uint64_t>>(bytes));
  CHECK_FALSE(read<std::string>(bytes));
  CHECK_FALSE(read<report::Value>("\x07" + bytes));
}

TEST_CASE("Values nest as deep as the limit and no deeper") {
  const auto nested = [](int depth) {
    report::Value value(1);
    for (int i = 0; i < depth; ++i) value = report::Value(report::List{value});
    return bytes_of(value);
  };
  CHECK(read<report::Value>(nested(kDeepestValue)));
  CHECK_FALSE(read<report::Value>(nested(kDeepestValue + 1)));
  CHECK_FALSE(read<report::Value>("\x08"));  // no such alternative
  CHECK_FALSE(read<report::Value>(std::string_view("\x08\0", 2)));
  CHECK(read<report::Value>(std::string_view("\x07\0", 2)));  // an empty list
}

TEST_CASE("A result is a value or an error, with all that the error says") {
  const Result<uint64_t> value = 7;
  CHECK(decode_result<uint64_t>(encode_result(value)) == 7U);
  const Result<uint64_t> error = fail(make_error(ErrorCode::kTruncated, "cut")
                                          .with_path("a.npy")
                                          .with_tensor("output:0")
                                          .with_offset(9)
                                          .with_hint("copy it again"));
  const auto read = decode_result<uint64_t>(encode_result(error));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::kTruncated);
  CHECK(read.error().message == "cut");
  CHECK(read.error().path == "a.npy");
  CHECK(read.error().tensor == "output:0");
  CHECK(read.error().offset == 9U);
  CHECK(read.error().hint == "copy it again");
  const auto damaged = decode_result<uint64_t>("\x01\x80");
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == ErrorCode::kBadHeader);
  CHECK(damaged.error().offset == 2U);
}

}  // namespace
}  // namespace msdump
