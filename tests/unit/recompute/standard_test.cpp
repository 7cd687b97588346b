#include "recompute/standard.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Array array_of(std::vector<double> values, DType dtype = DType::kFloat32) {
  Array array;
  array.shape = {static_cast<int64_t>(values.size())};
  array.values = std::move(values);
  array.dtype = dtype;
  return array;
}

bool meets(Standard standard, const Array& y, const Array& g, const Array* r = nullptr, bool moves = false) {
  return judge_by(standard, y, g, moves, r).value().passes;
}

}  // namespace

TEST_CASE("numbers are rounded to the nearest of their dtype, ties to even") {
  CHECK(round_to(DType::kFloat16, 2049) == 2048);
  CHECK(round_to(DType::kFloat16, 2051) == 2052);
  CHECK(round_to(DType::kFloat16, 65519) == 65504);
  CHECK(round_to(DType::kFloat16, -65520) == -kInf);
  CHECK(round_to(DType::kFloat16, 0x1.8p-24) == 0x1p-23);  // subnormal
  CHECK(round_to(DType::kFloat16, 0x1p-25) == 0);
  CHECK(round_to(DType::kBfloat16, 257) == 256);
  CHECK(round_to(DType::kFloat32, 16777217) == 16777216);
  CHECK(round_to(DType::kFloat64, 0.1) == 0.1);
  CHECK(round_to(DType::kInt8, 127.9) == 127);
  CHECK(std::isnan(*round_to(DType::kInt8, 128)));
  CHECK(std::isnan(*round_to(DType::kUint8, -1)));
  CHECK(std::isnan(*round_to(DType::kInt64, 0x1p53)));
  CHECK(round_to(DType::kBool, 3) == 1);
  CHECK_FALSE(round_to(DType::kComplex64, 1));
}

TEST_CASE("cann: 99 % of the elements within the tolerance, none beyond 32 ULP or the floor") {
  // float32: 2^-13 (1 + |g|); one of 100 may be beyond.
  Array g = array_of(std::vector<double>(100, 1.0)), y = g;
  for (double& value : y.values) value += 0x1p-12;
  CHECK(meets(Standard::kOpen, y, g));
  y.values[3] = 1.009;
  CHECK(meets(Standard::kOpen, y, g));
  y.values[4] = 1.009;
  const auto two = judge_by(Standard::kOpen, y, g, false, nullptr);
  CHECK_FALSE(two->passes);
  CHECK(two->matched == 0.98);
  y.values[4] = 1;
  y.values[3] = 1.02;  // beyond 0.01, which is more than 32 ULP of 1
  const auto far = judge_by(Standard::kOpen, y, g, false, nullptr);
  CHECK_FALSE(far->passes);
  CHECK(far->matched == 0.99);
  CHECK(far->largest_limit == 0.01);
  g.values[3] = 0x1p20;
  y.values[3] = 0x1p20 + 3.9;  // 32 ULP of 2^20 are 4
  CHECK(meets(Standard::kOpen, y, g));
  y.values[3] = 0x1p20 + 4.1;
  CHECK_FALSE(meets(Standard::kOpen, y, g));
}

TEST_CASE("cann: an infinity is right where the exact value is beyond the dtype") {
  const Array y = array_of({kInf, -kInf, NAN}, DType::kFloat16);
  CHECK(meets(Standard::kOpen, y, array_of({1e6, -kInf, NAN})));
  CHECK_FALSE(meets(Standard::kOpen, y, array_of({-1e6, -kInf, NAN})));
  CHECK_FALSE(meets(Standard::kOpen, y, array_of({1e6, -kInf, 0})));
}

TEST_CASE("the levels compare errors with those of the reference") {
  const Array g = array_of({1, 2, 4, 8});
  const Array r = array_of({1 + 0x1p-20, 2, 4, 8});
  // MARE, MERE and RMSE are 2^-20 of r, and as many times that of y.
  const auto times = [&](double factor) { return array_of({1 + factor * 0x1p-20, 2, 4, 8}); };
  CHECK(meets(Standard::kL0, times(2), g, &r));
  CHECK_FALSE(meets(Standard::kL0, times(2.5), g, &r));  // MERE, RMSE
  CHECK(meets(Standard::kL1, times(1.5), g, &r));
  CHECK_FALSE(meets(Standard::kL1, times(1.75), g, &r));
  CHECK_FALSE(meets(Standard::kL2, times(1.25), g, &r));
  const auto verdict = judge_by(Standard::kL0, times(2), g, false, &r);
  CHECK(verdict->r->mare == 0x1p-20 / (1 + 1e-7));
  CHECK(verdict->r->mere == 0x1p-22 / (1 + 1e-7));
  CHECK(verdict->r->rmse == 0x1p-21);
  CHECK(verdict->y->mare == 2 * verdict->r->mare);
  // Only MARE: r has as much error in all elements as y in one.
  const Array spread = array_of({1 + 0x1p-20, 2 + 0x1p-19, 4 + 0x1p-18, 8 + 0x1p-17});
  CHECK(meets(Standard::kL0, array_of({1 + 8 * 0x1p-20, 2, 4, 8}), g, &spread));
  CHECK_FALSE(meets(Standard::kL1, array_of({1 + 8 * 0x1p-20, 2, 4, 8}), g, &spread));
  // No error of r: none of y.
  CHECK(meets(Standard::kL2, g, g, &g));
  CHECK_FALSE(meets(Standard::kL0, times(1), g, &g));
}

TEST_CASE("the levels count errors of small values, at most twice as many as the reference has") {
  const Array g = array_of({0, 0, 0, 0});
  const auto wrong = [](size_t count) {
    Array y = array_of({0, 0, 0, 0});
    for (size_t i = 0; i < count; ++i) y.values[i] = 0x1p-29;  // the limit is 2^-30
    return y;
  };
  const Array none = wrong(0), two = wrong(2);
  CHECK(meets(Standard::kL2, wrong(2), g, &none));
  CHECK_FALSE(meets(Standard::kL2, wrong(3), g, &none));
  CHECK(meets(Standard::kL2, wrong(4), g, &two));
}

TEST_CASE("with a level, NaN and infinities are those of the reference, or what is expected") {
  const Array g = array_of({1, NAN, kInf});
  const Array r = array_of({NAN, 0, kInf});
  CHECK(meets(Standard::kL2, array_of({NAN, 0, kInf}), g, &r));
  CHECK(meets(Standard::kL2, array_of({NAN, NAN, kInf}), g, &r));
  CHECK(meets(Standard::kL2, array_of({1, NAN, kInf}), g, &r));  // the reference is the worse one
  CHECK_FALSE(meets(Standard::kL2, array_of({1, NAN, -kInf}), g, &r));
  CHECK_FALSE(meets(Standard::kL2, array_of({NAN, 1, kInf}), g, &r));
}

TEST_CASE(
    "with a level, what is expected is rounded, and an element where the reference alone is not finite is left out") {
  const Array g = array_of({1, 1e6});
  const Array y = array_of({1, kInf}, DType::kFloat16);
  const Array clamps = array_of({1, 65504}, DType::kFloat16), nan = array_of({NAN, kInf}, DType::kFloat16);
  CHECK(meets(Standard::kL2, y, g, &clamps));
  CHECK(meets(Standard::kL2, y, g, &nan));
  CHECK_FALSE(meets(Standard::kL2, array_of({1, -kInf}, DType::kFloat16), g, &clamps));
  // float32 holds it.
  CHECK_FALSE(meets(Standard::kL2, array_of({1, kInf}), g, &clamps));
}

TEST_CASE("moves and integers are equal with a level, and have no rule without") {
  const Array whole = array_of({1, 2}, DType::kInt32), other = array_of({1, 3}, DType::kInt32);
  CHECK(meets(Standard::kL0, whole, whole));
  CHECK_FALSE(meets(Standard::kL0, whole, other));
  CHECK_FALSE(judge_by(Standard::kOpen, whole, whole, false, nullptr));
  const Array wide = array_of({0x1p60}, DType::kInt64);  // a double does not tell it from others
  CHECK_FALSE(judge_by(Standard::kL0, wide, wide, true, nullptr));
  const Array y = array_of({0.5});
  CHECK(meets(Standard::kL0, y, array_of({0.5 + 0x1p-40}), nullptr, true));  // a cast rounds
  CHECK_FALSE(meets(Standard::kL0, y, array_of({0.5 + 0x1p-20}), nullptr, true));
  CHECK_FALSE(judge_by(Standard::kOpen, y, y, true, nullptr));
  CHECK_FALSE(judge_by(Standard::kL0, y, y, false, nullptr));  // nothing to compare with
  CHECK_FALSE(judge_by(Standard::kOpen, array_of({1}, DType::kFloat64), array_of({1}), false, nullptr));
}

}  // namespace msdump::recompute
