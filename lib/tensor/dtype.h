// Element types: how they are numbered in files, how wide they are, and what they become in an .npy file.
//
// Three numberings meet here:
//   * the protobuf enum of Ascend dump files (OutputDataType, CANN 8.1 dump_data.proto),
//   * the GE numbering, used by nano dump files only,
//   * names: CANN's upper-case ones (FLOAT, BF16) and MindSpore's lower-case ones (float32, bfloat16), which msdump
// uses.
// numpy knows neither bfloat16 nor anything narrower than a byte nor fp8: such tensors are widened without loss (float32,
// int8, uint8, complex64). A dtype without a known decoding is kept as raw bytes (uint8) and never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace msdump {

enum class DType : uint8_t {
  kUndefined,
  kFloat32,
  kFloat16,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kBool,
  kFloat64,
  kString,
  kDualSubInt8,
  kDualSubUint8,
  kComplex64,
  kComplex128,
  kQint8,
  kQint16,
  kQint32,
  kQuint8,
  kQuint16,
  kResource,
  kStringRef,
  kDual,
  kVariant,
  kBfloat16,
  kInt4,
  kUint1,
  kInt2,
  kUint2,
  kComplex32,
  kHifloat8,
  kFloat8E5m2,
  kFloat8E4m3fn,
  kFloat8E8m0,
  kFloat6E3m2,
  kFloat6E2m3,
  kFloat4E2m1,
  kFloat4E1m2,
  kHifloat4,
};
[[nodiscard]] constexpr DType last_of(DType) { return DType::kHifloat4; }

struct DTypeInfo {
  DType dtype;
  std::string_view name;       // MindSpore's lower-case name, used in all output
  std::string_view cann_name;  // the enum's spelling in CANN
  int proto_number;            // -1: none
  int ge_number;               // -1: none
  int bits;                    // per element; 0: no fixed width (strings, structs): raw bytes only
  DType npy_dtype;             // the dtype of its .npy
};

// Every dtype, in the order of the enum; also what --list-dtypes prints.
[[nodiscard]] std::span<const DTypeInfo> all_dtypes();
[[nodiscard]] const DTypeInfo& info(DType dtype);

[[nodiscard]] std::optional<DType> dtype_from_proto(int32_t number);
[[nodiscard]] std::optional<DType> dtype_from_ge(int32_t number);
// Case-insensitive; accepts the spellings of MindSpore, CANN and numpy ("BF16", "Float32", "bfloat16", "float").
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);

[[nodiscard]] inline std::string_view name_of(DType dtype) { return info(dtype).name; }

// True when the bytes cannot be interpreted (no fixed width or no public decoding): they are written as they are.
[[nodiscard]] bool is_raw(DType dtype);

// Bytes of `count` elements, the last byte padded for sub-byte types; no value on overflow. Not for raw types.
[[nodiscard]] std::optional<uint64_t> bytes_of(DType dtype, int64_t count);

// numpy's name for a dtype that .npy can hold ("float32"; empty for others), as msaccucmp puts it in file names.
[[nodiscard]] std::string_view numpy_name(DType dtype);

// What the elements of a dtype are.

// kOther: not numbers (raw bytes, strings, dtypes without a public decoding).
enum class DTypeKind : uint8_t { kOther, kFloat, kInteger, kBool, kComplex };
[[nodiscard]] DTypeKind kind_of(DType dtype);
// The largest relative error of rounding to a dtype: half a unit in the last place. 0 for integers.
[[nodiscard]] double unit_roundoff(DType dtype);
// True for uint8 to uint64 and narrower unsigned types; not for bool.
[[nodiscard]] bool is_unsigned(DType dtype);
// The dtype of the two parts of a complex number; any other dtype itself.
[[nodiscard]] DType part_of(DType dtype);

}  // namespace msdump
