#include "tensor/dtype_kind.h"

namespace msdump {

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
