#include "tensor/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace msdump {
namespace {

// Enough for the largest double in full, and 8 places.
using Buffer = std::array<char, 400>;

void drop_zeros(std::string& digits) {
  const size_t last = digits.find_last_not_of('0');
  digits.resize(last == std::string::npos ? 1 : last + 1);
}

// "1.25e-07"
Decimal parse_scientific(std::string_view text, bool negative) {
  Decimal decimal;
  decimal.negative = negative;
  const size_t mark = text.find('e');
  std::string_view exponent = text.substr(mark + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  decimal.digits.clear();
  for (const char c : text.substr(0, mark)) {
    if (c != '.') decimal.digits += c;
  }
  drop_zeros(decimal.digits);
  return decimal;
}

template <class... Precision>
std::string_view scientific(Buffer& buffer, auto value, Precision... precision) {
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, precision...);
  return {buffer.data(), static_cast<size_t>(end.ptr - buffer.data())};
}

double value_of(const Decimal& decimal) {
  const std::string text =
      decimal.digits + "e" + std::to_string(decimal.exponent - (static_cast<int>(decimal.digits.size()) - 1));
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// One more in the last of so many digits.
Decimal next_up(Decimal decimal, size_t digits) {
  decimal.digits.resize(digits, '0');
  size_t at = digits;
  while (at > 0 && decimal.digits[at - 1] == '9') decimal.digits[--at] = '0';
  if (at == 0) {
    decimal.digits.insert(0, "1");
    ++decimal.exponent;
  } else {
    ++decimal.digits[at - 1];
  }
  drop_zeros(decimal.digits);
  return decimal;
}

// Numbers that round to one float16: all between the middles to its neighbours, and these too if its last bit is 0.
struct HalfInterval {
  double low, high;
  bool closed;

  explicit HalfInterval(double value) {
    constexpr int kFractionBits = 10, kLeastExponent = -14;
    const int exponent = std::max(std::ilogb(value), kLeastExponent);
    const double step = std::ldexp(1.0, exponent - kFractionBits);
    const bool power_of_two = std::ldexp(1.0, exponent) == value && exponent > kLeastExponent;
    low = value - (power_of_two ? step / 4 : step / 2);
    high = value + step / 2;
    closed = std::fmod(value / step, 2) == 0;
  }
  [[nodiscard]] bool contains(double x) const { return closed ? x >= low && x <= high : x > low && x < high; }
};

Decimal shortest_half(double value, bool negative) {
  const HalfInterval interval(value);
  Buffer buffer;
  for (int places = 0;; ++places) {
    const Decimal near = parse_scientific(scientific(buffer, value, places), negative);
    if (interval.contains(value_of(near))) return near;
    // Below a power of two the interval is narrower: the nearest may lie outside, and the one above it inside.
    const Decimal above = next_up(near, static_cast<size_t>(places) + 1);
    if (value_of(near) < value && interval.contains(value_of(above))) return above;
  }
}

}  // namespace

std::string Decimal::integer_part() const {
  if (exponent < 0) return "0";
  std::string text = digits.substr(0, static_cast<size_t>(exponent) + 1);
  text.resize(static_cast<size_t>(exponent) + 1, '0');
  return text;
}

int Decimal::places() const { return std::max(0, static_cast<int>(digits.size()) - 1 - exponent); }

std::string Decimal::fraction() const {
  if (digits == "0" || places() == 0) return "";
  if (exponent < 0) return std::string(static_cast<size_t>(-exponent) - 1, '0') + digits;
  return digits.substr(static_cast<size_t>(exponent) + 1);
}

Decimal shortest_decimal(double value, FloatWidth width) {
  Decimal zero;
  zero.negative = std::signbit(value);
  if (value == 0) return zero;
  const double magnitude = std::abs(value);
  Buffer buffer;
  switch (width) {
    case FloatWidth::kHalf: return shortest_half(magnitude, zero.negative);
    case FloatWidth::kSingle: return parse_scientific(scientific(buffer, static_cast<float>(magnitude)), zero.negative);
    case FloatWidth::kDouble: return parse_scientific(scientific(buffer, magnitude), zero.negative);
  }
  return zero;
}

Decimal fixed_decimal(double value, FloatWidth width, int most_places) {
  Decimal decimal = shortest_decimal(value, width);
  if (decimal.places() <= most_places) return decimal;
  Buffer buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::fixed, most_places);
  const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t point = std::min(text.find('.'), text.size());
  const size_t first = text.find_first_of("123456789");
  if (first == std::string_view::npos) return {decimal.negative, "0", 0};
  decimal.exponent = first < point ? static_cast<int>(point - first) - 1 : -static_cast<int>(first - point);
  decimal.digits.clear();
  for (const char c : text.substr(first)) {
    if (c != '.') decimal.digits += c;
  }
  drop_zeros(decimal.digits);
  return decimal;
}

Decimal scientific_decimal(double value, FloatWidth width, int most_places) {
  Decimal decimal = shortest_decimal(value, width);
  if (static_cast<int>(decimal.digits.size()) - 1 <= most_places) return decimal;
  return exact_decimal(value, most_places);
}

Decimal exact_decimal(double value, int places) {
  Buffer buffer;
  return parse_scientific(scientific(buffer, std::abs(value), places), std::signbit(value));
}

}  // namespace msdump
