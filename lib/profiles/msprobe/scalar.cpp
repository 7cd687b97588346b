#include "profiles/msprobe/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/numbers.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

enum class Category : uint8_t { kBool, kUnsigned, kSigned, kFloat, kComplex };

struct NumpyType {
  Category category = Category::kFloat;
  int bits = 64;
};

NumpyType type_of(DType dtype) {
  const int bits = info(dtype).bits;
  switch (kind_of(dtype)) {
    case DTypeKind::kBool: return {Category::kBool, bits};
    case DTypeKind::kInteger: return {is_unsigned(dtype) ? Category::kUnsigned : Category::kSigned, bits};
    case DTypeKind::kComplex: return {Category::kComplex, bits};
    default: return {Category::kFloat, bits};
  }
}

// The bits of the smallest float that holds (nearly) every value of a type.
int float_bits(NumpyType type) {
  switch (type.category) {
    case Category::kBool: return 16;
    case Category::kFloat: return type.bits;
    case Category::kComplex: return type.bits / 2;
    default: return type.bits == 8 ? 16 : type.bits == 16 ? 32 : 64;
  }
}

NumpyType promoted_integers(NumpyType a, NumpyType b) {
  if (a.category == b.category) return {a.category, std::max(a.bits, b.bits)};
  const NumpyType natural = a.category == Category::kUnsigned ? a : b,
                  whole = a.category == Category::kUnsigned ? b : a;
  const int bits = std::max(whole.bits, 2 * natural.bits);
  return bits > 64 ? NumpyType{Category::kFloat, 64} : NumpyType{Category::kSigned, bits};
}

NumpyType promoted(NumpyType a, NumpyType b) {
  if (a.category == Category::kBool) return b;
  if (b.category == Category::kBool) return a;
  const Category highest = std::max(a.category, b.category);
  if (highest < Category::kFloat) return promoted_integers(a, b);
  const int bits = std::max(float_bits(a), float_bits(b));
  if (highest == Category::kComplex) return {highest, 2 * std::max(bits, 32)};
  return {highest, bits};
}

// The nearest float16, ties to even, as a float.
float rounded_to_half(float value) {
  const float magnitude = std::fabs(value);
  if (!std::isfinite(value) || magnitude == 0) return value;
  if (magnitude >= 65520.0F) return std::copysign(std::numeric_limits<float>::infinity(), value);
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const float unit = std::ldexp(1.0F, exponent - 10);
  return std::copysign(std::nearbyint(magnitude / unit) * unit, value);
}

uint64_t bits_of(const NumpyScalar& value) {
  return type_of(value.dtype).category == Category::kUnsigned ? value.natural : static_cast<uint64_t>(value.whole);
}

double integer_distance(const NumpyScalar& a, const NumpyScalar& b, NumpyType type) {
  const auto unused = static_cast<unsigned>(64 - type.bits);
  const uint64_t difference = (bits_of(a) - bits_of(b)) << unused;
  if (type.category == Category::kUnsigned) return static_cast<double>(difference >> unused);
  const auto wrapped = static_cast<int64_t>(difference) >> unused;
  const bool lowest = static_cast<uint64_t>(wrapped) << unused == uint64_t{1} << 63;
  return static_cast<double>(wrapped < 0 && !lowest ? -wrapped : wrapped);  // the lowest has no opposite
}

template <class T>
double float_distance(const NumpyScalar& a, const NumpyScalar& b) {
  return std::fabs(static_cast<T>(a.real) - static_cast<T>(b.real));
}

template <class T>
double complex_distance(const NumpyScalar& a, const NumpyScalar& b) {
  return static_cast<T>(hypotenuse(static_cast<T>(a.real) - static_cast<T>(b.real),
                                   static_cast<T>(a.imaginary) - static_cast<T>(b.imaginary)));
}

template <class T>
double relative_error(double a, double b) {
  auto n = static_cast<T>(a), m = static_cast<T>(b);
  if (b == 0) {
    n += std::numeric_limits<T>::epsilon();
    m += std::numeric_limits<T>::epsilon();
  }
  return std::fabs((n - m) / m);
}

bool needs_float64(const NumpyScalar& value, bool numpy1) {
  const NumpyType type = type_of(value.dtype);
  if (type.category == Category::kFloat && type.bits < 64) return false;
  return !numpy1 || (std::isfinite(value.real) && std::fabs(value.real) >= 3.4e38);
}

NumpyScalar natural(DType dtype, uint64_t value) { return {dtype, static_cast<double>(value), 0, 0, value}; }
NumpyScalar whole(DType dtype, int64_t value) { return {dtype, static_cast<double>(value), 0, value, 0}; }
NumpyScalar real(DType dtype, double value, double imaginary = 0) { return {dtype, value, imaginary, 0, 0}; }

}  // namespace

NumpyScalar read_scalar(DType dtype, std::span<const std::byte> bytes) {
  const std::byte* const at = bytes.data();
  switch (dtype) {
    case DType::kBool: return whole(dtype, load<uint8_t>(at) != 0 ? 1 : 0);
    case DType::kUint8: return natural(dtype, load<uint8_t>(at));
    case DType::kUint16: return natural(dtype, load<uint16_t>(at));
    case DType::kUint32: return natural(dtype, load<uint32_t>(at));
    case DType::kUint64: return natural(dtype, load<uint64_t>(at));
    case DType::kInt8: return whole(dtype, load<int8_t>(at));
    case DType::kInt16: return whole(dtype, load<int16_t>(at));
    case DType::kInt32: return whole(dtype, load<int32_t>(at));
    case DType::kInt64: return whole(dtype, load<int64_t>(at));
    case DType::kFloat16: return real(dtype, static_cast<double>(kernels::decode_float16(load<uint16_t>(at))));
    case DType::kFloat32: return real(dtype, static_cast<double>(load<float>(at)));
    case DType::kFloat64: return real(dtype, load<double>(at));
    case DType::kComplex64:
      return real(dtype, static_cast<double>(load<float>(at)), static_cast<double>(load<float>(at + 4)));
    case DType::kComplex128: return real(dtype, load<double>(at), load<double>(at + 8));
    default: return {};
  }
}

double numpy_distance(const NumpyScalar& a, const NumpyScalar& b) {
  if (a.dtype == DType::kBool) return float_distance<double>(a, b);
  const NumpyType type = promoted(type_of(a.dtype), type_of(b.dtype));
  switch (type.category) {
    case Category::kComplex: return type.bits == 64 ? complex_distance<float>(a, b) : complex_distance<double>(a, b);
    case Category::kFloat: break;
    default: return integer_distance(a, b, type);
  }
  if (type.bits == 64) return float_distance<double>(a, b);
  if (type.bits == 32) return float_distance<float>(a, b);
  const auto difference = static_cast<float>(a.real) - static_cast<float>(b.real);
  return static_cast<double>(std::fabs(rounded_to_half(difference)));
}

double numpy_relative_error(const NumpyScalar& a, const NumpyScalar& b, bool numpy1) {
  if (needs_float64(a, numpy1) || needs_float64(b, numpy1)) return relative_error<double>(a.real, b.real);
  return relative_error<float>(a.real, b.real);
}

}  // namespace msdump
