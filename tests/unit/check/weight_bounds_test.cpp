// Where the rules about weights and their gradients begin and end.
#include <cmath>
#include <utility>

#include "check/values/weight_rules.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

std::string weight_path(std::string_view name, int64_t step) {
  return fmt::format("rank_0/Net/0/{}/Parameter.{}_weight.0.0.1700000000000009.output.0.DefaultFormat.npy", step, name);
}

Lines reported_of_steps(const std::vector<std::string>& files, const RuleSet& rules = RuleSet::defaults(),
                        int64_t first_step = 0) {
  const test::ScratchDir scratch;
  for (size_t i = 0; i < files.size(); ++i)
    scratch.write(weight_path("a", first_step + static_cast<int64_t>(i)), files[i]);
  return Checked(scratch.path(), rules).reported();
}

// The one finding of a rule about what a weight of 1, 1 has become.
std::vector<double> ratios_of(std::string_view rule, float now, float before = 1) {
  const test::ScratchDir scratch;
  scratch.write(weight_path("a", 0), floats({before, before}));
  scratch.write(weight_path("a", 1), floats({now, now}));
  RuleSet rules = only(rule);
  REQUIRE(rules.apply("too_large:abs_mean_gt=1e30"));  // Checked reads the mean of |x| for this one only
  std::vector<double> ratios;
  const Checked checked(scratch.path(), rules);
  for (const Finding& finding : checked.findings()) ratios.push_back(std::get<double>(finding.value.storage()));
  return ratios;
}

struct Optimizer {
  int number;
  std::string weight, gradient;
};

void write(const test::ScratchDir& scratch, const Optimizer& one, int64_t step = 0, int64_t rank = 0) {
  const std::string name = fmt::format("Default/ApplyMomentum-op{}", one.number);
  for (const char* const slot : {"input.0", "input.1"})
    scratch.write(tensor_path(name, one.number, slot, step, rank), one.weight);
  scratch.write(tensor_path(name, one.number, "input.3", step, rank), one.gradient);
}

}  // namespace

TEST_CASE("a tolerance is an element's: many small changes together are none") {
  std::vector<float> zeros(100, 0), moved(100, 0.09F);
  CHECK(reported_of_steps({floats(zeros), floats(moved)}, only("weight_unchanged:rtol=0,atol=0.1")).size() == 1);
  CHECK(reported_of_steps({floats(zeros), floats(moved)}, only("weight_unchanged:rtol=0,atol=0.08")).empty());
}

TEST_CASE("a weight of one element may stay as it is") {
  CHECK(reported_of_steps({floats({3}), floats({3})}).empty());
  CHECK(reported_of_steps({floats({3, 4}), floats({3, 4})}).size() == 1);
}

TEST_CASE("weights that all stay are a note where nothing trains") {
  const test::ScratchDir scratch;
  for (const int64_t step : {0, 1}) {
    scratch.write(weight_path("a", step), floats({1, 2}));
    scratch.write(weight_path("b", step), floats({3, 2}));
  }
  const Checked checked(scratch.path());
  REQUIRE(checked.of("weight_unchanged").size() == 2);
  for (const Finding* const finding : checked.of("weight_unchanged")) CHECK(finding->severity == Severity::kNote);
}

TEST_CASE("gradients that msprobe recorded say that weights are meant to change") {
  const test::ScratchDir scratch;
  for (const char* const step : {"step0", "step1"}) {
    const std::string folder = fmt::format("{}/rank0/dump_tensor_data/Module.fc.Linear.", step);
    scratch.write(folder + "forward.0.parameters.weight.npy", floats({1, 2}));
    scratch.write(folder + "forward.0.parameters.bias.npy", floats({3, 2}));
    scratch.write(folder + "parameters_grad.weight.npy", floats({1, 3}));
  }
  const Checked checked(scratch.path());
  REQUIRE(checked.of("weight_unchanged").size() == 2);
  for (const Finding* const finding : checked.of("weight_unchanged")) CHECK(finding->severity == Severity::kWarning);
}

TEST_CASE("of statistics equal numbers are not a change, and close ones are") {
  const auto reported = [](std::string_view norm) {
    const test::ScratchDir scratch;
    for (const int64_t step : {0, 1}) {
      std::string table =
          statistic_table("Max Value,Min Value,L2Norm Value",
                          {{"Parameter-a", "float32", fmt::format("9,1,{}", step == 0 ? "100000" : norm)}});
      const size_t name = table.find("Default_Parameter-a");
      table.replace(name, std::string_view("Default_Parameter-a").size(), "a_weight");
      scratch.write(fmt::format("rank_0/Net/0/{}/statistic.csv", step), table);
    }
    return Checked(scratch.path()).of("weight_unchanged").size();
  };
  CHECK(reported("100000") == 1);
  CHECK(reported("100001") == 0);
}

TEST_CASE("weights of the first step: shares, limits that are just reached, biases, and later steps") {
  const RuleSet zeros = only("weight_initialization:zero_percentage_ge=50");
  CHECK(reported_of_steps({matrix({0, 0, 1, 2}, 2)}, zeros).size() == 1);
  CHECK(reported_of_steps({matrix({0, 3, 1, 2}, 2)}, zeros).empty());
  CHECK(reported_of_steps({floats({0, 0})}, zeros).empty());
  CHECK(reported_of_steps({matrix({0, 0, 1, 2}, 2)}, zeros, 1).empty());
  CHECK(reported_of_steps({floats({-3, 2})}, only("weight_initialization:max_gt=2")).empty());
  CHECK(reported_of_steps({floats({-3, 2})}, only("weight_initialization:max_gt=1.9")).size() == 1);
  CHECK(reported_of_steps({floats({-3, 2})}, only("weight_initialization:min_lt=-3")).empty());
  CHECK(reported_of_steps({floats({-3, 2})}, only("weight_initialization:min_lt=-2.9")).size() == 1);
}

TEST_CASE("the ratio of a change is judged from beyond its limit on, in both directions") {
  CHECK(ratios_of("weight_change_large:abs_mean_update_ratio_gt=0.5,epsilon=0", 1.5F).empty());
  CHECK(ratios_of("weight_change_large:abs_mean_update_ratio_gt=0.4,epsilon=0", 1.5F) == std::vector{0.5});
  CHECK(ratios_of("weight_change_small:abs_mean_update_ratio_lt=0.5,epsilon=0", 1.5F).empty());
  CHECK(ratios_of("weight_change_small:abs_mean_update_ratio_lt=0.6,epsilon=0", 1.5F) == std::vector{0.5});
  CHECK(ratios_of("weight_change_large:abs_mean_update_ratio_gt=0.2,epsilon=1", 1.5F) == std::vector{0.25});
  // Zeros that stay zeros have not changed.
  CHECK(ratios_of("weight_change_small:abs_mean_update_ratio_lt=0.5,epsilon=0", 0, 0) == std::vector{0.0});
}

TEST_CASE("where all gradients are zero none is smaller than the others") {
  const test::ScratchDir scratch;
  for (const int number : {0, 1}) write(scratch, {number, matrix({1, 2, 3, 4}, 2), matrix({0, 0, 0, 0}, 2)});
  CHECK(Checked(scratch.path()).of("gradient_vanishing").empty());
}

TEST_CASE("gradients are compared with those of their step and rank") {
  const std::string weight = matrix({1, 2, 3, 4}, 2), tiny = matrix({1e-12F, 1e-12F, 1e-12F, 1e-12F}, 2);
  const test::ScratchDir steps, ranks, one;
  write(steps, {0, weight, weight}, 0);
  write(steps, {0, weight, tiny}, 1);
  CHECK(Checked(steps.path()).of("gradient_vanishing").empty());
  write(ranks, {0, weight, weight}, 0, 0);
  write(ranks, {0, weight, tiny}, 0, 1);
  CHECK(Checked(ranks.path()).of("gradient_vanishing").empty());
  write(one, {0, weight, weight});
  write(one, {1, weight, tiny});
  CHECK(Checked(one.path()).of("gradient_vanishing").size() == 1);
}

TEST_CASE("of a weight of one element the learning rate does not show in the gradient") {
  const test::ScratchDir scratch;
  write(scratch, {0, floats({1}), floats({1e7F})});
  CHECK(Checked(scratch.path()).of("gradient_exploding").empty());
}

TEST_CASE("a gradient is reported for the operator that made it, and msprobe's by its name") {
  const test::ScratchDir scratch, recorded;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir",
                test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Gradients/Default/Mul-op1") +
                              test::node_text("%2", "ApplyMomentum", "%para2_w, %para2_w, %para1_x, %1",
                                              "Default/ApplyMomentum-op2")));
  scratch.write(tensor_path("Gradients/Default/Mul-op1", 1, "output.0"), floats({1e7F, 1e7F}));
  write(scratch, {2, floats({1, 2}), floats({1e7F, 1e7F})});
  const Finding exploding = Checked(scratch.path()).only("gradient_exploding");
  CHECK(Checked(scratch.path()).dump().operators()[exploding.op].name == "Gradients/Default/Mul-op1");
  CHECK(exploding.message == "the gradient of w has the root mean square 1e+07");
  recorded.write("step0/rank0/dump_tensor_data/Module.fc.Linear.parameters_grad.weight.npy", floats({1e7F, 1e7F}));
  CHECK(Checked(recorded.path()).of("gradient_exploding").size() == 1);
}

TEST_CASE("beside a gradient that explodes the others have not become small") {
  const test::ScratchDir scratch;
  const std::string weight = matrix({1, 2, 3, 4}, 2);
  write(scratch, {0, weight, weight});
  write(scratch, {1, weight, matrix({1e9F, 1e9F, 1e9F, 1e9F}, 2)});
  const Checked checked(scratch.path());
  CHECK(checked.of("gradient_exploding").size() == 1);
  CHECK(checked.of("gradient_vanishing").empty());
}

TEST_CASE("a weight that stays while the others become NaN is not like all weights") {
  const auto reported = [](float other) {
    const test::ScratchDir scratch;
    for (int64_t step = 0; step < 2; ++step) {
      write(scratch, {1, floats({1, 2}), floats({0, 0})}, step);
      scratch.write(weight_path("a", step), floats({1, 2}));
      scratch.write(weight_path("b", step), floats({1, 2}));
      scratch.write(weight_path("c", step), step == 0 ? floats({1, 2}) : floats({other, 2}));
    }
    const Checked checked(scratch.path(), only("weight_unchanged"));
    size_t all = 0;
    for (const Finding& finding : checked.findings())
      all += finding.message.find("like all weights") != std::string::npos ? 1U : 0U;
    return std::pair(checked.findings().size(), all);
  };
  CHECK(reported(NAN) == std::pair<size_t, size_t>(2, 0));
  CHECK(reported(1) == std::pair<size_t, size_t>(3, 3));
}

}  // namespace msdump::check
