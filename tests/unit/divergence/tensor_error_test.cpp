#include "divergence/model/tensor_error.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

using Floats = std::vector<float>;

TensorDiff diff_of_floats(const Floats& a, const Floats& b) {
  MadeTensors made;
  return diff_of(made.floats(a), made.floats(b));
}

TensorError error_of_floats(const Floats& a, const Floats& b) {
  const auto error = error_of(diff_of_floats(a, b));
  REQUIRE(error);
  return *error;
}

Floats with(Floats values, size_t at, float value) {
  values[at] = value;
  return values;
}

Floats multiplied(Floats values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

// 64 numbers of both signs; with `noise`, of that relative size.
Floats numbers(float noise = 0) {
  Floats values;
  for (int i = 0; i < 64; ++i) {
    const auto x = static_cast<float>(i);
    values.push_back(std::sin(1.7F * x) * (1 + noise * std::cos(2.3F * x)));
  }
  return values;
}

const Floats kOnes(64, 1.0F);

TensorDiff of_statistics(double max, double of_reference) {
  TensorDiff diff;
  diff.verdict = Verdict::kDiffer;
  diff.by_statistics = true;
  diff.dtype_a = diff.dtype_b = DType::kFloat32;
  diff.shape = Shape{4, 4};
  kernels::PairMetrics metrics;
  metrics.max_a = max;
  metrics.max_b = of_reference;
  metrics.min_a = -max;
  metrics.min_b = -of_reference;
  diff.metrics = metrics;
  diff.scale = of_reference;
  diff.relative_error = std::abs(max - of_reference) / of_reference;
  return diff;
}

// Tensors whose candidate is these factors of the reference, but for noise: factor and how many.
using Factors = std::vector<std::pair<float, int>>;
double scale_by(const Factors& factors) {
  std::vector<TensorDiff> diffs;
  for (const auto& [factor, count] : factors) {
    diffs.insert(diffs.end(), static_cast<size_t>(count),
                 diff_of_floats(multiplied(numbers(1e-3F), factor), numbers()));
  }
  return loss_scale(diffs);
}

}  // namespace

TEST_CASE("the error of elements is their root mean square over that of the reference") {
  const TensorError one = error_of_floats(with(kOnes, 5, 1.5F), kOnes);
  CHECK(one.relative == Approx(0.5 / 8));  // sqrt(0.25 / 64)
  CHECK(one.rms == Approx(1));
  CHECK(one.deviation == 0);
  CHECK(one.elements == 64);
  CHECK(one.norm() == Approx(8));
  CHECK_FALSE((one.exact || one.discrete || one.by_statistics));
  const Floats fours(64, 4.0F);
  CHECK(error_of_floats(with(fours, 5, 6.0F), fours).relative == Approx(2.0 / 8 / 4));
  const TensorError same = error_of_floats(numbers(), numbers());
  CHECK((same.exact && same.relative == 0));
  // -0 is 0: the same values.
  CHECK(error_of_floats(with(kOnes, 0, -0.0F), with(kOnes, 0, 0.0F)).exact);
}

TEST_CASE("the root mean square holds the mean, the deviation does not") {
  const Floats shifted{9, 11, 9, 11};
  const TensorError error = error_of_floats({9, 11, 9, 12}, shifted);
  CHECK(error.rms == Approx(std::sqrt(101.0)));
  CHECK(error.deviation == Approx(1));
}

TEST_CASE("any difference from a reference of zeros is infinitely large, equal zeros have no error") {
  const Floats zeros(8, 0.0F);
  CHECK(std::isinf(error_of_floats(with(zeros, 3, 1e-30F), zeros).relative));
  CHECK(error_of_floats(zeros, zeros).relative == 0);
}

TEST_CASE("elements that are not finite on one side do not count in the error of the others") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorError error = error_of_floats(with(with(kOnes, 5, 1.5F), 7, nan), kOnes);
  CHECK(error.elements > 60);
  CHECK(error.relative == Approx(0.5 / 8).epsilon(0.02));
}

TEST_CASE("of whole numbers and truth values the share that differs is the error") {
  MadeTensors made;
  const auto error = [&](DType dtype, auto a, auto b) {
    const auto found = error_of(diff_of(made.make(dtype, {4}, a), made.make(dtype, {4}, b)));
    REQUIRE(found);
    CHECK(found->discrete);
    return found->relative;
  };
  CHECK(error(DType::kInt32, std::vector<int32_t>{1, 2, 3, 4000}, std::vector<int32_t>{1, 2, 3, 4}) == 0.25);
  CHECK(error(DType::kInt32, std::vector<int32_t>{1, 2, 3, 4}, std::vector<int32_t>{1, 2, 3, 4}) == 0);
  CHECK(error(DType::kBool, std::vector<uint8_t>{1, 1, 0, 0}, std::vector<uint8_t>{0, 1, 1, 0}) == 0.5);
}

TEST_CASE("what was not compared or is not what it says has no error") {
  TensorDiff diff = diff_of_floats(numbers(1e-3F), numbers());
  REQUIRE(error_of(diff));
  diff.mislabelled = true;
  CHECK_FALSE(error_of(diff));
  diff.mislabelled = false;
  for (const Verdict verdict : {Verdict::kShape, Verdict::kDtype, Verdict::kUnmatched, Verdict::kSkipped}) {
    diff.verdict = verdict;
    CHECK_FALSE(error_of(diff));
  }
}

TEST_CASE("of statistics the largest deviation is the error, on the scale of the tensor") {
  TensorDiff diff = of_statistics(1.25, 1);
  const auto error = error_of(diff);
  REQUIRE(error);
  CHECK(error->by_statistics);
  CHECK(error->relative == 0.25);
  CHECK(error->elements == 16);
  CHECK((error->rms == 1 && error->deviation == 1));
  CHECK(error->norm() == 4);
  diff.extremes_only = true;
  CHECK_FALSE(error_of(diff));  // infinities hide how far the others are off
  diff.extremes_only = false;
  diff.relative_error = std::nullopt;
  CHECK_FALSE(error_of(diff));  // nothing is known
  diff.verdict = Verdict::kSame;
  REQUIRE(error_of(diff));
  CHECK(error_of(diff)->relative == 0);
  CHECK_FALSE(error_of(diff)->exact);  // the elements may differ
  diff.hashes = PairHashes{.checksum_b = 7};
  CHECK(error_of(diff)->exact);
}

TEST_CASE("the scale of a loss is a power of two that six gradients share and most that differ by a factor are near") {
  CHECK(scale_by({}) == 1);
  CHECK(scale_by({{1, 20}}) == 1);
  CHECK(scale_by({{1024, 6}}) == 1024);
  CHECK(scale_by({{1024, 6}, {1, 50}}) == 1024);
  CHECK(scale_by({{1024, 5}}) == 1);
  CHECK(scale_by({{1.0F / 1024, 6}}) == 1.0 / 1024);  // the reference is scaled
  CHECK(scale_by({{8, 6}}) == 8);
  CHECK(scale_by({{4, 6}}) == 1);  // more often a fault than a scale
  CHECK(scale_by({{5000, 6}}) == 1);
  CHECK(scale_by({{1024, 7}, {64, 6}}) == 1024);
  CHECK(scale_by({{1024, 6}, {64, 3}, {5000, 3}}) == 1);
  CHECK(scale_by({{1024, 6}, {1500, 30}, {700, 30}}) == 1024);  // a fault changes them, too
}

TEST_CASE("squares of gradients are scaled twice, whether there are more of them or fewer") {
  constexpr float kSquares = 1024.0F * 1024;
  CHECK(scale_by({{1024, 6}, {kSquares, 9}}) == 1024);
  CHECK(scale_by({{1024, 9}, {kSquares, 6}}) == 1024);
  CHECK(scale_by({{1 / 1024.0F, 6}, {1 / kSquares, 9}}) == 1.0 / 1024);
  CHECK(scale_by({{1024, 5}, {kSquares, 9}}) == kSquares);  // too few that are gradients
  CHECK(scale_by({{1024, 5}, {kSquares, 5}}) == 1);
  // Both count against those that have another factor.
  CHECK(scale_by({{1024, 6}, {kSquares, 9}, {5000, 14}}) == 1024);
  CHECK(scale_by({{1024, 6}, {kSquares, 9}, {5000, 15}}) == 1);
  CHECK(scale_by({{1024, 9}, {kSquares, 6}, {5000, 14}}) == 1024);
  CHECK(scale_by({{1024, 9}, {kSquares, 6}, {5000, 15}}) == 1);
  // An odd power is not a square.
  CHECK(scale_by({{512, 9}, {16, 6}}) == 512);
}

TEST_CASE("tensors that do not look alike and whole numbers tell nothing of a scale") {
  Floats other;
  for (int i = 0; i < 64; ++i) other.push_back(1024 * std::cos(4.1F * static_cast<float>(i)));
  CHECK(loss_scale(std::vector<TensorDiff>(8, diff_of_floats(other, numbers()))) == 1);
  MadeTensors made;
  const auto whole = [&](int32_t factor) {
    return made.make(DType::kInt32, {3}, std::vector<int32_t>{factor, 2 * factor, -factor});
  };
  CHECK(loss_scale(std::vector<TensorDiff>(8, diff_of(whole(1024), whole(1)))) == 1);
  TensorDiff mislabelled = diff_of_floats(multiplied(numbers(), 1024), numbers());
  CHECK(loss_scale(std::vector<TensorDiff>(8, mislabelled)) == 1024);
  mislabelled.mislabelled = true;
  CHECK(loss_scale(std::vector<TensorDiff>(8, mislabelled)) == 1);
}

TEST_CASE("statistics show the scale of a loss, too") {
  CHECK(loss_scale(std::vector<TensorDiff>(6, of_statistics(512.5, 0.5))) == 1024);
  CHECK(loss_scale(std::vector<TensorDiff>(6, of_statistics(0.5, 0.5))) == 1);
}

TEST_CASE("what the scale of the loss multiplied is divided by it, what it did not is not") {
  const double plain = error_of_floats(numbers(1e-2F), numbers()).relative;
  REQUIRE(plain > 1e-3);
  const TensorDiff scaled = diff_of_floats(multiplied(numbers(1e-2F), 1024), numbers());
  CHECK(error_of(scaled, 1024)->relative == Approx(plain).epsilon(1e-3));
  CHECK(error_of(scaled, 1)->relative > 1000);
  CHECK(error_of(diff_of_floats(numbers(1e-2F), numbers()), 1024)->relative == Approx(plain));
  CHECK(error_of(diff_of_floats(multiplied(numbers(), 1024), numbers()), 1024)->relative < 1e-6);
  // Squares by its square.
  const TensorDiff square = diff_of_floats(multiplied(numbers(1e-2F), 1024 * 1024), numbers());
  CHECK(error_of(square, 1024)->relative == Approx(plain).epsilon(1e-3));
  CHECK(error_of(of_statistics(1024 * 1024 * 1.25, 1), 1024)->relative == Approx(0.25));
  MadeTensors made;
  const auto whole = [&](int32_t value) { return made.make(DType::kInt32, {1}, std::vector<int32_t>{value}); };
  CHECK(error_of(diff_of(whole(1024), whole(1)), 1024)->relative == 1);
}

TEST_CASE("statistics are divided by the scale of the loss one by one") {
  CHECK(error_of(of_statistics(1024 * 1.25, 1), 1024)->relative == Approx(0.25));
  CHECK(error_of(of_statistics(1.25, 1), 1024)->relative == Approx(0.25));
  CHECK(error_of(of_statistics(1024 * 2.5, 2), 1024)->relative == Approx(0.25));
  TensorDiff mean_off = of_statistics(1024, 1);
  kernels::PairMetrics metrics = mean_off.metrics;
  metrics.mean_a = 1024 * 0.75;
  metrics.mean_b = 0.5;
  mean_off.metrics = metrics;
  CHECK(error_of(mean_off, 1024)->relative == Approx(0.25));
}

TEST_CASE("the unit roundoff is half a unit in the last place, and whole numbers have none") {
  CHECK(unit_roundoff(DType::kFloat64) == std::ldexp(1.0, -53));
  CHECK(unit_roundoff(DType::kFloat32) == std::ldexp(1.0, -24));
  CHECK(unit_roundoff(DType::kFloat16) == std::ldexp(1.0, -11));
  CHECK(unit_roundoff(DType::kBfloat16) == std::ldexp(1.0, -8));
  CHECK(unit_roundoff(DType::kFloat8E4m3fn) == std::ldexp(1.0, -4));
  CHECK(unit_roundoff(DType::kComplex64) == unit_roundoff(DType::kFloat32));
  CHECK(unit_roundoff(DType::kComplex128) == unit_roundoff(DType::kFloat64));
  CHECK(unit_roundoff(DType::kInt32) == 0);
  CHECK(unit_roundoff(DType::kBool) == 0);
}

TEST_CASE("a float16 that is next to nothing has few digits left") {
  CHECK(unit_roundoff(DType::kFloat16, 1) == unit_roundoff(DType::kFloat16));
  CHECK(unit_roundoff(DType::kFloat16, 0) == unit_roundoff(DType::kFloat16));
  CHECK(unit_roundoff(DType::kFloat16, std::ldexp(1.0, -14)) == unit_roundoff(DType::kFloat16));  // the last normal one
  CHECK(unit_roundoff(DType::kFloat16, std::ldexp(1.0, -20)) == std::ldexp(1.0, -5));
  CHECK(unit_roundoff(DType::kFloat16, std::ldexp(1.0, -24)) == 0.5);
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16, DType::kInt32})
    CHECK(unit_roundoff(dtype, 1e-7) == unit_roundoff(dtype));
}

TEST_CASE("statistics that agree hide an error of a few elements, more in larger tensors, up to a bound") {
  TensorError error;
  error.by_statistics = true;
  error.elements = 10000;
  const double hidden = error.hidden();
  CHECK(hidden == Approx(100 * unit_roundoff(DType::kFloat32)));
  error.elements *= 100;
  CHECK(error.hidden() == Approx(10 * hidden));
  error.elements = 1e18;
  CHECK(error.hidden() < 0.01);
  TensorError exact = error, discrete = error, of_elements = error;
  exact.exact = discrete.discrete = true;
  of_elements.by_statistics = false;
  for (const TensorError& one : {exact, discrete, of_elements}) CHECK(one.hidden() == 0);
}

TEST_CASE("what statistics show for certain is not known where a loss scale is divided out") {
  TensorDiff diff;
  diff.verdict = Verdict::kDiffer;
  diff.dtype_a = diff.dtype_b = DType::kFloat32;
  diff.by_statistics = true;
  diff.scale = 1;
  diff.relative_error = diff.least_error = 1023;
  kernels::PairMetrics metrics;
  metrics.max_a = 1024;
  metrics.max_b = 1;
  diff.metrics = metrics;
  CHECK(error_of(diff)->least_error == 1023);
  CHECK(error_of(diff, 1024)->least_error == 0);
}

}  // namespace msdump
