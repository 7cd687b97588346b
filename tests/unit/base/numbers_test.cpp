// bytes.h and numbers.h
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/containers.h"
#include "base/numbers.h"
#include "support/catch.h"

namespace msdump {
namespace {

constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

std::optional<int64_t> product(std::vector<int64_t> dims) { return checked_product(dims); }

TEST_CASE("checked arithmetic gives no value on overflow") {
  CHECK(checked_add<uint64_t>(1, 2) == 3U);
  CHECK_FALSE(checked_add(~uint64_t{0}, uint64_t{1}));
  CHECK_FALSE(checked_add(kMax64, int64_t{1}));
  CHECK(checked_mul<uint64_t>(1U << 31, 1U << 31) == uint64_t{1} << 62);
  CHECK_FALSE(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32));
}

TEST_CASE("the element count of a shape") {
  CHECK(product({}) == 1);
  CHECK(product({2, 3, 4}) == 24);
  CHECK(product({kMax64}) == kMax64);
  CHECK_FALSE(product({kMax64, 2}));
  CHECK_FALSE(product({int64_t{1} << 32, int64_t{1} << 32, 6}));
  CHECK_FALSE(product({-1, 3}));
}

TEST_CASE("a dimension of zero makes a shape empty whatever the others would overflow to") {
  CHECK(product({kMax64, kMax64, 0}) == 0);
  CHECK(product({0, kMax64, kMax64}) == 0);
  CHECK_FALSE(product({0, -1}));
}

TEST_CASE("ceil_div does not overflow") {
  CHECK(ceil_div(0, 16) == 0);
  CHECK(ceil_div(1, 16) == 1);
  CHECK(ceil_div(16, 16) == 1);
  CHECK(ceil_div(kMax64, 2) == (int64_t{1} << 62));
}

std::array<std::byte, 12> counting_bytes() {
  std::array<std::byte, 12> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return bytes;
}

TEST_CASE("a byte reader reads little-endian and unaligned numbers") {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes);
  REQUIRE(reader.skip(1));
  CHECK(reader.u32() == 0x05040302U);
  CHECK(reader.i32() == 0x09080706);
  CHECK(reader.offset() == 9);
  CHECK(reader.remaining() == 3);
}

TEST_CASE("reading past the end names the offset in the file and moves nothing") {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes, 1000);
  REQUIRE(reader.u64());
  const auto past = reader.u64();
  REQUIRE_FALSE(past);
  CHECK(past.error().code == ErrorCode::kTruncated);
  CHECK(past.error().message == "8 bytes needed, 4 present");
  CHECK(past.error().offset == 1008U);
  CHECK(reader.u32() == 0x0C0B0A09U);
  CHECK(reader.remaining() == 0);
  CHECK_FALSE(reader.u32());
}

TEST_CASE("an enormous count does not wrap around the end") {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes, 8);
  REQUIRE(reader.skip(4));
  CHECK_FALSE(reader.bytes(~uint64_t{0}));
  CHECK_FALSE(reader.skip(~uint64_t{0} - 3));
  CHECK_FALSE(reader.sub(9));
  CHECK(reader.offset() == 12);
}

TEST_CASE("the bytes of a file are loaded as little-endian numbers of each width") {
  const auto bytes = counting_bytes();
  CHECK(load<uint16_t>(bytes.data() + 1) == 0x0302U);
  CHECK(load<uint32_t>(bytes.data() + 1) == 0x05040302U);
  CHECK(load<uint64_t>(bytes.data() + 1) == 0x0908070605040302U);
  ByteReader reader(bytes);
  CHECK(reader.u64() == 0x0807060504030201U);
  const auto rest = reader.bytes(4);
  REQUIRE(rest);
  CHECK(rest->data() == bytes.data() + 8);
  CHECK(rest->size() == 4);
}

TEST_CASE("a reader over a part ends where the part ends and knows where it is") {
  const auto bytes = counting_bytes();
  ByteReader reader(bytes, 100);
  REQUIRE(reader.skip(2));
  auto part = reader.sub(4);
  REQUIRE(part);
  CHECK(part->offset() == 102);
  CHECK(reader.offset() == 106);
  CHECK(part->u32() == 0x06050403U);
  CHECK(part->u32().error().offset == 106U);
}

TEST_CASE("numbers that are not known come after those that are") {
  CHECK(known_first(-1) < known_first(0));
  CHECK(known_first(INT64_MAX) < known_first(std::nullopt));
  CHECK(known_first(std::nullopt) == known_first(std::nullopt));
}

TEST_CASE("iteration ranges as MindSpore writes them") {
  const auto ranges = IntRanges::parse("0|5-8,100-120");
  REQUIRE(ranges);
  CHECK_FALSE(ranges->empty());
  for (const int64_t inside : {0, 5, 8, 100, 120}) CHECK(ranges->contains(inside));
  for (const int64_t outside : {-1, 1, 4, 9, 99, 121}) CHECK_FALSE(ranges->contains(outside));
}

TEST_CASE("a range that cannot be understood names the item") {
  for (const char* item : {"", "a", "-1", "5-", "-", "8-5", "1-2-3", " 1", "1--2", "9223372036854775808"}) {
    CAPTURE(item);
    const auto ranges = IntRanges::parse(std::string("1|") + item);
    REQUIRE_FALSE(ranges);
    CHECK(ranges.error().code == ErrorCode::kUsage);
    CHECK(ranges.error().message == fmt::format("'{}' is not a number or a range such as 5-8", item));
    CHECK(ranges.error().hint == "write 0|5-8|100-120 or 0,5-8");
  }
}

TEST_CASE("the hypotenuse of numbers whose squares overflow or vanish") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(hypotenuse(3, -4) == 5);
  CHECK(hypotenuse(-7, 0) == 7);
  CHECK(hypotenuse(0, 0) == 0);
  CHECK(hypotenuse(0x3p600, 0x4p600) == 0x5p600);
  CHECK(hypotenuse(0x3p-1060, 0x4p-1060) == 0x5p-1060);
  CHECK(hypotenuse(std::numeric_limits<double>::denorm_min(), 0) == std::numeric_limits<double>::denorm_min());
  CHECK(hypotenuse(kNan, -kInfinity) == kInfinity);
  CHECK(hypotenuse(kInfinity, 1) == kInfinity);
  CHECK(std::isnan(hypotenuse(kNan, 0)));
  CHECK(std::isnan(hypotenuse(0, kNan)));
  CHECK(std::isnan(hypotenuse(1, kNan)));
}

TEST_CASE("an estimate has six significant digits") {
  CHECK(rounded(8.884342341730743e-08) == 8.88434e-08);
  CHECK(rounded(-123456.5) == -123456);  // to even
  CHECK(rounded(9999996) == 1e7);
  CHECK(rounded(0.0) == 0);
  CHECK(std::isinf(rounded(-std::numeric_limits<double>::infinity())));
  CHECK(rounded(std::optional(1.00000049)) == 1);
  CHECK_FALSE(rounded(std::optional<double>()));
}

TEST_CASE("the power of ten of a number") {
  CHECK(power_of_ten_below(999.9) == 100);
  CHECK(power_of_ten_below(-1000) == 1000);
  CHECK(power_of_ten_below(0.5) == 0.1);
  CHECK(power_of_ten_below(1e-7) == 1e-7);
  CHECK(power_of_ten_below(5e-324) == 0);  // nothing is between 0 and 4.94e-324
}

TEST_CASE("divisors are ascending, and those of huge numbers are not looked for") {
  CHECK(divisors_of(12) == std::vector<int64_t>{1, 2, 3, 4, 6, 12});
  CHECK(divisors_of(9) == std::vector<int64_t>{1, 3, 9});
  CHECK(divisors_of(1) == std::vector<int64_t>{1});
  CHECK(divisors_of(int64_t{1} << 40) == std::vector<int64_t>{1});
}

enum class Fruit : uint8_t { kApple, kPear, kPlum };

TEST_CASE("a table has a value for each enumerator of an enum, and knows which numbers are some") {
  constexpr auto kColors = enum_table<Fruit, std::string_view>("red", "green", "blue");
  CHECK(kColors[Fruit::kApple] == "red");
  CHECK(kColors[Fruit::kPlum] == "blue");
  static_assert(is_enumerator<Fruit::kPlum>());
  static_assert(!is_enumerator<static_cast<Fruit>(3)>());
}

}  // namespace
}  // namespace msdump
