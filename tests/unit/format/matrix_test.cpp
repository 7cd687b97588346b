// FRACTAL_NZ: matrices (and stacks of them) in pieces of 16 x C0.
#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

const std::vector<Format> kNzFormats = {Format::kFractalNZ,    Format::kFractalNzC016, Format::kFractalNzC032,
                                        Format::kFractalNzC02, Format::kFractalNzC04,  Format::kFractalNzC08};

void check_nz(Format format, const Shape& host, int64_t c0, Format target) {
  INFO(name_of(format) << " " << describe(host) << " C0 " << c0 << " to " << name_of(target));
  const Plan plan = plan_of(request_for(format, nz_device_shape(host, c0), host, target));
  REQUIRE(plan.policy == PlanPolicy::kConverted);
  CHECK(plan.shape == host);
  CHECK(plan.note.empty());
  check_plan(plan, nz_sources(host, c0));
}

}  // namespace

TEST_CASE("FRACTAL_NZ of any rank and C0 follows the formula of the reference, whatever host format is asked for") {
  Dice dice(31);
  for (int round = 0; round < 80; ++round) {
    Shape host;
    for (int64_t rank = dice.from_to(0, 3); rank > 0; --rank) host.push_back(dice.from_to(1, 3));
    host.push_back(dice.from_to(1, 40));
    if (dice.from_to(0, 4) != 0) host.push_back(dice.from_to(1, 80));
    const Format target =
        dice.one_of<Format>({Format::kNCHW, Format::kND, Format::kNHWC, Format::kNCDHW, Format::kHWCN});
    check_nz(dice.one_of(kNzFormats), host, dice.one_of<int64_t>({2, 4, 8, 16, 32, 64}), target);
  }
}

TEST_CASE("a vector in FRACTAL_NZ is a matrix of one row, a scalar one of one element") {
  check_nz(Format::kFractalNZ, {40}, 16, Format::kNCHW);
  check_nz(Format::kFractalNZ, {}, 16, Format::kNCHW);
}

TEST_CASE("FRACTAL_NZ without an original shape is kept, with a note that says what is missing") {
  for (const auto& original :
       {std::optional<Shape>(), std::optional<Shape>({kUnknownDim, 33}), std::optional<Shape>(Shape{})}) {
    const Plan plan = plan_of(request_for(Format::kFractalNZ, {3, 2, 16, 16}, original));
    CHECK(plan.policy == PlanPolicy::kKept);
    CHECK(plan.shape == Shape{3, 2, 16, 16});
    CHECK(plan.note.find("original shape") != std::string::npos);
    check_plan(plan, [] {
      std::vector<int64_t> all(3 * 2 * 16 * 16);
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
      return all;
    }());
  }
}

TEST_CASE("an original shape that a FRACTAL_NZ tensor cannot hold is refused with both shapes") {
  for (const Shape& original :
       {Shape{17, 49}, Shape{33, 33}, Shape{16, 33}, Shape{2, 17, 33}, Shape{17, 32}, Shape{49}}) {
    INFO(describe(original));
    const Error error = refusal_of(request_for(Format::kFractalNZ, {3, 2, 16, 16}, original));
    CHECK(error.code == ErrorCode::kShapeMismatch);
    CHECK(error.message.find("original shape " + describe(original)) != std::string::npos);
    CHECK(error.message.find("FRACTAL_NZ 3x2x16x16") != std::string::npos);
  }
}

TEST_CASE("empty matrices in FRACTAL_NZ keep their shape") {
  for (const Shape& host : {Shape{0, 33}, Shape{17, 0}, Shape{0, 17, 33}, Shape{0}}) {
    INFO(describe(host));
    const Plan plan = plan_of(request_for(Format::kFractalNZ, nz_device_shape(host, 16), host));
    CHECK(plan.shape == host);
    CHECK(plan.dst_elements == 0);
    CHECK(plan.policy == PlanPolicy::kConverted);
  }
}
