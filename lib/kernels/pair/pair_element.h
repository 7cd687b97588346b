// One element of a pair as an integer in the order of the values. Internal to lib/kernels.
//
//     floats     the magnitude's bits, with the sign: -0 and +0 are 0, neighbouring values differ by 1, NaNs are beyond
//                the infinities
//     integers   themselves, uint64 as its bits; bool is 0 or 1
#pragma once

#include <cstdint>

#include "base/load.h"
#include "kernels/reduce/reduce_element.h"
#include "tensor/dtype.h"

namespace msdump::kernels::element {

inline int64_t ordered(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

inline int64_t code_of(DType stored, const std::byte* at) {
  switch (stored) {
    case DType::kBool: return load<uint8_t>(at) != 0 ? 1 : 0;
    case DType::kInt8: return load<int8_t>(at);
    case DType::kUint8: return load<uint8_t>(at);
    case DType::kInt16: return load<int16_t>(at);
    case DType::kUint16: return load<uint16_t>(at);
    case DType::kInt32: return load<int32_t>(at);
    case DType::kUint32: return load<uint32_t>(at);
    case DType::kInt64:
    case DType::kUint64: return load<int64_t>(at);
    case DType::kFloat16:
    case DType::kBfloat16: return ordered(load<uint16_t>(at), 16);
    case DType::kFloat32: return ordered(load<uint32_t>(at), 32);
    default: return ordered(load<uint64_t>(at), 64);
  }
}

// The code of infinity; 0 for dtypes that have none.
inline int64_t infinity_code(DType stored) {
  switch (stored) {
    case DType::kFloat16: return 0x7C00;
    case DType::kBfloat16: return 0x7F80;
    case DType::kFloat32: return 0x7F80'0000;
    case DType::kFloat64: return 0x7FF0'0000'0000'0000;
    default: return 0;
  }
}

inline double value_of_code(DType stored, int64_t code) {
  switch (stored) {
    case DType::kUint64: return static_cast<double>(static_cast<uint64_t>(code));
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat32:
    case DType::kFloat64: {
      const int64_t magnitude = code < 0 ? -code : code;
      const double value = as_double(stored, reinterpret_cast<const std::byte*>(&magnitude));  // little-endian
      return code < 0 ? -value : value;
    }
    default: return static_cast<double>(code);
  }
}

inline bool has_exact_difference(DType stored) { return stored == DType::kInt64 || stored == DType::kUint64; }

// Of codes.
inline bool is_less(DType stored, int64_t a, int64_t b) {
  return stored == DType::kUint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// As an integer, which is exact even for 64-bit integers.
inline uint64_t distance(DType stored, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  return is_less(stored, a, b) ? ub - ua : ua - ub;
}

}  // namespace msdump::kernels::element
