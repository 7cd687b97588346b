#include "check/rules/rules.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump::check {
namespace {

std::string refusal(std::string_view text) {
  RuleSet rules = RuleSet::defaults();
  const Status applied = rules.apply(text);
  return applied ? "" : applied.error().message;
}

}  // namespace

TEST_CASE("the table of rules is in the order of the enum, with a name of its own for each") {
  REQUIRE(all_rules().size() == kRules);
  std::set<std::string_view> names;
  for (size_t i = 0; i < kRules; ++i) {
    CHECK(all_rules()[i].id == static_cast<RuleId>(i));
    CHECK(names.insert(all_rules()[i].name).second);
    CHECK_FALSE(all_rules()[i].formula.empty());
  }
}

TEST_CASE("a watchpoint is off until it is asked for, and has no limit until one is given") {
  RuleSet rules = RuleSet::defaults();
  CHECK_FALSE(rules.on(RuleId::kTooLarge));
  REQUIRE(rules.apply("too_large:max_gt=1e4, mean_gt=-2.5"));
  CHECK(rules.on(RuleId::kTooLarge));
  CHECK(rules.value(RuleId::kTooLarge, "max_gt") == 1e4);
  CHECK(rules.value(RuleId::kTooLarge, "mean_gt") == -2.5);
  CHECK(std::isnan(rules.value(RuleId::kTooLarge, "abs_mean_gt")));
  CHECK(rules.any_given("max_gt"));
  CHECK_FALSE(rules.any_given("abs_mean_gt"));
}

TEST_CASE("rules have these limits when none is given") {
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("all"));
  std::vector<std::string> limits;
  for (const RuleInfo& rule : all_rules()) {
    for (const RuleParameter& parameter : rule.parameters) {
      const double value = rules.value(rule.id, parameter.name);
      if (!std::isnan(value)) limits.push_back(fmt::format("{} {} {:g}", rule.name, parameter.name, value));
    }
  }
  CHECK(limits == std::vector<std::string>{
                      "nan percentage_ge 0", "inf percentage_ge 0", "saturation percentage_ge 0",
                      "saturation fp8_percentage_ge 1", "subnormal percentage_ge 50", "all_zero zero_percentage_ge 100",
                      "weight_initialization zero_percentage_ge 100", "dead_rows percentage_ge 0",
                      "weight_unchanged rtol 1e-05", "weight_unchanged atol 1e-08",
                      "weight_change_large abs_mean_update_ratio_gt 0.1", "weight_change_large epsilon 1e-09",
                      "weight_change_small abs_mean_update_ratio_lt 0.0001", "weight_change_small epsilon 1e-09",
                      "gradient_exploding rms_gt 1e+06", "gradient_vanishing layer_ratio_lt 1e-08"});
}

TEST_CASE("an abbreviation may be of several rules, and names are taken in any case") {
  RuleSet rules = RuleSet::none();
  REQUIRE(rules.apply("WO"));
  CHECK(rules.on(RuleId::kNan));
  CHECK(rules.on(RuleId::kInf));
  REQUIRE(rules.apply("Tl:max_gt=1"));
  CHECK(rules.on(RuleId::kTooLarge));
  CHECK_FALSE(rules.on(RuleId::kWeightTooLarge));
}

TEST_CASE("off turns one rule off; none, default and all start again") {
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("nan:off"));
  CHECK_FALSE(rules.on(RuleId::kNan));
  CHECK(rules.on(RuleId::kInf));
  REQUIRE(rules.apply("none"));
  CHECK_FALSE(rules.on(RuleId::kInf));
  REQUIRE(rules.apply("all"));
  CHECK(rules.on(RuleId::kTensorRange));
  REQUIRE(rules.apply("default"));
  CHECK_FALSE(rules.on(RuleId::kTensorRange));
}

TEST_CASE("every rule takes a severity and globs of operators") {
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("saturation:severity=error,op=*conv1/*"));
  CHECK(rules[RuleId::kSaturation].severity == Severity::kError);
  CHECK(rules[RuleId::kSaturation].takes("Default/conv1/Conv2D-op0"));
  CHECK(rules[RuleId::kSaturation].takes("Default_conv1_Conv2D-op0"));
  CHECK_FALSE(rules[RuleId::kSaturation].takes("Default/conv2/Conv2D-op0"));
  CHECK(rules[RuleId::kNan].takes("anything"));
}

TEST_CASE("what is misspelt is named, with what was probably meant") {
  CHECK(refusal("satturation") == "there is no rule 'satturation'; did you mean 'saturation'?");
  CHECK(refusal("too_large:max_gtt=1") == "rule too_large has no parameter 'max_gtt'; did you mean 'max_gt'?");
  CHECK(refusal("too_large:max_gt") == "rule too_large has no parameter 'max_gt'");
  CHECK(refusal("too_large:max_gt=big") == "max_gt 'big' of rule too_large: not a number");
  CHECK(refusal("too_large:max_gt=nan") == "max_gt 'nan' of rule too_large: not a number");
  CHECK(refusal("nan:percentage_ge=101") == "percentage_ge '101' of rule nan: not a number from 0 to 100");
  CHECK(refusal("too_large:abs_mean_gt=-1") == "abs_mean_gt '-1' of rule too_large: not a number from 0 on");
  CHECK(refusal("nan:severity=fatal") == "severity 'fatal' of rule nan: there are error, warning and note");
  CHECK(refusal("") == "there is no rule ''");
}

TEST_CASE("a file of rules is a whole set; comments and empty lines are none") {
  const auto rules = RuleSet::parse("# ours\n\n  nan\n too_large:max_gt=10   # of anything\r\n");
  REQUIRE(rules);
  CHECK(rules->on(RuleId::kNan));
  CHECK(rules->value(RuleId::kTooLarge, "max_gt") == 10);
  CHECK_FALSE(rules->on(RuleId::kInf));
}

TEST_CASE("a bad line of a file of rules is named with its number") {
  const test::ScratchDir scratch;
  const auto rules = RuleSet::read(scratch.write("rules.txt", "nan\n\ninff:severity=note\n"));
  REQUIRE_FALSE(rules);
  CHECK(rules.error().message == "line 3: there is no rule 'inff'; did you mean 'inf'?");
  CHECK(rules.error().path == scratch.file("rules.txt"));
  CHECK(RuleSet::read(scratch.file("none.txt")).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a rule that can never hold is refused, and so is a set without rules") {
  const auto complaint = [](std::initializer_list<const char*> texts) {
    RuleSet rules = RuleSet::defaults();
    for (const char* const text : texts) REQUIRE(rules.apply(text));
    const Status complete = rules.check_complete();
    return complete ? std::string() : complete.error().message;
  };
  CHECK(complaint({"too_large"}) == "rule too_large has no limit: too_large:abs_mean_gt=..");
  CHECK(complaint({"too_large:max_gt=1"}).empty());
  CHECK(complaint({"TR:range_start_inclusive=5"}).find("has no limit") != std::string::npos);
  CHECK(complaint({"TR:range_percentage_lt=5"}) ==
        "rule tensor_range needs range_start_inclusive and range_end_inclusive");
  CHECK(complaint({"TR:range_start_inclusive=5,range_end_inclusive=1,range_percentage_lt=3"}) ==
        "rule tensor_range has a range that ends before it begins");
  CHECK(complaint({"none"}) == "no rule is on");
  CHECK(complaint({"all"}).empty());
}

}  // namespace msdump::check
