#include "profiles/numpy_sum.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiles/msaccucmp/float32_reader.h"
#include "support/catch.h"

using namespace msdump;

namespace {

// As in the Python that made the expectations: no order in it, and every sum of it is rounded.
std::vector<float> pattern(uint64_t count) {
  std::vector<float> numbers;
  for (uint64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<double>(i * 2654435761U & 0xFFFF'FFFFU);
    numbers.push_back(static_cast<float>(bits / 65536 - 32768));
  }
  return numbers;
}

template <class T>
NumpySum<T> sum_of(const std::vector<T>& numbers) {
  NumpySum<T> sum;
  for (size_t at = 0; at < numbers.size(); at += kNumpyChunk) {
    const auto left = static_cast<int64_t>(numbers.size() - at);
    sum.add(numbers.data() + at, std::min(kNumpyChunk, left));
  }
  return sum;
}

}  // namespace

TEST_CASE("float32 sums, means and norms are numpy's to the bit") {
  struct Expected {
    uint64_t count;
    double sum, mean, norm;
  };
  // numpy 1.24: a.sum(), a.mean(), np.linalg.norm(a, axis=-1)
  for (const Expected& one : {Expected{5, -0x1.4754f8p+14, -0x1.05dd94p+12, 0x1.5b29d8p+15},
                              {8, -0x1.63dd6p+15, -0x1.63dd6p+12, 0x1.acc152p+15},
                              {100, -0x1.76a9fp+15, -0x1.df91d8p+8, 0x1.7366dep+17},
                              {128, -0x1.3d509cp+15, -0x1.3d509cp+8, 0x1.a2d6eep+17},
                              {129, -0x1.02eb6ep+16, -0x1.00e99ap+9, 0x1.a5d438p+17},
                              {8192, -0x1.59a92p+12, -0x1.59a92p-1, 0x1.a20e9p+20},
                              {8193, 0x1.666e38p+14, 0x1.666304p+1, 0x1.a21d5ap+20},
                              {20000, -0x1.f89abcp+15, -0x1.9d5f38p+1, 0x1.469c9p+21}}) {
    INFO(one.count);
    const std::vector<float> numbers = pattern(one.count);
    const auto sum = sum_of(numbers);
    CHECK(static_cast<double>(sum.total()) == one.sum);
    CHECK(static_cast<double>(sum.mean(static_cast<int64_t>(one.count))) == one.mean);
    std::vector<float> squares;
    for (const float number : numbers) squares.push_back(number * number);
    CHECK(static_cast<double>(std::sqrt(sum_of(squares).total())) == one.norm);
  }
}

TEST_CASE("float64 sums are numpy's to the bit") {
  for (const auto& [count, expected] : {std::pair<uint64_t, double>{8, -0x1.8773844cccccdp+15},
                                        {129, -0x1.1ccfcc9266668p+16},
                                        {8193, 0x1.8a43da27fff8fp+14},
                                        {20000, -0x1.15897ad5b3324p+16}}) {
    INFO(count);
    std::vector<double> numbers;
    for (const float number : pattern(count)) numbers.push_back(static_cast<double>(number) * 1.1);
    CHECK(sum_of(numbers).total() == expected);
  }
}

TEST_CASE("nothing sums to zero, and of it there is no mean") {
  const NumpySum<float> none;
  CHECK(none.total() == 0);
  CHECK(std::isnan(none.mean(0)));
}

namespace {

template <class T>
std::vector<float> converted(DType dtype, const std::vector<T>& elements, int64_t count) {
  std::vector<float> floats(static_cast<size_t>(count));
  to_float32(dtype, reinterpret_cast<const std::byte*>(elements.data()), count, floats.data());
  return floats;
}

}  // namespace

TEST_CASE("elements become float32 as numpy's astype makes them") {
  const float infinity = INFINITY;
  CHECK(converted<int64_t>(DType::kInt64, {16777217, 16777219, -3}, 3) == std::vector<float>{16777216, 16777220, -3});
  CHECK(converted<uint64_t>(DType::kUint64, {UINT64_MAX}, 1) == std::vector<float>{18446744073709551616.0F});
  CHECK(converted<double>(DType::kFloat64, {1e39, -1e300, 0.1}, 3) == std::vector<float>{infinity, -infinity, 0.1F});
  CHECK(converted<uint8_t>(DType::kBool, {0, 1, 255}, 3) == std::vector<float>{0, 1, 1});
  CHECK(converted<float>(DType::kComplex64, {1, 2, 3, 4}, 2) == std::vector<float>{1, 3});
  CHECK(converted<double>(DType::kComplex128, {1e39, 0, -5, 1}, 2) == std::vector<float>{infinity, -5});
  CHECK(converted<uint16_t>(DType::kComplex32, {0x3C00, 0xBC00, 0xC000, 0}, 2) == std::vector<float>{1, -2});
  CHECK(converted<uint16_t>(DType::kFloat16, {0x3C00, 0x7C00}, 2) == std::vector<float>{1, infinity});
  CHECK(converted<uint16_t>(DType::kBfloat16, {0x3F80, 0xFF80}, 2) == std::vector<float>{1, -infinity});
  CHECK(converted<int8_t>(DType::kInt4, {-8, 7}, 2) == std::vector<float>{-8, 7});
  CHECK(converted<int32_t>(DType::kQint32, {INT32_MIN}, 1) == std::vector<float>{-2147483648.0F});
  CHECK_FALSE(can_become_float32(DType::kString));
}
