#include "tensor/dtype.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/containers.h"
#include "base/text.h"

namespace msdump {
namespace {

using enum DType;

// Values of narrow codes. All steps are exact: the results are floats, and none is smaller than 2^-127.

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr float with_sign(bool negative, float magnitude) { return negative ? -magnitude : magnitude; }

// significand * 2^exponent
constexpr float scaled(uint32_t significand, int exponent) {
  auto value = static_cast<float>(significand);
  for (; exponent > 0; --exponent) value *= 2.0F;
  for (; exponent < 0; ++exponent) value *= 0.5F;
  return value;
}

constexpr float value_of_code(const FloatFormat& format, uint32_t code) {
  const uint32_t mantissa_ones = (1U << format.mantissa_bits) - 1, exponent_ones = (1U << format.exponent_bits) - 1;
  const uint32_t mantissa = code & mantissa_ones, exponent = (code >> format.mantissa_bits) & exponent_ones;
  const bool negative = (code >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
  if (format.specials == SpecialCodes::kNanOnly && exponent == exponent_ones && mantissa == mantissa_ones) return kNan;
  if (format.specials == SpecialCodes::kIeee && exponent == exponent_ones)
    return mantissa == 0 ? with_sign(negative, kInfinity) : kNan;
  const uint32_t significand = exponent == 0 ? mantissa : mantissa + mantissa_ones + 1;
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias - format.mantissa_bits;
  return with_sign(negative, scaled(significand, power));
}

// A scale of OCP's MX formats: EEEEEEEE is 2^(E - 127), without sign and zero.
constexpr float value_of_scale(uint32_t code) { return code == 0xFF ? kNan : scaled(1, static_cast<int>(code) - 127); }

// HiFloat8. A prefix of two to four bits gives the number of exponent bits, and the mantissa takes the rest of seven bits.
// Special codes: 0x00 zero, 0x80 NaN, 0x6F and 0xEF infinities.
//
//     S 11   EEEE M      exponent 8..15 either way        S 001  E MMM    exponent 1 or -1
//     S 10   EEE MM      4..7                             S 0001 MMM      exponent 0
//     S 01   EE MMM      2..3                             S 0000 MMM      subnormal: 2^(M - 23)
//
// An exponent field of D bits is a sign and D - 1 bits below a hidden leading 1: |exponent| = 2^(D-1) + bits.
constexpr float value_of_hifloat8(uint32_t code) {
  const bool negative = (code & 0x80) != 0;
  const uint32_t low = code & 0x7FU;
  if (low == 0) return negative ? kNan : 0.0F;
  if (low == 0x6F) return with_sign(negative, kInfinity);
  if (low < 0x08) return with_sign(negative, scaled(1, static_cast<int>(low) - 23));

  int prefix_bits = 4, exponent_bits = 0;
  if (low >= 0x20) {
    prefix_bits = 2;
    exponent_bits = static_cast<int>(low >> 5) + 1;  // 01 -> 2, 10 -> 3, 11 -> 4
  } else if (low >= 0x10) {
    prefix_bits = 3;
    exponent_bits = 1;
  }
  const int mantissa_bits = 7 - prefix_bits - exponent_bits;
  const uint32_t one = 1U << mantissa_bits;
  int exponent = 0;
  if (exponent_bits > 0) {
    const uint32_t hidden = 1U << (exponent_bits - 1);
    const uint32_t field = (low >> mantissa_bits) & (2 * hidden - 1);
    const auto magnitude = static_cast<int>(hidden | (field & (hidden - 1)));
    exponent = (field & hidden) != 0 ? -magnitude : magnitude;
  }
  return with_sign(negative, scaled(one + (low & (one - 1)), exponent - mantissa_bits));
}

template <class ValueOf>
constexpr CodeValues make_values(ValueOf value_of) {
  CodeValues values{};
  for (uint32_t code = 0; code < values.size(); ++code) values[code] = value_of(code);
  return values;
}
constexpr CodeValues make_values(const FloatFormat& format) {
  return make_values([&](uint32_t code) { return value_of_code(format, code); });
}

constexpr FloatFormat kHalf{5, 10, 15}, kBrain{8, 7, 127}, kSingle{8, 23, 127}, kDouble{11, 52, 1023};
constexpr FloatFormat kTapered{.mantissa_bits = 3}, kScale{8, 0, 127, SpecialCodes::kNanOnly};
constexpr FloatFormat kE5m2{5, 2, 15}, kE4m3{4, 3, 7, SpecialCodes::kNanOnly};  // OCP 8-bit floating point
constexpr FloatFormat kE2m1{2, 1, 1, SpecialCodes::kNone};                      // OCP MX: 0, 0.5, 1, 1.5, 2, 3, 4, 6
constexpr FloatFormat kE1m2{1, 2, 1, SpecialCodes::kNone};  // Ascend's other 4-bit type: 0 to 1.75 in steps of 0.25
constexpr CodeValues kE5m2Values = make_values(kE5m2), kE4m3Values = make_values(kE4m3);
constexpr CodeValues kE2m1Values = make_values(kE2m1), kE1m2Values = make_values(kE1m2);
constexpr CodeValues kScaleValues = make_values(value_of_scale), kHifloat8Values = make_values(value_of_hifloat8);

struct Spellings {
  std::string_view safetensors = {}, torch = {}, torch_storage = {}, numpy = {};
};

constexpr DTypeTraits traits_of(DTypeKind kind, const Spellings& spellings) {
  return {.kind = kind,
          .safetensors = spellings.safetensors,
          .torch = spellings.torch,
          .torch_storage = spellings.torch_storage,
          .numpy = spellings.numpy};
}
constexpr DTypeTraits boolean(const Spellings& spellings) { return traits_of(DTypeKind::kBool, spellings); }
constexpr DTypeTraits integer(const Spellings& spellings = {}) { return traits_of(DTypeKind::kInteger, spellings); }
constexpr DTypeTraits unsigned_integer(const Spellings& spellings = {}) {
  DTypeTraits traits = integer(spellings);
  traits.is_unsigned = true;
  return traits;
}
constexpr DTypeTraits floating(const FloatFormat& format, const Spellings& spellings) {
  DTypeTraits traits = traits_of(DTypeKind::kFloat, spellings);
  traits.format = format;
  return traits;
}
constexpr DTypeTraits narrow(const FloatFormat& format, const CodeValues* values, const Spellings& spellings = {}) {
  DTypeTraits traits = floating(format, spellings);
  traits.values = values;
  return traits;
}
// A raw float.
constexpr DTypeTraits packed_float(int bits, std::string_view safetensors = {}) {
  DTypeTraits traits = floating({}, {safetensors});
  traits.packed_bits = bits;
  return traits;
}
constexpr DTypeTraits complex_of(DType part, const FloatFormat& format, const Spellings& spellings) {
  DTypeTraits traits = traits_of(DTypeKind::kComplex, spellings);
  traits.format = format;
  traits.part = part;
  return traits;
}

// Absent: float8_e4m3fnuz and float8_e5m2fnuz of torch and safetensors, which no dump has.
constexpr DTypeInfo kInfo[] = {
    {kUndefined, "undefined", "UNDEFINED", 0, 28, 0, kInt8},
    {kFloat32, "float32", "FLOAT", 1, 0, 32, kFloat32, floating(kSingle, {"F32", "float32", "FloatStorage", "f4"})},
    {kFloat16, "float16", "FLOAT16", 2, 1, 16, kFloat16, floating(kHalf, {"F16", "float16", "HalfStorage", "f2"})},
    {kInt8, "int8", "INT8", 3, 2, 8, kInt8, integer({"I8", "int8", "CharStorage", "i1"})},
    {kUint8, "uint8", "UINT8", 4, 4, 8, kUint8, unsigned_integer({"U8", "uint8", "ByteStorage", "u1"})},
    {kInt16, "int16", "INT16", 5, 6, 16, kInt16, integer({"I16", "int16", "ShortStorage", "i2"})},
    {kUint16, "uint16", "UINT16", 6, 7, 16, kUint16, unsigned_integer({"U16", "uint16", "", "u2"})},
    {kInt32, "int32", "INT32", 7, 3, 32, kInt32, integer({"I32", "int32", "IntStorage", "i4"})},
    {kInt64, "int64", "INT64", 8, 9, 64, kInt64, integer({"I64", "int64", "LongStorage", "i8"})},
    {kUint32, "uint32", "UINT32", 9, 8, 32, kUint32, unsigned_integer({"U32", "uint32", "", "u4"})},
    {kUint64, "uint64", "UINT64", 10, 10, 64, kUint64, unsigned_integer({"U64", "uint64", "", "u8"})},
    {kBool, "bool", "BOOL", 11, 12, 8, kBool, boolean({"BOOL", "bool", "BoolStorage", "b1"})},
    {kFloat64, "float64", "DOUBLE", 12, 11, 64, kFloat64, floating(kDouble, {"F64", "float64", "DoubleStorage", "f8"})},
    {kString, "string", "STRING", 13, 13, 0, kUint8},
    {kDualSubInt8, "dual_sub_int8", "DUAL_SUB_INT8", 14, 14, 8, kInt8, integer()},
    {kDualSubUint8, "dual_sub_uint8", "DUAL_SUB_UINT8", 15, 15, 8, kUint8, integer()},
    {kComplex64, "complex64", "COMPLEX64", 16, 16, 64, kComplex64,
     complex_of(kFloat32, kSingle, {"C64", "complex64", "ComplexFloatStorage", "c8"})},
    {kComplex128, "complex128", "COMPLEX128", 17, 17, 128, kComplex128,
     complex_of(kFloat64, kDouble, {"", "complex128", "ComplexDoubleStorage", "c16"})},
    {kQint8, "qint8", "QINT8", 18, 18, 8, kInt8, integer({"", "qint8", "QInt8Storage"})},
    {kQint16, "qint16", "QINT16", 19, 19, 16, kInt16, integer()},
    {kQint32, "qint32", "QINT32", 20, 20, 32, kInt32, integer({"", "qint32", "QInt32Storage"})},
    {kQuint8, "quint8", "QUINT8", 21, 21, 8, kUint8, integer({"", "quint8", "QUInt8Storage"})},
    {kQuint16, "quint16", "QUINT16", 22, 22, 16, kUint16, integer()},
    {kResource, "resource", "RESOURCE", 23, 23, 64, kInt64, integer()},
    {kStringRef, "string_ref", "STRING_REF", 24, 24, 0, kUint8},
    {kDual, "dual", "DUAL", 25, 25, 0, kUint8},
    {kVariant, "variant", "VARIANT", 26, 26, 0, kUint8},
    {kBfloat16, "bfloat16", "BF16", 27, 27, 16, kFloat32, floating(kBrain, {"BF16", "bfloat16", "BFloat16Storage"})},
    {kInt4, "int4", "INT4", 28, 29, 4, kInt8, integer()},
    {kUint1, "uint1", "UINT1", 29, 30, 1, kUint8, unsigned_integer()},
    {kInt2, "int2", "INT2", 30, 31, 2, kInt8, integer()},
    {kUint2, "uint2", "UINT2", 31, 32, 2, kUint8, unsigned_integer()},
    {kComplex32, "complex32", "COMPLEX32", 32, 33, 32, kComplex64, complex_of(kFloat16, kHalf, {"", "complex32"})},
    {kHifloat8, "hifloat8", "HIFLOAT8", 33, 34, 8, kFloat32, narrow(kTapered, &kHifloat8Values)},
    {kFloat8E5m2, "float8_e5m2", "FLOAT8_E5M2", 34, 35, 8, kFloat32,
     narrow(kE5m2, &kE5m2Values, {"F8_E5M2", "float8_e5m2"})},
    {kFloat8E4m3fn, "float8_e4m3fn", "FLOAT8_E4M3FN", 35, 36, 8, kFloat32,
     narrow(kE4m3, &kE4m3Values, {"F8_E4M3", "float8_e4m3fn"})},
    {kFloat8E8m0, "float8_e8m0", "FLOAT8_E8M0", 36, 37, 8, kFloat32,
     narrow(kScale, &kScaleValues, {"F8_E8M0", "float8_e8m0fnu"})},
    {kFloat6E3m2, "float6_e3m2", "FLOAT6_E3M2", 37, 38, 0, kUint8, packed_float(6, "F6_E3M2")},
    {kFloat6E2m3, "float6_e2m3", "FLOAT6_E2M3", 38, 39, 0, kUint8, packed_float(6, "F6_E2M3")},
    {kFloat4E2m1, "float4_e2m1", "FLOAT4_E2M1", 39, 40, 4, kFloat32, narrow(kE2m1, &kE2m1Values, {"F4"})},
    {kFloat4E1m2, "float4_e1m2", "FLOAT4_E1M2", 40, 41, 4, kFloat32, narrow(kE1m2, &kE1m2Values)},
    {kHifloat4, "hifloat4", "HIFLOAT4", -1, 42, 0, kUint8, packed_float(0)},
};

constexpr bool in_enum_order() {
  for (size_t index = 0; index < std::size(kInfo); ++index) {
    if (static_cast<size_t>(kInfo[index].dtype) != index) return false;
  }
  return std::size(kInfo) == kDTypes;
}
static_assert(in_enum_order() && !is_enumerator<static_cast<DType>(kDTypes)>());

struct Alias {
  std::string_view name;
  DType dtype;
};

// Spellings of MindSpore ("Float32", "BFloat16" fold to the names above), numpy and users.
constexpr std::array kAliases = {
    Alias{"float", kFloat32},
    Alias{"half", kFloat16},
    Alias{"int", kInt32},
    Alias{"uint", kUint32},
    Alias{"fp32", kFloat32},
    Alias{"fp16", kFloat16},
    Alias{"float8_e4m3", kFloat8E4m3fn},
    Alias{"hif8", kHifloat8},
};

template <class Matches>
std::optional<DType> first_row(const Matches& matches) {
  for (const DTypeInfo& row : kInfo) {
    if (matches(row)) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace

std::span<const DTypeInfo> all_dtypes() { return kInfo; }

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  assert(index < kDTypes);
  return kInfo[index];
}

std::optional<DType> dtype_from_proto(int32_t number) {
  return first_row([number](const DTypeInfo& row) { return row.proto_number == number && number >= 0; });
}

std::optional<DType> dtype_from_ge(int32_t number) {
  return first_row([number](const DTypeInfo& row) { return row.ge_number == number && number >= 0; });
}

std::optional<DType> dtype_from_name(std::string_view name) {
  constexpr std::string_view kGePrefix = "DT_";
  if (name.starts_with(kGePrefix)) name.remove_prefix(kGePrefix.size());
  const auto found = first_row([name](const DTypeInfo& row) {
    return equals_ignoring_case(row.name, name) || equals_ignoring_case(row.cann_name, name);
  });
  if (found) return found;
  for (const Alias& alias : kAliases) {
    if (equals_ignoring_case(alias.name, name)) return alias.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_qualified_name(std::string_view name) {
  for (const std::string_view prefix : {"torch.", "mindspore."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return dtype_from_name(name);
}

std::optional<DType> dtype_spelled(std::string_view name, std::string_view DTypeTraits::*spelling) {
  if (name.empty()) return std::nullopt;
  return first_row([&](const DTypeInfo& row) { return row.traits.*spelling == name; });
}

bool is_raw(DType dtype) { return info(dtype).bits == 0; }

std::optional<uint64_t> bytes_of(DType dtype, int64_t count) {
  if (count < 0) return std::nullopt;
  const auto bits = static_cast<uint64_t>(info(dtype).bits);
  const auto elements = static_cast<uint64_t>(count);
  if (bits >= 8) return checked_mul(elements, bits / 8);
  if (bits == 0) return std::nullopt;
  const uint64_t per_byte = 8 / bits;
  return elements / per_byte + (elements % per_byte != 0 ? 1 : 0);
}

std::string_view numpy_name(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.npy_dtype == dtype ? row.name : std::string_view{};
}

DTypeKind kind_of(DType dtype) { return is_raw(dtype) ? DTypeKind::kOther : info(dtype).traits.kind; }

double unit_roundoff(DType dtype) {
  const DTypeKind kind = kind_of(dtype);
  if (kind != DTypeKind::kFloat && kind != DTypeKind::kComplex) return 0;
  return info(part_of(dtype)).bits < 16 ? 0x1p-4 : std::ldexp(1.0, -info(dtype).traits.format.mantissa_bits - 1);
}

bool is_unsigned(DType dtype) { return info(dtype).traits.is_unsigned; }

DType part_of(DType dtype) {
  const DTypeTraits& traits = info(dtype).traits;
  return traits.kind == DTypeKind::kComplex ? traits.part : dtype;
}

float narrow_value(DType dtype, uint8_t code) {
  assert(info(dtype).traits.values != nullptr);
  return (*info(dtype).traits.values)[code];
}

std::optional<FloatLimits> float_limits(DType dtype) {
  const DTypeInfo& row = info(dtype);
  const FloatFormat& format = row.traits.format;
  if (row.traits.kind != DTypeKind::kFloat || row.bits < 8 || format.mantissa_bits == 0) return std::nullopt;
  const uint64_t mantissa_ones = (uint64_t{1} << format.mantissa_bits) - 1;
  FloatLimits limits{.last_subnormal = mantissa_ones};
  if (row.traits.values == nullptr) {  // the exponent below that of the special codes
    limits.largest_code = ((uint64_t{1} << format.exponent_bits) - 2) << format.mantissa_bits | mantissa_ones;
    limits.largest = std::ldexp(2.0 - std::ldexp(1.0, -format.mantissa_bits), format.bias);
    return limits;
  }
  for (uint64_t code = 0; code < 0x80; ++code) {
    const double value = (*row.traits.values)[code];
    if (!std::isfinite(value) || value <= limits.largest) continue;
    limits.largest = value;
    limits.largest_code = code;
  }
  return limits;
}

}  // namespace msdump
