#include "compare/pair/tensor_diff.h"

#include <cmath>
#include <limits>
#include <random>

#include "compare/pair/pair_reader.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> noisy(const std::vector<float>& values, float relative, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> result = values;
  for (float& value : result) value += value * relative * (static_cast<float>(random() % 1000) / 500.0F - 1);
  return result;
}

std::vector<float> some_values(size_t count) {
  std::mt19937 random(3);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 20001) / 1000.0F - 10;
  return values;
}

TEST_CASE("each verdict has its pair of tensors") {
  MadeTensors made;
  const std::vector<float> plain{1, 2, 3, 4};
  CHECK(diff_of(made.floats(plain), made.floats(plain)).verdict == Verdict::kSame);
  CHECK(diff_of(made.floats({0.0F, kQuietNan}), made.floats({-0.0F, kQuietNan})).verdict == Verdict::kSame);
  CHECK(diff_of(made.floats({1, 2, 3, 4.0001F}), made.floats(plain)).verdict == Verdict::kClose);
  CHECK(diff_of(made.floats({1, 2, 3, 4.01F}), made.floats(plain)).verdict == Verdict::kDiffer);
  CHECK(diff_of(made.floats({1, 2, 3, kQuietNan}), made.floats(plain)).verdict == Verdict::kNan);
  CHECK(diff_of(made.floats({1, kInfinity}), made.floats({1, -kInfinity})).verdict == Verdict::kNan);
  CHECK(diff_of(made.floats({1, 2, 3}), made.floats(plain)).verdict == Verdict::kShape);
  CHECK(diff_of(made.make<int32_t>(DType::kInt32, {4}, {1, 2, 3, 4}), made.floats(plain)).verdict == Verdict::kDtype);
  CHECK(diff_of(made.floats({}), made.floats({})).verdict == Verdict::kEmpty);
}

TEST_CASE("dimensions of 1 are ignored with a note") {
  MadeTensors made;
  const TensorDiff diff = diff_of(made.make<float>(DType::kFloat32, {1, 2, 1}, {1, 2}), made.floats({1, 2}));
  CHECK(diff.verdict == Verdict::kSame);
  CHECK(diff.reason == "dimensions of 1 ignored: 1x2x1 against 2");
}

TEST_CASE("an input in the shape of what wrote it is compared where that is allowed, by its elements") {
  MadeTensors made;
  const PairOptions any{.any_shape = true};
  const auto a = [&] { return made.make<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}); };
  const auto b = [&] { return made.floats({1, 2, 3, 4, 5, 6}); };
  const TensorDiff diff = diff_of(a(), b(), {}, any);
  CHECK(diff.verdict == Verdict::kSame);
  CHECK(diff.reason == "dumped in the shape of what wrote it: 2x3 against 6");
  CHECK(diff_of(a(), b()).verdict == Verdict::kShape);
  CHECK(diff_of(a(), made.floats({1, 2, 3, 4, 5}), {}, any).verdict == Verdict::kShape);
}

TEST_CASE("an element near zero in a tensor of thousands is not an error, also of complex numbers") {
  MadeTensors made;
  CHECK(diff_of(made.floats({1000, 200, 0.01F}), made.floats({1000, 200, 0.02F})).verdict == Verdict::kClose);
  const std::vector<float> b{1000, 200, 0, 0.02F}, a{1000, 200, 0, 0.01F};
  CHECK(diff_of(made.make(DType::kComplex64, {2}, a), made.make(DType::kComplex64, {2}, b)).verdict == Verdict::kClose);
}

TEST_CASE("rounding noise on a sparse reference is close, though the sample of its scale holds zeros only") {
  MadeTensors made;
  std::vector<float> gradient(500'000, 0.0F);
  for (size_t i = 100'000; i < 100'500; ++i) gradient[i] = i % 2 == 0 ? 1.0F : 0.02F;
  std::vector<float> noise = gradient;
  for (size_t i = 100'001; i < 100'500; i += 2) noise[i] += 1e-4F;
  const TensorDiff diff = diff_of(made.floats(noise), made.floats(gradient));
  CHECK(diff.scale > 0.5);
  CHECK(diff.verdict == Verdict::kClose);
}

TEST_CASE("the tolerance that would pass does pass when it is asked for, and one a little smaller does not") {
  MadeTensors made;
  const std::vector<float> b = some_values(300'000);
  for (const float noise : {1e-6F, 1e-3F, 0.5F}) {
    const std::vector<float> a = noisy(b, noise, 5);
    const TensorDiff diff = diff_of(made.floats(a), made.floats(b));
    REQUIRE(diff.tolerance_that_passes());
    const Limits passes = *diff.tolerance_that_passes();
    const Tolerance asked{passes.rtol, passes.atol, {}}, smaller{passes.rtol * 0.98, passes.atol * 0.98, {}};
    CHECK(diff_of(made.floats(a), made.floats(b), asked).verdict == Verdict::kClose);
    CHECK(diff_of(made.floats(a), made.floats(b), smaller).verdict == Verdict::kDiffer);
  }
}

TEST_CASE("a reference of zeros is passed by an absolute tolerance, NaN on one side by none") {
  MadeTensors made;
  const TensorDiff zeros = diff_of(made.floats({0.12345F, 0}), made.floats({0, 0}));
  REQUIRE(zeros.tolerance_that_passes());
  CHECK(zeros.tolerance_that_passes()->rtol == 0);
  CHECK(zeros.tolerance_that_passes()->atol == 0.124);
  CHECK_FALSE(diff_of(made.floats({kQuietNan, 1}), made.floats({1, 1})).tolerance_that_passes());
  CHECK_FALSE(diff_of(made.floats({1}), made.floats({1, 1})).tolerance_that_passes());
  CHECK(diff_of(made.floats({1}), made.floats({1})).tolerance_that_passes()->atol == 0);
}

TEST_CASE("rounding up gives the next number of so many digits") {
  CHECK(rounded_up(0.12345, 3) == 0.124);
  CHECK(rounded_up(0.125, 3) == 0.125);
  CHECK(rounded_up(9.996, 3) == 10.0);
  CHECK(rounded_up(1.23456e-300, 2) == 1.3e-300);
  CHECK(rounded_up(5e-324, 3) == 5e-324);
  CHECK(rounded_up(std::numeric_limits<double>::max(), 3) == std::numeric_limits<double>::max());
  CHECK(rounded_up(0, 3) == 0);
  CHECK(std::isinf(rounded_up(std::numeric_limits<double>::infinity(), 3)));
}

TEST_CASE("kl is there when it is asked for, and is 0 of equal tensors") {
  MadeTensors made;
  const std::vector<float> b = some_values(200'000);
  CHECK_FALSE(diff_of(made.floats(b), made.floats(b)).kl);
  CHECK(diff_of(made.floats(b), made.floats(b), {}, {.on_request = true}).kl == 0.0);
  // Both sides between 0 and 1 are {0, 1, 0} and {0, 1, 0.5}.
  const TensorDiff diff = diff_of(made.floats({1, 2, 1}), made.floats({1, 3, 2}), {}, {.on_request = true});
  const double floor = 0x1p-23, sum_p = 1 + 2 * floor, sum_q = 1.5 + floor;
  const double expected = (floor * std::log((floor / sum_p) / (floor / sum_q)) + std::log((1 / sum_p) / (1 / sum_q)) +
                           floor * std::log((floor / sum_p) / (0.5 / sum_q))) /
                          sum_p;
  REQUIRE(diff.kl);
  CHECK(*diff.kl == Approx(expected).epsilon(1e-9));
  const std::vector<float> parts{1, 2};
  CHECK_FALSE(diff_of(made.make(DType::kComplex64, {1}, parts), made.make(DType::kComplex64, {1}, parts), {},
                      {.on_request = true})
                  .kl);
}

TEST_CASE("a pair is read in slabs that the metrics do not see") {
  MadeTensors made;
  const std::vector<float> values = some_values(static_cast<size_t>(2 * kPairSlab + 7));
  HostTensor a = made.floats(values), b = made.floats(values), shorter = made.floats({1});
  auto reader = PairReader::open(a, b);
  REQUIRE(reader);
  const CancelToken cancel;
  std::vector<int64_t> counts;
  for (;;) {
    const auto slab = reader->next(cancel);
    REQUIRE(slab);
    if (!*slab) break;
    CHECK((*slab)->first == static_cast<int64_t>(counts.size()) * kPairSlab);
    counts.push_back((*slab)->count);
  }
  CHECK(counts == std::vector<int64_t>{kPairSlab, kPairSlab, 7});
  const auto unequal = PairReader::open(a, shorter);
  REQUIRE_FALSE(unequal);
  CHECK(unequal.error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("a comparison that is interrupted ends") {
  MadeTensors made;
  HostTensor a = made.floats({1}), b = made.floats({2});
  CancelToken cancel;
  cancel.cancel();
  const auto diff = diff_tensors(a, b, {}, cancel);
  REQUIRE_FALSE(diff);
  CHECK(diff.error().code == ErrorCode::kCancelled);
}

}  // namespace
}  // namespace msdump
