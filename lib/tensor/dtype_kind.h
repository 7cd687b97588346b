// What the elements of a dtype are.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace msdump {

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
