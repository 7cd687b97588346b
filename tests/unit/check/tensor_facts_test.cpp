#include "check/values/tensor_facts.h"

#include <cmath>
#include <limits>

#include "kernels/widen/widen.h"
#include "support/catch.h"

namespace msdump::check {
namespace {

TensorFacts statistics_of(std::optional<double> min, std::optional<double> max) {
  TensorFacts facts;
  facts.from = TensorFacts::From::kStatistics;
  facts.min = min;
  facts.max = max;
  return facts;
}

}  // namespace

TEST_CASE("what is finite are all elements but NaN and infinities of both signs") {
  TensorFacts facts;
  facts.elements = 10;
  CHECK(facts.finite() == 10U);
  facts.has_nan = facts.has_positive_inf = facts.has_negative_inf = true;
  CHECK_FALSE(facts.finite());
  facts.nan = 1;
  facts.positive_inf = 2;
  facts.negative_inf = 3;
  CHECK(facts.finite() == 4U);
}

TEST_CASE("root mean square and deviation are of the finite elements") {
  TensorFacts facts;  // 1, 3, NaN
  facts.elements = 3;
  facts.has_nan = true;
  facts.nan = 1;
  facts.positive_inf = facts.negative_inf = 0;
  facts.l2norm = std::sqrt(10.0);
  facts.mean = 2;
  CHECK(facts.root_mean_square() == Approx(std::sqrt(5.0)));
  CHECK(facts.deviation() == Approx(1));
}

TEST_CASE("zeros beside NaN are not all zero; where nothing is known nothing is reported") {
  TensorFacts facts = statistics_of(0, 0);
  CHECK(facts.all_zero() == true);
  facts.has_nan = true;
  CHECK(facts.all_zero() == false);
  CHECK(statistics_of(0, 1).all_zero() == false);
  CHECK_FALSE(statistics_of({}, {}).all_zero());
  CHECK_FALSE(statistics_of({}, 0).constant());
}

TEST_CASE("elements none of which is finite have one finite value at most") {
  TensorFacts facts;
  facts.from = TensorFacts::From::kElements;
  facts.elements = 2;
  facts.has_negative_inf = true;
  facts.nan = facts.positive_inf = 0;
  facts.negative_inf = 2;
  CHECK(facts.constant() == true);
}

TEST_CASE("the largest of a type is that of its largest finite code") {
  CHECK(largest_of(DType::kFloat16) == double{kernels::decode_float16(0x7BFF)});
  CHECK(largest_of(DType::kBfloat16) == double{kernels::decode_bfloat16(0x7F7F)});
  CHECK(largest_of(DType::kFloat8E5m2) == double{narrow_value(DType::kFloat8E5m2, 0x7B)});
  CHECK(largest_of(DType::kFloat8E4m3fn) == double{narrow_value(DType::kFloat8E4m3fn, 0x7E)});
  CHECK(largest_of(DType::kHifloat8) == double{narrow_value(DType::kHifloat8, 0x6E)});
  CHECK(largest_of(DType::kFloat32) == double{std::numeric_limits<float>::max()});
  CHECK(largest_of(DType::kFloat64) == std::numeric_limits<double>::max());
  CHECK_FALSE(largest_of(DType::kInt8));
}

}  // namespace msdump::check
