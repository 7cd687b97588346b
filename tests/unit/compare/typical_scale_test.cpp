#include "compare/pair/tensor_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/catch.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

std::vector<double> repeated(double value, size_t count) { return std::vector<double>(count, value); }

std::vector<double> joined(std::vector<double> left, const std::vector<double>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

double scale_of(HostTensor tensor) {
  const CancelToken cancel;
  const auto scale = typical_scale(tensor, cancel);
  REQUIRE(scale);
  return *scale;
}

// Rules 2 and 3, written down directly.
double by_sorting(std::vector<double> sample) {
  for (double& value : sample) value = std::abs(value);
  std::erase_if(sample, [](double value) { return value == 0 || !std::isfinite(value); });
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  size_t count = sample.size();
  for (size_t i = std::max<size_t>(sample.size() / 20, 1); i < sample.size(); ++i) {
    if (sample[i] <= 100 * sample[i - 1] || sample.back() > 4 * sample[i]) continue;
    count = i;
    break;
  }
  const double largest = sample[count - 1];
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += (sample[i] / largest) * (sample[i] / largest);
  return largest * std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

TEST_CASE("the scale is the root of the mean square") {
  CHECK(scale_of_sample({3, -4}) == Approx(std::sqrt(12.5)));
  CHECK(scale_of_sample({2}) == 2);
  CHECK(scale_of_sample({1e300, 1e300}) == Approx(1e300));  // no square leaves the range
}

TEST_CASE("zeros, NaN and infinities say nothing of the scale") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(scale_of_sample({0, 2, 0, NAN, kInf, -kInf, 2}) == 2);
  CHECK(scale_of_sample({}) == 0);
  CHECK(scale_of_sample({0, 0, NAN}) == 0);
}

TEST_CASE("of two populations a hundred times apart the lower one counts") {
  CHECK(scale_of_sample(joined(repeated(1, 50), repeated(-1e4, 50))) == 1);
  CHECK(scale_of_sample(joined(repeated(1, 50), repeated(-99, 50))) > 60);  // not far enough apart
}

TEST_CASE("a population below that is less than a twentieth of the sample does not count alone") {
  CHECK(scale_of_sample(joined(repeated(1, 4), repeated(1000, 96))) > 900);
  CHECK(scale_of_sample(joined(repeated(1, 6), repeated(1000, 94))) == 1);
}

TEST_CASE("large elements that are not of one size are not a mask") {
  CHECK(scale_of_sample(joined(repeated(1, 50), {1e3, 1e4, 1e5})) > 1e4);
}

TEST_CASE("a few large elements do not speak for all, whatever their order") {
  std::vector<double> sample = joined(repeated(1e6, 1), repeated(1, 99));
  CHECK(scale_of_sample(sample) == 1);
  std::swap(sample.front(), sample[40]);
  CHECK(scale_of_sample(sample) == 1);
}

TEST_CASE("of a tensor a sample of pieces that are spread over it is taken") {
  MadeTensors made;
  std::vector<float> values(1'000'000, 1.0F);
  for (size_t i = values.size() / 2; i < values.size(); ++i) values[i] = 3;
  CHECK(scale_of(made.floats(values)) == Approx(std::sqrt(5.0)).epsilon(0.01));
}

TEST_CASE("complex numbers count by their parts, times the root of 2") {
  MadeTensors made;
  CHECK(scale_of(made.make<float>(DType::kComplex64, {2}, {3, 3, 3, 3})) == Approx(3 * std::sqrt(2.0)));
}

TEST_CASE("there is no scale without elements; whole numbers have one") {
  MadeTensors made;
  CHECK(scale_of(made.floats({})) == 0);
  CHECK(scale_of(made.make<int64_t>(DType::kInt64, {2}, {3, 4})) == Approx(std::sqrt(12.5)));
}

TEST_CASE("the scale of a sparse tensor comes from the rows that the sample misses") {
  MadeTensors made;
  std::vector<float> gradient(1'000'000, 0.0F);  // of an embedding: two rows of 500
  std::fill_n(gradient.begin() + 100'000, 500, 2.0F);
  std::fill_n(gradient.begin() + 900'000, 500, -2.0F);
  CHECK(scale_of(made.floats(gradient)) == 2);
  gradient.assign(gradient.size(), 0.0F);
  CHECK(scale_of(made.floats(gradient)) == 0);
}

TEST_CASE("a few sampled elements of a sparse tensor do not stand for all of it") {
  MadeTensors made;
  std::vector<float> values(1'000'000, 0.0F);
  values[0] = 1e-6F;  // in the sample
  std::fill_n(values.begin() + 100'000, 500, 2.0F);
  CHECK(scale_of(made.floats(values)) == Approx(2).epsilon(0.01));
}

TEST_CASE("a sample with enough elements is the scale, whatever lies between its pieces") {
  MadeTensors made;
  std::vector<float> values(1'000'000, 50.0F);
  for (size_t i = 0; i < 16; ++i) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * 66598), 1024, 2.0F);
  CHECK(scale_of(made.floats(values)) == 2);
}

TEST_CASE("reading all of a sparse tensor can be interrupted") {
  MadeTensors made;
  HostTensor tensor = made.floats(std::vector<float>(100'000, 0.0F));
  CancelToken cancel;
  cancel.cancel();
  const auto scale = typical_scale(tensor, cancel);
  REQUIRE_FALSE(scale);
  CHECK(scale.error().code == ErrorCode::kCancelled);
}

TEST_CASE("the scale is what sorting the sample gives, in any order of it") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int round = 0; round < 400; ++round) {
    std::vector<double> sample(1 + random() % 300);
    const double spread = std::pow(10, static_cast<double>(random() % 6));
    for (double& value : sample) value = unit(random) * std::pow(spread, unit(random));
    // Masks, which are to be left out where they are few kinds of values and enough is below them.
    const size_t masked = random() % (sample.size() + 1), kind = random() % 4;
    for (size_t i = 0; i < masked; ++i) sample[i] = kind == 0 ? -1e4 : kind == 1 ? 3e4 * unit(random) : sample[i];
    if (kind == 2) sample[0] = std::numeric_limits<double>::infinity();
    if (kind == 3) sample[0] = 0;
    const double scale = scale_of_sample(sample);
    INFO(round);
    CHECK(scale == Approx(by_sorting(sample)).epsilon(1e-13));
    std::shuffle(sample.begin(), sample.end(), random);
    CHECK(scale_of_sample(sample) == scale);
  }
}

TEST_CASE("no scale leaves the range of a double") {
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  CHECK(scale_of_sample({huge, -huge, huge}) == huge);
  CHECK(scale_of_sample({tiny, -tiny}) == tiny);
  CHECK(scale_of_sample({1e-310, 1e-310}) == 1e-310);
  CHECK(scale_of_sample({}) == 0);
  CHECK(scale_of_sample({0, NAN, INFINITY}) == 0);
  CHECK(scale_of_sample({-3, 3, 3}) == 3);
}

}  // namespace msdump
