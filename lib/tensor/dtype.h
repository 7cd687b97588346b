// Element types. A dtype is an enumerator and a row of the table in dtype.cpp. The row has its names and numbers in every
// format, its width and encoding, and the dtype of its .npy file.
//
// numpy has neither bfloat16 nor fp8 nor anything narrower than a byte. Such tensors are widened without loss to float32,
// int8, uint8 or complex64. A dtype without a public encoding is raw: its bytes are kept and never interpreted.
#pragma once

#include <array>
#include <cstddef>
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
inline constexpr size_t kDTypes = static_cast<size_t>(last_of(DType())) + 1;

// kOther: not numbers (raw bytes, strings).
enum class DTypeKind : uint8_t { kOther, kFloat, kInteger, kBool, kComplex };

enum class SpecialCodes : uint8_t {
  kIeee,     // an exponent of ones: infinities and NaNs
  kNanOnly,  // all ones is NaN; no infinities
  kNone,     // every code is a finite number
};

// The fields of a code from its highest bit: sign, exponent, mantissa. An exponent of 0 is subnormal.
struct FloatFormat {
  int exponent_bits = 0;  // 0: not a fixed number
  int mantissa_bits = 0;
  int bias = 0;
  SpecialCodes specials = SpecialCodes::kIeee;
};

// The values of the codes of a type of at most 8 bits. Higher bits of a byte do not count.
using CodeValues = std::array<float, 256>;

struct DTypeTraits {
  DTypeKind kind = DTypeKind::kOther;  // also of raw types, for which kind_of() is kOther
  bool is_unsigned = false;
  FloatFormat format = {};             // of floats, and of the parts of complex numbers
  const CodeValues* values = nullptr;  // of floats of at most 8 bits
  DType part = DType::kUndefined;      // of complex numbers
  int packed_bits = 0;                 // of raw types: width in safetensors; 0: unknown
  // Spellings; empty: the format does not have the type.
  std::string_view safetensors = {};
  std::string_view torch = {};          // after "torch."
  std::string_view torch_storage = {};  // the storage class, after "torch."
  std::string_view numpy = {};          // in an .npy header, after the byte order
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;       // MindSpore's lower-case name, used in all output
  std::string_view cann_name;  // the enumerator in CANN
  int proto_number;            // OutputDataType in Ascend dump files (CANN 8.1, dump_data.proto); -1: none
  int ge_number;               // GE's number, in nano dump files and ATB tensors; -1: none
  int bits;                    // per element; 0: raw
  DType npy_dtype;             // the dtype of its .npy
  DTypeTraits traits = {};
};

// Every dtype, in the order of the enum; also the rows of --list-dtypes.
[[nodiscard]] std::span<const DTypeInfo> all_dtypes();
[[nodiscard]] const DTypeInfo& info(DType dtype);

[[nodiscard]] std::optional<DType> dtype_from_proto(int32_t number);
[[nodiscard]] std::optional<DType> dtype_from_ge(int32_t number);
// Case-insensitive; accepts the spellings of MindSpore, CANN and numpy ("BF16", "Float32", "bfloat16", "float").
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);
// Likewise, also with the module of the framework: "torch.float32", "mindspore.bfloat16".
[[nodiscard]] std::optional<DType> dtype_from_qualified_name(std::string_view name);
// The dtype with this spelling in one format: dtype_spelled("F8_E5M2", &DTypeTraits::safetensors).
[[nodiscard]] std::optional<DType> dtype_spelled(std::string_view name, std::string_view DTypeTraits::*spelling);

[[nodiscard]] inline std::string_view name_of(DType dtype) { return info(dtype).name; }

// True if the bytes cannot be interpreted (no fixed width, or no public encoding).
[[nodiscard]] bool is_raw(DType dtype);

// Bytes of `count` elements, the last byte padded for types narrower than a byte; no value on overflow. Not for raw types.
[[nodiscard]] std::optional<uint64_t> bytes_of(DType dtype, int64_t count);

// numpy's name for a dtype that an .npy can hold ("float32"; empty for others), as msaccucmp puts it in file names.
[[nodiscard]] std::string_view numpy_name(DType dtype);

[[nodiscard]] DTypeKind kind_of(DType dtype);
// The largest relative error of rounding to a dtype: half a unit in the last place; 2^-4 for all floats of at most 8 bits; 0
// for integers.
[[nodiscard]] double unit_roundoff(DType dtype);
// True for uint1 to uint64; not for bool and quantised types.
[[nodiscard]] bool is_unsigned(DType dtype);
// The dtype of the two parts of a complex number; any other dtype itself.
[[nodiscard]] DType part_of(DType dtype);

// The value of a code of a float of at most 8 bits.
[[nodiscard]] float narrow_value(DType dtype, uint8_t code);

// The ends of the finite values of a float. Codes are without the sign.
struct FloatLimits {
  double largest = 0;
  uint64_t largest_code = 0;
  uint64_t last_subnormal = 0;  // the code; the first subnormal is 1
};
// No value for scales without a mantissa (float8_e8m0) and 4-bit types, whose scales make use of the largest value.
[[nodiscard]] std::optional<FloatLimits> float_limits(DType dtype);

}  // namespace msdump
