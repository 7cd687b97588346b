#include "kernels/reduce/reduce.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

namespace msdump::kernels {
namespace {

template <class T>
std::optional<uint64_t> count(DType dtype, const std::vector<T>& elements, double first, double last) {
  return count_range(dtype, reinterpret_cast<const std::byte*>(elements.data()), static_cast<int64_t>(elements.size()),
                     first, last);
}

}  // namespace

TEST_CASE("both ends of a range are in it, NaN is not") {
  CHECK(count<float>(DType::kFloat32, {1, 2, 3, NAN, 4}, 2, 3) == 2U);
  CHECK(count<float>(DType::kFloat32, {NAN, -INFINITY, INFINITY}, -HUGE_VAL, HUGE_VAL) == 2U);
  CHECK(count<double>(DType::kFloat64, {1e300, -1e300}, 0, 1e300) == 1U);
}

TEST_CASE("every kind of real number can be counted, each by its own values") {
  CHECK(count<uint16_t>(DType::kFloat16, {0x3C00, 0x4000, 0x7C00}, 1, 2) == 2U);
  CHECK(count<uint16_t>(DType::kBfloat16, std::vector<uint16_t>(3000, 0x3F80), 1, 1) == 3000U);
  CHECK(count<uint8_t>(DType::kFloat8E4m3fn, {0x38, 0x40, 0xB8}, 1, 1) == 1U);
  CHECK(count<int8_t>(DType::kInt8, {-128, -1, 127}, -1, 127) == 2U);
  CHECK(count<int8_t>(DType::kInt4, {-8, 7}, 0, 7) == 1U);
  CHECK(count<uint8_t>(DType::kUint8, {255, 128}, 200, 300) == 1U);
  CHECK(count<uint8_t>(DType::kBool, {0, 1, 1}, 1, 1) == 2U);
  CHECK(count<int16_t>(DType::kInt16, {-32768, 0}, -40000, -1) == 1U);
  CHECK(count<uint16_t>(DType::kUint16, {65535, 0}, 1, 70000) == 1U);
  CHECK(count<int32_t>(DType::kInt32, {-5, 5}, -5, -5) == 1U);
  CHECK(count<uint32_t>(DType::kUint32, {4000000000U, 5}, 3e9, 5e9) == 1U);
  CHECK(count<int64_t>(DType::kInt64, {INT64_MIN, 5}, -1e19, 0) == 1U);
  CHECK(count<uint64_t>(DType::kUint64, {UINT64_MAX, 5}, 1e19, 1e20) == 1U);
}

TEST_CASE("complex numbers are in no range") {
  CHECK_FALSE(count<float>(DType::kComplex64, {1, 2}, 0, 3));
  CHECK_FALSE(count<uint16_t>(DType::kComplex32, {1, 2}, 0, 3));
}

}  // namespace msdump::kernels
