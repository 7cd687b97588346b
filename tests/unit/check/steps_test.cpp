// What comparing steps shows: weights, gradients, trends.
#include <limits>

#include <cmath>
#include "check/trend.h"
#include "check/values/weight_rules.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

std::string step_weight_path(std::string_view name, int64_t step) {
  return fmt::format("rank_0/Net/0/{}/Parameter.{}_weight.0.0.1700000000000009.output.0.DefaultFormat.npy", step, name);
}

void write_optimizer(const test::ScratchDir& scratch, int64_t step) {
  for (const std::string_view slot : {"input.0", "input.1", "input.2", "input.3"})
    scratch.write(tensor_path("Default/ApplyMomentum-op0", 5, slot, step), floats({1, 2, 3}));
}

}  // namespace

TEST_CASE("one weight that stays is a note; all that stay while an optimizer runs are a warning") {
  const test::ScratchDir one, all;
  for (const int64_t step : {0, 1}) {
    const float moved = step == 0 ? 1.0F : 1.5F;
    one.write(step_weight_path("a", step), floats({moved, 2}));
    one.write(step_weight_path("b", step), floats({1, 2}));
    all.write(step_weight_path("a", step), floats({1, 2}));
    all.write(step_weight_path("b", step), floats({3, 2}));
    write_optimizer(one, step);
    write_optimizer(all, step);
  }
  const Checked still(one.path());
  CHECK(still.only("weight_unchanged").severity == Severity::kNote);
  CHECK(still.only("weight_unchanged").message == "the same as in step 0");
  const Checked none_moved(all.path());
  REQUIRE(none_moved.of("weight_unchanged").size() == 2);
  CHECK(none_moved.of("weight_unchanged").front()->severity == Severity::kWarning);
}

TEST_CASE("inputs of the graph are not weights, and neither is what is NaN unchanged") {
  const test::ScratchDir scratch;
  for (const int64_t step : {0, 1}) {
    scratch.write(
        fmt::format("rank_0/Net/0/{}/Parameter.inputs0.0.0.1700000000000009.output.0.DefaultFormat.npy", step),
        floats({1, 2}));
    scratch.write(step_weight_path("a", step), floats({std::nanf(""), 2}));
  }
  const Checked checked(scratch.path());
  CHECK(checked.of("weight_unchanged").empty());
  CHECK(checked.first_op().find("a_weight") != std::string::npos);
}

TEST_CASE("a permutation has the same numbers, and is a change") {
  const test::ScratchDir scratch;
  scratch.write(step_weight_path("a", 0), floats({1, 2, 3}));
  scratch.write(step_weight_path("a", 1), floats({2, 1, 3}));
  CHECK(Checked(scratch.path()).of("weight_unchanged").empty());
}

TEST_CASE("a change within the tolerance is none") {
  const test::ScratchDir scratch;
  scratch.write(step_weight_path("a", 0), floats({1, 2, 3}));
  scratch.write(step_weight_path("a", 1), floats({1.000001F, 2, 3}));
  CHECK(Checked(scratch.path()).of("weight_unchanged").size() == 1);
  RuleSet strict = RuleSet::none();
  REQUIRE(strict.apply("weight_unchanged:rtol=0,atol=0"));
  CHECK(Checked(scratch.path(), strict).of("weight_unchanged").empty());
}

TEST_CASE("the update ratio is the mean change over the mean magnitude of the step before") {
  const test::ScratchDir scratch;
  scratch.write(step_weight_path("a", 0), floats({-1, 1, 2, 4}));
  scratch.write(step_weight_path("a", 1), floats({-1.4F, 1, 2, 4.4F}));
  RuleSet rules = RuleSet::none();
  REQUIRE(rules.apply("weight_change_large:abs_mean_update_ratio_gt=0.09"));
  // any_given("abs_mean_gt") is what the helper goes by.
  REQUIRE(rules.apply("too_large:abs_mean_gt=1000"));
  const Checked checked(scratch.path(), rules);
  const Finding& finding = checked.only("weight_change_large");
  CHECK(std::get<double>(finding.value.storage()) == Approx(0.1).epsilon(1e-5));
}

TEST_CASE("a layer whose gradient is far below the largest vanishes; vectors may cancel out") {
  const test::ScratchDir scratch;
  const auto write = [&](int op, const std::string& gradient, const std::string& weight) {
    const std::string name = fmt::format("Default/ApplyMomentum-op{}", op);
    scratch.write(tensor_path(name, op, "input.0"), weight);
    scratch.write(tensor_path(name, op, "input.1"), weight);
    scratch.write(tensor_path(name, op, "input.2"), floats({0.1F}));
    scratch.write(tensor_path(name, op, "input.3"), gradient);
  };
  const std::string weight = matrix({1, 2, 3, 4}, 2), bias = floats({1, 2});
  write(0, matrix({1, 1, 1, 1}, 2), weight);
  write(1, matrix({1e-12F, 1e-12F, 1e-12F, 2e-12F}, 2), weight);
  write(2, floats({1e-12F, 1e-12F}), bias);
  const Finding& vanishing = Checked(scratch.path()).only("gradient_vanishing");
  CHECK(vanishing.message.find("e-12; the largest of this step has 1") != std::string::npos);
  write(3, matrix({1e7F, 1e7F, 1e7F, 1e7F}, 2), weight);
  const Checked exploded(scratch.path());
  CHECK(exploded.only("gradient_exploding").severity == Severity::kWarning);
  // Beside it the others have not become smaller.
  CHECK(exploded.of("gradient_vanishing").size() == 1);
}

TEST_CASE("a gradient of exactly 0 is a note, and a warning where most weights have it") {
  const test::ScratchDir scratch;
  const std::string weight = matrix({1, 2, 3, 4}, 2), zeros = matrix({0, 0, 0, 0}, 2);
  const auto write = [&](int op, const std::string& gradient) {
    const std::string name = fmt::format("Default/ApplyMomentum-op{}", op);
    for (const char* const slot : {"input.0", "input.1"}) scratch.write(tensor_path(name, op, slot), weight);
    scratch.write(tensor_path(name, op, "input.3"), gradient);
  };
  write(0, weight);
  write(1, zeros);
  CHECK(Checked(scratch.path()).only("gradient_vanishing").severity == Severity::kNote);
  write(2, zeros);
  CHECK(Checked(scratch.path()).of("gradient_vanishing").front()->severity == Severity::kWarning);
}

TEST_CASE("a trend has the tensors of all steps, in their order") {
  const test::ScratchDir scratch;
  for (int64_t step = 0; step < 12; ++step)
    scratch.write(step_weight_path("a", step), floats({static_cast<float>(step), 2}));
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({1, 2}));
  const Checked checked(scratch.path());
  const auto series = series_by_step(checked.dump());
  REQUIRE(series.size() == 1);
  REQUIRE(series.front().tensors.size() == 12);
  CHECK(checked.facts()[series.front().tensors[11]].max == 11.0);
}

TEST_CASE("a sparkline goes from the lowest bar to the highest") {
  using Numbers = std::vector<std::optional<double>>;
  CHECK(sparkline(Numbers{0.0, 1.0, 2.0, 7.0}) == "▁▂▃█");
  CHECK(sparkline(Numbers{3.0, 3.0}) == "▅▅");
  CHECK(sparkline(Numbers{0.0, std::nan(""), std::nullopt, 1.0}) == "▁! █");
  CHECK(sparkline(Numbers{}).empty());
  CHECK(sparkline(Numbers{-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}) == "▁█");
  CHECK(sparkline(Numbers(1000, 1.0), 4) == "▅▅▅▅");
}

TEST_CASE("a place of a sparkline shows the largest of its numbers, and what is not finite above all") {
  using Numbers = std::vector<std::optional<double>>;
  CHECK(sparkline(Numbers{0.0, 7.0, 1.0, 0.0, 2.0, 0.0}, 3) == "█▁▂");
  CHECK(sparkline(Numbers{0.0, std::nan(""), std::nullopt, 1.0, 0.0, 0.0}, 3) == "!█▁");
}

TEST_CASE("trends of ranks are apart") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    for (const int64_t step : {0, 1})
      scratch.write(tensor_path("Default/Mul-op1", 1, "output.0", step, rank), floats({1, 2}));
  }
  const Checked checked(scratch.path());
  const auto series = series_by_step(checked.dump());
  REQUIRE(series.size() == 2);
  for (const TrendSeries& one : series) CHECK(one.tensors.size() == 2);
}

TEST_CASE("of complex numbers all parts of all elements count") {
  const test::ScratchDir scratch;
  std::vector<float> parts(2 * 70000, 1);
  parts[2 * 70000 - 1] = 9;
  parts[1] = -5;
  parts[3] = std::numeric_limits<float>::infinity();
  test::NpySpec spec;
  spec.literal = test::npy_literal("<c8", "(70000,)");
  spec.data.assign(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(float));
  scratch.write(tensor_path("Default/FFT-op1", 1, "output.0"), test::build_npy(spec));
  const Checked checked(scratch.path());
  const TensorFacts& facts = checked.facts()[TensorId(0)];
  CHECK(facts.max == 9.0);
  CHECK(facts.min == -5.0);
  CHECK(facts.elements == 70000U);
  CHECK(facts.has_positive_inf);
  CHECK_FALSE(facts.has_negative_inf);
  // Of 139999 finite parts all but two are 1.
  CHECK(*facts.mean == Approx((139997.0 + 9 - 5) / 139999));
}

}  // namespace msdump::check
