#include "tensor/dtype.h"

#include <array>
#include <cassert>

#include "base/bytes.h"
#include "base/containers.h"
#include "base/text.h"

namespace msdump {
namespace {

using enum DType;

constexpr std::array kInfo = {
    DTypeInfo{kUndefined, "undefined", "UNDEFINED", 0, 28, 0, kInt8},
    DTypeInfo{kFloat32, "float32", "FLOAT", 1, 0, 32, kFloat32},
    DTypeInfo{kFloat16, "float16", "FLOAT16", 2, 1, 16, kFloat16},
    DTypeInfo{kInt8, "int8", "INT8", 3, 2, 8, kInt8},
    DTypeInfo{kUint8, "uint8", "UINT8", 4, 4, 8, kUint8},
    DTypeInfo{kInt16, "int16", "INT16", 5, 6, 16, kInt16},
    DTypeInfo{kUint16, "uint16", "UINT16", 6, 7, 16, kUint16},
    DTypeInfo{kInt32, "int32", "INT32", 7, 3, 32, kInt32},
    DTypeInfo{kInt64, "int64", "INT64", 8, 9, 64, kInt64},
    DTypeInfo{kUint32, "uint32", "UINT32", 9, 8, 32, kUint32},
    DTypeInfo{kUint64, "uint64", "UINT64", 10, 10, 64, kUint64},
    DTypeInfo{kBool, "bool", "BOOL", 11, 12, 8, kBool},
    DTypeInfo{kFloat64, "float64", "DOUBLE", 12, 11, 64, kFloat64},
    DTypeInfo{kString, "string", "STRING", 13, 13, 0, kUint8},
    DTypeInfo{kDualSubInt8, "dual_sub_int8", "DUAL_SUB_INT8", 14, 14, 8, kInt8},
    DTypeInfo{kDualSubUint8, "dual_sub_uint8", "DUAL_SUB_UINT8", 15, 15, 8, kUint8},
    DTypeInfo{kComplex64, "complex64", "COMPLEX64", 16, 16, 64, kComplex64},
    DTypeInfo{kComplex128, "complex128", "COMPLEX128", 17, 17, 128, kComplex128},
    DTypeInfo{kQint8, "qint8", "QINT8", 18, 18, 8, kInt8},
    DTypeInfo{kQint16, "qint16", "QINT16", 19, 19, 16, kInt16},
    DTypeInfo{kQint32, "qint32", "QINT32", 20, 20, 32, kInt32},
    DTypeInfo{kQuint8, "quint8", "QUINT8", 21, 21, 8, kUint8},
    DTypeInfo{kQuint16, "quint16", "QUINT16", 22, 22, 16, kUint16},
    DTypeInfo{kResource, "resource", "RESOURCE", 23, 23, 64, kInt64},
    DTypeInfo{kStringRef, "string_ref", "STRING_REF", 24, 24, 0, kUint8},
    DTypeInfo{kDual, "dual", "DUAL", 25, 25, 0, kUint8},
    DTypeInfo{kVariant, "variant", "VARIANT", 26, 26, 0, kUint8},
    DTypeInfo{kBfloat16, "bfloat16", "BF16", 27, 27, 16, kFloat32},
    DTypeInfo{kInt4, "int4", "INT4", 28, 29, 4, kInt8},
    DTypeInfo{kUint1, "uint1", "UINT1", 29, 30, 1, kUint8},
    DTypeInfo{kInt2, "int2", "INT2", 30, 31, 2, kInt8},
    DTypeInfo{kUint2, "uint2", "UINT2", 31, 32, 2, kUint8},
    DTypeInfo{kComplex32, "complex32", "COMPLEX32", 32, 33, 32, kComplex64},
    DTypeInfo{kHifloat8, "hifloat8", "HIFLOAT8", 33, 34, 8, kFloat32},
    DTypeInfo{kFloat8E5m2, "float8_e5m2", "FLOAT8_E5M2", 34, 35, 8, kFloat32},
    DTypeInfo{kFloat8E4m3fn, "float8_e4m3fn", "FLOAT8_E4M3FN", 35, 36, 8, kFloat32},
    DTypeInfo{kFloat8E8m0, "float8_e8m0", "FLOAT8_E8M0", 36, 37, 8, kFloat32},
    DTypeInfo{kFloat6E3m2, "float6_e3m2", "FLOAT6_E3M2", 37, 38, 0, kUint8},
    DTypeInfo{kFloat6E2m3, "float6_e2m3", "FLOAT6_E2M3", 38, 39, 0, kUint8},
    DTypeInfo{kFloat4E2m1, "float4_e2m1", "FLOAT4_E2M1", 39, 40, 4, kFloat32},
    DTypeInfo{kFloat4E1m2, "float4_e1m2", "FLOAT4_E1M2", 40, 41, 4, kFloat32},
    DTypeInfo{kHifloat4, "hifloat4", "HIFLOAT4", -1, 42, 0, kUint8},
};

constexpr bool in_enum_order() {
  for (size_t index = 0; index < kInfo.size(); ++index) {
    if (static_cast<size_t>(kInfo[index].dtype) != index) return false;
  }
  return true;
}
static_assert(in_enum_order() && !is_enumerator<static_cast<DType>(kInfo.size())>());

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

}  // namespace

std::span<const DTypeInfo> all_dtypes() { return kInfo; }

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  assert(index < kInfo.size());
  return kInfo[index];
}

std::optional<DType> dtype_from_proto(int32_t number) {
  for (const auto& entry : kInfo) {
    if (entry.proto_number == number && number >= 0) return entry.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_ge(int32_t number) {
  for (const auto& entry : kInfo) {
    if (entry.ge_number == number && number >= 0) return entry.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  constexpr std::string_view kGePrefix = "DT_";
  if (name.starts_with(kGePrefix)) name.remove_prefix(kGePrefix.size());
  for (const auto& entry : kInfo) {
    if (equals_ignoring_case(entry.name, name) || equals_ignoring_case(entry.cann_name, name)) return entry.dtype;
  }
  for (const auto& alias : kAliases) {
    if (equals_ignoring_case(alias.name, name)) return alias.dtype;
  }
  return std::nullopt;
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
  const DTypeInfo& entry = info(dtype);
  return entry.npy_dtype == dtype ? entry.name : std::string_view{};
}

DTypeKind kind_of(DType dtype) {
  switch (dtype) {
    case DType::kUndefined: return DTypeKind::kOther;
    case DType::kBool: return DTypeKind::kBool;
    case DType::kComplex32:
    case DType::kComplex64:
    case DType::kComplex128: return DTypeKind::kComplex;
    default: break;
  }
  if (is_raw(dtype)) return DTypeKind::kOther;
  return name_of(dtype).find("float") == std::string_view::npos ? DTypeKind::kInteger : DTypeKind::kFloat;
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128: return 0x1p-53;
    case DType::kFloat32:
    case DType::kComplex64: return 0x1p-24;
    case DType::kFloat16:
    case DType::kComplex32: return 0x1p-11;
    case DType::kBfloat16: return 0x1p-8;
    default: break;
  }
  return kind_of(dtype) == DTypeKind::kFloat ? 0x1p-4 : 0;
}

bool is_unsigned(DType dtype) { return name_of(dtype).starts_with("uint"); }

DType part_of(DType dtype) {
  switch (dtype) {
    case DType::kComplex32: return DType::kFloat16;
    case DType::kComplex64: return DType::kFloat32;
    case DType::kComplex128: return DType::kFloat64;
    default: return dtype;
  }
}

}  // namespace msdump
