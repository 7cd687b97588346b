// Two dtypes compared in a common one; the Kullback-Leibler divergence.
#include "kernels/pair/pair_dtype.h"

#include <cmath>

#include "kernels/pair/pair.h"
#include "unit/kernels/pair_values.h"

namespace msdump::kernels {
namespace {

template <class To, class From>
std::vector<To> widened(DType from, DType to, const std::vector<From>& values) {
  const size_t count = values.size() * sizeof(From) / width_of(from);
  std::vector<To> result(count * width_of(to) / sizeof(To));
  widen_to(from, to, bytes_of_values(values).data(), static_cast<int64_t>(count),
           reinterpret_cast<std::byte*>(result.data()));
  return result;
}

double kl(const std::vector<double>& a, const std::vector<double>& b, const KlRange& range) {
  KlState state;
  kl_block(DType::kFloat64, bytes_of_values(a).data(), bytes_of_values(b).data(), static_cast<int64_t>(a.size()), range,
           state);
  return finish(state).value();
}

}  // namespace

TEST_CASE("Two dtypes have a common one that holds the values of both") {
  CHECK(common_dtype(DType::kFloat16, DType::kFloat16) == DType::kFloat16);
  CHECK(common_dtype(DType::kFloat16, DType::kFloat32) == DType::kFloat32);
  CHECK(common_dtype(DType::kFloat16, DType::kBfloat16) == DType::kFloat32);
  CHECK(common_dtype(DType::kHifloat8, DType::kFloat8E5m2) == DType::kFloat32);
  CHECK(common_dtype(DType::kFloat32, DType::kFloat64) == DType::kFloat64);
  CHECK(common_dtype(DType::kInt8, DType::kInt64) == DType::kInt64);
  CHECK(common_dtype(DType::kUint8, DType::kInt8) == DType::kInt16);
  CHECK(common_dtype(DType::kUint32, DType::kInt32) == DType::kInt64);
  CHECK(common_dtype(DType::kUint64, DType::kInt8) == DType::kFloat64);
  CHECK(common_dtype(DType::kBool, DType::kUint16) == DType::kUint16);
  CHECK(common_dtype(DType::kBool, DType::kFloat16) == DType::kFloat32);
  CHECK(common_dtype(DType::kInt16, DType::kBfloat16) == DType::kFloat32);
  CHECK(common_dtype(DType::kInt32, DType::kFloat16) == DType::kFloat64);
  CHECK(common_dtype(DType::kFloat16, DType::kComplex64) == DType::kComplex64);
  CHECK(common_dtype(DType::kFloat64, DType::kComplex64) == DType::kComplex128);
  CHECK(common_dtype(DType::kComplex32, DType::kComplex64) == DType::kComplex64);
  CHECK(common_dtype(DType::kInt4, DType::kInt8) == DType::kInt4);  // unpacked they are the same
  CHECK_FALSE(common_dtype(DType::kString, DType::kFloat32));
}

TEST_CASE("A common dtype does not depend on the side") {
  for (const DType a : pairable()) {
    for (const DType b : pairable()) {
      const auto one = common_dtype(a, b), other = common_dtype(b, a);
      REQUIRE(one);
      REQUIRE(other);
      CHECK(info(*one).npy_dtype == info(*other).npy_dtype);
    }
  }
}

TEST_CASE("Widening keeps the values") {
  using Floats = std::vector<float>;
  std::vector<uint16_t> halves(3000, 0x3C00);  // more than one piece
  halves[2999] = 0xC000;
  const Floats floats = widened<float>(DType::kFloat16, DType::kFloat32, halves);
  CHECK(floats[0] == 1.0F);
  CHECK(floats[2999] == -2.0F);
  CHECK(widened<double>(DType::kBfloat16, DType::kFloat64, std::vector<uint16_t>{0x3F80, 0xC000}) ==
        std::vector<double>{1, -2});
  CHECK(widened<float>(DType::kBool, DType::kFloat32, std::vector<uint8_t>{0, 1, 7}) == Floats{0, 1, 1});
  CHECK(widened<int16_t>(DType::kInt8, DType::kInt16, std::vector<int8_t>{-128, 127}) ==
        std::vector<int16_t>{-128, 127});
  CHECK(widened<int64_t>(DType::kUint32, DType::kInt64, std::vector<uint32_t>{~0U}) ==
        std::vector<int64_t>{4294967295});
  CHECK(widened<double>(DType::kInt64, DType::kFloat64, std::vector<int64_t>{-3}) == std::vector<double>{-3});
  CHECK(widened<float>(DType::kFloat16, DType::kComplex64, std::vector<uint16_t>{0x3C00, 0xC000}) ==
        Floats{1, 0, -2, 0});
  CHECK(widened<double>(DType::kComplex32, DType::kComplex128, std::vector<uint16_t>{0x3C00, 0xC000}) ==
        std::vector<double>{1, -2});
  CHECK(widened<float>(DType::kFloat32, DType::kFloat32, Floats{5}) == Floats{5});
}

TEST_CASE("Our logarithm is the C library's but for the last digit") {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    const double x =
        std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 2000) - 1000);
    const double near_one = 1 + std::ldexp(static_cast<double>(random() >> 12), -60);
    REQUIRE(natural_log(x) == Approx(std::log(x)).epsilon(1e-15));
    REQUIRE(natural_log(near_one) == Approx(std::log(near_one)).epsilon(1e-15));
  }
  CHECK(natural_log(1) == 0);
}

TEST_CASE("The divergence of distributions is the sum of p ln(p / q)") {
  // Of ranges 0 to 1 the weights are the numbers themselves, the smallest being raised to 2^-23.
  const double least = 0x1p-23, p_sum = 1.5 + least, q_sum = 1.25 + least;
  const double p[] = {least / p_sum, 0.5 / p_sum, 1 / p_sum}, q[] = {0.25 / q_sum, 1 / q_sum, least / q_sum};
  double expected = 0;
  for (int i = 0; i < 3; ++i) expected += p[i] * std::log(p[i] / q[i]);
  CHECK(kl({0, 0.5, 1}, {0.25, 1, 0}, {1, 0, 1, 0}) == Approx(expected).epsilon(1e-14));
  CHECK(kl({0, 5, 10, kNan}, {0, 10, 20, 3}, {10, 0, 20, 0}) == 0);  // alike but for the scale
  CHECK(kl({2, 2}, {1, 3}, {2, 2, 3, 1}) == Approx(std::log(0.5) - 0.5 * std::log(least / (1 + least) / (1 + least))));
  CHECK(kl({1e308, -1e308}, {1, 0}, {1e308, -1e308, 1, 0}) == 0);
  CHECK_FALSE(finish(KlState{}));
  CHECK_FALSE(can_kl(DType::kComplex64));
}

TEST_CASE("The divergence of merged chunks is that of the whole") {
  PairSource source{0, true, PairSource::Likeness::kNone};
  const TensorPair pair = source.make(DType::kFloat16, 5000);
  const PairMetrics m = finish(state_of(pair));
  const KlRange range{m.max_a.value(), m.min_a.value(), m.max_b.value(), m.min_b.value()};
  KlState whole, merged;
  kl_block(pair.dtype, pair.a.data() + 1, pair.b.data() + 1, pair.count, range, whole);
  for (int64_t at = 0; at < pair.count; at += 999) {
    KlState next;
    kl_block(pair.dtype, pair.a.data() + 1 + 2 * at, pair.b.data() + 1 + 2 * at,
             std::min<int64_t>(999, pair.count - at), range, next);
    merged.merge(next);
  }
  CHECK(merged.finite == whole.finite);
  CHECK(*finish(merged) == Approx(*finish(whole)).epsilon(1e-13));
}

}  // namespace msdump::kernels
