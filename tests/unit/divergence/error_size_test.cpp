#include "divergence/error_size.h"

#include <cmath>

#include "support/catch.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

TensorDiff diff_of_floats(const std::vector<float>& a, const std::vector<float>& b) {
  MadeTensors made;
  return diff_of(made.floats(a), made.floats(b));
}

std::vector<float> with(std::vector<float> values, size_t at, float value) {
  values[at] = value;
  return values;
}

const std::vector<float> kOnes(64, 1.0F);

}  // namespace

TEST_CASE("an error is measured against the scale, in the mean and at its largest") {
  const ErrorSize one = error_size(diff_of_floats(with(kOnes, 5, 1.5F), kOnes));
  CHECK(one.l2 == Approx(0.5 / 8));  // sqrt(0.25 / 64)
  CHECK(one.max == Approx(0.5));
  const std::vector<float> fours(64, 4.0F);
  const ErrorSize scaled = error_size(diff_of_floats(with(fours, 5, 6.0F), fours));
  CHECK(scaled.l2 == Approx(2.0 / 8 / 4));
  CHECK(scaled.max == Approx(0.5));
  const ErrorSize single = error_size(diff_of_floats({2.5F}, {2.0F}));
  CHECK((single.l2 == Approx(0.25) && single.max == Approx(0.25)));
  const ErrorSize same = error_size(diff_of_floats(kOnes, kOnes));
  CHECK((same.l2 == 0 && same.max == 0));
}

TEST_CASE("neither one wrong element nor a large constant hides from it") {
  std::vector<float> masked = kOnes;
  for (size_t i = 0; i < 32; ++i) masked[i] = -1e4F;
  const TensorDiff diff = diff_of_floats(with(masked, 50, 1.5F), masked);
  CHECK(diff.metrics.relative_l2.value() < 1e-5);
  CHECK(error_size(diff).max == Approx(0.5));
}

TEST_CASE("an error where the reference is all zeros is infinitely large, none is none") {
  const std::vector<float> zeros(8, 0.0F);
  CHECK(std::isinf(error_size(diff_of_floats(with(zeros, 3, 1e-30F), zeros)).max));
  CHECK(error_size(diff_of_floats(zeros, zeros)).max == 0);
}

TEST_CASE("of statistics the largest deviation stands for both sizes") {
  TensorDiff diff;
  diff.verdict = Verdict::kDiffer;
  diff.by_statistics = true;
  CHECK(error_size(diff).l2 == 0);
  diff.relative_error = 0.25;
  CHECK(error_size(diff).l2 == 0.25);
  CHECK(error_size(diff).max == 0.25);
}

TEST_CASE("the larger error of two, in each size") {
  ErrorSize size{0.5, 1};
  size.raise({0.25, 2});
  CHECK((size.l2 == 0.5 && size.max == 2));
}

TEST_CASE("rounding is larger the coarser the dtype, and whole numbers have none") {
  CHECK(rounding_of(DType::kFloat64) < rounding_of(DType::kFloat32));
  CHECK(rounding_of(DType::kFloat32) < rounding_of(DType::kFloat16));
  CHECK(rounding_of(DType::kFloat16) < rounding_of(DType::kBfloat16));
  CHECK(rounding_of(DType::kBfloat16) < rounding_of(DType::kFloat8E4m3fn));
  CHECK(rounding_of(DType::kComplex64) == rounding_of(DType::kFloat32));
  CHECK(rounding_of(DType::kInt32) == 0);
  CHECK(rounding_of(DType::kBool) == 0);
}

TEST_CASE("an error that is thirty times as large is explained, a larger one is not, in neither size") {
  const ErrorSize in{1e-4, 1e-3};
  CHECK(explains(in, {29e-4, 29e-3}));
  CHECK_FALSE(explains(in, {31e-4, 1e-3}));
  CHECK_FALSE(explains(in, {1e-4, 31e-3}));
  CHECK_FALSE(explains({}, {1e-9, 1e-9}));
  CHECK(explains({}, {}));
}

TEST_CASE("operators that cancel and operators that jump are known by parts of their types") {
  for (const char* const type : {"ReduceSum", "Add", "BiasAddGrad", "Sub", "Dense", "LayerNormGrad"})
    CHECK(may_cancel(type));
  for (const char* const type : {"Mul", "ReLU", "Conv2D", "Softmax"}) CHECK_FALSE(may_cancel(type));
  for (const char* const type : {"ArgMaxWithValue", "TopK", "Sign", "MaxPoolGrad", "ReluGrad", "Adam", "Select"})
    CHECK(may_jump(type));
  for (const char* const type : {"Mul", "MaxPool", "MatMul", "Softmax"}) CHECK_FALSE(may_jump(type));
}

TEST_CASE("a difference no larger than those of the terms add up to is noise") {
  const TensorDiff input = diff_of_floats(with(kOnes, 5, 1.01F), kOnes);
  const TensorDiff small = diff_of_floats({64.05F}, {64});  // sqrt(64) * 0.01 could be 0.08
  const TensorDiff large = diff_of_floats({64.1F}, {64});
  CHECK(is_cancellation_noise({{&input}, &small}));
  CHECK_FALSE(is_cancellation_noise({{&input}, &large}));
}

TEST_CASE("where nearly all terms cancel their rounding counts, too; elsewhere it does not") {
  const TensorDiff input = diff_of_floats(kOnes, kOnes);
  const TensorDiff cancelled = diff_of_floats({2e-4F}, {1e-4F});
  const TensorDiff whole = diff_of_floats({64.0001F}, {64});
  CHECK(is_cancellation_noise({{&input}, &cancelled}));
  const std::vector<float> tiny(64, 1e-3F);
  const TensorDiff tiny_input = diff_of_floats(tiny, tiny), tiny_cancelled = diff_of_floats({2e-7F}, {1e-7F});
  CHECK(is_cancellation_noise({{&tiny_input}, &tiny_cancelled}));
  CHECK_FALSE(is_cancellation_noise({{&input}, &whole}));
  const TensorDiff too_much = diff_of_floats({0.1F}, {1e-4F});
  CHECK_FALSE(is_cancellation_noise({{&input}, &too_much}));
  const TensorDiff nothing = diff_of_floats({}, {});
  CHECK_FALSE(is_cancellation_noise({{&input}, &nothing}));
}

}  // namespace msdump
