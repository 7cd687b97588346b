#include "info/element_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/widen/widen.h"
#include "tensor/decimal.h"

namespace msdump {
namespace {

constexpr int kPrecision = 8;

template <class T>
T load(const std::vector<std::byte>& elements, size_t index) {
  T value;
  std::memcpy(&value, elements.data() + index * sizeof(T), sizeof(T));
  return value;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

class BoolTexts final : public ElementTexts {
 public:
  explicit BoolTexts(const std::vector<std::byte>& elements) : elements_(elements) {}
  std::string text(size_t index) const override { return is_true(index) ? " True" : "False"; }
  std::string single() const override { return is_true(0) ? "True" : "False"; }
  report::Value value(size_t index) const override { return is_true(index); }

 private:
  [[nodiscard]] bool is_true(size_t index) const { return elements_[index] != std::byte{0}; }
  const std::vector<std::byte>& elements_;
};

template <class T>
class IntTexts final : public ElementTexts {
 public:
  explicit IntTexts(const std::vector<std::byte>& elements) : elements_(elements) {
    T least = 0, most = 0;
    for (size_t i = 0; i < elements.size() / sizeof(T); ++i) {
      const T value = load<T>(elements, i);
      least = i == 0 ? value : std::min(least, value);
      most = i == 0 ? value : std::max(most, value);
    }
    width_ = std::max(std::to_string(least).size(), std::to_string(most).size());
  }
  std::string text(size_t index) const override { return padded(std::to_string(load<T>(elements_, index)), width_); }
  std::string single() const override { return std::to_string(load<T>(elements_, 0)); }
  report::Value value(size_t index) const override { return load<T>(elements_, index); }

 private:
  const std::vector<std::byte>& elements_;
  size_t width_ = 0;
};

std::string exponent_text(int exponent, size_t least_digits) {
  std::string digits = std::to_string(std::abs(exponent));
  if (digits.size() < least_digits) digits.insert(0, least_digits - digits.size(), '0');
  return (exponent < 0 ? "e-" : "e+") + digits;
}

// A column of floats: how numpy lays them out so that points stand under each other.
class FloatColumn {
 public:
  FloatColumn(const std::vector<double>& values, FloatWidth width, bool signs) : width_(width), signs_(signs) {
    choose_notation(values);
    size_t places = 0, exponent_digits = 0;
    bool finite = false, other = false, negative_inf = signs;
    for (const double value : values) {
      if (!std::isfinite(value)) {
        other = true;
        negative_inf = negative_inf || value == -HUGE_VAL;
        continue;
      }
      finite = true;
      const Decimal decimal = digits_of(value);
      left_ = std::max(left_, sign_of(decimal).size() + (scientific_ ? 1 : decimal.integer_part().size()));
      places = std::max(places, scientific_ ? decimal.digits.size() - 1 : decimal.fraction().size());
      exponent_digits = std::max(exponent_digits, exponent_text(decimal.exponent, 2).size() - 2);
    }
    places_ = places;
    exponent_digits_ = exponent_digits;
    right_ = places + (scientific_ && finite ? exponent_digits + 2 : 0);
    if (!other) return;
    const size_t behind = right_ + 1;  // the point too
    left_ = std::max(left_, left_for(3, behind));
    left_ = std::max(left_, left_for(negative_inf ? 4 : 3, behind));
  }

  [[nodiscard]] std::string text(double value) const {
    if (std::isnan(value)) return padded(signs_ ? "+nan" : "nan", left_ + right_ + 1);
    if (std::isinf(value)) return padded(value < 0 ? "-inf" : signs_ ? "+inf" : "inf", left_ + right_ + 1);
    Decimal decimal = digits_of(value);
    if (scientific_) {
      // All show the same number of digits: those with fewer show more of their exact value, not zeros.
      if (decimal.digits.size() - 1 < places_) decimal = exact_decimal(value, static_cast<int>(places_));
      std::string fraction = decimal.digits.substr(1);
      fraction.resize(places_, '0');
      return padded(sign_of(decimal) + decimal.digits[0], left_) + "." + fraction +
             exponent_text(decimal.exponent, exponent_digits_);
    }
    // The fewest digits of 65504 in float16 are 655: what stands before the point is exact all the same.
    if (static_cast<int>(decimal.digits.size()) <= decimal.exponent) decimal = exact_decimal(value, decimal.exponent);
    std::string fraction = decimal.fraction();
    fraction.resize(right_, ' ');
    return padded(sign_of(decimal) + decimal.integer_part(), left_) + "." + fraction;
  }

 private:
  static size_t left_for(size_t length, size_t behind) { return length > behind ? length - behind : 0; }

  [[nodiscard]] std::string sign_of(const Decimal& decimal) const { return decimal.negative ? "-" : signs_ ? "+" : ""; }

  [[nodiscard]] Decimal digits_of(double value) const {
    return scientific_ ? scientific_decimal(value, width_, kPrecision) : fixed_decimal(value, width_, kPrecision);
  }

  void choose_notation(const std::vector<double>& values) {
    double least = 0, most = 0;
    for (const double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      const double magnitude = std::abs(value);
      least = least == 0 ? magnitude : std::min(least, magnitude);
      most = std::max(most, magnitude);
    }
    if (most == 0) return;
    scientific_ = most >= 1e8 || least < 1e-4 || spread_is_wide(most, least);
  }

  // numpy divides in the type of the numbers.
  [[nodiscard]] bool spread_is_wide(double most, double least) const {
    if (width_ == FloatWidth::kDouble) return most / least > 1000;
    const float quotient = static_cast<float>(most) / static_cast<float>(least);
    // The next float16 after 1000 is 1000.5; the middle between them is rounded to 1000.
    return width_ == FloatWidth::kHalf ? quotient > 1000.25F : quotient > 1000.0F;
  }

  FloatWidth width_;
  bool signs_;  // also of positive numbers
  bool scientific_ = false;
  size_t left_ = 0, right_ = 0;  // columns before and behind the point
  size_t places_ = 0, exponent_digits_ = 0;
};

// As str() prints one number: its shortest digits, with an exponent when it is far from 1.
std::string single_text(double value, FloatWidth width, bool point_zero, bool sign) {
  const std::string plus = sign ? "+" : "";
  if (std::isnan(value)) return plus + "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : plus + "inf";
  const Decimal decimal = shortest_decimal(value, width);
  const std::string front = decimal.negative ? "-" : plus;
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    const std::string fraction = decimal.digits.substr(1);
    return front + decimal.digits[0] + (fraction.empty() ? "" : "." + fraction) + exponent_text(decimal.exponent, 2);
  }
  const std::string fraction = decimal.fraction();
  if (fraction.empty()) return front + decimal.integer_part() + (point_zero ? ".0" : "");
  return front + decimal.integer_part() + "." + fraction;
}

report::Value number_value(double value, FloatWidth width) {
  if (width == FloatWidth::kDouble) return value;
  return static_cast<float>(value);
}

class FloatTexts final : public ElementTexts {
 public:
  FloatTexts(std::vector<double> values, FloatWidth width)
      : values_(std::move(values)), width_(width), column_(values_, width, false) {}
  std::string text(size_t index) const override { return column_.text(values_[index]); }
  std::string single() const override { return single_text(values_[0], width_, true, false); }
  report::Value value(size_t index) const override { return number_value(values_[index], width_); }

 private:
  std::vector<double> values_;
  FloatWidth width_;
  FloatColumn column_;
};

class ComplexTexts final : public ElementTexts {
 public:
  ComplexTexts(std::vector<double> real, std::vector<double> imaginary, FloatWidth width)
      : real_(std::move(real)),
        imaginary_(std::move(imaginary)),
        width_(width),
        real_column_(real_, width, false),
        imaginary_column_(imaginary_, width, true) {}

  std::string text(size_t index) const override {
    std::string imaginary = imaginary_column_.text(imaginary_[index]);
    // The j follows the digits, before the blanks that fill the column.
    imaginary.insert(imaginary.find_last_not_of(' ') + 1, 1, 'j');
    return real_column_.text(real_[index]) + imaginary;
  }
  std::string single() const override {
    const double real = real_[0], imaginary = imaginary_[0];
    if (real == 0 && !std::signbit(real)) return single_text(imaginary, width_, false, false) + "j";
    return "(" + single_text(real, width_, false, false) + single_text(imaginary, width_, false, true) + "j)";
  }
  report::Value value(size_t index) const override {
    return report::List{number_value(real_[index], width_), number_value(imaginary_[index], width_)};
  }

 private:
  std::vector<double> real_, imaginary_;
  FloatWidth width_;
  FloatColumn real_column_, imaginary_column_;
};

template <class T>
std::vector<double> doubles_of(const std::vector<std::byte>& elements, size_t first = 0, size_t step = 1) {
  std::vector<double> values;
  for (size_t i = first; i < elements.size() / sizeof(T); i += step) {
    if constexpr (std::is_same_v<T, uint16_t>) {
      values.push_back(static_cast<double>(kernels::decode_float16(load<uint16_t>(elements, i))));
    } else {
      values.push_back(static_cast<double>(load<T>(elements, i)));
    }
  }
  return values;
}

template <class T>
std::unique_ptr<ElementTexts> complex_texts(const std::vector<std::byte>& elements, FloatWidth width) {
  return std::make_unique<ComplexTexts>(doubles_of<T>(elements, 0, 2), doubles_of<T>(elements, 1, 2), width);
}

}  // namespace

std::unique_ptr<ElementTexts> make_element_texts(const ShownArray& array) {
  const std::vector<std::byte>& elements = array.elements;
  switch (array.dtype) {
    case DType::kBool: return std::make_unique<BoolTexts>(elements);
    case DType::kInt8: return std::make_unique<IntTexts<int8_t>>(elements);
    case DType::kInt16: return std::make_unique<IntTexts<int16_t>>(elements);
    case DType::kInt32: return std::make_unique<IntTexts<int32_t>>(elements);
    case DType::kInt64: return std::make_unique<IntTexts<int64_t>>(elements);
    case DType::kUint16: return std::make_unique<IntTexts<uint16_t>>(elements);
    case DType::kUint32: return std::make_unique<IntTexts<uint32_t>>(elements);
    case DType::kUint64: return std::make_unique<IntTexts<uint64_t>>(elements);
    case DType::kFloat16: return std::make_unique<FloatTexts>(doubles_of<uint16_t>(elements), FloatWidth::kHalf);
    case DType::kFloat32: return std::make_unique<FloatTexts>(doubles_of<float>(elements), FloatWidth::kSingle);
    case DType::kFloat64: return std::make_unique<FloatTexts>(doubles_of<double>(elements), FloatWidth::kDouble);
    case DType::kComplex64: return complex_texts<float>(elements, FloatWidth::kSingle);
    case DType::kComplex128: return complex_texts<double>(elements, FloatWidth::kDouble);
    default: return std::make_unique<IntTexts<uint8_t>>(elements);
  }
}

}  // namespace msdump
