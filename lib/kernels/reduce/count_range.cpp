#include "kernels/reduce/count_range.h"

#include <algorithm>
#include <array>

#include "base/load.h"
#include "kernels/widen/widen.h"

namespace msdump::kernels {
namespace {

template <class T>
uint64_t count_of(const std::byte* elements, int64_t count, double first, double last) {
  uint64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(load<T>(elements + static_cast<size_t>(i) * sizeof(T)));
    found += value >= first && value <= last ? 1U : 0U;
  }
  return found;
}

uint64_t count_halves(const std::byte* elements, int64_t count, double first, double last) {
  uint64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(decode_float16(load<uint16_t>(elements + static_cast<size_t>(i) * 2)));
    found += value >= first && value <= last ? 1U : 0U;
  }
  return found;
}

uint64_t count_widened(DType dtype, const std::byte* elements, int64_t count, double first, double last) {
  constexpr int64_t kAtOnce = 1024;
  const auto bytes = static_cast<size_t>((info(dtype).bits + 7) / 8);  // unpacked
  std::array<std::byte, kAtOnce * sizeof(float)> wide;
  uint64_t found = 0;
  for (int64_t begin = 0; begin < count; begin += kAtOnce) {
    const int64_t some = std::min(kAtOnce, count - begin);
    widen(dtype, elements + static_cast<size_t>(begin) * bytes, some, wide.data());
    found += count_of<float>(wide.data(), some, first, last);
  }
  return found;
}

}  // namespace

std::optional<uint64_t> count_range(DType dtype, const std::byte* elements, int64_t count, double first, double last) {
  if (needs_widening(dtype) && dtype != DType::kComplex32) return count_widened(dtype, elements, count, first, last);
  switch (dtype) {
    case DType::kFloat16: return count_halves(elements, count, first, last);
    case DType::kFloat32: return count_of<float>(elements, count, first, last);
    case DType::kFloat64: return count_of<double>(elements, count, first, last);
    case DType::kInt8:
    case DType::kInt4:
    case DType::kInt2: return count_of<int8_t>(elements, count, first, last);
    case DType::kUint8:
    case DType::kUint2:
    case DType::kUint1:
    case DType::kBool: return count_of<uint8_t>(elements, count, first, last);
    case DType::kInt16: return count_of<int16_t>(elements, count, first, last);
    case DType::kUint16: return count_of<uint16_t>(elements, count, first, last);
    case DType::kInt32: return count_of<int32_t>(elements, count, first, last);
    case DType::kUint32: return count_of<uint32_t>(elements, count, first, last);
    case DType::kInt64: return count_of<int64_t>(elements, count, first, last);
    case DType::kUint64: return count_of<uint64_t>(elements, count, first, last);
    default: return std::nullopt;
  }
}

}  // namespace msdump::kernels
