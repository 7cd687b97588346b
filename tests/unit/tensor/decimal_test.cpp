#include "tensor/decimal.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

namespace msdump {
namespace {

using enum FloatWidth;

std::string text_of(const Decimal& decimal) {
  return (decimal.negative ? "-" : "") + decimal.digits + "e" + std::to_string(decimal.exponent);
}

std::string shortest(double value, FloatWidth width) { return text_of(shortest_decimal(value, width)); }

TEST_CASE("the fewest digits depend on how wide the number is") {
  CHECK(shortest(0.1F, kSingle) == "1e-1");
  CHECK(shortest(0.1F, kDouble) == "10000000149011612e-1");
  CHECK(shortest(0.0999755859375, kHalf) == "1e-1");
  CHECK(shortest(65504, kHalf) == "655e4");
  CHECK(shortest(65504, kSingle) == "65504e4");
  CHECK(shortest(-2.5, kDouble) == "-25e0");
  CHECK(shortest(std::numeric_limits<double>::denorm_min(), kDouble) == "5e-324");
  CHECK(shortest(std::ldexp(1.0, -24), kHalf) == "6e-8");
}

TEST_CASE("zeros keep their sign") {
  CHECK(shortest(0.0, kSingle) == "0e0");
  CHECK(shortest(-0.0, kHalf) == "-0e0");
}

// Every half, against the definition: the digits read back as it, and one digit less does not.
TEST_CASE("the digits of every half read back as it and could not be fewer") {
  const auto half_of = [](uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 10), fraction = static_cast<int>(bits & 1023);
    return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  };
  const auto reads_back = [&](double read, uint32_t bits) {
    const double value = half_of(bits), below = half_of(bits - 1);
    const double above = bits == 0x7BFF ? 65536 : half_of(bits + 1);
    const double low = (below + value) / 2, high = (value + above) / 2;
    return bits % 2 == 0 ? read >= low && read <= high : read > low && read < high;
  };
  for (uint32_t bits = 1; bits < 0x7C00; ++bits) {
    const Decimal decimal = shortest_decimal(half_of(bits), kHalf);
    const double read = std::stod(decimal.digits + "e" +
                                  std::to_string(decimal.exponent - static_cast<int>(decimal.digits.size()) + 1));
    if (!reads_back(read, bits)) FAIL("half " << bits << " became " << read);
    if (decimal.digits.size() == 1) continue;
    // The candidates with one digit less: cut, and one more in the last place.
    const std::string shorter = decimal.digits.substr(0, decimal.digits.size() - 1);
    const int scale = decimal.exponent - static_cast<int>(shorter.size()) + 1;
    for (const long long number : {std::stoll(shorter), std::stoll(shorter) + 1}) {
      if (reads_back(std::stod(std::to_string(number) + "e" + std::to_string(scale)), bits))
        FAIL("half " << bits << " has fewer digits than " << decimal.digits);
    }
  }
}

TEST_CASE("a number is taken apart at its point") {
  const Decimal decimal = shortest_decimal(1234.5, kDouble);
  CHECK(decimal.integer_part() == "1234");
  CHECK(decimal.fraction() == "5");
  CHECK(decimal.places() == 1);
  CHECK(shortest_decimal(1200, kDouble).integer_part() == "1200");
  CHECK(shortest_decimal(1200, kDouble).fraction().empty());
  CHECK(shortest_decimal(0.00125, kDouble).fraction() == "00125");
  CHECK(shortest_decimal(0.00125, kDouble).integer_part() == "0");
  CHECK(shortest_decimal(0, kDouble).integer_part() == "0");
}

TEST_CASE("too many places are rounded from the exact value, ties to even") {
  CHECK(text_of(fixed_decimal(1.0 / 3, kDouble, 4)) == "3333e-1");
  CHECK(text_of(fixed_decimal(0.125, kDouble, 2)) == "12e-1");
  CHECK(text_of(fixed_decimal(0.375, kDouble, 2)) == "38e-1");
  CHECK(text_of(fixed_decimal(0.001, kDouble, 2)) == "0e0");
  CHECK(text_of(fixed_decimal(9.999, kDouble, 2)) == "1e1");
  CHECK(text_of(fixed_decimal(2.5, kDouble, 8)) == "25e0");
  CHECK(text_of(scientific_decimal(123456789.0, kDouble, 3)) == "1235e8");
  CHECK(text_of(scientific_decimal(5.0, kDouble, 3)) == "5e0");
  CHECK(text_of(exact_decimal(0.1, 20)) == "100000000000000005551e-1");
}

}  // namespace
}  // namespace msdump
