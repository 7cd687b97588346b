#include "compare/accept/diff_rules.h"

#include <set>

#include "report/json.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

TEST_CASE("the metrics stand in the order of the machine output, each once") {
  std::string names;
  std::set<std::string_view> once;
  for (const Metric& metric : all_metrics()) {
    names += std::string(metric.name) + " ";
    once.insert(metric.name);
    CHECK(find_metric(metric.name) == &metric);
    CHECK_FALSE(metric.formula.empty());
    CHECK(metric.formula.find('\n') == std::string_view::npos);
    CHECK_FALSE(name_of(metric.unit).empty());
  }
  CHECK(
      names ==
      "count equal max_abs max_rel mean_abs mean_rel rmse l2_distance relative_l2 cosine kl std_a std_b mean_a mean_b "
      "max_a max_b min_a min_b under_1e3 under_5e3 over_tolerance max_ulp p50_abs p99_abs nan_a nan_b nan_mismatch "
      "inf_mismatch reference_zero ");
  CHECK(once.size() == all_metrics().size());
  CHECK(metric_names().size() == all_metrics().size());
  CHECK(find_metric("cosin") == nullptr);
}

TEST_CASE("metrics of a pair are integers, floats and null") {
  MadeTensors made;
  std::string json;
  {
    report::JsonObject object(json);
    add_metrics(diff_of(made.floats({1, 4}), made.floats({1, 2}), {}, {.on_request = true}), object);
  }
  CHECK(json.starts_with(R"({"count":2,"equal":1,"max_abs":2.0,"max_rel":1.0,"mean_abs":1.0,)"));
  CHECK(json.find(R"("over_tolerance":1,"max_ulp":8388608,)") != std::string::npos);
  CHECK(json.find(R"("kl":0.0,)") != std::string::npos);
  CHECK(json.ends_with(R"("inf_mismatch":0,"reference_zero":0})"));
  const TensorDiff shapes = diff_of(made.floats({1}), made.floats({1, 2}));
  for (const Metric& metric : all_metrics()) CHECK(metric_value(metric, shapes).is_null());
}

TEST_CASE("a limit is read with each relation, with blanks and without") {
  const auto text = [](std::string_view typed) {
    const auto limit = parse_metric_limit(typed);
    return limit ? text_of(*limit) : "error: " + limit.error().message + "; " + limit.error().hint;
  };
  CHECK(text("cosine>=0.9999") == "cosine>=0.9999");
  CHECK(text(" max_ulp < 4 ") == "max_ulp<4");
  CHECK(text("relative_l2<=1e-3") == "relative_l2<=0.001");
  CHECK(text("cosine>+0.5") == "cosine>0.5");
  CHECK(text("cosin>0.5") == "error: no metric is called 'cosin'; did you mean 'cosine'?");
  CHECK(text("fish>0.5") == "error: no metric is called 'fish'; --list-metrics names them");
  for (const char* wrong : {"cosine", "", ">=", "cosine=0.9", "cosine=>0.9", "cosine>=", "cosine>=x", "cosine>=0.9x",
                            "cosine>=nan", "cosine>=inf", "cosine>=1e999", "cosine>==1"}) {
    CHECK(text(wrong).starts_with("error: "));
  }
}

LimitCheck checked(std::string_view limit, const TensorDiff& diff) {
  return check_limit(parse_metric_limit(limit).value(), diff);
}

TEST_CASE("a limit holds or is broken by its relation") {
  MadeTensors made;
  const TensorDiff diff = diff_of(made.floats({1, 4}), made.floats({1, 2}));
  for (const char* holds : {"max_abs>=2", "max_abs<=2", "max_abs>1.9", "max_abs<2.1", "equal>=1", "max_ulp<=8388608"}) {
    CHECK(checked(holds, diff) == LimitCheck::kHolds);
  }
  for (const char* broken : {"max_abs>2", "max_abs<2", "max_abs>=2.1", "max_abs<=1.9", "max_ulp<8388608"}) {
    CHECK(checked(broken, diff) == LimitCheck::kBroken);
  }
}

TEST_CASE("a metric that is not defined breaks a limit unless the tensors are equal") {
  MadeTensors made;
  CHECK(checked("cosine>=0.9", diff_of(made.floats({0}), made.floats({0}))) == LimitCheck::kUndefined);
  CHECK(checked("cosine>=0.9", diff_of(made.floats({}), made.floats({}))) == LimitCheck::kUndefined);
  CHECK(checked("cosine>=0.9", diff_of(made.floats({1}), made.floats({0}))) == LimitCheck::kBroken);
  CHECK(checked("cosine>=0.9", diff_of(made.floats({1}), made.floats({1, 2}))) == LimitCheck::kUndefined);
  CHECK(need_request(std::vector{parse_metric_limit("rmse<1").value(), parse_metric_limit("kl<1").value()}));
  CHECK_FALSE(need_request(std::vector{parse_metric_limit("rmse<1").value()}));
}

TensorDiff judged(const std::vector<std::string>& limits, const Tolerance& tolerance, TensorDiff diff) {
  std::vector<MetricLimit> parsed;
  for (const std::string& limit : limits) {
    const std::vector<MetricLimit> alternatives = parse_alternatives(limit).value();
    parsed.insert(parsed.end(), alternatives.begin(), alternatives.end());
  }
  judge_by_limits(parsed, tolerance, diff);
  return diff;
}

TEST_CASE("limits stand in place of the default tolerance, and beside one that is given") {
  MadeTensors made;
  const Tolerance given{1e-6, 0.0, {}};
  const TensorDiff differs = diff_of(made.floats({1, 2.1F}), made.floats({1, 2}), given);
  REQUIRE(differs.verdict == Verdict::kDiffer);
  CHECK(judged({"cosine>=0.99"}, {}, differs).verdict == Verdict::kClose);
  CHECK(judged({"cosine>=0.99"}, given, differs).verdict == Verdict::kDiffer);
  CHECK(judged({}, {}, differs).verdict == Verdict::kDiffer);
  const TensorDiff broken = judged({"cosine>=0.99", "max_abs<=0", "equal>=2"}, {}, differs);
  CHECK(broken.verdict == Verdict::kDiffer);
  CHECK(broken.reason == "max_abs is 0.09999990463256836, not <=0; equal is 1, not >=2");
}

TEST_CASE("of limits that are joined by `or` one has to hold, and all that stand apart") {
  MadeTensors made;
  const TensorDiff differs = diff_of(made.floats({1, 2.1F}), made.floats({1, 2}), {1e-6, 0.0, {}});
  const auto verdict = [&](const std::vector<std::string>& limits) { return judged(limits, {}, differs).verdict; };
  CHECK(verdict({"max_abs<=0 or cosine>=0.99"}) == Verdict::kClose);
  CHECK(verdict({"cosine>=0.99 or max_abs<=0"}) == Verdict::kClose);
  CHECK(verdict({"max_abs<=0 or equal>=2 or cosine>=0.99"}) == Verdict::kClose);
  CHECK(verdict({"max_abs<=0 or equal>=2"}) == Verdict::kDiffer);
  CHECK(verdict({"max_abs<=0 or cosine>=0.99", "equal>=2"}) == Verdict::kDiffer);
  CHECK(verdict({"equal>=2", "max_abs<=0 or cosine>=0.99"}) == Verdict::kDiffer);
  CHECK(judged({"max_abs<=0 or equal>=2", "cosine>=0.9999999"}, {}, differs).reason ==
        "max_abs is 0.09999990463256836, not <=0, and equal is 1, not >=2; cosine is 0.9998151403687837, not "
        ">=0.9999999");
  CHECK_FALSE(parse_alternatives("max_abs<=0 or ").has_value());
  CHECK_FALSE(parse_alternatives("max_abs<=0 or rtol=1").has_value());
}

TEST_CASE("limits make nothing of NaN on one side, of other shapes, and of equal tensors what they break") {
  MadeTensors made;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorDiff with_nan = diff_of(made.floats({1, nan}), made.floats({1, 2}));
  CHECK(judged({"cosine>=0.99"}, {}, with_nan).verdict == Verdict::kNan);
  CHECK(judged({"nan_a<=0"}, {}, with_nan).reason == "nan_a is 1, not <=0");
  CHECK(judged({"cosine>=0.99"}, {}, diff_of(made.floats({1}), made.floats({1, 2}))).verdict == Verdict::kShape);
  const TensorDiff same = diff_of(made.floats({nan}), made.floats({nan}));
  CHECK(judged({"cosine>=0.99"}, {}, same).verdict == Verdict::kSame);
  CHECK(judged({"nan_a<=0"}, {}, same).verdict == Verdict::kDiffer);
}

}  // namespace
}  // namespace msdump
