// Why an operator is bad, where a mask, an empty tensor or a hole in the dump stands beside it.
#include "check/nonfinite/first_nonfinite.h"

#include <filesystem>
#include <limits>

#include "small_dump.h"

namespace msdump::check {
namespace {

// One sum, of terms and with a result.
Checked check_sum(const std::vector<float>& scores, const std::vector<float>& mask, const std::vector<float>& sum,
                  std::string_view op = "Default/Add-op1") {
  const test::ScratchDir scratch;
  scratch.write(tensor_path(op, 1, "input.0"), floats(scores));
  scratch.write(tensor_path(op, 1, "input.1"), floats(mask));
  scratch.write(tensor_path(op, 1, "output.0"), floats(sum));
  return Checked(scratch.path());
}

}  // namespace

TEST_CASE("a sum with more -inf than the mask puts into it has made one") {
  const Checked made = check_sum({-3e38F, 1, 1, 1}, {-3e38F, 0, -kInf, 0}, {-kInf, 1, -kInf, 1});
  CHECK(made.first_op() == "Default_Add-op1");
  CHECK(made.report().first->reason == "its inputs have the -inf of a mask, its output has more");
  CHECK(made.reported() ==
        std::vector<std::string>{"inf note Default_Add-op1 input 1", "inf error Default_Add-op1 output 0"});
  CHECK(check_sum({2, 1, 1, 1}, {0, 0, -kInf, 0}, {2, 1, -kInf, 1}).first_op().empty());
}

TEST_CASE("a mask that broadcasting repeats puts as many -inf into the sum as there are copies") {
  const std::vector<float> scores(8, 1), mask = {0, -kInf};
  CHECK(check_sum(scores, mask, {1, -kInf, 1, -kInf, 1, -kInf, 1, -kInf}).first_op().empty());
  CHECK(check_sum(scores, mask, {1, -kInf, 1, -kInf, -kInf, -kInf, 1, -kInf}).first_op() == "Default_Add-op1");
}

TEST_CASE("a term whose size does not fit the sum says nothing about the -inf in it") {
  CHECK(check_sum({1, 1, 1, 1}, {0, 0, -kInf}, {1, -kInf, -kInf, 1}).first_op().empty());
  CHECK(check_sum({1, 1, 1, 1}, {}, {1, -kInf, -kInf, 1}).first_op() == "Default_Add-op1");
}

TEST_CASE("what is not a sum may hold any number of the -inf that went in") {
  CHECK(check_sum({0, -kInf}, {1, 1}, {-kInf, -kInf}, "Default/Gather-op1").first_op().empty());
}

TEST_CASE("an input without an element is all there, and is the reason") {
  const test::ScratchDir scratch;
  scratch.write(tensor_path("Default/ReduceMean-op1", 1, "input.0"), floats({}));
  scratch.write(tensor_path("Default/ReduceMean-op1", 1, "output.0"), floats({kNan}));
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default_ReduceMean-op1");
  CHECK(checked.report().first->inputs_finite == true);
  CHECK(checked.report().first->reason == "its input 0 has no element, its output is not finite");
}

TEST_CASE("what came in bad is not said to come from outside where an operator before it cannot be read") {
  const test::ScratchDir scratch;
  scratch.write(tensor_path("Default/Log-op1", 1, "input.0"), floats({-1, 1}));
  scratch.write(tensor_path("Default/Log-op1", 1, "output.0"), floats({kNan, 0}));
  scratch.write(tensor_path("Default/Mul-op2", 2, "input.0"), floats({kNan, 0, 1}));
  scratch.write(tensor_path("Default/Mul-op2", 2, "output.0"), floats({kNan, 0, 1}));
  const std::string cut = tensor_path("Default/Log-op1", 1, "output.0");
  scratch.write(cut, scratch.read(cut).substr(0, 130));
  const Checked checked(scratch.path());
  REQUIRE(checked.first_op() == "Default_Mul-op2");
  CHECK(checked.report().first->kind == FirstNonfinite::Kind::kNan);
  CHECK(checked.report().first->reason ==
        "its input 0 is not finite already; what Default_Log-op1 before it wrote cannot be read");
}

}  // namespace msdump::check
