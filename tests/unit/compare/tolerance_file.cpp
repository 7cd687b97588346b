#include "compare/accept/diff_rules.h"

#include "base/text.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

ToleranceRules rules_of(std::string_view text) {
  auto rules = ToleranceRules::parse(text);
  if (!rules) FAIL(rules.error().message);
  return std::move(*rules);
}

// Of the line that counts; 0 without one.
size_t line_for(const ToleranceRules& rules, const ToleranceSubject& subject) {
  const ToleranceRule* rule = rules.rule_for(subject);
  return rule == nullptr ? 0 : rule->line;
}

constexpr std::string_view kConv = "Default/net/conv1-Conv2d/Conv2D-op12", kConvType = "Conv2D";

TEST_CASE("a rule has a glob, tolerances and limits, and comments are none") {
  const ToleranceRules rules = rules_of("# all\n\n* rtol=1e-3 atol=0.5 cosine>=0.99 max_ulp<8  # why\r\nx#y\n");
  REQUIRE(rules.rules().size() == 2);
  const ToleranceRule& rule = rules.rules()[0];
  CHECK(rule.line == 3);
  CHECK(rule.tolerance.rtol == 1e-3);
  CHECK(rule.tolerance.atol == 0.5);
  REQUIRE(rule.limits.size() == 2);
  CHECK(text_of(rule.limits[1]) == "max_ulp<8");
  CHECK_FALSE(rules.rules()[1].tolerance.rtol);
  CHECK(line_for(rules, {.op_name = "x#y"}) == 4);
}

TEST_CASE("the word `or` in a rule joins the limits beside it") {
  const ToleranceRules rules = rules_of("* relative_l2<=0.0085 or max_abs<=1e-3 cosine>=0.9\n");
  const std::vector<MetricLimit>& limits = rules.rules()[0].limits;
  REQUIRE(limits.size() == 3);
  CHECK(limits[0].or_next);
  CHECK_FALSE(limits[1].or_next);
  for (const char* const wrong : {"* rtol=1 or max_abs<=1\n", "* max_abs<=1 or rtol=1\n", "* or max_abs<=1\n",
                                  "* max_abs<=1 or\n", "* max_abs<=1 or or cosine>=0.9\n"}) {
    INFO(wrong);
    CHECK_FALSE(ToleranceRules::parse(wrong).has_value());
  }
}

TEST_CASE("the last rule that fits counts") {
  const ToleranceRules rules = rules_of("* rtol=1\n*Conv2D* rtol=2\ndense rtol=3\n*conv1* rtol=4\n*bias* rtol=5\n");
  CHECK(line_for(rules, {.op_name = kConv}) == 4);
  CHECK(line_for(rules, {.op_name = "x/Conv2D-op3"}) == 2);
  CHECK(line_for(rules, {.op_name = "dense"}) == 3);
  CHECK(line_for(rules, {.op_name = "relu"}) == 1);
  const ToleranceRules later = rules_of("dense rtol=1\n* rtol=2\n");
  CHECK(line_for(later, {.op_name = "dense"}) == 2);
  CHECK(line_for(rules_of("conv rtol=1\n"), {.op_name = "relu"}) == 0);
  CHECK(line_for(rules_of(""), {.op_name = "relu"}) == 0);
}

TEST_CASE("a glob is over names, over tensors, types or dtypes") {
  const auto fits = [](std::string_view glob, const ToleranceSubject& subject) {
    return line_for(rules_of(std::string(glob) + " rtol=1"), subject) == 1;
  };
  const ToleranceSubject conv{kConv, kConvType, Io::kOutput, "0", DType::kFloat16, DType::kFloat32};
  for (const char* glob :
       {"Default/net/conv1-Conv2d/Conv2D-op12", "Default_net_conv1-Conv2d_Conv2D-op12", "*conv1*", "*Conv2D-op??",
        "Default/*op12", "Default*", "*-op12:output:0", "*:output:*", "*:0", "*Conv2D*:output",
        "Default/net/conv1-Conv2d/Conv2D-op12:output", "Default/net/conv1-Conv2d/Conv2D-op12:output:0", "type:Conv2D",
        "type:Conv*", "dtype:float16", "dtype:fp16", "dtype:Float32", "dtype:float*", "*"}) {
    INFO(glob);
    CHECK(fits(glob, conv));
  }
  for (const char* glob : {"conv1", "*output*", "*:input:*", "*Conv2D*:input", "*:1", "type:Conv", "type:*2d",
                           "dtype:bfloat16", "Default", "*Conv2D-op1"}) {
    INFO(glob);
    CHECK_FALSE(fits(glob, conv));
  }
  CHECK(fits("Cell.fc.Dense.forward.0:parameter:weight",
             {.op_name = "Cell.fc.Dense.forward.0", .io = Io::kParameter, .slot = "weight"}));
  CHECK(fits("*:input:0.1", {.op_name = "x", .io = Io::kInput, .slot = "0.1"}));
  for (const Io io : kIos) CHECK(fits("x:" + std::string(name_of(io)), {.op_name = "x", .io = io, .slot = "3"}));
}

std::string tolerance_error(std::string_view text) {
  const auto rules = ToleranceRules::parse(text);
  if (rules) return "none";
  CHECK((rules.error().code == ErrorCode::kUsage || rules.error().code == ErrorCode::kTooLarge));
  return rules.error().message + (rules.error().hint.empty() ? "" : "; " + rules.error().hint);
}

TEST_CASE("errors name the line, the column and the nearest word") {
  CHECK(tolerance_error("* rtol=1\n*x*  rtoll=2") ==
        "line 2, column 6: 'rtoll' is neither a tolerance nor a metric; did you mean 'rtol'?");
  CHECK(tolerance_error("* cosin>=1") ==
        "line 1, column 3: 'cosin' is neither a tolerance nor a metric; did you mean 'cosine'?");
  CHECK(tolerance_error("* rtol 1") == "line 1, column 3: 'rtol' gives rtol no value; write rtol=1e-3, without blanks");
  CHECK(tolerance_error("* rtol<=1") ==
        "line 1, column 3: 'rtol<=1' gives rtol no value; write rtol=1e-3, without blanks");
  CHECK(tolerance_error("* atol=-1") == "line 1, column 3: atol is '-1'; expected a number, 0 or more");
  CHECK(tolerance_error("* atol=nan") == "line 1, column 3: atol is 'nan'; expected a number, 0 or more");
  CHECK(tolerance_error("* cosine=0.9").starts_with("line 1, column 3: 'cosine=0.9' has no relation >= > <= <"));
  CHECK(tolerance_error(" dtype:flaot16 rtol=1") ==
        "line 1, column 2: no dtype is called 'flaot16'; did you mean 'float16'?");
  CHECK(tolerance_error("rtol=1") == "line 1, column 1: 'rtol=1' where a glob is expected; for all tensors: * rtol=1");
}

TEST_CASE("the file is bounded, and is named by its errors") {
  CHECK(tolerance_error(std::string(5000, 'x')) == "line 1: 5000 bytes; at most 4096");
  CHECK(tolerance_error(std::string(5 << 20, '\n')) == "5242880 bytes of tolerances; at most 4194304");
  std::string many;
  for (int i = 0; i < 100'001; ++i) many += "x rtol=1\n";
  CHECK(tolerance_error(many) == "line 100001: more than 100000 rules");
  const test::ScratchDir scratch;
  const auto rules = ToleranceRules::read(scratch.write("t", "* x"));
  REQUIRE_FALSE(rules);
  CHECK(rules.error().path == scratch.file("t"));
  CHECK_FALSE(ToleranceRules::read(scratch.file("none")));
  CHECK(ToleranceRules::read(scratch.write("bom", "\xEF\xBB\xBF* rtol=1"))->rules().size() == 1);
}

TEST_CASE("a quick glob fits what the general one fits") {
  const std::vector<std::string> texts{"", "a", "b", "ab", "ba", "aa", "aab", "aba", "abab", "xabx", "a*b", "?"};
  std::vector<std::string> globs{""};
  for (size_t begin = 0, round = 0; round < 5; ++round) {
    const size_t end = globs.size();
    for (; begin < end; ++begin) {
      for (const char c : {'a', 'b', '*', '?'}) globs.push_back(globs[begin] + c);
    }
  }
  size_t different = 0;
  for (const std::string& glob : globs) {
    const QuickGlob quick(glob);
    for (const std::string& text : texts) different += quick.matches(text) == glob_match(glob, text) ? 0U : 1U;
  }
  CHECK(globs.size() > 1000);
  CHECK(different == 0);
}

}  // namespace
}  // namespace msdump
