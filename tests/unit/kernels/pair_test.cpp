// What the metrics of pair mean.
#include "kernels/pair/pair.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/widen/widen.h"
#include "unit/kernels/pair_values.h"

namespace msdump::kernels {
namespace {

using Values = std::vector<double>;
using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

Approx near(double value) { return Approx(value).epsilon(1e-14); }

}  // namespace

TEST_CASE("Plain pairs have the metrics of their formulas") {
  const PairMetrics m = metrics_of(Values{1, 2, 3, -4}, Values{1, 4, 2, -4}, {.rtol = 0.25, .atol = 0.5});
  CHECK(m.count == 4);
  CHECK(m.equal == 2);
  CHECK(m.max_abs == 2.0);
  CHECK(m.worst == 1U);
  CHECK(m.max_rel == 0.5);
  CHECK(m.mean_abs == 0.75);
  CHECK(m.mean_rel == 0.25);
  CHECK(*m.rmse == near(std::sqrt(5.0 / 4)));
  CHECK(*m.l2_distance == near(std::sqrt(5.0)));
  CHECK(*m.relative_l2 == near(std::sqrt(5.0 / 37)));
  CHECK(*m.cosine == near(31 / std::sqrt(30.0 * 37)));
  CHECK(m.mean_a == 0.5);
  CHECK(m.mean_b == 0.75);
  CHECK(*m.std_a == near(std::sqrt(30.0 / 4 - 0.25)));
  CHECK(*m.std_b == near(std::sqrt(37.0 / 4 - 0.5625)));
  CHECK(m.max_a == 3.0);
  CHECK(m.min_a == -4.0);
  CHECK(m.max_b == 4.0);
  CHECK(m.min_b == -4.0);
  CHECK(m.over_tolerance == 1);  // 2 > 0.5 + 0.25 * 4, and 1 is not > 0.5 + 0.25 * 2
  CHECK(m.under_1e3 == 0.5);
  CHECK(m.reference_zero == 0);
  CHECK(m.nan_a + m.nan_b + m.nan_mismatch + m.inf_mismatch == 0);
}

TEST_CASE("No pairs have no metrics, and no finite pair has those of each side") {
  const PairMetrics none = metrics_of(Values{}, Values{});
  CHECK(none.count == 0);
  CHECK_FALSE(none.max_abs);
  CHECK_FALSE(none.cosine);
  CHECK_FALSE(none.mean_a);
  CHECK_FALSE(none.p50_abs);
  CHECK_FALSE(none.max_ulp);
  CHECK_FALSE(none.worst);
  const PairMetrics apart = metrics_of(Values{kNan, 3}, Values{5, kInf});
  CHECK(apart.count == 0);
  CHECK_FALSE(apart.max_abs);
  CHECK_FALSE(apart.under_1e3);
  CHECK(apart.mean_a == 3.0);
  CHECK(apart.max_b == 5.0);
  CHECK(apart.std_b == 0.0);
}

TEST_CASE("NaN and infinities are counted, and count as nothing else") {
  const Values a = {kNan, kNan, 1, kInf, kInf, -kInf, 7, kNan, 2},
               b = {kNan, 1, kNan, kInf, -kInf, -kInf, kInf, kInf, 2.5};
  for (const size_t before : {size_t{0}, size_t{5}, size_t{1020}, size_t{1024}, size_t{3000}}) {
    Values more_a(before, 4), more_b(before, 4);
    more_a.insert(more_a.end(), a.begin(), a.end());
    more_b.insert(more_b.end(), b.begin(), b.end());
    const PairMetrics m = metrics_of(more_a, more_b);
    CHECK(m.count == before + 1);
    CHECK(m.nan_a == 3);
    CHECK(m.nan_b == 2);
    CHECK(m.nan_mismatch == 3);
    CHECK(m.inf_mismatch == 2);  // of the other sign, and 7 against an infinity
    CHECK(m.equal == before);
    CHECK(m.max_abs == 0.5);
    CHECK(m.worst == before + 8);
    CHECK(*m.under_1e3 == near(static_cast<double>(before) / static_cast<double>(before + 1)));
    CHECK(m.max_a == 7.0);
    CHECK(m.min_b == 1.0);
    CHECK(*m.mean_a == near((10 + 4.0 * static_cast<double>(before)) / static_cast<double>(before + 3)));
  }
}

TEST_CASE("A reference of zero makes the largest relative error infinite and enters no mean of them") {
  const PairMetrics m = metrics_of(Values{1, 0, 3}, Values{0, 0, 2});
  CHECK(m.reference_zero == 1);
  CHECK(m.max_rel == kInf);
  CHECK(m.mean_rel == 0.5);
  CHECK(*m.under_1e3 == near(1.0 / 3));
  CHECK(*m.under_5e3 == near(1.0 / 3));
  const PairMetrics zeros = metrics_of(Values{0, -0.0}, Values{-0.0, 0});
  CHECK(zeros.equal == 2);
  CHECK(zeros.max_rel == 0.0);
  CHECK_FALSE(zeros.mean_rel);
  CHECK_FALSE(zeros.cosine);
  CHECK(zeros.relative_l2 == 0.0);
  CHECK(zeros.under_1e3 == 1.0);
  CHECK(zeros.max_ulp == 0U);
  CHECK(zeros.worst == 0U);
  const PairMetrics all = metrics_of(Values{1, -1}, Values{0, 0});
  CHECK(all.relative_l2 == kInf);
  CHECK_FALSE(all.cosine);
  CHECK_FALSE(all.mean_rel);
}

TEST_CASE("The largest error beside the scale is that of any pair, a reference of zero among them") {
  const auto scaled = [](const Values& a, const Values& b, double scale) {
    return *metrics_of(a, b, {.scale = scale}).max_scaled;
  };
  CHECK(scaled({1, 0.5, 4}, {0, 0, 6}, 2) == near(0.5));
  CHECK(scaled({1, 0.5, 9}, {0, 0, 6}, 2) == near(0.5));
  CHECK(scaled({1, 0.5, 10}, {0, 0, 6}, 2) == near(0.5));
  CHECK(scaled({1, 0.5, -10}, {0, 0, 6}, 2) == near(2));
  CHECK(scaled({1, 2}, {1, 2}, 0) == 0);
  CHECK(scaled({1, 2}, {0, 2}, 0) == kInf);
  CHECK(scaled({0, 2}, {0, 1}, 0) == 1);
  CHECK(scaled({kNan, 1}, {0, 1}, 1) == 0);
  // No double holds the difference, nor |b| + scale.
  CHECK(scaled({1.6e308}, {-1.6e308}, 1.6e308) == near(1));
  CHECK(scaled({1e-320}, {0}, 1e-320) == 1);
  const std::vector<float> a{3, 4}, b{0, 0};
  CHECK(*metrics_of(DType::kComplex64, a, b, {.scale = 2}).max_scaled == near(2.5));
  CHECK_FALSE(metrics_of(Values{}, {}).max_scaled);
}

TEST_CASE("The worst pair is the first of the largest difference, whatever stands before it") {
  for (const int64_t at : {0, 1, 7, 8, 1023, 1024, 1030, 5000}) {
    Floats a(6000, 1), b(6000, 1);
    a[static_cast<size_t>(at)] = 3;
    a.back() = -1;  // as far away
    const PairMetrics m = metrics_of(DType::kFloat32, a, b);
    CHECK(m.worst == static_cast<uint64_t>(at));
    CHECK(m.max_abs == 2.0);
  }
  const PairMetrics behind_nan = metrics_of(Values{kNan, 2, 2}, Values{0, 2, 2});
  CHECK(behind_nan.worst == 1U);
}

TEST_CASE("ULP counts the values of the dtype between both sides") {
  CHECK(metrics_of(DType::kFloat16, Halves{0x3C00}, Halves{0x3C03}).max_ulp == 3U);
  CHECK(metrics_of(DType::kFloat16, Halves{0x8001}, Halves{0x0001}).max_ulp == 2U);  // through zero, which is one value
  CHECK(metrics_of(DType::kFloat16, Halves{0xFBFF}, Halves{0x7BFF}).max_ulp == 2U * 0x7BFF);
  CHECK(metrics_of(DType::kBfloat16, Halves{0x3F80, 0x7F80}, Halves{0x3F7F, 0}).max_ulp == 1U);  // not of infinity
  CHECK(metrics_of(DType::kFloat32, Floats{}, Floats{}).max_ulp == std::nullopt);
  CHECK(metrics_of(Values{-std::numeric_limits<double>::max()}, Values{std::numeric_limits<double>::max()}).max_ulp ==
        2 * 0x7FEF'FFFF'FFFF'FFFFU);
  CHECK(metrics_of(DType::kInt8, std::vector<int8_t>{127}, std::vector<int8_t>{-128}).max_ulp == 255U);
  CHECK_FALSE(metrics_of(DType::kBool, std::vector<uint8_t>{1}, std::vector<uint8_t>{0}).max_ulp);
  CHECK_FALSE(metrics_of(Values{1}, Values{2}, {.ulp = false}).max_ulp);
  const auto fp8 = [](DType dtype, uint8_t a, uint8_t b) {
    return metrics_of(dtype, std::vector<uint8_t>{a}, std::vector<uint8_t>{b}).max_ulp;
  };
  CHECK(fp8(DType::kFloat8E4m3fn, 0x38, 0x3A) == 2U);
  CHECK(fp8(DType::kFloat8E4m3fn, 0x81, 0x01) == 2U);
  CHECK(fp8(DType::kFloat8E8m0, 0x7F, 0x82) == 3U);
  CHECK(fp8(DType::kHifloat8, 0x00, 0x01) == 1U);   // from zero to the smallest
  CHECK(fp8(DType::kFloat4E2m1, 0x7, 0xF) == 14U);  // 6 and -6
  CHECK(fp8(DType::kFloat8E5m2, 0x7C, 0x7D) == std::nullopt);
}

TEST_CASE("ULP of a dtype of at most 8 bits counts its finite values, each of them once") {
  for (const DType dtype : {DType::kHifloat8, DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kFloat8E8m0,
                            DType::kFloat4E2m1, DType::kFloat4E1m2}) {
    INFO(name_of(dtype));
    std::map<float, uint8_t> codes;  // by value; one of the two zeros
    std::vector<uint8_t> others;     // NaN and infinities
    for (unsigned code = 0; code < 1U << info(dtype).bits; ++code) {
      const auto byte = static_cast<std::byte>(code);
      float value = 0;
      widen(dtype, &byte, 1, reinterpret_cast<std::byte*>(&value));
      std::isfinite(value) ? void(codes.emplace(value, code)) : others.push_back(static_cast<uint8_t>(code));
    }
    std::vector<uint8_t> lower, upper;
    for (auto at = codes.begin(); std::next(at) != codes.end(); ++at) {
      lower.push_back(at->second);
      upper.push_back(std::next(at)->second);
    }
    CHECK(metrics_of(dtype, lower, upper).max_ulp == 1U);
    std::vector<uint8_t> a = {lower.front()}, b = {upper.back()};
    for (const uint8_t other : others) {  // which count for nothing, on either side
      a.insert(a.end(), {other, lower.front()});
      b.insert(b.end(), {lower.front(), other});
    }
    CHECK(metrics_of(dtype, a, b).max_ulp == codes.size() - 1);
  }
}

TEST_CASE("There is no ULP of complex numbers, nor of any dtype that is not asked for it") {
  CHECK_FALSE(metrics_of(DType::kComplex32, Halves{0x3C00, 0}, Halves{0x3C01, 0}).max_ulp);
  PairSource source;
  for (const DType dtype : pairable()) {
    INFO(name_of(dtype));
    CHECK_FALSE(finish(source.make(dtype, 9).whole(pair_block, {.ulp = false})).max_ulp);
  }
}

TEST_CASE("The extremes and the mean of zeros of either sign are the positive zero") {
  const auto check = [](DType dtype, const auto& zeros) {
    const TensorPair pair(dtype, zeros, zeros);
    const auto is_positive = [](std::optional<double> x) { return x == 0.0 && !std::signbit(*x); };
    const auto look = [&](const PairState& state) {
      const PairMetrics m = finish(state);
      CHECK((is_positive(m.max_a) && is_positive(m.min_a) && is_positive(m.mean_a)));
      CHECK((is_positive(m.max_b) && is_positive(m.min_b) && is_positive(m.mean_b)));
    };
    look(pair.whole(pair_reference, {}));
    for_each_target([&] { look(pair.whole(pair_block, {})); });
  };
  check(DType::kFloat64, Values{-0.0, 0.0, -0.0});
  check(DType::kFloat32, Floats{-0.0F});
  check(DType::kFloat16, Halves{0x8000, 0});
  check(DType::kBfloat16, Halves{0x8000});
}

TEST_CASE("Integers are subtracted without rounding and without wrapping") {
  const int64_t large = int64_t{1} << 60, most = std::numeric_limits<int64_t>::max(), least = -most - 1;
  const PairMetrics m = metrics_of(DType::kInt64, std::vector<int64_t>{large + 1, 5}, std::vector<int64_t>{large, 5});
  CHECK(m.max_abs == 1.0);
  CHECK(m.equal == 1);
  CHECK(m.max_ulp == 1U);
  const PairMetrics ends = metrics_of(DType::kInt64, std::vector<int64_t>{most}, std::vector<int64_t>{least});
  CHECK(ends.max_abs == 0x1p64);
  CHECK(ends.max_ulp == ~uint64_t{0});
  CHECK(ends.min_b == -0x1p63);
  const uint64_t top = ~uint64_t{0};
  const PairMetrics without_sign =
      metrics_of(DType::kUint64, std::vector<uint64_t>{top, 0, top}, std::vector<uint64_t>{top - 3, 0, top});
  CHECK(without_sign.max_abs == 3.0);
  CHECK(without_sign.max_a == 0x1p64);
  CHECK(without_sign.min_a == 0.0);
  CHECK(metrics_of(DType::kInt8, std::vector<int8_t>{-128}, std::vector<int8_t>{127}).max_abs == 255.0);
  CHECK(metrics_of(DType::kUint32, std::vector<uint32_t>{0}, std::vector<uint32_t>{~0U}).max_abs == 4294967295.0);
}

TEST_CASE("Any byte but 0 is true") {
  const PairMetrics m = metrics_of(DType::kBool, std::vector<uint8_t>{1, 2, 0, 0}, std::vector<uint8_t>{0x80, 1, 0, 3});
  CHECK(m.equal == 3);
  CHECK(m.max_abs == 1.0);
  CHECK(m.max_a == 1.0);
  CHECK(m.mean_b == 0.75);
}

TEST_CASE("A deviation far below the mean keeps its digits") {
  Floats offset(5000);
  std::vector<int64_t> counters(5000);
  Values constant(5000, 0.1), drift(5000);
  for (size_t i = 0; i < offset.size(); ++i) {
    offset[i] = i % 2 == 0 ? 1e7F : 1e7F + 2;
    counters[i] = (int64_t{1} << 53) + static_cast<int64_t>(i % 1000);
    drift[i] = 1e9 + static_cast<double>(i / 1024);  // constant in each block
  }
  CHECK(*metrics_of(DType::kFloat32, offset, offset).std_a == Approx(1.0).epsilon(1e-12));
  CHECK(*metrics_of(DType::kInt64, counters, counters).std_b == Approx(std::sqrt(999'999.0 / 12)).epsilon(1e-12));
  CHECK(metrics_of(constant, constant).std_a == 0.0);
  CHECK(metrics_of(constant, constant).mean_a == 0.1);
  CHECK(*metrics_of(drift, drift).std_a == Approx(std::sqrt(1.949696)).epsilon(1e-12));
}

TEST_CASE("Squares beyond the range of double are added up correctly") {
  for (const double unit : {1e300, 1e-300, 4e-320, 1e150, 1e-150}) {
    INFO("numbers of about " << unit);
    const PairMetrics m = metrics_of(Values{3 * unit, 0, 8 * unit}, Values{0, 4 * unit, 8 * unit});
    const double exact = unit < 1e-310 ? 1e-3 : 1e-14;  // of denormals not all digits are there
    CHECK(*m.l2_distance / unit == Approx(5).epsilon(exact));
    CHECK(*m.rmse / unit == Approx(5 / std::sqrt(3.0)).epsilon(exact));
    CHECK(*m.relative_l2 == Approx(5 / std::sqrt(80.0)).epsilon(1e-14));
    CHECK(*m.cosine == Approx(64 / std::sqrt(73.0 * 80)).epsilon(1e-14));
    CHECK(*m.mean_abs / unit == Approx(7.0 / 3).epsilon(exact));
    CHECK(*m.mean_a / unit == Approx(11.0 / 3).epsilon(exact));
    CHECK(*m.std_b / unit == Approx(std::sqrt(80.0 / 3 - 16)).epsilon(exact));
    CHECK(m.max_rel == kInf);
    CHECK(m.worst == 1U);
  }
}

TEST_CASE("A difference beyond the range of double is infinite, and its ratio is right") {
  const double most = std::numeric_limits<double>::max();
  const PairMetrics m = metrics_of(Values{most, 1}, Values{-most, 1}, {.rtol = 1.5});
  CHECK(m.max_abs == kInf);
  CHECK(m.max_rel == 2.0);
  CHECK(m.relative_l2 == near(2.0));
  CHECK(m.cosine == -1.0);
  CHECK(m.over_tolerance == 1);
  CHECK(m.std_a.value() == near(most / 2));
}

TEST_CASE("A difference far below its numbers has a square") {
  Values a(100, 1.0), b = a;
  a[50] = 3e-200;
  b[50] = 2e-200;
  const PairMetrics m = metrics_of(a, b);
  CHECK(*m.l2_distance == Approx(1e-200).epsilon(1e-12));
  CHECK(*m.p99_abs == 0.0);
  CHECK(m.max_abs.value() == near(1e-200));
}

TEST_CASE("A NaN beside a number of the other side leaves the number in its own statistics") {
  Values a(2000, 1.0), b(2000, kNan);
  a[1500] = 1e300;
  b[3] = 2;
  const PairMetrics m = metrics_of(a, b);
  CHECK(m.count == 1);
  CHECK(m.max_a == 1e300);
  CHECK(*m.std_a == Approx(1e300 * std::sqrt(1999.0) / 2000).epsilon(1e-12));
  CHECK(m.std_b == 0.0);
  CHECK(m.max_abs == 1.0);
}

TEST_CASE("Complex numbers are compared by their moduli and have no order") {
  const Floats a = {3, 4, 1, 1, 0, 0}, b = {0, 0, 1, 2, 0, 0};
  const PairMetrics m = metrics_of(DType::kComplex64, a, b);
  CHECK(m.count == 3);
  CHECK(m.equal == 1);
  CHECK(m.max_abs == 5.0);
  CHECK(m.worst == 0U);
  CHECK(m.mean_abs == 2.0);
  CHECK(m.reference_zero == 1);
  CHECK(m.max_rel == kInf);
  CHECK(*m.mean_rel == near(1 / std::sqrt(5.0)));
  CHECK(*m.l2_distance == near(std::sqrt(26.0)));
  CHECK(*m.cosine == near(3 / std::sqrt(27.0 * 5)));
  CHECK_FALSE(m.max_a);
  CHECK_FALSE(m.mean_b);
  CHECK_FALSE(m.max_ulp);
  const PairMetrics specials = metrics_of(DType::kComplex128, Values{kInf, 0, kNan, kInf, 1, kInf, 1e308, 1e308},
                                          Values{kInf, 0, kInf, kNan, 1, -kInf, -1e308, -1e308});
  CHECK(specials.nan_a == 1);
  CHECK(specials.nan_b == 1);
  CHECK(specials.nan_mismatch == 0);
  CHECK(specials.inf_mismatch == 1);
  CHECK(specials.count == 1);
  CHECK(*specials.max_rel == near(2));
  CHECK(specials.cosine == -1.0);
}

TEST_CASE("Quantiles are within one percent of the sorted differences") {
  std::mt19937_64 random(3);
  for (const double spread : {0.1, 3.0, 40.0, 300.0}) {
    std::lognormal_distribution<double> magnitude(0, spread);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{99}, size_t{100}, size_t{101}, size_t{40'000}}) {
      Values a(count), b(count), differences(count);
      for (size_t i = 0; i < count; ++i) {
        a[i] = i % 5 == 0 ? 0 : std::clamp(magnitude(random), 1e-300, 1e300);
        differences[i] = std::abs(a[i]);
      }
      std::sort(differences.begin(), differences.end());
      const PairMetrics m = metrics_of(a, b);
      const auto rank = [count](size_t percent) { return (percent * count + 99) / 100 - 1; };
      CHECK(*m.p50_abs == Approx(differences[rank(50)]).epsilon(0.01));
      CHECK(*m.p99_abs == Approx(differences[rank(99)]).epsilon(0.01));
    }
  }
  CHECK_FALSE(metrics_of(Values{1}, Values{2}, {.quantiles = false}).p50_abs);
}

TEST_CASE("Quantiles of small integers are exact") {
  std::vector<uint8_t> a(256), b(256, 0);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i);
  const PairMetrics m = metrics_of(DType::kUint8, a, b);
  CHECK(m.p50_abs == 127.0);
  CHECK(m.p99_abs == 253.0);
}

}  // namespace msdump::kernels
