#include "compare/typical_scale.h"

#include <cmath>
#include <limits>

#include "made_tensors.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::vector<double> repeated(double value, size_t count) { return std::vector<double>(count, value); }

std::vector<double> joined(std::vector<double> left, const std::vector<double>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
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

TEST_CASE("large elements that are not of one size are no mask") {
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
  HostTensor tensor = made.floats(values);
  CHECK(typical_scale(tensor).value() == Approx(std::sqrt(5.0)).epsilon(0.01));
}

TEST_CASE("complex numbers count by their parts, times the root of 2") {
  MadeTensors made;
  HostTensor tensor = made.make<float>(DType::kComplex64, {2}, {3, 3, 3, 3});
  CHECK(typical_scale(tensor).value() == Approx(3 * std::sqrt(2.0)));
}

TEST_CASE("no scale without elements, and none for whole numbers that are no float") {
  MadeTensors made;
  HostTensor empty = made.floats({});
  CHECK(typical_scale(empty).value() == 0);
  HostTensor whole = made.make<int64_t>(DType::kInt64, {2}, {3, 4});
  CHECK(typical_scale(whole).has_value());
}

}  // namespace msdump
